/* SPDX-License-Identifier: Apache-2.0
 * Filters by name. Registered ones:
 * https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md */
#include "io/codec/codec_step.h"

const char *sxi_codec_name(unsigned filter) {
    static const struct {
        unsigned filter;
        const char *name;
    } known[] = {
        {SXI_CODEC_DEFLATE, "gzip"},
        {SXI_CODEC_SHUFFLE, "shuffle"},
        {SXI_CODEC_FLETCHER32, "fletcher32"},
        {4, "SZIP"},
        {5, "n-bit"},
        {6, "scale-offset"},
        {305, "LZO"},
        {307, "BZIP2"},
        {SXI_CODEC_LZF, "LZF"},
        {SXI_CODEC_BLOSC, "Blosc"},
        {SXI_CODEC_LZ4, "LZ4"},
        {SXI_CODEC_BITSHUFFLE, "bitshuffle"},
        {32013, "ZFP"},
        {SXI_CODEC_ZSTD, "Zstd"},
        {32017, "SZ"},
        {32018, "FCIDECOMP"},
        {32024, "SZ3"},
        {32026, "Blosc2"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].filter == filter) {
            return known[i].name;
        }
    }
    return NULL;
}
