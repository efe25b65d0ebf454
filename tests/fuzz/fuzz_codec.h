/* SPDX-License-Identifier: Apache-2.0
 * How the bytes of a fuzzer become a pipeline and a chunk; the seeds are written by the same rules.
 *
 *   [0..1]  bytes of the chunk less one, least significant first
 *   [2]     bytes of an element less one
 *   [3]     bits 0..1 compressor of bitshuffle (none, LZ4, Zstd, none), bits 2..7 its block / 8
 *   [4]     family ANY: bits 0..1 steps less one, bits 4..7 mask; the numbers of the steps follow.
 *           The others: enum flags, bits 4..7 mask
 *   then    the stored bytes */
#ifndef SX_FUZZ_CODEC_H
#define SX_FUZZ_CODEC_H

#include "io/codec/codec.h"

/* X(name, filter): a fuzz target each. */
#define SX_FUZZ_FAMILIES(X)                                                                        \
    X(gzip, 1)                                                                                     \
    X(lzf, 32000)                                                                                  \
    X(blosc, 32001)                                                                                \
    X(lz4, 32004)                                                                                  \
    X(bitshuffle, 32008)                                                                           \
    X(zstd, 32015)                                                                                 \
    X(any, 0)

enum {
    SX_FUZZ_SHUFFLE = 1,     /* the bytes were shuffled first */
    SX_FUZZ_SUM_FIRST = 2,   /* and before that had a checksum added */
    SX_FUZZ_SUM_LAST = 4,    /* what is stored has one, which */
    SX_FUZZ_SUM_IS_RIGHT = 8 /* is put right before decoding */
};

enum { SX_FUZZ_HEADER = 5 };

/* The filters a step of family ANY chooses from. */
static const unsigned sx_fuzz_filters[] = {1, 2, 3, 32000, 32001, 32004, 32008, 32015};

static inline sxi_codec_step sx_fuzz_step(unsigned filter, const unsigned char *header) {
    static const unsigned compressors[] = {0, 2, 3, 0};
    const unsigned element = 1U + header[2];
    switch (filter) {
    case 2:
        return (sxi_codec_step){2, 1, {element}};
    case 32008:
        return (sxi_codec_step){
            32008, 5, {0, 4, element, header[3] / 4U * 8U, compressors[header[3] & 3]}};
    default:
        return (sxi_codec_step){filter, 0, {0}};
    }
}

/* sx_fuzz_pipeline - reads the header; where the stored bytes begin, 0 if there are none. */
static inline size_t sx_fuzz_pipeline(unsigned family, const unsigned char *data, size_t size,
                                      sxi_codec *codec, unsigned *skip) {
    if (size < SX_FUZZ_HEADER) {
        return 0;
    }
    const unsigned flags = data[4];
    size_t at = SX_FUZZ_HEADER;
    *codec = (sxi_codec){.element = 1U + data[2], .chunk = 1U + data[0] + 256U * data[1]};
    *skip = flags >> 4;
    if (family == 0) {
        const size_t steps = 1U + (flags & 3);
        for (; at < SX_FUZZ_HEADER + steps && at < size; at++) {
            codec->step[codec->steps++] = sx_fuzz_step(sx_fuzz_filters[data[at] & 7], data);
        }
        return at;
    }
    if (flags & SX_FUZZ_SUM_FIRST) {
        codec->step[codec->steps++] = sx_fuzz_step(3, data);
    }
    if (flags & SX_FUZZ_SHUFFLE) {
        codec->step[codec->steps++] = sx_fuzz_step(2, data);
    }
    codec->step[codec->steps++] = sx_fuzz_step(family, data);
    if (flags & SX_FUZZ_SUM_LAST) {
        codec->step[codec->steps++] = sx_fuzz_step(3, data);
    }
    return at;
}

#endif
