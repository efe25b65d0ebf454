/* SPDX-License-Identifier: Apache-2.0
 * Sums of traces that share uneven delays or weights, against sums in long double and between
 * variants; and minimisations down to the truth. `--bench` times them. */
#include "numer/dcos_shared.h"

#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "sx_check.h"

enum { B = SXI_BUNDLE, MOST = SXI_DCOS_MOST_MODES };
static const long double TWO_PI = 6.283185307179586476925286766559005768L;

/* What delays and weights may look like. */
typedef enum delays { RANDOM, CLUSTERED, LOGARITHMIC, MASKED, EVEN_WEIGHTED, KINDS } delays;
static const char *const KIND[] = {"random", "clustered", "logarithmic", "masked", "even"};

static double uniform(uint32_t stream, int i, double low, double high) {
    return low + (high - low) * sxi_rng_uniform(83, stream, (uint64_t)i);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct sample {
    delays kind;
    int n, modes;
    sxi_dcos_grid grid;
    double *weight;
    sxi_dcos_shared *shared;
    double *y;      /* [n][B], less its mean */
    double *spread; /* [room][B] */
    float *single;
    double truth[2 * MOST][B];
    sxi_dcos_bundle bundle;
} sample;

static double delay(delays kind, int n, int i) {
    switch (kind) {
    case RANDOM:
        return uniform(1, i, 0, 1);
    case CLUSTERED:
        return i < n / 2 ? uniform(1, i, 0, 0.3) : uniform(1, i, 0.3, 1);
    case LOGARITHMIC:
        return i == 0 ? 0 : pow(10, -1.5 * (1 - (double)i / (n - 1)));
    case MASKED:
        return pow((double)i / (n - 1), 1.3);
    default:
        return (double)i / (n - 1);
    }
}

static void make_delays(delays kind, int n, double frequency_most, sample *s) {
    double *x = malloc((size_t)n * sizeof *x);
    s->weight = malloc((size_t)n * sizeof *s->weight);
    for (int i = 0; i < n; i++) {
        x[i] = delay(kind, n, i);
        s->weight[i] = 1;
        if (kind == MASKED) {
            s->weight[i] = i % 7 == 3 || (i > n / 2 && i < n / 2 + n / 8) ? 0 : 1;
        } else if (kind == EVEN_WEIGHTED) {
            s->weight[i] = i % 11 == 4 ? 0 : uniform(2, i, 0.2, 2);
        }
    }
    qsort(x, (size_t)n, sizeof *x, compare);
    x[0] = 0;
    x[n - 1] = 1;
    s->grid = (sxi_dcos_grid){.n = n,
                              .x = x,
                              .dx = kind == EVEN_WEIGHTED ? 1.0 / (n - 1) : 0,
                              .frequency_bound = frequency_most,
                              .decay_least = -3,
                              .decay_most = 4 * frequency_most};
}

/* A bundle of noisy traces of so many modes, theta a few percent off the truth. */
static void make_traces(double noise, sample *s) {
    const int n = s->n, modes = s->modes;
    double total = 0;
    for (int i = 0; i < n; i++) {
        total += s->weight[i];
    }
    for (int l = 0; l < B; l++) {
        double mean = 0;
        for (int k = 0; k < modes; k++) {
            s->truth[2 * k][l] = uniform(3, 4 * l + k, 0.3, 6);
            s->truth[2 * k + 1][l] = uniform(4, 4 * l + k, 2 + 9 * k, 9 + 9 * k);
            s->bundle.theta[2 * k][l] = s->truth[2 * k][l] * uniform(5, 4 * l + k, 0.9, 1.1);
            s->bundle.theta[2 * k + 1][l] =
                s->truth[2 * k + 1][l] + uniform(6, 4 * l + k, -0.1, 0.1);
        }
        for (int i = 0; i < n; i++) {
            double x = s->grid.x[i], value = noise * sxi_rng_normal(83, 7, (uint64_t)(l * n + i));
            for (int k = 0; k < modes; k++) {
                value += exp(-s->truth[2 * k][l] * x) *
                         cos((double)TWO_PI * s->truth[2 * k + 1][l] * x + l + k);
            }
            s->y[i * B + l] = value;
            mean += s->weight[i] * value / total;
        }
        for (int i = 0; i < n; i++) {
            s->y[i * B + l] -= mean;
            s->bundle.yy[l] += s->weight[i] * s->y[i * B + l] * s->y[i * B + l];
        }
        s->bundle.total[l] = total;
        s->bundle.freedom[l] = n - 1 - 4 * modes;
        s->bundle.worth[l] = (double)INFINITY;
    }
    s->bundle.fresh = s->bundle.running = SXI_ALL_LANES;
}

/* Samples of weight 0 are NaN where traces are spread. */
static void spread(const sxi_dcos_kernels *kernels, sample *s) {
    const size_t n = (size_t)s->n, room = (size_t)s->shared->room;
    double *row = malloc(B * n * sizeof *row), *out = malloc(B * room * sizeof *out);
    float *row_single = malloc(B * n * sizeof *row), *out_single = malloc(B * room * sizeof *out);
    const double *from[B];
    const float *from_single[B];
    double *to[B];
    float *to_single[B];
    for (size_t l = 0; l < B; l++) {
        from[l] = row + l * n, to[l] = out + l * room;
        from_single[l] = row_single + l * n, to_single[l] = out_single + l * room;
        for (size_t i = 0; i < n; i++) {
            row[l * n + i] = s->weight[i] > 0 ? s->y[i * B + l] : (double)NAN;
            row_single[l * n + i] = (float)row[l * n + i];
        }
    }
    kernels->spread(s->shared, B, from, to);
    kernels->spread_single(s->shared, B, from_single, to_single);
    for (size_t l = 0; l < B; l++) {
        for (size_t j = 0; j < room; j++) {
            s->spread[j * B + l] = to[l][j];
            s->single[j * B + l] = to_single[l][j];
        }
    }
    free(row);
    free(row_single);
    free(out);
    free(out_single);
}

static void sample_make(delays kind, int n, int modes, double frequency_most, double noise,
                        sample *s) {
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->n = n;
    s->modes = modes;
    make_delays(kind, n, frequency_most, s);
    if (sxi_dcos_shared_create(&s->grid, s->weight, &s->shared) != SX_OK || !s->shared) {
        fprintf(stderr, "no tables: %s\n", sx_error_message());
        exit(1);
    }
    s->y = malloc((size_t)n * B * sizeof *s->y);
    s->spread = malloc((size_t)s->shared->room * B * sizeof *s->spread);
    s->single = malloc((size_t)s->shared->room * B * sizeof *s->single);
    make_traces(noise, s);
    spread(sxi_dcos_kernels_variant(0), s);
}

static void sample_free(sample *s) {
    sxi_dcos_shared_destroy(&s->shared);
    free(s->grid.x);
    free(s->weight);
    free(s->y);
    free(s->spread);
    free(s->single);
}

/* sums of w x^m exp((s_j + s_k or conj s_k) x), times y; k < 0: only s_j */
static void direct(const sample *s, int l, int j, int k, bool conjugate, bool data,
                   long double out[3][2]) {
    typedef long double real;
    const double(*theta)[B] = s->bundle.theta;
    const double side = k < 0 ? 0 : conjugate ? -1 : 1;
    const real g = (real)theta[2 * j][l] + (k < 0 ? 0 : (real)theta[2 * k][l]);
    const real f = (real)theta[2 * j + 1][l] + (real)side * (real)theta[k < 0 ? 1 : 2 * k + 1][l];
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < s->n; i++) {
        const real x = (real)s->grid.x[i], y = data ? (real)s->y[i * B + l] : 1;
        if (s->weight[i] > 0) {
            const real v = (real)s->weight[i] * y * expl(-g * x);
            const real c = v * cosl(TWO_PI * f * x), b = v * sinl(TWO_PI * f * x);
            const real power[] = {1, x, x * x};
            for (int m = 0; m < 3; m++) {
                out[m][0] += power[m] * c;
                out[m][1] += power[m] * b;
            }
        }
    }
}

