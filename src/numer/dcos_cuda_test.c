/* SPDX-License-Identifier: Apache-2.0
 * Fits on a GPU against those of the processor. ctest runs this twice: with libsextant_cuda.so, which
 * needs a GPU, and with its stand-in, the same source compiled for the host. */
#include <string.h>

#include "base/rng.h"
#include "numer/dcos_cuda.h"
#include "numer/dcos_fast.h"
#include "sx_check.h"

enum { B = SXI_BUNDLE, BUNDLES = 3, N = 100 };

static const sxi_dcos_box BOX = {-3, 400, 0.5, 45, 1e-6, 1e-12};

static double uniform(uint32_t stream, int64_t i, double low, double high) {
    return low + (high - low) * sxi_rng_uniform(94, stream, (uint64_t)i);
}

/* Bundles of noisy traces of so many modes, starts a few percent off the truth. */
typedef struct sample {
    int modes;
    bool weighted;
    double x[N], w[BUNDLES][N][B], y[BUNDLES][N][B];
    sxi_dcos_bundle bundle[BUNDLES];
    sxi_dcos_errors errors[BUNDLES];
    sxi_dcos_delays delays;
    sxi_dcos_even even;
} sample;

static void fill_trace(sample *s, int b, int l) {
    sxi_dcos_bundle *bundle = &s->bundle[b];
    const int64_t p = b * B + l;
    double mean = 0, total = 0, g[4], f[4];
    for (int k = 0; k < s->modes; k++) {
        g[k] = uniform(1, 4 * p + k, 0.3, 6);
        f[k] = uniform(2, 4 * p + k, 2 + 9 * k, 9 + 9 * k);
        bundle->theta[2 * k][l] = g[k] * uniform(3, 4 * p + k, 0.9, 1.1);
        bundle->theta[2 * k + 1][l] = f[k] + uniform(4, 4 * p + k, -0.1, 0.1);
    }
    for (int i = 0; i < N; i++) {
        double y = 0.1 * sxi_rng_normal(94, 5, (uint64_t)(p * N + i));
        for (int k = 0; k < s->modes; k++) {
            y += exp(-g[k] * s->x[i]) * cos(6.283185307179586 * f[k] * s->x[i] + (double)k);
        }
        const double w = s->weighted ? uniform(6, p * N + i, 0.1, 2) : 1;
        s->w[b][i][l] = w;
        s->y[b][i][l] = y;
        mean += w * y;
        total += w;
    }
    for (int i = 0; i < N; i++) {
        s->y[b][i][l] -= mean / total;
        bundle->yy[l] += s->w[b][i][l] * s->y[b][i][l] * s->y[b][i][l];
    }
    bundle->total[l] = total;
    bundle->freedom[l] = N - 1 - 4 * s->modes;
    bundle->worth[l] = (double)INFINITY;
}

static sample *sample_make(int modes, bool weighted) {
    sample *s = calloc(1, sizeof *s);
    s->modes = modes;
    s->weighted = weighted;
    s->delays = (sxi_dcos_delays){N, s->x, weighted ? 0 : 1.0 / (N - 1)};
    for (int i = 0; i < N; i++) {
        const double part = (double)i / (N - 1);
        s->x[i] = weighted ? part * (0.3 + 0.7 * part) : i * s->delays.dx;
    }
    if (!weighted) {
        sxi_dcos_even_make(N, s->delays.dx, &s->even);
    }
    for (int b = 0; b < BUNDLES; b++) {
        for (int l = 0; l < B; l++) {
            fill_trace(s, b, l);
        }
        /* Lanes that do not run, in the last bundle. */
        s->bundle[b].fresh = s->bundle[b].running = b + 1 < BUNDLES ? SXI_ALL_LANES : 0x5ff;
    }
    return s;
}

static void sums(const sxi_dcos_kernels *kernels, sample *s, int b, sxi_dcos_sums *made) {
    if (s->weighted) {
        kernels->direct(s->modes, &s->delays, s->w[b][0], s->y[b][0], SXI_ALL_LANES, &s->bundle[b],
                        made);
    } else {
        kernels->even(s->modes, &s->even, s->y[b][0], SXI_ALL_LANES, &s->bundle[b], made);
    }
}

static void run_here(const sxi_dcos_kernels *kernels, sample *s) {
    sxi_dcos_sums *made = calloc(1, sizeof *made);
    for (int b = 0; b < BUNDLES; b++) {
        while (s->bundle[b].running) {
            sums(kernels, s, b, made);
            kernels->step(s->modes, &BOX, made, &s->bundle[b]);
        }
    }
    free(made);
}

