/* SPDX-License-Identifier: Apache-2.0
 * Sums and residuals of traces with weights of their own: against long double, against the sums for
 * even delays, between variants, and down to the minimum of traces that are known. `--bench` times
 * them. */
#include "kern/dcos_kernels.h"

#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "sx_check.h"

enum { B = SXI_BUNDLE, MOST = SXI_DCOS_MOST_MODES };

static const long double TWO_PI = 6.283185307179586476925286766559005768L;

static double uniform(uint32_t stream, int64_t i, double low, double high) {
    return low + (high - low) * sxi_rng_uniform(72, stream, (uint64_t)i);
}

/* A bundle of noisy traces of so many modes, a fifth of the samples missing, theta a few percent off
 * the truth. */
typedef struct sample {
    int64_t n;
    int modes;
    sxi_dcos_delays delays;
    double *x, *w, *y;
    double truth[2 * MOST][B];
    sxi_dcos_bundle bundle;
} sample;

static double truth(const sample *s, int l, int64_t i) {
    double value = 0;
    for (int k = 0; k < s->modes; k++) {
        value += exp(-s->truth[2 * k][l] * s->x[i]) *
                 cos((double)TWO_PI * s->truth[2 * k + 1][l] * s->x[i] + l + k);
    }
    return value;
}

/* Weights 1 leave none missing. */
static void fill_trace(sample *s, int l, double noise, bool weighted) {
    double mean = 0, total = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double w = uniform(1, l * s->n + i, 0.1, 2);
        s->w[i * B + l] = !weighted ? 1 : uniform(2, l * s->n + i, 0, 1) < 0.2 ? 0 : w;
        s->y[i * B + l] = truth(s, l, i) + noise * sxi_rng_normal(72, 3, (uint64_t)(l * s->n + i));
        mean += s->w[i * B + l] * s->y[i * B + l];
        total += s->w[i * B + l];
        s->bundle.freedom[l] += s->w[i * B + l] > 0;
    }
    for (int64_t i = 0; i < s->n; i++) {
        s->y[i * B + l] -= mean / total;
        s->bundle.yy[l] += s->w[i * B + l] * s->y[i * B + l] * s->y[i * B + l];
    }
    s->bundle.total[l] = total;
    s->bundle.freedom[l] -= 1 + 4 * s->modes;
    s->bundle.worth[l] = (double)INFINITY;
}

static void sample_make(int64_t n, int modes, double noise, bool even, bool weighted, sample *s) {
    memset(s, 0, sizeof *s);
    s->n = n;
    s->modes = modes;
    s->x = calloc((size_t)n, sizeof *s->x);
    s->w = calloc((size_t)n * B, sizeof *s->w);
    s->y = calloc((size_t)n * B, sizeof *s->y);
    s->delays = (sxi_dcos_delays){n, s->x, even ? 1.0 / (double)(n - 1) : 0};
    for (int64_t i = 0; i < n; i++) {
        double part = (double)i / (double)(n - 1);
        s->x[i] = even ? (double)i * s->delays.dx : part * (0.3 + 0.7 * part);
    }
    for (int l = 0; l < B; l++) {
        for (int k = 0; k < modes; k++) {
            double *g = &s->truth[2 * k][l], *f = &s->truth[2 * k + 1][l];
            *g = uniform(4, 4 * l + k, 0.3, 6);
            *f = uniform(5, 4 * l + k, 2 + 9 * k, 9 + 9 * k);
            s->bundle.theta[2 * k][l] = *g * uniform(6, 4 * l + k, 0.9, 1.1);
            s->bundle.theta[2 * k + 1][l] = *f + uniform(7, 4 * l + k, -0.1, 0.1);
        }
        fill_trace(s, l, noise, weighted);
    }
    s->bundle.fresh = s->bundle.running = SXI_ALL_LANES;
}

static void sample_free(sample *s) {
    free(s->x);
    free(s->w);
    free(s->y);
}

static const sxi_dcos_box BOX = {-3, 400, 0.5, 90, 1e-8, 1e-12};

/* Kinds of sums. */
enum { Z, ONE, PLUS, MINUS };

