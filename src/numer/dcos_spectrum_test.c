/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/dcos_spectrum.h"

#include <string.h>

#include "base/rng.h"
#include "kern/bank.h"
#include "sx_check.h"

enum { N = 200, SEEDS = SXI_DCOS_CANDIDATES };
static const double PI = 3.14159265358979323846;

typedef sxi_dcos_seed seeds[SEEDS];

static const sxi_dcos_spectrum_grid EVEN = {.samples = N,
                                            .step = 1.0 / (N - 1),
                                            .frequency_least = 0.5,
                                            .frequency_most = 0.5 * (N - 1),
                                            .centred = true};

static double tone(double g, double f, double phase, double x) {
    return exp(-g * x) * cos(2 * PI * f * x + phase);
}

/* Weight times the residual of a constant; returns its weighted sum of squares. */
static double centre(int64_t n, const double *w, double *y, float *trace) {
    double sum = 0, total = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (w ? w[i] : 1) * y[i];
        total += w ? w[i] : 1;
    }
    for (int64_t i = 0; i < n; i++) {
        double weight = w ? w[i] : 1;
        y[i] -= sum / total;
        square += weight * y[i] * y[i];
        trace[i] = (float)(weight * y[i]);
    }
    return square;
}

static void search(const sxi_dcos_spectrum_grid *grid, int64_t count, const float *traces,
                   double variance, double keep, double chance, seeds *seed) {
    sxi_dcos_spectrum *spectrum;
    sxi_dcos_spectrum_work *work;
    const float **row = malloc((size_t)count * sizeof *row);
    float *variances = malloc((size_t)count * sizeof *variances);
    for (int64_t i = 0; i < count; i++) {
        row[i] = traces + i * grid->samples;
        variances[i] = (float)variance;
    }
    ck_ok(sxi_dcos_spectrum_create(grid, &spectrum));
    ck_ok(sxi_dcos_spectrum_work_create(spectrum, &work));
    sxi_dcos_spectrum_search(spectrum, work, count, row, variances, NULL, keep, chance, seed);
    sxi_dcos_spectrum_work_destroy(&work);
    ck_assert_ptr_null(work);
    sxi_dcos_spectrum_destroy(&spectrum);
    ck_assert_ptr_null(spectrum);
    free(row);
    free(variances);
}

/* A pure tone is explained wholly: the gain of its own damped cosine is its sum of squares. */
START_TEST(a_tone_gains_its_sum_of_squares) {
    enum { DECAYS = 17, OFFSETS = 11, COUNT = DECAYS * OFFSETS };
    float *traces = malloc(sizeof(float) * COUNT * N);
    double all[COUNT], y[N], worst_g = 0, worst_f = 0, least = 2, most = 0;
    seeds *seed = malloc(COUNT * sizeof *seed);
    for (int t = 0; t < COUNT; t++) {
        double g = t / OFFSETS ? 0.3 * pow(200, (t / OFFSETS - 1) / (DECAYS - 2.0)) : 0;
        double f = 23 + 0.1 * (t % OFFSETS) + 1.7 * (t / OFFSETS);
        for (int i = 0; i < N; i++) {
            y[i] = tone(g, f, t, (double)i / (N - 1));
        }
        all[t] = centre(N, NULL, y, traces + t * N);
    }
    search(&EVEN, COUNT, traces, 0, 1, 0, seed);
    for (int t = 0; t < COUNT; t++) {
        double g = t / OFFSETS ? 0.3 * pow(200, (t / OFFSETS - 1) / (DECAYS - 2.0)) : 0;
        double f = 23 + 0.1 * (t % OFFSETS) + 1.7 * (t / OFFSETS), ratio = seed[t][0].gain / all[t];
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        worst_f = fmax(worst_f, fabs(seed[t][0].frequency - f) / (1 + g / PI));
        worst_g = fmax(worst_g, fabs(seed[t][0].decay - g) / (1 + g));
        ck_assert_msg(seed[t][1].gain == 0, "a second seed at keep 1, f %g g %g", f, g);
    }
    printf("tones: gain %.3f .. %.3f, frequency %.3f, decay %.2f\n", least, most, worst_f, worst_g);
    /* between bins and levels a parabola and a table stand for the real curve */
    ck_assert(least > 0.94 && most < 1.06);
    ck_assert(worst_f < 0.1); /* of a width */
    ck_assert(worst_g < 0.35);
    free(traces);
    free(seed);
}
END_TEST