static void errors_here(const sxi_dcos_kernels *kernels, sample *s) {
    sxi_dcos_sums *made = calloc(1, sizeof *made);
    for (int b = 0; b < BUNDLES; b++) {
        sums(kernels, s, b, made);
        kernels->errors(s->modes, made, SXI_ALL_LANES, &s->bundle[b], &s->errors[b]);
    }
    free(made);
}

static void run_there(sample *s, bool errors) {
    char why[SXI_CUDA_WHY] = "";
    sxi_dcos_cuda cuda;
    sxi_cuda_dcos *made;
    const double *w = s->weighted ? s->w[0][0] : NULL;
    ck_ok(sxi_dcos_cuda_open(&cuda));
    ck_assert_int_eq(cuda.create(BUNDLES, &s->delays, &s->even, &made, why), 0);
    const int failed =
        errors ? cuda.errors(made, s->modes, BUNDLES, w, s->y[0][0], s->bundle, s->errors, why)
               : cuda.minimise(made, s->modes, &BOX, BUNDLES, w, s->y[0][0], s->bundle, why);
    ck_assert_msg(failed == 0, "%s", why);
    cuda.destroy(&made);
}

/* Products are fused at the same places as in these. */
static const sxi_dcos_kernels *fused(void) {
    const sxi_dcos_kernels *found = sxi_dcos_kernels_find("avx512");
    return found ? found : sxi_dcos_kernels_find("avx2");
}

/* Plain C rounds products too: a minimum is then the same to what its sums are good to. */
static void near_c(const sample *a, const sample *c) {
    for (int b = 0; b < BUNDLES; b++) {
        ck_assert_uint_eq(a->bundle[b].running, 0);
        ck_assert_uint_eq(a->bundle[b].fresh, 0);
        ck_assert_uint_eq(a->bundle[b].failed, c->bundle[b].failed);
        for (int l = 0; l < B; l++) {
            if (c->bundle[b].failed >> l & 1) {
                continue;
            }
            for (int i = 0; i < 2 * a->modes; i++) {
                ck_near(a->bundle[b].theta[i][l], c->bundle[b].theta[i][l], 1e-7, 1e-7);
            }
            ck_near(a->bundle[b].rss[l], c->bundle[b].rss[l], 1e-9, 1e-9);
        }
    }
}

START_TEST(minima_are_those_of_the_processor) {
    for (int i = 0; i < 8; i++) {
        const int modes = 1 + i / 2;
        sample *there = sample_make(modes, i % 2), *c = sample_make(modes, i % 2);
        run_there(there, false);
        run_here(sxi_dcos_kernels_variant(0), c);
        near_c(there, c);
        if (fused()) {
            sample *here = sample_make(modes, i % 2);
            run_here(fused(), here);
            ck_assert_mem_eq(there->bundle, here->bundle, sizeof here->bundle);
            free(here);
        }
        free(there);
        free(c);
    }
}
END_TEST

START_TEST(errors_are_those_of_the_processor) {
    for (int i = 0; i < 8; i++) {
        const int modes = 1 + i / 2, parameters = 1 + 4 * modes;
        sample *there = sample_make(modes, i % 2), *here = sample_make(modes, i % 2);
        run_there(there, true);
        errors_here(fused() ? fused() : sxi_dcos_kernels_variant(0), here);
        for (int b = 0; b < BUNDLES; b++) {
            const uint32_t unlike = there->errors[b].singular ^ here->errors[b].singular;
            ck_assert_uint_eq(unlike & SXI_ALL_LANES, 0); /* other bits mean nothing */
            for (int k = 0; k < parameters * (parameters + 1) / 2; k++) {
                for (int l = 0; l < B; l++) {
                    /* Roundings of the sums, times the condition of traces that start off theirs. */
                    const double expected = here->errors[b].covariance[k][l];
                    ck_near(there->errors[b].covariance[k][l], expected, fused() ? 0 : 1e-6,
                            fused() ? 0 : 1e-9);
                }
            }
        }
        free(there);
        free(here);
    }
}
END_TEST

