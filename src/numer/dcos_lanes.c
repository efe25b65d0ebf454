/* SPDX-License-Identifier: Apache-2.0
 * Traces in and out of the lanes of bundles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dcos_fast.h"

enum { B = SXI_BUNDLE };
static const uint32_t ALL = SXI_ALL_LANES;

struct sxi_dcos_lanes {
    const sx_dcos_plan *plan;
    sxi_dcos_way way;
    double *y;     /* [n][B] */
    double *w;     /* [n][B], OWN */
    double *grid;  /* [room][B], SHARED */
    float *single; /* [n or room][B], where sums run in single precision */
    float *left;   /* [n][B] residuals */
    double neighbours[B];
    sxi_dcos_device *device; /* NULL: no GPU in use */
    sx_status status;        /* of it */
    sxi_dcos_bundle bundle;
    sxi_dcos_sums sums;
    sxi_dcos_errors errors;
};

sx_status sxi_dcos_lanes_create(const sx_dcos_plan *plan, sxi_dcos_lanes **lanes) {
    const sxi_dcos_shared *shared = plan->fast->shared;
    const size_t samples = (size_t)plan->grid.n * B;
    const size_t spread = shared ? (size_t)shared->room * B : 0;
    const size_t summed = samples > spread ? samples : spread;
    sxi_dcos_lanes *made = aligned_alloc(64, (sizeof *made + 63) / 64 * 64);
    *lanes = NULL;
    if (made) {
        memset(made, 0, sizeof *made);
        made->plan = plan;
        made->y = aligned_alloc(64, (2 * samples + spread) * sizeof(double));
        made->single = aligned_alloc(64, (samples + summed) * sizeof(float));
    }
    if (!made || !made->y || !made->single) {
        sxi_dcos_lanes_destroy(&made);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for bundles of traces of %lld delays",
                        (long long)plan->grid.n);
    }
    made->w = made->y + samples;
    made->grid = made->w + samples;
    made->left = made->single + summed;
    memset(made->y, 0, (2 * samples + spread) * sizeof(double));
    memset(made->single, 0, (samples + summed) * sizeof(float));
    const sxi_dcos_fast *fast = plan->fast;
    const sx_status status = fast->cuda.create ? sxi_dcos_device_create(&fast->cuda, &fast->delays,
                                                                        &fast->even, &made->device)
                                               : SX_OK;
    if (status != SX_OK) {
        sxi_dcos_lanes_destroy(&made);
        return status;
    }
    *lanes = made;
    return SX_OK;
}

void sxi_dcos_lanes_destroy(sxi_dcos_lanes **lanes) {
    if (*lanes) {
        sxi_dcos_device_destroy(&(*lanes)->device);
        free((*lanes)->y);
        free((*lanes)->single);
        free(*lanes);
        *lanes = NULL;
    }
}

void sxi_dcos_lanes_turn(sxi_dcos_lanes *lanes, sxi_dcos_way way) { lanes->way = way; }

/* --- one lane --- */

/* Weights of its own; missing samples have none. */
static void put_weighted(sxi_dcos_lanes *lanes, const sxi_dcos_pixel *pixel, int lane) {
    const sxi_dcos_trace *trace = &pixel->trace;
    const double shift = trace->shift, part = 1 / trace->scale;
    for (int64_t i = 0; i < lanes->plan->grid.n; i++) {
        const double s = trace->s[i];
        lanes->w[i * B + lane] = s * s;
        lanes->y[i * B + lane] = s > 0 ? (pixel->y[i] - shift) * part : 0;
    }
}

/* The samples of the lanes that are set: the trace itself, or, spread, what sums run over. */
static void put_samples(sxi_dcos_lanes *lanes, bool spread, bool single, uint32_t set,
                        sxi_dcos_pixel *const pixel[B]) {
    const sxi_dcos_fast *fast = lanes->plan->fast;
    const int64_t n = spread ? fast->shared->room : lanes->plan->grid.n;
    const double *row[B] = {0};
    double shift[B] = {0}, part[B] = {0};
    for (int lane = 0; lane < B; lane++) {
        const sxi_dcos_pixel *p = pixel[lane];
        if (!(set >> lane & 1)) {
            continue;
        }
        if (lanes->way == SXI_WAY_OWN) {
            put_weighted(lanes, p, lane);
            continue;
        }
        row[lane] = spread ? p->spread : p->y;
        shift[lane] = spread ? 0 : p->trace.shift;
        part[lane] = spread ? 1 : 1 / p->trace.scale;
    }
    if (lanes->way == SXI_WAY_OWN) {
        return;
    }
    if (single) {
        fast->kernels->fill_single(n, row, shift, part, set, lanes->single);
    } else {
        fast->kernels->fill(n, row, shift, part, set, spread ? lanes->grid : lanes->y);
    }
}

