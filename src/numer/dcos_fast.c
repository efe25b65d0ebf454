/* SPDX-License-Identifier: Apache-2.0
 * The plan of the fast way, and tiles of traces into blocks. */
#include "numer/dcos_fast.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/column.h"
#include "kern/wave.h"
#include "numer/dcos_shared.h"
#include "numer/dcos_tile.h"

/* Delays of a plan that goes this way: fewer leave little to sum over, more have bundles that no
 * cache holds. */
enum { LEAST_SAMPLES_USED = 16, MOST_SAMPLES_USED = 1 << 16 };

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
    if (!*kernels && names[backend] && variable && *variable) {
        return SXI_FAIL(
            SX_ERR_UNSUPPORTED,
            "no kernels '%s' (from the option) are left by SX_CPU=%s, which takes c, avx2 "
            "or avx512: unset it, or choose backend auto",
            name, variable);
    }
    if (!*kernels) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "no kernels '%s' (from %s) on this machine: sextant doctor lists what it "
                        "offers, backend auto takes the best of it",
                        name, names[backend] ? "the option" : "SX_CPU");
    }
    return SX_OK;
}

/* A trace that is spread serves start values up to this decay per step of the grid, farther than it
 * serves fits. Short filters pay where this many times as many delays as the mean lie together: else
 * few samples make their gains estimates that cost a fifth more starts. */
static const double SPREAD_DECAY = 0.6, CROWD = 3;

/* Over the delays themselves, or over the grid that traces are spread to. */
static sx_status make_spectrum(const sx_dcos_plan *plan, const sxi_dcos_shared *shared,
                               sxi_dcos_spectrum **spectrum) {
    const sxi_dcos_grid *grid = &plan->grid;
    const bool centred = plan->options.background != SX_BACKGROUND_NONE;
    sxi_dcos_spectrum_grid transformed = {.samples = grid->n,
                                          .step = grid->dx,
                                          .frequency_least = grid->frequency_least,
                                          .frequency_most = grid->frequency_most,
                                          .decay_most = grid->decay_most,
                                          .centred = centred,
                                          .own_weights = !shared};
    if (shared) {
        transformed.samples = shared->samples;
        transformed.first = shared->first;
        transformed.step = shared->dx;
        const bool crowded = grid->decay_most > 2 * CROWD * (double)grid->n;
        transformed.decay_most = crowded ? grid->decay_most : 0;
        transformed.decay_served = SPREAD_DECAY / shared->dx;
        transformed.delays = grid->n;
        transformed.x = grid->x;
        transformed.factor = sxi_dcos_shared_factor;
        transformed.data = shared;
    }
    return sxi_dcos_spectrum_create(&transformed, spectrum);
}

/* Points of the window a cycle, and a part of its maximum that noise of random delays does not reach. */
static const double PER_CYCLE = 4, ALIASED = 0.25;

/* Terms of the window that a plan may take; very many delays are left without one. */
static const double MOST_TERMS = 2e7;

/* Adds exp(2 pi i f x) of one delay to re, im [count], f = 0, 1 / PER_CYCLE, ... */
static void add_turns(double x, int64_t count, double *re, double *im) {
    double c, s, u = 1, v = 0;
    sxi_wave_turn(2 * x / PER_CYCLE, &c, &s);
    for (int64_t k = 0; k < count; k++) {
        re[k] += u;
        im[k] += v;
        const double t = u * c - v * s;
        v = u * s + v * c;
        u = t;
    }
}

/* |sum of exp(2 pi i f x)| / n over frequencies up to twice the highest. */
static sx_status make_window(const sxi_dcos_grid *grid, sxi_dcos_fast *fast) {
    const int64_t count = (int64_t)(2 * PER_CYCLE * grid->frequency_bound) + 2;
    if ((double)count * (double)grid->n > MOST_TERMS) {
        return SX_OK;
    }
    double *sum = calloc(2 * (size_t)count, sizeof *sum);
    fast->window = malloc((size_t)count * sizeof *fast->window);
    if (!sum || !fast->window) {
        free(sum);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the plan of a fit");
    }
    fast->windows = count;
    for (int64_t i = 0; i < grid->n; i++) {
        add_turns(grid->x[i], count, sum, sum + count);
    }
    for (int64_t k = 0; k < count; k++) {
        fast->window[k] = sqrt(sum[k] * sum[k] + sum[count + k] * sum[count + k]) / (double)grid->n;
    }
    free(sum);
    return SX_OK;
}

