/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/dcos_fast.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/bank.h"
#include "kern/column.h"
#include "kern/kern.h"
#include "numer/dcos_shared.h"

/* Traces that go through a stage together. */
enum { BLOCK = 256, LEAST_BLOCK = SXI_BUNDLE, BLOCK_SAMPLES = 1 << 20 };
/* Delays of a plan that goes this way: fewer leave little to sum over, more have bundles that no
 * cache holds. */
enum { LEAST_SAMPLES_USED = 16, MOST_SAMPLES_USED = 1 << 14 };

/* Which plans have a fast way. */
static bool possible(const sx_dcos_plan *plan) {
    const sx_dcos_options *options = &plan->options;
    return options->background <= SX_BACKGROUND_NONE && options->init == SX_INIT_BANK &&
           plan->grid.n >= LEAST_SAMPLES_USED && plan->grid.n <= MOST_SAMPLES_USED;
}

/* SX_CPU names the best that may be used; a word that is none is found out here. What a GPU leaves is
 * for the best of the processor. */
static sx_status choose_kernels(sx_dcos_backend backend, const sxi_dcos_kernels **kernels) {
    static const char *const names[] = {NULL, "c", "avx2", "avx512", NULL};
    const char *variable = getenv("SX_CPU");
    const char *name = names[backend] ? names[backend] : variable && *variable ? variable : NULL;
    if (!name) {
        for (int i = 0; sxi_dcos_kernels_variant(i); i++) {
            *kernels = sxi_dcos_kernels_variant(i);
        }
        return SX_OK;
    }
    *kernels = sxi_dcos_kernels_find(name);
    if (!*kernels) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "no kernels '%s' (from %s) on this machine: sextant doctor lists what it "
                        "offers, backend auto takes the best of it",
                        name, names[backend] ? "the option" : "SX_CPU");
    }
    return SX_OK;
}

/* Over the delays themselves, or over the grid that traces are spread to. */
static sx_status make_spectrum(const sx_dcos_plan *plan, const sxi_dcos_shared *shared,
                               sxi_dcos_spectrum **spectrum) {
    const sxi_dcos_grid *grid = &plan->grid;
    const bool centred = plan->options.background != SX_BACKGROUND_NONE;
    sxi_dcos_spectrum_grid transformed = {.samples = grid->n,
                                          .step = grid->dx,
                                          .frequency_least = grid->frequency_least,
                                          .frequency_most = grid->frequency_most,
                                          .centred = centred,
                                          .own_weights = !shared};
    if (shared) {
        transformed.samples = shared->samples;
        transformed.first = shared->first;
        transformed.step = shared->dx;
        transformed.delays = grid->n;
        transformed.x = grid->x;
        transformed.factor = sxi_dcos_shared_factor;
        transformed.data = shared;
    }
    return sxi_dcos_spectrum_create(&transformed, spectrum);
}

/* What own_ratios compares with. */
static sx_status make_own(const sxi_dcos_grid *grid, sxi_dcos_fast *fast) {
    fast->own_square = malloc(SXI_DCOS_OWN_DECAYS * (size_t)grid->n * sizeof(double));
    if (!fast->own_square) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the plan of a fit");
    }
    for (int d = 0; d < SXI_DCOS_OWN_DECAYS; d++) {
        const double decay = d == 0 ? 0 : ldexp(1, d - 1);
        fast->own_total[d] = 0;
        for (int64_t i = 0; i < grid->n; i++) {
            fast->own_square[d * grid->n + i] = exp(-2 * decay * grid->x[i]);
            fast->own_total[d] += fast->own_square[d * grid->n + i];
        }
    }
    return SX_OK;
}

/* Where single precision stops: a part of a standard deviation, on sums with six digits. */
static const double APPROACH = 0.05, SINGLE_BLIND = 1e-6;
/* Newton's next step is then a millionth of a deviation. */
static const double TOLERANCE = 1e-4, BLIND = 1e-12;

