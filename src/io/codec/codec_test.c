/* SPDX-License-Identifier: Apache-2.0
 * Pipelines as a whole: whatever the reference libraries compressed comes back; masks, orders and
 * sizes. The single filters against hand-written streams: codec_vector_test.c. */
#include "io/codec/codec.h"

#include <string.h>

#include "codec_pipelines.h"
#include "sx_check.h"

enum { MOST = 20000 };

static sxi_codec_state *state;
static unsigned char values[MOST], found[MOST], stored[2 * SX_FILTERS_ROOM];

/* Chunks with and without rests for elements of 1 to 8 bytes, groups of eight, blocks of 8192. */
static const size_t chunks[] = {8, 120, 1000, 8192, 20000};

START_TEST(what_was_compressed_comes_back) {
    ck_ok(sxi_codec_state_create(&state));
    for (int i = 0; i < SX_PIPELINES; i++) {
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
            sxi_codec codec = sx_pipeline(i, chunks[c]);
            const unsigned element = codec.step[0].filter == 32008 ? codec.step[0].value[2] : 1;
            codec.chunk = codec.chunk / element * element;
            for (int kind = 0; codec.chunk > 0 && kind < SX_KINDS; kind++) {
                sx_values(kind, values, codec.chunk);
                const size_t bytes = sx_filters(&codec, 0, values, stored);
                for (int to_target = 0; to_target < 2; to_target++) {
                    memset(found, 0xa5, sizeof found);
                    const sx_status status =
                        sx_decode(&codec, 0, stored, bytes, to_target, state, found);
                    ck_assert_msg(status == SX_OK, "%s, %zu bytes: %s", sx_pipelines[i].name,
                                  codec.chunk, sx_error_message());
                    ck_assert_msg(memcmp(values, found, codec.chunk) == 0, "%s, %zu bytes, kind %d",
                                  sx_pipelines[i].name, codec.chunk, kind);
                }
            }
        }
    }
    sxi_codec_state_destroy(&state);
}
END_TEST

START_TEST(a_mask_skips_the_steps_it_names) {
    ck_ok(sxi_codec_state_create(&state));
    for (int i = 0; i < SX_PIPELINES; i++) {
        const sxi_codec codec = sx_pipeline(i, 1200);
        sx_values(SX_COUNTS, values, codec.chunk);
        for (unsigned skip = 0; skip < 1U << codec.steps; skip++) {
            const size_t bytes = sx_filters(&codec, skip, values, stored);
            for (int to_target = 0; to_target < 2; to_target++) {
                memset(found, 0xa5, sizeof found);
                ck_ok(sx_decode(&codec, skip, stored, bytes, to_target, state, found));
                ck_assert_msg(memcmp(values, found, codec.chunk) == 0, "%s, mask %u",
                              sx_pipelines[i].name, skip);
            }
        }
    }
    sxi_codec_state_destroy(&state);
}
END_TEST

START_TEST(noise_may_be_stored_longer_than_it_is) {
    ck_ok(sxi_codec_state_create(&state));
    const sxi_codec codec = {.steps = 1, .step = {{1, 1, {6}}}, .element = 2, .chunk = 4096};
    sx_values(SX_NOISE, values, codec.chunk);
    const size_t bytes = sx_filters(&codec, 0, values, stored);
    ck_assert_uint_gt(bytes, codec.chunk);
    ck_ok(sx_decode(&codec, 0, stored, bytes, true, state, found));
    ck_assert_int_eq(memcmp(values, found, codec.chunk), 0);
    sxi_codec_state_destroy(&state);
}
END_TEST

START_TEST(a_chunk_of_another_size_is_refused) {
    ck_ok(sxi_codec_state_create(&state));
    for (int i = 0; i < SX_PIPELINES; i++) {
        for (size_t other = 0; other < 2; other++) {
            sxi_codec codec = sx_pipeline(i, 1200);
            sx_values(SX_COUNTS, values, codec.chunk);
            const size_t bytes = sx_filters(&codec, 0, values, stored);
            codec.chunk = other ? 2400 : 600;
            for (int to_target = 0; to_target < 2; to_target++) {
                const sx_status status =
                    sx_decode(&codec, 0, stored, bytes, to_target, state, found);
                ck_assert_msg(status == SX_ERR_FORMAT && strlen(sx_error_message()) > 20,
                              "%s: status %d (%s)", sx_pipelines[i].name, status,
                              sx_error_message());
            }
        }
    }
    const sxi_codec plain = {.steps = 0, .element = 1, .chunk = 100};
    ck_fails(sx_decode(&plain, 0, stored, 99, true, state, found), SX_ERR_FORMAT,
             "99 stored bytes decode to 99, a chunk has 100");
    sxi_codec_state_destroy(&state);
}
END_TEST

START_TEST(scratch_holds_to_its_bound) {
    for (int i = 0; i < SX_PIPELINES; i++) {
        const sxi_codec codec = sx_pipeline(i, 8000);
        ck_assert_uint_ge(sxi_codec_scratch(&codec), codec.chunk);
        ck_assert_uint_le(sxi_codec_scratch(&codec), codec.chunk + codec.chunk / 8 + 65536);
    }
    const sxi_codec plain = {.steps = 0, .element = 1, .chunk = 100};
    ck_assert_uint_eq(sxi_codec_scratch(&plain), 0);
}
END_TEST

START_TEST(filters_have_names) {
    ck_assert_str_eq(sxi_codec_name(1), "gzip");
    ck_assert_str_eq(sxi_codec_name(32008), "bitshuffle");
    ck_assert_str_eq(sxi_codec_name(32013), "ZFP");
    ck_assert_ptr_null(sxi_codec_name(0));
    ck_assert_ptr_null(sxi_codec_name(40000));
}
END_TEST

START_TEST(what_is_decoded_here_is_known) {
    for (int i = 0; i < SX_PIPELINES; i++) {
        for (int s = 0; s < sx_pipelines[i].steps; s++) {
            ck_assert(sxi_codec_known(&sx_pipelines[i].step[s]));
        }
    }
    static const sxi_codec_step unknown[] = {
        {4, 4, {141, 32, 0, 0}},      /* SZIP */
        {5, 8, {0}},                  /* n-bit */
        {32013, 6, {0}},              /* ZFP */
        {2, 0, {0}},                  /* shuffle of no element */
        {2, 1, {0}},                  /* and of an empty one */
        {32008, 2, {0, 3}},           /* bitshuffle of no element */
        {32008, 5, {0, 3, 0, 0, 2}},  /* of an empty one */
        {32008, 5, {0, 3, 4, 12, 2}}, /* blocks that are no multiple of eight */
        {32008, 5, {0, 3, 4, 0, 1}},  /* no such compressor */
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        ck_assert_msg(!sxi_codec_known(&unknown[i]), "number %zu", i);
    }
    const sxi_codec codec = {.steps = 1, .step = {{4, 0, {0}}}, .element = 1, .chunk = 100};
    ck_fails(sx_decode(&codec, 0, values, 100, true, NULL, found), SX_ERR_UNSUPPORTED, "filter 4");
}
END_TEST

SX_TEST_MAIN("codec", what_was_compressed_comes_back, a_mask_skips_the_steps_it_names,
             noise_may_be_stored_longer_than_it_is, a_chunk_of_another_size_is_refused,
             scratch_holds_to_its_bound, filters_have_names, what_is_decoded_here_is_known)
