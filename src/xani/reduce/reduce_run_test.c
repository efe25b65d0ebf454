/* SPDX-License-Identifier: Apache-2.0
 * xani reduce on files as LCLS smalldata writes them, from shots whose truth is known: delays, labels,
 * cuts, signs, merging, and that fit reads what comes out. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <sextant/reduce.h>
#include <sextant/xani.h>

#include "base/rng.h"
#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"

enum { N = 3000, H = 12, W = 16, PIXELS = H * W, KEY = 5 };
static const double OFFSET = 300;

/* One shot, told by its number. */
static bool xray(int64_t k) { return sxi_rng_uniform(KEY, 1, (uint64_t)k) > 0.1; }
static bool laser(int64_t k) { return k % 3 != 2; }
static double flux(int64_t k) { return 0.7 + 0.6 * sxi_rng_uniform(KEY, 2, (uint64_t)k); }
static double nominal(int64_t k) { return -1 + 0.125 * (double)(k % 41); }
static double jitter(int64_t k) { return 0.25 * sxi_rng_normal(KEY, 3, (uint64_t)k); }
static double delay(int64_t k) { return nominal(k) + jitter(k); }

static double truth(int64_t p, double t) {
    return t < 0 ? 0 : 0.1 + 0.1 * cos(2 * 3.14159265358979 * (1 + 0.01 * (double)p) * t);
}

static double photons(int64_t k, int64_t p) {
    const double change = laser(k) ? truth(p, delay(k)) : 0;
    const double mean = xray(k) ? (20 + (double)p / 10) * flux(k) * (1 + change) : 0;
    return (double)sxi_rng_poisson(KEY, 4, (uint64_t)(k * PIXELS + p), mean);
}

/* What is changed in a file. */
typedef struct wish {
    int64_t first, count; /* shots; count 0: all */
    double tool_sign;     /* 0: 1 */
    bool swap, no_monitor, second_detector, segments, compressed;
    double phi, drift;
} wish;

static const wish PLAIN;

static void put(sxi_h5_writer *w, const char *name, sx_dtype dtype, const wish *a, int what) {
    sx_array column;
    ck_ok(sx_array_create(dtype, 1, &a->count, &column));
    for (int64_t i = 0; i < a->count; i++) {
        const int64_t k = a->first + i;
        const bool on = laser(k) != a->swap;
        const double sign = a->tool_sign == 0 ? 1 : a->tool_sign;
        const double values[] = {xray(k),
                                 on,
                                 OFFSET + (xray(k) ? 5000 * flux(k) : 0),
                                 nominal(k) * 1e-12,
                                 laser(k) || a->swap ? sign * jitter(k) : (double)NAN,
                                 laser(k) ? 0.1 : 0.001,
                                 9500,
                                 a->phi,
                                 k % 50 == 7 ? -99999 : OFFSET + 5000 * flux(k)};
        sx_array_set(&column, &i, values[what]);
    }
    ck_ok(sxi_h5_write(w, name, &column, "", ""));
    sx_array_destroy(&column);
}

static void put_frames(sxi_h5_writer *w, const char *name, const wish *a) {
    const int64_t flat[] = {a->count, H, W}, cut[] = {a->count, 3, H / 3, W};
    sx_array frames;
    ck_ok(sx_array_create(SX_U16, a->segments ? 4 : 3, a->segments ? cut : flat, &frames));
    for (int64_t i = 0; i < a->count; i++) {
        for (int64_t p = 0; p < PIXELS; p++) {
            const double drift = 1 + a->drift * (double)i;
            ((uint16_t *)frames.data)[i * PIXELS + p] =
                (uint16_t)(photons(a->first + i, p) * drift);
        }
    }
    ck_ok(sxi_h5_write(w, name, &frames, "", ""));
    sx_array_destroy(&frames);
}

