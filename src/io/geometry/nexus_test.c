/* SPDX-License-Identifier: Apache-2.0
 * NeXus: files written here, whose positions follow from their axes, and files of others. */
#include "io/hdf5/h5file.h"
#include "sx_geometry.h"

#define DETECTOR "/entry/instrument/detector/"
#define AXES "/entry/instrument/detector/transformations/"

static sxi_h5_writer *writer;

static void put(const char *name, int rank, const int64_t *shape, const double *values,
                const char *unit) {
    sx_array array;
    ck_ok(sx_array_view(SX_F64, rank, shape, (void *)(uintptr_t)values, &array));
    ck_ok(sxi_h5_write(writer, name, &array, unit, ""));
}

static void put_number(const char *name, double value, const char *unit) {
    put(name, 0, NULL, &value, unit);
}

static void put_pair(const char *name, double slow, double fast) {
    const int64_t two = 2;
    put(name, 1, &two, (const double[]){slow, fast}, "");
}

static void put_axis(const char *name, double value, const char *unit, const char *type, double x,
                     double y, double z, const char *next) {
    put_number(name, value, unit);
    ck_ok(sxi_h5_set_text(writer, name, "transformation_type", type));
    ck_ok(sxi_h5_set_reals(writer, name, "vector", 3, (const double[]){x, y, z}));
    ck_ok(sxi_h5_set_text(writer, name, "depends_on", next));
}

static void begin(void) {
    ck_ok(sxi_h5_create(sx_folder("nexus.h5"), true, &writer));
    put_number(DETECTOR "x_pixel_size", 1e-4, "m");
    ck_ok(sxi_h5_set_text(writer, "/entry", "NX_class", "NXentry"));
    ck_ok(sxi_h5_set_text(writer, "/entry/instrument", "NX_class", "NXinstrument"));
    ck_ok(sxi_h5_set_text(writer, "/entry/instrument/detector", "NX_class", "NXdetector"));
}

/* Frames of that shape, as they lie in the file. */
static void put_frames(int64_t frames, int64_t rows, int64_t columns) {
    const int64_t shape[] = {frames, rows, columns};
    ck_ok(sxi_h5_dataset_create(writer, "/entry/data/data", SX_U16, 3, shape, "", ""));
    ck_ok(sxi_h5_set_text(writer, "/entry/data", "NX_class", "NXdata"));
}

/* A module of rows x columns at a place of the frame, 0.1 mm pixels, columns to the right. */
static void put_module(const char *name, double row, double rows, double columns,
                       const char *offset_next) {
    char path[4][128];
    static const char *const words[] = {"module_offset", "fast_pixel_direction",
                                        "slow_pixel_direction", "data_origin"};
    for (int i = 0; i < 4; i++) {
        snprintf(path[i], sizeof path[i], DETECTOR "%s/%s", name, words[i]);
    }
    put_axis(path[0], 0, "m", "translation", 1, 0, 0, offset_next);
    put_axis(path[1], 0.1, "mm", "translation", -1, 0, 0, path[0]);
    put_axis(path[2], 100, "um", "translation", 0, -1, 0, path[0]);
    put_pair(path[3], row, 0);
    snprintf(path[3], sizeof path[3], DETECTOR "%s/data_size", name);
    put_pair(path[3], rows, columns);
    snprintf(path[3], sizeof path[3], DETECTOR "%s", name);
    ck_ok(sxi_h5_set_text(writer, path[3], "NX_class", "NXdetector_module"));
    ck_ok(sxi_h5_set_reals(writer, path[0], "offset", 3, (const double[]){0.003, 0.002, 0}));
}

static void put_beam(double value, const char *unit) {
    put_number("/entry/instrument/beam/incident_wavelength", value, unit);
    ck_ok(sxi_h5_set_text(writer, "/entry/instrument/beam", "NX_class", "NXbeam"));
}

static sx_geometry *end(void) {
    ck_ok(sxi_h5_commit(&writer));
    return sx_geometry_of(sx_folder("nexus.h5"), NULL);
}