static void put_trace(sxi_dcos_lanes *lanes, const sxi_dcos_trace *trace, int modes, int lane) {
    sxi_dcos_bundle *b = &lanes->bundle;
    b->yy[lane] = trace->yy;
    b->total[lane] =
        trace->background == SX_BACKGROUND_NONE ? SXI_DCOS_NO_CONSTANT : (double)trace->used;
    b->freedom[lane] = (double)(trace->used - sxi_dcos_parameters(trace->background, modes));
}

/* Inside the box. */
static void put_model(sxi_dcos_lanes *lanes, const sxi_dcos_model *model, int lane) {
    const sxi_dcos_box *box = &lanes->plan->fast->box;
    for (int i = 0; i < 2 * model->modes; i++) {
        const double least = i % 2 ? box->frequency_least : box->decay_least;
        const double most = i % 2 ? box->frequency_most : box->decay_most;
        lanes->bundle.theta[i][lane] = fmin(fmax(model->theta[i], least), most);
    }
    lanes->bundle.rss[lane] = (double)INFINITY;
    lanes->bundle.evaluations[lane] = 0;
}

/* Parameters that the end of a minimisation finds at their bounds. */
static uint32_t frozen(const sxi_dcos_box *box, const sxi_dcos_model *model) {
    uint32_t bits = 0;
    for (int i = 0; i < 2 * model->modes; i++) {
        const double least = i % 2 ? box->frequency_least : box->decay_least;
        const double most = i % 2 ? box->frequency_most : box->decay_most;
        bits |= model->theta[i] <= least || model->theta[i] >= most ? 1U << i : 0;
    }
    return bits;
}

static void get_model(const sxi_dcos_lanes *lanes, int lane, sxi_dcos_job *job) {
    const sxi_dcos_bundle *b = &lanes->bundle;
    sxi_dcos_model *model = &job->model;
    job->useless = b->useless >> lane & 1;
    for (int i = 0; i < 2 * model->modes; i++) {
        model->theta[i] = b->theta[i][lane];
    }
    const bool failed = b->failed >> lane & 1;
    model->rss = b->rss[lane] - (failed ? 0 : b->decrement[lane]);
    model->end = failed ? SXI_END_NOT_CONVERGED : SXI_END_CONVERGED;
    model->frozen = frozen(&lanes->plan->fast->box, model);
    model->evaluations += (int)b->evaluations[lane];
}

static void make_sums(sxi_dcos_lanes *lanes, int modes, bool single, uint32_t wanted) {
    const sxi_dcos_fast *fast = lanes->plan->fast;
    const sxi_dcos_kernels *kernels = fast->kernels;
    const sxi_dcos_bundle *b = &lanes->bundle;
    if (lanes->way == SXI_WAY_OWN) {
        kernels->direct(modes, &fast->delays, lanes->w, lanes->y, wanted, b, &lanes->sums);
    } else if (lanes->way == SXI_WAY_SHARED && single) {
        kernels->shared_single(modes, fast->shared, lanes->single, wanted, b, &lanes->sums);
    } else if (lanes->way == SXI_WAY_SHARED) {
        kernels->shared(modes, fast->shared, lanes->grid, wanted, b, &lanes->sums);
    } else if (single) {
        kernels->even_single(modes, &fast->even, lanes->single, wanted, b, &lanes->sums);
    } else {
        kernels->even(modes, &fast->even, lanes->y, wanted, b, &lanes->sums);
    }
}

/* --- the queue --- */

/* Jobs into lanes that are free; returns the first that found none. */
static int64_t refill(sxi_dcos_lanes *lanes, int modes, bool single, int64_t next, int64_t count,
                      const sxi_dcos_job *job, int64_t held[B]) {
    sxi_dcos_bundle *b = &lanes->bundle;
    sxi_dcos_pixel *pixel[B] = {0};
    uint32_t set = 0;
    for (int lane = 0; lane < B && next < count; lane++) {
        if (!(b->running >> lane & 1)) {
            put_trace(lanes, &job[next].pixel->trace, modes, lane);
            put_model(lanes, &job[next].model, lane);
            b->worth[lane] = job[next].worth;
            pixel[lane] = job[next].pixel;
            set |= UINT32_C(1) << lane;
            held[lane] = next++;
        }
    }
    put_samples(lanes, lanes->way == SXI_WAY_SHARED, single, set, pixel);
    b->running |= set;
    b->fresh |= set;
    return next;
}