static const char *smalldata(const char *name, const wish *wanted) {
    wish a = *wanted;
    sxi_h5_writer *w = NULL;
    a.count = a.count ? a.count : N;
    ck_ok(sxi_h5_create(sx_folder(name), true, &w));
    put(w, "/lightStatus/xray", SX_I8, &a, 0);
    put(w, "/lightStatus/laser", SX_I8, &a, 1);
    put(w, "/scan/lxt", SX_F64, &a, 3);
    put(w, "/tt/ttCorr", SX_F64, &a, 4);
    put(w, "/tt/AMPL", SX_F64, &a, 5);
    put(w, "/ebeam/photon_energy", SX_F64, &a, 6);
    put(w, "/epics/phi", SX_F64, &a, 7);
    if (!a.no_monitor) {
        put(w, "/ipm2/sum", SX_F64, &a, 2);
        put(w, "/ipm9/sum", SX_I32, &a, 8);
    }
    put_frames(w, "/jungfrau1M/ROI_0_area", &a);
    if (a.second_detector) {
        put_frames(w, "/epix/ROI_0_area", &a);
    }
    ck_ok(sxi_h5_commit(&w));
    return sx_folder(name);
}

/* --- helpers --- */

static char said[2000];

static void log_warnings(void *data, sx_log_level level, const char *sentence) {
    (void)data;
    if (level == SX_LOG_WARNING) {
        snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", sentence);
    }
}

static sx_xani_reduce_options usual(void) {
    return (sx_xani_reduce_options){.bin_width = 0.1,
                                    .delay_range = {true, -0.8, 3.7},
                                    .cube = {.i0_offset = OFFSET},
                                    .overwrite = true};
}

static sx_status reduce(int runs, const char *const *paths, const sx_xani_reduce_options *o,
                        const char *output, int threads, sx_xani_reduce_summary *summary) {
    const sx_context context = {.log = log_warnings, .threads = threads};
    said[0] = '\0';
    return sx_xani_reduce(runs, paths, o, sx_folder(output), &context, summary);
}

static sx_array read_cube(const char *file, const char *name) {
    sx_hdf5 *h5 = NULL;
    sx_array array;
    ck_ok(sx_hdf5_open(sx_folder(file), &h5));
    ck_ok(sxi_h5_read(h5, name, NULL, &array));
    sx_hdf5_close(&h5);
    return array;
}

static void same(const char *a, const char *b) {
    static const char *const names[] = {
        "signal",    "sigma",     "delay",   "count",           "mask",     "off_mean",
        "off_error", "bin_edges", "sums/on", "sums/on_squares", "sums/off", "sums/off_times_i0",
        "sums/on_i0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        snprintf(name, sizeof name, "/cube/%s", names[i]);
        sx_array x = read_cube(a, name), y = read_cube(b, name);
        ck_assert_int_eq(sx_array_count(&x), sx_array_count(&y));
        const size_t bytes = (size_t)sx_array_count(&x) * sx_dtype_size(x.dtype);
        ck_assert_msg(memcmp(x.data, y.data, bytes) == 0, "%s differs", name);
        sx_array_destroy(&x);
        sx_array_destroy(&y);
    }
}

/* --- the tests --- */