static void fill(const sx_dcos_plan *plan, const sxi_dcos_kernels *kernels, sxi_dcos_fast *fast) {
    const sxi_dcos_grid *grid = &plan->grid;
    const double served = fast->shared ? fast->shared->decay_most : grid->decay_most;
    fast->kernels = kernels;
    if (grid->dx > 0) {
        sxi_dcos_even_make(grid->n, grid->dx, &fast->even);
    }
    fast->delays = (sxi_dcos_delays){.n = grid->n, .x = grid->x, .dx = grid->dx};
    fast->box = (sxi_dcos_box){.decay_least = grid->decay_least,
                               .decay_most = fmin(grid->decay_most, served),
                               .frequency_least = grid->frequency_least,
                               .frequency_most = grid->frequency_bound,
                               .tolerance = TOLERANCE,
                               .blind = BLIND};
    fast->single = plan->options.precision == SX_PRECISION_MIXED;
    fast->approach = fast->box;
    fast->approach.tolerance = APPROACH;
    fast->approach.blind = SINGLE_BLIND;
}

/* A peak of the spectrum has at least this part of the gain of the best mode near it. Beside other
 * modes, which are refitted with it, it is no better than a filter. */
static double peak_keeps(int beside) { return beside == 0 ? 0.85 : SXI_DCOS_FILTER_KEEPS; }

/* Before gains are corrected for the weights of a trace, the best peak may look like so little. */
static const double OWN_KEEPS = 0.4;

/* A minimisation that stopped has come at least so far. */
static const double STOPPED_KEEPS = 0.7;

/* What a tile works on; blocks are of `block` traces. */
typedef struct sxi_dcos_tile {
    struct sxi_dcos_tile *next; /* of those that wait to be used again */
    const sx_dcos_plan *plan;
    int block; /* traces that go together */
    bool absolute;
    sxi_dcos_way way;
    sxi_dcos_lanes *lanes;
    sxi_dcos_spectrum_work *spectrum;
    sxi_dcos_pixel *pixel; /* [block] */
    sxi_dcos_job *job;     /* [BLOCK * SXI_DCOS_CANDIDATES] */
    sxi_dcos_pixel **list; /* [block] */
    sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES];
    float *residual;      /* [block][n] */
    float *weight;        /* [block][n], OWN on even delays */
    float *residual_grid; /* [block][room] of them spread, SHARED */
    double *grid;         /* [block][room] traces spread, SHARED */
    double *s;            /* [block][padded]  OWN: roots of weights; SHARED: traces */
    double *scratch;      /* [2][padded] */
    double *filtered;     /* [SXI_BANK_WIDTH][padded], without a transform */
} tile;

/* --- loading --- */

/* Equal weights: 1 / sigma of all samples, 0 where they differ or there is none. */
static double common_weight(int64_t n, const double *sigma) {
    if (!sigma) {
        return 1;
    }
    bool equal = true;
    for (int64_t i = 1; i < n; i++) {
        equal &= sigma[i] == sigma[0];
    }
    return equal && sigma[0] > 0 && isfinite(1 / sigma[0]) && isfinite(sigma[0]) ? 1 / sigma[0] : 0;
}

static void begin(const tile *t, sxi_dcos_pixel *p) {
    p->finished = -1;
    p->doubtful = false;
    sxi_dcos_seeker_begin(&t->plan->options, &p->trace, t->absolute, &p->seeker);
    p->seeker.model[0] = (sxi_dcos_model){.rss = p->trace.yy, .evaluations = 1};
}

/* Where a trace goes. */
typedef enum way { EQUAL, OWN, EXACT } way;

