/* SPDX-License-Identifier: Apache-2.0
 * A small cube of known modes through the whole job. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "xani/fit/fit.h"

#include <sextant/engine.h>
#include <sextant/xani.h>

enum { NT = 80, H = 6, W = 5, PIXELS = H * W };
static const double STEP = 0.08, FIRST = -0.4, SIGMA = 0.002;
static char folder[] = "/tmp/sextant_fit_XXXXXX";
static char cube[256], fit[256], fit2[256];

static double frequency_of(int64_t p) { return 0.8 + 0.1 * (double)p; }

/* One mode per pixel, frequency 0.8 + 0.1 p THz, amplitude 0.05, decay 0.2 per ps, phase pi, offset
 * 0.02; pixel 7 masked, pixel 8 NaN at every other delay, so that
 * f and 1 / (2 step) - f cannot be told apart. */
static void make_cube(const char *path) {
    static float y[NT * PIXELS], sigma[NT * PIXELS];
    static double delay[NT];
    uint8_t mask[PIXELS] = {0};
    const int64_t shape[] = {NT, H, W};
    sxi_h5_writer *writer;
    sx_array array;
    mask[7] = 1;
    for (int64_t t = 0; t < NT; t++) {
        delay[t] = FIRST + STEP * (double)t;
        for (int64_t p = 0; p < PIXELS; p++) {
            double x = delay[t];
            double model = x < -1e-9 ? 0
                                     : 0.02 - 0.05 * exp(-0.2 * x) *
                                                  cos(2 * 3.14159265358979 * frequency_of(p) * x);
            y[t * PIXELS + p] =
                (float)(model + SIGMA * sxi_rng_normal(3, 1, (uint64_t)(t * PIXELS + p)));
            sigma[t * PIXELS + p] = (float)SIGMA;
        }
        y[t * PIXELS + 8] = t % 2 ? y[t * PIXELS + 8] : NAN;
    }
    ck_ok(sxi_h5_create(path, true, &writer));
    ck_ok(sx_array_view(SX_F32, 3, shape, y, &array));
    ck_ok(sxi_h5_write(writer, "/cube/signal", &array, "", "signal"));
    ck_ok(sx_array_view(SX_F32, 3, shape, sigma, &array));
    ck_ok(sxi_h5_write(writer, "/cube/sigma", &array, "", "sigma"));
    ck_ok(sx_array_view(SX_F64, 1, shape, delay, &array));
    ck_ok(sxi_h5_write(writer, "/cube/delay", &array, "ps", "delay"));
    ck_ok(sx_array_view(SX_U8, 2, shape + 1, mask, &array));
    ck_ok(sxi_h5_write(writer, "/cube/mask", &array, "", "0 good"));
    ck_ok(sx_array_view(SX_F64, 1, shape + 1, delay, &array));
    ck_ok(sxi_h5_write(writer, "/cube/photon_energy", &array, "eV", "photon energy"));
    ck_ok(sxi_h5_commit(&writer));
}

static void prepare(void) {
    if (!cube[0]) {
        ck_assert_ptr_nonnull(mkdtemp(folder));
        snprintf(cube, sizeof cube, "%s/cube.h5", folder);
        snprintf(fit, sizeof fit, "%s/fit.h5", folder);
        snprintf(fit2, sizeof fit2, "%s/fit2.h5", folder);
        make_cube(cube);
    }
}

static sx_array read_map(const char *path, const char *name) {
    sx_hdf5 *file;
    sx_array array;
    ck_ok(sx_hdf5_open(path, &file));
    ck_ok(sxi_h5_read(file, name, NULL, &array));
    sx_hdf5_close(&file);
    return array;
}

static double at(const sx_array *array, int64_t i) {
    return array->dtype == SX_U8 ? ((const uint8_t *)array->data)[i]
                                 : ((const double *)array->data)[i];
}

static const sx_xani_fit_options OVERWRITE = {.overwrite = true};

