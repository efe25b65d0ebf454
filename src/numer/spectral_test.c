/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/spectral.h"

#include <string.h>

#include <sextant/lm.h>

#include "base/rng.h"
#include "sx_check.h"

enum { MOST = 4000, SEED = 20260 };

static const double PI = 3.14159265358979323846;

typedef sx_status (*poles_fn)(int64_t n, const double *y, int order, double *decay,
                              double *frequency, int *count);

static const poles_fn METHODS[] = {sxi_esprit, sxi_lpsvd};
static const char *const NAMES[] = {"esprit", "lpsvd"};

/* A, decay, frequency, phase; per sample. By frequency. */
typedef struct mode {
    double a, g, f, p;
} mode;

static const mode FOUR[] = {{1.0, 0.010, 0.04, 0.5},
                            {0.5, 0.030, 0.11, -1.0},
                            {2.0, 0.020, 0.23, 2.0},
                            {0.8, 0.005, 0.41, 0.0}};

/* The two-mode trace that linear prediction loses: 96 samples, 0.1 ps apart; w in rad per ps. */
static const mode TWO[] = {{0.45, 0.003, 0.09 / (2 * 3.14159265358979323846), -0.75},
                           {1.25, 0.009, 0.24 / (2 * 3.14159265358979323846), 0.30}};
enum { TWO_SAMPLES = 96 };
static const double TWO_OFFSET = 0.15;

static void trace(int n, int modes, const mode *m, double offset, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = offset;
        for (int k = 0; k < modes; k++) {
            y[i] += m[k].a * exp(-m[k].g * i) * cos(2.0 * PI * m[k].f * i + m[k].p);
        }
    }
}

/* Exact data give exact poles; 1e-6 is what the squared singular values leave of the digits. */
START_TEST(exact_poles_without_noise) {
    static double y[MOST];
    const int lengths[] = {40, 96, 200, 1000}, modes[] = {1, 2, 4};
    for (int method = 0; method < 2; method++) {
        for (int i = 0; i < 12; i++) {
            int n = lengths[i / 3], K = modes[i % 3], count;
            double g[4], f[4];
            for (int offset = 0; offset < 2; offset++) {
                trace(n, K, FOUR, 3.0 * offset, y);
                ck_ok(METHODS[method](n, y, 2 * K + offset, g, f, &count));
                ck_assert_msg(count == K, "%s, %d samples: %d modes of %d", NAMES[method], n, count,
                              K);
                for (int k = 0; k < K; k++) {
                    ck_near(f[k], FOUR[k].f, 0.0, 1e-6);
                    ck_near(g[k], FOUR[k].g, 0.0, 1e-6);
                }
            }
        }
    }
}
END_TEST

/* Least variances of decay and frequency of TWO for noise of deviation 1: [mode][g, f]. */
static bool two_model(void *data, const double *p, double *r, double *jacobian) {
    (void)data;
    for (int i = 0; i < TWO_SAMPLES; i++) {
        double *d = jacobian + 9 * i, y = p[8] - TWO_OFFSET;
        for (int k = 0; k < 2; k++) {
            const mode *m = &TWO[k];
            const double *q = p + 4 * k;
            double e = exp(-q[1] * i), arg = 2.0 * PI * q[2] * i + q[3];
            y += q[0] * e * cos(arg) - m->a * exp(-m->g * i) * cos(2.0 * PI * m->f * i + m->p);
            d[4 * k] = e * cos(arg);
            d[4 * k + 1] = -i * q[0] * e * cos(arg);
            d[4 * k + 3] = -q[0] * e * sin(arg);
            d[4 * k + 2] = 2.0 * PI * i * d[4 * k + 3];
        }
        d[8] = 1.0;
        r[i] = y;
    }
    return true;
}

static void cramer_rao(double bound[2][2]) {
    double p[9] = {TWO[0].a, TWO[0].g, TWO[0].f, TWO[0].p,  TWO[1].a,
                   TWO[1].g, TWO[1].f, TWO[1].p, TWO_OFFSET};
    double covariance[81];
    sx_lm_result result;
    ck_ok(sx_lm_run(TWO_SAMPLES, 9, two_model, NULL, NULL, p, covariance, &result));
    for (int k = 0; k < 2; k++) {
        bound[k][0] = covariance[(4 * k + 1) * 10];
        bound[k][1] = covariance[(4 * k + 2) * 10];
    }
}

typedef struct scatter {
    double error[2][2]; /* mean |error| over the least deviation: [mode][g, f] */
    int lost;           /* draws that did not give two modes */
} scatter;

