/* SPDX-License-Identifier: Apache-2.0
 * Levenberg-Marquardt on the projected problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/column.h"
#include "numer/dcos.h"

enum { MOST_EVALUATIONS = 200 };

/* Converged when the undamped step is shorter than this many standard deviations; that step is then
 * taken. */
static const double STEP_SIGMA = 1e-6;
/* ... or than this part of the trace itself: traces without noise end on rounding. */
static const double STEP_TRACE = 1e-13;
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
            work->normal[i][k] = sxi_column_dot(n, work->slope[i], work->slope[k]);
            work->normal[k][i] = work->normal[i][k];
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

/* Solves (normal + lambda diag normal) step = gradient for what is not frozen, scaled to a unit
 * diagonal; returns the decrement gradient' step, or a negative number where the matrix is
 * singular. */
static double solve(const sxi_dcos_work *work, int slopes, uint32_t frozen, double lambda,
                    double *step) {
    double l[SXI_DCOS_NONLINEAR][SXI_DCOS_NONLINEAR];
    double d[SXI_DCOS_NONLINEAR], z[SXI_DCOS_NONLINEAR];
    for (int i = 0; i < slopes; i++) {
        bool off = frozen & (1u << i);
        d[i] = off ? 1 : sqrt(work->normal[i][i]);
        if (!(d[i] > 0)) {
            return -1;
        }
        z[i] = off ? 0 : work->gradient[i] / d[i];
        for (int j = 0; j <= i; j++) {
            double a = off || (frozen & (1u << j)) ? 0 : work->normal[i][j] / (d[i] * d[j]);
            a = i == j ? 1 + (off ? 0 : lambda) : a;
            for (int k = 0; k < j; k++) {
                a -= l[i][k] * l[j][k];
            }
            if (i != j) {
                l[i][j] = a / l[j][j];
            } else if (a > DEPENDENT) {
                l[i][i] = sqrt(a);
            } else {
                return -1;
            }
        }
        for (int k = 0; k < i; k++) {
            z[i] -= l[i][k] * z[k];
        }
        z[i] /= l[i][i];
    }
    double decrement = 0;
    for (int i = slopes - 1; i >= 0; i--) {
        decrement += z[i] * z[i]; /* |L^-1 g|^2 */
    }
    for (int i = slopes - 1; i >= 0; i--) {
        for (int k = i + 1; k < slopes; k++) {
            z[i] -= l[k][i] * z[k];
        }
        z[i] /= l[i][i];
        step[i] = z[i] / d[i];
    }
    return decrement;
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

/* Shorter steps until the sum of squares falls. False: it does not. */
static bool descend(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model,
                    int slopes, double *lambda) {
    double step[SXI_DCOS_NONLINEAR] = {0};
    for (; *lambda < 1e9 && model->evaluations < MOST_EVALUATIONS; *lambda *= 8) {
        if (solve(work, slopes, model->frozen, *lambda, step) < 0) {
            continue;
        }
        sxi_dcos_model trial;
        move(trace->grid, model, step, slopes, &trial);
        bool defined = project(work, trace, &trial);
        model->evaluations = trial.evaluations;
        if (defined && trial.rss < model->rss) {
            *model = trial;
            *lambda = fmax(*lambda / 12, 1e-12);
            return true;
        }
    }
    return false;
}

/* The last, undamped step; kept unless rounding makes it worse. */
static void finish(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model,
                   int slopes, const double *step) {
    sxi_dcos_model trial;
    move(trace->grid, model, step, slopes, &trial);
    uint32_t frozen = model->frozen;
    if (project(work, trace, &trial) && trial.rss <= model->rss * (1 + 1e-12)) {
        *model = trial;
    } else {
        model->evaluations = trial.evaluations;
        project(work, trace, model);
    }
    differentiate(work, trace, model);
    model->frozen = frozen;
}

void sxi_dcos_minimise(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model) {
    int slopes = sxi_dcos_nonlinear(trace->background, model->modes);
    int64_t freedom = trace->used - sxi_dcos_parameters(trace->background, model->modes);
    double lambda = 1e-3;
    model->evaluations = 0;
    model->frozen = 0;
    model->end = SXI_END_SINGULAR;
    for (int j = 0; j < slopes; j++) {
        double least, most;
        bounds(trace->grid, model, j, &least, &most);
        model->theta[j] = clamp(model->theta[j], least, most);
    }
    if (!project(work, trace, model)) {
        return;
    }
    for (;;) {
        double step[SXI_DCOS_NONLINEAR] = {0};
        differentiate(work, trace, model);
        model->frozen = find_frozen(work, trace->grid, model, slopes);
        double decrement = solve(work, slopes, model->frozen, 0, step);
        double variance = model->rss / (double)(freedom > 0 ? freedom : 1);
        if (decrement >= 0 && (decrement <= STEP_SIGMA * STEP_SIGMA * variance ||
                               decrement <= STEP_TRACE * STEP_TRACE * trace->yy)) {
            finish(work, trace, model, slopes, step);
            model->end = SXI_END_CONVERGED;
            return;
        }
        if (!descend(work, trace, model, slopes, &lambda)) {
            /* No step helps. A decrement lost in the rounding of the sum of squares is a minimum
             * too. */
            project(work, trace, model);
            differentiate(work, trace, model);
            bool rounding =
                decrement >= 0 && decrement <= 1e-8 * variance && decrement <= 1e-12 * model->rss;
            model->end = rounding        ? SXI_END_CONVERGED
                         : decrement < 0 ? SXI_END_SINGULAR
                                         : SXI_END_NOT_CONVERGED;
            return;
        }
    }
}
