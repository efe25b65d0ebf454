/* SPDX-License-Identifier: Apache-2.0
 * Writing datasets. */
#include "io/hdf5/h5_locked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

hid_t sxi_h5_timeless(hid_t class) {
    hid_t list = H5Pcreate(class);
    if (list >= 0) {
        H5Pset_obj_track_times(list, false);
    }
    return list;
}

sx_status sxi_h5_parents(sxi_h5_writer *writer, const char *name) {
    sx_status status = SX_OK;
    hid_t creation = sxi_h5_timeless(H5P_GROUP_CREATE);
    char *part = strdup(name);
    if (!part) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write %s", writer->path, name);
        goto out;
    }
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (H5Lexists(writer->id, part, H5P_DEFAULT) <= 0) {
            hid_t group = H5Gcreate2(writer->id, part, H5P_DEFAULT, creation, H5P_DEFAULT);
            if (group < 0) {
                status = sxi_h5_write_failed(writer, name);
                goto out;
            }
            H5Gclose(group);
        }
        *slash = '/';
    }
out:
    free(part);
    H5Pclose(creation);
    return status;
}

/* Values never written read as missing. */
static void set_fill(hid_t creation, sx_dtype dtype) {
    if (dtype == SX_F32 || dtype == SX_F64) {
        const double missing = (double)NAN;
        H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &missing);
    }
}

static sx_status dataset_create(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                                const int64_t *shape) {
    if (rank < 0 || rank > SX_MAX_RANK) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s: %s cannot have %d axes", writer->path, name, rank);
    }
    if (writer->error) {
        return sxi_h5_write_failed(writer, name);
    }
    SXI_TRY(sxi_h5_parents(writer, name));
    hsize_t extent[SX_MAX_RANK] = {0};
    for (int d = 0; d < rank; d++) {
        extent[d] = (hsize_t)shape[d];
    }
    hid_t creation = sxi_h5_timeless(H5P_DATASET_CREATE);
    hid_t space = rank ? H5Screate_simple(rank, extent, NULL) : H5Screate(H5S_SCALAR);
    set_fill(creation, dtype);
    hid_t id = H5Dcreate2(writer->id, name, sxi_h5_native(dtype), space, H5P_DEFAULT, creation,
                          H5P_DEFAULT);
    sx_status status = id < 0 || writer->error ? sxi_h5_write_failed(writer, name) : SX_OK;
    if (id >= 0) {
        H5Dclose(id);
    }
    H5Sclose(space);
    H5Pclose(creation);
    return status;
}

sx_status sxi_h5_dataset_create(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                                const int64_t *shape, const char *unit, const char *sentence) {
    sxi_h5_enter();
    sx_status status = dataset_create(writer, name, dtype, rank, shape);
    sxi_h5_leave();
    if (status == SX_OK && unit && unit[0]) {
        status = sxi_h5_set_text(writer, name, "units", unit);
    }
    if (status == SX_OK && sentence && sentence[0]) {
        status = sxi_h5_set_text(writer, name, "long_name", sentence);
    }
    return status;
}

/* Writes contiguous memory to a box. */
static sx_status write_whole(sxi_h5_writer *writer, const char *name, hid_t dataset,
                             const int64_t *start, const sx_array *array) {
    hsize_t first[SX_MAX_RANK] = {0};
    hsize_t number[SX_MAX_RANK] = {0};
    for (int d = 0; d < array->rank; d++) {
        first[d] = (hsize_t)start[d];
        number[d] = (hsize_t)array->shape[d];
    }
    hid_t stored = H5Dget_space(dataset);
    hid_t memory =
        array->rank ? H5Screate_simple(array->rank, number, NULL) : H5Screate(H5S_SCALAR);
    hid_t transfer = sxi_h5_transfer((size_t)sx_array_count(array) * 8); /* the widest element */
    herr_t result = array->rank == 0
                        ? 0
                        : H5Sselect_hyperslab(stored, H5S_SELECT_SET, first, NULL, number, NULL);
    if (result >= 0) {
        result =
            H5Dwrite(dataset, sxi_h5_native(array->dtype), memory, stored, transfer, array->data);
    }
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(stored);
    return result < 0 || writer->error ? sxi_h5_write_failed(writer, name) : SX_OK;
}

