/* SPDX-License-Identifier: Apache-2.0
 * One chunk through one pipeline, twice: into a target and into a buffer, over different garbage.
 * Both ways must agree in status and in every byte, and leave what lies beyond their room alone.
 * Compiled once per family, FAMILY being its filter. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_codec.h"
#include "sx_filters.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define GUARD(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNGUARD(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#endif
#endif
#ifndef GUARD
#define GUARD(p, n) ((void)0)
#define UNGUARD(p, n) ((void)0)
#endif

enum { MOST = 1 << 18, EDGE = 64 };

static sxi_codec_state *state;
static _Alignas(64) unsigned char memory[3][MOST + EDGE]; /* buffers and target */

/* Fills n bytes and an edge beyond them, which instrumented code may not touch. The libraries are
 * not instrumented: what they write there is seen by is_whole. */
static unsigned char *lend(int i, size_t n, int garbage) {
    memset(memory[i], garbage, n + EDGE);
    GUARD(memory[i] + n, EDGE);
    return memory[i];
}

static void take_back(int i, size_t n, int garbage) {
    UNGUARD(memory[i] + n, EDGE);
    for (size_t j = n; j < n + EDGE; j++) {
        sx_fuzz_must(memory[i][j] == garbage, "wrote beyond its room");
    }
}

static sx_status decode(const sxi_codec *codec, unsigned skip, const unsigned char *stored,
                        size_t bytes, bool to_target, unsigned char *values) {
    const int garbage = to_target ? 0x55 : 0xaa;
    const size_t scratch = sxi_codec_scratch(codec);
    const size_t first = bytes > scratch ? bytes : scratch;
    unsigned char *const buffer[2] = {lend(0, first, garbage), lend(1, scratch, garbage)};
    unsigned char *const target = lend(2, codec->chunk, garbage);
    const unsigned char *where = NULL;
    memcpy(buffer[0], stored, bytes);
    const sx_status status =
        sxi_codec_decode(codec, skip, bytes, buffer, to_target ? target : NULL, state, &where);
    if (status == SX_OK) {
        sx_fuzz_must(to_target ? where == target : where == buffer[0] || where == buffer[1],
                     "values lie elsewhere");
        memcpy(values, where, codec->chunk);
    } else {
        sx_fuzz_must(status == SX_ERR_FORMAT && *sx_error_message(), "no sentence");
    }
    take_back(0, first, garbage);
    take_back(1, scratch, garbage);
    take_back(2, codec->chunk, garbage);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char stored[MOST], values[2][65536];
    sxi_codec codec;
    unsigned skip = 0;
    const size_t at = sx_fuzz_pipeline(FAMILY, data, size, &codec, &skip);
    if (at == 0 || size > MOST / 2 || (!state && sxi_codec_state_create(&state) != SX_OK)) {
        return 0;
    }
    size_t bytes = size - at;
    if (FAMILY != 0 && data[4] & SX_FUZZ_SUM_LAST && data[4] & SX_FUZZ_SUM_IS_RIGHT) {
        bytes = sx_filter_fletcher32(data + at, bytes, stored);
    } else {
        memcpy(stored, data + at, bytes);
    }
    const sx_status one = decode(&codec, skip, stored, bytes, true, values[0]);
    const sx_status two = decode(&codec, skip, stored, bytes, false, values[1]);
    sx_fuzz_must(one == two, "target and buffer differ in status");
    sx_fuzz_must(one != SX_OK || memcmp(values[0], values[1], codec.chunk) == 0,
                 "target and buffer differ in values");
    return 0;
}
