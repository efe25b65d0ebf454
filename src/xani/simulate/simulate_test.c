/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/simulate/simulate.h"

#include <string.h>

#include <sextant/xani.h>

#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"

#define PI 3.14159265358979323846

/* A run read back. */
typedef struct run_file {
    sx_array signal, sigma, delay, count, off_mean, off_error, mask;
    sx_array frequency, amplitude, decay, phase, offset, modes, h, k;
} run_file;

static void read_back(const char *path, run_file *run) {
    const struct {
        const char *name;
        sx_array *array;
    } parts[] = {{"/cube/signal", &run->signal},
                 {"/cube/sigma", &run->sigma},
                 {"/cube/delay", &run->delay},
                 {"/cube/count", &run->count},
                 {"/cube/off_mean", &run->off_mean},
                 {"/cube/off_error", &run->off_error},
                 {"/cube/mask", &run->mask},
                 {"/truth/frequency", &run->frequency},
                 {"/truth/amplitude", &run->amplitude},
                 {"/truth/decay", &run->decay},
                 {"/truth/phase", &run->phase},
                 {"/truth/offset", &run->offset},
                 {"/truth/modes", &run->modes},
                 {"/truth/h", &run->h},
                 {"/truth/k", &run->k}};
    static const sx_dtype real = SX_F64;
    sx_hdf5 *file;
    ck_ok(sx_hdf5_open(path, &file));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        ck_ok(sxi_h5_read(file, parts[i].name, &real, parts[i].array));
    }
    sx_hdf5_close(&file);
}

static void forget(run_file *run) {
    sx_array *parts[] = {&run->signal,    &run->sigma,     &run->delay, &run->count,
                         &run->off_mean,  &run->off_error, &run->mask,  &run->frequency,
                         &run->amplitude, &run->decay,     &run->phase, &run->offset,
                         &run->modes,     &run->h,         &run->k};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sx_array_destroy(parts[i]);
    }
}

static double at(const sx_array *array, int64_t i) { return ((const double *)array->data)[i]; }

/* The model of fit.h5 with the parameters of /truth. */
static double model(const run_file *run, int64_t i, double t) {
    int64_t npix = sx_array_count(&run->mask);
    if (t < 0) {
        return 0;
    }
    double y = at(&run->offset, i);
    for (int64_t m = 0; m < (int64_t)at(&run->modes, i); m++) {
        int64_t j = m * npix + i;
        y += at(&run->amplitude, j) * exp(-at(&run->decay, j) * t) *
             cos(2 * PI * at(&run->frequency, j) * t + at(&run->phase, j));
    }
    return y;
}

static void make(const sx_xani_simulate_options *options, const char *name, int threads,
                 run_file *run) {
    const sx_context context = {.threads = threads};
    ck_ok(sx_xani_simulate(options, sx_folder(name), &context));
    read_back(sx_folder(name), run);
}

START_TEST(noiseless_is_the_model_of_the_truth) {
    sx_folder_empty();
    const sx_xani_simulate_options options = {.shape = {20, 24}, .noiseless = true};
    run_file run;
    make(&options, "run.h5", 0, &run);
    int64_t npix = 20 * 24, checked = 0;
    for (int64_t t = 0; t < 120; t++) {
        for (int64_t i = 0; i < npix; i++) {
            if (at(&run.mask, i) == 0) {
                /* Stored as float: half a step of 0.06 is 2e-9. */
                ck_near(at(&run.signal, t * npix + i), model(&run, i, at(&run.delay, t)), 0, 5e-9);
                checked++;
            }
        }
    }
    ck_assert(checked > 120 * 400);
    forget(&run);
}
END_TEST

