/* SPDX-License-Identifier: Apache-2.0
 * pixels.h5: what is written, against closed forms. */
#include <sextant/crystal.h>
#include <sextant/pixels.h>

#include "io/hdf5/h5file.h"
#include "sx_geometry.h"

#define POINTS "{\"pixel1\": 1e-3, \"pixel2\": 1e-3, \"max_shape\": [3, 4]}"
/* Pixel [j][i] at x = -(i - 1.5) mm, y = (j - 1) mm, z = 100 mm. */
#define PONI(more)                                                                                 \
    "Detector: Detector\nDetector_config: " POINTS "\nDistance: 0.1\nPoni1: 0.0015\n"              \
    "Poni2: 0.002\n" more

static const char *put(const char *name, const char *text) {
    return sx_folder_write(name, text, strlen(text));
}

static double value(sx_hdf5 *file, const char *name, int j, int i) {
    static const sx_dtype as = SX_F64;
    sx_array array = {0};
    ck_ok(sxi_h5_read(file, name, &as, &array));
    const double v = ((const double *)array.data)[4 * j + i];
    sx_array_destroy(&array);
    return v;
}

START_TEST(scattering_vectors_are_those_of_the_formula) {
    const sx_xani_pixels_options options = {
        .geometry = put("a.poni", PONI("")), .photon_energy = 12398.419843320, .overwrite = true};
    sx_xani_pixels_summary summary;
    sx_hdf5 *file = NULL;
    ck_ok(sx_xani_pixels(&options, sx_folder("pixels.h5"), NULL, &summary));
    ck_ok(sx_hdf5_open(sx_folder("pixels.h5"), &file));
    const double k = 2 * 3.14159265358979323846; /* at 1 Angstrom */
    const double x = -1.5e-3, y = 1e-3, z = 0.1, r = sqrt(x * x + y * y + z * z);
    ck_near(value(file, "/pixels/x", 2, 3), x, 0, 1e-12);
    ck_near(value(file, "/pixels/y", 2, 3), y, 0, 1e-12);
    ck_near(value(file, "/pixels/z", 2, 3), z, 0, 1e-12);
    /* A float has 24 bits: 6e-8 of the value. */
    ck_near(value(file, "/pixels/qx", 2, 3), k * x / r, 1e-7, 0);
    ck_near(value(file, "/pixels/qy", 2, 3), k * y / r, 1e-7, 0);
    ck_near(value(file, "/pixels/qz", 2, 3), k * (z / r - 1), 1e-7, 0);
    ck_near(value(file, "/pixels/q", 2, 3), 2 * k * sin(atan2(hypot(x, y), z) / 2), 1e-7, 0);
    ck_near(value(file, "/pixels/two_theta", 2, 3), atan2(hypot(x, y), z), 1e-7, 0);
    ck_near(summary.q_most, 2 * k * sin(atan2(hypot(x, y), z) / 2), 1e-7, 0);
    ck_near(summary.two_theta_least, atan2(0.5e-3, z), 1e-12, 0);
    char text[64];
    ck_ok(sxi_h5_attribute_text(file, "/pixels", "frame", text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "z along the beam, y up, x"));
    ck_assert(!sxi_h5_exists(file, "/pixels/h"));
    sx_hdf5_close(&file);
}
END_TEST

START_TEST(without_an_energy_q_is_missing) {
    const sx_xani_pixels_options options = {.geometry = put("a.poni", PONI("")), .overwrite = true};
    sx_xani_pixels_summary summary;
    sx_hdf5 *file = NULL;
    ck_ok(sx_xani_pixels(&options, sx_folder("pixels.h5"), NULL, &summary));
    ck_assert(isnan(summary.q_most) && isnan(summary.geometry.photon_energy));
    ck_ok(sx_hdf5_open(sx_folder("pixels.h5"), &file));
    ck_assert(isnan(value(file, "/pixels/q", 2, 3)) && isnan(value(file, "/pixels/qz", 0, 0)));
    ck_near(value(file, "/pixels/two_theta", 2, 3), atan2(hypot(1.5e-3, 1e-3), 0.1), 1e-7, 0);
    sx_hdf5_close(&file);
}
END_TEST