/* A trace with equal weights; missing samples make their weights its own. */
static way load_equal(const tile *t, const double *y, double weight, sxi_dcos_pixel *p) {
    const sx_dcos_plan *plan = t->plan;
    const sxi_dcos_grid *grid = &plan->grid;
    const double least = 1e-200, most = 1e200; /* what is inside has squares that are numbers */
    sxi_column_shape shape;
    sxi_column_describe(grid->n, y, plan->options.background != SX_BACKGROUND_NONE, &shape);
    /* Offsets that leave few digits, and traces without signal, are for the exact core. */
    const double size = (double)grid->n * shape.mean * shape.mean;
    if (!isfinite(shape.square)) {
        return OWN;
    }
    if (!(shape.square > 1e-16 * size) || !(shape.square > least) || !(shape.square < most)) {
        return EXACT;
    }
    const double scale = sqrt(shape.square / (double)grid->n), part = 1 / scale;
    p->trace = (sxi_dcos_trace){.grid = grid,
                                .background = plan->options.background,
                                .used = grid->n,
                                .bank_most = (double)INFINITY,
                                .yy = shape.square * part * part,
                                .shift = shape.mean,
                                .scale = scale,
                                .weight = weight};
    p->neighbours = shape.neighbours * part * part;
    p->y = y;
    begin(t, p);
    return EQUAL;
}

/* A trace with weights of its own, number `at` of its block, as the exact core loads it. */
static bool load_own(const tile *t, const double *y, const double *sigma, const double *weight,
                     int64_t at, sxi_dcos_pixel *p) {
    const int64_t padded = t->plan->grid.padded;
    const double *column = t->scratch;
    p->trace =
        (sxi_dcos_trace){.s = t->s + at * padded, .y = t->scratch, .one = t->scratch + padded};
    if (sxi_dcos_load(t->plan, y, sigma, weight, &p->trace, p->fit) != SX_DCOS_OK ||
        isfinite(p->trace.bank_most) || p->trace.used < LEAST_SAMPLES_USED) {
        return false;
    }
    p->neighbours = 0;
    for (int64_t i = 0; i + 1 < t->plan->grid.n; i++) {
        p->neighbours += column[i] * column[i + 1];
    }
    p->y = y + t->plan->grid.first;
    begin(t, p);
    return true;
}

/* --- start values --- */

/* The trace itself, times its weights. */
static void residual_of_flat(const tile *t, const sxi_dcos_pixel *p, float *row) {
    const double shift = p->trace.shift, part = 1 / p->trace.scale, *s = p->trace.s;
    const int64_t n = t->plan->grid.n;
    for (int64_t i = 0; t->way == SXI_WAY_OWN && i < n; i++) {
        row[i] = s[i] > 0 ? (float)((p->y[i] - shift) * part * (s[i] * s[i])) : 0;
    }
    for (int64_t i = 0; t->way != SXI_WAY_OWN && i < n; i++) {
        row[i] = (float)((p->y[i] - shift) * part);
    }
}

