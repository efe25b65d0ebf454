/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <libdeflate.h>

sx_status sxi_codec_deflate(const sxi_codec_step *step, sxi_codec_state *state,
                            sxi_codec_piece *piece) {
    (void)step; /* its value is the effort of the writer */
    switch (libdeflate_zlib_decompress(state->deflate, piece->in, piece->bytes, piece->out,
                                       piece->room, &piece->made)) {
    case LIBDEFLATE_SUCCESS:
        return SX_OK;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return SXI_FAIL(SX_ERR_FORMAT, "gzip: the stream holds more than the %zu bytes expected",
                        piece->room);
    default:
        return SXI_FAIL(SX_ERR_FORMAT,
                        "gzip: the %zu stored bytes are damaged, cut or no zlib stream",
                        piece->bytes);
    }
}