/* NaN wins. */
static double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

/* Largest error, in parts of sum w |y| or sum w. */
static double error_of(sxi_dcos_sum sum, const sample *s, int l, int j, int k, bool conjugate,
                       bool data) {
    long double expected[3][2];
    double size = 0, worst = 0;
    for (int i = 0; i < s->n; i++) {
        size += s->weight[i] * (data ? fabs(s->y[i * B + l]) : 1);
    }
    direct(s, l, j, k, conjugate, data, expected);
    for (int c = 0; c < 6; c++) {
        const double error =
            (double)fabsl((long double)sum[c / 2][c % 2][l] - expected[c / 2][c % 2]) / size;
        worst = larger(worst, error);
    }
    return worst;
}

/* Largest errors of lanes of every group: sums with y, without. */
static void errors_of(const sample *s, sxi_dcos_sums *sums, double worst[2]) {
    worst[0] = worst[1] = 0;
    for (int l = 0; l < B; l += l < 3 ? 1 : 7) {
        for (int k = 0; k < s->modes; k++) {
            worst[0] = larger(worst[0], error_of(sums->z[k], s, l, k, -1, false, true));
            worst[1] = larger(worst[1], error_of(sums->one[k], s, l, k, -1, false, false));
            for (int j = 0; j <= k; j++) {
                const int p = sxi_dcos_pair(j, k);
                worst[1] = larger(worst[1], error_of(sums->plus[p], s, l, j, k, false, false));
                worst[1] = larger(worst[1], error_of(sums->minus[p], s, l, j, k, true, false));
            }
        }
    }
}

