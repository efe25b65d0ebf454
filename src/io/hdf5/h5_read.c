/* SPDX-License-Identifier: Apache-2.0
 * Reading boxes of numbers. */
#include "io/hdf5/h5_filter.h"
#include "io/hdf5/h5_locked.h"

#include <stdlib.h>
#include <sys/stat.h>

/* A target with gaps is filled through a contiguous piece of at most this size. */
enum { PIECE_BYTES = 4 << 20 };

static sx_status box_check(const sx_hdf5 *file, const sxi_h5_entry *entry, const int64_t *start,
                           const int64_t *count, const sx_array *array) {
    const sx_hdf5_dataset *about = &entry->about;
    if (!about->numeric) {
        return sxi_h5_not_numbers(file->path, entry->name, entry->id);
    }
    if (array->rank != about->rank) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %d axes, %d were asked for", file->path,
                        entry->name, about->rank, array->rank);
    }
    for (int d = 0; d < about->rank; d++) {
        if (array->shape[d] != count[d]) {
            return SXI_FAIL(SX_ERR_SHAPE, "%s:%s: axis %d of the array has %lld elements, not %lld",
                            file->path, entry->name, d, (long long)array->shape[d],
                            (long long)count[d]);
        }
        if (start[d] < 0 || count[d] < 0 || count[d] > about->shape[d] - start[d]) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "%s:%s: %lld to %lld of axis %d is asked for, it has %lld elements",
                            file->path, entry->name, (long long)start[d],
                            (long long)(start[d] + count[d]), d, (long long)about->shape[d]);
        }
    }
    return SX_OK;
}

static sx_status read_failed(const sx_hdf5 *file, const sxi_h5_entry *entry) {
    char reason[SXI_H5_REASON];
    sxi_h5_reason(reason, sizeof reason);
    SXI_TRY(sxi_h5_filters_missing(file->path, entry->name, entry->id));
    return SXI_FAIL(SX_ERR_IO, "%s:%s cannot be read: %s", file->path, entry->name, reason);
}

/* The type to ask HDF5 for. */
static hid_t memory_type(const sxi_h5_entry *entry, sx_dtype dtype) {
    if (!entry->bits) {
        return sxi_h5_native(dtype);
    }
    switch (sx_dtype_size(dtype)) {
    case 1:
        return H5T_NATIVE_B8;
    case 2:
        return H5T_NATIVE_B16;
    case 4:
        return H5T_NATIVE_B32;
    default:
        return H5T_NATIVE_B64;
    }
}

/* Fills a contiguous array. */
static sx_status read_whole(const sx_hdf5 *file, const sxi_h5_entry *entry, const hsize_t *start,
                            const hsize_t *count, sx_array *array) {
    const int rank = entry->about.rank;
    hid_t stored = rank ? H5Dget_space(entry->id) : H5Screate(H5S_SCALAR);
    hid_t memory = rank ? H5Screate_simple(rank, count, NULL) : H5Screate(H5S_SCALAR);
    herr_t result =
        rank ? H5Sselect_hyperslab(stored, H5S_SELECT_SET, start, NULL, count, NULL) : 0;
    if (result >= 0) {
        result = H5Dread(entry->id, memory_type(entry, array->dtype), memory, stored, H5P_DEFAULT,
                         array->data);
    }
    sx_status status = result < 0 ? read_failed(file, entry) : SX_OK;
    H5Sclose(memory);
    H5Sclose(stored);
    return status;
}

/* Through a contiguous copy, which also converts what HDF5 does not. */
static sx_status read_copy(const sx_hdf5 *file, const sxi_h5_entry *entry, const hsize_t *start,
                           const hsize_t *count, sx_array *array) {
    sx_array piece = {0};
    SXI_TRY(sx_array_create(entry->bits ? entry->about.dtype : array->dtype, array->rank,
                            array->shape, &piece));
    sx_status status = read_whole(file, entry, start, count, &piece);
    if (status == SX_OK) {
        status = sx_array_copy(&piece, array);
    }
    sx_array_destroy(&piece);
    return status;
}

