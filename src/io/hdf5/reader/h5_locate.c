/* SPDX-License-Identifier: Apache-2.0
 * Where a chunk lies in the file. */
#include "io/hdf5/h5_storage.h"

#include "io/hdf5/h5_driver.h"
#include "io/hdf5/h5_locked.h"

#include <stdlib.h>

/* "There is no such chunk" and "the index is damaged" are one failure of H5Dread_chunk. A chunk is
 * absent only if an element of it can be read without the file being touched. */
static bool is_absent(hid_t dataset, sxi_h5_disk *disk, const sxi_h5_storage *storage,
                      const hsize_t *start) {
    hsize_t one[SX_MAX_RANK];
    for (int d = 0; d < storage->rank; d++) {
        one[d] = 1;
    }
    const hsize_t element = 1;
    void *value = malloc((size_t)storage->type.bytes);
    hid_t type = H5Dget_type(dataset);
    hid_t space = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(1, &element, NULL);
    disk->recording = true;
    disk->reads = 0;
    const bool read = value &&
                      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL) >= 0 &&
                      H5Dread(dataset, type, memory, space, H5P_DEFAULT, value) >= 0;
    disk->recording = false;
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    free(value);
    return read && disk->reads == 0;
}

sx_status sxi_h5_locate(hid_t dataset, sxi_h5_disk *disk, const sxi_h5_storage *storage,
                        const int64_t *start, sxi_h5_block *block) {
    hsize_t at[SX_MAX_RANK];
    for (int d = 0; d < storage->rank; d++) {
        at[d] = (hsize_t)start[d];
    }
    unsigned char nothing[8] = {0}; /* the driver writes nothing while it records */
    disk->recording = true;
    disk->reads = 0;
    const herr_t found = H5Dread_chunk(dataset, H5P_DEFAULT, at, &block->skip, nothing);
    disk->recording = false;
    if (found >= 0 && disk->reads == 1) {
        /* H5Dread takes one as it is and leaves the rest of the chunk to chance. */
        if (storage->codec.steps == 0 && disk->bytes < (uint64_t)storage->block_bytes) {
            return SXI_FAIL(SX_ERR_FORMAT,
                            "a chunk of %lld bytes is stored in %llu: it was not written in full",
                            (long long)storage->block_bytes, (unsigned long long)disk->bytes);
        }
        block->address = disk->address;
        block->bytes = disk->bytes;
        return SX_OK;
    }
    if (is_absent(dataset, disk, storage, at)) {
        *block = (sxi_h5_block){.address = HADDR_UNDEF};
        return SX_OK;
    }
    return SXI_FAIL(SX_ERR_FORMAT, "its index of chunks is damaged");
}