/* Theta all over the box, decays within least .. most. */
static void scatter(sample *s, double least, double most) {
    for (int l = 0; l < B; l++) {
        for (int k = 0; k < s->modes; k++) {
            s->bundle.theta[2 * k][l] = uniform(8, 4 * l + k, least, most);
            s->bundle.theta[2 * k + 1][l] = uniform(9, 4 * l + k, 0.5, s->shared->frequency_most);
        }
    }
    for (int k = 0; k < s->modes; k++) { /* corners, and two modes that are one */
        s->bundle.theta[2 * k][0] = s->bundle.theta[2 * k][1] = most;
        s->bundle.theta[2 * k][2] = s->bundle.theta[2 * k][3] = least;
        s->bundle.theta[2 * k + 1][0] = s->bundle.theta[2 * k + 1][2] = s->shared->frequency_most;
        s->bundle.theta[2 * k + 1][1] = s->bundle.theta[2 * k + 1][3] = 0.5;
    }
}

static sxi_dcos_sums *sums_create(void) {
    sxi_dcos_sums *sums = calloc(1, sizeof *sums);
    ck_assert_ptr_nonnull(sums);
    return sums;
}

/* Rounding aside, sums with y are as good as the taps, 4e-11 at worst and 1e-8 where the grid takes
 * a quarter of an e-folding a step; those without y as the series, 1e-13 of the largest exp. */
typedef struct band {
    double least, most;
    double with_y, single, without_y;
} band;
static const band BANDS[] = {{-3, 0, 4e-10, 2e-2, 1e-11},
                             {0, 10, 4e-11, 1e-3, 1e-12},
                             {10, 60, 1e-9, 1e-4, 1e-12},
                             {60, 110, 1e-8, 1e-4, 1e-12}};

