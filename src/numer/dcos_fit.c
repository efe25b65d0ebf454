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
            fit[p].state = (uint8_t)sxi_dcos_load(plan, y + p * nt, sigma ? sigma + p * nt : NULL,
                                                  weight, next, &fit[p]);
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
