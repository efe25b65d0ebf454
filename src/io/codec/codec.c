/* SPDX-License-Identifier: Apache-2.0
 * The pipeline: which filter goes from where to where. */
#include "io/codec/codec.h"

#include <string.h>

#include "io/codec/codec_step.h"

static bool always(const sxi_codec_step *step) {
    (void)step;
    return true;
}

/* The filters that are decoded here. decode NULL: only looks at the bytes (fletcher32). grows: may
 * store more bytes than it is given. */
static const struct decoder {
    unsigned filter;
    bool grows;
    bool (*known)(const sxi_codec_step *step);
    sxi_codec_fn decode;
} decoders[] = {
    {SXI_CODEC_DEFLATE, true, always, sxi_codec_deflate},
    {SXI_CODEC_SHUFFLE, false, sxi_codec_shuffle_known, sxi_codec_shuffle},
    {SXI_CODEC_FLETCHER32, false, always, NULL},
    {SXI_CODEC_LZF, true, always, sxi_codec_lzf},
    {SXI_CODEC_BLOSC, true, always, sxi_codec_blosc},
    {SXI_CODEC_LZ4, true, always, sxi_codec_lz4},
    {SXI_CODEC_BITSHUFFLE, true, sxi_codec_bitshuffle_known, sxi_codec_bitshuffle},
    {SXI_CODEC_ZSTD, true, always, sxi_codec_zstd},
};

unsigned sxi_codec_at(int i) {
    return i >= 0 && (size_t)i < sizeof decoders / sizeof *decoders ? decoders[i].filter : 0;
}

static const struct decoder *decoder_of(const sxi_codec_step *step) {
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        if (decoders[i].filter == step->filter) {
            return decoders[i].known(step) ? &decoders[i] : NULL;
        }
    }
    return NULL;
}

bool sxi_codec_known(const sxi_codec_step *step) { return decoder_of(step) != NULL; }

/* Between two steps lies a chunk and its checksums, or, where more than one compressor is at work,
 * what the first made of noise: none here adds more than an eighth. */
size_t sxi_codec_scratch(const sxi_codec *codec) {
    int compressors = 0;
    for (int i = 0; i < codec->steps; i++) {
        const struct decoder *decoder = decoder_of(&codec->step[i]);
        compressors += decoder && decoder->grows;
    }
    const size_t more = compressors > 1 ? codec->chunk / 8 + 65536 - 64 : 0;
    return codec->steps == 0 ? 0 : codec->chunk + more + 64;
}

/* The first step that this chunk went through; the count of steps if none. */
static int first_step(const sxi_codec *codec, unsigned skip) {
    int i = 0;
    while (i < codec->steps && skip >> i & 1) {
        i++;
    }
    return i;
}

/* Undoes step i. From the buffer where in lies into the other one, or into target. */
static sx_status undo(const sxi_codec *codec, int i, unsigned char *const buffer[2],
                      unsigned char *target, sxi_codec_state *state, sxi_codec_piece *piece) {
    const struct decoder *decoder = decoder_of(&codec->step[i]);
    if (!decoder) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "filter %u cannot be undone here",
                        codec->step[i].filter);
    }
    if (!decoder->decode) {
        SXI_TRY(sxi_codec_fletcher32(piece));
    } else {
        piece->out = target ? target : buffer[piece->in == buffer[0]];
        piece->room = target ? codec->chunk : sxi_codec_scratch(codec);
        SXI_TRY(decoder->decode(&codec->step[i], state, piece));
        piece->in = piece->out;
    }
    piece->bytes = piece->made;
    return SX_OK;
}

sx_status sxi_codec_decode(const sxi_codec *codec, unsigned skip, size_t bytes,
                           unsigned char *const buffer[2], unsigned char *target,
                           sxi_codec_state *state, const unsigned char **values) {
    sxi_codec_piece piece = {.in = buffer[0], .bytes = bytes};
    const int first = first_step(codec, skip);
    for (int i = codec->steps - 1; i >= first; i--) {
        if (!(skip >> i & 1)) {
            SXI_TRY(undo(codec, i, buffer, i == first ? target : NULL, state, &piece));
        }
    }
    if (piece.bytes != codec->chunk) {
        return SXI_FAIL(SX_ERR_FORMAT, "%zu stored bytes decode to %zu, a chunk has %zu", bytes,
                        piece.bytes, codec->chunk);
    }
    if (target && piece.in != target) {
        memcpy(target, piece.in, codec->chunk);
        piece.in = target;
    }
    *values = piece.in;
    return SX_OK;
}
