/* SPDX-License-Identifier: Apache-2.0 */
#include "io/read/difference.h"

#include <string.h>

#include "sx_check.h"

static char a[SXI_DIFFERENCE], b[SXI_DIFFERENCE];

START_TEST(equal_is_equal) {
    const float x[3] = {1, NAN, -0.0F};
    ck_assert_int_eq(sxi_difference(x, x, 3, 4, true, SX_F32, a, b), -1);
    ck_assert_int_eq(sxi_difference(x, x, 0, 4, true, SX_F32, a, b), -1);
}
END_TEST

START_TEST(the_first_difference_is_told) {
    const int16_t x[4] = {1, 2, -3, 4}, y[4] = {1, 2, 3, 5};
    ck_assert_int_eq(sxi_difference(x, y, 4, 2, true, SX_I16, a, b), 2);
    ck_assert_str_eq(a, "-3");
    ck_assert_str_eq(b, "3");
    ck_assert_int_eq(sxi_difference(x, y, 2, 4, false, SX_U8, a, b), 1);
    ck_assert_str_eq(a, "bytes fdff0400");
    ck_assert_str_eq(b, "bytes 03000500");
    const uint64_t u = UINT64_MAX, v = UINT64_MAX - 1;
    ck_assert_int_eq(sxi_difference(&u, &v, 1, 8, true, SX_U64, a, b), 0);
    ck_assert_str_eq(b, "18446744073709551614");
}
END_TEST

START_TEST(bits_count_not_values) {
    const double zero[2] = {0, 0.0}, minus[2] = {0, -0.0};
    ck_assert_int_eq(sxi_difference(zero, minus, 2, 8, true, SX_F64, a, b), 1);
    ck_assert_str_eq(b, "-0");
    const uint32_t quiet = 0x7fc00000, other = 0x7fc00001;
    ck_assert_int_eq(sxi_difference(&quiet, &other, 1, 4, true, SX_F32, a, b), 0);
    ck_assert_str_eq(a, "bytes 0000c07f");
    ck_assert_str_eq(b, "bytes 0100c07f");
    const char p[40] = "", q[40] = {[39] = 1};
    ck_assert_int_eq(sxi_difference(p, q, 1, 40, false, SX_U8, a, b), 0);
    ck_assert_str_eq(b, "bytes 00000000000000000000000000000000...");
}
END_TEST

SX_TEST_MAIN("difference", equal_is_equal, the_first_difference_is_told, bits_count_not_values)
