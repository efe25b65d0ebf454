/* SPDX-License-Identifier: Apache-2.0
 * A queue of traces and a bundle of lanes: a lane whose trace is done takes the next. */
#include "numer/lm_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static const int64_t MOST_SAMPLES = 1 << 20;
static const double TOLERANCE = 1e-9;

_Static_assert(SX_LM_MAX_PARAMETERS == SXI_LM_MOST, "one limit, two layers");

/* The lanes and the queue behind them. */
typedef struct lanes {
    const sxi_lm_kernels *kernels;
    int64_t next; /* trace of the queue */
    int64_t trace[SXI_BUNDLE];
    int32_t used[SXI_BUNDLE];
    double *y, *w; /* [n][SXI_BUNDLE] */
    double *work;  /* for sxi_lm_exact */
    sxi_lm_bundle bundle;
} lanes;

const sx_lm_model *sx_lm_model_get(int number) {
    static const sx_lm_model models[] = {
#define MODEL(name_, parameters_, inputs_, formula_)                                               \
    {.name = #name_, .formula = formula_, .parameters = parameters_, .inputs = inputs_},
        SXI_MODEL_LIST(MODEL)
#undef MODEL
    };
    return number >= 0 && number < SXI_MODELS ? &models[number] : NULL;
}

double sxi_lm_weight(const sx_lm_batch *batch, int64_t trace, int64_t i) {
    const int64_t at = trace * batch->n + i;
    const double sigma = batch->sigma ? batch->sigma[at] : 1.0;
    return isfinite(batch->y[at]) && sigma > 0 && isfinite(sigma) ? 1.0 / sigma : 0.0;
}

const double *sxi_lm_start(const sxi_lm_task *task, int64_t trace) {
    return task->batch->start + (task->batch->one_start ? 0 : trace * task->p);
}

static bool finite_start(const sxi_lm_task *task, int64_t trace) {
    const double *start = sxi_lm_start(task, trace);
    for (int j = 0; j < task->p; j++) {
        if (!isfinite(start[j])) {
            return false;
        }
    }
    return true;
}

/* Puts the samples of a trace into a lane; counts those that can be used. OK if there are enough. */
static sx_lm_trace fill(const sxi_lm_task *task, int64_t trace, int lane, lanes *l) {
    const double *y = task->batch->y + trace * task->batch->n;
    double least = INFINITY, most = -INFINITY;
    int32_t used = 0;
    for (int64_t i = 0; i < task->batch->n; i++) {
        const double w = sxi_lm_weight(task->batch, trace, i), value = w > 0 ? y[i] : 0.0;
        l->w[i * SXI_BUNDLE + lane] = w;
        l->y[i * SXI_BUNDLE + lane] = value;
        used += w > 0;
        least = w > 0 && value < least ? value : least;
        most = w > 0 && value > most ? value : most;
    }
    l->used[lane] = used;
    return used == 0         ? SX_LM_TRACE_MASKED
           : used < task->p  ? SX_LM_TRACE_TOO_FEW
           : !(least < most) ? SX_LM_TRACE_NO_SIGNAL
                             : SX_LM_TRACE_OK;
}

static void start_lane(const sxi_lm_task *task, int64_t trace, int lane, lanes *l) {
    sxi_lm_bundle *bundle = &l->bundle;
    const uint32_t bit = UINT32_C(1) << lane;
    const double *start = sxi_lm_start(task, trace);
    const int32_t left = l->used[lane] - task->p;
    for (int j = 0; j < task->p; j++) {
        bundle->b[j][lane] = fmin(fmax(start[j], task->box.lower[j]), task->box.upper[j]);
    }
    bundle->freedom[lane] = left > 0 ? left : 1;
    bundle->evaluations[lane] = 0;
    bundle->fresh |= bit;
    bundle->running |= bit;
    l->trace[lane] = trace;
}

/* Takes the next trace that can be fitted into a lane, if there is one. */
static void refill(const sxi_lm_task *task, int lane, lanes *l) {
    while (l->next < task->batch->traces) {
        const int64_t trace = l->next++;
        sx_lm_trace state = fill(task, trace, lane, l);
        if (state == SX_LM_TRACE_OK && !finite_start(task, trace)) {
            state = SX_LM_TRACE_UNDEFINED;
        }
        if (state == SX_LM_TRACE_OK) {
            start_lane(task, trace, lane, l);
            return;
        }
        sxi_lm_none(task, trace, l->used[lane], state);
    }
}

static sx_status finish(const sxi_lm_task *task, int lane, lanes *l) {
    const int64_t trace = l->trace[lane];
    if (l->bundle.failed >> lane & 1) {
        return sxi_lm_exact(task, trace, l->used[lane], l->work);
    }
    sxi_lm_done(task, trace, l->used[lane], &l->bundle, lane);
    return SX_OK;
}

static sx_status drain(const sxi_lm_task *task, lanes *l) {
    sxi_lm_bundle *bundle = &l->bundle;
    for (int lane = 0; lane < SXI_BUNDLE; lane++) {
        refill(task, lane, l);
    }
    while (bundle->running) {
        const uint32_t before = bundle->running;
        l->kernels->sums[task->model](task->batch->n, task->batch->x, l->y, l->w, bundle);
        l->kernels->step[task->p - 1](&task->box, bundle);
        const uint32_t done = before & ~bundle->running;
        for (int lane = 0; lane < SXI_BUNDLE; lane++) {
            if (done >> lane & 1) {
                SXI_TRY(finish(task, lane, l));
                refill(task, lane, l);
            }
        }
    }
    return SX_OK;
}

static sx_status find_model(const char *name, enum sxi_model *model) {
    const sx_lm_model *m;
    for (int i = 0; name && (m = sx_lm_model_get(i)); i++) {
        if (strcmp(m->name, name) == 0) {
            *model = (enum sxi_model)i;
            return SX_OK;
        }
    }
    return SXI_FAIL(SX_ERR_ARGUMENT, "no model is named '%s'; sx_lm_model_get lists them",
                    name ? name : "");
}

static sx_status set_box(const sx_lm_batch *batch, sxi_lm_task *task) {
    for (int j = 0; j < SXI_LM_MOST; j++) {
        const bool mine = j < task->p;
        const double lower = mine && batch->lower ? batch->lower[j] : (double)-INFINITY;
        const double upper = mine && batch->upper ? batch->upper[j] : (double)INFINITY;
        if (!(lower <= upper)) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "b%d has bounds %g and %g; lower <= upper is needed",
                            j + 1, lower, upper);
        }
        task->box.lower[j] = lower;
        task->box.upper[j] = upper;
    }
    return SX_OK;
}