/* Wherever two tones lie between bins and levels, the weaker is not lost before it is looked at
 * closely. */
START_TEST(the_second_tone_is_kept) {
    enum { COUNT = 300 };
    float *traces = malloc(sizeof(float) * COUNT * N);
    seeds *seed = malloc(COUNT * sizeof *seed);
    double first[COUNT], second[COUNT];
    for (uint64_t t = 0; t < COUNT; t++) {
        double y[N], g = 6 * sxi_rng_uniform(3, 1, t), h = 6 * sxi_rng_uniform(3, 2, t);
        first[t] = 10 + 20 * sxi_rng_uniform(3, 3, t);
        second[t] = 60 + 20 * sxi_rng_uniform(3, 4, t);
        double one = 0, two = 0;
        for (int i = 0; i < N; i++) {
            one += pow(tone(g, first[t], 1, (double)i / (N - 1)), 2);
            two += pow(tone(h, second[t], 2, (double)i / (N - 1)), 2);
        }
        for (int i = 0; i < N; i++) {
            double x = (double)i / (N - 1);
            y[i] = tone(g, first[t], 1, x) / sqrt(one) + sqrt(0.7 / two) * tone(h, second[t], 2, x);
        }
        centre(N, NULL, y, traces + t * N);
    }
    search(&EVEN, COUNT, traces, 0, 0.6, 0, seed);
    for (int t = 0; t < COUNT; t++) {
        ck_near(seed[t][0].frequency, first[t], 0, 0.5);
        ck_near(seed[t][1].frequency, second[t], 0, 0.5);
        ck_near(seed[t][1].gain / seed[t][0].gain, 0.7, 0.15, 0);
    }
    free(traces);
    free(seed);
}
END_TEST

/* Noisy traces: f 2 to 0.8 Nyquist, g 0 to 20. */
static void draw(uint64_t seed, int count, double snr_least, double (*truth)[2], double *y,
                 float *traces) {
    for (uint64_t t = 0; t < (uint64_t)count; t++) {
        double f = 2 + 78 * sxi_rng_uniform(seed, 1, t), g = 20 * sxi_rng_uniform(seed, 2, t);
        double phase = 2 * PI * sxi_rng_uniform(seed, 3, t);
        double noise = 1 / (snr_least * pow(50 / snr_least, sxi_rng_uniform(seed, 4, t)));
        for (uint64_t i = 0; i < N; i++) {
            y[t * N + i] =
                tone(g, f, phase, (double)i / (N - 1)) + noise * sxi_rng_normal(seed, 5, t * N + i);
        }
        truth[t][0] = g;
        truth[t][1] = f;
        centre(N, NULL, y + t * N, traces + t * N);
    }
}

START_TEST(the_bank_agrees) {
    enum { COUNT = 2000 };
    double(*truth)[2] = malloc(COUNT * sizeof *truth), *y = malloc(sizeof(double) * COUNT * N);
    float *traces = malloc(sizeof(float) * COUNT * N);
    seeds *seed = malloc(COUNT * sizeof *seed), other[SXI_BANK_WIDTH];
    draw(7, COUNT, 10, truth, y, traces);
    search(&EVEN, COUNT, traces, 0, 0.7, 0, seed);

    double x[N], s[N];
    for (int i = 0; i < N; i++) {
        x[i] = (double)i / (N - 1);
        s[i] = 1;
    }
    const sxi_dcos_grid grid = {.n = N,
                                .padded = N,
                                .x = x,
                                .dx = 1.0 / (N - 1),
                                .frequency_least = 0.5,
                                .frequency_most = 0.5 * (N - 1)};
    const sxi_dcos_trace trace = {.grid = &grid, .s = s, .bank_most = (double)INFINITY};
    sxi_dcos_bank *bank;
    ck_ok(sxi_dcos_bank_create(&grid, &bank));
    int apart = 0, weaker = 0;
    for (int t = 0; t < COUNT; t += SXI_BANK_WIDTH) {
        const sxi_dcos_trace *list[SXI_BANK_WIDTH];
        const double *residual[SXI_BANK_WIDTH];
        for (int l = 0; l < SXI_BANK_WIDTH; l++) {
            list[l] = &trace;
            residual[l] = y + (t + l) * N;
        }
        ck_ok(sxi_dcos_bank_search(bank, SXI_BANK_WIDTH, list, residual, other));
        for (int l = 0; l < SXI_BANK_WIDTH; l++) {
            const sxi_dcos_seed *a = &seed[t + l][0], *b = &other[l][0];
            apart += !(fabs(a->frequency - b->frequency) <= 0.5 + b->decay / PI);
            /* the bank's best filter is a lower bound of the gain */
            weaker += !(a->gain >= 0.93 * b->gain);
        }
    }
    ck_assert_int_le(apart, COUNT / 1000);
    ck_assert_int_eq(weaker, 0);
    sxi_dcos_bank_destroy(&bank);
    free(truth);
    free(y);
    free(traces);
    free(seed);
}
END_TEST

