/* SPDX-License-Identifier: Apache-2.0
 * The reducer: known answers, exact merging, overflow, and errors that mean what they say. */
#include <math.h>
#include <string.h>

#include <sextant/reduce.h>

#include "base/rng.h"
#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"
#include "xani/reduce/reducer.h"

static const double EDGES[] = {-0.5, 0, 0.25, 1};

static sx_reducer *create(int64_t height, int64_t width, int64_t bins, const double *edges) {
    const sx_reducer_options options = {
        .rank = 2, .shape = {height, width}, .bins = bins, .edges = edges};
    sx_reducer *r = NULL;
    ck_ok(sx_reducer_create(&options, &r));
    return r;
}

static void add(sx_reducer *r, double a, double b, double i0, double delay, bool on) {
    double values[] = {a, b};
    const int64_t shape[] = {1, 2};
    sx_array frame;
    ck_ok(sx_array_view(SX_F64, 2, shape, values, &frame));
    ck_ok(sx_reducer_add(r, &frame, i0, delay, on));
}

static double at(const sx_array *a, int64_t i) {
    return a->dtype == SX_F32 ? (double)((const float *)a->data)[i] : ((const double *)a->data)[i];
}

/* Worked out by hand. Off: x 10, 14 of I0 1, 3; on in bin 1: x 12, 18 of I0 1, 2. */
START_TEST(by_hand) {
    sx_reducer *r = create(1, 2, 3, EDGES);
    sx_cube cube;
    add(r, 10, 1, 1, 9, false);
    add(r, 14, 3, 3, 9, false);
    add(r, 12, 2, 1, 0, true);
    add(r, 18, 2, 2, 0.2, true);
    add(r, 1, 1, 1, 1, true);             /* the last edge is outside */
    add(r, 1, 1, (double)NAN, 0.1, true); /* nobody knows its I0 */
    ck_ok(sx_reducer_cube(r, NULL, &cube));
    /* R_on = 30 / 3 = 10, R_off = 24 / 4 = 6 */
    ck_near(at(&cube.signal, 2), 10.0 / 6 - 1, 1e-6, 0);
    ck_near(at(&cube.signal, 3), (4.0 / 3) / 1 - 1, 1e-6, 0);
    /* residuals 2, -2 of on: variance of R is 2 * 8 / 9, over 36 */
    ck_near(at(&cube.sigma, 2), sqrt(2 * 8.0 / 9 / 36), 1e-6, 0);
    ck_near(at(&cube.off_mean, 0), 12, 1e-6, 0);
    /* residuals 4, -4 of off: 2 * 32 / 16, times mean I0 2 */
    ck_near(at(&cube.off_error, 0), 2 * sqrt(2 * 32.0 / 16), 1e-6, 0);
    ck_near(at(&cube.delay, 1), 0.1, 0, 1e-7); /* rounded to 6e-8 ps */
    ck_near(at(&cube.delay, 0), -0.25, 0, 0);  /* no shot: middle */
    ck_assert(isnan(at(&cube.signal, 0)) && isnan(at(&cube.sigma, 5)));
    ck_assert_int_eq(((int64_t *)cube.count.data)[1], 2);
    const sx_reducer_counts counts = sx_reducer_count(r);
    ck_assert_int_eq(counts.on, 2);
    ck_assert_int_eq(counts.off, 2);
    ck_assert_int_eq(counts.outside, 1);
    ck_assert_int_eq(counts.not_known, 1);
    sx_cube_destroy(&cube);
    sx_reducer_destroy(&r);
}
END_TEST

