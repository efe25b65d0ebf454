/* SPDX-License-Identifier: Apache-2.0
 * Filters of a dataset. Called under the lock of h5_locked.h. */
#ifndef SXI_H5_FILTER_H
#define SXI_H5_FILTER_H

#include "io/hdf5/h5_locked.h"

/* sxi_h5_filters_missing - SX_ERR_UNSUPPORTED naming the first filter that the HDF5 library lacks.
 * Asked after a read failed: chunks may have skipped an optional filter. */
sx_status sxi_h5_filters_missing(const char *path, const char *name, hid_t dataset);

/* sxi_h5_filters_unsafe - SX_ERR_UNSUPPORTED where plugins are known to return wrong numbers. */
sx_status sxi_h5_filters_unsafe(const char *path, const char *name, hid_t dataset);

/* sxi_h5_filters_read - the pipeline of a dataset as a codec, and its names in about->filters. reason
 * stays "" if all of it is undone here. */
void sxi_h5_filters_read(hid_t created, sx_hdf5_dataset *about, sxi_codec *codec, char *reason,
                         size_t size);

#endif