/* UB is 1/a along the axes of the laboratory: h = q_x a / 2 pi. */
START_TEST(indices_come_from_the_orientation) {
    const sx_xani_pixels_options options = {
        .geometry = put("a.poni", PONI("Wavelength: 1e-10\n")),
        .crystal =
            put("c.yaml", "cell: {a: 5, b: 5, c: 5, alpha: 90, beta: 90, gamma: 90}\ncentring: P\n"
                          "orientation: {ub: [0.2, 0, 0, 0, 0.2, 0, 0, 0, 0.2]}\n"),
        .overwrite = true};
    sx_hdf5 *file = NULL;
    ck_ok(sx_xani_pixels(&options, sx_folder("pixels.h5"), NULL, NULL));
    ck_ok(sx_hdf5_open(sx_folder("pixels.h5"), &file));
    const double x = -1.5e-3, y = 1e-3, z = 0.1, r = sqrt(x * x + y * y + z * z);
    ck_near(value(file, "/pixels/h", 2, 3), 5 * x / r, 1e-6, 0);
    ck_near(value(file, "/pixels/k", 2, 3), 5 * y / r, 1e-6, 0);
    ck_near(value(file, "/pixels/l", 2, 3), 5 * (z / r - 1), 1e-6, 0);
    sx_hdf5_close(&file);
}
END_TEST

/* More segments than a band has, and rows of them. */
START_TEST(segments_come_first) {
    char text[4096] = "IP 0 CAM:V1 0 0 0 100000 0 0 0 0 0 0\n";
    for (int i = 0; i < 5; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "CAM:V1 0 MTRX:V2:700:900:10:10 %d %d 0 0 0 0 0 0 0 0\n", i, 1000 * i);
    }
    const sx_xani_pixels_options options = {.geometry = put("a.data", text), .overwrite = true};
    sx_xani_pixels_summary summary;
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    ck_ok(sx_xani_pixels(&options, sx_folder("pixels.h5"), NULL, &summary));
    ck_ok(sx_hdf5_open(sx_folder("pixels.h5"), &file));
    ck_ok(sx_hdf5_describe(file, "/pixels/x", &about));
    ck_assert_int_eq(about.rank, 3);
    ck_assert_int_eq(about.shape[0], 5);
    static const sx_dtype as = SX_F64;
    sx_array x = {0};
    ck_ok(sxi_h5_read(file, "/pixels/x", &as, &x));
    for (int64_t s = 0; s < 5; s++) {
        const int64_t last[] = {s, 699, 899};
        ck_near(sx_array_get(&x, last), 1e-3 * (double)s + 449.5e-5, 0, 1e-12);
    }
    sx_array_destroy(&x);
    sx_array mask = {0};
    ck_ok(sxi_h5_read(file, "/pixels/mask", &as, &mask));
    ck_assert_int_eq(sx_array_count(&mask), 5 * 700 * 900);
    for (int64_t i = 0; i < sx_array_count(&mask); i++) {
        ck_assert(((const double *)mask.data)[i] == 0);
    }
    sx_array_destroy(&mask);
    sx_hdf5_close(&file);
}
END_TEST

START_TEST(what_is_wrong_leaves_nothing) {
    sx_xani_pixels_options options = {.geometry = put("a.poni", PONI("")), .overwrite = false};
    const char *output = sx_folder("new.h5");
    options.crystal =
        put("c.yaml", "cell: {a: 5, b: 5, c: 5, alpha: 90, beta: 90, gamma: 90}\ncentring: P\n");
    ck_fails(sx_xani_pixels(&options, output, NULL, NULL), SX_ERR_MISSING, "orient");
    options.crystal = NULL;
    options.geometry = sx_folder("nowhere");
    ck_fails(sx_xani_pixels(&options, output, NULL, NULL), SX_ERR_IO, "no such file");
    FILE *file = fopen(output, "rb");
    ck_assert_ptr_null(file);
    options.geometry = put("a.poni", PONI(""));
    ck_ok(sx_xani_pixels(&options, output, NULL, NULL));
    ck_fails(sx_xani_pixels(&options, output, NULL, NULL), SX_ERR_EXISTS, "exists");
    options.overwrite = true;
    ck_fails(sx_xani_pixels(&options, options.geometry, NULL, NULL), SX_ERR_ARGUMENT, "a.poni");
}
END_TEST

SX_TEST_MAIN("pixels", scattering_vectors_are_those_of_the_formula, without_an_energy_q_is_missing,
             indices_come_from_the_orientation, segments_come_first, what_is_wrong_leaves_nothing)