static void run_queue(sxi_dcos_lanes *lanes, int modes, bool single, int64_t count,
                      sxi_dcos_job *job) {
    const sxi_dcos_fast *fast = lanes->plan->fast;
    sxi_dcos_bundle *b = &lanes->bundle;
    int64_t held[B] = {0}, next = 0;
    b->running = b->fresh = b->failed = b->frozen = b->useless = 0;
    for (;;) {
        next = refill(lanes, modes, single, next, count, job, held);
        const uint32_t before = b->running;
        if (!before) {
            return;
        }
        make_sums(lanes, modes, single, before);
        fast->kernels->step(modes, single ? &fast->approach : &fast->box, &lanes->sums, b);
        const uint32_t done = before & ~b->running;
        for (int lane = 0; lane < B; lane++) {
            /* Where single precision fails, double starts again. */
            if (done >> lane & 1 && !(single && b->failed >> lane & 1)) {
                get_model(lanes, lane, &job[held[lane]]);
            }
        }
    }
}

/* The same on a GPU: bundles are laid out here, one after another, and go there in one launch. */
static sx_status run_device(sxi_dcos_lanes *lanes, int modes, int64_t count, sxi_dcos_job *job) {
    enum { TOGETHER = SXI_DCOS_DEVICE_BUNDLES * B };
    const double *w = lanes->way == SXI_WAY_OWN ? lanes->w : NULL;
    sxi_dcos_bundle *b = &lanes->bundle;
    int64_t held[B];
    for (int64_t first = 0; first < count; first += TOGETHER) {
        const int64_t end = count - first < TOGETHER ? count : first + TOGETHER;
        int64_t bundles = 0;
        for (int64_t next = first; next < end; bundles++) {
            b->running = b->fresh = b->failed = b->frozen = b->useless = 0;
            next = refill(lanes, modes, false, next, end, job, held);
            sxi_dcos_device_put(lanes->device, bundles, b, w, lanes->y);
        }
        SXI_TRY(sxi_dcos_device_minimise(lanes->device, modes, &lanes->plan->fast->box, bundles));
        for (int64_t i = first; i < end; i++) {
            const int64_t at = i - first;
            if (at % B == 0) {
                *b = *sxi_dcos_device_get(lanes->device, at / B);
            }
            get_model(lanes, (int)(at % B), &job[i]);
        }
    }
    return SX_OK;
}

void sxi_dcos_lanes_minimise(sxi_dcos_lanes *lanes, int modes, int64_t count, sxi_dcos_job *job) {
    if (lanes->device && lanes->way != SXI_WAY_SHARED && lanes->status == SX_OK) {
        lanes->status = run_device(lanes, modes, count, job);
        if (lanes->status == SX_OK) {
            return;
        }
    }
    if (lanes->plan->fast->single && lanes->way != SXI_WAY_OWN) {
        run_queue(lanes, modes, true, count, job);
    }
    run_queue(lanes, modes, false, count, job);
}

sx_status sxi_dcos_lanes_failure(sxi_dcos_lanes *lanes) {
    const sx_status status = lanes->status;
    lanes->status = SX_OK;
    return status;
}

/* --- the end --- */

static void get_covariance(const sxi_dcos_lanes *lanes, const sxi_dcos_trace *trace, int modes,
                           int lane, sxi_dcos_covariance *cov) {
    const bool constant = trace->background != SX_BACKGROUND_NONE;
    const int skip = constant ? 0 : 1;
    cov->linear = 2 * modes + 1 - skip;
    cov->slopes = 2 * modes;
    cov->count = cov->linear + cov->slopes;
    for (int i = 0; i < cov->count; i++) {
        for (int j = 0; j <= i; j++) {
            const int row = i + skip, column = j + skip;
            cov->c[i][j] = cov->c[j][i] =
                lanes->errors.covariance[row * (row + 1) / 2 + column][lane];
        }
    }
}

/* Standard deviations from the minimum at which the errors were taken. */
static const double AT_MINIMUM = 1e-5;

static void get_coefficients(const sxi_dcos_lanes *lanes, const sxi_dcos_trace *trace, int modes,
                             int lane, sxi_dcos_model *model) {
    const int skip = trace->background != SX_BACKGROUND_NONE ? 0 : 1;
    for (int i = skip; i < 1 + 2 * modes; i++) {
        model->coefficient[i - skip] = lanes->bundle.coefficient[i][lane];
    }
    model->rss = lanes->bundle.rss[lane];
}