START_TEST(sums_are_sums) {
    for (int d = 0; d < 4 * KINDS; d++) {
        const delays kind = (delays)(d % (int)KINDS);
        const int modes = 1 + d / KINDS;
        sample s;
        sxi_dcos_sums *sums = sums_create();
        sample_make(kind, 200, modes, kind == EVEN_WEIGHTED ? 99.4 : 160, 0.1, &s);
        for (size_t r = 0; r < sizeof BANDS / sizeof *BANDS; r++) {
            const band *in = &BANDS[r];
            ck_assert(in->most < s.shared->decay_most);
            scatter(&s, in->least, in->most);
            for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
                const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
                double error[2], single[2];
                kernels->shared(modes, s.shared, s.spread, SXI_ALL_LANES, &s.bundle, sums);
                errors_of(&s, sums, error);
                kernels->shared_single(modes, s.shared, s.single, SXI_ALL_LANES, &s.bundle, sums);
                errors_of(&s, sums, single);
                if (modes == 2 && v == 0) {
                    printf("%-12s decays %3g .. %-4g errors: with y %.1e, single %.1e, without y "
                           "%.1e\n",
                           KIND[kind], in->least, in->most, error[0], single[0], error[1]);
                }
                ck_near(error[0], 0, 0, in->with_y);
                ck_near(single[0], 0, 0, in->single);
                ck_near(error[1], 0, 0, in->without_y);
                ck_near(single[1], 0, 0, in->without_y);
            }
        }
        free(sums);
        sample_free(&s);
    }
}
END_TEST

static void minimise(const sxi_dcos_kernels *kernels, sample *s, bool single) {
    static const sxi_dcos_box BOX = {-3, 100, 0.5, 160, 1e-8, 1e-12};
    sxi_dcos_sums *sums = sums_create();
    while (s->bundle.running) {
        if (single) {
            kernels->shared_single(s->modes, s->shared, s->single, s->bundle.running, &s->bundle,
                                   sums);
        } else {
            kernels->shared(s->modes, s->shared, s->spread, s->bundle.running, &s->bundle, sums);
        }
        kernels->step(s->modes, &BOX, sums, &s->bundle);
    }
    free(sums);
}

START_TEST(noiseless_traces_give_their_truth) {
    for (int d = 0; d < 4 * KINDS; d++) {
        const delays kind = (delays)(d % (int)KINDS);
        const int modes = 1 + d / KINDS;
        for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
            sample s;
            sample_make(kind, 200, modes, kind == EVEN_WEIGHTED ? 99.4 : 160, 0, &s);
            minimise(sxi_dcos_kernels_variant(v), &s, false);
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
END_TEST

/* Variants with fused products agree in every bit, the plain one in most. */
START_TEST(variants_agree) {
    for (int v = 1; sxi_dcos_kernels_variant(v); v++) {
        for (int d = 0; d < 8; d++) {
            const int modes = 1 + d % 4, single = d / 4;
            const delays kind = (delays)(3 * d % (int)KINDS);
            const double most = kind == EVEN_WEIGHTED ? 70 : 160;
            if (v == 1 && single) {
                continue;
            }
            sample a, b;
            sample_make(kind, 150, modes, most, 0.1, &a);
            sample_make(kind, 150, modes, most, 0.1, &b);
            spread(sxi_dcos_kernels_variant(v - 1), &a);
            spread(sxi_dcos_kernels_variant(v), &b);
            minimise(sxi_dcos_kernels_variant(v - 1), &a, single);
            minimise(sxi_dcos_kernels_variant(v), &b, single);
            if (v > 1) {
                const size_t points = (size_t)a.shared->room * B;
                ck_assert_mem_eq(a.spread, b.spread, points * sizeof *a.spread);
                ck_assert_mem_eq(a.single, b.single, points * sizeof *a.single);
                ck_assert_mem_eq(&a.bundle, &b.bundle, sizeof a.bundle);
            }
            for (int i = 0; i < 2 * modes * B; i++) {
                ck_near(a.bundle.theta[i / B][i % B], b.bundle.theta[i / B][i % B], 1e-6, 1e-6);
            }
            sample_free(&a);
            sample_free(&b);
        }
    }
}
END_TEST

/* A trace alone is spread as among others. */
START_TEST(spreading_does_not_know_neighbours) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        sample s;
        sample_make(CLUSTERED, 200, 1, 160, 0.1, &s);
        spread(kernels, &s);
        for (int l = 0; l < 5; l++) {
            double row[200], *out = malloc((size_t)s.shared->room * sizeof *out);
            const double *const from[] = {row};
            double *const to[] = {out};
            for (int i = 0; i < 200; i++) {
                row[i] = s.y[i * B + l];
            }
            kernels->spread(s.shared, 1, from, to);
            for (int64_t j = 0; j < s.shared->room; j++) {
                ck_assert(out[j] == s.spread[j * B + l]);
            }
            free(out);
        }
        sample_free(&s);
    }
}
END_TEST