static void exact(const sample *s, int l, int kind, int j, int k, int m, long double out[2]) {
    long double g = s->bundle.theta[2 * j][l], f = s->bundle.theta[2 * j + 1][l];
    out[0] = out[1] = 0;
    if (kind == PLUS || kind == MINUS) {
        g += s->bundle.theta[2 * k][l];
        f += (kind == PLUS ? 1 : -1) * (long double)s->bundle.theta[2 * k + 1][l];
    }
    for (int64_t i = 0; i < s->n; i++) {
        long double x = s->x[i], w = s->w[i * B + l] * expl(-g * x) * powl(x, m);
        w *= kind == Z ? (long double)s->y[i * B + l] : 1;
        out[0] += w * cosl(TWO_PI * f * x);
        out[1] += w * sinl(TWO_PI * f * x);
    }
}

/* Relative to what the sum could be. An angle of 36 cycles is good to 2e-14. */
static void sum_is(sxi_dcos_sum sum, const sample *s, int l, int kind, int j, int k) {
    for (int m = 0; m < 3; m++) {
        long double expected[2];
        exact(s, l, kind, j, k, m, expected);
        ck_near(sum[m][0][l], (double)expected[0], 0, 1e-13 * (double)s->n);
        ck_near(sum[m][1][l], (double)expected[1], 0, 1e-13 * (double)s->n);
    }
}

static void sums_are(sxi_dcos_sums *sums, const sample *s) {
    for (int l = 0; l < B; l++) {
        for (int k = 0; k < s->modes; k++) {
            sum_is(sums->z[k], s, l, Z, k, k);
            sum_is(sums->one[k], s, l, ONE, k, k);
            for (int j = 0; j <= k; j++) {
                sum_is(sums->plus[sxi_dcos_pair(j, k)], s, l, PLUS, j, k);
                sum_is(sums->minus[sxi_dcos_pair(j, k)], s, l, MINUS, j, k);
            }
            ck_assert(sums->minus[sxi_dcos_pair(k, k)][1][1][l] == 0);
        }
    }
}

START_TEST(sums_are_sums) {
    const int64_t lengths[] = {5, 32, 67}; /* part of a chunk, a whole one, two and a part */
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        for (int modes = 1; modes <= MOST; modes++) {
            for (int i = 0; i < 6; i++) {
                sample s;
                sxi_dcos_sums *sums = malloc(sizeof *sums);
                sample_make(lengths[i / 2], modes, 0.1, i % 2, true, &s);
                for (int l = 0; l < B; l += 4) { /* no oscillation; a decay that ends numbers */
                    s.bundle.theta[0][l] = l % 8 ? 0 : 390;
                    s.bundle.theta[1][l] = l % 8 ? 0 : 50;
                }
                sxi_dcos_kernels_variant(v)->direct(modes, &s.delays, s.w, s.y, SXI_ALL_LANES,
                                                    &s.bundle, sums);
                sums_are(sums, &s);
                free(sums);
                sample_free(&s);
            }
        }
    }
}
END_TEST

/* A single sample of 1: the sum is the mode itself, exact to roundings of its exponent, of its angle
 * (products are not fused in plain C) and a few of its own; doubling an angle doubles those of a
 * square. */
START_TEST(a_mode_is_exact_to_rounding) {
    const double eps = 1.1102230246251565e-16;
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        for (int i = 0; i < 100; i++) {
            double x = uniform(9, i, 0, 1), w[B], y[B];
            sxi_dcos_delays delays = {1, &x, 0};
            sxi_dcos_bundle *bundle = calloc(1, sizeof *bundle);
            sxi_dcos_sums *sums = calloc(1, sizeof *sums);
            for (int l = 0; l < B; l++) {
                w[l] = y[l] = 1;
                bundle->theta[0][l] = uniform(10, i * B + l, -3, l % 2 ? 3 : 400);
                bundle->theta[1][l] = uniform(11, i * B + l, 0, l % 4 < 2 ? 2 : 90);
            }
            sxi_dcos_kernels_variant(v)->direct(1, &delays, w, y, SXI_ALL_LANES, bundle, sums);
            for (int l = 0; l < B; l++) {
                long double gx = bundle->theta[0][l] * (long double)x;
                long double angle = TWO_PI * bundle->theta[1][l] * x, z = expl(-gx);
                double few = eps * (8 + fabs((double)gx) + (double)angle) * (double)z;
                ck_near(sums->one[0][0][0][l], (double)(z * cosl(angle)), 0, few);
                ck_near(sums->one[0][0][1][l], (double)(z * sinl(angle)), 0, few);
            }
            free(bundle);
            free(sums);
        }
    }
}
END_TEST

static void sums_agree(const double *a, const double *b, size_t count, double tolerance) {
    for (size_t i = 0; i < count; i++) {
        ck_near(a[i], b[i], 0, tolerance);
    }
}

