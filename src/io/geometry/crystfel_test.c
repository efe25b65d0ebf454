/* SPDX-License-Identifier: Apache-2.0
 * CrystFEL .geom. Expected positions follow from the lines of the files. */
#include "io/hdf5/h5file.h"
#include "sx_geometry.h"

/* --- files that others wrote --- */

START_TEST(two_plain_panels) {
    sx_geometry *g = sx_geometry_of(sx_data("geometry/simple.geom"), NULL);
    if (!g) {
        return;
    }
    const sx_geometry_facts *f = sx_geometry_facts_of(g);
    ck_assert_int_eq(f->rank, 2);
    ck_assert_int_eq(f->shape[0], 1024);
    ck_assert_int_eq(f->shape[1], 1024);
    ck_assert_int_eq(f->masked, 0);
    ck_assert_int_eq(f->handedness, 1);
    ck_assert(isnan(f->photon_energy));
    ck_pixel(g, 512, 0, -511.5 / 13333.3, 10.5 / 13333.3, 0.05);
    ck_pixel(g, 511, 1023, 511.5 / 13333.3, -10.5 / 13333.3, 0.05);
    sx_geometry_destroy(&g);
}
END_TEST

/* m15 begins at row 7710; its corner and directions are in the file. The mask file is not here. */
START_TEST(swissfel_16m) {
    sx_geometry *g = sx_geometry_of(sx_data("geometry/jf-swissfel-16M.geom"), NULL);
    if (!g) {
        return;
    }
    const sx_geometry_facts *f = sx_geometry_facts_of(g);
    ck_assert_int_eq(f->shape[0], 16448);
    ck_assert_int_eq(f->shape[1], 1030);
    ck_assert_int_eq(f->panels, 32);
    ck_near(f->photon_energy, 4570, 0, 1e-9);
    ck_assert_int_eq(f->uncovered, 0);
    const double u = 10.5, v = 2.5, pixel = 1 / 13333.3;
    ck_pixel(g, 7712, 10, (-52.8650708457 + 0.0000830 * u - 1.0001746 * v) * pixel,
             (997.730814412 - 1.0003003 * u - 0.0002212 * v) * pixel, 0.0953 - 0.000085);
    /* the four bad regions */
    ck_assert_int_eq(f->masked, 140 * 61 + 73 * 118 + 136 * 51 + 61 * 128);
    ck_assert_int_eq(sx_geometry_mask(g)[(int64_t)7710 * 1030 + 890], 1);
    ck_assert_int_eq(sx_geometry_mask(g)[(int64_t)7709 * 1030 + 890], 0);
    sx_geometry_destroy(&g);
}
END_TEST