bool sxi_dcos_aliased(const sxi_dcos_fast *fast, double frequency) {
    const int64_t k = (int64_t)(PER_CYCLE * frequency + 0.5);
    const int64_t twice = (int64_t)(2 * PER_CYCLE * frequency + 0.5);
    return fast->window && twice < fast->windows &&
           (fast->window[k] > ALIASED || fast->window[twice] > ALIASED);
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

static void begin(const sxi_dcos_tile *t, sxi_dcos_pixel *p) {
    p->finished = -1;
    p->doubtful = false;
    p->scattered = false;
    sxi_dcos_seeker_begin(&t->plan->options, &p->trace, t->absolute, &p->seeker);
    p->seeker.model[0] = (sxi_dcos_model){.rss = p->trace.yy, .evaluations = 1};
}

/* Where a trace goes. */
typedef enum way { EQUAL, OWN, EXACT } way;

/* A trace with equal weights; missing samples make their weights its own. */
static way load_equal(const sxi_dcos_tile *t, const double *y, double weight, sxi_dcos_pixel *p) {
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

/* As of equal weights: numbers whose squares and inverses are numbers, and no offset that leaves few
 * digits. */
static const double LEAST_SCALE = 1e-100, MOST_SCALE = 1e100, LEAST_DEVIATION = 1e-8;

/* Samples that count, (sum w)^2 / sum w^2, are fewer than this part of the delays: then a tone has
 * another shape than in all of them. */
static const double ALL_COUNT = 0.67;

static bool scattered(const sxi_dcos_trace *trace) {
    double square = 0;
    for (int64_t i = 0; i < trace->grid->n; i++) {
        const double w = trace->s[i] * trace->s[i];
        square += w * w;
    }
    return (double)trace->used * (double)trace->used < ALL_COUNT * (double)trace->grid->n * square;
}

/* A trace with weights of its own, number `at` of its block, as the exact core loads it. */
static bool load_own(const sxi_dcos_tile *t, const double *y, const double *sigma,
                     const double *weight, int64_t at, sxi_dcos_pixel *p) {
    const int64_t padded = t->plan->grid.padded;
    const double *column = t->scratch;
    p->trace =
        (sxi_dcos_trace){.s = t->s + at * padded, .y = t->scratch, .one = t->scratch + padded};
    if (sxi_dcos_load(t->plan, y, sigma, weight, &p->trace, p->fit) != SX_DCOS_OK ||
        isfinite(p->trace.bank_most) || p->trace.used < LEAST_SAMPLES_USED ||
        !(p->trace.scale > fmax(LEAST_SCALE, LEAST_DEVIATION * fabs(p->trace.shift))) ||
        !(p->trace.scale < MOST_SCALE)) {
        return false;
    }
    p->neighbours = 0;
    for (int64_t i = 0; i + 1 < t->plan->grid.n; i++) {
        p->neighbours += column[i] * column[i + 1];
    }
    p->y = y + t->plan->grid.first;
    begin(t, p);
    p->scattered = scattered(&p->trace);
    return true;
}

/* Traces, about their means, from their delays to the even grid. */
static void spread(const sxi_dcos_tile *t, int64_t count) {
    const sxi_dcos_fast *fast = t->plan->fast;
    const double *row[SXI_DCOS_BLOCK] = {0};
    double *grid[SXI_DCOS_BLOCK] = {0};
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
static void fit_block(sxi_dcos_tile *t, int64_t count, const sx_dcos_fit *fit, bool *left) {
    if (t->way == SXI_WAY_SHARED) {
        spread(t, count);
    }
    sxi_dcos_block_run(t, count);
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
static void fit_equal(sxi_dcos_tile *t, const input *in, sx_dcos_fit *fit, bool *left, bool *own) {
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
static void fit_own(sxi_dcos_tile *t, const input *in, sx_dcos_fit *fit, bool *left,
                    const bool *own) {
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
    sxi_dcos_tile *t = NULL;
    bool *own = malloc((size_t)(npix > 0 ? npix : 1) * sizeof *own);
    if (!own) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to fit %lld traces", (long long)npix);
    }
    sx_status status = sxi_dcos_tile_take(plan, &t);
    if (status == SX_OK) {
        t->absolute = absolute;
        fit_equal(t, &in, fit, left, own);
        fit_own(t, &in, fit, left, own);
        status = sxi_dcos_lanes_failure(t->lanes);
        sxi_dcos_tile_give(t);
    }
    free(own);
    return status;
}

void sxi_dcos_fast_destroy(sxi_dcos_fast **fast) {
    if (*fast) {
        for (sxi_dcos_tile *t = (*fast)->idle, *next; t; t = next) {
            next = t->next;
            sxi_dcos_tile_destroy(&t);
        }
        pthread_mutex_destroy(&(*fast)->mutex);
        sxi_dcos_shared_destroy(&(*fast)->shared);
        sxi_dcos_spectrum_destroy(&(*fast)->spectrum);
        free((*fast)->own_square);
        free((*fast)->window);
        free(*fast);
        *fast = NULL;
    }
}

/* E-foldings that spread traces must serve, 0.3 a delay. With less, one trace of ten, and more, ends at
 * a short tone beyond and is left to the exact core, which finds others on the way. */
static const double LEAST_SERVED = 28;

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
    if (made->shared && made->shared->decay_most < LEAST_SERVED) {
        goto out;
    }
    if (!(plan->grid.dx > 0)) {
        SXI_GO(make_window(&plan->grid, made));
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