/* x = 5 (I0 - 2) off, 6 (I0 - 2) on: only with the offset the ratio is 6 / 5 and the noise is none. */
START_TEST(offset_of_i0) {
    sx_reducer *r = create(1, 2, 3, EDGES);
    sx_cube cube;
    for (int k = 0; k < 40; k++) {
        const double i0 = 3 + 0.125 * k;
        add(r, 5 * (i0 - 2), i0 - 2, i0, 0, false);
        if (k < 7) {
            add(r, 6 * (i0 - 2), i0 - 2, i0, 0.1, true);
        }
    }
    ck_ok(sx_reducer_cube(r, &(sx_cube_options){.i0_offset = 2}, &cube));
    ck_near(at(&cube.signal, 2), 0.2, 1e-6, 0);
    sx_cube_destroy(&cube);
    ck_ok(sx_reducer_cube(r, &(sx_cube_options){.fit_i0_offset = true}, &cube));
    ck_near(cube.i0_offset, 2, 1e-9, 0);
    ck_near(at(&cube.signal, 2), 0.2, 1e-6, 0);
    sx_cube_destroy(&cube);
    ck_ok(sx_reducer_cube(r, NULL, &cube));
    ck_assert(fabs(at(&cube.signal, 2) - 0.2) > 0.05);
    sx_cube_destroy(&cube);
    sx_reducer_destroy(&r);
}
END_TEST

/* A pixel without value in a shot is as if it alone had not seen that shot. */
START_TEST(missing_values) {
    sx_reducer *r = create(1, 2, 3, EDGES), *without = create(1, 2, 3, EDGES);
    sx_cube cube, other;
    for (int k = 0; k < 6; k++) {
        const double i0 = 1 + 0.3 * k, x = 3 * i0 + (k % 3);
        const bool lost = k == 2 || k == 5;
        for (int on = 0; on < 2; on++) {
            add(r, lost ? (double)NAN : x, x, i0, 0.1, on);
            if (!lost) {
                add(without, x, x, i0, 0.1, on);
            }
        }
    }
    ck_ok(sx_reducer_cube(r, &(sx_cube_options){.i0_offset = 0.5}, &cube));
    ck_ok(sx_reducer_cube(without, &(sx_cube_options){.i0_offset = 0.5}, &other));
    ck_assert(at(&cube.signal, 2) == at(&other.signal, 2));
    ck_assert(at(&cube.sigma, 2) == at(&other.sigma, 2));
    ck_assert(at(&cube.off_mean, 0) == at(&other.off_mean, 0));
    ck_assert(at(&cube.off_mean, 1) != at(&other.off_mean, 1));
    ck_assert_int_eq(sx_reducer_count(r).missing, 4);
    sx_cube_destroy(&cube);
    sx_cube_destroy(&other);
    sx_reducer_destroy(&r);
    sx_reducer_destroy(&without);
}
END_TEST

/* Off shots of their own for each bin follow a drift that on shots share. */
START_TEST(binned_off) {
    const int64_t shape[] = {1, 2};
    sx_reducer_options options = {.rank = 2,
                                  .shape = {shape[0], shape[1]},
                                  .bins = 3,
                                  .edges = EDGES,
                                  .off = SX_REDUCE_OFF_BINNED};
    sx_reducer *r = NULL;
    sx_cube cube;
    ck_ok(sx_reducer_create(&options, &r));
    for (int b = 0; b < 3; b++) {
        const double drift = 1 + b;
        for (int k = 0; k < 3; k++) {
            add(r, 10 * drift + k, 10, 1, EDGES[b] + 0.01, false);
            add(r, 11 * (10 * drift + k) / 10, 10, 1, EDGES[b] + 0.01, true);
        }
    }
    ck_ok(sx_reducer_cube(r, &(sx_cube_options){.sigma = SX_REDUCE_SIGMA_BIN}, &cube));
    for (int b = 0; b < 3; b++) {
        const double mean = 10.0 * (1 + b) + 1; /* variance of a shot is 1, of a mean 1 / 3 */
        ck_near(at(&cube.signal, 2 * (int64_t)b), 0.1, 1e-5, 0);
        ck_near(at(&cube.sigma, 2 * (int64_t)b), sqrt(2 * 1.21 / 3) / mean, 1e-3, 0);
    }
    sx_cube_destroy(&cube);
    sx_reducer_destroy(&r);
}
END_TEST

/* --- exactness --- */

enum { H = 70, W = 67, SHOTS = 48, BINS = 3 };