/* No line says the distance: z is open, x and y are not. */
START_TEST(epix10k_without_a_distance) {
    sx_geometry *g = sx_geometry_of(sx_data("geometry/epix10k2M_mfx.geom"), NULL);
    if (!g) {
        return;
    }
    double at[3];
    ck_assert_int_eq(sx_geometry_facts_of(g)->panels, 64);
    ck_assert(!sx_geometry_facts_of(g)->has_distance);
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, 1);
    sx_pixel(g, 0, 0, at);
    ck_near(at[0], (436.241 + 0.5 * (-0.003266 + 0.999994)) * 1e-4, 0, 1e-9);
    ck_near(at[1], (428.658 - 0.5 * (0.999993 + 0.003263)) * 1e-4, 0, 1e-9);
    ck_assert(isnan(at[2]));
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(eiger_with_strips_between_modules) {
    sx_geometry *g = sx_geometry_of(sx_data("geometry/Eiger16M-binning2-nativefiles.geom"), NULL);
    if (g) {
        ck_assert_int_eq(sx_geometry_facts_of(g)->shape[0], 2167);
        /* a strip of 10 columns, three of 37 rows */
        ck_assert_int_eq(sx_geometry_facts_of(g)->masked, 10 * 2167 + 3 * 37 * (2070 - 10));
        ck_near(sx_geometry_facts_of(g)->photon_energy, 22000, 0, 1e-9);
    }
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(the_wavelength_lies_in_the_data_file) {
    char data[4096];
    const char *path = sx_data("geometry/crystfel-wavelength_geom.h5");
    if (!path) {
        return;
    }
    snprintf(data, sizeof data, "%s", path);
    const sx_geometry_options options = {.data = data};
    sx_geometry *g = sx_geometry_of(sx_data("geometry/crystfel-wavelength_geom1.geom"), &options);
    ck_near(sx_geometry_facts_of(g)->wavelength, 1e-10, 1e-7, 0); /* stored as float */
    ck_near(sx_geometry_facts_of(g)->photon_energy, 12398.42, 1e-6, 0);
    sx_geometry_destroy(&g);
    g = sx_geometry_of(sx_data("geometry/crystfel-wavelength_geom5.geom"), &options);
    ck_near(sx_geometry_facts_of(g)->wavelength, 1.9687e-12, 1e-3, 0); /* electrons */
    ck_assert(isnan(sx_geometry_facts_of(g)->photon_energy));
    sx_geometry_destroy(&g);
    g = sx_geometry_of(sx_data("geometry/crystfel-wavelength_geom1.geom"), NULL);
    ck_assert(isnan(sx_geometry_facts_of(g)->wavelength));
    sx_geometry_destroy(&g);
}
END_TEST

static bool append(void *all, const char *name) {
    strcat(strcat(all, name), " ");
    return true;
}

START_TEST(frames_are_found_by_their_names) {
    char data[4096], all[512] = "";
    const char *path = sx_data("geometry/crystfel-ev_enum1.h5");
    if (!path) {
        return;
    }
    snprintf(data, sizeof data, "%s", path);
    sx_geometry *g = sx_geometry_of(sx_data("geometry/crystfel-ev_enum1.geom"), NULL);
    ck_ok(sx_geometry_frames(g, data, append, all));
    ck_assert_str_eq(all,
                     "ev_1/dataABCset// ev_2/dataDEFset// ev_3/dataGHIset// ev_5/dataNOPset// ");
    ck_near(sx_geometry_facts_of(g)->photon_energy, 10000, 0, 1e-9);
    /* The only pixel is [1][0]. */
    ck_assert_int_eq(sx_geometry_facts_of(g)->pixels, 2);
    ck_assert_int_eq(sx_geometry_facts_of(g)->uncovered, 1);
    ck_pixel(g, 1, 0, -99.5e-6, -99.5e-6, 0.05);
    sx_geometry_destroy(&g);
}
END_TEST

/* --- ours --- */

#define HEAD "clen = 100 mm\nres = 10000\n"
#define PANEL(name, fs, ss)                                                                        \
    name "/min_fs = 0\n" name "/max_fs = 3\n" name "/min_ss = 0\n" name "/max_ss = 1\n" name       \
         "/corner_x = -2\n" name "/corner_y = 1\n" name "/fs = " fs "\n" name "/ss = " ss "\n"
#define ONE HEAD PANEL("p", "x", "-y")

START_TEST(directions_are_sums) {
    sx_geometry *g = sx_geometry_text(HEAD PANEL("p", "- 0.8x +0.6 z", "y"));
    ck_pixel(g, 1, 2, (-2 - 0.8 * 2.5) * 1e-4, (1 + 1.5) * 1e-4, 0.1 + 0.6 * 2.5e-4);
    sx_geometry_destroy(&g);
    ck_geometry_fails(HEAD PANEL("p", "0.8", "y"), SX_ERR_FORMAT,
                      "fs is '0.8', expected was a dir");
    ck_geometry_fails(HEAD PANEL("p", "x y", "y"), SX_ERR_FORMAT, "'x y'");
    ck_geometry_fails(HEAD PANEL("p", "x", "2x"), SX_ERR_RANGE, "run along one line");
    ck_geometry_fails(HEAD PANEL("p", "nanx", "y"), SX_ERR_FORMAT, "'nanx'");
}
END_TEST

START_TEST(fixed_dimensions_make_segments) {
    sx_geometry *g = sx_geometry_text(HEAD "dim0 = %\ndim2 = ss\ndim3 = fs\n" PANEL("a", "x", "y")
                                          PANEL("b", "x", "y") "a/dim1 = 0\nb/dim1 = 2\n"
                                                               "b/coffset = 0.01\n");
    ck_assert_int_eq(sx_geometry_facts_of(g)->rank, 3);
    ck_assert_int_eq(sx_geometry_facts_of(g)->shape[0], 3);
    ck_assert_int_eq(sx_geometry_facts_of(g)->uncovered, 8); /* image 1 has no panel */
    ck_pixel(g, 5, 0, -1.5e-4, 2.5e-4, 0.11);
    sx_geometry_destroy(&g);
    g = sx_geometry_text(HEAD PANEL("a", "x", "y") PANEL("b", "x", "y") "b/data = /other\n");
    ck_assert_int_eq(sx_geometry_facts_of(g)->shape[0], 2);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(mirrored_panels_show) {
    sx_geometry *g = sx_geometry_text(HEAD PANEL("p", "x", "y"));
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, 1);
    sx_geometry_destroy(&g);
    g = sx_geometry_text(HEAD PANEL("p", "-x", "y"));
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, -1);
    sx_geometry_destroy(&g);
    g = sx_geometry_text(HEAD PANEL("p", "x", "y") PANEL("q", "-x", "y") "q/data = /other\n");
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, 0);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(masks_are_made_of_all_that_says_so) {
    sx_geometry *g = sx_geometry_text(ONE "bad1/min_fs = 1\nbad1/max_fs = 2\nbad1/min_ss = 1\n"
                                          "bad1/max_ss = 99\nbad1/panel = p\n");
    ck_assert_mem_eq(sx_geometry_mask(g), "\0\0\0\0\0\1\1\0", 8);
    sx_geometry_destroy(&g);
    /* Centres of columns lie at -1.5, -0.5, 0.5, 1.5, those of rows at 0.5, -0.5. */
    g = sx_geometry_text(ONE
                         "bad1/min_x = -0.6\nbad1/max_x = 0.6\nbad1/min_y = 0\nbad1/max_y = 9\n");
    ck_assert_mem_eq(sx_geometry_mask(g), "\0\1\1\0\0\0\0\0", 8);
    sx_geometry_destroy(&g);
    g = sx_geometry_text(ONE "p/no_index = 1\n");
    ck_assert_int_eq(sx_geometry_facts_of(g)->masked, 8);
    sx_geometry_destroy(&g);
    ck_geometry_fails(ONE "bad1/min_x = 1\n", SX_ERR_FORMAT, "the region bad1 should have min and");
    ck_geometry_fails(ONE "bad1/min_fs = 1\nbad1/max_fs = 2\nbad1/min_ss = 1\nbad1/max_ss = 9\n"
                          "bad1/panel = q\n",
                      SX_ERR_MISSING, "a panel q, which is not there");
}
END_TEST

