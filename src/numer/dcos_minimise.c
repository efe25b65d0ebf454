/* SPDX-License-Identifier: Apache-2.0
 * Levenberg-Marquardt on the projected problem. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/column.h"
#include "numer/dcos.h"

/* Evaluations after which Gauss-Newton is taken to creep, and after which a fit gives up. */
enum { CREEPING = 25, MOST_EVALUATIONS = 300 };

/* Converged when the undamped step is shorter than this many standard deviations; that step is then
 * taken. */
static const double STEP_SIGMA = 1e-6;
/* ... or than this part of the trace itself: traces without noise end on rounding. */
static const double STEP_TRACE = 1e-13;
/* Near enough to tell which of several minima is the lowest. */
static const double APPROACH_SIGMA = 0.1;
/* A column that keeps less than this of its length is a combination of the others. */
static const double DEPENDENT = 1e-9;

sx_status sxi_dcos_work_create(int64_t padded, sxi_dcos_work *work) {
    int columns = 2 * SXI_DCOS_LINEAR + SXI_DCOS_NONLINEAR + 1;
    memset(work, 0, sizeof *work);
    work->padded = padded;
    work->memory = aligned_alloc(64, (size_t)padded * (size_t)columns * sizeof(double));
    if (!work->memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for columns of %lld delays", (long long)padded);
    }
    double *next = work->memory;
    for (int j = 0; j < SXI_DCOS_LINEAR; j++, next += padded) {
        work->raw[j] = next;
    }
    for (int j = 0; j < SXI_DCOS_LINEAR; j++, next += padded) {
        work->q[j] = next;
    }
    for (int j = 0; j < SXI_DCOS_NONLINEAR; j++, next += padded) {
        work->slope[j] = next;
    }
    work->residual = next;
    return SX_OK;
}

void sxi_dcos_work_destroy(sxi_dcos_work *work) {
    free(work->memory);
    memset(work, 0, sizeof *work);
}

static int background_columns(sx_dcos_background background) {
    switch (background) {
    case SX_BACKGROUND_NONE:
        return 0;
    case SX_BACKGROUND_CONSTANT:
        return 1;
    case SX_BACKGROUND_LINEAR:
    case SX_BACKGROUND_EXP:
        return 2;
    }
    return 1;
}

int sxi_dcos_linear(sx_dcos_background background, int modes) {
    return background_columns(background) + 2 * modes;
}

int sxi_dcos_nonlinear(sx_dcos_background background, int modes) {
    return 2 * modes + (background == SX_BACKGROUND_EXP ? 1 : 0);
}

static void build_columns(sxi_dcos_work *work, const sxi_dcos_trace *trace,
                          const sxi_dcos_model *model) {
    const sxi_dcos_grid *grid = trace->grid;
    int64_t n = grid->padded;
    int j = 0;
    if (trace->background != SX_BACKGROUND_NONE) {
        memcpy(work->raw[j++], trace->s, (size_t)n * sizeof(double));
    }
    if (trace->background == SX_BACKGROUND_LINEAR) {
        for (int64_t i = 0; i < n; i++) {
            work->raw[j][i] = trace->s[i] * grid->x[i];
        }
        j++;
    }
    if (trace->background == SX_BACKGROUND_EXP) {
        /* The sine of frequency 0 goes to a column that is written afterwards. */
        sxi_column_dcos(n, grid->x, grid->dx, trace->s, model->theta[2 * model->modes], 0.0,
                        work->raw[j], work->residual);
        j++;
    }
    for (int k = 0; k < model->modes; k++, j += 2) {
        sxi_column_dcos(n, grid->x, grid->dx, trace->s, model->theta[2 * k],
                        model->theta[2 * k + 1], work->raw[j], work->raw[j + 1]);
    }
}

