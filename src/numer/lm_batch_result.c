/* SPDX-License-Identifier: Apache-2.0
 * What a trace gives: from its lane, or from the exact core. */
#include "numer/lm_batch.h"

#include <math.h>

#include <sextant/lm.h>

#include "base/fail.h"

/* The samples of a trace that can be used. */
typedef struct samples {
    enum sxi_model model;
    int p, inputs;
    int m;
    double *x, *y, *w;
} samples;

void sxi_lm_none(const sxi_lm_task *task, int64_t trace, int32_t used, sx_lm_trace state) {
    sx_lm_fit *fit = &task->fit[trace];
    *fit = (sx_lm_fit){.chi2 = (double)NAN, .used = used, .state = (uint8_t)state};
    for (int j = 0; j < SXI_LM_MOST; j++) {
        fit->b[j] = fit->error[j] = (double)NAN;
    }
    const int64_t size = (int64_t)task->p * task->p;
    for (int64_t k = 0; task->covariance && k < size; k++) {
        task->covariance[trace * size + k] = (double)NAN;
    }
}

static bool at_bound(const sxi_lm_task *task, const double *b, int j) {
    return b[j] <= task->box.lower[j] || b[j] >= task->box.upper[j];
}

/* Errors from a covariance [p][p] without scale, which then goes out; and the state of a minimum.
 */
static void conclude(const sxi_lm_task *task, int64_t trace, double *c) {
    const int p = task->p;
    sx_lm_fit *fit = &task->fit[trace];
    int fitted = 0;
    fit->state = SX_LM_TRACE_OK;
    for (int j = 0; j < p; j++) {
        const bool bound = at_bound(task, fit->b, j);
        fitted += !bound;
        if (bound && task->box.lower[j] < task->box.upper[j]) {
            fit->state = SX_LM_TRACE_AT_BOUND;
        }
    }
    const int freedom = fit->used - fitted;
    const double variance = task->batch->absolute_sigma ? 1.0
                            : freedom > 0               ? fit->chi2 / freedom
                                                        : (double)NAN;
    for (int j = 0; j < p; j++) {
        fit->error[j] = sqrt(c[j * p + j] * variance);
        for (int k = 0; task->covariance && k < p; k++) {
            task->covariance[(trace * p + j) * p + k] = c[j * p + k] * variance;
        }
    }
}

/* Inverse of a symmetric positive definite matrix [p][p] in place, by Gauss and Jordan: no pivoting
 * is needed. Rows that are zero stay so. */
static void invert(int p, double *a) {
    for (int k = 0; k < p; k++) {
        const double pivot = a[k * p + k];
        if (!(pivot > 0)) {
            continue;
        }
        for (int i = 0; i < p; i++) {
            const double factor = a[i * p + k] / pivot;
            for (int j = 0; i != k && j < p; j++) {
                a[i * p + j] -= j != k ? factor * a[k * p + j] : 0.0;
            }
            a[i * p + k] = i != k ? -factor : a[i * p + k];
        }
        for (int j = 0; j < p; j++) {
            a[k * p + j] = j == k ? 1.0 / pivot : a[k * p + j] / pivot;
        }
    }
}

void sxi_lm_done(const sxi_lm_task *task, int64_t trace, int32_t used, const sxi_lm_bundle *bundle,
                 int lane) {
    double c[SXI_LM_MOST * SXI_LM_MOST];
    const int p = task->p;
    sxi_lm_none(task, trace, used, SX_LM_TRACE_OK);
    sx_lm_fit *fit = &task->fit[trace];
    fit->chi2 = bundle->kept.chi2[lane];
    fit->evaluations = (uint16_t)bundle->evaluations[lane];
    for (int j = 0; j < p; j++) {
        fit->b[j] = bundle->b[j][lane];
    }
    for (int j = 0; j < p; j++) {
        for (int k = 0; k <= j; k++) {
            const bool out = at_bound(task, fit->b, j) || at_bound(task, fit->b, k);
            c[j * p + k] = c[k * p + j] =
                out ? 0.0 : bundle->kept.matrix[j * (j + 1) / 2 + k][lane];
        }
    }
    invert(p, c);
    conclude(task, trace, c);
}

static bool residuals(void *data, const double *b, double *r, double *jacobian) {
    const samples *s = data;
    for (int i = 0; i < s->m; i++) {
        double *d = jacobian + (int64_t)i * s->p;
        r[i] = s->w[i] * (sxi_model_value(s->model, s->x + i * s->inputs, b, d) - s->y[i]);
        for (int j = 0; j < s->p; j++) {
            d[j] *= s->w[i];
        }
    }
    return true;
}

static void gather(const sxi_lm_task *task, int64_t trace, samples *s) {
    const sx_lm_batch *batch = task->batch;
    for (int64_t i = 0; i < batch->n; i++) {
        const double w = sxi_lm_weight(batch, trace, i);
        if (w > 0) {
            for (int k = 0; k < s->inputs; k++) {
                s->x[s->m * s->inputs + k] = batch->x[i * s->inputs + k];
            }
            s->y[s->m] = batch->y[trace * batch->n + i];
            s->w[s->m++] = w;
        }
    }
}

sx_status sxi_lm_exact(const sxi_lm_task *task, int64_t trace, int32_t used, double *work) {
    static const sx_lm_trace states[] = {
        [SX_LM_CONVERGED] = SX_LM_TRACE_OK,
        [SX_LM_MAX_EVALUATIONS] = SX_LM_TRACE_NOT_CONVERGED,
        [SX_LM_STALLED] = SX_LM_TRACE_NOT_CONVERGED,
        [SX_LM_SINGULAR] = SX_LM_TRACE_SINGULAR,
        [SX_LM_UNDEFINED] = SX_LM_TRACE_UNDEFINED,
    };
    const int64_t n = task->batch->n;
    samples s = {.model = task->model, .p = task->p, .inputs = task->inputs, .x = work};
    s.y = s.x + n * s.inputs;
    s.w = s.y + n;
    gather(task, trace, &s);
    double b[SXI_LM_MOST], c[SXI_LM_MOST * SXI_LM_MOST];
    for (int j = 0; j < s.p; j++) {
        b[j] = sxi_lm_start(task, trace)[j];
    }
    const sx_lm_options options = {
        .tolerance = task->batch->tolerance, .lower = task->box.lower, .upper = task->box.upper};
    sx_lm_result result;
    SXI_TRY(sx_lm_run(s.m, s.p, residuals, &s, &options, b, c, &result));
    sxi_lm_none(task, trace, used, states[result.state]);
    sx_lm_fit *fit = &task->fit[trace];
    fit->exact = true;
    fit->evaluations = (uint16_t)result.evaluations;
    for (int j = 0; j < s.p && result.state != SX_LM_UNDEFINED; j++) {
        fit->b[j] = b[j];
    }
    fit->chi2 = result.chi2;
    if (result.state == SX_LM_CONVERGED) {
        conclude(task, trace, c);
    }
    return SX_OK;
}
