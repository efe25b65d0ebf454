/* SPDX-License-Identifier: Apache-2.0
 * Streams cut at every length and with every single bit flipped: an error, or, where the format has
 * no checksum, some values; the sanitizers watch that no byte beyond is touched. */
#include "io/codec/codec.h"

#include <string.h>

#include "codec_pipelines.h"
#include "sx_check.h"

enum { CHUNK = 600, MOST = 4 * CHUNK };

static sxi_codec_state *state;
static unsigned char values[CHUNK], found[CHUNK], stored[2 * SX_FILTERS_ROOM], damaged[MOST];

/* The outermost filter has a checksum over all that is stored. */
static bool has_checksum(const sxi_codec *codec) {
    return codec->step[codec->steps - 1].filter == 3;
}

START_TEST(a_cut_stream_is_refused) {
    ck_ok(sxi_codec_state_create(&state));
    for (int i = 0; i < SX_PIPELINES; i++) {
        const sxi_codec codec = sx_pipeline(i, CHUNK);
        sx_values(SX_COUNTS, values, CHUNK);
        const size_t bytes = sx_filters(&codec, 0, values, stored);
        for (size_t length = 0; length < bytes; length++) {
            const sx_status status = sx_decode(&codec, 0, stored, length, length % 2, state, found);
            ck_assert_msg(status == SX_ERR_FORMAT, "%s cut to %zu of %zu bytes: status %d",
                          sx_pipelines[i].name, length, bytes, status);
        }
    }
    sxi_codec_state_destroy(&state);
}
END_TEST

START_TEST(a_flipped_bit_is_an_error_or_other_values) {
    ck_ok(sxi_codec_state_create(&state));
    for (int i = 0; i < SX_PIPELINES; i++) {
        const sxi_codec codec = sx_pipeline(i, CHUNK);
        sx_values(SX_COUNTS, values, CHUNK);
        const size_t bytes = sx_filters(&codec, 0, values, stored);
        ck_assert_uint_le(bytes, MOST);
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            memcpy(damaged, stored, bytes);
            damaged[bit / 8] ^= (unsigned char)(1U << bit % 8);
            const sx_status status = sx_decode(&codec, 0, damaged, bytes, bit % 2, state, found);
            ck_assert_msg(status == SX_ERR_FORMAT || (status == SX_OK && !has_checksum(&codec)),
                          "%s, bit %zu of %zu: status %d", sx_pipelines[i].name, bit, 8 * bytes,
                          status);
        }
        ck_ok(sx_decode(&codec, 0, stored, bytes, true, state, found)); /* the state is not hurt */
        ck_assert_int_eq(memcmp(values, found, CHUNK), 0);
    }
    sxi_codec_state_destroy(&state);
}
END_TEST

START_TEST(noise_is_no_stream) {
    ck_ok(sxi_codec_state_create(&state));
    sx_values(SX_NOISE, damaged, sizeof damaged);
    for (int i = 0; i < SX_PIPELINES; i++) {
        const sxi_codec codec = sx_pipeline(i, CHUNK);
        for (size_t at = 0; at < 1000; at++) { /* whatever comes of it */
            const sx_status status =
                sx_decode(&codec, 0, damaged + at, MOST - 1000, at % 2, state, found);
            ck_assert_msg(status == SX_ERR_FORMAT, "%s: status %d", sx_pipelines[i].name, status);
        }
    }
    sxi_codec_state_destroy(&state);
}
END_TEST

SX_TEST_MAIN("codec_damage", a_cut_stream_is_refused, a_flipped_bit_is_an_error_or_other_values,
             noise_is_no_stream)