/* 3 is asked for, bit 2 forbidden. */
START_TEST(mask_files_are_read_by_bits) {
    const int64_t shape[] = {2, 4};
    uint8_t values[] = {3, 1, 2, 0, 7, 11, 4, 3};
    sx_array array;
    sxi_h5_writer *writer = NULL;
    ck_ok(sx_array_view(SX_U8, 2, shape, values, &array));
    ck_ok(sxi_h5_create(sx_folder("mask.h5"), true, &writer));
    ck_ok(sxi_h5_write(writer, "/mask", &array, "", ""));
    ck_ok(sxi_h5_commit(&writer));
    sx_geometry *g = sx_geometry_text("mask = /mask\nmask_file = mask.h5\nmask_good = 3\n"
                                      "mask_bad = 0x4\n" ONE);
    ck_assert_mem_eq(sx_geometry_mask(g), "\0\1\1\1\1\0\1\0", 8);
    sx_geometry_destroy(&g);
    ck_geometry_fails("mask = /msk\nmask_file = mask.h5\n" ONE, SX_ERR_MISSING, "no dataset /msk");
}
END_TEST

START_TEST(keys_that_move_nothing_are_passed_over) {
    sx_geometry *g = sx_geometry_text("max_adu = 5\nsomething_new = 3\nrigid_group_a = p\n" ONE
                                      "p/badrow_direction = x\np/strange = 4 ; remark\n");
    ck_pixel(g, 0, 0, -1.5e-4, 0.5e-4, 0.1);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(what_could_move_pixels_is_an_error) {
    ck_geometry_fails(ONE "cofset = 0.1\n", SX_ERR_UNSUPPORTED,
                      "line 11: 'cofset' is not known and may be meant for 'coffset'");
    ck_geometry_fails(ONE "p/corner_z = 1\n", SX_ERR_UNSUPPORTED, "'corner_z'");
    ck_geometry_fails(ONE "rail_direction = z\n", SX_ERR_UNSUPPORTED, "'rail_direction'");
    ck_geometry_fails(ONE "clen = 0.1 inch\n" PANEL("q", "x", "y"), SX_ERR_UNIT, "'inch'");
    ck_geometry_fails(ONE "wavelength = 1 A\nphoton_energy = 9000\n", SX_ERR_FORMAT,
                      "photon_energy comes after wavelength");
    ck_geometry_fails("photon_energy = -3\n" ONE, SX_ERR_RANGE, "photon_energy is -3");
    ck_geometry_fails("detector_shift_x = /a/b m\n" ONE, SX_ERR_MISSING, "/a/b of the data file");
}
END_TEST

START_TEST(what_is_wrong_is_named) {
    ck_geometry_fails(ONE "nonsense\n", SX_ERR_FORMAT, "'nonsense' is no 'key = value'");
    ck_geometry_fails(ONE "p/res =\n", SX_ERR_FORMAT, "nothing stands after the =");
    ck_geometry_fails("clen = 1\nres = 3\n", SX_ERR_FORMAT, "holds no panel");
    ck_geometry_fails(PANEL("p", "x", "y") HEAD, SX_ERR_MISSING, "panel p has no res");
    ck_geometry_fails(ONE "p/max_fs = nan\n", SX_ERR_FORMAT, "max_fs is 'nan'");
    ck_geometry_fails(ONE "p/max_fs = 999999999\n", SX_ERR_RANGE, "no detector has more than");
    ck_geometry_fails(ONE "p/max_fs = 1e300\n", SX_ERR_RANGE, "is not an index of a pixel");
    ck_geometry_fails(ONE "p/max_fs = 2.5\n", SX_ERR_RANGE, "is not an index of a pixel");
    ck_geometry_fails(ONE "p/min_fs = 4\n", SX_ERR_RANGE, "ends before it begins");
    ck_geometry_fails(ONE "p/res = 0\n", SX_ERR_RANGE, "pixels per metre");
    ck_geometry_fails(ONE "p/res = 1e-4\n", SX_ERR_RANGE, "m from the sample; are its lengths");
    ck_geometry_fails(ONE PANEL("q", "x", "y"), SX_ERR_FORMAT, "p and q share pixels");
    ck_geometry_fails(ONE "p/dim0 = fs\np/dim1 = ss\n", SX_ERR_FORMAT, "one should be ss, and one");
    ck_geometry_fails(ONE "p/dim2 = fs\np/dim0 = ss\n", SX_ERR_MISSING, "has a dim2 and no dim1");
    ck_geometry_fails(ONE "p/dim9 = 3\n", SX_ERR_FORMAT, "should be dim0 to dim7");
}
END_TEST

SX_TEST_MAIN("crystfel", two_plain_panels, swissfel_16m, epix10k_without_a_distance,
             eiger_with_strips_between_modules, the_wavelength_lies_in_the_data_file,
             frames_are_found_by_their_names, directions_are_sums, fixed_dimensions_make_segments,
             mirrored_panels_show, masks_are_made_of_all_that_says_so, mask_files_are_read_by_bits,
             keys_that_move_nothing_are_passed_over, what_could_move_pixels_is_an_error,
             what_is_wrong_is_named)
