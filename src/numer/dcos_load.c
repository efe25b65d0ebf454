/* SPDX-License-Identifier: Apache-2.0
 * A trace as it was given, weighted, shifted and scaled for the fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kern/column.h"
#include "numer/dcos.h"

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
sx_dcos_state sxi_dcos_load(const sx_dcos_plan *plan, const double *y, const double *sigma,
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