/* Pulls against the mean truth of the shots of each bin; delays against the true ones. */
START_TEST(truth_comes_back) {
    const char *path = smalldata("run.h5", &PLAIN);
    sx_xani_reduce_options o = usual();
    sx_xani_reduce_summary s;
    ck_ok(reduce(1, &path, &o, "cube.h5", 2, &s));
    ck_assert_str_eq(said, "");
    sx_array signal = read_cube("cube.h5", "/cube/signal");
    sx_array sigma = read_cube("cube.h5", "/cube/sigma");
    sx_array mean = read_cube("cube.h5", "/cube/delay");
    sx_array count = read_cube("cube.h5", "/cube/count");
    sx_array off = read_cube("cube.h5", "/cube/off_mean");
    sx_array error = read_cube("cube.h5", "/cube/off_error");
    ck_assert_int_eq(signal.shape[0], 45);
    double sum = 0, squares = 0;
    for (int64_t b = 0; b < 45; b++) {
        double beam = 0, t = 0, seen[PIXELS] = {0};
        int64_t n = 0;
        for (int64_t k = 0; k < N; k++) {
            const double edge = -0.8 + 0.1 * (double)b;
            if (laser(k) && xray(k) && delay(k) >= edge && delay(k) < edge + 0.1) {
                n++;
                t += delay(k);
                beam += flux(k);
                for (int64_t p = 0; p < PIXELS; p++) {
                    seen[p] += flux(k) * truth(p, delay(k));
                }
            }
        }
        ck_assert_int_eq(((int64_t *)count.data)[b], n);
        ck_near(((double *)mean.data)[b], t / (double)n, 0, 1e-6); /* asked for: 1 fs */
        for (int64_t p = 0; p < PIXELS; p++) {
            const double relative =
                (double)((float *)error.data)[p] / (double)((float *)off.data)[p];
            const double pull = ((double)((float *)signal.data)[b * PIXELS + p] - seen[p] / beam) /
                                hypot((double)((float *)sigma.data)[b * PIXELS + p], relative);
            sum += pull;
            squares += pull * pull;
        }
    }
    const double width = sqrt(squares / (45 * PIXELS)), bias = sum / (45 * PIXELS);
    printf("pulls of a run: width %.3f, bias %.3f\n", width, bias);
    ck_near(width, 1, 0, 0.03); /* 8640 pulls, their own error is 0.01 */
    ck_near(bias, 0, 0, 0.1);
    int64_t on = 0, laser_off = 0;
    for (int64_t k = 0; k < N; k++) {
        on += xray(k) && laser(k) && delay(k) >= -0.8 && delay(k) < 3.7;
        laser_off += xray(k) && !laser(k);
    }
    ck_assert_int_eq(s.on, on);
    ck_assert_int_eq(s.off, laser_off); /* though their time tool is NaN */
    ck_assert(s.sharpness > 6 && s.on_change > 6 && s.off_change < 6);
    ck_near(s.tool_rms, 0.25, 0.1, 0);
    ck_near(s.tool_slope, 0, 0, 0.05); /* the first and last bin cut some of the jitter off */
    sx_array_destroy(&signal);
    sx_array_destroy(&sigma);
    sx_array_destroy(&mean);
    sx_array_destroy(&count);
    sx_array_destroy(&off);
    sx_array_destroy(&error);
}
END_TEST

START_TEST(signs_and_labels) {
    const wish flipped = {.tool_sign = -1}, swapped = {.swap = true};
    const char *path = smalldata("flipped.h5", &flipped);
    sx_xani_reduce_options o = usual();
    sx_xani_reduce_summary s;
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &s));
    ck_assert_int_eq(s.warnings, 1);
    ck_assert_ptr_nonnull(strstr(said, "try --time-tool-sign minus"));
    o.time_tool_sign = -1;
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &s));
    ck_assert_str_eq(said, "");
    path = smalldata("swapped.h5", &swapped);
    o = usual();
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &s));
    ck_assert_ptr_nonnull(strstr(said, "look swapped"));
}
END_TEST

START_TEST(cuts) {
    const char *path = smalldata("run.h5", &PLAIN);
    sx_xani_reduce_options o = usual();
    sx_xani_reduce_summary all, s;
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &all));
    o.amplitude_window = (sx_reduce_window){true, 0.05, 1};
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &s)); /* laser-off shots have 0.001 */
    ck_assert_int_eq(s.off, all.off);
    ck_assert_int_eq(s.on, all.on);
    o.amplitude_window = (sx_reduce_window){true, 0.2, 1};
    ck_fails(reduce(1, &path, &o, "no.h5", 1, &s), SX_ERR_MISSING, "0 are left with laser on");
    o = usual();
    o.i0_window = (sx_reduce_window){true, OFFSET + 5000, OFFSET + 5500};
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &s));
    ck_assert_int_gt(s.reason[SX_REDUCE_I0], 0);
    for (int64_t k = 0; k < N; k++) {
        s.off -= xray(k) && !laser(k) && flux(k) >= 1 && flux(k) <= 1.1;
    }
    ck_assert_int_eq(s.off, 0);
    /* -99999 of another monitor is no value. */
    o = usual();
    o.i0 = "ipm9/sum";
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &s));
    int64_t none = 0;
    for (int64_t k = 7; k < N; k += 50) {
        none += xray(k);
    }
    ck_assert_int_eq(s.reason[SX_REDUCE_NO_I0], none);
    o = usual();
    o.time_tool_window = (sx_reduce_window){true, -0.1, 0.1};
    o.no_time_tool = true;
    ck_fails(reduce(1, &path, &o, "no.h5", 1, &s), SX_ERR_MISSING, "--time-tool-range");
}
END_TEST

