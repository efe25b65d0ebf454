/* SPDX-License-Identifier: Apache-2.0
 * Filters by name, for the sentence people search for when one is missing. */
#include "io/hdf5/h5_filter.h"

#include "io/codec/codec.h"

enum { BITSHUFFLE = 32008, BITSHUFFLE_ZSTD = 3, VALUES = 8 };

static const char *name_of(H5Z_filter_t id) {
    const char *name = sxi_codec_name((unsigned)id);
    return name ? name : "a filter unknown here";
}

/* Filter i of the pipeline, with its client values; 0 where it has fewer. value: zeroed. */
static H5Z_filter_t filter_at(hid_t created, int i, unsigned value[VALUES]) {
    unsigned flags = 0;
    unsigned config = 0;
    size_t values = VALUES;
    return H5Pget_filter2(created, (unsigned)i, &flags, &values, value, 0, NULL, &config);
}

sx_status sxi_h5_filters_missing(const char *path, const char *name, hid_t dataset) {
    sx_status status = SX_OK;
    hid_t created = H5Dget_create_plist(dataset);
    const int count = H5Pget_layout(created) == H5D_CHUNKED ? H5Pget_nfilters(created) : 0;
    for (int i = 0; status == SX_OK && i < count; i++) {
        unsigned value[VALUES] = {0};
        const H5Z_filter_t id = filter_at(created, i, value);
        if (H5Zfilter_avail(id) <= 0) {
            status = SXI_FAIL(SX_ERR_UNSUPPORTED,
                              "%s:%s is compressed with %s (filter %d), which this HDF5 library "
                              "lacks; install its plugin and name the folder in HDF5_PLUGIN_PATH",
                              path, name, name_of(id), (int)id);
        }
    }
    H5Pclose(created);
    return status;
}

sx_status sxi_h5_filters_unsafe(const char *path, const char *name, hid_t dataset) {
    sx_status status = SX_OK;
    hid_t created = H5Dget_create_plist(dataset);
    const int count = H5Pget_layout(created) == H5D_CHUNKED ? H5Pget_nfilters(created) : 0;
    for (int i = 0; status == SX_OK && i < count; i++) {
        unsigned value[VALUES] = {0};
        const H5Z_filter_t id = filter_at(created, i, value);
        /* bitshuffle's plugin before 0.4, Debian 12's among them, does not know Zstd and returns
         * garbage without an error for a third of such datasets. */
        if (id == BITSHUFFLE && value[4] == BITSHUFFLE_ZSTD) {
            status = SXI_FAIL(SX_ERR_UNSUPPORTED,
                              "%s:%s is compressed with bitshuffle and Zstd, which common versions "
                              "of the plugin decode wrongly; store it with bitshuffle and LZ4",
                              path, name);
        }
    }
    H5Pclose(created);
    return status;
}