static void make_shots(float *frames, sx_shot *shots) {
    for (int64_t k = 0; k < SHOTS; k++) {
        shots[k] = (sx_shot){.i0 = 1000 * (1 + sxi_rng_uniform(7, 1, (uint64_t)k)),
                             .delay_ps = 1.7 * sxi_rng_uniform(7, 2, (uint64_t)k) - 0.6,
                             .on = k % 3 != 0};
        for (int64_t p = 0; p < (int64_t)H * W; p++) {
            const uint64_t number = (uint64_t)(k * H * W + p);
            frames[k * H * W + p] = (float)(30 * sxi_rng_normal(7, 3, number));
        }
        frames[k * H * W + 5 * k] = k % 7 ? 1.0f : NAN;
    }
}

static sx_reducer *reduce(const float *frames, const sx_shot *shots, const int *order, int count,
                          int piece, int threads) {
    const sx_context context = {.threads = threads};
    uint8_t mask[H * W] = {0};
    mask[1234] = 1;
    sx_reducer_options options = {
        .rank = 2, .shape = {H, W}, .bins = BINS, .edges = EDGES, .mask = mask};
    sx_reducer *r = NULL;
    float *some = malloc(sizeof *some * SHOTS * H * W);
    sx_shot said[SHOTS];
    ck_ok(sx_reducer_create(&options, &r));
    for (int first = 0; first < count; first += piece) {
        const int n = count - first < piece ? count - first : piece;
        const int64_t shape[] = {n, H, W};
        sx_array array;
        for (int k = 0; k < n; k++) {
            const int from = order ? order[first + k] : first + k;
            memcpy(some + (size_t)k * H * W, frames + (size_t)from * H * W, sizeof *some * H * W);
            some[(size_t)k * H * W + 1234] = k % 2 ? NAN : 1e30f; /* masked: may be anything */
            said[k] = shots[from];
        }
        ck_ok(sx_array_view(SX_F32, 3, shape, some, &array));
        ck_ok(sx_reducer_add_many(r, &array, said, &context));
    }
    free(some);
    return r;
}

/* Every byte of the two cubes but their provenance. */
static void same_cube(const sx_reducer *a, const sx_reducer *b) {
    static const char *const names[] = {"signal",
                                        "sigma",
                                        "delay",
                                        "count",
                                        "off_mean",
                                        "off_error",
                                        "mask",
                                        "sums/on",
                                        "sums/on_squares",
                                        "sums/on_times_i0",
                                        "sums/off",
                                        "sums/off_squares",
                                        "sums/on_i0",
                                        "sums/off_i0",
                                        "sums/off_times_i0",
                                        "sums/on_delay",
                                        "sums/on_lost_i0"};
    sx_hdf5 *file[2] = {NULL};
    ck_ok(sx_reducer_save(a, NULL, sx_folder("a.h5"), true, NULL));
    ck_ok(sx_reducer_save(b, NULL, sx_folder("b.h5"), true, NULL));
    ck_ok(sx_hdf5_open(sx_folder("a.h5"), &file[0]));
    ck_ok(sx_hdf5_open(sx_folder("b.h5"), &file[1]));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        sx_array x, y;
        snprintf(name, sizeof name, "/cube/%s", names[i]);
        ck_ok(sxi_h5_read(file[0], name, NULL, &x));
        ck_ok(sxi_h5_read(file[1], name, NULL, &y));
        ck_assert_int_eq(sx_array_count(&x), sx_array_count(&y));
        ck_assert_msg(memcmp(x.data, y.data, (size_t)sx_array_count(&x) * sx_dtype_size(x.dtype)) ==
                          0,
                      "%s differs", name);
        sx_array_destroy(&x);
        sx_array_destroy(&y);
    }
    sx_hdf5_close(&file[0]);
    sx_hdf5_close(&file[1]);
}