/* On the flank of a broad mode a narrow one has no peak in the best gain of all decays; its own decay
 * sees it. */
START_TEST(a_broad_mode_hides_no_narrow_one) {
    double x[N], s[N], y[N];
    float trace[N];
    seeds seed[1];
    for (int i = 0; i < N; i++) {
        x[i] = (double)i / (N - 1);
        s[i] = 1;
        y[i] = tone(13.8, 30, 0, x[i]) + 0.34 * tone(1.7, 24, 5.9, x[i]);
    }
    centre(N, NULL, y, trace);
    search(&EVEN, 1, trace, 0, 0.8, 0, seed);
    ck_near(seed[0][0].frequency, 29.5, 0, 1); /* a resonance of 12 e-foldings is 3.8 wide */
    ck_near(seed[0][1].frequency, 23.8, 0, 0.5);
    ck_assert(seed[0][1].decay < 0.5 * seed[0][0].decay);
    ck_near(seed[0][2].gain, 0, 0, 0);

    const sxi_dcos_grid grid = {.n = N,
                                .padded = N,
                                .x = x,
                                .dx = 1.0 / (N - 1),
                                .frequency_least = 0.5,
                                .frequency_most = 0.5 * (N - 1)};
    const sxi_dcos_trace whole = {.grid = &grid, .s = s, .bank_most = (double)INFINITY};
    const sxi_dcos_trace *list = &whole;
    const double *residual = y;
    sxi_dcos_bank *bank;
    ck_ok(sxi_dcos_bank_create(&grid, &bank));
    ck_ok(sxi_dcos_bank_search(bank, 1, &list, &residual, seed));
    ck_near(seed[0][0].frequency, 29.5, 0, 1);
    ck_near(seed[0][1].frequency, 23.8, 0, 1);
    sxi_dcos_bank_destroy(&bank);
}
END_TEST

/* What a damped cosine and a constant explain of a trace without mean. */
static double explained(double g, double f, const double *y) {
    double u[N], v[N], mean[2] = {0}, uu = 0, uv = 0, vv = 0, yu = 0, yv = 0;
    for (int i = 0; i < N; i++) {
        u[i] = tone(g, f, 0, (double)i / (N - 1));
        v[i] = tone(g, f, 0.5 * PI, (double)i / (N - 1));
        mean[0] += u[i] / N;
        mean[1] += v[i] / N;
    }
    for (int i = 0; i < N; i++) {
        u[i] -= mean[0];
        v[i] -= mean[1];
        uu += u[i] * u[i];
        uv += u[i] * v[i];
        vv += v[i] * v[i];
        yu += y[i] * u[i];
        yv += y[i] * v[i];
    }
    return (vv * yu * yu - 2 * uv * yu * yv + uu * yv * yv) / (uu * vv - uv * uv);
}

/* A broad mode beside a narrower one raises what its level sees there, which once passed for a very
 * short mode that gains 2.6 times what there is: true ones were dropped beside it. */
