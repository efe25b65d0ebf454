/* SPDX-License-Identifier: Apache-2.0
 * PONI files of pyFAI. */
#include "sx_geometry.h"

#define DETECTOR(config) "poni_version: 2\nDetector: Detector\nDetector_config: " config "\n"
#define PLACE "Distance: 0.1\nPoni1: 0\nPoni2: 0\nRot1: 0\nRot2: 0\nRot3: 0\n"
#define PLAIN "{\"pixel1\": 1e-4, \"pixel2\": 2e-4, \"max_shape\": [3, 4]}"

/* pyFAI 0.21.3 wrote it; 1e-8 m is what its single-precision numbers are good for. */
START_TEST(positions_are_those_of_pyfai) {
    sx_geometry *g = sx_geometry_of(sx_data("geometry/pyfai_rot.poni"), NULL);
    const char *truth = g ? sx_data("geometry/pyfai_truth.csv") : NULL;
    FILE *file = truth ? fopen(truth, "r") : NULL;
    char line[512];
    int count = 0;
    while (file && fgets(line, sizeof line, file)) {
        long long i, j;
        double t1, t2, t3, q, at[3];
        if (sscanf(line, "%lld,%lld,%lf,%lf,%lf,%lf", &i, &j, &t1, &t2, &t3, &q) == 6) {
            sx_pixel(g, i, j, at);
            ck_near(at[0], -t2, 0, 1e-8);
            ck_near(at[1], t1, 0, 1e-8);
            ck_near(at[2], t3, 0, 1e-8);
            const double r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
            const double k = 2 * 3.14159265358979323846 / sx_geometry_facts_of(g)->wavelength;
            ck_near(k * sqrt(2 - 2 * at[2] / r) * 1e-9, q, 1e-5, 0);
            count++;
        }
    }
    if (file) {
        fclose(file);
        ck_assert_int_eq(count, 105);
        ck_assert_int_eq(sx_geometry_facts_of(g)->shape[0], 512);
        ck_assert_int_eq(sx_geometry_facts_of(g)->shape[1], 1024);
        ck_near(sx_geometry_facts_of(g)->wavelength, 1.3051e-10, 1e-12, 0);
    }
    sx_geometry_destroy(&g);
}
END_TEST

/* Row 0 is the lowest, and columns run to the right: a mirror image of what one sees. */
START_TEST(orientations_flip_rows_and_columns) {
    static const int flips[5][2] = {{0, 0}, {1, 1}, {1, 0}, {0, 0}, {0, 1}};
    for (int o = 0; o <= 4; o++) {
        char text[512];
        snprintf(text, sizeof text,
                 DETECTOR("{\"pixel1\": 1e-4, \"pixel2\": 2e-4, \"max_shape\": "
                          "[3, 4], \"orientation\": %d}") PLACE,
                 o);
        sx_geometry *g = sx_geometry_text(text);
        const double up = flips[o][0] ? 2.5e-4 : 0.5e-4, left = flips[o][1] ? -7e-4 : -1e-4;
        ck_pixel(g, 0, 0, left, up, 0.1);
        ck_pixel(g, 1, 0, left, 1.5e-4, 0.1);
        ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, flips[o][0] == flips[o][1] ? -1 : 1);
        ck_assert(isnan(sx_geometry_facts_of(g)->wavelength));
        sx_geometry_destroy(&g);
    }
}
END_TEST

