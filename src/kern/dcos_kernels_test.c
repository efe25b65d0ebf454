/* SPDX-License-Identifier: Apache-2.0
 * Every variant of the kernels against sums in long double, against each other, and down to the
 * minimum of a trace that is known. `--bench` times them. */
#include "kern/dcos_kernels.h"

#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "sx_check.h"

enum { B = SXI_BUNDLE, MOST = SXI_DCOS_MOST_MODES };

static double uniform(uint32_t stream, int i, double low, double high) {
    return low + (high - low) * sxi_rng_uniform(71, stream, (uint64_t)i);
}

/* A bundle of noisy traces of so many modes, theta a few percent off the truth. */
typedef struct sample {
    int n, modes;
    double dx;
    sxi_dcos_even grid;
    double *y; /* [n][B] */
    float *single;
    double truth[2 * MOST][B];
    sxi_dcos_bundle bundle;
} sample;

static void sample_make(int n, int modes, double noise, sample *s) {
    memset(s, 0, sizeof *s);
    s->n = n;
    s->modes = modes;
    s->dx = 1.0 / (n - 1);
    sxi_dcos_even_make(n, s->dx, &s->grid);
    s->y = malloc((size_t)n * B * sizeof *s->y);
    s->single = malloc((size_t)n * B * sizeof *s->single);
    for (int l = 0; l < B; l++) {
        double mean = 0;
        for (int k = 0; k < modes; k++) {
            s->truth[2 * k][l] = uniform(1, 4 * l + k, 0.3, 6);
            s->truth[2 * k + 1][l] = uniform(2, 4 * l + k, 2 + 9 * k, 9 + 9 * k);
        }
        for (int i = 0; i < n; i++) {
            double x = i * s->dx, value = noise * sxi_rng_normal(71, 3, (uint64_t)(l * n + i));
            for (int k = 0; k < modes; k++) {
                value += exp(-s->truth[2 * k][l] * x) *
                         cos(6.283185307179586 * s->truth[2 * k + 1][l] * x + l + k);
            }
            s->y[i * B + l] = value;
            mean += value / n;
        }
        for (int i = 0; i < n; i++) {
            s->y[i * B + l] -= mean;
            s->single[i * B + l] = (float)s->y[i * B + l];
            s->bundle.yy[l] += s->y[i * B + l] * s->y[i * B + l];
        }
        for (int k = 0; k < modes; k++) {
            s->bundle.theta[2 * k][l] = s->truth[2 * k][l] * uniform(4, 4 * l + k, 0.9, 1.1);
            s->bundle.theta[2 * k + 1][l] =
                s->truth[2 * k + 1][l] + uniform(5, 4 * l + k, -0.1, 0.1);
        }
        s->bundle.total[l] = n;
        s->bundle.freedom[l] = n - 1 - 4 * modes;
        s->bundle.worth[l] = (double)INFINITY;
    }
    s->bundle.fresh = s->bundle.running = SXI_ALL_LANES;
}

static void sample_free(sample *s) {
    free(s->y);
    free(s->single);
}

static const sxi_dcos_box BOX = {-3, 400, 0.5, 90, 1e-8, 1e-12};

/* sum w y^p x^m exp((s_j + s_k or conj s_k) x); k < 0: only s_j */
static void direct(const sample *s, int l, int j, int k, bool conjugate, bool data, int m,
                   long double out[2]) {
    const long double pi2 = 6.283185307179586476925286766559005768L;
    out[0] = out[1] = 0;
    for (int i = 0; i < s->n; i++) {
        long double x = (long double)i * s->dx, g = s->bundle.theta[2 * j][l],
                    f = s->bundle.theta[2 * j + 1][l];
        if (k >= 0) {
            g += s->bundle.theta[2 * k][l];
            f += conjugate ? -s->bundle.theta[2 * k + 1][l] : s->bundle.theta[2 * k + 1][l];
        }
        long double w = expl(-g * x) * powl(x, m) * (data ? (long double)s->y[i * B + l] : 1);
        out[0] += w * cosl(pi2 * f * x);
        out[1] += w * sinl(pi2 * f * x);
    }
}