/* The sums of even delays know weights 1 only. Theirs over y are good to 2e-10 a sample. */
START_TEST(weights_of_one_agree_with_even_delays) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        for (int modes = 1; modes <= MOST; modes++) {
            sample s;
            sxi_dcos_even grid;
            sxi_dcos_sums *even = calloc(1, sizeof *even), *direct = calloc(1, sizeof *direct);
            sample_make(150, modes, 0.1, true, false, &s);
            sxi_dcos_even_make(s.n, s.delays.dx, &grid);
            kernels->even(modes, &grid, s.y, SXI_ALL_LANES, &s.bundle, even);
            kernels->direct(modes, &s.delays, s.w, s.y, SXI_ALL_LANES, &s.bundle, direct);
            size_t z = sizeof even->z / sizeof(double), all = sizeof *even / sizeof(double);
            const double *a = (const double *)(const void *)even;
            const double *b = (const double *)(const void *)direct;
            sums_agree(a, b, z, 2e-10 * (double)s.n);
            sums_agree(a + z, b + z, all - z, 2e-12 * (double)s.n);
            free(even);
            free(direct);
            sample_free(&s);
        }
    }
}
END_TEST

static void minimise(const sxi_dcos_kernels *kernels, sample *s) {
    sxi_dcos_sums *sums = calloc(1, sizeof *sums);
    while (s->bundle.running) {
        kernels->direct(s->modes, &s->delays, s->w, s->y, s->bundle.running, &s->bundle, sums);
        kernels->step(s->modes, &BOX, sums, &s->bundle);
    }
    free(sums);
}

START_TEST(noiseless_traces_give_their_truth) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        for (int modes = 1; modes <= MOST; modes++) {
            for (int even = 0; even < 2; even++) {
                sample s;
                sample_make(200, modes, 0, even, true, &s);
                minimise(sxi_dcos_kernels_variant(v), &s);
                ck_assert_uint_eq(s.bundle.failed, 0);
                ck_assert_uint_eq(s.bundle.frozen, 0);
                for (int l = 0; l < B; l++) {
                    ck_assert(s.bundle.evaluations[l] < 40);
                    for (int i = 0; i < 2 * modes; i++) {
                        ck_near(s.bundle.theta[i][l], s.truth[i][l], 1e-8, 1e-8);
                    }
                }
                sample_free(&s);
            }
        }
    }
}
END_TEST

/* Samples of weight 0 do not exist: what y holds there changes no bit. */
START_TEST(missing_samples_are_missing) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        sample s;
        sxi_dcos_sums *before = calloc(1, sizeof *before), *after = calloc(1, sizeof *after);
        sample_make(100, 2, 0.1, false, true, &s);
        sxi_dcos_kernels_variant(v)->direct(2, &s.delays, s.w, s.y, SXI_ALL_LANES, &s.bundle,
                                            before);
        for (int64_t i = 0; i < s.n * B; i++) {
            s.y[i] = s.w[i] > 0 ? s.y[i] : 1e9;
        }
        sxi_dcos_kernels_variant(v)->direct(2, &s.delays, s.w, s.y, SXI_ALL_LANES, &s.bundle,
                                            after);
        ck_assert_mem_eq(before, after, sizeof *before);
        free(before);
        free(after);
        sample_free(&s);
    }
}
END_TEST

static void residuals(int variant, const sample *s, const double *w, int modes, float *r,
                      double *neighbour) {
    sxi_dcos_kernels_variant(variant)->residual(modes, &s->delays, w, s->y, SXI_ALL_LANES,
                                                &s->bundle, r, neighbour);
}

/* Weights are single before their root is taken, so a neighbour is good to 1e-7 of what it adds. */
static void residual_is(const sample *s, const double *w, int modes, const float *r,
                        const double *neighbour, int l) {
    long double sum = 0, size = 0, last = 0;
    for (int64_t i = 0; i < s->n; i++) {
        long double d = s->y[i * B + l] - (long double)s->bundle.coefficient[0][l];
        long double weight = w ? w[i * B + l] : 1, x = s->x[i];
        for (int k = 0; k < modes; k++) {
            const long double angle = TWO_PI * s->bundle.theta[2 * k + 1][l] * x;
            d -= expl(-s->bundle.theta[2 * k][l] * x) *
                 (s->bundle.coefficient[1 + 2 * k][l] * cosl(angle) +
                  s->bundle.coefficient[2 + 2 * k][l] * sinl(angle));
        }
        ck_near((double)r[i * B + l], (double)(weight * d), 1e-7, 1e-12);
        sum += sqrtl(weight) * d * last;
        size += fabsl(sqrtl(weight) * d * last);
        last = sqrtl(weight) * d;
    }
    ck_near(neighbour[l], (double)sum, 0, (w ? 2e-7 : 1e-13) * (double)size);
}