START_TEST(maps_hold_what_was_put_in) {
    prepare();
    const sx_xani_input input = {.cube = cube};
    sx_xani_fit_summary summary;
    ck_ok(sx_xani_fit(&input, &OVERWRITE, fit, NULL, &summary));
    ck_assert_int_eq(summary.pixels, PIXELS);
    ck_assert_int_eq(summary.delays_left_out, 5);
    ck_assert_int_eq(summary.state[SX_DCOS_MASKED], 1);
    ck_assert(summary.has_sigma);
    sx_array f = read_map(fit, "/fit/frequency"), fe = read_map(fit, "/fit/frequency_errors");
    sx_array a = read_map(fit, "/fit/amplitude"), p = read_map(fit, "/fit/phase");
    sx_array state = read_map(fit, "/fit/state"), chi2 = read_map(fit, "/fit/chi2");
    sx_array energy = read_map(fit, "/cube/photon_energy");
    ck_assert_int_eq(f.rank, 3);
    ck_assert_int_eq(f.shape[0], SX_DCOS_MAX_MODES);
    ck_assert_int_eq(f.shape[1], H);
    ck_assert_int_eq(f.shape[2], W);
    ck_assert_int_eq(energy.shape[0], H);
    for (int64_t i = 0; i < PIXELS; i++) {
        if (i == 7) {
            ck_assert_int_eq((int)at(&state, i), SX_DCOS_MASKED);
            ck_assert(isnan(at(&f, i)));
            continue;
        }
        if (i == 8) {
            sx_array other = read_map(fit, "/fit/frequency_other");
            ck_assert_int_eq((int)at(&state, i), SX_DCOS_AMBIGUOUS);
            ck_near(at(&f, i) + at(&other, i), 0.5 / STEP, 0, 0.01);
            sx_array_destroy(&other);
            continue;
        }
        /* 5 sigma of each of 28 pixels; errors themselves from the shape of the trace */
        ck_near(at(&f, i), frequency_of(i), 0, 5 * at(&fe, i));
        ck_assert(at(&fe, i) > 1e-5 && at(&fe, i) < 5e-3);
        ck_near(at(&a, i), 0.05, 0, 0.005);
        ck_near(fabs(at(&p, i)), 3.14159265, 0, 0.2);
        ck_assert_int_eq((int)at(&state, i), SX_DCOS_OK);
        ck_assert(at(&chi2, i) > 0.3 && at(&chi2, i) < 2);
        ck_assert(isnan(at(&f, PIXELS + i))); /* no second mode */
    }
    sx_array *all[] = {&f, &fe, &a, &p, &state, &chi2, &energy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sx_array_destroy(all[i]);
    }
}
END_TEST

static void expect_equal(const char *one, const char *two, const char *name) {
    sx_array a = read_map(one, name), b = read_map(two, name);
    ck_assert_int_eq(sx_array_count(&a), sx_array_count(&b));
    ck_assert_mem_eq(a.data, b.data, (size_t)sx_array_count(&a) * sx_dtype_size(a.dtype));
    sx_array_destroy(&a);
    sx_array_destroy(&b);
}

START_TEST(tiles_and_threads_do_not_change_bytes) {
    static const char *const names[] = {"/fit/frequency", "/fit/amplitude_errors",
                                        "/fit/phase",     "/fit/chi2",
                                        "/fit/state",     "/fit/offset"};
    prepare();
    const sx_xani_input input = {.cube = cube};
    ck_ok(sx_xani_fit(&input, &OVERWRITE, fit, NULL, NULL));
    const int64_t tiles[][2] = {{1, 1}, {2, 3}, {7, 100}};
    const int64_t memory[] = {14000, 200000, 0}; /* maps in files, few rows at once, all of it */
    for (int i = 0; i < 3; i++) {
        sx_xani_fit_options options = {.overwrite = true, .tile = {tiles[i][0], tiles[i][1]}};
        const sx_context context = {.threads = i + 1};
        sx_cluster *cluster = NULL;
        ck_ok(sx_cluster_open(&context, &cluster));
        ck_ok(sx_engine_memory(cluster, memory[i]));
        ck_ok(sx_xani_fit(&input, &options, fit2, cluster, NULL));
        sx_cluster_close(&cluster);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            expect_equal(fit, fit2, names[n]);
        }
    }
}
END_TEST

START_TEST(regions_are_cut_and_bins_added) {
    prepare();
    const sx_xani_input input = {.cube = cube};
    sx_xani_fit_options options = {.overwrite = true,
                                   .has_roi = true,
                                   .roi = {1, 4, 2, 5},
                                   .dcos.fixed_modes = true,
                                   .dcos.modes = 1};
    ck_ok(sx_xani_fit(&input, &options, fit, NULL, NULL));
    sx_array f = read_map(fit, "/fit/frequency"), y = read_map(fit, "/fit/y");
    ck_assert_int_eq(f.shape[0], 1);
    ck_assert_int_eq(f.shape[1], 3);
    ck_assert_int_eq(f.shape[2], 3);
    ck_assert(isnan(at(&f, 0))); /* pixel 7, masked */
    ck_near(at(&f, 2), frequency_of(9), 0, 0.01);
    ck_near(at(&f, 8), frequency_of(3 * W + 4), 0, 0.01);
    ck_near(at(&y, 0), 1, 0, 0);
    sx_array_destroy(&f);
    sx_array_destroy(&y);
}
END_TEST

START_TEST(bins_weigh_and_respect_masks) {
    prepare();
    const sx_xani_input input = {.cube = cube};
    /* Column 2 of rows 0..1 is pixels 2 and 7; 7 is masked, so the bin is pixel 2 alone. */
    sx_xani_fit_options options = {.overwrite = true, .bin = {2, 1}};
    ck_ok(sx_xani_fit(&input, &options, fit, NULL, NULL));
    ck_ok(sx_xani_fit(&input, &OVERWRITE, fit2, NULL, NULL));
    sx_array binned = read_map(fit, "/fit/frequency"), single = read_map(fit2, "/fit/frequency");
    sx_array error = read_map(fit, "/fit/frequency_errors"), y = read_map(fit, "/fit/y");
    ck_assert_int_eq(binned.shape[1], 3);
    ck_near(at(&y, 1), 2.5, 1e-15, 0);
    ck_near(at(&binned, 2), at(&single, 2), 1e-12, 0);
    ck_assert(at(&error, 2) > 0);
    sx_array_destroy(&binned);
    sx_array_destroy(&single);
    sx_array_destroy(&error);
    sx_array_destroy(&y);
}
END_TEST