/* Relative to what the sum could be: the number of samples. */
static void sum_is(sxi_dcos_sum sum, const sample *s, int l, int j, int k, bool conjugate,
                   bool data, double tolerance) {
    for (int m = 0; m < 3; m++) {
        long double expected[2];
        direct(s, l, j, k, conjugate, data, m, expected);
        ck_near(sum[m][0][l], (double)expected[0], 0, tolerance * s->n);
        ck_near(sum[m][1][l], (double)expected[1], 0, tolerance * s->n);
    }
}

/* Close pairs and slow decays included: the differences of modes 0 and 1 go down to nothing. */
START_TEST(even_sums_are_sums) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        for (int n = 8; n < 400; n = 2 * n + 11) {
            for (int modes = 1; modes <= MOST; modes++) {
                sample s;
                sxi_dcos_sums *sums = malloc(sizeof *sums);
                sample_make(n, modes, 0.1, &s);
                for (int l = 0; l < B; l++) { /* inside the band of few samples */
                    for (int k = 0; k < modes; k++) {
                        s.bundle.theta[2 * k + 1][l] *= n < 80 ? 0.06 * n / 8 / (k + 1) : 1;
                    }
                    if (modes > 1 && l % 4 == 0) {
                        s.bundle.theta[2][l] = s.bundle.theta[0][l] * (l % 8 ? 1 : 1e-3);
                        s.bundle.theta[3][l] = s.bundle.theta[1][l] + 0.01 * l;
                    }
                }
                kernels->even(modes, &s.grid, s.y, SXI_ALL_LANES, &s.bundle, sums);
                for (int l = 0; l < B; l++) {
                    for (int k = 0; k < modes; k++) {
                        /* Goertzel near zero frequency: rounding grows with n / sin, cubed for x^2 */
                        sum_is(sums->z[k], &s, l, k, -1, false, true, 2e-10);
                        sum_is(sums->one[k], &s, l, k, -1, false, false, 2e-12);
                        for (int j = 0; j <= k; j++) {
                            int p = sxi_dcos_pair(j, k);
                            sum_is(sums->plus[p], &s, l, j, k, false, false, 2e-12);
                            sum_is(sums->minus[p], &s, l, j, k, true, false, 2e-12);
                        }
                    }
                }
                kernels->even_single(modes, &s.grid, s.single, SXI_ALL_LANES, &s.bundle, sums);
                for (int l = 0; l < B; l++) {
                    for (int k = 0; k < modes; k++) {
                        sum_is(sums->z[k], &s, l, k, -1, false, true, 5e-2);
                        sum_is(sums->one[k], &s, l, k, -1, false, false, 2e-12);
                    }
                }
                free(sums);
                sample_free(&s);
            }
        }
    }
}
END_TEST

static void minimise(const sxi_dcos_kernels *kernels, sample *s, bool single) {
    sxi_dcos_sums *sums = calloc(1, sizeof *sums);
    while (s->bundle.running) {
        if (single) {
            kernels->even_single(s->modes, &s->grid, s->single, s->bundle.running, &s->bundle,
                                 sums);
        } else {
            kernels->even(s->modes, &s->grid, s->y, s->bundle.running, &s->bundle, sums);
        }
        kernels->step(s->modes, &BOX, sums, &s->bundle);
    }
    free(sums);
}

