/* SPDX-License-Identifier: Apache-2.0
 * What the decoders share. Their layouts and sources: docs/theory/hdf5.md. */
#ifndef SXI_CODEC_STEP_H
#define SXI_CODEC_STEP_H

#include "base/fail.h"
#include "io/codec/codec.h"

/* Numbers of the filters that are decoded here. */
enum {
    SXI_CODEC_DEFLATE = 1,
    SXI_CODEC_SHUFFLE = 2,
    SXI_CODEC_FLETCHER32 = 3,
    SXI_CODEC_LZF = 32000,
    SXI_CODEC_BLOSC = 32001,
    SXI_CODEC_LZ4 = 32004,
    SXI_CODEC_BITSHUFFLE = 32008,
    SXI_CODEC_ZSTD = 32015
};

struct libdeflate_decompressor;
struct ZSTD_DCtx_s;

struct sxi_codec_state {
    struct libdeflate_decompressor *deflate;
    struct ZSTD_DCtx_s *zstd;
    unsigned char *block; /* of bitshuffle; grown when needed */
    size_t block_bytes;
};

/* What a decoder is given: in and out do not overlap. */
typedef struct sxi_codec_piece {
    const unsigned char *in;
    size_t bytes; /* of in */
    unsigned char *out;
    size_t room; /* of out */
    size_t made; /* set by the decoder: bytes of out */
} sxi_codec_piece;

/* Undoes one filter. SX_ERR_FORMAT, SX_ERR_MEMORY; out may hold anything after a failure. */
typedef sx_status (*sxi_codec_fn)(const sxi_codec_step *step, sxi_codec_state *state,
                                  sxi_codec_piece *piece);

sx_status sxi_codec_bitshuffle(const sxi_codec_step *step, sxi_codec_state *state,
                               sxi_codec_piece *piece);
sx_status sxi_codec_blosc(const sxi_codec_step *step, sxi_codec_state *state,
                          sxi_codec_piece *piece);
sx_status sxi_codec_deflate(const sxi_codec_step *step, sxi_codec_state *state,
                            sxi_codec_piece *piece);
sx_status sxi_codec_lz4(const sxi_codec_step *step, sxi_codec_state *state, sxi_codec_piece *piece);
sx_status sxi_codec_lzf(const sxi_codec_step *step, sxi_codec_state *state, sxi_codec_piece *piece);
sx_status sxi_codec_shuffle(const sxi_codec_step *step, sxi_codec_state *state,
                            sxi_codec_piece *piece);
sx_status sxi_codec_zstd(const sxi_codec_step *step, sxi_codec_state *state,
                         sxi_codec_piece *piece);

/* Whether the values of a step make sense. */
bool sxi_codec_bitshuffle_known(const sxi_codec_step *step);
bool sxi_codec_shuffle_known(const sxi_codec_step *step);

/* sxi_codec_fletcher32 - checks the sum at the end of in; made is what lies before it. out is not
 * used. */
sx_status sxi_codec_fletcher32(sxi_codec_piece *piece);

/* sxi_codec_scatter - elements of `element` bytes out of `element` planes; what is left over
 * follows the planes as it is. */
void sxi_codec_scatter(const unsigned char *in, size_t bytes, size_t element, unsigned char *out);

/* sxi_codec_block - bytes of memory of the state; NULL without memory. */
unsigned char *sxi_codec_block(sxi_codec_state *state, size_t bytes);

/* sxi_codec_big32, _big64 - most significant byte first. */
static inline uint32_t sxi_codec_big32(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t sxi_codec_big64(const unsigned char *p) {
    return (uint64_t)sxi_codec_big32(p) << 32 | sxi_codec_big32(p + 4);
}

/* sxi_codec_too_much - the sentence for a stream that holds more than there is room for. */
static inline sx_status sxi_codec_too_much(const char *filter, unsigned long long bytes,
                                           size_t room) {
    return SXI_FAIL(SX_ERR_FORMAT,
                    "%s: the stream says it holds %llu bytes, a chunk has room for %zu", filter,
                    bytes, room);
}

#endif
