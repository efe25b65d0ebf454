/* SPDX-License-Identifier: Apache-2.0
 * How a dataset is stored: type of its elements, blocks of bytes, filters. Found once, when it is
 * opened. */
#ifndef SXI_H5_STORAGE_H
#define SXI_H5_STORAGE_H

#include <hdf5.h>

#include <stdbool.h>
#include <stdint.h>

#include <sextant/hdf5.h>

#include "io/codec/codec.h"
#include "kern/place.h"

/* A dataset without axes counts as one of a single element. Contiguous and external data are one
 * block as large as the dataset; only those of chunked data go through the codec. */
typedef struct sxi_h5_storage {
    int rank; /* at least 1 */
    int64_t shape[SX_MAX_RANK];
    int64_t block[SX_MAX_RANK];
    int64_t block_bytes;
    sxi_place_type type;
    sxi_codec codec;
    bool edges_raw; /* blocks that stick out are stored without filters */
    uint64_t
        address; /* of contiguous data; HADDR_UNDEF: never written; 0 of external data, counted from
                            the first raw file on */
    unsigned char *fill; /* one element as stored; zeros where none is defined */
    bool fill_is_nan;
} sxi_h5_storage;

/* sxi_h5_storage_read - fills storage, and of about: element_bytes, layout, path, reason, filters.
 * about->rank and shape are given. Under the lock. SX_ERR_MEMORY. */
sx_status sxi_h5_storage_read(hid_t dataset, sx_hdf5_dataset *about, sxi_h5_storage *storage);
void sxi_h5_storage_free(sxi_h5_storage *storage);

/* A stored block. */
typedef struct sxi_h5_block {
    uint64_t address; /* HADDR_UNDEF: never written */
    uint64_t bytes;
    uint32_t skip; /* filters not applied, bit by place in the pipeline */
} sxi_h5_block;

/* sxi_h5_locate - where the chunk that begins at start[rank] lies. Under the lock. SX_ERR_FORMAT
 * where the index is damaged. */
struct sxi_h5_disk;
sx_status sxi_h5_locate(hid_t dataset, struct sxi_h5_disk *disk, const sxi_h5_storage *storage,
                        const int64_t *start, sxi_h5_block *block);

#endif