START_TEST(halves_equal_the_whole) {
    float *frames = malloc(sizeof *frames * SHOTS * H * W);
    sx_shot shots[SHOTS];
    int backwards[SHOTS];
    make_shots(frames, shots);
    for (int k = 0; k < SHOTS; k++) {
        backwards[k] = SHOTS - 1 - k;
    }
    sx_reducer *whole = reduce(frames, shots, NULL, SHOTS, SHOTS, 1);
    sx_reducer *other = reduce(frames, shots, backwards, SHOTS, 5, 3);
    same_cube(whole, other);
    sx_reducer *first = reduce(frames, shots, backwards, SHOTS / 3, 1, 1);
    sx_reducer *second = reduce(frames, shots, backwards + SHOTS / 3, SHOTS - SHOTS / 3, 7, 2);
    ck_ok(sx_reducer_merge(first, second));
    same_cube(whole, first);
    /* The same through files. */
    sx_reducer *third = reduce(frames, shots, backwards, SHOTS / 3, 4, 1), *loaded = NULL;
    ck_ok(sx_reducer_save(second, NULL, sx_folder("second.h5"), true, NULL));
    ck_ok(sx_reducer_load(sx_folder("second.h5"), NULL, &loaded));
    ck_ok(sx_reducer_merge(loaded, third));
    same_cube(whole, loaded);
    ck_assert_int_eq(sx_reducer_count(loaded).missing, sx_reducer_count(whole).missing);
    ck_assert_int_gt(sx_reducer_count(whole).missing, 0);
    sx_reducer_destroy(&whole);
    sx_reducer_destroy(&other);
    sx_reducer_destroy(&first);
    sx_reducer_destroy(&second);
    sx_reducer_destroy(&third);
    sx_reducer_destroy(&loaded);
    free(frames);
}
END_TEST

/* Frames of any type give the same sums. */
START_TEST(types) {
    static const sx_dtype dtypes[] = {SX_U16, SX_F32, SX_F64, SX_I32};
    const int64_t shape[] = {1, 2}, zero[] = {0, 0}, one[] = {0, 1};
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++) {
        sx_reducer *r = create(1, 2, 3, EDGES);
        sx_cube cube;
        sx_array frame;
        ck_ok(sx_array_create(dtypes[t], 2, shape, &frame));
        sx_array_set(&frame, zero, 60000);
        sx_array_set(&frame, one, 3);
        ck_ok(sx_reducer_add(r, &frame, 2, 0, false));
        sx_array_set(&frame, zero, 45000);
        ck_ok(sx_reducer_add(r, &frame, 2, 0.1, true));
        ck_ok(sx_reducer_cube(r, NULL, &cube));
        ck_near(at(&cube.signal, 2), -0.25, 1e-7, 0);
        sx_cube_destroy(&cube);
        sx_array_destroy(&frame);
        sx_reducer_destroy(&r);
    }
}
END_TEST

/* Counts are added in groups, other types one by one: the same bits, whatever the scales, for frames of
 * several tiles, a group longer than one, and masked pixels that hold anything. */
START_TEST(groups) {
    enum { PIXELS = 5000, MANY = 60 };
    static uint16_t counts[MANY][PIXELS];
    static double reals[MANY][PIXELS];
    static uint8_t mask[PIXELS];
    static const double scales[] = {1, 0x1p-4, 0.25, 64, 128, 0x1p20};
    static sx_shot shots[MANY];
    const int64_t shape[] = {MANY, PIXELS};
    for (int k = 0; k < MANY; k++) {
        shots[k] = (sx_shot){.i0 = 3000 * sxi_rng_uniform(5, 1, (uint64_t)k),
                             .delay_ps = -0.5 + 1.5 * sxi_rng_uniform(5, 2, (uint64_t)k),
                             .on = k % 3 > 0};
        for (int p = 0; p < PIXELS; p++) {
            mask[p] = p % 7 == 0;
            counts[k][p] = (uint16_t)(sxi_rng_uniform(5, 3, (uint64_t)(k * PIXELS + p)) *
                                      (mask[p] ? 65535 : 900));
            reals[k][p] = counts[k][p];
        }
    }
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        sx_reducer_options options = {.rank = 1,
                                      .shape = {PIXELS},
                                      .bins = 3,
                                      .edges = EDGES,
                                      .mask = mask,
                                      .scale = scales[i]};
        sx_reducer *one = NULL, *other = NULL;
        sx_array array;
        ck_ok(sx_reducer_create(&options, &one));
        ck_ok(sx_reducer_create(&options, &other));
        ck_ok(sx_array_view(SX_U16, 2, shape, counts, &array));
        ck_ok(sx_reducer_add_many(one, &array, shots, NULL));
        ck_ok(sx_array_view(SX_F64, 2, shape, reals, &array));
        ck_ok(sx_reducer_add_many(other, &array, shots, NULL));
        for (int64_t s = 0; s < one->slots; s++) {
            for (int k = 0; k < SXI_SUMS; k++) {
                ck_assert_msg(memcmp(one->slot[s].sum[k], other->slot[s].sum[k],
                                     PIXELS * sizeof(int64_t)) == 0,
                              "scale %g, slot %d, sum %d", scales[i], (int)s, k);
            }
        }
        sx_reducer_destroy(&one);
        sx_reducer_destroy(&other);
    }
}
END_TEST

