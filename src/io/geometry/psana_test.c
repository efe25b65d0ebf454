/* SPDX-License-Identifier: Apache-2.0
 * Geometry .data of psana. Expected numbers follow from sizes of pixels alone: see the comments. */
#include "sx_geometry.h"

/* 1024 columns of 75 um and 6 more for wide ones: the outermost at 38587.5 um from the middle; rows
 * likewise at 19237.5. Each segment is turned over about x, then the camera by 90 degrees about z. */
START_TEST(jungfrau_has_wide_pixels_between_chips) {
    sx_geometry *g = sx_geometry_of(sx_data("geometry/geometry-def-jungfrau1M.data"), NULL);
    if (!g) {
        return;
    }
    const sx_geometry_facts *f = sx_geometry_facts_of(g);
    ck_assert_int_eq(f->rank, 3);
    ck_assert_int_eq(f->shape[0], 2);
    ck_assert_int_eq(f->shape[1], 512);
    ck_assert_int_eq(f->shape[2], 1024);
    ck_assert_str_eq(f->segment, "JUNGFRAU:V2: wide pixels between chips, at their centres");
    ck_assert_ptr_nonnull(strstr(sx_geometry_kind_name(f->kind), "psana"));
    ck_assert(isnan(f->photon_energy));
    ck_pixel(g, 0, 0, -39862.5e-6, -38587.5e-6, 0.1);
    ck_pixel(g, 512, 0, (20625 - 19237.5) * 1e-6, -38587.5e-6, 0.1);
    double at[4][3];
    for (int i = 0; i < 4; i++) {
        sx_pixel(g, 0, 253 + i, at[i]);
    }
    ck_near(at[1][1] - at[0][1], 75e-6, 0, 1e-12);
    ck_near(at[2][1] - at[1][1], 112.5e-6, 0, 1e-12);
    ck_near(at[3][1] - at[2][1], 150e-6, 0, 1e-12);
    sx_geometry_destroy(&g);
}
END_TEST

/* 383 columns of 50 um and one of 175 to each side: the outermost at 19300 um, rows at 17700, row 0 on
 * top. Turned by 90 degrees about z, then 180 about y. */
START_TEST(epix100_stands_alone) {
    sx_geometry *g = sx_geometry_of(sx_data("geometry/geometry-def-epix100a.data"), NULL);
    if (g) {
        ck_assert_int_eq(sx_geometry_facts_of(g)->rank, 2);
        ck_pixel(g, 0, 0, 17700e-6, -19300e-6, 1);
        ck_pixel(g, 703, 767, -17700e-6, 19300e-6, 1);
        ck_pixel(g, 352, 384, -87.5e-6, 87.5e-6, 1);
    }
    sx_geometry_destroy(&g);
}
END_TEST

#define IP "IP 0 CAM:V1 0 0 0 200000 0 0 0 0 0 0\n"

START_TEST(segments_of_other_kinds_are_known) {
    sx_geometry *g = sx_geometry_text("CAM:V1 0 EPIX10KA:V1 0 1000 2000 0 0 0 0 0 0 0\n" IP);
    ck_assert_int_eq(sx_geometry_facts_of(g)->rank, 3);
    ck_pixel(g, 176, 192, 1112.5e-6, (2000 - 112.5) * 1e-6, 0.2);
    ck_pixel(g, 176, 193, 1275e-6, (2000 - 112.5) * 1e-6, 0.2);
    sx_geometry_destroy(&g);
    g = sx_geometry_text("CAM:V1 0 SENS2X1:V1 0 0 0 0 0 0 0 0 0 0\n" IP);
    ck_pixel(g, 92, 194, 137.4e-6, 0, 0.2);
    sx_geometry_destroy(&g);
    /* x runs along the rows, from pixel [0][0] */
    g = sx_geometry_text("CAM:V1 0 MTRX:4:5:10:20 0 0 0 0 0 0 0 0 0 0\n" IP);
    ck_pixel(g, 3, 4, 30e-6, 80e-6, 0.2);
    sx_geometry_destroy(&g);
    g = sx_geometry_text("CAM:V1 0 MTRX:V2:4:5:10:20 0 0 0 0 0 0 0 0 0 0\n" IP);
    ck_pixel(g, 0, 0, -40e-6, 15e-6, 0.2);
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, -1);
    sx_geometry_destroy(&g);
}
END_TEST

/* About z, then y, then x, rotation and tilt together: 30 degrees, then 90, of a pixel at (40, 0) um.
 */
START_TEST(rotations_follow_each_other) {
    sx_geometry *g = sx_geometry_text("CAM:V1 0 MTRX:V2:1:5:10:20 0 0 0 0 29 0 90 1 0 0\n" IP);
    const double c = cos(30 * 0.017453292519943295), s = sin(30 * 0.017453292519943295);
    ck_pixel(g, 0, 4, 40e-6 * c, 0, 0.2 + 40e-6 * s);
    sx_geometry_destroy(&g);
    g = sx_geometry_text("CAM:V1 0 MTRX:V2:1:5:10:20 0 0 0 0 29 0 0 1 0 0\n" IP);
    ck_pixel(g, 0, 4, 40e-6 * c, 40e-6 * s, 0.2);
    sx_geometry_destroy(&g);
}
END_TEST

#define SEGMENT(parent, name, index) parent " 0 " name " " index " 0 0 0 0 0 0 0 0 0\n"

START_TEST(what_is_wrong_is_named) {
    ck_geometry_fails(SEGMENT("CAM:V1", "COFFEE:V1", "0") IP, SX_ERR_UNSUPPORTED,
                      "'COFFEE:V1' is not known; known are EPIX100:V1");
    ck_geometry_fails(SEGMENT("CAM:V1", "EPIX100:V1", "0") SEGMENT("CAM:V1", "EPIX10KA:V1", "1") IP,
                      SX_ERR_UNSUPPORTED, "do not stack");
    ck_geometry_fails(SEGMENT("CAM:V2", "EPIX100:V1", "0") IP, SX_ERR_FORMAT,
                      "not placed anywhere");
    ck_geometry_fails(SEGMENT("A", "B", "0") SEGMENT("B", "A", "0"), SX_ERR_FORMAT,
                      "each object lies in another");
    ck_geometry_fails(SEGMENT("CAM:V1", "EPIX100:V1", "0") SEGMENT("CAM:V1", "EPIX100:V1", "0") IP,
                      SX_ERR_FORMAT, "lines 1 and 2 both place 'EPIX100:V1' 0");
    ck_geometry_fails(IP "CAM:V1 0 EPIX100:V1 0 0 0\n", SX_ERR_FORMAT,
                      "has 6 fields instead of 13");
    ck_geometry_fails(IP "CAM:V1 0 EPIX100:V1 0 0 0 0 0 0 0 0 0 nan\n", SX_ERR_FORMAT,
                      "TILT-X is 'nan'");
    ck_geometry_fails("IP 0 MTRX:V2:70000:70000:1:1 0 0 0 0 0 0 0 0 0 0\n", SX_ERR_FORMAT,
                      "should be MTRX:rows");
    ck_geometry_fails("IP 0 MTRX:V2:7:7:1:1 0 0 0 9e30 0 0 0 0 0 0\n", SX_ERR_RANGE,
                      "m from the sample");
}
END_TEST

SX_TEST_MAIN("psana", jungfrau_has_wide_pixels_between_chips, epix100_stands_alone,
             segments_of_other_kinds_are_known, rotations_follow_each_other, what_is_wrong_is_named)
