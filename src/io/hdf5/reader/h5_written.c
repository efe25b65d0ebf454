/* SPDX-License-Identifier: Apache-2.0
 * Whether all of a dataset was ever written. HDF5 reads the fill value, mostly 0, where nothing was;
 * as a measurement that would be wrong without a word. */
#include "io/hdf5/h5_locked.h"

#include <math.h>

/* A fill value of NaN says itself that the sample is missing. */
static bool fills_with_nan(hid_t created) {
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    double value = 0;
    return H5Pfill_value_defined(created, &defined) >= 0 && defined != H5D_FILL_VALUE_UNDEFINED &&
           H5Pget_fill_value(created, H5T_NATIVE_DOUBLE, &value) >= 0 && isnan(value);
}

/* Elements that the mappings of a virtual dataset reach; all of them where one has no end. */
static double mapped_elements(hid_t created, double all) {
    size_t count = 0;
    double sum = 0;
    H5Pget_virtual_count(created, &count);
    for (size_t i = 0; i < count; i++) {
        hid_t space = H5Pget_virtual_vspace(created, i);
        const hssize_t points = H5Sget_select_npoints(space);
        H5Sclose(space);
        if (points < 0) {
            return all;
        }
        sum += (double)points;
    }
    return sum;
}

static double chunks_needed(const sx_hdf5_dataset *about) {
    double count = 1;
    for (int d = 0; d < about->rank; d++) {
        count *= ceil((double)about->shape[d] / (double)about->chunk[d]);
    }
    return count;
}

/* Part of the dataset that holds something, in units of `all`. */
static double written_part(const sxi_h5_entry *entry, hid_t created, double all, double *of) {
    const H5D_layout_t layout = H5Pget_layout(created);
    *of = all;
    if (layout == H5D_VIRTUAL) {
        return mapped_elements(created, all);
    }
    if (layout == H5D_CHUNKED) {
        hid_t space = H5Dget_space(entry->id);
        hsize_t chunks = 0;
        const bool counted = H5Dget_num_chunks(entry->id, space, &chunks) >= 0;
        H5Sclose(space);
        *of = chunks_needed(&entry->about);
        return counted ? (double)chunks : *of;
    }
    const bool external = H5Pget_external_count(created) > 0;
    const bool compact = layout == H5D_COMPACT;
    return external || compact || H5Dget_storage_size(entry->id) > 0 ? all : 0;
}

sx_status sxi_h5_check_written(sx_hdf5 *file, const char *name) {
    sxi_h5_entry *entry = NULL;
    double all = 1, of = 1, part = 1;
    sxi_h5_enter();
    sx_status status = sxi_h5_entry_get(file, name, &entry);
    if (status == SX_OK) {
        hid_t created = H5Dget_create_plist(entry->id);
        for (int d = 0; d < entry->about.rank; d++) {
            all *= (double)entry->about.shape[d];
        }
        part = all > 0 && !fills_with_nan(created) ? written_part(entry, created, all, &of) : of;
        H5Pclose(created);
    }
    if (status == SX_OK && entry->about.layout == SX_HDF5_VIRTUAL) {
        const int64_t start[SX_MAX_RANK] = {0};
        status = sxi_h5_check_sources(file, entry, start, entry->about.shape);
    }
    if (status == SX_OK && part < of) {
        status = SXI_FAIL(SX_ERR_MISSING,
                          "%s:%s was only written to %.4g %%; the rest would read as its fill "
                          "value: write all of it, or make it with the fill value NaN",
                          file->path, name, 100 * part / of);
    }
    sxi_h5_leave();
    return status;
}