START_TEST(what_has_no_room_is_refused) {
    char why[SXI_CUDA_WHY] = "";
    sxi_dcos_cuda cuda;
    sxi_cuda_dcos *made;
    sample *s = sample_make(1, false);
    const sxi_dcos_bundle before = s->bundle[0];
    ck_ok(sxi_dcos_cuda_open(&cuda));
    ck_assert_int_eq(cuda.create(1, &s->delays, &s->even, &made, why), 0);
    ck_assert_int_ne(cuda.minimise(made, 1, &BOX, 2, NULL, s->y[0][0], s->bundle, why), 0);
    ck_assert_str_eq(why, "2 bundles of 1 modes: there is room for 1 of up to 4");
    ck_assert_int_ne(cuda.minimise(made, 5, &BOX, 1, NULL, s->y[0][0], s->bundle, why), 0);
    ck_assert_mem_eq(&before, &s->bundle[0], sizeof before);
    cuda.destroy(&made);
    ck_assert_ptr_null(made);
    free(s);
}
END_TEST

enum { PIXELS = 700, T = 140 };

static void fit(sx_dcos_backend backend, int kind, const char *name, sx_dcos_fit *fits) {
    const sx_dcos_options options = {.backend = backend};
    double *t = calloc(T, sizeof *t), *y = calloc((size_t)PIXELS * T, sizeof *y);
    double *sigma = calloc((size_t)PIXELS * T, sizeof *sigma);
    sx_dcos_plan *plan;
    for (int i = 0; i < T; i++) {
        t[i] = kind == 2 ? 10.0 * i / T * (0.5 + 0.5 * i / T) : 10.0 * i / T;
    }
    for (int p = 0; p < PIXELS; p++) {
        const double f = uniform(11, p, 0.5, 3), g = uniform(12, p, 0.1, 1);
        for (int i = 0; i < T; i++) {
            const double noise = sxi_rng_normal(94, 13, (uint64_t)(p * T + i));
            sigma[p * T + i] = kind == 1 ? uniform(14, p * T + i, 0.05, 0.15) : 0.1;
            y[p * T + i] =
                exp(-g * t[i]) * cos(6.283185307179586 * f * t[i] + p) + sigma[p * T + i] * noise;
        }
    }
    ck_ok(sx_dcos_plan_create(T, t, &options, &plan));
    ck_assert_str_eq(sx_dcos_plan_backend(plan), name);
    memset(fits, 0, PIXELS * sizeof *fits);
    ck_ok(sx_dcos_fit_tile(plan, PIXELS, y, sigma, NULL, NULL, fits));
    sx_dcos_plan_destroy(&plan);
    free(t);
    free(y);
    free(sigma);
}

/* Even delays, weights of each trace, uneven delays that traces share; more traces than a block. */
START_TEST(whole_fits_are_those_of_the_processor) {
    sx_dcos_fit *here = malloc(PIXELS * sizeof *here), *there = malloc(PIXELS * sizeof *there);
    for (int kind = 0; kind < 3 && fused(); kind++) {
        fit(SX_BACKEND_CUDA, kind, "cuda", there);
        fit(SX_BACKEND_AUTO, kind, fused()->name, here);
        ck_assert_mem_eq(here, there, PIXELS * sizeof *here);
    }
    free(here);
    free(there);
}
END_TEST

START_TEST(no_gpu_is_said) {
    const double t[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    const sx_dcos_options options = {.backend = SX_BACKEND_CUDA};
    sx_dcos_plan *plan;
    setenv("FAKE_GPUS", "0", 1);
    const sx_status status = sx_dcos_plan_create(20, t, &options, &plan);
    unsetenv("FAKE_GPUS");
    ck_fails(status, SX_ERR_UNSUPPORTED,
             "backend cuda: a CUDA driver, but no GPU that it can use: no CUDA-capable device");
    ck_assert_ptr_null(plan);
}
END_TEST

SX_TEST_RUNNER("dcos_cuda", run_tests, minima_are_those_of_the_processor,
               errors_are_those_of_the_processor, what_has_no_room_is_refused,
               whole_fits_are_those_of_the_processor)
SX_TEST_RUNNER("dcos_cuda_host", run_stand_in, no_gpu_is_said)

int main(void) {
    char why[SXI_CUDA_WHY];
    sxi_dcos_cuda cuda;
    sxi_cuda_find_fn *find = NULL;
    if (!sxi_dcos_cuda_load(&cuda, &find, why)) {
        printf("neither compiled nor run: %s\n", why);
        return 77;
    }
    if (find(why) != 0) {
        printf("compiled, not run: no GPU here (%s)\n", why);
        return 77;
    }
    printf("on %s\n", why);
    const int failed = run_tests();
    return strcmp(why, "stand-in of a GPU") == 0 ? failed | run_stand_in() : failed;
}
