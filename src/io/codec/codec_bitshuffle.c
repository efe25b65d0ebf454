/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <assert.h>
#include <limits.h>
#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "kern/shuffle.h"

enum { HEADER = 12, LENGTH = 4, GROUP = 8, TARGET_BLOCK = 8192, LEAST_BLOCK = 128 };
enum { ELEMENT = 2, BLOCK = 3, COMPRESSOR = 4 }; /* where the values of the filter are */
enum { NONE = 0, LZ4 = 2, ZSTD = 3 };
enum { PLANES = 8, SEGMENT = 1024 }; /* of the buffer between bits and bytes, 8 KiB */

static unsigned value_of(const sxi_codec_step *step, int i) {
    return i < step->values ? step->value[i] : 0;
}

bool sxi_codec_bitshuffle_known(const sxi_codec_step *step) {
    const unsigned compressor = value_of(step, COMPRESSOR);
    return value_of(step, ELEMENT) > 0 && value_of(step, BLOCK) % GROUP == 0 &&
           (compressor == NONE || compressor == LZ4 || compressor == ZSTD);
}

/* A block of count elements, a multiple of GROUP: for each byte of the element, for each of its
 * bits, count bits. Segment by segment, so that what lies between stays in the first cache. */
static void undo_bits(const unsigned char *in, size_t count, size_t element, unsigned char *out) {
    const sxi_shuffle *const shuffle = sxi_shuffle_best();
    const size_t pitch = count / GROUP;
    if (element == 1) {
        shuffle->bits(in, pitch, pitch, out);
        return;
    }
    unsigned char plane[PLANES * SEGMENT];
    for (size_t i = 0; i < count; i += SEGMENT) {
        const size_t some = count - i < SEGMENT ? count - i : SEGMENT;
        for (size_t j = 0; j < element; j += PLANES) {
            const size_t planes = element - j < PLANES ? element - j : PLANES;
            for (size_t k = 0; k < planes; k++) {
                shuffle->bits(in + (j + k) * count + i / GROUP, pitch, some / GROUP,
                              plane + k * SEGMENT);
            }
            shuffle->bytes(plane, SEGMENT, some, planes, out + i * element + j, element);
        }
    }
}

/* What the stream is made of. */
typedef struct layout {
    unsigned compressor;
    size_t element;
    size_t total; /* bytes of values */
    size_t block; /* elements, a multiple of GROUP */
    size_t at;    /* where blocks start in the stored bytes */
} layout;

static sx_status read_layout(const sxi_codec_step *step, const sxi_codec_piece *piece, layout *l) {
    *l = (layout){value_of(step, COMPRESSOR), value_of(step, ELEMENT), piece->bytes,
                  value_of(step, BLOCK), 0};
    assert(l->element > 0); /* sxi_codec_bitshuffle_known */
    uint64_t total = piece->bytes;
    if (l->compressor != NONE) {
        if (piece->bytes < HEADER) {
            return SXI_FAIL(SX_ERR_FORMAT, "bitshuffle: %zu bytes are less than the header of 12",
                            piece->bytes);
        }
        total = sxi_codec_big64(piece->in);
        l->block = sxi_codec_big32(piece->in + 8) / l->element;
        l->at = HEADER;
    }
    if (total > piece->room) {
        return sxi_codec_too_much("bitshuffle", total, piece->room);
    }
    l->total = (size_t)total;
    if (l->total % l->element != 0) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "bitshuffle: %zu bytes are no whole number of elements of "
                        "%zu",
                        l->total, l->element);
    }
    if (l->block == 0) {
        l->block = TARGET_BLOCK / l->element / GROUP * GROUP;
        l->block = l->block < LEAST_BLOCK ? LEAST_BLOCK : l->block;
    }
    if (l->block % GROUP != 0) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "bitshuffle: a block has %zu elements, which is no multiple of 8",
                        l->block);
    }
    return SX_OK;
}

/* The next block, of size bytes once decompressed; *bits is where it lies then. */
static sx_status decompress(const sxi_codec_piece *piece, layout *l, sxi_codec_state *state,
                            size_t size, const unsigned char **bits) {
    size_t bytes = 0;
    if (piece->bytes - l->at >= LENGTH) {
        bytes = sxi_codec_big32(piece->in + l->at);
        l->at += LENGTH;
    }
    if (bytes == 0 || bytes > piece->bytes - l->at) {
        return SXI_FAIL(SX_ERR_FORMAT, "bitshuffle: a block of %zu bytes has only %zu left", bytes,
                        piece->bytes - l->at);
    }
    const unsigned char *const in = piece->in + l->at;
    size_t made = 0;
    if (l->compressor == ZSTD) {
        made = ZSTD_decompressDCtx(state->zstd, state->block, size, in, bytes);
    } else if (bytes <= INT_MAX && size <= INT_MAX) {
        made = (size_t)LZ4_decompress_safe((const char *)in, (char *)state->block, (int)bytes,
                                           (int)size);
    }
    if (made != size) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "bitshuffle: a block of %zu stored bytes does not decode to %zu", bytes,
                        size);
    }
    l->at += bytes;
    *bits = state->block;
    return SX_OK;
}

sx_status sxi_codec_bitshuffle(const sxi_codec_step *step, sxi_codec_state *state,
                               sxi_codec_piece *piece) {
    layout l;
    SXI_TRY(read_layout(step, piece, &l));
    const size_t whole = l.total / l.element / GROUP * GROUP; /* elements that are shuffled */
    const size_t largest = (l.block < whole ? l.block : whole) * l.element;
    if (l.compressor != NONE && largest > 0 && !sxi_codec_block(state, largest)) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a block of %zu bytes", largest);
    }
    for (size_t i = 0; i < whole; i += l.block) {
        const size_t count = whole - i < l.block ? whole - i : l.block;
        const size_t size = count * l.element;
        const unsigned char *bits = piece->in + l.at;
        if (l.compressor == NONE) {
            l.at += size;
        } else {
            SXI_TRY(decompress(piece, &l, state, size, &bits));
        }
        undo_bits(bits, count, l.element, piece->out + i * l.element);
    }
    const size_t rest = l.total - whole * l.element; /* follows as it is */
    if (piece->bytes - l.at < rest) {
        return SXI_FAIL(SX_ERR_FORMAT, "bitshuffle: %zu bytes at the end, %zu expected",
                        piece->bytes - l.at, rest);
    }
    memcpy(piece->out + whole * l.element, piece->in + l.at, rest);
    piece->made = l.total;
    return SX_OK;
}