/* --- limits --- */

/* 2^17 squared is 2^46 quanta: the sums are full after 2^16 shots, and say so before they turn. */
START_TEST(overflow) {
    enum { N = 4096 };
    const double edges[] = {0, 1};
    const sx_reducer_options options = {.rank = 1, .shape = {1}, .bins = 1, .edges = edges};
    static double frames[N];
    static sx_shot shots[N];
    const int64_t shape[] = {N, 1};
    sx_reducer *r = NULL, *other = NULL;
    sx_array array;
    sx_status status = SX_OK;
    ck_ok(sx_reducer_create(&options, &r));
    ck_ok(sx_reducer_create(&options, &other));
    for (int k = 0; k < N; k++) {
        frames[k] = 0x1p17;
        shots[k] = (sx_shot){.i0 = 1, .on = true};
    }
    ck_ok(sx_array_view(SX_F64, 2, shape, frames, &array));
    for (int call = 0; call < 9; call++) {
        ck_ok(sx_reducer_add_many(other, &array, shots, NULL));
    }
    int calls = 0;
    for (; status == SX_OK && calls < 40; calls++) {
        status = sx_reducer_add_many(r, &array, shots, NULL);
    }
    ck_assert_int_eq(status, SX_ERR_RANGE);
    ck_assert_ptr_nonnull(strstr(sx_error_message(), "full"));
    ck_assert_int_eq(calls, 17);
    ck_assert_int_eq(sx_reducer_count(r).on, 16 * N); /* nothing of the last call */
    ck_fails(sx_reducer_merge(r, other), SX_ERR_RANGE, "would overflow");
    ck_assert_int_eq(sx_reducer_count(r).on, 16 * N);
    frames[0] = 1e9;
    ck_fails(sx_reducer_add_many(other, &array, shots, NULL), SX_ERR_RANGE, "too large");
    sx_reducer_destroy(&r);
    sx_reducer_destroy(&other);
}
END_TEST

START_TEST(refusals) {
    const double worse[] = {0, 1, 1};
    const sx_reducer_options bad = {.rank = 1, .shape = {3}, .bins = 2, .edges = worse};
    const double others[] = {-0.5, 0, 0.25, 2};
    sx_reducer *r = NULL, *s = NULL;
    sx_cube cube;
    ck_fails(sx_reducer_create(&bad, &r), SX_ERR_ARGUMENT, "must increase: number 2");
    ck_assert_ptr_null(r);
    r = create(1, 2, 3, EDGES);
    ck_fails(sx_reducer_cube(r, NULL, &cube), SX_ERR_MISSING, "no laser-off shot");
    s = create(1, 2, 3, others);
    ck_fails(sx_reducer_merge(r, s), SX_ERR_SHAPE, "edge 3 of the delay bins");
    sx_reducer_destroy(&s);
    s = create(2, 1, 3, EDGES);
    ck_fails(sx_reducer_merge(r, s), SX_ERR_SHAPE, "the frames differ");
    add(r, 4, 4, 1, 0, false);
    add(r, 4, 4, 1, 0, false);
    ck_fails(sx_reducer_cube(r, &(sx_cube_options){.fit_i0_offset = true}, &cube), SX_ERR_NUMERIC,
             "cannot be found");
    sx_reducer_destroy(&s);
    sx_reducer_destroy(&r);
}
END_TEST

/* --- calibration of sigma --- */

