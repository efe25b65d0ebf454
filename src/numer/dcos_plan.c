/* SPDX-License-Identifier: Apache-2.0
 * What is the same for every trace: the delays, the box of the parameters, the table of start
 * values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/kern.h"
#include "numer/dcos_fast.h"

enum { MOST_DELAYS = 1 << 20, MOST_CYCLES = 1 << 16 };

const char *sx_dcos_state_word(int state) {
    switch (state) {
#define WORD(name, value, word, sentence)                                                          \
    case value:                                                                                    \
        return word;
        SX_DCOS_STATE_LIST(WORD)
#undef WORD
    default:
        return NULL;
    }
}

const char *sx_dcos_state_sentence(int state) {
    switch (state) {
#define SENTENCE(name, value, word, sentence)                                                      \
    case value:                                                                                    \
        return sentence;
        SX_DCOS_STATE_LIST(SENTENCE)
#undef SENTENCE
    default:
        return NULL;
    }
}

static sx_status resolve_options(const sx_dcos_options *given, sx_dcos_options *options) {
    *options = given ? *given : (sx_dcos_options){0};
    if (options->modes < 0 || options->modes > SX_DCOS_MAX_MODES || options->max_modes < 0 ||
        options->max_modes > SX_DCOS_MAX_MODES) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%d modes asked for (at most %d): 0 to %d can be fitted",
                        options->modes, options->max_modes, SX_DCOS_MAX_MODES);
    }
    options->max_modes = options->max_modes ? options->max_modes : SX_DCOS_MAX_MODES;
    options->t_start = options->has_t_start ? options->t_start : options->t0;
    options->has_t_start = true;
    if ((int)options->backend < 0 || options->backend > SX_BACKEND_CUDA ||
        (int)options->precision < 0 || options->precision > SX_PRECISION_MIXED) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "backend %d or precision %d is none that is known",
                        (int)options->backend, (int)options->precision);
    }
    if (!isfinite(options->t0) || !isfinite(options->t_start)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "t0 = %g and t-start = %g must be finite numbers",
                        options->t0, options->t_start);
    }
    if (options->t_start < options->t0) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "the fit would start at %g, before time zero at %g: there is no "
                        "oscillation yet; choose t-start >= t0",
                        options->t_start, options->t0);
    }
    return SX_OK;
}

static sx_status check_delays(int64_t nt, const double *t) {
    if (nt < 1 || nt > MOST_DELAYS) {
        return SXI_FAIL(SX_ERR_RANGE, "%lld delays given, 1 to %d can be fitted", (long long)nt,
                        MOST_DELAYS);
    }
    for (int64_t i = 0; i < nt; i++) {
        if (!isfinite(t[i])) {
            return SXI_FAIL(SX_ERR_RANGE, "delay %lld is %g, not a finite number", (long long)i,
                            t[i]);
        }
        if (i > 0 && !(t[i] > t[i - 1])) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "delays must increase, but delay %lld is %g and delay %lld is %g",
                            (long long)i - 1, t[i - 1], (long long)i, t[i]);
        }
    }
    return SX_OK;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sx_status median_step(int64_t n, const double *x, double *median) {
    if (n < 2) {
        *median = 1;
        return SX_OK;
    }
    double *step = malloc((size_t)(n - 1) * sizeof *step);
    if (!step) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)n);
    }
    for (int64_t i = 0; i + 1 < n; i++) {
        step[i] = x[i + 1] - x[i];
    }
    qsort(step, (size_t)(n - 1), sizeof *step, compare);
    *median = n % 2 ? 0.5 * (step[(n - 2) / 2] + step[(n - 1) / 2]) : step[(n - 2) / 2];
    free(step);
    return SX_OK;
}

/* Largest distance of the delays from an even grid, in steps. */
static double unevenness(int64_t n, const double *x) {
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(x[i] * (double)(n - 1) - (double)i));
    }
    return worst;
}

/* The search visits every frequency between 0.5 / span and 0.5 / step: one delay far from all others
 * makes that endless. Even delays have n / 2 of them. */
static sx_status check_window(const sxi_dcos_grid *grid, double step) {
    const double cycles = 0.5 / step;
    if (!isfinite(grid->span) || !isfinite(0.5 / grid->span)) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "the delays, %g to %g, are too close or too far apart for frequencies in "
                        "numbers: scale them",
                        grid->t_first, grid->t_first + grid->span);
    }
    if (!(cycles <= fmax((double)grid->n, MOST_CYCLES))) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "the delays span %g, %.3g times their median spacing, at most %g times can "
                        "be searched: is one of them, %g to %g, far from the others?",
                        grid->span, 2 * cycles, 2 * fmax((double)grid->n, MOST_CYCLES),
                        grid->t_first, grid->t_first + grid->span);
    }
    return SX_OK;
}