/* Even delays and weights 1: bit for bit what the kernel for those gives, with y, and nearly so
 * without. */
START_TEST(equal_weights_are_those_of_even_delays) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        sample s;
        sxi_dcos_even even;
        sxi_dcos_sums *a = sums_create(), *b = sums_create();
        sample_make(EVEN_WEIGHTED, 100, 3, 49, 0.1, &s);
        sxi_dcos_shared_destroy(&s.shared);
        ck_ok(sxi_dcos_shared_create(&s.grid, NULL, &s.shared));
        sxi_dcos_even_make(100, s.grid.dx, &even);
        kernels->shared(3, s.shared, s.y, SXI_ALL_LANES, &s.bundle, a);
        kernels->even(3, &even, s.y, SXI_ALL_LANES, &s.bundle, b);
        ck_assert_mem_eq(a->z, b->z, 3 * sizeof *a->z);
        const double *p = &a->one[0][0][0][0], *q = &b->one[0][0][0][0];
        for (int i = 0; i < 3 * 3 * 2 * B; i++) {
            ck_near(p[i], q[i], 0, 1e-10);
        }
        free(a);
        free(b);
        sample_free(&s);
    }
}
END_TEST

/* The factor turns a sum over the grid into that over the delays. */
START_TEST(factor_makes_up_for_spreading) {
    sample s;
    sample_make(RANDOM, 120, 1, 90, 0.1, &s);
    for (int c = 0; c < 24; c++) {
        const double g = c % 3 * 12, f = (c / 3 - 4) * 22.4;
        double factor[2], over[2] = {0, 0}, expected[2] = {0, 0}, size = 0;
        sxi_dcos_shared_factor(s.shared, g, f, factor);
        for (int64_t j = 0; j < s.shared->samples; j++) {
            const double x = s.shared->first + (double)j * s.shared->dx;
            const double v = s.spread[j * B] * exp(-g * x), angle = (double)TWO_PI * f * x;
            over[0] += v * cos(angle);
            over[1] -= v * sin(angle);
        }
        for (int i = 0; i < s.n; i++) {
            const double x = s.grid.x[i], angle = (double)TWO_PI * f * x;
            expected[0] += s.y[i * B] * exp(-g * x) * cos(angle);
            expected[1] -= s.y[i * B] * exp(-g * x) * sin(angle);
            size += fabs(s.y[i * B]);
        }
        ck_near(over[0] * factor[0] - over[1] * factor[1], expected[0], 0, 1e-9 * size);
        ck_near(over[0] * factor[1] + over[1] * factor[0], expected[1], 0, 1e-9 * size);
    }
    sample_free(&s);
}
END_TEST