START_TEST(threads_do_not_matter) {
    sx_folder_empty();
    const sx_xani_simulate_options options = {.shape = {17, 23}, .delays = 31, .seed = 7};
    run_file first;
    make(&options, "1.h5", 1, &first);
    for (int threads = 2; threads <= 4; threads++) {
        run_file other;
        make(&options, threads == 2 ? "2.h5" : threads == 3 ? "3.h5" : "4.h5", threads, &other);
        size_t bytes = (size_t)sx_array_count(&first.signal) * sizeof(double);
        ck_assert(memcmp(first.signal.data, other.signal.data, bytes) == 0);
        ck_assert(memcmp(first.sigma.data, other.sigma.data, bytes) == 0);
        forget(&other);
    }
    run_file other;
    const sx_xani_simulate_options reseeded = {.shape = {17, 23}, .delays = 31, .seed = 8};
    make(&reseeded, "5.h5", 1, &other);
    int64_t same = 0, n = sx_array_count(&first.signal);
    for (int64_t i = 0; i < n; i++) {
        same += at(&first.signal, i) == at(&other.signal, i);
    }
    ck_assert_int_lt(same, n / 100);
    forget(&other);
    forget(&first);
}
END_TEST

/* The noise of on scatters each sample, that of off moves a whole trace. */
START_TEST(noise_has_the_stated_size) {
    sx_folder_empty();
    const sx_xani_simulate_options options = {.shape = {32, 32}};
    run_file run;
    make(&options, "run.h5", 0, &run);
    int64_t npix = 32 * 32, nt = 120, good = 0;
    double chi2 = 0, shift2 = 0;
    for (int64_t i = 0; i < npix; i++) {
        if (at(&run.mask, i) != 0) {
            continue;
        }
        good++;
        double sum = 0, weights = 0, squares = 0;
        for (int64_t t = 0; t < nt; t++) {
            double sigma = at(&run.sigma, t * npix + i), w = 1 / (sigma * sigma);
            double r = at(&run.signal, t * npix + i) - model(&run, i, at(&run.delay, t));
            sum += w * r;
            squares += w * r * r;
            weights += w;
        }
        chi2 += squares - sum * sum / weights;
        double off = at(&run.off_error, i) / at(&run.off_mean, i);
        double shift = sum / weights;
        shift2 += shift * shift / (1 / weights + off * off);
    }
    /* Four standard deviations of a chi2 of so many degrees of freedom. */
    double freedom = (double)(good * (nt - 1));
    printf("chi2 %.5f of samples, %.4f of traces\n", chi2 / freedom, shift2 / (double)good);
    ck_near(chi2 / freedom, 1, 0, 4 * sqrt(2 / freedom));
    ck_near(shift2 / (double)good, 1, 0, 4 * sqrt(2 / (double)good));
    forget(&run);
}
END_TEST

/* D of the lattice from its bonds: sum over neighbours r of k n n' (1 - cos q r). */
static void matrix(const sxi_lattice *lattice, double h, double k, double d[3]) {
    memset(d, 0, 3 * sizeof *d);
    for (int x = -1; x <= 1; x++) {
        for (int y = -1; y <= 1; y++) {
            if (x == 0 && y == 0) {
                continue;
            }
            double spring = x == 0 || y == 0 ? lattice->k1 : lattice->k2;
            double factor = spring * (1 - cos(2 * PI * (h * x + k * y))) / (x * x + y * y);
            d[0] += factor * x * x;
            d[1] += factor * x * y;
            d[2] += factor * y * y;
        }
    }
}

START_TEST(branches_solve_the_dynamical_matrix) {
    sxi_lattice lattice = sxi_lattice_create(2);
    double highest = 0;
    for (int i = 0; i <= 40; i++) {
        for (int j = 0; j <= 40; j++) {
            double h = -1 + 0.05 * i, k = -1 + 0.05 * j, d[3];
            sxi_branch branch[SXI_BRANCHES];
            matrix(&lattice, h, k, d);
            sxi_lattice_branches(&lattice, h, k, branch);
            ck_assert(branch[0].omega <= branch[1].omega);
            for (int b = 0; b < SXI_BRANCHES; b++) {
                double w2 = branch[b].omega * branch[b].omega, *e = branch[b].e;
                /* Rounding of the springs, some 30 (rad/ps)^2 each. */
                ck_near(d[0] * e[0] + d[1] * e[1], w2 * e[0], 0, 1e-12);
                ck_near(d[1] * e[0] + d[2] * e[1], w2 * e[1], 0, 1e-12);
                ck_near(e[0] * e[0] + e[1] * e[1], 1, 0, 1e-15);
            }
            highest = fmax(highest, branch[1].omega);
        }
    }
    ck_near(highest, 2 * PI * 2, 1e-14, 0);
}
END_TEST

