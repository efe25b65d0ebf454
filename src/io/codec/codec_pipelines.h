/* SPDX-License-Identifier: Apache-2.0
 * What the tests of the codecs share: pipelines of every kind, values, and a decode whose buffers
 * are exactly as large as promised. */
#ifndef SXI_CODEC_PIPELINES_H
#define SXI_CODEC_PIPELINES_H

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "io/codec/codec.h"
#include "sx_filters.h"

/* Every decoder with every value that changes its way, and the orders that writers use. */
static const struct {
    const char *name;
    int steps;
    sxi_codec_step step[4];
} sx_pipelines[] = {
    {"shuffle 1", 1, {{2, 1, {1}}}},
    {"shuffle 2", 1, {{2, 1, {2}}}},
    {"shuffle 3", 1, {{2, 1, {3}}}},
    {"shuffle 4", 1, {{2, 1, {4}}}},
    {"shuffle 8", 1, {{2, 1, {8}}}},
    {"gzip", 1, {{1, 1, {6}}}},
    {"fletcher32", 1, {{3, 0, {0}}}},
    {"shuffle, gzip", 2, {{2, 1, {2}}, {1, 1, {6}}}},
    {"shuffle, gzip, fletcher32", 3, {{2, 1, {4}}, {1, 1, {6}}, {3, 0, {0}}}},
    {"fletcher32, shuffle, gzip", 3, {{3, 0, {0}}, {2, 1, {4}}, {1, 1, {6}}}},
    {"fletcher32, gzip", 2, {{3, 0, {0}}, {1, 1, {6}}}},
    {"gzip, gzip", 2, {{1, 1, {6}}, {1, 1, {6}}}},
    {"LZF", 1, {{32000, 3, {4, 261, 0}}}},
    {"shuffle, LZF, fletcher32", 3, {{2, 1, {2}}, {32000, 3, {4, 261, 0}}, {3, 0, {0}}}},
    {"Blosc, blosclz, bytes", 1, {{32001, 7, {2, 2, 4, 0, 5, 1, 0}}}},
    {"Blosc, LZ4, bits", 1, {{32001, 7, {2, 2, 2, 0, 5, 2, 1}}}},
    {"Blosc, zlib", 1, {{32001, 7, {2, 2, 8, 0, 5, 0, 4}}}},
    {"Blosc, Zstd", 1, {{32001, 7, {2, 2, 8, 0, 5, 1, 5}}}},
    {"LZ4", 1, {{32004, 1, {0}}}},
    {"LZ4 in blocks", 1, {{32004, 1, {128}}}},
    {"LZ4, fletcher32", 2, {{32004, 1, {1024}}, {3, 0, {0}}}},
    {"bitshuffle 1", 1, {{32008, 5, {0, 3, 1, 0, 0}}}},
    {"bitshuffle 2", 1, {{32008, 5, {0, 3, 2, 0, 0}}}},
    {"bitshuffle 2 in blocks", 1, {{32008, 5, {0, 3, 2, 64, 0}}}},
    {"bitshuffle 4, LZ4", 1, {{32008, 5, {0, 3, 4, 0, 2}}}},
    {"bitshuffle 8, LZ4 in blocks", 1, {{32008, 5, {0, 3, 8, 32, 2}}}},
    {"bitshuffle 3, LZ4", 1, {{32008, 5, {0, 3, 3, 0, 2}}}},
    {"bitshuffle 20, LZ4", 1, {{32008, 5, {0, 3, 20, 0, 2}}}},
    {"bitshuffle 100", 1, {{32008, 5, {0, 3, 100, 0, 0}}}},
    {"bitshuffle 2, Zstd", 1, {{32008, 6, {0, 4, 2, 0, 3, 1}}}},
    {"bitshuffle 4, LZ4, fletcher32", 2, {{32008, 5, {0, 3, 4, 0, 2}}, {3, 0, {0}}}},
    {"Zstd", 1, {{32015, 1, {3}}}},
    {"shuffle, Zstd", 2, {{2, 1, {2}}, {32015, 1, {3}}}},
};

enum { SX_PIPELINES = sizeof sx_pipelines / sizeof *sx_pipelines };

static inline sxi_codec sx_pipeline(int i, size_t chunk) {
    sxi_codec codec = {.steps = sx_pipelines[i].steps, .element = 1, .chunk = chunk};
    memcpy(codec.step, sx_pipelines[i].step, sizeof sx_pipelines[i].step);
    return codec;
}

/* Counts of a detector, noise that no compressor shrinks, or zeros. */
enum { SX_COUNTS, SX_NOISE, SX_ZEROS, SX_KINDS };

static inline void sx_values(int kind, unsigned char *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits[4];
        sxi_rng_bits(7, (uint32_t)kind, i, 0, bits);
        values[i] = (unsigned char)(kind == SX_NOISE    ? bits[0]
                                    : kind == SX_COUNTS ? (i % 2 ? 0U : bits[0] & bits[1] & 15U)
                                                        : 0U);
    }
}

/* sx_decode - sxi_codec_decode from and to memory of exactly the promised sizes, so that a sanitizer
 * sees each byte too far. values [codec->chunk] is not touched on failure. */
static inline sx_status sx_decode(const sxi_codec *codec, unsigned skip,
                                  const unsigned char *stored, size_t bytes, bool to_target,
                                  sxi_codec_state *state, unsigned char *values) {
    const size_t scratch = sxi_codec_scratch(codec);
    unsigned char *const buffer[2] = {malloc((bytes > scratch ? bytes : scratch) + !scratch),
                                      malloc(scratch + !scratch)};
    unsigned char *target = to_target ? malloc(codec->chunk) : NULL;
    const unsigned char *where = NULL;
    sx_status status = SX_OK;
    if (!buffer[0] || !buffer[1] || (to_target && !target)) {
        status = SX_ERR_MEMORY;
        goto out;
    }
    memcpy(buffer[0], stored, bytes);
    SXI_GO(sxi_codec_decode(codec, skip, bytes, buffer, target, state, &where));
    if (where != (to_target ? target : where == buffer[0] ? buffer[0] : buffer[1])) {
        status = SXI_FAIL(SX_ERR_ARGUMENT, "values lie neither in target nor in a buffer");
        goto out;
    }
    memcpy(values, where, codec->chunk);
out:
    free(buffer[0]);
    free(buffer[1]);
    free(target);
    return status;
}

#endif
