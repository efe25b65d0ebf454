/* SPDX-License-Identifier: Apache-2.0
 * Fits per second of one core: batches against the exact core on the same traces, one JSON line per
 * case. Processor time, rounds of both in turn, so that a busy machine disturbs both; the median
 * of their ratios.
 *
 *   bench_lm_batch [traces]     20000 by default */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/lm.h>
#include <sextant/lm_batch.h>

#include "base/rng.h"
#include "kern/lm_kernels.h"
#include "line.h"

enum { ROUNDS = 5, MOST = 200 };
static const uint64_t SEED = 1;

typedef struct bench_case {
    const char *model;
    int n;
    double x_step;
    double
        b[SX_LM_MAX_PARAMETERS]; /* the middle of the truth; truth and starts lie within a tenth */
} bench_case;

static const bench_case CASES[] = {
    {"decay", 100, 0.1, {1, 0.5, 0.2}},
    {"decay", 20, 0.5, {1, 0.5, 0.2}},
    {"two_decays", 200, 0.05, {1, 2, 0.7, 0.3, 0.2}},
    {"peak", 100, 0.1, {1, 5, 1, 0.2}},
    {"two_peaks", 200, 0.1, {1, 0.1, 2, 6, 1.5, 1.5, 14, 2}},
};

/* One of the traces, for sx_lm_run. */
typedef struct trace {
    enum sxi_model model;
    int n, p;
    const double *x, *y;
} trace;

static bool residuals(void *data, const double *b, double *r, double *jacobian) {
    const trace *t = data;
    for (int i = 0; i < t->n; i++) {
        r[i] = sxi_model_value(t->model, t->x + i, b, jacobian + i * t->p) - t->y[i];
    }
    return true;
}

static double uniform(uint32_t stream, int64_t i) {
    return sxi_rng_uniform(SEED, stream, (uint64_t)i);
}

/* Noise of a twentieth. */
static void make(const bench_case *c, enum sxi_model model, int p, int64_t traces, double *x,
                 double *y, double *start) {
    for (int i = 0; i < c->n; i++) {
        x[i] = i * c->x_step;
    }
    for (int64_t t = 0; t < traces; t++) {
        double b[SX_LM_MAX_PARAMETERS], d[SX_LM_MAX_PARAMETERS];
        for (int j = 0; j < p; j++) {
            b[j] = c->b[j] * (0.9 + 0.2 * uniform(1, t * p + j));
            start[t * p + j] = c->b[j] * (0.9 + 0.2 * uniform(2, t * p + j));
        }
        for (int i = 0; i < c->n; i++) {
            y[t * c->n + i] = sxi_model_value(model, x + i, b, d) +
                              0.05 * sxi_rng_normal(SEED, 3, (uint64_t)(t * c->n + i));
        }
    }
}

/* Seconds of one fit by sx_lm_run, of the first traces. */
static sx_status time_exact(const bench_case *c, const sx_lm_batch *batch, enum sxi_model model,
                            int p, double *seconds) {
    const int64_t traces = batch->traces < 500 ? batch->traces : 500;
    sx_status status = SX_OK;
    const double begin = line_processor_seconds();
    for (int64_t t = 0; status == SX_OK && t < traces; t++) {
        trace data = {model, c->n, p, batch->x, batch->y + t * c->n};
        double b[SX_LM_MAX_PARAMETERS], covariance[SX_LM_MAX_PARAMETERS * SX_LM_MAX_PARAMETERS];
        for (int j = 0; j < p; j++) {
            b[j] = batch->start[t * p + j];
        }
        status = sx_lm_run(c->n, p, residuals, &data, NULL, b, covariance, NULL);
    }
    *seconds = (line_processor_seconds() - begin) / (double)traces;
    return status;
}

static void print_line(const bench_case *c, int64_t traces, double *batch, double *ratio,
                       const sx_lm_fit *fit) {
    const line_spread took = line_spread_of(ROUNDS, batch), times = line_spread_of(ROUNDS, ratio);
    int64_t ok = 0, exact = 0, evaluations = 0;
    for (int64_t t = 0; t < traces; t++) {
        ok += fit[t].state == SX_LM_TRACE_OK;
        exact += fit[t].exact;
        evaluations += fit[t].evaluations;
    }
    printf("{\"bench\": \"lm_batch\", \"model\": \"%s\", \"samples\": %d, \"traces\": %lld, "
           "\"us_per_fit\": %.3f, \"fits_per_second\": %.0f, \"times_exact_core\": %.1f, "
           "\"least\": %.1f, \"most\": %.1f, \"ok\": %lld, \"refitted\": %lld, "
           "\"evaluations\": %.1f",
           c->model, c->n, (long long)traces, 1e6 * took.median, 1 / took.median, times.median,
           times.least, times.most, (long long)ok, (long long)exact,
           (double)evaluations / (double)traces);
    line_end();
}

static enum sxi_model number_of(const char *name) {
    int number = 0;
    while (strcmp(sx_lm_model_get(number)->name, name) != 0) {
        number++;
    }
    return (enum sxi_model)number;
}

static sx_status run(const bench_case *c, int64_t traces, double *y, double *start,
                     sx_lm_fit *fit) {
    const enum sxi_model model = number_of(c->model);
    const int p = sx_lm_model_get((int)model)->parameters;
    double x[MOST], batch[ROUNDS], ratio[ROUNDS];
    make(c, model, p, traces, x, y, start);
    const sx_lm_batch all = {
        .model = c->model, .n = c->n, .x = x, .traces = traces, .y = y, .start = start};
    sx_status status = SX_OK;
    for (int round = 0; status == SX_OK && round < ROUNDS; round++) {
        const double begin = line_processor_seconds();
        status = sx_lm_batch_run(&all, fit, NULL);
        batch[round] = (line_processor_seconds() - begin) / (double)traces;
        if (status == SX_OK) {
            status = time_exact(c, &all, model, p, &ratio[round]);
        }
        ratio[round] /= batch[round];
    }
    if (status == SX_OK) {
        print_line(c, traces, batch, ratio, fit);
    }
    return status;
}

int main(int argc, char **argv) {
    const int64_t traces = argc > 1 ? strtoll(argv[1], NULL, 10) : 20000;
    if (traces < 1 || traces > 10000000) {
        fprintf(stderr, "bench_lm_batch: '%s' is no number of traces from 1 to 10000000\n",
                argv[1]);
        return 2;
    }
    double *y = malloc((size_t)traces * MOST * sizeof *y);
    double *start = malloc((size_t)traces * SX_LM_MAX_PARAMETERS * sizeof *start);
    sx_lm_fit *fit = malloc((size_t)traces * sizeof *fit);
    sx_status status = y && start && fit ? SX_OK : SX_ERR_MEMORY;
    for (size_t i = 0; status == SX_OK && i < sizeof CASES / sizeof *CASES; i++) {
        status = run(&CASES[i], traces, y, start, fit);
    }
    if (status != SX_OK) {
        fprintf(stderr, "bench_lm_batch: %s\n", sx_error_message());
    }
    free(y);
    free(start);
    free(fit);
    return status != SX_OK;
}