/* Where there is no transform: the filters of the exact core. */
static void search_filters(tile *t, int64_t count) {
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
static void correct_gains(const tile *t, int64_t count) {
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
static void spread_residuals(const tile *t, int64_t count, const float *row[BLOCK]) {
    const sxi_dcos_fast *fast = t->plan->fast;
    float *grid[BLOCK] = {0};
    for (int64_t i = 0; i < count; i++) {
        grid[i] = t->residual_grid + i * fast->shared->room;
    }
    fast->kernels->spread_single(fast->shared, count, row, grid);
    for (int64_t i = 0; i < count; i++) {
        row[i] = grid[i];
    }
}

/* On even delays a trace's own weights are transformed, too. */
static void search_own(const tile *t, int64_t count, const float *const row[BLOCK],
                       const float variance[BLOCK]) {
    const int64_t n = t->plan->grid.n;
    const float *weight[BLOCK] = {0};
    for (int64_t i = 0; i < count; i++) {
        const double *s = t->list[i]->trace.s;
        float *w = t->weight + i * n;
        for (int64_t k = 0; k < n; k++) {
            w[k] = (float)(s[k] * s[k]);
        }
        weight[i] = w;
    }
    sxi_dcos_spectrum_search_own(t->plan->fast->spectrum, t->spectrum, count, row, weight, variance,
                                 SXI_DCOS_FILTER_KEEPS, SXI_DCOS_CHANCE, t->seed);
}

/* Peaks of what the listed traces' models leave. */
static void search(tile *t, int64_t count) {
    const sxi_dcos_fast *fast = t->plan->fast;
    const bool own = t->way == SXI_WAY_OWN;
    const float *row[BLOCK] = {0};
    float variance[BLOCK];
    if (!fast->spectrum) {
        search_filters(t, count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const sxi_dcos_seeker *s = &t->list[i]->seeker;
        row[i] = t->residual + i * t->plan->grid.n;
        variance[i] = (float)sxi_dcos_noise(s, s->model[s->tried].rss, s->tried);
    }
    if (own && !fast->shared) {
        search_own(t, count, row, variance);
        return;
    }
    if (fast->shared) {
        spread_residuals(t, count, row);
    }
    sxi_dcos_spectrum_search(fast->spectrum, t->spectrum, count, row, variance,
                             own ? OWN_KEEPS : SXI_DCOS_FILTER_KEEPS, SXI_DCOS_CHANCE, t->seed);
    if (own) {
        correct_gains(t, count);
    }
}

/* --- one mode more --- */

static int64_t gather_jobs(tile *t, int64_t count) {
    int64_t jobs = 0;
    for (int64_t i = 0; i < count; i++) {
        sxi_dcos_seeker *s = &t->list[i]->seeker;
        const sxi_dcos_seed *seed = t->seed[i];
        const sxi_dcos_model *from = &s->model[s->tried];
        const int modes = s->tried + 1;
        if (!(seed[0].gain > sxi_dcos_gain_least(s, seed[0].gain, peak_keeps(s->tried)))) {
            s->stop = true;
            continue;
        }
        const double variance = sxi_dcos_noise(s, fmax(from->rss - seed[0].gain, 0), modes);
        const double worth = SXI_DCOS_FILTER_KEEPS * seed[0].gain - SXI_DCOS_CHANCE * variance;
        sxi_dcos_grow_begin(s);
        for (int c = 0; c < SXI_DCOS_CANDIDATES && seed[c].gain > 0 && seed[c].gain >= worth; c++) {
            sxi_dcos_job *job = &t->job[jobs++];
            job->pixel = t->list[i];
            job->model = *from;
            job->model.evaluations = 0;
            job->model.modes = modes;
            job->model.theta[2 * modes - 2] = seed[c].decay;
            job->model.theta[2 * modes - 1] = seed[c].frequency;
        }
    }
    return jobs;
}

/* Whether the exact core should look for the minimum that was not reached: it could be the answer,
 * or one as good. */
static bool matters(const sxi_dcos_seeker *s, const sxi_dcos_model *found) {
    const double drop = s->model[s->tried].rss - found->rss;
    const bool more = found->modes > s->tried; /* else an earlier mode is challenged */
    return !isfinite(found->rss) || (sxi_dcos_contends(s, found) &&
                                     !(more && drop < sxi_dcos_gain_least(s, drop, STOPPED_KEEPS)));
}

/* What jobs found, in the order in which they were given. */
static void take_jobs(const tile *t, int64_t jobs) {
    for (int64_t i = 0; i < jobs; i++) {
        const sxi_dcos_job *job = &t->job[i];
        sxi_dcos_seeker *s = &job->pixel->seeker;
        if (job->model.end != SXI_END_CONVERGED) {
            job->pixel->doubtful |= matters(s, &job->model);
        } else if (sxi_dcos_contends(s, &job->model)) {
            sxi_dcos_keep(s, &job->model);
        }
    }
}

/* All traces that are not done, which have models of so many modes, get models of one more. */
static void grow(tile *t, int64_t pixels, int modes, int64_t *growing) {
    const int64_t n = t->plan->grid.n;
    int64_t count = 0;
    for (int64_t i = 0; i < pixels; i++) {
        if (!t->pixel[i].seeker.stop && !t->pixel[i].doubtful) {
            t->list[count++] = &t->pixel[i];
        }
    }
    *growing = count;
    if (!count) {
        return;
    }
    if (modes > 0) {
        sxi_dcos_lanes_finish(t->lanes, modes, count, t->list, true, -1, t->residual);
    } else {
        for (int64_t i = 0; i < count; i++) {
            residual_of_flat(t, t->list[i], t->residual + i * n);
        }
    }
    search(t, count);
    const int64_t jobs = gather_jobs(t, count);
    sxi_dcos_lanes_minimise(t->lanes, modes + 1, jobs, t->job);
    take_jobs(t, jobs);
    for (int64_t i = 0; i < count; i++) {
        sxi_dcos_seeker *s = &t->list[i]->seeker;
        if (s->stop) {
            continue;
        }
        if (isfinite(s->model[modes + 1].rss)) {
            sxi_dcos_judge(s, &t->plan->options);
        } else {
            s->stop = true;
        }
    }
}

/* --- the other basins of earlier modes --- */

static void challenge_one(tile *t, int64_t i, int mode, int64_t *jobs) {
    sxi_dcos_seeker *s = &t->list[i]->seeker;
    const sxi_dcos_model *from = &s->model[s->chosen];
    const sxi_dcos_seed *seed = t->seed[i];
    const double here = from->theta[2 * mode + 1];
    const double variance = sxi_dcos_noise(s, from->rss, s->chosen);
    double gain = seed[0].gain;
    for (int c = SXI_DCOS_CANDIDATES - 1; c >= 0; c--) {
        if (seed[c].gain > 0 && fabs(seed[c].frequency - here) < 0.75) {
            gain = seed[c].gain;
        }
    }
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        if (seed[c].gain > 0 && !(fabs(seed[c].frequency - here) < 0.75) &&
            seed[c].gain >= SXI_DCOS_FILTER_KEEPS * gain - SXI_DCOS_CHANCE * variance) {
            sxi_dcos_job *job = &t->job[(*jobs)++];
            job->pixel = t->list[i];
            job->model = *from;
            job->model.evaluations = 0;
            job->model.theta[2 * mode] = seed[c].decay;
            job->model.theta[2 * mode + 1] = seed[c].frequency;
        }
    }
}

static void challenge(tile *t, int64_t pixels, int modes) {
    for (int mode = 0; mode < modes; mode++) {
        int64_t count = 0, jobs = 0;
        for (int64_t i = 0; i < pixels; i++) {
            if (t->pixel[i].seeker.chosen == modes && !t->pixel[i].doubtful) {
                t->list[count++] = &t->pixel[i];
            }
        }
        sxi_dcos_lanes_finish(t->lanes, modes, count, t->list, false, mode, t->residual);
        search(t, count);
        for (int64_t i = 0; i < count; i++) {
            challenge_one(t, i, mode, &jobs);
        }
        sxi_dcos_lanes_minimise(t->lanes, modes, jobs, t->job);
        for (int64_t i = 0; i < jobs; i++) { /* a better minimum is not the one that fit holds */
            t->job[i].pixel->finished = -1;
        }
        take_jobs(t, jobs);
    }
}

/* --- the end --- */

/* The background alone. */
static void finish_flat(const tile *t, sxi_dcos_pixel *p) {
    const sxi_dcos_trace *trace = &p->trace;
    const double unit = trace->scale * trace->weight;
    sxi_dcos_model *model = &p->seeker.model[0];
    const double variance =
        t->absolute ? sxi_dcos_given_variance(trace) : sxi_dcos_residual_variance(trace, model);
    const int linear = sxi_dcos_linear(trace->background, 0);
    sxi_dcos_covariance cov = {.linear = linear, .count = linear};
    cov.c[0][0] = 1 / (double)trace->used;
    p->fit->chi2 = sxi_dcos_residual_variance(trace, model) * unit * unit;
    p->fit->state =
        (uint8_t)sxi_dcos_report(&cov, true, trace, model, variance, t->plan->options.t0, p->fit);
}

static void finish(tile *t, int64_t pixels) {
    for (int modes = 1; modes <= SX_DCOS_MAX_MODES; modes++) {
        int64_t count = 0;
        for (int64_t i = 0; i < pixels; i++) {
            sxi_dcos_pixel *p = &t->pixel[i];
            if (p->seeker.chosen == modes && p->finished != modes && !p->doubtful) {
                t->list[count++] = p;
            }
        }
        sxi_dcos_lanes_finish(t->lanes, modes, count, t->list, true, -1, NULL);
    }
    for (int64_t i = 0; i < pixels; i++) {
        sxi_dcos_pixel *p = &t->pixel[i];
        sxi_dcos_model *model = &p->seeker.model[p->seeker.chosen];
        p->doubtful |= model->frozen != 0 || model->end != SXI_END_CONVERGED;
        if (p->doubtful) {
            continue;
        }
        if (p->seeker.chosen == 0) {
            finish_flat(t, p);
        }
        sxi_dcos_flag(&p->seeker, p->fit);
        sxi_dcos_doubt(&p->trace, model->rss, p->neighbours, t->absolute, p->fit);
    }
}

static void run_block(tile *t, int64_t pixels) {
    int64_t growing = pixels;
    for (int modes = 0; growing > 0 && modes < SX_DCOS_MAX_MODES; modes++) {
        grow(t, pixels, modes, &growing);
    }
    for (int64_t i = 0; i < pixels; i++) {
        sxi_dcos_settle(&t->pixel[i].seeker);
    }
    for (int modes = 2; modes <= SX_DCOS_MAX_MODES; modes++) {
        challenge(t, pixels, modes);
    }
    finish(t, pixels);
}

static bool allocate(tile *t) {
    const sxi_dcos_grid *grid = &t->plan->grid;
    const sxi_dcos_shared *shared = t->plan->fast->shared;
    const size_t n = (size_t)grid->n, padded = (size_t)grid->padded, block = (size_t)t->block;
    const size_t room = shared ? (size_t)shared->room : 1;
    t->pixel = malloc(block * sizeof *t->pixel);
    t->job = malloc(block * SXI_DCOS_CANDIDATES * sizeof *t->job);
    t->list = malloc(block * sizeof(sxi_dcos_pixel *)); /* NOLINT(bugprone-sizeof-expression) */
    t->seed = malloc(block * sizeof *t->seed);
    t->residual = malloc(block * n * sizeof *t->residual);
    t->weight = malloc(block * n * sizeof *t->weight);
    t->residual_grid = malloc(block * room * sizeof *t->residual_grid);
    t->grid = malloc(block * room * sizeof *t->grid);
    t->s = aligned_alloc(64, block * padded * sizeof *t->s);
    t->scratch = aligned_alloc(64, 2 * padded * sizeof *t->scratch);
    t->filtered = aligned_alloc(64, SXI_BANK_WIDTH * padded * sizeof *t->filtered);
    return t->pixel && t->job && t->list && t->seed && t->residual && t->weight &&
           t->residual_grid && t->grid && t->s && t->scratch;
}

static void tile_destroy(tile **made) {
    tile *t = *made;
    if (t) {
        sxi_dcos_lanes_destroy(&t->lanes);
        sxi_dcos_spectrum_work_destroy(&t->spectrum);
        free(t->pixel);
        free(t->job);
        free(t->list);
        free(t->seed);
        free(t->residual);
        free(t->weight);
        free(t->residual_grid);
        free(t->grid);
        free(t->s);
        free(t->scratch);
        free(t->filtered);
        free(t);
        *made = NULL;
    }
}

static sx_status tile_create(const sx_dcos_plan *plan, tile **made) {
    sx_status status = SX_OK;
    const int64_t block = BLOCK_SAMPLES / plan->grid.n;
    *made = NULL;
    tile *t = calloc(1, sizeof *t);
    if (t) {
        t->plan = plan;
        t->block = block < LEAST_BLOCK ? LEAST_BLOCK : block < BLOCK ? (int)block : BLOCK;
    }
    if (!t || !allocate(t)) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to fit blocks of traces of %lld delays",
                          (long long)plan->grid.n);
        goto out;
    }
    SXI_GO(sxi_dcos_lanes_create(plan, &t->lanes));
    if (plan->fast->spectrum) {
        SXI_GO(sxi_dcos_spectrum_work_create(plan->fast->spectrum, &t->spectrum));
    }
    *made = t;
    t = NULL;
out:
    tile_destroy(&t);
    return status;
}