/* raw = q r by modified Gram-Schmidt; false where a column depends on those before it. */
static bool orthonormalise(sxi_dcos_work *work, const sxi_dcos_trace *trace, int columns) {
    int64_t n = work->padded;
    for (int j = 0; j < columns; j++) {
        if (j == 0 && trace->background != SX_BACKGROUND_NONE) {
            memcpy(work->q[0], trace->one, (size_t)n * sizeof(double));
            work->r[0][0] = trace->one_norm;
            continue;
        }
        memcpy(work->q[j], work->raw[j], (size_t)n * sizeof(double));
        double before = sxi_column_dot(n, work->q[j], work->q[j]);
        for (int i = 0; i < j; i++) {
            work->r[i][j] = sxi_column_project(n, work->q[i], work->q[j]);
        }
        double after = sxi_column_dot(n, work->q[j], work->q[j]);
        if (!(after > DEPENDENT * DEPENDENT * before) || !isfinite(after)) {
            return false;
        }
        work->r[j][j] = sqrt(after);
        sxi_column_scale(n, 1 / work->r[j][j], work->q[j]);
    }
    return true;
}

/* Best linear parameters at theta, and the residual they leave. */
static bool project(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model) {
    int64_t n = work->padded;
    int columns = sxi_dcos_linear(trace->background, model->modes);
    model->evaluations++;
    model->rss = (double)INFINITY;
    build_columns(work, trace, model);
    if (!orthonormalise(work, trace, columns)) {
        return false;
    }
    memcpy(work->residual, trace->y, (size_t)n * sizeof(double));
    double *c = model->coefficient;
    for (int j = 0; j < columns; j++) {
        c[j] = sxi_column_project(n, work->q[j], work->residual);
    }
    for (int j = columns - 1; j >= 0; j--) {
        for (int i = j + 1; i < columns; i++) {
            c[j] -= work->r[j][i] * c[i];
        }
        c[j] /= work->r[j][j];
    }
    model->rss = sxi_column_dot(n, work->residual, work->residual);
    return isfinite(model->rss);
}

/* Jacobian, projected off the linear columns (Kaufman), with its normal matrix and gradient. */
static void differentiate(sxi_dcos_work *work, const sxi_dcos_trace *trace,
                          const sxi_dcos_model *model) {
    int64_t n = work->padded;
    int columns = sxi_dcos_linear(trace->background, model->modes);
    int slopes = sxi_dcos_nonlinear(trace->background, model->modes);
    int j = background_columns(trace->background);
    for (int k = 0; k < model->modes; k++, j += 2) {
        sxi_column_dcos_slope(n, trace->grid->x, work->raw[j], work->raw[j + 1],
                              model->coefficient[j], model->coefficient[j + 1], work->slope[2 * k],
                              work->slope[2 * k + 1]);
    }
    if (trace->background == SX_BACKGROUND_EXP) {
        for (int64_t i = 0; i < n; i++) {
            work->slope[slopes - 1][i] =
                -trace->grid->x[i] * model->coefficient[1] * work->raw[1][i];
        }
    }
    for (int k = 0; k < slopes; k++) {
        for (int i = 0; i < columns; i++) {
            work->h[i][k] = sxi_column_project(n, work->q[i], work->slope[k]);
        }
        for (int i = 0; i <= k; i++) {
            work->normal.at[i][k] = sxi_column_dot(n, work->slope[i], work->slope[k]);
            work->normal.at[k][i] = work->normal.at[i][k];
        }
        work->gradient[k] = sxi_column_dot(n, work->slope[k], work->residual);
    }
}

bool sxi_dcos_evaluate(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model) {
    if (!project(work, trace, model)) {
        return false;
    }
    differentiate(work, trace, model);
    return true;
}

static void bounds(const sxi_dcos_grid *grid, const sxi_dcos_model *model, int j, double *least,
                   double *most) {
    if (j == 2 * model->modes) {
        *least = grid->rate_least;
        *most = grid->rate_most;
    } else if (j % 2 == 0) {
        *least = grid->decay_least;
        *most = grid->decay_most;
    } else {
        *least = grid->frequency_least;
        *most = grid->frequency_bound;
    }
}

