/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/dimensions.h"

#include <string.h>

#include "sx_check.h"

START_TEST(words_of_tiles) {
    sxi_dimensions d;
    ck_ok(sxi_dimensions_read("i=16  j=4 energy", &d));
    ck_assert_int_eq(d.n, 3);
    ck_assert_str_eq(d.name[0], "i");
    ck_assert_str_eq(d.name[2], "energy");
    ck_assert_int_eq(d.tile[0], 16);
    ck_assert_int_eq(d.tile[1], 4);
    ck_assert_int_eq(d.tile[2], 0);
    ck_fails(sxi_dimensions_read("", &d), SX_ERR_ARGUMENT, "no dimensions");
    ck_fails(sxi_dimensions_read(NULL, &d), SX_ERR_ARGUMENT, "no dimensions");
    ck_fails(sxi_dimensions_read("i=0", &d), SX_ERR_ARGUMENT, "'i=0' in 'i=0'");
    ck_fails(sxi_dimensions_read("i=1x", &d), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_dimensions_read("i=-2", &d), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_dimensions_read("i= 2", &d), SX_ERR_ARGUMENT, "=NUMBER");
    ck_fails(sxi_dimensions_read("2=i", &d), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_dimensions_read("i+2", &d), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_dimensions_read("i=99999999999999999999", &d), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_dimensions_read("i=1 j=2 i=3", &d), SX_ERR_ARGUMENT, "i stands twice");
    ck_fails(sxi_dimensions_read("a b c d e f g h i", &d), SX_ERR_ARGUMENT, "more than 8");
    ck_fails(sxi_dimensions_read("name_of_more_than_thirty_one_letters", &d), SX_ERR_ARGUMENT,
             "not understood");
}
END_TEST

START_TEST(words_of_axes) {
    sxi_dimensions d;
    sxi_axes a;
    ck_ok(sxi_dimensions_read("i=16 j=4", &d));
    ck_ok(sxi_axes_read(" - j+2 i ", &d, &a));
    ck_assert_int_eq(a.n, 3);
    ck_assert_int_eq(a.dimension[0], SXI_AXIS_ALL);
    ck_assert_int_eq(a.dimension[1], 1);
    ck_assert_int_eq(a.dimension[2], 0);
    ck_assert_int_eq(a.halo[1], 2);
    ck_assert_int_eq(a.halo[2], 0);
    ck_ok(sxi_axes_read("", &d, &a)); /* a scalar */
    ck_assert_int_eq(a.n, 0);
    ck_fails(sxi_axes_read("i k", &d, &a), SX_ERR_ARGUMENT, "names k, which is no dimension");
    ck_fails(sxi_axes_read("i i", &d, &a), SX_ERR_ARGUMENT, "i stands twice");
    ck_fails(sxi_axes_read("i=2", &d, &a), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_axes_read("i-2", &d, &a), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_axes_read("--", &d, &a), SX_ERR_ARGUMENT, "not understood");
    ck_fails(sxi_axes_read("- - - - - - - - -", &d, &a), SX_ERR_ARGUMENT, "more than 8");
}
END_TEST

SX_TEST_MAIN("dimensions", words_of_tiles, words_of_axes)