/* Groups of lanes and single ones, every length, and nothing beside. */
START_TEST(fill_puts_rows_into_lanes) {
    enum { N = 23 };
    static double from[B][N], y[N * B];
    static float single[N * B];
    const double *row[B] = {0};
    double shift[B], part[B];
    for (int l = 0; l < B; l++) {
        shift[l] = uniform(31, l, -2, 2);
        part[l] = uniform(32, l, 0.5, 2);
        for (int i = 0; i < N; i++) {
            from[l][i] = uniform(33, N * l + i, -5, 5);
        }
    }
    const uint32_t sets[] = {SXI_ALL_LANES, 0x00ff, 0x0ff3, 0x8421, 0x7fff};
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        for (int c = 0; c < (int)(sizeof sets / sizeof *sets) * N; c++) {
            const uint32_t set = sets[c / N];
            const int n = c % N + 1;
            for (int k = 0; k < N * B; k++) {
                y[k] = single[k] = -77;
            }
            for (int l = 0; l < B; l++) {
                row[l] = set >> l & 1 ? from[l] : NULL;
            }
            kernels->fill(n, row, shift, part, set, y);
            kernels->fill_single(n, row, shift, part, set, single);
            for (int k = 0; k < N * B; k++) {
                const int i = k / B, l = k % B;
                const bool put = i < n && set >> l & 1;
                const double expected = put ? (from[l][i] - shift[l]) * part[l] : -77;
                ck_assert(y[k] == expected && single[k] == (float)expected);
            }
        }
    }
}
END_TEST

START_TEST(noiseless_traces_give_their_truth) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        for (int modes = 1; modes <= MOST; modes++) {
            sample s;
            sample_make(200, modes, 0, &s);
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

/* At the minimum of noisy traces: the covariance is the inverse of J'J, J by differences of the
 * model; and the rss is that of the residual. */
static void model(const sample *s, int l, const double *p, double *m) {
    for (int i = 0; i < s->n; i++) {
        double x = i * s->dx;
        m[i] = p[0];
        for (int k = 0; k < s->modes; k++) {
            const double *q = p + 1 + 2 * s->modes + 2 * k;
            double angle = 6.283185307179586 * q[1] * x;
            m[i] += exp(-q[0] * x) * (p[1 + 2 * k] * cos(angle) + p[2 + 2 * k] * sin(angle));
        }
    }
    (void)l;
}

static void covariance_is_inverse(const sample *s, const sxi_dcos_errors *errors, int l) {
    enum { P = SXI_DCOS_PARAMETERS };
    const int count = 1 + 4 * s->modes;
    double p[P], *j = malloc((size_t)(s->n * P) * sizeof *j), rss = 0;
    double *m = malloc((size_t)s->n * 2 * sizeof *m);
    for (int i = 0; i < count; i++) {
        p[i] = i < 1 + 2 * s->modes ? s->bundle.coefficient[i][l]
                                    : s->bundle.best[i - 1 - 2 * s->modes][l];
    }
    model(s, l, p, m);
    for (int i = 0; i < s->n; i++) {
        rss += (s->y[i * B + l] - m[i]) * (s->y[i * B + l] - m[i]);
    }
    ck_near(s->bundle.rss[l], rss, 1e-10, 0);
    for (int k = 0; k < count; k++) {
        double step = 1e-5, was = p[k];
        p[k] = was + step;
        model(s, l, p, m);
        p[k] = was - step;
        model(s, l, p, m + s->n);
        p[k] = was;
        for (int i = 0; i < s->n; i++) {
            j[i * P + k] = (m[i] - m[s->n + i]) / (2 * step);
        }
    }
    for (int a = 0; a < count; a++) { /* (J'J) C = 1 */
        for (int b = 0; b < count; b++) {
            double sum = 0, size = 0;
            for (int k = 0; k < count; k++) {
                double jj = 0;
                for (int i = 0; i < s->n; i++) {
                    jj += j[i * P + a] * j[i * P + k];
                }
                int row = k > b ? k : b, column = k > b ? b : k;
                double c = errors->covariance[row * (row + 1) / 2 + column][l];
                sum += jj * c;
                size += fabs(jj * c);
            }
            /* differences of the model are good to 1e-9 of themselves */
            ck_near(sum, a == b ? 1 : 0, 0, 1e-7 * size);
        }
    }
    free(j);
    free(m);
}

START_TEST(errors_are_the_inverse_of_the_normal_matrix) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        for (int modes = 1; modes <= MOST; modes++) {
            sample s;
            sxi_dcos_sums *sums = calloc(1, sizeof *sums);
            sxi_dcos_errors *errors = calloc(1, sizeof *errors);
            sample_make(200, modes, 0.05, &s);
            minimise(kernels, &s, false);
            ck_assert_uint_eq(s.bundle.failed, 0);
            kernels->even(modes, &s.grid, s.y, SXI_ALL_LANES, &s.bundle, sums);
            kernels->errors(modes, sums, SXI_ALL_LANES, &s.bundle, errors);
            ck_assert_uint_eq(errors->singular, 0);
            for (int l = 0; l < B; l++) {
                ck_assert(s.bundle.decrement[l] <= 1e-14 * s.bundle.rss[l] / s.bundle.freedom[l]);
                covariance_is_inverse(&s, errors, l);
            }
            free(sums);
            free(errors);
            sample_free(&s);
        }
    }
}
END_TEST