static double clamp(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

/* Parameters at a bound that would leave the box are taken out of the step. */
static uint32_t find_frozen(const sxi_dcos_work *work, const sxi_dcos_grid *grid,
                            const sxi_dcos_model *model, int slopes) {
    uint32_t frozen = 0;
    for (int j = 0; j < slopes; j++) {
        double least, most;
        bounds(grid, model, j, &least, &most);
        if ((model->theta[j] <= least && work->gradient[j] <= 0) ||
            (model->theta[j] >= most && work->gradient[j] >= 0)) {
            frozen |= 1u << j;
        }
    }
    return frozen;
}

/* A step that leaves the neighbourhood of the start would end in another basin: half a cycle, or
 * e-foldings that double the decay, are the most. */
static void move(const sxi_dcos_grid *grid, const sxi_dcos_model *from, const double *step,
                 int slopes, sxi_dcos_model *to) {
    double part = 1;
    for (int j = 0; j < slopes; j++) {
        bool frequency = j % 2 == 1 && j < 2 * from->modes;
        double most = frequency ? 0.5 : fmax(3, fabs(from->theta[j]));
        if (fabs(step[j]) * part > most) {
            part = most / fabs(step[j]);
        }
    }
    *to = *from;
    for (int j = 0; j < slopes; j++) {
        double least, most;
        bounds(grid, from, j, &least, &most);
        to->theta[j] = clamp(from->theta[j] + part * step[j], least, most);
    }
}

/* What the sum of squares cannot tell apart: the residual carries rounding of the trace. */
static double blind(const sxi_dcos_trace *trace, double rss) {
    return 16 * DBL_EPSILON * sqrt(trace->yy * rss);
}

/* One minimisation under way. */
typedef struct search {
    sxi_dcos_work *work;
    const sxi_dcos_trace *trace;
    sxi_dcos_model *model; /* best so far */
    int slopes;
    double lambda;
    sxi_dcos_matrix matrix; /* of the next step */
} search;

static double variance_of(const search *s) {
    const sxi_dcos_model *model = s->model;
    int64_t freedom = s->trace->used - sxi_dcos_parameters(s->trace->background, model->modes);
    return model->rss / (double)(freedom > 0 ? freedom : 1);
}

/* Where noise is large, what Gauss-Newton leaves out decides, and its steps creep. Then the true
 * second derivatives are taken, as differences of the gradient over a part of a standard deviation.
 * False: not positive definite here. */
static bool curve(search *s) {
    sxi_dcos_work *work = s->work;
    double column[2][SXI_DCOS_NONLINEAR], variance = variance_of(s);
    double width[SXI_DCOS_NONLINEAR];
    sxi_dcos_factor ignored;
    bool defined = true;
    for (int j = 0; j < s->slopes; j++) {
        width[j] = 0.02 * sqrt(variance / work->normal.at[j][j]);
    }
    for (int j = 0; j < s->slopes && defined; j++) {
        for (int side = 0; side < 2 && defined; side++) {
            sxi_dcos_model beside = *s->model;
            beside.theta[j] += side ? width[j] : -width[j];
            defined = sxi_dcos_evaluate(work, s->trace, &beside);
            s->model->evaluations++;
            memcpy(column[side], work->gradient, sizeof column[side]);
        }
        for (int i = 0; i < s->slopes; i++) {
            s->matrix.at[i][j] = (column[0][i] - column[1][i]) / (2 * width[j]);
        }
    }
    for (int i = 0; i < s->slopes; i++) {
        for (int j = 0; j < i; j++) {
            s->matrix.at[i][j] = s->matrix.at[j][i] =
                0.5 * (s->matrix.at[i][j] + s->matrix.at[j][i]);
        }
    }
    sxi_dcos_evaluate(work, s->trace, s->model);
    return defined && sxi_dcos_factorise(&s->matrix, s->slopes, s->model->frozen, 0, &ignored);
}

/* Gradient and matrix at the best point, and the undamped step there. Returns its decrement, which
 * is negative where the parameters depend on each other. */
static double look(search *s, double *step) {
    sxi_dcos_factor factor;
    differentiate(s->work, s->trace, s->model);
    s->model->frozen = find_frozen(s->work, s->trace->grid, s->model, s->slopes);
    if (s->model->evaluations < CREEPING || !curve(s)) {
        s->matrix = s->work->normal;
    }
    if (!sxi_dcos_factorise(&s->matrix, s->slopes, s->model->frozen, 0, &factor)) {
        return -1;
    }
    return sxi_dcos_solve(&factor, s->work->gradient, step);
}

/* Shorter steps until the sum of squares falls, or differs by rounding only. False: it rises. */
static bool descend(search *s) {
    sxi_dcos_model *model = s->model;
    double gradient[SXI_DCOS_NONLINEAR], step[SXI_DCOS_NONLINEAR] = {0};
    memcpy(gradient, s->work->gradient, sizeof gradient);
    for (; s->lambda < 1e9 && model->evaluations < MOST_EVALUATIONS; s->lambda *= 8) {
        sxi_dcos_factor factor;
        if (!sxi_dcos_factorise(&s->matrix, s->slopes, model->frozen, s->lambda, &factor)) {
            continue;
        }
        sxi_dcos_model trial;
        sxi_dcos_solve(&factor, gradient, step);
        move(s->trace->grid, model, step, s->slopes, &trial);
        bool defined = project(s->work, s->trace, &trial);
        model->evaluations = trial.evaluations;
        if (defined && trial.rss < model->rss + blind(s->trace, model->rss)) {
            *model = trial;
            s->lambda = fmax(s->lambda / 12, 1e-12);
            return true;
        }
    }
    return false;
}

/* The last, undamped step; kept unless it makes the sum of squares worse by more than rounding. */
static void finish(search *s, const double *step) {
    sxi_dcos_model trial, *model = s->model;
    move(s->trace->grid, model, step, s->slopes, &trial);
    if (project(s->work, s->trace, &trial) &&
        trial.rss <= model->rss + blind(s->trace, model->rss)) {
        *model = trial;
    } else {
        model->evaluations = trial.evaluations;
        project(s->work, s->trace, model);
    }
    differentiate(s->work, s->trace, model);
    model->end = SXI_END_CONVERGED;
}

static void minimise(sxi_dcos_work *work, const sxi_dcos_trace *trace, double tolerance,
                     sxi_dcos_model *model) {
    search s = {.work = work,
                .trace = trace,
                .model = model,
                .slopes = sxi_dcos_nonlinear(trace->background, model->modes),
                .lambda = 1e-3};
    model->frozen = 0;
    model->end = SXI_END_SINGULAR;
    for (int j = 0; j < s.slopes; j++) {
        double least, most;
        bounds(trace->grid, model, j, &least, &most);
        model->theta[j] = clamp(model->theta[j], least, most);
    }
    if (!project(work, trace, model)) {
        return;
    }
    for (;;) {
        double step[SXI_DCOS_NONLINEAR] = {0};
        double decrement = look(&s, step);
        if (decrement >= 0 && (decrement <= tolerance * tolerance * variance_of(&s) ||
                               decrement <= STEP_TRACE * STEP_TRACE * trace->yy)) {
            finish(&s, step);
            return;
        }
        if (!descend(&s)) {
            sxi_dcos_evaluate(work, trace, model);
            model->end = decrement < 0 ? SXI_END_SINGULAR : SXI_END_NOT_CONVERGED;
            return;
        }
    }
}

void sxi_dcos_approach(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model) {
    minimise(work, trace, APPROACH_SIGMA, model);
}

void sxi_dcos_minimise(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model) {
    minimise(work, trace, STEP_SIGMA, model);
}
