/* SPDX-License-Identifier: Apache-2.0
 * Filters by name, for the sentence people search for when one is missing. */
#include "io/hdf5/h5_filter.h"

#include <stdio.h>
#include <string.h>

#include "io/codec/codec.h"

enum { BITSHUFFLE = 32008, BITSHUFFLE_ZSTD = 3 };

static const char *name_of(H5Z_filter_t id) {
    const char *name = sxi_codec_name((unsigned)id);
    return name ? name : "a filter unknown here";
}

/* Filter i of the pipeline; values it has not got are 0. */
static H5Z_filter_t filter_at(hid_t created, int i, sxi_codec_step *step) {
    unsigned flags = 0;
    unsigned config = 0;
    size_t values = SXI_CODEC_VALUES;
    *step = (sxi_codec_step){.values = 0};
    const H5Z_filter_t id =
        H5Pget_filter2(created, (unsigned)i, &flags, &values, step->value, 0, NULL, &config);
    step->filter = (unsigned)id;
    step->values = (int)(values < SXI_CODEC_VALUES ? values : SXI_CODEC_VALUES);
    return id;
}

sx_status sxi_h5_filters_missing(const char *path, const char *name, hid_t dataset) {
    sx_status status = SX_OK;
    hid_t created = H5Dget_create_plist(dataset);
    const int count = H5Pget_layout(created) == H5D_CHUNKED ? H5Pget_nfilters(created) : 0;
    for (int i = 0; status == SX_OK && i < count; i++) {
        sxi_codec_step step;
        const H5Z_filter_t id = filter_at(created, i, &step);
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
        sxi_codec_step step;
        const H5Z_filter_t id = filter_at(created, i, &step);
        /* bitshuffle's plugin before 0.4, Debian 12's among them, does not know Zstd and returns
         * garbage without an error for a third of such datasets. */
        if (id == BITSHUFFLE && step.value[4] == BITSHUFFLE_ZSTD) {
            status = SXI_FAIL(SX_ERR_UNSUPPORTED,
                              "%s:%s is compressed with bitshuffle and Zstd, which common versions "
                              "of the plugin decode wrongly; store it with bitshuffle and LZ4",
                              path, name);
        }
    }
    H5Pclose(created);
    return status;
}

void sxi_h5_filters_read(hid_t created, sx_hdf5_dataset *about, sxi_codec *codec, char *reason,
                         size_t size) {
    const int count = about->layout == SX_HDF5_CHUNKED ? H5Pget_nfilters(created) : 0;
    for (int i = 0; i < count; i++) {
        sxi_codec_step step;
        filter_at(created, i, &step);
        const char *name = name_of((H5Z_filter_t)step.filter);
        const size_t used = strlen(about->filters);
        snprintf(about->filters + used, sizeof about->filters - used, "%s%s", i ? ", " : "", name);
        if (i < SXI_CODEC_STEPS) {
            codec->step[codec->steps++] = step;
        }
        if (!reason[0] && (i >= SXI_CODEC_STEPS || !sxi_codec_known(&step))) {
            snprintf(reason, size, "filter %u (%s), which is not undone here", step.filter, name);
        }
    }
}