START_TEST(seeds_promise_no_more_than_there_is) {
    enum { COUNT = 1300 };
    static float traces[COUNT * N];
    static double y[COUNT][N];
    static seeds seed[COUNT];
    double most = 0;
    for (uint64_t t = 0; t < COUNT; t++) {
        const double g = 4 + 16 * sxi_rng_uniform(29, 1, t);
        const double h = 20 + 40 * sxi_rng_uniform(29, 2, t), f = 8 + 4 * sxi_rng_uniform(29, 3, t);
        const double away = 5 + 15 * sxi_rng_uniform(29, 4, t), size = sxi_rng_uniform(29, 5, t);
        const double phase = 2 * PI * sxi_rng_uniform(29, 6, t);
        for (int i = 0; i < N; i++) {
            const double x = (double)i / (N - 1);
            y[t][i] = size * tone(g, f, phase, x) + tone(h, f + away, 3 * phase, x);
        }
        centre(N, NULL, y[t], traces + t * N);
    }
    search(&EVEN, COUNT, traces, 0, 0.3, 0, seed);
    for (int t = 0; t < COUNT; t++) {
        for (int c = 0; c < SEEDS && seed[t][c].gain > 0; c++) {
            const double g = seed[t][c].decay, f = seed[t][c].frequency;
            double there = 0;
            for (int i = -2; i <= 2; i++) {
                for (int j = -2; j <= 2; j++) {
                    const double at = fmax(f + 0.5 * j * (1 + g / PI), 0.5);
                    there = fmax(there, explained(g * pow(2, 0.5 * i), at, y[t]));
                }
            }
            most = fmax(most, seed[t][c].gain / there);
        }
    }
    printf("seeds: at most %.3f of what a mode near them gains\n", most);
    ck_assert(most < 2); /* two tones that overlap are no resonance: 1.7 */
}
END_TEST

/* Of one peak that neighbouring decays see the highest counts; one at the same frequency whose decay is
 * far off is another, unless a decay in between leads up to it. */
START_TEST(peaks_count_once) {
    sxi_dcos_seed found[] = {
        {40, 50, 9}, {12, 55, 8}, {3.5, 50.5, 7.5}, {0.7, 50, 6}, {0.7, 52, 7}};
    int picked[SXI_DCOS_CANDIDATES];
    ck_assert_int_eq(sxi_dcos_seeds_choose(5, found, 0.5, 0, picked), 4);
    const int expected[] = {0, 1, 2, 4};
    ck_assert_mem_eq(picked, expected, sizeof expected);
    ck_near(found[2].gain, 7.5, 0, 0);
    found[1].frequency = 51; /* hides 2, is hidden by 0 */
    ck_assert_int_eq(sxi_dcos_seeds_choose(5, found, 0.5, 0, picked), 2);
    ck_assert_int_eq(picked[1], 4);
    ck_assert_int_eq(sxi_dcos_seeds_choose(5, found, 0.9, 1, picked), 1); /* 7 < 7.1 */
    ck_assert_int_eq(sxi_dcos_seeds_choose(0, found, 0.9, 1, picked), 0);
}
END_TEST

static void search_own(int count, const float *traces, const float *weights, double variance,
                       double keep, double chance, seeds *seed) {
    enum { MOST = 4000 };
    static const float *row[MOST], *weight[MOST];
    static float variances[MOST];
    sxi_dcos_spectrum_grid grid = EVEN;
    sxi_dcos_spectrum *spectrum;
    sxi_dcos_spectrum_work *work;
    for (int i = 0; i < count; i++) {
        row[i] = traces + i * N;
        weight[i] = weights + i * N;
        variances[i] = (float)variance;
    }
    grid.own_weights = true;
    ck_ok(sxi_dcos_spectrum_create(&grid, &spectrum));
    ck_ok(sxi_dcos_spectrum_work_create(spectrum, &work));
    sxi_dcos_spectrum_search_own(spectrum, work, count, row, weight, variances, NULL, keep, chance,
                                 seed);
    sxi_dcos_spectrum_work_destroy(&work);
    sxi_dcos_spectrum_destroy(&spectrum);
}

/* Weights over a factor 20 and a fifth of the samples missing, other ones in every trace; against the
 * bank, whose sums run over the same weights. Neighbours do not matter here either. */
