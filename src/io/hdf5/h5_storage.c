/* SPDX-License-Identifier: Apache-2.0
 * Properties of a dataset in the terms of the reader. */
#include "io/hdf5/h5_storage.h"

#include "base/fail.h"
#include "io/hdf5/h5_filter.h"
#include "io/hdf5/h5_locked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether an element has parts elsewhere in the file. H5Tdetect_class misses strings of varying
 * length inside records and arrays. */
static bool has_varying(hid_t type) {
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_COMPOUND) {
        bool found = false;
        const int members = H5Tget_nmembers(type);
        for (int i = 0; i < members && !found; i++) {
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            found = member < 0 || has_varying(member);
            H5Tclose(member);
        }
        return found;
    }
    if (class == H5T_ARRAY) {
        hid_t base = H5Tget_super(type);
        const bool found = base < 0 || has_varying(base);
        H5Tclose(base);
        return found;
    }
    return class == H5T_VLEN || class == H5T_REFERENCE || H5Tis_variable_str(type) > 0;
}

static bool is_half(hid_t type) {
    size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    return H5Tget_size(type) == 2 && H5Tget_ebias(type) == 15 &&
           H5Tget_norm(type) == H5T_NORM_IMPLIED &&
           H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
           sign == 15 && exponent == 10 && exponent_bits == 5 && mantissa == 0 &&
           mantissa_bits == 10;
}

static const char *float_type(hid_t type, sxi_place_type *place) {
    if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0) {
        place->dtype = SX_F32;
    } else if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0) {
        place->dtype = SX_F64;
    } else if (is_half(type)) {
        place->kind = SXI_PLACE_HALF;
    } else {
        return "a floating-point format that only the HDF5 library converts";
    }
    return NULL;
}

static const char *integer_type(hid_t type, sx_dtype dtype, sxi_place_type *place) {
    const size_t bytes = H5Tget_size(type);
    place->dtype = dtype;
    const bool whole = H5Tget_precision(type) == 8 * bytes && H5Tget_offset(type) == 0;
    return whole && sx_dtype_size(dtype) == bytes ? NULL
                                                  : "integers that fill their bytes only in part, "
                                                    "which only the HDF5 library converts";
}

/* The type of stored elements; NULL, or why only HDF5 can convert it. */
static const char *element_type(hid_t type, const sx_hdf5_dataset *about, sxi_place_type *place) {
    *place = (sxi_place_type){.kind = SXI_PLACE_BYTES, .bytes = about->element_bytes};
    if (!about->numeric) {
        return NULL;
    }
    place->kind = SXI_PLACE_NUMBER;
    const H5T_class_t class = H5Tget_class(type);
    hid_t base = class == H5T_ENUM ? H5Tget_super(type) : H5Tcopy(type);
    const H5T_order_t order = H5Tget_order(base);
    /* Bit fields have an order, too, and no sign. */
    const char *reason =
        class == H5T_FLOAT ? float_type(base, place) : integer_type(base, about->dtype, place);
    if (!reason && order != H5T_ORDER_LE && order != H5T_ORDER_BE && about->element_bytes > 1) {
        reason = "a byte order that only the HDF5 library converts";
    }
    place->swapped = order == H5T_ORDER_BE && about->element_bytes > 1;
    H5Tclose(base);
    return reason;
}

static sx_status read_fill(hid_t created, hid_t type, const sx_hdf5_dataset *about,
                           sxi_h5_storage *storage) {
    const size_t bytes = about->element_bytes > 0 ? (size_t)about->element_bytes : 1;
    storage->fill = calloc(1, bytes);
    if (!storage->fill) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a fill value of %zu bytes", bytes);
    }
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    double value = 0;
    if (about->element_bytes > 0 && H5Pfill_value_defined(created, &defined) >= 0 &&
        defined == H5D_FILL_VALUE_USER_DEFINED &&
        H5Pget_fill_value(created, type, storage->fill) >= 0) {
        storage->fill_is_nan = about->numeric &&
                               H5Pget_fill_value(created, H5T_NATIVE_DOUBLE, &value) >= 0 &&
                               isnan(value);
    }
    return SX_OK;
}

/* Extents of the blocks; NULL, or why they are left to HDF5. */
static const char *block_extents(hid_t dataset, hid_t created, const sx_hdf5_dataset *about,
                                 sxi_h5_storage *storage) {
    storage->block_bytes = about->element_bytes;
    for (int d = 0; d < storage->rank; d++) {
        storage->block[d] = about->chunk[d] > 0 ? about->chunk[d] : storage->shape[d];
        if (__builtin_mul_overflow(storage->block_bytes, storage->block[d],
                                   &storage->block_bytes)) {
            return "blocks that are too large";
        }
    }
    if (about->layout == SX_HDF5_CHUNKED) {
        unsigned options = 0;
        H5Pget_chunk_opts(created, &options);
        storage->edges_raw = options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS;
    } else {
        storage->address = about->layout == SX_HDF5_EXTERNAL ? 0 : H5Dget_offset(dataset);
    }
    return NULL;
}

static sx_hdf5_layout layout_of(hid_t created) {
    switch (H5Pget_layout(created)) {
    case H5D_COMPACT:
        return SX_HDF5_COMPACT;
    case H5D_CHUNKED:
        return SX_HDF5_CHUNKED;
    case H5D_VIRTUAL:
        return SX_HDF5_VIRTUAL;
    default:
        return H5Pget_external_count(created) > 0 ? SX_HDF5_EXTERNAL : SX_HDF5_CONTIGUOUS;
    }
}

/* Why the dataset is left to the HDF5 library; NULL if it is not. */
static const char *reason_of(hid_t dataset, hid_t created, hid_t type, sx_hdf5_dataset *about,
                             sxi_h5_storage *storage) {
    const char *reason = element_type(type, about, &storage->type);
    if (!reason) {
        reason = block_extents(dataset, created, about, storage);
    }
    if (!reason && about->layout == SX_HDF5_COMPACT) {
        reason = "a compact layout: the values lie in the header, which HDF5 has read already";
    }
    return reason;
}

sx_status sxi_h5_storage_read(hid_t dataset, sx_hdf5_dataset *about, sxi_h5_storage *storage) {
    *storage = (sxi_h5_storage){.rank = about->rank > 0 ? about->rank : 1, .address = HADDR_UNDEF};
    hid_t type = H5Dget_type(dataset);
    hid_t created = H5Dget_create_plist(dataset);
    sx_status status = SX_OK;
    const bool varying = has_varying(type);
    about->element_bytes = varying ? 0 : (int64_t)H5Tget_size(type);
    about->layout = layout_of(created);
    storage->shape[0] = 1;
    for (int d = 0; d < about->rank; d++) {
        storage->shape[d] = about->shape[d];
    }
    const char *reason = reason_of(dataset, created, type, about, storage);
    char words[sizeof about->reason] = "";
    sxi_h5_filters_read(created, about, &storage->codec, words, sizeof words);
    storage->codec.element = (size_t)about->element_bytes;
    storage->codec.chunk = (size_t)storage->block_bytes;
    if (varying) {
        reason = "elements of varying length";
    } else if (!reason && words[0]) {
        reason = words;
    }
    about->path = reason ? SX_HDF5_LIBRARY : SX_HDF5_DIRECT;
    snprintf(about->reason, sizeof about->reason, "%s", reason ? reason : "");
    status = read_fill(created, type, about, storage);
    H5Pclose(created);
    H5Tclose(type);
    return status;
}

void sxi_h5_storage_free(sxi_h5_storage *storage) {
    free(storage->fill);
    storage->fill = NULL;
}