/* Photons of a known rate, I0 that fluctuates and has an offset, every tenth shot dropped: without I0, or with
 * that of no beam. Laser-on shots are brighter, so that a wrong offset does not cancel, and the change has one
 * sign. Of the off image the noise is common to all bins, so it is made small here. */
static double change(double bin, int64_t p) { return 0.04 + 0.02 * sin(bin + (double)p); }

static void pulls(double offset, sx_reduce_sigma from, double *width, double *bias) {
    enum { PIXELS = 400, PULL_BINS = 12, ON = 6000, OFF = 30000, PIECE = 500 };
    double edges[PULL_BINS + 1];
    for (int b = 0; b <= PULL_BINS; b++) {
        edges[b] = b;
    }
    const sx_reducer_options options = {
        .rank = 1, .shape = {PIXELS}, .bins = PULL_BINS, .edges = edges};
    static float frames[PIECE * PIXELS];
    static sx_shot shots[PIECE];
    const int64_t shape[] = {PIECE, PIXELS};
    sx_reducer *r = NULL;
    sx_array array;
    sx_cube cube;
    ck_ok(sx_reducer_create(&options, &r));
    ck_ok(sx_array_view(SX_F32, 2, shape, frames, &array));
    for (int64_t k = 0; k < ON + OFF; k++) {
        const uint64_t number = (uint64_t)k;
        const bool on = k < ON, dropped = sxi_rng_uniform(11, 2, number) < 0.1;
        const double flux = (on ? 1.3 : 1) + 0.3 * (2 * sxi_rng_uniform(11, 1, number) - 1);
        sx_shot *shot = &shots[k % PIECE];
        *shot = (sx_shot){.i0 = !dropped ? 500 + 2000 * flux
                                : k % 2  ? (double)NAN
                                         : 500,
                          .delay_ps = PULL_BINS * sxi_rng_uniform(11, 3, number),
                          .on = on};
        for (int64_t p = 0; p < PIXELS; p++) {
            const double truth = on ? change(floor(shot->delay_ps), p) : 0;
            const double mean = dropped ? 0 : (4 + 0.1 * (double)(p % 50)) * flux * (1 + truth);
            frames[(k % PIECE) * PIXELS + p] =
                (float)sxi_rng_poisson(11, 4, (uint64_t)(k * PIXELS + p), mean);
        }
        if (k % PIECE == PIECE - 1) {
            ck_ok(sx_reducer_add_many(r, &array, shots, NULL));
        }
    }
    ck_ok(sx_reducer_cube(r, &(sx_cube_options){.i0_offset = offset, .sigma = from}, &cube));
    double sum = 0, squares = 0;
    for (int64_t b = 0; b < PULL_BINS; b++) {
        for (int64_t p = 0; p < PIXELS; p++) {
            const int64_t i = b * PIXELS + p;
            const double off = at(&cube.off_error, p) / at(&cube.off_mean, p);
            const double pull =
                (at(&cube.signal, i) - change((double)b, p)) / hypot(at(&cube.sigma, i), off);
            sum += pull;
            squares += pull * pull;
        }
    }
    *bias = sum / (PULL_BINS * PIXELS);
    *width = sqrt(squares / (PULL_BINS * PIXELS));
    sx_cube_destroy(&cube);
    sx_reducer_destroy(&r);
}

START_TEST(sigma_is_calibrated) {
    for (int from = 0; from < 2; from++) {
        double width, bias;
        pulls(500, (sx_reduce_sigma)from, &width, &bias);
        printf("pulls, sigma from %s: width %.3f, bias %.3f\n", from ? "its bin" : "all bins",
               width, bias);
        ck_near(width, 1, 0, 0.03); /* 4800 pulls: its own error is 0.01 */
        ck_near(bias, 0, 0, 0.1);   /* the bound that was asked for; its own error is 0.03 */
    }
    double width, bias;
    pulls(400, SX_REDUCE_SIGMA_POOLED, &width, &bias);
    ck_assert_msg(fabs(bias) > 0.3, "a wrong offset is seen: bias %g", bias);
}
END_TEST

SX_TEST_MAIN("reducer", by_hand, offset_of_i0, missing_values, binned_off, halves_equal_the_whole,
             types, groups, overflow, refusals, sigma_is_calibrated)