static sx_status box_check(const sxi_h5_writer *writer, const char *name, hid_t dataset,
                           const int64_t *start, const sx_array *array) {
    hsize_t extent[SX_MAX_RANK] = {0};
    hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    H5Sclose(space);
    if (rank != array->rank) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %d axes, the array to write has %d", writer->path,
                        name, rank, array->rank);
    }
    for (int d = 0; d < rank; d++) {
        if (start[d] < 0 || array->shape[d] > (int64_t)extent[d] - start[d]) {
            return SXI_FAIL(SX_ERR_RANGE, "%s:%s: %lld to %lld does not fit %lld of axis %d",
                            writer->path, name, (long long)start[d],
                            (long long)(start[d] + array->shape[d]), (long long)extent[d], d);
        }
    }
    return SX_OK;
}

static sx_status write_box(sxi_h5_writer *writer, const char *name, const int64_t *start,
                           const sx_array *array) {
    if (writer->error) {
        return sxi_h5_write_failed(writer, name);
    }
    hid_t dataset = H5Dopen2(writer->id, name, H5P_DEFAULT);
    if (dataset < 0) {
        return sxi_h5_write_failed(writer, name);
    }
    sx_array copy = {0};
    const sx_array *source = array;
    sx_status status = SX_OK;
    SXI_GO(box_check(writer, name, dataset, start, array));
    if (sx_array_count(array) == 0) {
        goto out;
    }
    if (!sx_array_contiguous(array)) {
        SXI_GO(sx_array_create(array->dtype, array->rank, array->shape, &copy));
        SXI_GO(sx_array_copy(array, &copy));
        source = &copy;
    }
    status = write_whole(writer, name, dataset, start, source);
out:
    sx_array_destroy(&copy);
    H5Dclose(dataset);
    return status;
}

sx_status sxi_h5_write_box(sxi_h5_writer *writer, const char *name, const int64_t *start,
                           const sx_array *array) {
    sxi_h5_enter();
    sx_status status = write_box(writer, name, start, array);
    sxi_h5_leave();
    return status;
}

sx_status sxi_h5_write(sxi_h5_writer *writer, const char *name, const sx_array *array,
                       const char *unit, const char *sentence) {
    const int64_t origin[SX_MAX_RANK] = {0};
    SXI_TRY(sxi_h5_dataset_create(writer, name, array->dtype, array->rank, array->shape, unit,
                                  sentence));
    return sxi_h5_write_box(writer, name, origin, array);
}

/* UTF-8 of variable length: what h5py hands out as str. */
static hid_t text_type(void) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* count < 0: a scalar. */
static sx_status write_texts(sxi_h5_writer *writer, const char *name, int64_t count,
                             const char *const *texts) {
    if (writer->error) {
        return sxi_h5_write_failed(writer, name);
    }
    SXI_TRY(sxi_h5_parents(writer, name));
    const hsize_t extent = count < 0 ? 1 : (hsize_t)count;
    hid_t type = text_type();
    hid_t space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL);
    hid_t creation = sxi_h5_timeless(H5P_DATASET_CREATE);
    hid_t transfer = sxi_h5_transfer(0);
    hid_t id = H5Dcreate2(writer->id, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    sx_status status = SX_OK;
    if (id < 0 || (extent > 0 && H5Dwrite(id, type, H5S_ALL, H5S_ALL, transfer, texts) < 0) ||
        writer->error) {
        status = sxi_h5_write_failed(writer, name);
    }
    if (id >= 0) {
        H5Dclose(id);
    }
    H5Pclose(transfer);
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

sx_status sxi_h5_write_text(sxi_h5_writer *writer, const char *name, const char *text) {
    sxi_h5_enter();
    sx_status status = write_texts(writer, name, -1, &text);
    sxi_h5_leave();
    return status;
}

sx_status sxi_h5_write_texts(sxi_h5_writer *writer, const char *name, int64_t count,
                             const char *const *texts) {
    sxi_h5_enter();
    sx_status status = write_texts(writer, name, count, texts);
    sxi_h5_leave();
    return status;
}