static void report(sxi_dcos_lanes *lanes, sxi_dcos_pixel *pixel, int modes, int lane) {
    sxi_dcos_seeker *s = &pixel->seeker;
    sxi_dcos_model *model = &s->model[modes];
    const sxi_dcos_trace *trace = &pixel->trace;
    const double unit = trace->scale * trace->weight;
    const double variance =
        s->absolute ? sxi_dcos_given_variance(trace) : sxi_dcos_residual_variance(trace, model);
    sxi_dcos_covariance cov;
    get_covariance(lanes, trace, modes, lane, &cov);
    pixel->fit->chi2 = sxi_dcos_residual_variance(trace, model) * unit * unit;
    pixel->fit->state = (uint8_t)sxi_dcos_report(&cov, true, trace, model, variance,
                                                 lanes->plan->options.t0, pixel->fit);
    pixel->neighbours = lanes->neighbours[lane];
    pixel->finished = modes;
}

/* Samples that are moved together, so that a line of the bundle is read while it is near. */
enum { PIECE = 8 };

/* Residuals of the lanes into rows. */
static void get_residuals(const sxi_dcos_lanes *lanes, int count, float *row) {
    const int64_t n = lanes->plan->grid.n;
    for (int64_t from = 0; from < n; from += PIECE) {
        const int64_t to = from + PIECE < n ? from + PIECE : n;
        for (int lane = 0; lane < count; lane++) {
            for (int64_t i = from; i < to; i++) {
                row[lane * n + i] = lanes->left[i * B + lane];
            }
        }
    }
}

/* Models of the traces of one bundle, evaluated at their minima. */
static void evaluate(sxi_dcos_lanes *lanes, int modes, int count, sxi_dcos_pixel *const *pixel) {
    sxi_dcos_bundle *b = &lanes->bundle;
    const uint32_t used = count == B ? ALL : (UINT32_C(1) << count) - 1;
    for (int lane = 0; lane < count; lane++) {
        put_trace(lanes, &pixel[lane]->trace, modes, lane);
        put_model(lanes, &pixel[lane]->seeker.model[modes], lane);
    }
    put_samples(lanes, false, false, used, pixel);
    if (lanes->way == SXI_WAY_SHARED) {
        put_samples(lanes, true, false, used, pixel);
    }
    make_sums(lanes, modes, false, used);
    lanes->plan->fast->kernels->errors(modes, &lanes->sums, used, b, &lanes->errors);
    for (int lane = 0; lane < count; lane++) {
        sxi_dcos_pixel *p = pixel[lane];
        get_coefficients(lanes, &p->trace, modes, lane, &p->seeker.model[modes]);
        const double far = b->decrement[lane] * b->freedom[lane];
        const bool bound = p->seeker.model[modes].frozen != 0; /* no zero of the gradient there */
        p->doubtful = p->doubtful || lanes->errors.singular >> lane & 1 ||
                      !(bound || far <= AT_MINIMUM * AT_MINIMUM * b->rss[lane]);
    }
}

void sxi_dcos_lanes_finish(sxi_dcos_lanes *lanes, int modes, int64_t count,
                           sxi_dcos_pixel *const *pixel, bool wanted, int without,
                           float *residual) {
    sxi_dcos_bundle *b = &lanes->bundle;
    for (int64_t first = 0; first < count; first += B) {
        const int held = count - first < B ? (int)(count - first) : B;
        evaluate(lanes, modes, held, pixel + first);
        if (without >= 0) {
            memset(b->coefficient[1 + 2 * without], 0, sizeof b->coefficient[0]);
            memset(b->coefficient[2 + 2 * without], 0, sizeof b->coefficient[0]);
        }
        lanes->plan->fast->kernels->residual(modes, &lanes->plan->fast->delays,
                                             lanes->way == SXI_WAY_OWN ? lanes->w : NULL, lanes->y,
                                             ALL, b, lanes->left, lanes->neighbours);
        if (residual) {
            get_residuals(lanes, held, residual + first * lanes->plan->grid.n);
        }
        for (int lane = 0; wanted && lane < held; lane++) {
            /* A model that is only on trial is not the answer. */
            const sxi_dcos_seeker *s = &pixel[first + lane]->seeker;
            if ((s->demanded || s->accepted == modes) && !pixel[first + lane]->doubtful) {
                report(lanes, pixel[first + lane], modes, lane);
            }
        }
    }
}