/* Calls come one after the other with the same plan: what one has used the next takes, as memory
 * that is new to the process is dear. */
static sx_status tile_take(const sx_dcos_plan *plan, tile **taken) {
    sxi_dcos_fast *fast = plan->fast;
    pthread_mutex_lock(&fast->mutex);
    *taken = fast->idle;
    fast->idle = *taken ? (*taken)->next : NULL;
    pthread_mutex_unlock(&fast->mutex);
    return *taken ? SX_OK : tile_create(plan, taken);
}

static void tile_give(tile *t) {
    sxi_dcos_fast *fast = t->plan->fast;
    pthread_mutex_lock(&fast->mutex);
    t->next = fast->idle;
    fast->idle = t;
    pthread_mutex_unlock(&fast->mutex);
}

/* Traces, about their means, from their delays to the even grid. */
static void spread(const tile *t, int64_t count) {
    const sxi_dcos_fast *fast = t->plan->fast;
    const double *row[BLOCK] = {0};
    double *grid[BLOCK] = {0};
    for (int64_t i = 0; i < count; i++) {
        sxi_dcos_pixel *p = &t->pixel[i];
        double *centred = t->s + i * t->plan->grid.padded;
        const double shift = p->trace.shift, part = 1 / p->trace.scale;
        for (int64_t k = 0; k < t->plan->grid.n; k++) {
            centred[k] = (p->y[k] - shift) * part;
        }
        row[i] = centred;
        grid[i] = t->grid + i * fast->shared->room;
        p->spread = grid[i];
    }
    fast->kernels->spread(fast->shared, count, row, grid);
}