START_TEST(own_weights_count) {
    enum { COUNT = 960 };
    double(*truth)[2] = malloc(COUNT * sizeof *truth), *y = malloc(sizeof(double) * COUNT * N);
    double *s = malloc(sizeof(double) * COUNT * N), x[N];
    float *traces = malloc(sizeof(float) * COUNT * N), *w = malloc(sizeof(float) * COUNT * N);
    seeds *seed = malloc(COUNT * sizeof *seed), other[SXI_BANK_WIDTH];
    draw(10, COUNT, 10, truth, y, traces);
    for (uint64_t t = 0; t < COUNT; t++) {
        double weight[N];
        for (uint64_t i = 0; i < N; i++) {
            const bool missing = sxi_rng_uniform(10, 20, t * N + i) < 0.2;
            weight[i] = missing ? 0 : 0.1 * pow(20, sxi_rng_uniform(10, 21, t * N + i));
        }
        centre(N, weight, y + t * N, traces + t * N);
        for (uint64_t i = 0; i < N; i++) {
            x[i] = (double)i / (N - 1);
            w[t * N + i] = (float)weight[i];
            s[t * N + i] = sqrt(weight[i]);
            y[t * N + i] *= s[t * N + i];
        }
    }
    search_own(COUNT, traces, w, 0, 0.7, 0, seed);
    const sxi_dcos_grid grid = {.n = N,
                                .padded = N,
                                .x = x,
                                .dx = 1.0 / (N - 1),
                                .frequency_least = 0.5,
                                .frequency_most = 0.5 * (N - 1)};
    sxi_dcos_bank *bank;
    ck_ok(sxi_dcos_bank_create(&grid, &bank));
    int apart = 0;
    double least = 2, most = 0;
    for (int t = 0; t < COUNT; t += SXI_BANK_WIDTH) {
        sxi_dcos_trace trace[SXI_BANK_WIDTH];
        const sxi_dcos_trace *list[SXI_BANK_WIDTH];
        const double *residual[SXI_BANK_WIDTH];
        for (int l = 0; l < SXI_BANK_WIDTH; l++) {
            trace[l] = (sxi_dcos_trace){
                .grid = &grid, .s = s + (t + l) * N, .bank_most = (double)INFINITY};
            list[l] = &trace[l];
            residual[l] = y + (t + l) * N;
        }
        ck_ok(sxi_dcos_bank_search(bank, SXI_BANK_WIDTH, list, residual, other));
        for (int l = 0; l < SXI_BANK_WIDTH; l++) {
            const sxi_dcos_seed *a = &seed[t + l][0], *b = &other[l][0];
            bool found = false;
            for (int j = 0; j < SEEDS; j++) {
                found |=
                    a[j].gain > 0 && fabs(a[j].frequency - b->frequency) <= 0.5 + b->decay / PI;
            }
            apart += !found;
            least = fmin(least, a->gain / b->gain);
            most = fmax(most, a->gain / b->gain);
        }
    }
    printf("own weights: gain %.3f .. %.3f of the bank's, %d apart\n", least, most, apart);
    ck_assert_int_eq(apart, 0);
    ck_assert(least > 0.9 && most < 1.35); /* half-way between, its filters keep 0.81 */
    for (int t = 0; t < COUNT; t += 37) {
        seeds alone[1];
        search_own(1, traces + t * N, w + t * N, 0, 0.7, 0, alone);
        ck_assert_mem_eq(alone, seed + t, sizeof *alone);
    }
    sxi_dcos_bank_destroy(&bank);
    free(truth);
    free(y);
    free(s);
    free(traces);
    free(w);
    free(seed);
}
END_TEST

/* Equal weights: the way of those that are shared, with the same peaks. */
START_TEST(own_weights_may_be_equal) {
    enum { COUNT = 200 };
    double(*truth)[2] = malloc(COUNT * sizeof *truth), *y = malloc(sizeof(double) * COUNT * N);
    float *traces = malloc(sizeof(float) * COUNT * N), *w = malloc(sizeof(float) * COUNT * N);
    seeds *one = malloc(COUNT * sizeof *one), *two = malloc(COUNT * sizeof *two);
    draw(11, COUNT, 2, truth, y, traces);
    for (int i = 0; i < COUNT * N; i++) {
        w[i] = 1;
    }
    search(&EVEN, COUNT, traces, 0, 0.7, 0, one);
    search_own(COUNT, traces, w, 0, 0.7, 0, two);
    for (int t = 0; t < COUNT; t++) { /* the matrix in single precision */
        ck_near(two[t][0].gain, one[t][0].gain, 1e-3, 0);
        ck_near(two[t][0].frequency, one[t][0].frequency, 0, 1e-3);
        ck_near(two[t][0].decay, one[t][0].decay, 0.02, 0.02);
    }
    free(truth);
    free(y);
    free(traces);
    free(w);
    free(one);
    free(two);
}
END_TEST