/* Halves a box along its first long axis until it is contiguous or small. */
static sx_status read_pieces(const sx_hdf5 *file, const sxi_h5_entry *entry, const hsize_t *start,
                             const hsize_t *count, sx_array *array) {
    const bool direct = !entry->bits || array->dtype == entry->about.dtype;
    if (direct && sx_array_contiguous(array)) {
        return read_whole(file, entry, start, count, array);
    }
    const int64_t bytes = sx_array_count(array) * (int64_t)sx_dtype_size(array->dtype);
    int axis = 0;
    while (axis < array->rank && array->shape[axis] < 2) {
        axis++;
    }
    if (bytes <= PIECE_BYTES || axis == array->rank) {
        return read_copy(file, entry, start, count, array);
    }
    const int64_t half = array->shape[axis] / 2;
    for (int part = 0; part < 2; part++) {
        hsize_t first[SX_MAX_RANK];
        hsize_t number[SX_MAX_RANK];
        int64_t from[SX_MAX_RANK] = {0};
        int64_t to[SX_MAX_RANK];
        for (int d = 0; d < array->rank; d++) {
            to[d] = array->shape[d];
            if (d == axis) {
                from[d] = part ? half : 0;
                to[d] = part ? array->shape[d] : half;
            }
            first[d] = start[d] + (hsize_t)from[d];
            number[d] = (hsize_t)(to[d] - from[d]);
        }
        sx_array view;
        SXI_TRY(sx_array_slice(array, from, to, &view));
        SXI_TRY(read_pieces(file, entry, first, number, &view));
    }
    return SX_OK;
}

/* Room to remember which sources of a virtual dataset were found. Without memory none is. */
static void remember_sources(sxi_h5_entry *entry) {
    hid_t created = H5Dget_create_plist(entry->id);
    size_t count = 0;
    if (!entry->checked && H5Pget_layout(created) == H5D_VIRTUAL &&
        H5Pget_virtual_count(created, &count) >= 0 && count > 0) {
        entry->checked = calloc(count, sizeof *entry->checked);
    }
    H5Pclose(created);
}

static sx_status read_box(sx_hdf5 *file, const char *name, const int64_t *start,
                          const int64_t *count, sx_array *array) {
    sxi_h5_entry *entry = NULL;
    SXI_TRY(sxi_h5_entry_get(file, name, &entry));
    SXI_TRY(box_check(file, entry, start, count, array));
    hsize_t first[SX_MAX_RANK] = {0};
    hsize_t number[SX_MAX_RANK] = {0};
    for (int d = 0; d < array->rank; d++) {
        first[d] = (hsize_t)start[d];
        number[d] = (hsize_t)count[d];
    }
    if (sx_array_count(array) == 0) {
        return SX_OK;
    }
    remember_sources(entry);
    SXI_TRY(sxi_h5_check_sources(file->path, name, entry->id, first, number, entry->checked));
    SXI_TRY(sxi_h5_filters_unsafe(file->path, name, entry->id));
    return read_pieces(file, entry, first, number, array);
}

/* HDF5 reads zeros beyond the end of a file that was cut after it was opened (1.10, driver sec2), so
 * every read asks whether the file is still as long. */
static sx_status check_length(const sx_hdf5 *file) {
    void *handle = NULL;
    struct stat about;
    if (H5Fget_vfd_handle(file->id, H5P_DEFAULT, &handle) < 0 || !handle ||
        fstat(*(const int *)handle, &about) != 0) {
        return SXI_FAIL(SX_ERR_IO, "%s: its length cannot be asked", file->path);
    }
    if ((long long)about.st_size < file->bytes) {
        return SXI_FAIL(SX_ERR_IO,
                        "%s was cut from %lld to %lld bytes while it was read; let nothing write "
                        "to it meanwhile",
                        file->path, file->bytes, (long long)about.st_size);
    }
    return SX_OK;
}

sx_status sxi_h5_library_read(sx_hdf5 *file, const char *name, const int64_t *start,
                              const int64_t *count, sx_array *array) {
    sxi_h5_enter();
    sx_status status = read_box(file, name, start, count, array);
    if (status == SX_OK) {
        status = check_length(file);
    }
    sxi_h5_leave();
    return status;
}

sx_status sxi_h5_read(sx_hdf5 *file, const char *name, const sx_dtype *as, sx_array *array) {
    *array = (sx_array){0};
    sxi_h5_enter();
    sxi_h5_entry *entry = NULL;
    sx_array read = {0};
    sx_status status = sxi_h5_entry_get(file, name, &entry);
    if (status == SX_OK && !entry->about.numeric) {
        status = sxi_h5_not_numbers(file->path, name, entry->id);
    }
    if (status == SX_OK) {
        status = sx_array_create(as ? *as : entry->about.dtype, entry->about.rank,
                                 entry->about.shape, &read);
    }
    if (status == SX_OK) {
        const int64_t origin[SX_MAX_RANK] = {0};
        status = read_box(file, name, origin, read.shape, &read);
    }
    if (status == SX_OK) {
        status = check_length(file);
    }
    sxi_h5_leave();
    if (status != SX_OK) {
        sx_array_destroy(&read);
        return status;
    }
    *array = read;
    return SX_OK;
}