enum { DRAWS = 200 };

static scatter measure(poles_fn poles, int db) {
    double clean[TWO_SAMPLES], y[TWO_SAMPLES], bound[2][2], mean = 0.0, square = 0.0;
    cramer_rao(bound);
    trace(TWO_SAMPLES, 2, TWO, TWO_OFFSET, clean);
    for (int i = 0; i < TWO_SAMPLES; i++) {
        mean += clean[i] / TWO_SAMPLES;
        square += clean[i] * clean[i] / TWO_SAMPLES;
    }
    double sigma = sqrt(square - mean * mean) * pow(10.0, -db / 20.0);
    scatter s = {.lost = 0};
    for (int draw = 0; draw < DRAWS; draw++) {
        for (int i = 0; i < TWO_SAMPLES; i++) {
            uint64_t counter = (uint64_t)(draw * TWO_SAMPLES + i);
            y[i] = clean[i] + sigma * sxi_rng_normal(SEED, (uint32_t)db, counter);
        }
        double g[2], f[2];
        int count;
        ck_ok(poles(TWO_SAMPLES, y, 5, g, f, &count));
        if (count < 2) {
            s.lost++;
            continue;
        }
        for (int k = 0; k < 2; k++) {
            s.error[k][0] += fabs(g[k] - TWO[k].g) / sqrt(bound[k][0]) / sigma / DRAWS;
            s.error[k][1] += fabs(f[k] - TWO[k].f) / sqrt(bound[k][1]) / sigma / DRAWS;
        }
    }
    return s;
}

/* Start values must lie in the basin of the fit, a few deviations wide. An efficient estimator has
 * 0.8, ESPRIT was measured at 0.8 to 2.5. LPSVD misjudges the decay of the weak mode by up to 25 at
 * 40 dB, a known weakness, so only its frequencies are held to a bound. */
START_TEST(scatter_near_the_bound) {
    for (int method = 0; method < 2; method++) {
        for (int db = 20; db <= 40; db += 10) {
            scatter s = measure(METHODS[method], db);
            printf("%s %d dB (seed %d): mean |error| over the bound, weak g %.2f f %.2f, strong g "
                   "%.2f f %.2f; %d lost\n",
                   NAMES[method], db, SEED, s.error[0][0], s.error[0][1], s.error[1][0],
                   s.error[1][1], s.lost);
            ck_assert_int_eq(s.lost, 0);
            for (int k = 0; k < 2; k++) {
                ck_assert(s.error[k][1] <= (method == 0 ? 3.0 : 4.0));
                ck_assert(method == 1 || s.error[k][0] <= 3.0);
            }
        }
    }
}
END_TEST

static void check_output(int order, int count, const double *g, const double *f) {
    ck_assert(count >= 0 && count <= order / 2);
    for (int k = 0; k < count; k++) {
        ck_assert(isfinite(g[k]) && f[k] > 0.0 && f[k] < 0.5);
        ck_assert(k == 0 || f[k - 1] <= f[k]);
    }
}

START_TEST(noise_gives_numbers) {
    const int lengths[] = {8, 9, 11, 50, 200, 700}, orders[] = {1, 2, 3, 5, 9, 32};
    double y[700], g[16], f[16];
    for (int i = 0; i < 36 * 10; i++) {
        int n = lengths[i % 6], order = orders[i / 6 % 6], count;
        for (int k = 0; k < n; k++) {
            y[k] = sxi_rng_normal(SEED, 100, (uint64_t)(i * 700 + k));
        }
        for (int method = 0; method < 2; method++) {
            ck_ok(METHODS[method](n, y, order, g, f, &count));
            check_output(order, count, g, f);
        }
    }
}
END_TEST

/* Zero, constant, ramp, spike, alternating, relaxation: nothing that oscillates between 0 and 0.5.
 */
START_TEST(traces_without_a_mode) {
    double y[6][64], g[4], f[4];
    for (int i = 0; i < 64; i++) {
        y[0][i] = 0.0;
        y[1][i] = 1e6;
        y[2][i] = i == 63 ? 1.0 : 0.0;
        y[3][i] = i % 2 ? -1.0 : 1.0;
        y[4][i] = exp(-0.1 * i);
        y[5][i] = 2.0 + exp(-0.1 * i);
    }
    for (int i = 0; i < 6; i++) {
        for (int method = 0; method < 2; method++) {
            int count = -1;
            ck_ok(METHODS[method](64, y[i], 1 + i / 5, g, f, &count));
            ck_assert_msg(count == 0, "%s finds %d modes in trace %d", NAMES[method], count, i);
            ck_ok(METHODS[method](64, y[i], 9, g, f, &count));
            check_output(9, count, g, f);
        }
    }
    y[0][5] = (double)NAN;
    y[1][6] = (double)INFINITY;
    for (int i = 0; i < 4; i++) {
        int count = -1;
        ck_ok(METHODS[i / 2](64, y[i % 2], 3, g, f, &count));
        ck_assert_int_eq(count, 0);
    }
}
END_TEST

