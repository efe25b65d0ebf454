/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <string.h>

enum { LITERALS = 32, LONG = 7, LEAST = 2 };

/* Copies length bytes from distance back, which may be less than length: then they repeat. */
static void repeat(unsigned char *out, size_t distance, size_t length) {
    const unsigned char *from = out - distance;
    if (distance >= length) {
        memcpy(out, from, length);
        return;
    }
    for (size_t i = 0; i < length; i++) {
        out[i] = from[i];
    }
}

static sx_status cut(size_t at) {
    return SXI_FAIL(SX_ERR_FORMAT, "LZF: the stream is cut at byte %zu", at);
}

static sx_status full(const sxi_codec_piece *piece) {
    return SXI_FAIL(SX_ERR_FORMAT, "LZF: the stream holds more than the %zu bytes expected",
                    piece->room);
}

sx_status sxi_codec_lzf(const sxi_codec_step *step, sxi_codec_state *state,
                        sxi_codec_piece *piece) {
    (void)step; /* its third value is the size of the chunk, which is known */
    (void)state;
    const unsigned char *const in = piece->in;
    size_t done = 0;
    for (size_t at = 0; at < piece->bytes;) {
        const size_t control = in[at++];
        size_t length = control + 1;
        if (control < LITERALS) {
            if (length > piece->bytes - at) {
                return cut(at);
            }
            if (length > piece->room - done) {
                return full(piece);
            }
            memcpy(piece->out + done, in + at, length);
            at += length;
        } else {
            const bool is_long = control >> 5 == LONG;
            if (piece->bytes - at < 1U + is_long) {
                return cut(at);
            }
            length = (control >> 5) + LEAST + (is_long ? in[at++] : 0U);
            const size_t distance = ((control & 31) << 8 | in[at++]) + 1;
            if (distance > done) {
                return SXI_FAIL(SX_ERR_FORMAT, "LZF: byte %zu refers %zu bytes back, %zu are there",
                                at, distance, done);
            }
            if (length > piece->room - done) {
                return full(piece);
            }
            repeat(piece->out + done, distance, length);
        }
        done += length;
    }
    piece->made = done;
    return SX_OK;
}
