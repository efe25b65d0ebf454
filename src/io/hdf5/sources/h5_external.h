/* SPDX-License-Identifier: Apache-2.0
 * Raw data kept in other files, one after the other. */
#ifndef SXI_H5_EXTERNAL_H
#define SXI_H5_EXTERNAL_H

#include "io/hdf5/h5_locked.h"

/* A run of bytes of a raw file, open for reading. */
typedef struct sxi_h5_segment {
    char *path;
    int fd;
    int64_t offset, bytes;
} sxi_h5_segment;

/* In the order of the dataset's bytes; together they are all of them. */
typedef struct sxi_h5_segments {
    int count;
    sxi_h5_segment *segment;
} sxi_h5_segments;

/* sxi_h5_external_get - where an externally stored dataset keeps its bytes. Under the lock. A file
 * that is not there: SX_ERR_MISSING; one that is too short, or too few of them: SX_ERR_FORMAT (HDF5
 * itself would read zeros). The caller frees, which closes the files; after a failure there is nothing
 * to free. */
sx_status sxi_h5_external_get(const sx_hdf5 *file, const sxi_h5_entry *entry,
                              sxi_h5_segments *segments);
void sxi_h5_external_free(sxi_h5_segments *segments);

#endif