START_TEST(neighbours_do_not_matter) {
    enum { COUNT = 40 };
    double(*truth)[2] = malloc(COUNT * sizeof *truth), *y = malloc(sizeof(double) * COUNT * N);
    float *traces = malloc(sizeof(float) * COUNT * N);
    seeds all[COUNT], some[COUNT];
    draw(8, COUNT, 1, truth, y, traces);
    search(&EVEN, COUNT, traces, 0.05, 0.7, 10, all);
    for (int first = 0; first < COUNT; first += 13) {
        for (int count = 1; count <= COUNT - first; count++) {
            search(&EVEN, count, traces + first * N, 0.05, 0.7, 10, some);
            ck_assert_mem_eq(some, all + first, (size_t)count * sizeof *some);
        }
    }
    free(truth);
    free(y);
    free(traces);
}
END_TEST

START_TEST(nothing_gains_nothing) {
    enum { COUNT = 17 };
    float *traces = calloc(COUNT * N, sizeof *traces);
    seeds seed[COUNT];
    double y[N];
    for (int i = 0; i < N; i++) {
        y[i] = tone(3, 30, 0, (double)i / (N - 1));
    }
    centre(N, NULL, y, traces + 5 * N);
    search(&EVEN, COUNT, traces, 0, 0.7, 10, seed);
    for (int t = 0; t < COUNT; t++) {
        for (int j = 0; j < SEEDS && t != 5; j++) {
            ck_near(seed[t][j].gain, 0, 0, 0);
            ck_near(seed[t][j].frequency, 0, 0, 0);
            ck_near(seed[t][j].decay, 0, 0, 0);
        }
    }
    ck_near(seed[5][0].frequency, 30, 0, 0.2);
    free(traces);
}
END_TEST

/* With chance, peaks of pure noise are all of interest: the best six, in order. */
START_TEST(seeds_are_ordered) {
    float trace[N];
    double y[N];
    seeds seed[1];
    for (uint64_t i = 0; i < N; i++) {
        y[i] = sxi_rng_normal(9, 1, i);
    }
    centre(N, NULL, y, trace);
    search(&EVEN, 1, trace, 1, 0.7, 1e3, seed);
    for (int j = 1; j < SEEDS; j++) {
        ck_assert(seed[0][j].gain > 0 && seed[0][j].gain <= seed[0][j - 1].gain);
    }
    search(&EVEN, 1, trace, 1, 1, 0, seed);
    ck_assert(seed[0][0].gain > 0);
    ck_near(seed[0][1].gain, 0, 0, 0);
}
END_TEST

/* Shared weights on even delays: a gap, and noise that grows. */
START_TEST(weights_count) {
    double x[N], w[N], y[N];
    float trace[N];
    seeds seed[1];
    for (int i = 0; i < N; i++) {
        x[i] = (double)i / (N - 1);
        w[i] = i > 60 && i < 90 ? 0 : 1.5 - x[i];
        y[i] = tone(2, 41.3, 1, x[i]);
    }
    double all = centre(N, w, y, trace);
    sxi_dcos_spectrum_grid grid = EVEN;
    grid.delays = N;
    grid.x = x;
    grid.weight = w;
    search(&grid, 1, trace, 0, 1, 0, seed);
    ck_near(seed[0][0].frequency, 41.3, 0, 0.1);
    ck_near(seed[0][0].decay, 2, 0, 0.5);
    ck_near(seed[0][0].gain, all, 0.06, 0);
}
END_TEST

/* Uneven delays, spread to an even grid by a bell of width SIGMA steps. The grid sees each sample
 * times sum_j bell(x_j - x) exp(-s (x_j - x)) = sqrt(2 pi) SIGMA exp((s SIGMA step)^2 / 2). */
enum { FINE = 640, MARGIN = 16 };
static const double SIGMA = 1.1;

