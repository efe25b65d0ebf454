/* SPDX-License-Identifier: Apache-2.0
 * A tile of traces: scaled, searched, fitted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/bank.h"
#include "kern/column.h"
#include "numer/dcos_fast.h"

enum { WIDTH = SXI_BANK_WIDTH };

static void clear(sx_dcos_fit *fit) {
    const double nan = (double)NAN;
    const sx_dcos_mode none = {nan, nan, nan, nan, nan, nan, nan, nan};
    *fit = (sx_dcos_fit){.offset = nan,
                         .offset_error = nan,
                         .background_slope = nan,
                         .background_slope_error = nan,
                         .background_amplitude = nan,
                         .background_amplitude_error = nan,
                         .background_time = nan,
                         .background_time_error = nan,
                         .chi2 = nan,
                         .frequency_other = nan};
    for (int k = 0; k < SX_DCOS_MAX_MODES; k++) {
        fit->mode[k] = none;
    }
}

/* 1 / sigma of a sample; 0: may not be used. */
static double inverse_sigma(const double *sigma, const double *weight, int64_t i) {
    if (sigma) { /* a sigma so small that its inverse overflows is no error of anything */
        return isfinite(sigma[i]) && sigma[i] > 0 && isfinite(1 / sigma[i]) ? 1 / sigma[i] : 0;
    }
    if (weight) {
        return isfinite(weight[i]) && weight[i] > 0 ? sqrt(weight[i]) : 0;
    }
    return 1;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Bounds what few samples with tiny errors do to all others: a sample this many times as precise as
 * the median pins the curve already, more of it only costs digits. The bank computes in float, for
 * it the bound is lower. Scratch: trace->one. */
static void bound_weights(const sxi_dcos_grid *grid, double least, double *largest,
                          sxi_dcos_trace *trace) {
    const double pins = 1e4, pins_start = 30;
    int64_t used = 0;
    trace->bank_most = (double)INFINITY;
    if (!(*largest > pins_start * least)) {
        return;
    }
    for (int64_t i = 0; i < grid->n; i++) {
        if (trace->s[i] > 0) {
            trace->one[used++] = trace->s[i];
        }
    }
    qsort(trace->one, (size_t)used, sizeof *trace->one, compare);
    const double median = trace->one[used / 2], most = pins * median;
    trace->bank_most = *largest > pins_start * median ? pins_start * median : (double)INFINITY;
    for (int64_t i = 0; i < grid->n; i++) {
        trace->s[i] = fmin(trace->s[i], most);
    }
    *largest = fmin(*largest, most);
}

/* Weights with mean square 1 over the used samples. Divided by the largest first: squares neither
 * over- nor underflow. */
static void load_weights(const sxi_dcos_grid *grid, const double *y, const double *sigma,
                         const double *weight, sxi_dcos_trace *trace) {
    double largest = 0, least = (double)INFINITY, square = 0;
    memset(trace->s, 0, (size_t)grid->padded * sizeof(double));
    trace->used = 0;
    for (int64_t i = 0; i < grid->n; i++) {
        trace->s[i] = isfinite(y[i]) ? inverse_sigma(sigma, weight, i) : 0;
        trace->used += trace->s[i] > 0;
        largest = fmax(largest, trace->s[i]);
        least = trace->s[i] > 0 ? fmin(least, trace->s[i]) : least;
    }
    if (!(sigma || weight) || !trace->used) {
        trace->weight = 1;
        trace->bank_most = (double)INFINITY;
        return;
    }
    bound_weights(grid, least, &largest, trace);
    for (int64_t i = 0; i < grid->n; i++) {
        double part = trace->s[i] / largest;
        square += part * part;
    }
    trace->weight = largest * sqrt(square / (double)trace->used);
    for (int64_t i = 0; i < grid->n; i++) {
        trace->s[i] /= trace->weight;
    }
    trace->bank_most /= trace->weight;
}

/* The trace about its weighted mean, in units of its largest deviation. False: all samples are
 * equal. */
static bool load_values(const double *y, sxi_dcos_trace *trace) {
    const sxi_dcos_grid *grid = trace->grid;
    double low = INFINITY, high = -INFINITY, mean = 0, total = 0, spread = 0;
    bool constant = trace->background != SX_BACKGROUND_NONE;
    for (int64_t i = 0; i < grid->n; i++) {
        if (trace->s[i] > 0) {
            low = fmin(low, y[i]);
            high = fmax(high, y[i]);
            total += trace->s[i] * trace->s[i];
        }
    }
    double largest = fmax(fabs(low), fabs(high));
    /* Below a few units of rounding the samples differ by nothing. */
    if (!((constant ? high - low : largest) > 8e-16 * largest) || !isfinite(high - low)) {
        trace->shift = constant ? low : 0;
        return false;
    }
    if (constant) {
        for (int64_t i = 0; i < grid->n; i++) {
            mean += trace->s[i] > 0 ? trace->s[i] * trace->s[i] * (y[i] / largest) / total : 0;
        }
    }
    trace->shift = mean * largest;
    for (int64_t i = 0; i < grid->n; i++) {
        spread = trace->s[i] > 0 ? fmax(spread, fabs(y[i] - trace->shift)) : spread;
    }
    trace->scale = spread;
    memset(trace->y, 0, (size_t)grid->padded * sizeof(double));
    for (int64_t i = 0; i < grid->n; i++) {
        if (trace->s[i] > 0) {
            trace->y[i] = trace->s[i] * ((y[i] - trace->shift) / spread);
        }
    }
    trace->one_norm = sqrt(sxi_column_dot(grid->padded, trace->s, trace->s));
    for (int64_t i = 0; i < grid->padded; i++) {
        trace->one[i] = trace->s[i] / trace->one_norm;
    }
    trace->yy = sxi_column_dot(grid->padded, trace->y, trace->y);
    return true;
}

/* Makes the trace ready; a state other than OK says why it cannot be fitted. */
static sx_dcos_state load(const sx_dcos_plan *plan, const double *y, const double *sigma,
                          const double *weight, sxi_dcos_trace *trace, sx_dcos_fit *fit) {
    const sx_dcos_options *options = &plan->options;
    int64_t first = plan->grid.first;
    int least = options->fixed_modes ? options->modes : 1;
    trace->grid = &plan->grid;
    trace->background = options->background;
    load_weights(&plan->grid, y + first, sigma ? sigma + first : NULL,
                 weight ? weight + first : NULL, trace);
    fit->used = (int32_t)trace->used;
    if (trace->used == 0) {
        return SX_DCOS_MASKED;
    }
    if (trace->used <= sxi_dcos_parameters(options->background, least)) {
        return SX_DCOS_TOO_FEW;
    }
    if (!load_values(y + first, trace)) {
        fit->offset = trace->shift;
        return SX_DCOS_NO_SIGNAL;
    }
    return SX_DCOS_OK;
}

/* From known modes straight to the nearest minimum. */
static void refine(const sx_dcos_plan *plan, sxi_dcos_work *work, const sxi_dcos_trace *trace,
                   bool absolute, const sx_dcos_fit *start, sx_dcos_fit *fit) {
    sxi_dcos_model model = {.modes = start->modes};
    for (int k = 0; k < model.modes; k++) {
        model.theta[2 * k] = start->mode[k].decay * plan->grid.span;
        model.theta[2 * k + 1] = start->mode[k].frequency * plan->grid.span;
    }
    double time = start->background_time;
    model.theta[2 * model.modes] = isfinite(time) ? plan->grid.span / time : 2.5;
    sxi_dcos_minimise(work, trace, &model);
    sxi_dcos_finish(plan, work, trace, absolute, &model, fit);
    sxi_dcos_doubt(trace, model.rss, sxi_dcos_neighbours(work, trace), absolute, fit);
}

/* Finite, and no more modes than the samples determine. */
static bool startable(const sxi_dcos_trace *trace, const sx_dcos_fit *start) {
    if (start->modes > SX_DCOS_MAX_MODES ||
        trace->used <= sxi_dcos_parameters(trace->background, start->modes)) {
        return false;
    }
    for (int k = 0; k < start->modes; k++) {
        if (!isfinite(start->mode[k].decay) || !isfinite(start->mode[k].frequency)) {
            return false;
        }
    }
    return true;
}

static sx_status traces_create(int64_t padded, sxi_dcos_trace trace[WIDTH], double **memory) {
    *memory = aligned_alloc(64, (size_t)padded * 3 * WIDTH * sizeof **memory);
    if (!*memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for traces of %lld delays", (long long)padded);
    }
    for (int i = 0; i < WIDTH; i++) {
        trace[i].s = *memory + (3 * i) * padded;
        trace[i].y = *memory + (3 * i + 1) * padded;
        trace[i].one = *memory + (3 * i + 2) * padded;
    }
    return SX_OK;
}

/* The exact core: traces one by one, those that are wanted (all without a list). */
static sx_status fit_exactly(const sx_dcos_plan *plan, int64_t npix, const double *y,
                             const double *sigma, const double *weight, const sx_dcos_fit *start,
                             bool absolute, const bool *wanted, sx_dcos_fit *fit) {
    sx_status status = SX_OK;
    int64_t nt = plan->nt;
    sxi_dcos_work work = {0};
    sxi_dcos_trace trace[WIDTH] = {{0}};
    double *memory = NULL;
    SXI_GO(traces_create(plan->grid.padded, trace, &memory));
    SXI_GO(sxi_dcos_work_create(plan->grid.padded, &work));
    for (int64_t p = 0; p < npix;) {
        const sxi_dcos_trace *list[WIDTH];
        sx_dcos_fit *out[WIDTH];
        int count = 0;
        for (; count < WIDTH && p < npix; p++) {
            sxi_dcos_trace *next = &trace[count];
            if (wanted && !wanted[p]) {
                continue;
            }
            clear(&fit[p]);
            fit[p].state = (uint8_t)load(plan, y + p * nt, sigma ? sigma + p * nt : NULL, weight,
                                         next, &fit[p]);
            if (fit[p].state != SX_DCOS_OK) {
                continue;
            }
            if (start && startable(next, &start[p])) {
                refine(plan, &work, next, absolute, &start[p], &fit[p]);
                continue;
            }
            list[count] = next;
            out[count++] = &fit[p];
        }
        if (count > 0) {
            SXI_GO(sxi_dcos_search_block(plan, &work, count, list, absolute, out));
        }
    }
out:
    sxi_dcos_work_destroy(&work);
    free(memory);
    return status;
}

sx_status sx_dcos_fit_tile(const sx_dcos_plan *plan, int64_t npix, const double *y,
                           const double *sigma, const double *weight, const sx_dcos_fit *start,
                           sx_dcos_fit *fit) {
    bool absolute =
        plan->options.scale == SX_SCALE_ABSOLUTE || (plan->options.scale == SX_SCALE_AUTO && sigma);
    if (!plan->fast || start) {
        return fit_exactly(plan, npix, y, sigma, weight, start, absolute, NULL, fit);
    }
    bool *left = malloc((size_t)(npix > 0 ? npix : 1) * sizeof *left);
    if (!left) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to fit %lld traces", (long long)npix);
    }
    for (int64_t p = 0; p < npix; p++) {
        clear(&fit[p]);
    }
    sx_status status = sxi_dcos_fast_tile(plan, npix, y, sigma, weight, absolute, fit, left);
    if (status == SX_OK) {
        status = fit_exactly(plan, npix, y, sigma, weight, NULL, absolute, left, fit);
    }
    free(left);
    return status;
}

void sx_dcos_model(const sx_dcos_fit *fit, double t0, int64_t nt, const double *t, double *y) {
    const double two_pi = 6.283185307179586476925286766559;
    for (int64_t i = 0; i < nt; i++) {
        double x = t[i] - t0;
        y[i] = fit->offset;
        if (isfinite(fit->background_slope)) {
            y[i] += fit->background_slope * x;
        }
        if (isfinite(fit->background_time)) {
            y[i] += fit->background_amplitude * exp(-x / fit->background_time);
        }
        for (int k = 0; k < fit->modes; k++) {
            const sx_dcos_mode *m = &fit->mode[k];
            y[i] += m->amplitude * exp(-m->decay * x) * cos(two_pi * m->frequency * x + m->phase);
        }
    }
}
