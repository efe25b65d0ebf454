/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <string.h>

#include "kern/shuffle.h"

bool sxi_codec_shuffle_known(const sxi_codec_step *step) {
    return step->values >= 1 && step->value[0] > 0;
}

void sxi_codec_scatter(const unsigned char *in, size_t bytes, size_t element, unsigned char *out) {
    const size_t count = bytes / element;
    const size_t whole = count * element;
    if (element == 1) {
        memcpy(out, in, whole);
    } else {
        sxi_shuffle_best()->bytes(in, count, count, element, out, element);
    }
    memcpy(out + whole, in + whole, bytes - whole);
}

sx_status sxi_codec_shuffle(const sxi_codec_step *step, sxi_codec_state *state,
                            sxi_codec_piece *piece) {
    (void)state;
    if (piece->bytes > piece->room) {
        return sxi_codec_too_much("shuffle", piece->bytes, piece->room);
    }
    sxi_codec_scatter(piece->in, piece->bytes, step->value[0], piece->out);
    piece->made = piece->bytes;
    return SX_OK;
}