/* Fits a block; what is in doubt is left. */
static void fit_block(tile *t, int64_t count, const sx_dcos_fit *fit, bool *left) {
    if (t->way == SXI_WAY_SHARED) {
        spread(t, count);
    }
    run_block(t, count);
    for (int64_t i = 0; i < count; i++) {
        left[t->pixel[i].fit - fit] = t->pixel[i].doubtful;
    }
}

/* What a call of sx_dcos_fit_tile brings. */
typedef struct input {
    int64_t npix;
    const double *y, *sigma, *weight;
} input;

/* All traces with equal weights; of the others, those with weights of their own are listed. */
static void fit_equal(tile *t, const input *in, sx_dcos_fit *fit, bool *left, bool *own) {
    const sx_dcos_plan *plan = t->plan;
    int64_t count = 0;
    t->way = plan->fast->shared ? SXI_WAY_SHARED : SXI_WAY_EVEN;
    sxi_dcos_lanes_turn(t->lanes, t->way);
    for (int64_t p = 0; p < in->npix; p++) {
        const int64_t at = p * plan->nt + plan->grid.first;
        const double weight =
            in->weight ? 0 : common_weight(plan->grid.n, in->sigma ? in->sigma + at : NULL);
        const way where = weight > 0 && plan->fast->spectrum
                              ? load_equal(t, in->y + at, weight, &t->pixel[count])
                              : OWN;
        own[p] = where == OWN;
        left[p] = where != EQUAL;
        if (!left[p]) {
            fit[p].used = (int32_t)plan->grid.n;
            t->pixel[count++].fit = &fit[p];
        }
        if (count == t->block) {
            fit_block(t, count, fit, left);
            count = 0;
        }
    }
    fit_block(t, count, fit, left);
}

