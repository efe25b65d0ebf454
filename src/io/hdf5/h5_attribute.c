/* SPDX-License-Identifier: Apache-2.0
 * Reading attributes and text. */
#include "io/hdf5/h5_locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t type_of(hid_t object, bool is_attribute) {
    return is_attribute ? H5Aget_type(object) : H5Dget_type(object);
}

static hid_t space_of(hid_t object, bool is_attribute) {
    return is_attribute ? H5Aget_space(object) : H5Dget_space(object);
}

hid_t sxi_h5_transfer(size_t bytes) {
    const size_t least = 4096, most = (size_t)1 << 20;
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_buffer(transfer, bytes < least ? least : bytes > most ? most : bytes, NULL, NULL);
    return transfer;
}

/* A text of fixed size may be longer than that buffer, which must hold one. */
static bool read_all(hid_t object, bool is_attribute, hid_t type, void *buffer) {
    if (is_attribute) {
        return H5Aread(object, type, buffer) >= 0;
    }
    hid_t transfer = H5Tis_variable_str(type) > 0 ? sxi_h5_transfer(0) : H5P_DEFAULT;
    const bool done = H5Dread(object, type, H5S_ALL, H5S_ALL, transfer, buffer) >= 0;
    if (transfer != H5P_DEFAULT) {
        H5Pclose(transfer);
    }
    return done;
}

/* Element index of buffer, which holds elements of size bytes (pointers if variable). */
static void pick(const char *buffer, bool variable, size_t size, int64_t index, char *text,
                 size_t room) {
    if (variable) {
        const char *found = ((const char *const *)(const void *)buffer)[index];
        snprintf(text, room, "%s", found ? found : "");
        return;
    }
    const char *found = buffer + (size_t)index * size;
    size_t length = strnlen(found, size);
    while (length > 0 && found[length - 1] == ' ') { /* space-padded strings */
        length--;
    }
    snprintf(text, room, "%.*s", (int)(length < room ? length : room - 1), found);
}

bool sxi_h5_text_get(hid_t object, bool is_attribute, int64_t index, char *text, size_t size) {
    bool done = false;
    text[0] = '\0';
    hid_t type = type_of(object, is_attribute);
    hid_t space = space_of(object, is_attribute);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (H5Tget_class(type) == H5T_STRING && count > 0 && index >= 0 && index < count) {
        const bool variable = H5Tis_variable_str(type) > 0;
        const size_t bytes = variable ? sizeof(char *) : H5Tget_size(type);
        char *buffer = calloc((size_t)count, bytes);
        if (buffer && read_all(object, is_attribute, type, buffer)) {
            pick(buffer, variable, bytes, index, text, size);
            if (variable) {
                H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer);
            }
            done = true;
        }
        free(buffer);
    }
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

/* The attribute of an object; SX_ERR_MISSING without either. */
static sx_status attribute_open(sx_hdf5 *file, const char *name, const char *attribute, hid_t *id) {
    if (H5Oexists_by_name(file->id, name, H5P_DEFAULT) <= 0) {
        return sxi_h5_missing(file, name);
    }
    if (H5Aexists_by_name(file->id, name, attribute, H5P_DEFAULT) <= 0) {
        return SXI_FAIL(SX_ERR_MISSING, "%s:%s has no attribute %s", file->path, name, attribute);
    }
    *id = H5Aopen_by_name(file->id, name, attribute, H5P_DEFAULT, H5P_DEFAULT);
    return *id >= 0 ? SX_OK
                    : SXI_FAIL(SX_ERR_FORMAT, "%s: attribute %s of %s cannot be opened", file->path,
                               attribute, name);
}

sx_status sxi_h5_attribute_text(sx_hdf5 *file, const char *name, const char *attribute, char *text,
                                size_t size) {
    hid_t id = -1;
    sxi_h5_enter();
    sx_status status = attribute_open(file, name, attribute, &id);
    if (status == SX_OK) {
        if (!sxi_h5_text_get(id, true, 0, text, size)) {
            status = SXI_FAIL(SX_ERR_TYPE, "%s: attribute %s of %s is not text", file->path,
                              attribute, name);
        }
        H5Aclose(id);
    }
    sxi_h5_leave();
    return status;
}

static sx_status reals_read(sx_hdf5 *file, const char *name, const char *attribute, hid_t id,
                            int count, double *values) {
    hid_t type = H5Aget_type(id);
    hid_t space = H5Aget_space(id);
    const H5T_class_t class = H5Tget_class(type);
    const hssize_t found = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    H5Tclose(type);
    if ((class != H5T_INTEGER && class != H5T_FLOAT) || found != count) {
        char wanted[32] = "one number";
        if (count != 1) {
            snprintf(wanted, sizeof wanted, "%d numbers", count);
        }
        return SXI_FAIL(SX_ERR_TYPE, "%s: attribute %s of %s is not %s", file->path, attribute,
                        name, wanted);
    }
    return H5Aread(id, H5T_NATIVE_DOUBLE, values) >= 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_FORMAT, "%s: attribute %s of %s cannot be read", file->path,
                          attribute, name);
}

sx_status sxi_h5_attribute_real(sx_hdf5 *file, const char *name, const char *attribute,
                                double *value) {
    return sxi_h5_attribute_reals(file, name, attribute, 1, value);
}

sx_status sxi_h5_attribute_reals(sx_hdf5 *file, const char *name, const char *attribute, int count,
                                 double *values) {
    hid_t id = -1;
    sxi_h5_enter();
    sx_status status = attribute_open(file, name, attribute, &id);
    if (status == SX_OK) {
        status = reals_read(file, name, attribute, id, count, values);
        H5Aclose(id);
    }
    sxi_h5_leave();
    return status;
}

sx_status sxi_h5_read_text(sx_hdf5 *file, const char *name, int64_t index, char *text,
                           size_t size) {
    sxi_h5_enter();
    sx_status status = SX_OK;
    hid_t id = H5Oexists_by_name(file->id, name, H5P_DEFAULT) > 0
                   ? H5Dopen2(file->id, name, H5P_DEFAULT)
                   : -1;
    if (id < 0) {
        status = sxi_h5_missing(file, name);
    } else {
        if (!sxi_h5_text_get(id, false, index, text, size)) {
            status = SXI_FAIL(SX_ERR_TYPE, "%s:%s holds no text at index %lld", file->path, name,
                              (long long)index);
        }
        H5Dclose(id);
    }
    sxi_h5_leave();
    return status;
}