/* Variants with fused products agree in every bit, the plain one in most. */
START_TEST(variants_agree) {
    for (int v = 2; sxi_dcos_kernels_variant(v); v++) {
        for (int modes = 1; modes <= MOST; modes++) {
            for (int single = 0; single < 2; single++) {
                sample a, b;
                sample_make(150, modes, 0.1, &a);
                sample_make(150, modes, 0.1, &b);
                minimise(sxi_dcos_kernels_variant(v - 1), &a, single);
                minimise(sxi_dcos_kernels_variant(v), &b, single);
                ck_assert_mem_eq(&a.bundle, &b.bundle, sizeof a.bundle);
                sample_free(&a);
                sample_free(&b);
            }
        }
    }
    sample plain, fused;
    sample_make(150, 2, 0.1, &plain);
    sample_make(150, 2, 0.1, &fused);
    int last = 0;
    while (sxi_dcos_kernels_variant(last + 1)) {
        last++;
    }
    minimise(sxi_dcos_kernels_variant(0), &plain, false);
    minimise(sxi_dcos_kernels_variant(last), &fused, false);
    for (int i = 0; i < 4; i++) {
        for (int l = 0; l < B; l++) {
            ck_near(plain.bundle.theta[i][l], fused.bundle.theta[i][l], 1e-8, 1e-8);
        }
    }
    sample_free(&plain);
    sample_free(&fused);
}
END_TEST

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds a trace and pass of sums, sums in single precision, step and errors. */
static void bench(void) {
    for (int v = 0; sxi_dcos_kernels_variant(v); v++) {
        const sxi_dcos_kernels *kernels = sxi_dcos_kernels_variant(v);
        for (int modes = 1; modes <= MOST; modes++) {
            enum { PASSES = 4000, KINDS = 4 };
            sample s;
            sxi_dcos_sums *sums = calloc(1, sizeof *sums);
            sxi_dcos_errors *errors = calloc(1, sizeof *errors);
            sxi_dcos_bundle *scratch = malloc(sizeof *scratch);
            double took[KINDS];
            sample_make(200, modes, 0.1, &s);
            for (int kind = 0; kind < KINDS; kind++) {
                double start = seconds();
                for (int i = 0; i < PASSES; i++) {
                    if (kind == 0) {
                        kernels->even(modes, &s.grid, s.y, SXI_ALL_LANES, &s.bundle, sums);
                    } else if (kind == 1) {
                        kernels->even_single(modes, &s.grid, s.single, SXI_ALL_LANES, &s.bundle,
                                             sums);
                    } else if (kind == 2) {
                        s.bundle.running = SXI_ALL_LANES;
                        kernels->step(modes, &BOX, sums, &s.bundle);
                    } else {
                        kernels->errors(modes, sums, SXI_ALL_LANES, &s.bundle, errors);
                    }
                }
                took[kind] = 1e9 * (seconds() - start) / PASSES / B;
            }
            printf("%-7s %d modes, 200 samples, ns a trace: even %.1f, single %.1f, step %.1f, "
                   "errors %.1f\n",
                   kernels->name, modes, took[0], took[1], took[2], took[3]);
            free(sums);
            free(errors);
            free(scratch);
            sample_free(&s);
        }
    }
}

SX_TEST_RUNNER("dcos_kernels", run_tests, even_sums_are_sums, fill_puts_rows_into_lanes,
               noiseless_traces_give_their_truth, errors_are_the_inverse_of_the_normal_matrix,
               variants_agree)

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    return run_tests();
}