/* Those that are listed, each with weights of its own. */
static void fit_own(tile *t, const input *in, sx_dcos_fit *fit, bool *left, const bool *own) {
    const int64_t nt = t->plan->nt;
    int64_t count = 0;
    t->way = SXI_WAY_OWN;
    sxi_dcos_lanes_turn(t->lanes, t->way);
    for (int64_t p = 0; p < in->npix; p++) {
        t->pixel[count].fit = &fit[p];
        if (!own[p] || !load_own(t, in->y + p * nt, in->sigma ? in->sigma + p * nt : NULL,
                                 in->weight, count, &t->pixel[count])) {
            continue;
        }
        count++;
        if (count == t->block) {
            fit_block(t, count, fit, left);
            count = 0;
        }
    }
    fit_block(t, count, fit, left);
}

sx_status sxi_dcos_fast_tile(const sx_dcos_plan *plan, int64_t npix, const double *y,
                             const double *sigma, const double *weight, bool absolute,
                             sx_dcos_fit *fit, bool *left) {
    const input in = {npix, y, sigma, weight};
    tile *t = NULL;
    bool *own = malloc((size_t)(npix > 0 ? npix : 1) * sizeof *own);
    if (!own) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to fit %lld traces", (long long)npix);
    }
    sx_status status = tile_take(plan, &t);
    if (status == SX_OK) {
        t->absolute = absolute;
        fit_equal(t, &in, fit, left, own);
        fit_own(t, &in, fit, left, own);
        status = sxi_dcos_lanes_failure(t->lanes);
        tile_give(t);
    }
    free(own);
    return status;
}