START_TEST(residuals_are_residuals) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        for (int i = 0; i < 20; i++) {
            const int modes = i / 4;
            sample s;
            sample_make(i % 4 < 2 ? 200 : 77, modes > 0 ? modes : 1, 1, i % 2, true, &s);
            float *r = calloc((size_t)s.n * B, sizeof *r);
            double neighbour[B];
            for (int l = 0; l < B; l++) {
                for (int k = 0; k <= 2 * modes; k++) {
                    s.bundle.coefficient[k][l] = uniform(8, 16 * l + k, -2, 2);
                }
            }
            for (int weighted = 0; weighted < 2; weighted++) {
                const double *w = weighted ? s.w : NULL;
                residuals(v, &s, w, modes, r, neighbour);
                for (int l = 0; l < B; l++) {
                    residual_is(&s, w, modes, r, neighbour, l);
                }
            }
            free(r);
            sample_free(&s);
        }
    }
}
END_TEST

/* Variants with fused products agree in every bit. */
START_TEST(variants_agree) {
    for (int v = 2; sxi_dcos_kernels_variant(v); v++) {
        for (int i = 0; i < 8; i++) {
            const int modes = 1 + i / 2;
            sample a, b;
            sample_make(150, modes, 0.1, i % 2, true, &a);
            sample_make(150, modes, 0.1, i % 2, true, &b);
            minimise(sxi_dcos_kernels_variant(v - 1), &a);
            minimise(sxi_dcos_kernels_variant(v), &b);
            ck_assert_mem_eq(&a.bundle, &b.bundle, sizeof a.bundle);
            float *r[2] = {calloc((size_t)a.n * B, sizeof(float)),
                           calloc((size_t)a.n * B, sizeof(float))};
            double neighbour[2][B];
            residuals(v - 1, &a, a.w, modes, r[0], neighbour[0]);
            residuals(v, &b, b.w, modes, r[1], neighbour[1]);
            ck_assert_mem_eq(r[0], r[1], (size_t)a.n * B * sizeof(float));
            ck_assert_mem_eq(neighbour[0], neighbour[1], sizeof neighbour[0]);
            free(r[0]);
            free(r[1]);
            sample_free(&a);
            sample_free(&b);
        }
    }
}
END_TEST

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds a trace, best of a few rounds. */
static double time_of(const sxi_dcos_kernels *kernels, const sample *s, bool residual) {
    enum { ROUNDS = 5, PASSES = 400 };
    sxi_dcos_sums *sums = calloc(1, sizeof *sums);
    float *r = calloc((size_t)s->n * B, sizeof *r);
    double best = 1e9, neighbour[B];
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (int i = 0; i < PASSES; i++) {
            if (residual) {
                kernels->residual(s->modes, &s->delays, s->w, s->y, SXI_ALL_LANES, &s->bundle, r,
                                  neighbour);
            } else {
                kernels->direct(s->modes, &s->delays, s->w, s->y, SXI_ALL_LANES, &s->bundle, sums);
            }
        }
        double took = 1e9 * (seconds() - start) / PASSES / B;
        best = took < best ? took : best;
    }
    free(sums);
    free(r);
    return best;
}

static void bench(void) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        for (int modes = 1; modes <= MOST; modes++) {
            double took[2][2];
            for (int even = 0; even < 2; even++) {
                sample s;
                sample_make(200, modes, 0.1, even, true, &s);
                took[even][0] = time_of(kernels, &s, false);
                took[even][1] = time_of(kernels, &s, true);
                sample_free(&s);
            }
            printf("%-7s %d modes, 200 samples, ns a trace: sums %.0f even %.0f uneven, "
                   "residual %.0f even %.0f uneven\n",
                   kernels->name, modes, took[1][0], took[0][0], took[1][1], took[0][1]);
        }
    }
}

SX_TEST_RUNNER("dcos_direct", run_tests, sums_are_sums, a_mode_is_exact_to_rounding,
               weights_of_one_agree_with_even_delays, noiseless_traces_give_their_truth,
               missing_samples_are_missing, residuals_are_residuals, variants_agree)

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    return run_tests();
}