static void bell_factor(const void *data, double decay, double frequency, double factor[2]) {
    double step = *(const double *)data;
    double g = decay * SIGMA * step, w = 2 * PI * frequency * SIGMA * step;
    double size = exp(0.5 * (w * w - g * g)) / (sqrt(2 * PI) * SIGMA);
    factor[0] = size * cos(g * w);
    factor[1] = -size * sin(g * w);
}

START_TEST(uneven_delays_are_spread) {
    enum { COUNT = 60 };
    double x[N], y[N], w[N], all[COUNT], truth[COUNT][2];
    float sample[N], *traces = calloc((size_t)COUNT * FINE, sizeof *traces);
    seeds *seed = malloc(COUNT * sizeof *seed);
    double step = 1.0 / (FINE - 1 - 2 * MARGIN), first = -MARGIN * step;
    for (uint64_t i = 0; i < N; i++) {
        x[i] = ((double)i + (i % (N - 1) ? 0.9 * sxi_rng_uniform(5, 1, i) : 0)) / (N - 1);
        w[i] = 0.5 + sxi_rng_uniform(5, 2, i);
    }
    for (uint64_t t = 0; t < COUNT; t++) {
        truth[t][0] = 15 * sxi_rng_uniform(5, 3, t);
        truth[t][1] = 3 + 90 * sxi_rng_uniform(5, 4, t);
        for (int i = 0; i < N; i++) {
            y[i] = tone(truth[t][0], truth[t][1], 1, x[i]);
        }
        all[t] = centre(N, w, y, sample);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < FINE; j++) {
                double d = (first + step * j - x[i]) / (SIGMA * step);
                traces[t * FINE + (uint64_t)j] += sample[i] * (float)exp(-0.5 * d * d);
            }
        }
    }
    const sxi_dcos_spectrum_grid grid = {.samples = FINE,
                                         .first = first,
                                         .step = step,
                                         .delays = N,
                                         .x = x,
                                         .weight = w,
                                         .frequency_least = 0.5,
                                         .frequency_most = 0.5 * (N - 1),
                                         .centred = true,
                                         .factor = bell_factor,
                                         .data = &step};
    search(&grid, COUNT, traces, 0, 1, 0, seed);
    for (int t = 0; t < COUNT; t++) {
        /* few samples at random bend the resonance of a short tone */
        ck_near(seed[t][0].gain, all[t], 0.2, 0);
        ck_near(seed[t][0].frequency, truth[t][1], 0, 0.25 * (1 + truth[t][0] / PI));
    }
    free(traces);
    free(seed);
}
END_TEST

/* From a handful of samples to very many, and with a window that is smaller than the grid's. */
START_TEST(any_number_of_samples) {
    const int64_t samples[] = {2, 3, 4, 5, 6, 7, 8, 12, 23, 50, 333, 1000, 1 << 16};
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        int64_t n = samples[k];
        double *y = malloc((size_t)n * sizeof *y), f = 0.23 * (double)n;
        float *trace = malloc((size_t)n * sizeof *trace);
        seeds seed[1];
        for (int64_t i = 0; i < n; i++) {
            y[i] = tone(1, f, 1, (double)i / (double)(n - 1));
        }
        double all = centre(n, NULL, y, trace);
        const sxi_dcos_spectrum_grid grid = {.samples = n,
                                             .step = 1 / (double)(n - 1),
                                             .frequency_least = 0.5,
                                             .frequency_most = 0.3 * (double)(n - 1),
                                             .centred = true};
        search(&grid, 1, trace, 0, 1, 0, seed);
        ck_assert(seed[0][0].gain >= 0 && seed[0][0].gain < 2 * all);
        if (n >= 12) {
            ck_near(seed[0][0].frequency, f, 0, 0.2);
            ck_near(seed[0][0].gain, all, 0.08, 0);
        }
        free(y);
        free(trace);
    }
}
END_TEST

SX_TEST_MAIN("dcos_spectrum", a_tone_gains_its_sum_of_squares, the_second_tone_is_kept,
             the_bank_agrees, a_broad_mode_hides_no_narrow_one, seeds_promise_no_more_than_there_is,
             peaks_count_once, own_weights_count, own_weights_may_be_equal,
             neighbours_do_not_matter, nothing_gains_nothing, seeds_are_ordered, weights_count,
             uneven_delays_are_spread, any_number_of_samples)