START_TEST(version_1_and_named_detectors_are_known) {
    sx_geometry *g = sx_geometry_text("# Nota\nDetector: Pilatus 1M\nPixelSize1: 0.000172\n"
                                      "PixelSize2: 1.72e-4\nDistance: 0.1\nPoni1: 0\nPoni2: 0\n"
                                      "Rot1: 0\nSplineFile: None\nWavelength: 1e-10\n");
    const sx_geometry_facts *f = sx_geometry_facts_of(g);
    ck_assert_int_eq(f->shape[0], 1043);
    ck_assert_int_eq(f->shape[1], 981);
    /* 4 gaps of 17 rows, one of 7 columns */
    ck_assert_int_eq(f->masked, 68 * 981 + 7 * (1043 - 68));
    ck_assert_int_eq(sx_geometry_mask(g)[195 * 981], 1);
    ck_assert_int_eq(sx_geometry_mask(g)[194 * 981], 0);
    sx_geometry_destroy(&g);
    g = sx_geometry_text(
        "Detector: Eiger2CdTe_1M-W\nDetector_config: {\"orientation\": 2}\n" PLACE);
    ck_assert_int_eq(sx_geometry_facts_of(g)->shape[1], 2068);
    ck_assert_int_eq(sx_geometry_facts_of(g)->handedness, 1);
    sx_geometry_destroy(&g);
    g = sx_geometry_text("Detector: RayonixMx340Hs\nDetector_config: {\"pixel1\": 1.77083e-4, "
                         "\"pixel2\": 1.77083e-4}\n" PLACE);
    ck_assert_int_eq(sx_geometry_facts_of(g)->shape[0], 1920);
    sx_geometry_destroy(&g);
}
END_TEST

/* pyFAI appends each calibration. */
START_TEST(the_last_calibration_counts) {
    sx_geometry *g = sx_geometry_text(DETECTOR(PLAIN) PLACE "Distance: 0.25\n");
    ck_pixel(g, 0, 0, -1e-4, 0.5e-4, 0.25);
    sx_geometry_destroy(&g);
}
END_TEST

START_TEST(what_is_wrong_is_named) {
    ck_geometry_fails(DETECTOR(PLAIN) "Poni1: 0\n", SX_ERR_MISSING, "has no line 'Distance:'");
    ck_geometry_fails(DETECTOR(PLAIN) PLACE "Rot1: nan\n", SX_ERR_FORMAT,
                      "line 10: Rot1 is 'nan', which is not a number");
    ck_geometry_fails("Detector: Xpad_flat\n" PLACE, SX_ERR_UNSUPPORTED,
                      "'Xpad_flat' is not known");
    ck_geometry_fails(DETECTOR("{\"pixel1\": 1e-4, \"pixel2\": 1e-4}") PLACE, SX_ERR_MISSING,
                      "how many pixels there are");
    ck_geometry_fails(DETECTOR("{\"max_shape\": [2, 2]}") PLACE, SX_ERR_MISSING,
                      "how large pixels");
    ck_geometry_fails(DETECTOR("{\"radius\": 3}") PLACE, SX_ERR_UNSUPPORTED, "'radius'");
    ck_geometry_fails(DETECTOR("{\"pixel1\": }") PLACE, SX_ERR_FORMAT, "has '}' where a number");
    ck_geometry_fails(DETECTOR("{\"pixel1\": 1e-4") PLACE, SX_ERR_FORMAT, "where '}' was expected");
    ck_geometry_fails(DETECTOR("{\"pixel1\": 1e-4, \"pixel2\": 1e-4, \"max_shape\": [1e6, 1e6]}")
                          PLACE,
                      SX_ERR_RANGE, "no detector has more than");
    ck_geometry_fails(DETECTOR("{\"pixel1\": 1, \"pixel2\": 1, \"max_shape\": [2000, 2000]}") PLACE,
                      SX_ERR_RANGE, "m from the sample");
    ck_geometry_fails("poni_version: 3\n" PLACE, SX_ERR_UNSUPPORTED, "known are 1 and 2");
    ck_geometry_fails("Detector: Pilatus1M\nPixelSize1: 1e-4\n" PLACE, SX_ERR_FORMAT,
                      "are no multiple of");
}
END_TEST

SX_TEST_MAIN("poni", positions_are_those_of_pyfai, orientations_flip_rows_and_columns,
             version_1_and_named_detectors_are_known, the_last_calibration_counts,
             what_is_wrong_is_named)