#define ck_end_fails(status, words)                                                                \
    do {                                                                                           \
        sx_geometry *g_ = NULL;                                                                    \
        ck_ok(sxi_h5_commit(&writer));                                                             \
        ck_fails(sx_geometry_read(sx_folder("nexus.h5"), NULL, &g_), status, words);               \
        ck_assert_ptr_null(g_);                                                                    \
    } while (0)

/* The detector 200 mm away, then on an arm that turns by 30 degrees about y. */
START_TEST(a_chain_of_axes_is_followed) {
    begin();
    put_frames(2, 6, 5);
    put_module("module", 0, 6, 5, AXES "distance");
    put_axis(AXES "distance", 200, "mm", "translation", 0, 0, 2, "arm"); /* in the same group */
    put_axis(AXES "arm", 30, "deg", "rotation", 0, 1, 0, ".");
    put_beam(1.2398419843320, "angstrom");
    sx_geometry *g = end();
    const double x = 0.003 - 2.5e-4, y = 0.002 - 1.5e-4, z = 0.2, s = 0.5, c = sqrt(0.75);
    ck_assert_int_eq(sx_geometry_facts_of(g)->rank, 2);
    ck_assert_int_eq(sx_geometry_facts_of(g)->shape[1], 5);
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, 1);
    ck_near(sx_geometry_facts_of(g)->photon_energy, 10000, 1e-12, 0);
    ck_pixel(g, 1, 2, c * x + s * z, y, c * z - s * x);
    sx_geometry_destroy(&g);
}
END_TEST

/* Two modules, a gap between them. */
START_TEST(modules_lie_where_the_file_says) {
    begin();
    put_frames(1, 10, 5);
    put_module("m0", 0, 4, 5, ".");
    put_module("m1", 6, 4, 5, AXES "shift");
    put_axis(AXES "shift", 1, "mm", "translation", 0, -1, 0, ".");
    sx_geometry *g = end();
    ck_assert_int_eq(sx_geometry_facts_of(g)->panels, 2);
    ck_assert_int_eq(sx_geometry_facts_of(g)->uncovered, 10);
    ck_assert(isnan(sx_geometry_facts_of(g)->wavelength));
    ck_pixel(g, 6, 0, 0.003 - 0.5e-4, 0.002 - 0.001 - 0.5e-4, 0);
    sx_geometry_destroy(&g);
}
END_TEST

