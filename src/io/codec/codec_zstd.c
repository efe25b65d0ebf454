/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <zstd.h>

sx_status sxi_codec_zstd(const sxi_codec_step *step, sxi_codec_state *state,
                         sxi_codec_piece *piece) {
    (void)step; /* its value is the effort of the writer */
    const size_t made =
        ZSTD_decompressDCtx(state->zstd, piece->out, piece->room, piece->in, piece->bytes);
    if (ZSTD_isError(made)) {
        return SXI_FAIL(SX_ERR_FORMAT, "Zstd: %zu stored bytes do not decode to at most %zu (%s)",
                        piece->bytes, piece->room, ZSTD_getErrorName(made));
    }
    piece->made = made;
    return SX_OK;
}
