/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/fail.h"
#include "sx_check.h"

static sx_status inner(void) { return SXI_FAIL(SX_ERR_SHAPE, "trace has %d delays", 3); }

START_TEST(failure_keeps_status_sentence_and_place) {
    sx_error_clear();
    ck_assert_str_eq(sx_error_message(), "");
    ck_fails(inner(), SX_ERR_SHAPE, "trace has 3 delays");
    ck_assert_int_eq(sx_error_status(), SX_ERR_SHAPE);
    ck_assert(strncmp(sx_error_place(), "status_test.c:", 14) == 0);
}
END_TEST

START_TEST(context_goes_in_front) {
    inner();
    ck_assert_int_eq(sxi_fail_context(SX_ERR_IO, "file %s", "a.h5"), SX_ERR_IO);
    ck_assert_str_eq(sx_error_message(), "file a.h5: trace has 3 delays");
}
END_TEST

START_TEST(long_sentences_are_cut_not_lost) {
    char words[5000];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    sxi_fail(SX_ERR_IO, "a.c", 1, "%s", words);
    ck_assert_uint_eq(strlen(sx_error_message()), 2047);
    sxi_fail_context(SX_ERR_IO, "%s", "front");
    ck_assert(strncmp(sx_error_message(), "front: xxx", 10) == 0);
    sxi_fail_context(SX_ERR_IO, "%s", words);
    ck_assert_uint_eq(strlen(sx_error_message()), 2047);
}
END_TEST

START_TEST(every_status_has_a_name_and_words) {
    ck_assert_str_eq(sx_status_name(SX_ERR_RANGE), "SX_ERR_RANGE");
    ck_assert_str_eq(sx_status_name((sx_status)77), "SX_ERR_?");
    ck_assert_str_eq(sx_status_text(SX_OK), "done");
}
END_TEST

SX_TEST_MAIN("status", failure_keeps_status_sentence_and_place, context_goes_in_front,
             long_sentences_are_cut_not_lost, every_status_has_a_name_and_words)