START_TEST(signal_beats_at_twice_the_softened_phonon) {
    sx_folder_empty();
    const sx_xani_simulate_options options = {.shape = {16, 16}, .delays = 2, .frequency_max = 1.5};
    run_file run;
    make(&options, "run.h5", 0, &run);
    sxi_lattice lattice = sxi_lattice_create(1.5);
    double soft = 1 - lattice.softening, rise = (1 / soft - 1) / 2;
    for (int64_t i = 0; i < 256; i++) {
        if (at(&run.mask, i) != 0) {
            continue;
        }
        double d[3], sum = 0;
        matrix(&lattice, at(&run.h, i), at(&run.k, i), d);
        double mean = 0.5 * soft * (d[0] + d[2]), split = soft * hypot(0.5 * (d[0] - d[2]), d[1]);
        ck_assert_int_eq((int)at(&run.modes, i), 2);
        for (int m = 0; m < 2; m++) {
            double nu = sqrt(m ? mean + split : mean - split) / (2 * PI);
            ck_near(at(&run.frequency, m * 256 + i), 2 * nu, 1e-11, 0); /* mean - split cancels */
            ck_assert(at(&run.amplitude, m * 256 + i) > 0);
            ck_assert(at(&run.decay, m * 256 + i) > 0);
            ck_assert(at(&run.phase, m * 256 + i) == PI);
            sum += at(&run.amplitude, m * 256 + i);
        }
        /* All starts at rest, and static scattering takes its share. */
        ck_near(at(&run.offset, i), sum, 1e-15, 0);
        ck_assert(sum < rise);
    }
    forget(&run);
}
END_TEST

START_TEST(masked_pixels_say_nothing) {
    sx_folder_empty();
    run_file run;
    make(NULL, "run.h5", 0, &run);
    int64_t npix = 64 * 64, masked = 0;
    for (int64_t i = 0; i < npix; i++) {
        bool mask = at(&run.mask, i) != 0;
        masked += mask;
        double q = hypot(at(&run.h, i) - 2, at(&run.k, i) - 1);
        ck_assert(mask || q >= 0.045);
        ck_assert(mask == (bool)isnan(at(&run.off_mean, i)));
        ck_assert(mask == (bool)isnan(at(&run.frequency, i)));
        ck_assert(!mask || at(&run.modes, i) == 0);
        for (int64_t t = 0; t < 120; t++) {
            ck_assert(mask == (bool)isnan(at(&run.signal, t * npix + i)));
            ck_assert(mask ? isnan(at(&run.sigma, t * npix + i))
                           : at(&run.sigma, t * npix + i) > 0);
        }
    }
    /* The beam stop covers 15 pixels of 0.02; of the others 2 in 1000 are dead. */
    ck_assert_int_ge(masked, 12);
    ck_assert_int_le(masked, 45);
    forget(&run);
}
END_TEST

START_TEST(delays_are_means_of_bins) {
    sx_folder_empty();
    const sx_xani_simulate_options options = {.shape = {1, 1},
                                              .delays = 400,
                                              .delay_step = 0.1,
                                              .delay_first = 5,
                                              .has_delay_first = true};
    run_file run;
    make(&options, "run.h5", 0, &run);
    double off = 0;
    for (int64_t t = 0; t < 400; t++) {
        double expected = 5 + 0.1 * (double)t;
        /* Six times the scatter of a mean of some 400 shots spread over the bin. */
        ck_near(at(&run.delay, t), expected, 0, 6 * 0.1 / sqrt(12.0 * 400));
        off += fabs(at(&run.delay, t) - expected);
        ck_assert(at(&run.count, t) > 380 && at(&run.count, t) < 620);
    }
    ck_assert(off > 0);
    ck_assert(at(&run.mask, 0) == 0);
    forget(&run);
}
END_TEST

/* So many delays and columns that a band of memory is one row. */
START_TEST(bands_join) {
    sx_folder_empty();
    const sx_xani_simulate_options options = {.shape = {2, 16384}, .delays = 70, .noiseless = true};
    run_file run;
    make(&options, "run.h5", 2, &run);
    int64_t npix = 2 * 16384;
    for (int64_t i = 0; i < npix; i += 1021) {
        for (int64_t t = 0; t < 70; t += 9) {
            if (at(&run.mask, i) == 0) {
                ck_near(at(&run.signal, t * npix + i), model(&run, i, at(&run.delay, t)), 0, 5e-9);
            }
        }
    }
    ck_assert(at(&run.k, 0) > at(&run.k, 16384));
    forget(&run);
}
END_TEST