static sx_status prepare(const sx_lm_batch *batch, sxi_lm_task *task) {
    SXI_TRY(find_model(batch->model, &task->model));
    const sx_lm_model *model = sx_lm_model_get((int)task->model);
    task->batch = batch;
    task->p = model->parameters;
    task->inputs = model->inputs;
    if (batch->n < 1 || batch->n > MOST_SAMPLES || batch->traces < 0) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%lld traces of %lld samples were given; 0 or more of 1 to %lld are needed",
                        (long long)batch->traces, (long long)batch->n, (long long)MOST_SAMPLES);
    }
    if (!batch->x || !batch->y || !batch->start) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "x, y and start must be given");
    }
    if (!(batch->tolerance >= 0)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "tolerance %g must not be negative", batch->tolerance);
    }
    task->box.tolerance = batch->tolerance > 0 ? batch->tolerance : TOLERANCE;
    for (int64_t i = 0; i < batch->n * task->inputs; i++) {
        if (!isfinite(batch->x[i])) {
            return SXI_FAIL(SX_ERR_RANGE, "x of sample %lld is %g; finite numbers are needed",
                            (long long)(i / task->inputs), batch->x[i]);
        }
    }
    return set_box(batch, task);
}

sx_status sxi_lm_batch_run(const sxi_lm_kernels *kernels, const sx_lm_batch *batch, sx_lm_fit *fit,
                           double *covariance) {
    sxi_lm_task task = {.fit = fit, .covariance = covariance};
    SXI_TRY(prepare(batch, &task));
    sx_status status = SX_OK;
    const size_t n = (size_t)batch->n;
    lanes *l = calloc(1, sizeof *l);
    double *samples = calloc(n * (2 * SXI_BUNDLE + (size_t)task.inputs + 2), sizeof *samples);
    if (!l || !samples) {
        status = SXI_FAIL(SX_ERR_MEMORY, "a bundle of traces of %lld samples does not fit",
                          (long long)batch->n);
        goto out;
    }
    l->kernels = kernels;
    l->y = samples;
    l->w = l->y + n * SXI_BUNDLE;
    l->work = l->w + n * SXI_BUNDLE;
    SXI_GO(drain(&task, l));
out:
    free(samples);
    free(l);
    return status;
}

sx_status sx_lm_batch_run(const sx_lm_batch *batch, sx_lm_fit *fit, double *covariance) {
    int last = 0;
    if (!batch || !fit) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "batch and fit must be given");
    }
    while (sxi_lm_kernels_variant(last + 1)) {
        last++;
    }
    return sxi_lm_batch_run(sxi_lm_kernels_variant(last), batch, fit, covariance);
}
