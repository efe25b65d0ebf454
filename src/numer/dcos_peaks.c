/* SPDX-License-Identifier: Apache-2.0
 * Start values for a block of traces: the transforms of what their models leave. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kern/bank.h"
#include "kern/kern.h"
#include "numer/dcos_tile.h"

/* Before gains are corrected for the weights of a trace, the best peak may look like so little. */
static const double OWN_KEEPS = 0.4;

/* Where there is no transform: the filters of the exact core. */
static void search_filters(sxi_dcos_tile *t, int64_t count) {
    const int64_t n = t->plan->grid.n, padded = t->plan->grid.padded;
    const sxi_dcos_trace *traces[SXI_BANK_WIDTH];
    const double *rows[SXI_BANK_WIDTH];
    for (int64_t first = 0; first < count; first += SXI_BANK_WIDTH) {
        const int held = count - first < SXI_BANK_WIDTH ? (int)(count - first) : SXI_BANK_WIDTH;
        for (int k = 0; k < held; k++) {
            double *row = t->filtered + k * padded;
            traces[k] = &t->list[first + k]->trace;
            rows[k] = row;
            for (int64_t i = 0; i < n; i++) {
                const double s = traces[k]->s[i];
                row[i] = s > 0 ? (double)t->residual[(first + k) * n + i] / s : 0;
            }
        }
        if (sxi_dcos_bank_search(t->plan->bank, held, traces, rows, t->seed + first) != SX_OK) {
            for (int k = 0; k < held; k++) { /* no memory for it: the exact core will say so */
                t->list[first + k]->doubtful = true;
                t->seed[first + k][0].gain = 0;
            }
        }
    }
}

/* Uneven delays. What the table of gains, made for equal weights, lacks for a trace with weights of its own: the
 * squares of a filter sum to w exp(-2 g x) / 2, at any frequency that is not near 0. Logarithms of
 * the ratios at OWN_DECAYS. */
static void own_ratios(const sxi_dcos_fast *fast, const sxi_dcos_trace *trace,
                       double ratio[SXI_DCOS_OWN_DECAYS]) {
    const int64_t n = trace->grid->n;
    for (int d = 0; d < SXI_DCOS_OWN_DECAYS; d++) {
        const double *square = fast->own_square + d * n;
        double sum[SXI_LANES] = {0}, all = 0;
        int64_t i = 0;
        for (; i + SXI_LANES <= n; i += SXI_LANES) {
            for (int l = 0; l < SXI_LANES; l++) {
                sum[l] += trace->s[i + l] * trace->s[i + l] * square[i + l];
            }
        }
        for (; i < n; i++) {
            sum[0] += trace->s[i] * trace->s[i] * square[i];
        }
        for (int l = 0; l < SXI_LANES; l++) {
            all += sum[l];
        }
        ratio[d] = log(fast->own_total[d] / fmax(all, 1e-6 * fast->own_total[d]));
    }
}

/* Between the decays of the table, which double. */
static double own_ratio(const double ratio[SXI_DCOS_OWN_DECAYS], double decay) {
    const double at =
        decay > 1 ? fmin(1 + log2(decay), SXI_DCOS_OWN_DECAYS - 1.000001) : fmax(decay, 0);
    const int d = (int)at;
    return exp(ratio[d] + (at - d) * (ratio[d + 1] - ratio[d]));
}

/* Gains as the weights of the traces themselves make them, best first again. */
static void correct_gains(const sxi_dcos_tile *t, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        sxi_dcos_seed corrected[SXI_DCOS_CANDIDATES] = {{0, 0, 0}};
        double ratio[SXI_DCOS_OWN_DECAYS];
        own_ratios(t->plan->fast, &t->list[i]->trace, ratio);
        for (int c = 0; c < SXI_DCOS_CANDIDATES && t->seed[i][c].gain > 0; c++) {
            sxi_dcos_seed seed = t->seed[i][c];
            seed.gain *= own_ratio(ratio, seed.decay);
            sxi_dcos_seed_insert(corrected, seed);
        }
        memcpy(t->seed[i], corrected, sizeof corrected);
    }
}

/* Residuals from their delays to the grid that is transformed. */
static void spread_residuals(const sxi_dcos_tile *t, int64_t count,
                             const float *row[SXI_DCOS_BLOCK]) {
    const sxi_dcos_fast *fast = t->plan->fast;
    float *grid[SXI_DCOS_BLOCK] = {0};
    for (int64_t i = 0; i < count; i++) {
        grid[i] = t->residual_grid + i * fast->shared->room;
    }
    fast->kernels->spread_single(fast->shared, count, row, grid);
    for (int64_t i = 0; i < count; i++) {
        row[i] = grid[i];
    }
}

/* On even delays a trace's own weights are transformed, too. */
static void search_own(const sxi_dcos_tile *t, int64_t count,
                       const float *const row[SXI_DCOS_BLOCK], const float variance[SXI_DCOS_BLOCK],
                       const float least[SXI_DCOS_BLOCK]) {
    const int64_t n = t->plan->grid.n;
    const float *weight[SXI_DCOS_BLOCK] = {0};
    for (int64_t i = 0; i < count; i++) {
        const double *s = t->list[i]->trace.s;
        float *w = t->weight + i * n;
        for (int64_t k = 0; k < n; k++) {
            w[k] = (float)(s[k] * s[k]);
        }
        weight[i] = w;
    }
    sxi_dcos_spectrum_search_own(t->plan->fast->spectrum, t->spectrum, count, row, weight, variance,
                                 least, SXI_DCOS_FILTER_KEEPS, SXI_DCOS_CHANCE, t->seed);
}

double sxi_dcos_peak_keeps(const sxi_dcos_fast *fast, int beside) {
    return fast->spectrum && beside == 0 ? 0.85 : SXI_DCOS_FILTER_KEEPS;
}

void sxi_dcos_peaks(sxi_dcos_tile *t, int64_t count, bool growing) {
    const sxi_dcos_fast *fast = t->plan->fast;
    const bool own = t->way == SXI_WAY_OWN;
    const float *row[SXI_DCOS_BLOCK] = {0};
    float variance[SXI_DCOS_BLOCK], least[SXI_DCOS_BLOCK];
    if (!fast->spectrum) {
        search_filters(t, count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const sxi_dcos_seeker *s = &t->list[i]->seeker;
        row[i] = t->residual + i * t->plan->grid.n;
        variance[i] = (float)sxi_dcos_noise(s, s->model[s->tried].rss, s->tried);
        least[i] = growing ? (float)sxi_dcos_gain_floor(s, sxi_dcos_peak_keeps(fast, s->tried)) : 0;
    }
    if (own && !fast->shared) {
        search_own(t, count, row, variance, least);
        return;
    }
    if (fast->shared) {
        spread_residuals(t, count, row);
    }
    if (own) { /* gains are not known yet */
        memset(least, 0, sizeof least);
    }
    sxi_dcos_spectrum_search(fast->spectrum, t->spectrum, count, row, variance, least,
                             own ? OWN_KEEPS : SXI_DCOS_FILTER_KEEPS, SXI_DCOS_CHANCE, t->seed);
    if (own) {
        correct_gains(t, count);
    }
}
