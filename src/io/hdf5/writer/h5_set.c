/* SPDX-License-Identifier: Apache-2.0
 * Writing attributes, and dimension scales. */
#include "io/hdf5/h5_locked.h"

#include <hdf5_hl.h>

#include <string.h>

/* Writes an attribute in place of one of that name. count < 0: a scalar. */
static sx_status set(sxi_h5_writer *writer, const char *object, const char *attribute, hid_t type,
                     int count, const void *values) {
    if (writer->error) {
        return sxi_h5_write_failed(writer, object);
    }
    if (H5Aexists_by_name(writer->id, object, attribute, H5P_DEFAULT) > 0) {
        H5Adelete_by_name(writer->id, object, attribute, H5P_DEFAULT);
    }
    const hsize_t extent = count < 0 ? 1 : (hsize_t)count;
    hid_t space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL);
    hid_t id = H5Acreate_by_name(writer->id, object, attribute, type, space, H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT);
    sx_status status = SX_OK;
    if (id < 0 || (extent > 0 && H5Awrite(id, type, values) < 0) || writer->error) {
        status = sxi_h5_write_failed(writer, attribute);
    }
    if (id >= 0) {
        H5Aclose(id);
    }
    H5Sclose(space);
    return status;
}

static sx_status set_texts(sxi_h5_writer *writer, const char *object, const char *attribute,
                           int count, const char *const *texts) {
    sxi_h5_enter();
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    sx_status status = set(writer, object, attribute, type, count, texts);
    H5Tclose(type);
    sxi_h5_leave();
    return status;
}

sx_status sxi_h5_set_text(sxi_h5_writer *writer, const char *object, const char *attribute,
                          const char *text) {
    return set_texts(writer, object, attribute, -1, &text);
}

sx_status sxi_h5_set_texts(sxi_h5_writer *writer, const char *object, const char *attribute,
                           int count, const char *const *texts) {
    return set_texts(writer, object, attribute, count, texts);
}

/* One value becomes a scalar. */
static sx_status set_numbers(sxi_h5_writer *writer, const char *object, const char *attribute,
                             hid_t type, int count, const void *values) {
    sxi_h5_enter();
    sx_status status = set(writer, object, attribute, type, count == 1 ? -1 : count, values);
    sxi_h5_leave();
    return status;
}

sx_status sxi_h5_set_reals(sxi_h5_writer *writer, const char *object, const char *attribute,
                           int count, const double *values) {
    return set_numbers(writer, object, attribute, H5T_NATIVE_DOUBLE, count, values);
}

sx_status sxi_h5_set_ints(sxi_h5_writer *writer, const char *object, const char *attribute,
                          int count, const int64_t *values) {
    return set_numbers(writer, object, attribute, H5T_NATIVE_INT64, count, values);
}

static sx_status attach(sxi_h5_writer *writer, const char *dataset, int d, const char *scale) {
    if (writer->error) {
        return sxi_h5_write_failed(writer, dataset);
    }
    hid_t values = H5Dopen2(writer->id, dataset, H5P_DEFAULT);
    hid_t axis = H5Dopen2(writer->id, scale, H5P_DEFAULT);
    const char *slash = strrchr(scale, '/');
    herr_t result = values < 0 || axis < 0 ? -1 : 0;
    if (result >= 0 && H5DSis_scale(axis) <= 0) {
        result = H5DSset_scale(axis, slash ? slash + 1 : scale);
    }
    if (result >= 0) {
        result = H5DSattach_scale(values, axis, (unsigned)d);
    }
    sx_status status = result < 0 || writer->error ? sxi_h5_write_failed(writer, dataset) : SX_OK;
    if (values >= 0) {
        H5Dclose(values);
    }
    if (axis >= 0) {
        H5Dclose(axis);
    }
    return status;
}

sx_status sxi_h5_attach_scale(sxi_h5_writer *writer, const char *dataset, int d,
                              const char *scale) {
    sxi_h5_enter();
    sx_status status = attach(writer, dataset, d, scale);
    sxi_h5_leave();
    return status;
}
