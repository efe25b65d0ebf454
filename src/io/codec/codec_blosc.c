/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <blosc.h>

sx_status sxi_codec_blosc(const sxi_codec_step *step, sxi_codec_state *state,
                          sxi_codec_piece *piece) {
    (void)step; /* the stream says all of it again */
    (void)state;
    size_t total = 0;
    size_t bytes = 0;
    size_t block = 0;
    if (piece->bytes >= BLOSC_MIN_HEADER_LENGTH) {
        blosc_cbuffer_sizes(piece->in, &total, &bytes, &block);
    }
    if (bytes < BLOSC_MIN_HEADER_LENGTH || bytes > piece->bytes ||
        blosc_cbuffer_validate(piece->in, bytes, &total) < 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "Blosc: the header of a stream of %zu bytes is damaged",
                        piece->bytes);
    }
    if (total > piece->room) {
        return sxi_codec_too_much("Blosc", total, piece->room);
    }
    /* Told of more room than `total`, it takes blocks that are larger than that. */
    const int made = blosc_decompress_ctx(piece->in, piece->out, total, 1);
    if (made < 0 || (size_t)made != total) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "Blosc: %zu stored bytes do not decode to the %zu of the header (%d)",
                        bytes, total, made);
    }
    piece->made = total;
    return SX_OK;
}