/* Older files say the size as fast, slow. */
START_TEST(a_size_in_the_other_order_is_seen) {
    begin();
    put_frames(1, 6, 5);
    put_module("module", 0, 5, 6, ".");
    sx_geometry *g = end();
    ck_assert_int_eq(sx_geometry_facts_of(g)->uncovered, 0);
    ck_assert_int_eq(sx_geometry_facts_of(g)->shape[0], 6);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(beam_centre_and_distance_are_enough) {
    begin();
    put_frames(1, 6, 5);
    put_number(DETECTOR "y_pixel_size", 1e-4, "m");
    put_number(DETECTOR "beam_center_x", 2.5, "pixels");
    put_number(DETECTOR "beam_center_y", 1e-4, "m");
    put_number(DETECTOR "detector_distance", 0.3, "m");
    const int64_t shape[] = {6, 5};
    double mask[30] = {0};
    mask[7] = 1;
    put(DETECTOR "pixel_mask", 2, shape, mask, "");
    sx_geometry *g = end();
    ck_pixel(g, 0, 2, 0, 0.5e-4, 0.3);
    ck_assert_int_eq(sx_geometry_facts_of(g)->masked, 1);
    ck_assert_int_eq(sx_geometry_mask(g)[7], 1);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(offsets_of_rows_and_columns_are_read) {
    begin();
    const int64_t two = 2, three = 3;
    put(DETECTOR "x_pixel_offset", 1, &three, (const double[]){-1, 0, 3}, "mm");
    put(DETECTOR "y_pixel_offset", 1, &two, (const double[]){2, 1}, "mm");
    put_axis(AXES "z", 0.5, "m", "translation", 0, 0, 1, ".");
    ck_ok(sxi_h5_write_text(writer, DETECTOR "depends_on", "transformations/z"));
    sx_geometry *g = end();
    ck_pixel(g, 1, 2, 3e-3, 1e-3, 0.5);
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, -1);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(what_is_wrong_is_named) {
    begin();
    put_module("module", 0, 6, 5, AXES "nowhere");
    ck_end_fails(SX_ERR_MISSING,
                 "transformations/nowhere' is named by depends_on and is not there");
    begin();
    put_module("module", 0, 6, 5, AXES "a");
    put_axis(AXES "a", 1, "m", "translation", 0, 0, 1, "b");
    put_axis(AXES "b", 1, "m", "translation", 0, 0, 1, "a");
    ck_end_fails(SX_ERR_FORMAT, "or in a circle");
    begin();
    put_module("module", 0, 6, 5, AXES "a");
    put_axis(AXES "a", 1, "deg", "translation", 0, 0, 1, ".");
    ck_end_fails(SX_ERR_UNIT, "is in 'deg', expected was the unit of a length");
    begin();
    put_module("module", 0, 6, 5, AXES "a");
    put_axis(AXES "a", (double)NAN, "m", "translation", 0, 0, 1, ".");
    ck_end_fails(SX_ERR_RANGE, "transformations/a is not finite");
    begin();
    put_module("module", 0, 6, 5, AXES "a");
    put_axis(AXES "a", 1, "m", "translation", 0, 0, 0, ".");
    ck_end_fails(SX_ERR_RANGE, "has no direction");
    begin();
    put_module("module", 0, 1e6, 1e6, ".");
    ck_end_fails(SX_ERR_RANGE, "no detector has more than");
    begin();
    put_frames(1, 5, 5);
    put_module("module", 0, 6, 5, ".");
    ck_end_fails(SX_ERR_SHAPE,
                 "module covers 6 x 5 pixels from row 0, column 0, the frame has 5 x 5");
    begin();
    ck_end_fails(SX_ERR_MISSING, "y_pixel_size");
}
END_TEST

/* A detector that moves while frames are taken has no one map. */
START_TEST(an_axis_that_moves_is_an_error) {
    begin();
    const int64_t three = 3;
    put_module("module", 0, 6, 5, AXES "a");
    put(AXES "a", 1, &three, (const double[]){1, 2, 3}, "m");
    ck_ok(sxi_h5_set_text(writer, AXES "a", "transformation_type", "translation"));
    ck_ok(sxi_h5_set_reals(writer, AXES "a", "vector", 3, (const double[]){0, 0, 1}));
    ck_end_fails(SX_ERR_UNSUPPORTED, "runs from 1 to 3");
}
END_TEST

/* Frames that are not there would read as zeros; a file of sample values has no axes. */
START_TEST(files_of_others) {
    sx_geometry *g = NULL;
    const char *path = sx_data("facility/Therm_6_2.nxs");
    if (path) {
        ck_fails(sx_geometry_read(path, NULL, &g), SX_ERR_MISSING,
                 "Therm_6_2_000001.h5, which is not there");
    }
    path = sx_data("facility/NXmx_autogen.hdf5");
    if (path) {
        ck_fails(sx_geometry_read(path, NULL, &g), SX_ERR_SHAPE, "/entry/data/data has 0 axes");
    }
    ck_assert_ptr_null(g);
    path = sx_data("facility/swissfel_run_testjf.JFxxx.h5");
    if (path) {
        ck_fails(sx_geometry_read(path, NULL, &g), SX_ERR_FORMAT, "holds no NXentry");
    }
}
END_TEST

SX_TEST_MAIN("nexus", a_chain_of_axes_is_followed, modules_lie_where_the_file_says,
             a_size_in_the_other_order_is_seen, beam_centre_and_distance_are_enough,
             offsets_of_rows_and_columns_are_read, what_is_wrong_is_named,
             an_axis_that_moves_is_an_error, files_of_others)