START_TEST(files_and_threads) {
    const wish first = {.count = 1111, .phi = 10},
               second = {.first = 1111, .count = N - 1111, .phi = 10}, whole = {.phi = 10};
    const sx_reduce_angle phi = {.name = "phi", .field = "epics/phi"};
    sx_xani_reduce_options o = usual();
    sx_xani_reduce_summary s;
    sx_reducer_counts counts;
    o.angles = &phi;
    o.angle_count = 1;
    char keep[3][256]; /* sx_folder forgets */
    snprintf(keep[0], sizeof keep[0], "%s", smalldata("one.h5", &whole));
    snprintf(keep[1], sizeof keep[1], "%s", smalldata("first.h5", &first));
    snprintf(keep[2], sizeof keep[2], "%s", smalldata("second.h5", &second));
    const char *one = keep[0], *two[] = {keep[1], keep[2]};
    ck_ok(reduce(1, &one, &o, "whole.h5", 1, &s));
    ck_ok(reduce(1, &one, &o, "threads.h5", 3, &s));
    same("whole.h5", "threads.h5");
    ck_ok(reduce(2, two, &o, "two.h5", 2, &s));
    same("whole.h5", "two.h5");
    ck_ok(reduce(1, &two[0], &o, "a.h5", 1, &s));
    ck_ok(reduce(1, &two[1], &o, "b.h5", 1, &s));
    const char *cubes[] = {sx_folder("b.h5"), sx_folder("a.h5")};
    ck_ok(sx_xani_merge(2, cubes, sx_folder("merged.h5"), true, NULL, &counts));
    same("whole.h5", "merged.h5");
    sx_array angle = read_cube("merged.h5", "/cube/phi");
    sx_array energy = read_cube("merged.h5", "/cube/photon_energy");
    ck_near(*(double *)angle.data, 10, 0, 1e-12);
    ck_near(*(double *)energy.data, 9500, 0, 1e-9);
    sx_array_destroy(&angle);
    sx_array_destroy(&energy);
    /* Another angle is another cube. */
    const wish turned = {.count = 1111, .phi = 20};
    const char *other = smalldata("turned.h5", &turned);
    ck_ok(reduce(1, &other, &o, "c.h5", 1, &s));
    const char *unlike[] = {sx_folder("b.h5"), sx_folder("c.h5")};
    ck_fails(sx_xani_merge(2, unlike, sx_folder("no.h5"), true, NULL, NULL), SX_ERR_SHAPE,
             "different settings");
    /* Segments are kept. */
    const wish cut = {.segments = true, .phi = 10};
    one = smalldata("cut.h5", &cut);
    ck_ok(reduce(1, &one, &o, "cut-cube.h5", 1, &s));
    sx_array signal = read_cube("cut-cube.h5", "/cube/signal");
    ck_assert_int_eq(signal.rank, 4);
    sx_array_destroy(&signal);
}
END_TEST

/* A gain that drifts by half over the run: pooled laser-off shots leave slow bins wrong, near ones do not. Here
 * delays come again and again, so that the drift shows in sigma alone. */
