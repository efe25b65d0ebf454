/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <limits.h>
#include <lz4.h>
#include <string.h>

enum { HEADER = 12, LENGTH = 4 };

/* One block of `size` values from in[bytes] to out. */
static sx_status undo_block(const unsigned char *in, size_t bytes, unsigned char *out,
                            size_t size) {
    if (bytes == size) { /* did not shrink: stored as it is */
        memcpy(out, in, size);
        return SX_OK;
    }
    if (bytes > INT_MAX || size > INT_MAX ||
        LZ4_decompress_safe((const char *)in, (char *)out, (int)bytes, (int)size) != (int)size) {
        return SXI_FAIL(SX_ERR_FORMAT, "LZ4: a block of %zu stored bytes does not decode to %zu",
                        bytes, size);
    }
    return SX_OK;
}

sx_status sxi_codec_lz4(const sxi_codec_step *step, sxi_codec_state *state,
                        sxi_codec_piece *piece) {
    (void)step; /* its value is a block size, and the stream has its own */
    (void)state;
    if (piece->bytes < HEADER) {
        return SXI_FAIL(SX_ERR_FORMAT, "LZ4: %zu bytes are less than the header of 12",
                        piece->bytes);
    }
    const uint64_t total = sxi_codec_big64(piece->in);
    const size_t block = sxi_codec_big32(piece->in + 8);
    if (total > piece->room) {
        return sxi_codec_too_much("LZ4", total, piece->room);
    }
    if (block == 0 && total > 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "LZ4: the header says blocks of 0 bytes");
    }
    size_t at = HEADER;
    for (size_t done = 0; done < total;) {
        const size_t size = block < total - done ? block : total - done;
        if (piece->bytes - at < LENGTH) {
            return SXI_FAIL(SX_ERR_FORMAT, "LZ4: the stream ends after %zu of %llu bytes", done,
                            (unsigned long long)total);
        }
        const size_t bytes = sxi_codec_big32(piece->in + at);
        at += LENGTH;
        if (bytes > piece->bytes - at) {
            return SXI_FAIL(SX_ERR_FORMAT, "LZ4: a block of %zu bytes has only %zu left", bytes,
                            piece->bytes - at);
        }
        SXI_TRY(undo_block(piece->in + at, bytes, piece->out + done, size));
        at += bytes;
        done += size;
    }
    piece->made = total;
    return SX_OK;
}