/* netCDF and NeXus readers need a scale at every axis, and to be told where the errors are. */
START_TEST(axes_are_named) {
    sx_folder_empty();
    const sx_xani_simulate_options options = {.shape = {3, 5}, .delays = 4};
    ck_ok(sx_xani_simulate(&options, sx_folder("run.h5"), NULL));
    sx_hdf5 *file;
    sx_array x;
    char text[32];
    ck_ok(sx_hdf5_open(sx_folder("run.h5"), &file));
    ck_ok(sxi_h5_read(file, "/cube/x", NULL, &x));
    ck_assert_int_eq(x.dtype, SX_I64);
    ck_assert(sx_array_count(&x) == 5 && ((const int64_t *)x.data)[4] == 4);
    ck_ok(sxi_h5_attribute_text(file, "/cube/signal", "errors", text, sizeof text));
    ck_assert_str_eq(text, "sigma");
    ck_ok(sxi_h5_attribute_text(file, "/", "default", text, sizeof text));
    ck_assert_str_eq(text, "cube");
    sx_array_destroy(&x);
    sx_hdf5_close(&file);
}
END_TEST

static bool always(void *data) {
    (void)data;
    return true;
}

START_TEST(silly_requests_are_refused) {
    sx_folder_empty();
    const char *path = sx_folder("run.h5");
    const struct {
        sx_xani_simulate_options options;
        const char *words;
    } cases[] = {{{.shape = {-1, 4}}, "1 to 65536 pixels a side, not -1"},
                 {{.shape = {4, 70000}}, "not 70000"},
                 {{.delays = -3}, "not -3"},
                 {{.delay_step = -0.1}, "delay step is -0.1 ps"},
                 {{.delay_step = (double)NAN}, "delay step is nan ps"},
                 {{.has_delay_first = true, .delay_first = (double)INFINITY}, "first delay is inf"},
                 {{.photons = -5}, "-5 photons"},
                 {{.photons = 0.01}, "0.01 photons"},
                 {{.photons = 1e30}, "1e+30 photons"},
                 {{.frequency_max = -2}, "-2 THz"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_fails(sx_xani_simulate(&cases[i].options, path, NULL), SX_ERR_ARGUMENT, cases[i].words);
    }
    const sx_context hasty = {.cancel = always};
    ck_fails(sx_xani_simulate(NULL, path, &hasty), SX_ERR_CANCELLED, "cancelled");
    ck_fails(sx_xani_simulate(NULL, sx_folder("no/run.h5"), NULL), SX_ERR_IO, "no/run.h5");
    ck_assert_int_eq(sx_folder_count(), 0);
    sx_folder_write("run.h5", "old", 3);
    ck_fails(sx_xani_simulate(NULL, path, NULL), SX_ERR_EXISTS, "run.h5");
    ck_assert_int_eq(sx_folder_count(), 1);
}
END_TEST

static int warnings;

static void listen(void *data, sx_log_level level, const char *sentence) {
    (void)data;
    warnings += level == SX_LOG_WARNING && strstr(sentence, "wrong frequencies") != NULL;
}

START_TEST(aliases_are_told) {
    sx_folder_empty();
    const sx_context context = {.log = listen};
    const sx_xani_simulate_options options = {.shape = {2, 2}, .delays = 4, .delay_step = 0.2};
    warnings = 0;
    ck_ok(sx_xani_simulate(&options, sx_folder("run.h5"), &context));
    ck_assert_int_eq(warnings, 1);
}
END_TEST

SX_TEST_MAIN("simulate", noiseless_is_the_model_of_the_truth, threads_do_not_matter,
             noise_has_the_stated_size, branches_solve_the_dynamical_matrix,
             signal_beats_at_twice_the_softened_phonon, masked_pixels_say_nothing,
             delays_are_means_of_bins, bands_join, axes_are_named, silly_requests_are_refused,
             aliases_are_told)
