/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

sx_status sxi_codec_state_create(sxi_codec_state **state) {
    sxi_codec_state *s = calloc(1, sizeof *s);
    if (s) {
        s->deflate = libdeflate_alloc_decompressor();
        s->zstd = ZSTD_createDCtx();
    }
    if (!s || !s->deflate || !s->zstd) {
        sxi_codec_state_destroy(&s);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the decompressors of a thread");
    }
    *state = s;
    return SX_OK;
}

void sxi_codec_state_destroy(sxi_codec_state **state) {
    if (state && *state) {
        libdeflate_free_decompressor((*state)->deflate);
        ZSTD_freeDCtx((*state)->zstd);
        free((*state)->block);
        free(*state);
        *state = NULL;
    }
}

unsigned char *sxi_codec_block(sxi_codec_state *state, size_t bytes) {
    if (bytes > state->block_bytes) {
        free(state->block);
        state->block = malloc(bytes);
        state->block_bytes = state->block ? bytes : 0;
    }
    return state->block;
}