START_TEST(near_off_shots) {
    const wish drifting = {.drift = 0.5 / N};
    const char *path = smalldata("drift.h5", &drifting);
    sx_xani_reduce_options o = usual();
    sx_xani_reduce_summary s;
    o.off = SX_REDUCE_OFF_BINNED;
    ck_ok(reduce(1, &path, &o, "near.h5", 1, &s));
    sx_array sums = read_cube("near.h5", "/cube/sums/off");
    ck_assert_int_eq(sums.shape[0], 45);
    sx_array_destroy(&sums);
    int64_t off = 0;
    for (int64_t k = 0; k < N; k++) {
        off += xray(k) && !laser(k);
    }
    ck_assert_int_eq(s.off, off);
    sx_array signal = read_cube("near.h5", "/cube/signal");
    double mean = 0;
    for (int64_t p = 0; p < PIXELS; p++) {
        mean += (double)((float *)signal.data)[2 * PIXELS + p] / PIXELS;
    }
    ck_near(mean, 0, 0,
            0.03); /* before time zero; some 40 shots of 30 photons in 192 pixels, drift */
    sx_array_destroy(&signal);
}
END_TEST

START_TEST(fit_reads_it) {
    const char *path = smalldata("run.h5", &PLAIN);
    sx_xani_reduce_options o = usual();
    sx_xani_reduce_summary s;
    ck_ok(reduce(1, &path, &o, "cube.h5", 1, &s));
    const char *cube = sx_folder("cube.h5");
    const sx_xani_input input = {.cube = cube};
    const sx_xani_fit_options fit = {.dcos = {.fixed_modes = true, .modes = 1}};
    sx_xani_fit_summary summary;
    ck_ok(sx_xani_fit(&input, &fit, sx_folder("fit.h5"), NULL, &summary));
    ck_assert(summary.has_sigma);
    sx_array f = read_cube("fit.h5", "/fit/frequency");
    double worst = 0;
    int64_t near = 0;
    for (int64_t p = 0; p < PIXELS; p++) {
        const double miss = fabs(((double *)f.data)[p] - (1 + 0.01 * (double)p));
        near += miss < 0.05;
        worst = miss > worst ? miss : worst;
    }
    printf("%lld of %d pixels within 0.05 THz\n", (long long)near, PIXELS);
    ck_assert_int_gt(near, PIXELS * 9 / 10);
    sx_array_destroy(&f);
}
END_TEST

START_TEST(refused) {
    const wish blind = {.no_monitor = true, .count = 30},
               two = {.second_detector = true, .count = 30};
    const char *path = smalldata("blind.h5", &blind);
    sx_xani_reduce_options o = usual();
    sx_xani_reduce_summary s;
    ck_fails(reduce(1, &path, &o, "no.h5", 1, &s), SX_ERR_MISSING, "name the dataset with --i0");
    path = smalldata("pair.h5", &two);
    ck_fails(reduce(1, &path, &o, "no.h5", 1, &s), SX_ERR_ARGUMENT, "choose one with --detector");
    o.detector = "epix/ROI_0_area";
    o.bin_width = 1e-9;
    o.delay_range.given = false;
    ck_fails(reduce(1, &path, &o, "no.h5", 1, &s), SX_ERR_RANGE, "--bin-width");
    o = usual();
    o.detector = "epix/ROI_0_area";
    o.delay = "epics/phi";
    ck_fails(reduce(1, &path, &o, "no.h5", 1, &s), SX_ERR_UNIT, "--delay-scale");
    o.delay = NULL;
    o.overwrite = false;
    ck_fails(sx_xani_reduce(1, &path, &o, path, NULL, &s), SX_ERR_ARGUMENT, "is the input");
    ck_fails(reduce(1, &path, &o, "blind.h5", 1, &s), SX_ERR_EXISTS, "blind.h5");
    ck_fails(sx_xani_merge(1, &path, sx_folder("no.h5"), false, NULL, NULL), SX_ERR_MISSING,
             "/cube/sums");
    ck_assert_int_ne(access(sx_folder("no.h5"), F_OK), 0);
}
END_TEST

SX_TEST_MAIN("reduce_run", truth_comes_back, signs_and_labels, cuts, files_and_threads,
             near_off_shots, fit_reads_it, refused)