void sxi_dcos_fast_destroy(sxi_dcos_fast **fast) {
    if (*fast) {
        for (tile *t = (*fast)->idle, *next; t; t = next) {
            next = t->next;
            tile_destroy(&t);
        }
        pthread_mutex_destroy(&(*fast)->mutex);
        sxi_dcos_shared_destroy(&(*fast)->shared);
        sxi_dcos_spectrum_destroy(&(*fast)->spectrum);
        free((*fast)->own_square);
        free(*fast);
        *fast = NULL;
    }
}

sx_status sxi_dcos_fast_create(const sx_dcos_plan *plan, sxi_dcos_fast **fast) {
    const sxi_dcos_kernels *kernels = NULL;
    sxi_dcos_cuda cuda = {0};
    sx_status status = SX_OK;
    *fast = NULL;
    if (plan->options.backend == SX_BACKEND_CUDA) {
        SXI_TRY(sxi_dcos_cuda_open(&cuda));
    }
    SXI_TRY(choose_kernels(plan->options.backend, &kernels)); /* a wrong name is one in any case */
    if (!possible(plan)) {
        return SX_OK;
    }
    sxi_dcos_fast *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the plan of a fit");
    }
    pthread_mutex_init(&made->mutex, NULL);
    if (!(plan->grid.dx > 0)) {
        SXI_GO(sxi_dcos_shared_create(&plan->grid, NULL, &made->shared));
    }
    if (plan->grid.dx > 0 || made->shared) {
        SXI_GO(make_spectrum(plan, made->shared, &made->spectrum));
    }
    SXI_GO(make_own(&plan->grid, made));
    fill(plan, kernels, made);
    made->cuda = cuda;
    *fast = made;
    made = NULL;
out:
    sxi_dcos_fast_destroy(&made);
    return status;
}
