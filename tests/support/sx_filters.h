/* SPDX-License-Identifier: Apache-2.0
 * The filters of HDF5 forwards, for tests and for the seeds of the fuzzers: framing and shuffles
 * written plainly from the definitions, compression by the reference libraries. */
#ifndef SX_FILTERS_H
#define SX_FILTERS_H

#include <blosc.h>
#include <libdeflate.h>
#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "io/codec/codec.h"

enum { SX_FILTERS_ROOM = 1 << 20 }; /* of every buffer below */

static inline void sx_put_big(unsigned char *p, int bytes, uint64_t value) {
    for (int i = 0; i < bytes; i++) {
        p[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
    }
}

static inline size_t sx_filter_deflate(const unsigned char *in, size_t n, unsigned char *out) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    const size_t made = libdeflate_zlib_compress(compressor, in, n, out, SX_FILTERS_ROOM);
    libdeflate_free_compressor(compressor);
    return made;
}

static inline size_t sx_filter_shuffle(const sxi_codec_step *step, const unsigned char *in,
                                       size_t n, unsigned char *out) {
    const size_t element = step->value[0], count = n / element;
    memcpy(out, in, n);
    for (size_t i = 0; i < count * element; i++) {
        out[i % element * count + i / element] = in[i];
    }
    return n;
}

/* As HDF5 defines it: words with the more significant byte first. */
static inline size_t sx_filter_fletcher32(const unsigned char *in, size_t n, unsigned char *out) {
    uint32_t one = 0, two = 0;
    for (size_t i = 0; i < n; i += 2) {
        one = (one + ((uint32_t)in[i] << 8) + (i + 1 < n ? in[i + 1] : 0U)) % 65535;
        two = (two + one) % 65535;
    }
    memcpy(out, in, n);
    const uint32_t sum = two << 16 | one;
    for (int i = 0; i < 4; i++) {
        out[n + (size_t)i] = (unsigned char)(sum >> 8 * i);
    }
    return n + 4;
}

static inline size_t sx_filter_lz4(const sxi_codec_step *step, const unsigned char *in, size_t n,
                                   unsigned char *out) {
    const size_t block = step->values > 0 && step->value[0] > 0 ? step->value[0] : n;
    sx_put_big(out, 8, n);
    sx_put_big(out + 8, 4, block);
    size_t at = 12;
    for (size_t done = 0; done < n; done += block) {
        const size_t size = block < n - done ? block : n - done;
        int made = LZ4_compress_default((const char *)in + done, (char *)out + at + 4, (int)size,
                                        SX_FILTERS_ROOM);
        if ((size_t)made >= size) {
            made = (int)size;
            memcpy(out + at + 4, in + done, size);
        }
        sx_put_big(out + at, 4, (uint64_t)made);
        at += 4 + (size_t)made;
    }
    return at;
}

/* Bit b of byte j of element i of count becomes bit i % 8 of byte i / 8 of row 8 j + b. */
static inline void sx_bits_apart(const unsigned char *in, size_t count, size_t element,
                                 unsigned char *out) {
    memset(out, 0, count * element);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < element; j++) {
            for (size_t b = 0; b < 8; b++) {
                const unsigned bit = in[i * element + j] >> b & 1U;
                out[(8 * j + b) * (count / 8) + i / 8] |= (unsigned char)(bit << i % 8);
            }
        }
    }
}