START_TEST(growing_modes_have_negative_decay) {
    const mode growing = {1.0, -0.02, 0.17, 1.0};
    double y[80], g[1], f[1];
    int count;
    trace(80, 1, &growing, 0.0, y);
    ck_ok(sxi_esprit(80, y, 2, g, f, &count));
    ck_assert_int_eq(count, 1);
    ck_near(g[0], -0.02, 1e-9, 0.0);
    ck_near(f[0], 0.17, 1e-9, 0.0);
}
END_TEST

/* Relative 1e-9 of what the noise leaves anyway; an offset of 1000 costs three digits twice. */
START_TEST(scale_and_offset_do_not_matter) {
    double y[TWO_SAMPLES], z[TWO_SAMPLES], g[2], f[2], h[2], e[2];
    const double scales[] = {1e-6, 1e6, 1.0}, offsets[] = {0.0, 0.0, 1000.0};
    int count;
    trace(TWO_SAMPLES, 2, TWO, TWO_OFFSET, y);
    for (int i = 0; i < TWO_SAMPLES; i++) {
        y[i] += 0.01 * sxi_rng_normal(SEED, 200, (uint64_t)i);
    }
    for (int method = 0; method < 2; method++) {
        ck_ok(METHODS[method](TWO_SAMPLES, y, 5, g, f, &count));
        ck_assert_int_eq(count, 2);
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < TWO_SAMPLES; k++) {
                z[k] = scales[i] * y[k] + offsets[i];
            }
            ck_ok(METHODS[method](TWO_SAMPLES, z, 5, h, e, &count));
            ck_assert_int_eq(count, 2);
            for (int k = 0; k < 2; k++) {
                ck_near(e[k], f[k], i < 2 ? 1e-9 : 0.02, 0.0);
                ck_near(h[k], g[k], i < 2 ? 1e-9 : 0.0, i < 2 ? 0.0 : 0.01);
            }
        }
    }
}
END_TEST

/* Eight threads on the same trace, every one with the bits of the first. */
START_TEST(threads_agree_bit_for_bit) {
    static double y[MOST];
    trace(MOST, 4, FOUR, 1.0, y);
    for (int i = 0; i < MOST; i++) {
        y[i] += 0.1 * sxi_rng_normal(SEED, 300, (uint64_t)i);
    }
    for (int method = 0; method < 2; method++) {
        double first[8];
        int count;
        ck_ok(METHODS[method](MOST, y, 9, first, first + 4, &count));
        ck_assert_int_eq(count, 4);
        int differ = 0;
#pragma omp parallel for num_threads(8) reduction(+ : differ)
        for (int i = 0; i < 16; i++) {
            double here[8];
            int found = 0;
            sx_status status = METHODS[method](MOST, y, 9, here, here + 4, &found);
            differ += status != SX_OK || memcmp(here, first, sizeof here) != 0;
        }
        ck_assert_int_eq(differ, 0);
    }
}
END_TEST

START_TEST(bad_arguments_are_refused) {
    double y[8] = {0.0}, g[16] = {7.0}, f[16] = {7.0};
    int count = 7;
    for (int method = 0; method < 2; method++) {
        ck_fails(METHODS[method](7, y, 3, g, f, &count), SX_ERR_ARGUMENT, "7 samples is too short");
        ck_fails(METHODS[method](8, y, 0, g, f, &count), SX_ERR_ARGUMENT, "0 poles");
        ck_fails(METHODS[method](8, y, 33, g, f, &count), SX_ERR_ARGUMENT, "33 poles");
    }
    ck_assert(count == 7 && g[0] == 7.0 && f[0] == 7.0);
}
END_TEST

SX_TEST_MAIN("spectral", exact_poles_without_noise, scatter_near_the_bound, noise_gives_numbers,
             traces_without_a_mode, growing_modes_have_negative_decay,
             scale_and_offset_do_not_matter, threads_agree_bit_for_bit, bad_arguments_are_refused)