static void expect_text(sx_hdf5 *file, const char *name, const char *attribute,
                        const char *expected) {
    char text[256];
    ck_ok(sxi_h5_attribute_text(file, name, attribute, text, sizeof text));
    ck_assert_str_eq(text, expected);
}

START_TEST(datasets_say_what_they_are) {
    static const char *const plain[] = {"/fit/amplitude", "/fit/amplitude_errors",
                                        "/fit/offset",    "/fit/offset_errors",
                                        "/fit/chi2",      "/fit/modes",
                                        "/fit/state",     "/fit/iterations"};
    prepare();
    const sx_xani_input input = {.cube = cube};
    sx_xani_fit_options options = {.overwrite = true, .dcos.fixed_modes = true, .dcos.modes = 1};
    ck_ok(sx_xani_fit(&input, &options, fit, NULL, NULL));
    sx_hdf5 *file;
    sx_hdf5_dataset mode;
    ck_ok(sx_hdf5_open(fit, &file));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        expect_text(file, plain[i], "units", "1");
    }
    expect_text(file, "/fit/y", "long_name", "row (pixel)");
    expect_text(file, "/fit/x", "long_name", "column (pixel)");
    expect_text(file, "/fit/delay", "units", "ps");
    ck_ok(sx_hdf5_describe(file, "/fit/mode", &mode));
    ck_assert_int_eq(mode.dtype, SX_I64);
    char digest[64];
    ck_ok(sxi_h5_read_text(file, "/provenance/inputs/digest", 0, digest, sizeof digest));
    ck_assert_int_eq(strncmp(digest, "xxh64:", 6), 0);
    sx_hdf5_close(&file);
    sx_array delay = read_map(fit, "/fit/delay");
    ck_assert_int_eq(delay.shape[0], NT);
    ck_assert(at(&delay, 0) == FIRST && at(&delay, 9) == FIRST + STEP * 9);
    sx_array_destroy(&delay);
}
END_TEST

static bool always(void *data) {
    (void)data;
    return true;
}

START_TEST(failures_leave_nothing) {
    prepare();
    const sx_xani_input input = {.cube = cube};
    struct stat ignored;
    char output[300];
    snprintf(output, sizeof output, "%s/none.h5", folder);
    const sx_context context = {.cancel = always};
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(&context, &cluster));
    ck_fails(sx_xani_fit(&input, NULL, output, cluster, NULL), SX_ERR_CANCELLED,
             "nothing was written");
    sx_cluster_close(&cluster);
    sx_xani_fit_options roi = {.has_roi = true, .roi = {0, 7, 0, 2}};
    ck_fails(sx_xani_fit(&input, &roi, output, NULL, NULL), SX_ERR_RANGE, "0:6,0:5");
    sx_xani_fit_options bin = {.bin = {7, 1}};
    ck_fails(sx_xani_fit(&input, &bin, output, NULL, NULL), SX_ERR_ARGUMENT, "7x1");
    sx_xani_fit_options late = {.dcos.has_t_start = true, .dcos.t_start = 99};
    ck_fails(sx_xani_fit(&input, &late, output, NULL, NULL), SX_ERR_RANGE, "all 80 delays");
    ck_assert_int_ne(stat(output, &ignored), 0);
    /* An input is never overwritten by its own fit. */
    ck_fails(sx_xani_fit(&input, &OVERWRITE, cube, NULL, NULL), SX_ERR_ARGUMENT, "is the input");
}
END_TEST

START_TEST(a_pulse_length_corrects_amplitudes) {
    prepare();
    const sx_xani_input input = {.cube = cube};
    sx_xani_fit_options options = {.overwrite = true, .irf_fwhm = 0.1};
    ck_ok(sx_xani_fit(&input, &options, fit, NULL, NULL));
    sx_array a = read_map(fit, "/fit/amplitude"), f = read_map(fit, "/fit/frequency");
    sx_array c = read_map(fit, "/fit/amplitude_corrected");
    double s = 0.1 / 2.3548200450309493;
    double expected = at(&a, 20) * exp(2 * pow(3.14159265358979 * at(&f, 20) * s, 2));
    ck_near(at(&c, 20), expected, 1e-12, 0);
    sx_array_destroy(&a);
    sx_array_destroy(&f);
    sx_array_destroy(&c);
}
END_TEST

SX_TEST_MAIN("fit", maps_hold_what_was_put_in, tiles_and_threads_do_not_change_bytes,
             regions_are_cut_and_bins_added, bins_weigh_and_respect_masks,
             datasets_say_what_they_are, failures_leave_nothing, a_pulse_length_corrects_amplitudes)
