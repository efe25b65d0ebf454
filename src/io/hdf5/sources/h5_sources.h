/* SPDX-License-Identifier: Apache-2.0
 * The files and datasets that virtual datasets are made of. All of it is called under the lock. */
#ifndef SXI_H5_SOURCES_H
#define SXI_H5_SOURCES_H

#include "io/hdf5/h5_locked.h"

enum {
    SXI_H5_SOURCES = 64, /* files that stay open beyond those in use */
    SXI_H5_DEPTH = 8     /* virtual datasets of virtual datasets */
};

/* sxi_h5_source_open - opens a source, or finds it open, where HDF5 looks for it. "." is the file
 * itself. Both are pinned until sxi_h5_source_close.
 *
 * in   file, outer   the virtual dataset
 * in   source, name  file and dataset as the mapping names them, numbers put in
 *
 * SX_ERR_MISSING names file and dataset; of a file that is there but does not open, what opening it
 * says. */
sx_status sxi_h5_source_open(sx_hdf5 *file, const char *outer, const char *source, const char *name,
                             sx_hdf5 **opened, sxi_h5_entry **entry);
void sxi_h5_source_close(sx_hdf5 *opened, sxi_h5_entry *entry);

/* sxi_h5_source_exists - whether the file is there; if it is open or ".", the dataset, too. */
bool sxi_h5_source_exists(sx_hdf5 *file, const char *source, const char *name);

/* sxi_h5_source_short - SX_ERR_MISSING: the source has fewer elements along an axis than needed. */
sx_status sxi_h5_source_short(const sx_hdf5 *file, const char *outer, const char *source,
                              const char *name, int axis, int64_t extent, int64_t needed);

/* sxi_h5_source_small - SX_ERR_MISSING: the source has fewer elements than all of it must have. */
sx_status sxi_h5_source_small(const sx_hdf5 *file, const char *outer, const char *source,
                              const char *name, int64_t elements, int64_t needed);

#endif