/* Tables that would be too large are not made, and that is no failure. */
START_TEST(what_would_not_pay_is_not_made) {
    double x[20];
    sxi_dcos_shared *shared;
    sxi_dcos_grid grid = {
        .n = 20, .x = x, .decay_least = -3, .decay_most = 100, .frequency_bound = 90};
    for (int i = 0; i < 20; i++) {
        x[i] = sqrt(i / 19.0);
    }
    ck_ok(sxi_dcos_shared_create(&grid, NULL, &shared)); /* 269 points > 160 */
    ck_assert_ptr_null(shared);
    grid.frequency_bound = 40;
    ck_ok(sxi_dcos_shared_create(&grid, NULL, &shared)); /* 129 */
    ck_assert_ptr_nonnull(shared);
    sxi_dcos_shared_destroy(&shared);
    sxi_dcos_shared_destroy(&shared);
    grid.n = 60000;
    grid.dx = 1.0 / 59999;
    grid.frequency_bound = 29999;
    ck_ok(sxi_dcos_shared_create(&grid, NULL, &shared)); /* before x is read */
    ck_assert_ptr_null(shared);
}
END_TEST

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What a bench repeats, on four traces or a bundle. */
typedef enum work { SHARED, SHARED_SINGLE, SPREAD, SPREAD_SINGLE, SPREAD_ONE, TASKS } work;

static void do_task(work task, const sxi_dcos_kernels *kernels, const sample *s,
                    sxi_dcos_sums *sums, double *row, float *row_single) {
    const double *const from[4] = {s->y, s->y + 200, s->y + 400, s->y + 600};
    double *const to[4] = {row, row + 500, row + 1000, row + 1500};
    const float *const from_single[4] = {s->single, s->single + 200, s->single + 400,
                                         s->single + 600};
    float *const to_single[4] = {row_single, row_single + 500, row_single + 1000,
                                 row_single + 1500};
    switch (task) {
    case SHARED:
        kernels->shared(s->modes, s->shared, s->spread, SXI_ALL_LANES, &s->bundle, sums);
        break;
    case SHARED_SINGLE:
        kernels->shared_single(s->modes, s->shared, s->single, SXI_ALL_LANES, &s->bundle, sums);
        break;
    case SPREAD:
        kernels->spread(s->shared, 4, from, to);
        break;
    case SPREAD_SINGLE:
        kernels->spread_single(s->shared, 4, from_single, to_single);
        break;
    default:
        kernels->spread(s->shared, 1, from, to);
    }
}

/* Nanoseconds a trace and pass, the least of some rounds: other load only adds. */
static void bench_modes(const sxi_dcos_kernels *kernels, int modes) {
    enum { ROUNDS = 30, PASSES = 50 };
    const int traces[TASKS] = {B, B, 4, 4, 1};
    sample s;
    sxi_dcos_sums *sums = calloc(1, sizeof *sums);
    double *row = malloc(2000 * sizeof *row), took[TASKS], making = seconds();
    float *row_single = malloc(2000 * sizeof *row_single);
    sample_make(CLUSTERED, 200, modes, 160, 0.1, &s);
    making = seconds() - making;
    for (work task = 0; task < TASKS; task++) {
        took[task] = (double)INFINITY;
        for (int round = 0; round < ROUNDS; round++) {
            const double start = seconds();
            for (int i = 0; i < PASSES; i++) {
                do_task(task, kernels, &s, sums, row, row_single);
            }
            took[task] = fmin(took[task], 1e9 * (seconds() - start) / PASSES / traces[task]);
        }
    }
    printf("%-7s %d modes, 200 samples on %d points, ns a trace: shared %.1f, single %.1f, "
           "spread %.1f, single %.1f, alone %.1f; made in %.1f ms\n",
           kernels->name, modes, (int)s.shared->samples, took[SHARED], took[SHARED_SINGLE],
           took[SPREAD], took[SPREAD_SINGLE], took[SPREAD_ONE], 1e3 * making);
    free(row);
    free(row_single);
    free(sums);
    sample_free(&s);
}

static void bench(void) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        for (int modes = 1; modes <= MOST; modes++) {
            bench_modes(sxi_dcos_kernels_variant(v), modes);
        }
    }
}

SX_TEST_RUNNER("dcos_shared", run_tests, sums_are_sums, noiseless_traces_give_their_truth,
               variants_agree, spreading_does_not_know_neighbours,
               equal_weights_are_those_of_even_delays, factor_makes_up_for_spreading,
               what_would_not_pay_is_not_made)

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    return run_tests();
}