static inline size_t sx_filter_bitshuffle(const sxi_codec_step *step, const unsigned char *in,
                                          size_t n, unsigned char *out) {
    const size_t element = step->value[2];
    size_t block = step->value[3];
    if (block == 0) {
        block = 8192 / element / 8 * 8;
        block = block < 128 ? 128 : block;
    }
    size_t at = 0;
    if (step->value[4] != 0) {
        sx_put_big(out, 8, n);
        sx_put_big(out + 8, 4, block * element);
        at = 12;
    }
    unsigned char *bits = malloc(n + 1);
    const size_t whole = n / element / 8 * 8;
    for (size_t i = 0; i < whole; i += block) {
        const size_t count = whole - i < block ? whole - i : block, size = count * element;
        sx_bits_apart(in + i * element, count, element, bits);
        if (step->value[4] == 0) {
            memcpy(out + at, bits, size);
            at += size;
            continue;
        }
        const size_t made =
            step->value[4] == 3
                ? ZSTD_compress(out + at + 4, SX_FILTERS_ROOM, bits, size, 1)
                : (size_t)LZ4_compress_default((const char *)bits, (char *)out + at + 4, (int)size,
                                               SX_FILTERS_ROOM);
        sx_put_big(out + at, 4, made);
        at += 4 + made;
    }
    free(bits);
    memcpy(out + at, in + whole * element, n - whole * element);
    return at + n - whole * element;
}

/* The nearest equal run of 3 to 264 bytes from at most 1024 back, or a literal. */
static inline size_t sx_filter_lzf(const unsigned char *in, size_t n, unsigned char *out) {
    size_t made = 0, literals = 0;
    for (size_t at = 0; at < n;) {
        size_t length = 0, distance = 0;
        for (size_t d = 1; d <= at && d <= 1024 && length < 3; d++) {
            for (length = 0;
                 length < 264 && at + length < n && in[at + length] == in[at + length - d];) {
                length++;
            }
            distance = d - 1;
        }
        if (length < 3) {
            if (literals == 0) {
                made++;
            }
            out[made++] = in[at++];
            literals++;
            out[made - literals - 1] = (unsigned char)(literals - 1);
            literals %= 32;
            continue;
        }
        literals = 0;
        const size_t code = length - 2;
        out[made++] = (unsigned char)((code < 7 ? code : 7) << 5 | distance >> 8);
        if (code >= 7) {
            out[made++] = (unsigned char)(code - 7);
        }
        out[made++] = (unsigned char)distance;
        at += length;
    }
    return made;
}

/* value[2] element, value[5] shuffle (0, 1 bytes, 2 bits), value[6] compressor. */
static inline size_t sx_filter_blosc(const sxi_codec_step *step, const unsigned char *in, size_t n,
                                     unsigned char *out) {
    const char *name = NULL;
    blosc_compcode_to_compname((int)step->value[6], &name);
    return (size_t)blosc_compress_ctx(5, (int)step->value[5], step->value[2], n, in, out,
                                      SX_FILTERS_ROOM, name, 0, 1);
}

/* One filter; 0 for one that is not written here. */
static inline size_t sx_filter(const sxi_codec_step *step, const unsigned char *in, size_t n,
                               unsigned char *out) {
    switch (step->filter) {
    case 1:
        return sx_filter_deflate(in, n, out);
    case 2:
        return sx_filter_shuffle(step, in, n, out);
    case 3:
        return sx_filter_fletcher32(in, n, out);
    case 32000:
        return sx_filter_lzf(in, n, out);
    case 32001:
        return sx_filter_blosc(step, in, n, out);
    case 32004:
        return sx_filter_lz4(step, in, n, out);
    case 32008:
        return sx_filter_bitshuffle(step, in, n, out);
    case 32015:
        return ZSTD_compress(out, SX_FILTERS_ROOM, in, n, 1);
    default:
        return 0;
    }
}

/* sx_filters - a chunk of values through the pipeline; out has SX_FILTERS_ROOM bytes. */
static inline size_t sx_filters(const sxi_codec *codec, unsigned skip, const unsigned char *values,
                                unsigned char *out) {
    unsigned char *in = malloc(2 * SX_FILTERS_ROOM); /* the compressors are told half of it */
    unsigned char *made = malloc(2 * SX_FILTERS_ROOM);
    size_t n = codec->chunk;
    memcpy(in, values, n);
    for (int i = 0; i < codec->steps; i++) {
        if (!(skip >> i & 1)) {
            n = sx_filter(&codec->step[i], in, n, made);
            unsigned char *swap = in;
            in = made;
            made = swap;
        }
    }
    memcpy(out, in, n);
    free(in);
    free(made);
    return n;
}

#endif
