/* SPDX-License-Identifier: Apache-2.0
 * Virtual datasets: rows that lie in other files. */
#include "io/hdf5/h5_locked.h"

/* The rows of one file, of all other axes all. */
static herr_t map_part(hid_t creation, hid_t whole, int rank, const hsize_t *extent,
                       const sxi_h5_part *part, const char *name) {
    hsize_t start[SX_MAX_RANK] = {(hsize_t)part->first}, count[SX_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        count[d] = d == 0 ? (hsize_t)part->rows : extent[d];
    }
    const hid_t source = H5Screate_simple(rank, count, NULL);
    herr_t result = H5Sselect_hyperslab(whole, H5S_SELECT_SET, start, NULL, count, NULL);
    if (result >= 0) {
        result = H5Pset_virtual(creation, whole, part->file, name, source);
    }
    H5Sclose(source);
    return result;
}

static sx_status create(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                        const int64_t *shape, int parts, const sxi_h5_part *part) {
    hsize_t extent[SX_MAX_RANK];
    SXI_TRY(sxi_h5_parents(writer, name));
    /* Our files can be read by HDF5 1.8, but for this one: virtual datasets came with 1.10. */
    H5Fset_libver_bounds(writer->id, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
    for (int d = 0; d < rank; d++) {
        extent[d] = (hsize_t)shape[d];
    }
    const hid_t creation = sxi_h5_timeless(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(rank, extent, NULL);
    herr_t result = 0;
    for (int i = 0; i < parts && result >= 0; i++) {
        if (part[i].rows > 0) {
            result = map_part(creation, space, rank, extent, &part[i], name);
        }
    }
    H5Sselect_all(space);
    hid_t id = H5I_INVALID_HID;
    if (result >= 0) {
        id = H5Dcreate2(writer->id, name, sxi_h5_native(dtype), space, H5P_DEFAULT, creation,
                        H5P_DEFAULT);
    }
    const sx_status status = id < 0 || writer->error ? sxi_h5_write_failed(writer, name) : SX_OK;
    if (id >= 0) {
        H5Dclose(id);
    }
    H5Sclose(space);
    H5Pclose(creation);
    return status;
}

sx_status sxi_h5_virtual_create(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                                const int64_t *shape, int parts, const sxi_h5_part *part) {
    sxi_h5_enter();
    const sx_status status = create(writer, name, dtype, rank, shape, parts, part);
    sxi_h5_leave();
    return status;
}