static sx_status make_grid(int64_t nt, const double *t, double t_start, sxi_dcos_grid *grid) {
    double slack =
        1e-9 * (t[nt - 1] - t[0]); /* a start on a delay means that delay, rounding or not */
    double step = 1;
    while (grid->first < nt && t[grid->first] < t_start - slack) {
        grid->first++;
    }
    grid->n = nt - grid->first;
    grid->padded = (grid->n + SXI_LANES - 1) / SXI_LANES * SXI_LANES;
    if (grid->n == 0) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "all %lld delays lie before the start of the fit at %g "
                        "(the last is %g): choose an earlier t-start or t0",
                        (long long)nt, t_start, t[nt - 1]);
    }
    grid->t_first = t[grid->first];
    grid->span = grid->n > 1 ? t[nt - 1] - grid->t_first : 1;
    grid->x = aligned_alloc(64, (size_t)grid->padded * sizeof *grid->x);
    if (!grid->x) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)grid->n);
    }
    for (int64_t i = 0; i < grid->n; i++) {
        grid->x[i] = (t[grid->first + i] - grid->t_first) / grid->span;
    }
    double uneven = unevenness(grid->n, grid->x);
    grid->regular = grid->n > 1 && uneven < 1e-3;
    grid->dx = grid->n > 1 && uneven < 1e-7 ? 1 / (double)(grid->n - 1) : 0;
    for (int64_t i = grid->n; i < grid->padded; i++) {
        grid->x[i] = grid->dx > 0 ? (double)i * grid->dx : 1;
    }
    SXI_TRY(median_step(grid->n, grid->x, &step));
    SXI_TRY(check_window(grid, step));
    grid->frequency_least = 0.5;
    grid->frequency_most = fmax(0.5, 0.5 / step);
    /* At Nyquist the sine is rounding, and its amplitude anything. */
    grid->frequency_bound = fmax(0.5, grid->frequency_most - 0.1);
    grid->decay_least = -3;               /* a trace may grow by chance, not by more than this */
    grid->decay_most = fmax(2 / step, 1); /* gone within a sample */
    grid->rate_least = 0.2;
    grid->rate_most = fmax(2 / step, 1);
    return SX_OK;
}

sx_status sx_dcos_plan_create(int64_t nt, const double *t, const sx_dcos_options *options,
                              sx_dcos_plan **plan) {
    sx_status status = SX_OK;
    *plan = NULL;
    sx_dcos_plan *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the plan of a fit");
    }
    made->nt = nt;
    SXI_GO(resolve_options(options, &made->options));
    SXI_GO(check_delays(nt, t));
    SXI_GO(make_grid(nt, t, made->options.t_start, &made->grid));
    if (made->options.init != SX_INIT_BANK && !made->grid.regular) {
        status = SXI_FAIL(SX_ERR_ARGUMENT,
                          "linear prediction needs delays with equal spacing, these have not: use "
                          "the filter bank (--init bank)");
        goto out;
    }
    SXI_GO(sxi_dcos_bank_create(&made->grid, &made->bank));
    SXI_GO(sxi_dcos_fast_create(made, &made->fast));
    *plan = made;
    made = NULL;
out:
    sx_dcos_plan_destroy(&made);
    return status;
}

void sx_dcos_plan_destroy(sx_dcos_plan **plan) {
    if (*plan) {
        sxi_dcos_fast_destroy(&(*plan)->fast);
        sxi_dcos_bank_destroy(&(*plan)->bank);
        free((*plan)->grid.x);
        free(*plan);
        *plan = NULL;
    }
}

const char *sx_dcos_plan_backend(const sx_dcos_plan *plan) {
    const sxi_dcos_fast *fast = plan->fast;
    return !fast ? "none" : fast->cuda.create ? "cuda" : fast->kernels->name;
}

int64_t sx_dcos_plan_used(const sx_dcos_plan *plan) { return plan->grid.n; }

void sx_dcos_plan_window(const sx_dcos_plan *plan, double *lowest, double *highest) {
    *lowest = plan->grid.frequency_least / plan->grid.span;
    *highest = plan->grid.frequency_most / plan->grid.span;
}
