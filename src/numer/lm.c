/* SPDX-License-Identifier: Apache-2.0
 * docs/theory/lm.md says what is done and why; the letters are those of that page. */
#include <sextant/lm.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "numer/lm_step.h"

/* Rounding moves the model by a few units of the floor (see linearise); a step below that is none.
 */
static const double FLOOR_UNITS = 4.0;
/* Least part of the predicted gain for which a step is taken, after More. */
static const double LEAST_GAIN = 1e-4;

typedef struct point {
    double *p;   /* [n] */
    double *r;   /* [m] */
    double *jac; /* [m][n] */
    double chi2; /* sum r^2 */
} point;

typedef struct fit {
    int m, n;
    sx_lm_fn function;
    void *data;
    const double *lower, *upper; /* NULL: none */
    double tolerance;
    int evaluations, max_evaluations;

    point here, trial;
    bool *frozen;  /* [n] kept out of the linear model: at a bound, with no way inside */
    double *scale; /* [n] D: largest norm that column j of J ever had; 1 while it is 0 */

    /* The linear model at `here`: |J D^-1 z + r|, free parameters only, as a triangle. */
    int free;      /* its parameters */
    int rank;      /* rows of R that are not rounding */
    int *index;    /* [n] which parameter column k of R is */
    double *R;     /* [free][free] */
    double *q;     /* [m] Q'r */
    double drop;   /* |q|: by what |r| would shrink along the undamped step, J step = -Q q */
    double floor;  /* what rounding of the parameters does to |r| */
    bool singular; /* rank < free */

    double radius, damping;
    double *z;    /* [n] step in units of 1 / D, then cut at bounds */
    double *a;    /* [n][m] work: columns */
    double *tau;  /* [n] */
    int *pivot;   /* [n] */
    double *work; /* [n][n] + 3 [n] */
} fit;

typedef enum outcome { MOVED, FLAT, SPENT } outcome;

static bool finite_all(size_t count, const double *x) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

/* False where the model is not defined or not finite. The Jacobian is asked for at once: most
 * trials are taken, and it shares its costly functions with the residuals. */
static bool evaluate(fit *f, point *x) {
    f->evaluations++;
    if (!f->function(f->data, x->p, x->r, x->jac)) {
        return false;
    }
    x->chi2 = sxi_dot(f->m, x->r, x->r);
    return isfinite(x->chi2) && finite_all((size_t)f->m * (size_t)f->n, x->jac);
}

static void swap_points(fit *f) {
    point keep = f->here;
    f->here = f->trial;
    f->trial = keep;
}

static bool at_lower(const fit *f, int j) { return f->lower && f->here.p[j] <= f->lower[j]; }
static bool at_upper(const fit *f, int j) { return f->upper && f->here.p[j] >= f->upper[j]; }

/* Freezes the parameters at a bound whose gradient points outside. */
static void freeze_by_gradient(fit *f) {
    for (int j = 0; j < f->n; j++) {
        double g = 0.0;
        for (int i = 0; i < f->m; i++) {
            g += f->here.jac[(size_t)i * (size_t)f->n + (size_t)j] * f->here.r[i];
        }
        f->frozen[j] = (at_lower(f, j) && g >= 0.0) || (at_upper(f, j) && g <= 0.0);
    }
}

/* Copies column j of J; returns its norm. */
static double column(const fit *f, int j, double *a) {
    for (int i = 0; i < f->m; i++) {
        a[i] = f->here.jac[(size_t)i * (size_t)f->n + (size_t)j];
    }
    return sxi_norm(f->m, a);
}

/* Scales grow only: a column that shrinks on the way (MGH17) would else let its parameter run. */
static void grow_scales(fit *f) {
    for (int j = 0; j < f->n; j++) {
        double norm = column(f, j, f->a);
        f->scale[j] = fmax(f->scale[j], norm);
    }
}

static double scale_of(const fit *f, int j) { return f->scale[j] > 0.0 ? f->scale[j] : 1.0; }

/* Rows of R above the rounding of a QR. A diagonal element over the norm of its column is the
 * sine of the angle to the columns before it, whatever the units of the parameters. */
static int rank_of(const fit *f) {
    double least = 4.0 * DBL_EPSILON * f->n * sqrt((double)f->m);
    for (int k = 0; k < f->free; k++) {
        double square = 0.0;
        for (int i = 0; i <= k; i++) {
            double x = f->R[(size_t)i * (size_t)f->free + (size_t)k];
            square += x * x;
        }
        double diagonal = f->R[(size_t)k * (size_t)f->free + (size_t)k];
        if (!(fabs(diagonal) > least * sqrt(square))) {
            return k;
        }
    }
    return f->free;
}

/* Factorises the model of the parameters that are not frozen. */
static void linearise(fit *f) {
    size_t m = (size_t)f->m;
    int k = 0;
    double floor = 0.0;
    for (int j = 0; j < f->n; j++) {
        double *a = f->a + (size_t)k * m;
        double norm = column(f, j, a);
        floor += norm * f->here.p[j] * norm * f->here.p[j];
        if (!f->frozen[j]) {
            for (int i = 0; i < f->m; i++) {
                a[i] /= scale_of(f, j);
            }
            f->index[k++] = j;
        }
    }
    f->free = k;
    f->floor = DBL_EPSILON * sqrt(floor);
    sxi_qr_factor(f->m, k, f->a, f->tau, f->pivot);
    memcpy(f->q, f->here.r, m * sizeof *f->q);
    sxi_qr_apply(f->m, k, f->a, f->tau, f->q);
    for (int row = 0; row < k; row++) {
        for (int col = 0; col < k; col++) {
            f->R[row * k + col] = row <= col ? f->a[(size_t)col * m + (size_t)row] : 0.0;
        }
    }
    /* Composes index with pivot; work is free here. */
    for (int col = 0; col < k; col++) {
        f->work[col] = f->index[f->pivot[col]];
    }
    for (int col = 0; col < k; col++) {
        f->index[col] = (int)f->work[col];
    }
    f->rank = rank_of(f);
    f->singular = f->rank < k;
    f->drop = sxi_norm(f->rank, f->q);
}

static void linearise_here(fit *f) {
    freeze_by_gradient(f);
    linearise(f);
}

/* Length of the undamped step in standard deviations of the parameters. */
static double deviations(const fit *f) {
    if (!(f->drop > 0.0)) {
        return 0.0;
    }
    int dof = f->m - f->free;
    return f->drop * sqrt((double)(dof > 0 ? dof : 1) / f->here.chi2);
}

static bool settled(const fit *f) {
    return deviations(f) <= f->tolerance || f->drop <= FLOOR_UNITS * f->floor;
}

/* By what rounding alone may change the sum of squares. */
static double blur(const fit *f) {
    double r = sqrt(f->here.chi2);
    return FLOOR_UNITS * (f->floor * r + f->floor * f->floor + DBL_EPSILON * f->here.chi2);
}

/* Norm of D p: what lengths are compared with. */
static double extent(const fit *f) {
    double sum = 0.0;
    for (int j = 0; j < f->n; j++) {
        double x = scale_of(f, j) * f->here.p[j];
        sum += x * x;
    }
    return sqrt(sum);
}

/* Freezes parameters that sit at a bound and would be led outside by the step, though their
 * gradient points inside; true if there were any. */
static bool freeze_by_step(fit *f) {
    bool any = false;
    for (int k = 0; k < f->free; k++) {
        int j = f->index[k];
        if ((f->z[k] < 0.0 && at_lower(f, j)) || (f->z[k] > 0.0 && at_upper(f, j))) {
            f->frozen[j] = true;
            any = true;
        }
    }
    return any;
}

/* The longest part of the step that stays inside, at most 1; which parameter ends it, or -1, and
 * the bound it meets. */
static double room(const fit *f, int *which, double *met) {
    double part = 1.0;
    *which = -1;
    *met = (double)NAN;
    for (int k = 0; k < f->free; k++) {
        int j = f->index[k];
        const double *bound = f->z[k] < 0.0 ? f->lower : f->upper;
        double step = f->z[k] / scale_of(f, j);
        if (bound && fabs(step) * part > fabs(bound[j] - f->here.p[j])) {
            part = fabs(bound[j] - f->here.p[j]) / fabs(step);
            *which = j;
            *met = bound[j];
        }
    }
    return part;
}

/* Puts a step into z and its end into trial.p: the trust-region step, times part, cut where it
 * meets a bound. The model is left with the parameters that took part. Returns |z|. */
static double propose(fit *f, double radius, double part) {
    do {
        sxi_lm_step(f->free, f->R, f->q, f->rank, radius, &f->damping, f->z, f->work);
    } while (freeze_by_step(f) && (linearise(f), true));
    for (int k = 0; k < f->free; k++) {
        f->z[k] *= part;
    }
    int which;
    double met;
    double inside = room(f, &which, &met);
    memcpy(f->trial.p, f->here.p, (size_t)f->n * sizeof *f->trial.p);
    for (int k = 0; k < f->free; k++) {
        int j = f->index[k];
        f->z[k] *= inside;
        double p = f->here.p[j] + f->z[k] / scale_of(f, j);
        if (f->lower) {
            p = fmax(p, f->lower[j]);
        }
        if (f->upper) {
            p = fmin(p, f->upper[j]);
        }
        f->trial.p[j] = j == which ? met : p;
    }
    return sxi_norm(f->free, f->z);
}

/* What the linear model expects the sum of squares to lose along z; *descent is its slope. */
static double predicted(const fit *f, double *descent) {
    double linear = 0.0, square = 0.0;
    for (int i = 0; i < f->free; i++) {
        double w = sxi_dot(f->free - i, f->R + i * f->free + i, f->z + i);
        linear += w * f->q[i];
        square += w * w;
    }
    *descent = 2.0 * linear;
    return -2.0 * linear - square;
}

/* The next radius from how the gain compared with the prediction. A trial that is not defined has
 * an infinite sum of squares. */
static void resize(fit *f, double length, double gain, double expected, double descent) {
    double ratio = gain / expected;
    if (!(ratio > 0.25)) {
        /* Minimum of the parabola through value, slope and new value. */
        double shrink = gain >= 0.0 ? 0.5 : 0.5 * descent / (descent + gain);
        shrink = isfinite(gain) ? fmin(fmax(shrink, 0.1), 0.5) : 0.25;
        f->radius = shrink * fmin(f->radius, 10.0 * length);
        f->damping /= shrink;
    } else if (ratio >= 0.75 || !(f->damping > 0.0)) {
        f->radius = 2.0 * length;
        f->damping *= 0.5;
    }
}

/* Takes the first step that gains enough. FLAT where the sum of squares cannot tell any more. */
static outcome descend(fit *f, bool first) {
    for (;;) {
        double length = propose(f, f->radius, 1.0);
        if (first) {
            f->radius = fmin(f->radius, length);
        }
        double descent;
        double expected = predicted(f, &descent);
        if (!(expected > blur(f)) || !(f->radius > DBL_EPSILON * extent(f))) {
            return FLAT;
        }
        if (f->evaluations >= f->max_evaluations) {
            return SPENT;
        }
        double gain = evaluate(f, &f->trial) ? f->here.chi2 - f->trial.chi2 : (double)-INFINITY;
        bool good = gain >= LEAST_GAIN * expected;
        resize(f, length, gain, expected, descent);
        if (good) {
            swap_points(f);
            return MOVED;
        }
        first = false;
    }
}

/* Undamped steps judged by the next undamped step instead of the sum of squares, which is blind
 * below the square root of rounding. Where they overshoot they are halved, at most to an eighth:
 * enough where the curvature left out by Gauss-Newton is up to fifteen times what it knows. */
static outcome polish(fit *f) {
    double part = 1.0;
    while (f->drop > 0.0 && !f->singular && part > 0.1) {
        if (f->evaluations >= f->max_evaluations) {
            return SPENT;
        }
        double before = f->drop, limit = f->here.chi2 + blur(f);
        double wanted = settled(f) ? 0.9 * before : before;
        propose(f, (double)INFINITY, part);
        if (evaluate(f, &f->trial)) {
            bool lower = f->trial.chi2 <= limit;
            swap_points(f);
            linearise_here(f);
            if (lower && f->drop < wanted) {
                continue;
            }
            swap_points(f);
        }
        part *= 0.5;
        linearise_here(f);
    }
    return FLAT;
}

static sx_lm_state minimise(fit *f, double first_radius) {
    outcome end = MOVED;
    for (bool first = true; end == MOVED; first = false) {
        grow_scales(f);
        linearise_here(f);
        if (first) {
            double size = extent(f);
            f->radius = first_radius * (size > 0.0 ? size : sqrt(f->here.chi2));
        }
        end = settled(f) ? FLAT : descend(f, first);
    }
    linearise_here(f);
    if (end == FLAT) {
        end = polish(f);
        linearise_here(f);
    }
    if (!settled(f)) {
        return end == SPENT ? SX_LM_MAX_EVALUATIONS : SX_LM_STALLED;
    }
    return f->singular ? SX_LM_SINGULAR : SX_LM_CONVERGED;
}

/* (J'J)^-1 = D^-1 P R^-1 R^-T P' D^-1 of the parameters inside their bounds; the others have rows
 * of 0. NaN throughout where it does not exist. */
static void covariance_of(fit *f, double *covariance) {
    size_t n = (size_t)f->n;
    for (int j = 0; j < f->n; j++) {
        f->frozen[j] = at_lower(f, j) || at_upper(f, j);
    }
    linearise(f);
    for (size_t i = 0; i < n * n; i++) {
        covariance[i] = f->singular ? (double)NAN : 0.0;
    }
    for (int k = 0; k < f->free && !f->singular; k++) {
        double *w = f->work;
        memset(w, 0, n * sizeof *w);
        w[k] = 1.0;
        sxi_upper_solve_transposed(f->free, f->R, w, w);
        sxi_upper_solve(f->free, f->R, w, w);
        for (int l = 0; l < f->free; l++) {
            int i = f->index[l], j = f->index[k];
            covariance[(size_t)i * n + (size_t)j] = w[l] / (scale_of(f, i) * scale_of(f, j));
        }
    }
}

static sx_status check(int m, int n, sx_lm_fn function, const sx_lm_options *options,
                       const double *p) {
    if (!function || !p) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "no function or no parameters were given");
    }
    if (n < 1) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%d parameters were asked for, at least 1 is needed", n);
    }
    if (m < n) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%d residuals cannot determine %d parameters; give at least as many "
                        "residuals as parameters",
                        m, n);
    }
    if (options->max_evaluations < 0 || !(options->first_radius >= 0.0) ||
        !(options->tolerance >= 0.0)) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "max_evaluations %d, first_radius %g and tolerance %g must not be negative",
                        options->max_evaluations, options->first_radius, options->tolerance);
    }
    for (int j = 0; j < n; j++) {
        if (!isfinite(p[j])) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "parameter %d starts at %g; a finite start is needed",
                            j, p[j]);
        }
        double lower = options->lower ? options->lower[j] : (double)-INFINITY;
        double upper = options->upper ? options->upper[j] : (double)INFINITY;
        if (!(lower <= upper)) {
            return SXI_FAIL(SX_ERR_ARGUMENT,
                            "parameter %d has bounds %g and %g; lower <= upper is "
                            "needed",
                            j, lower, upper);
        }
    }
    return SX_OK;
}

/* One block of memory for everything; NULL without. */
static void *allocate(fit *f) {
    size_t m = (size_t)f->m, n = (size_t)f->n;
    if (n > SIZE_MAX / 64 / (m + n + 8)) {
        return NULL;
    }
    size_t reals = 3 * m * n + 3 * m + 2 * n * n + 10 * n;
    double *x = calloc(1, reals * sizeof *x + n * (2 * sizeof(int) + sizeof(bool)));
    if (!x) {
        return NULL;
    }
    void *block = x;
    f->here.p = x, x += n;
    f->trial.p = x, x += n;
    f->here.r = x, x += m;
    f->trial.r = x, x += m;
    f->here.jac = x, x += m * n;
    f->trial.jac = x, x += m * n;
    f->a = x, x += m * n;
    f->q = x, x += m;
    f->R = x, x += n * n;
    f->scale = x, x += n;
    f->z = x, x += n;
    f->tau = x, x += n;
    f->work = x, x += n * n + 3 * n;
    f->index = (void *)x;
    f->pivot = f->index + n;
    f->frozen = (bool *)(f->pivot + n);
    return block;
}

sx_status sx_lm_run(int m, int n, sx_lm_fn function, void *data, const sx_lm_options *options,
                    double *p, double *covariance, sx_lm_result *result) {
    static const sx_lm_options DEFAULTS;
    options = options ? options : &DEFAULTS;
    SXI_TRY(check(m, n, function, options, p));
    fit f = {.m = m,
             .n = n,
             .function = function,
             .data = data,
             .lower = options->lower,
             .upper = options->upper,
             .tolerance = options->tolerance > 0.0 ? options->tolerance : 1e-8,
             .max_evaluations = options->max_evaluations > 0 ? options->max_evaluations : 2000};
    void *block = allocate(&f);
    if (!block) {
        return SXI_FAIL(SX_ERR_MEMORY, "a fit of %d residuals with %d parameters does not fit", m,
                        n);
    }
    for (int j = 0; j < n; j++) {
        double inside = f.lower ? fmax(p[j], f.lower[j]) : p[j];
        f.here.p[j] = f.upper ? fmin(inside, f.upper[j]) : inside;
    }
    sx_lm_state state = SX_LM_UNDEFINED;
    if (evaluate(&f, &f.here)) {
        state = minimise(&f, options->first_radius > 0.0 ? options->first_radius : 1.0);
        memcpy(p, f.here.p, (size_t)n * sizeof *p);
        if (covariance) {
            covariance_of(&f, covariance);
        }
    } else {
        f.here.chi2 = (double)NAN;
        for (int i = 0; covariance && i < n * n; i++) {
            covariance[i] = (double)NAN;
        }
    }
    int bound = 0;
    for (int j = 0; j < n; j++) {
        bound += at_lower(&f, j) || at_upper(&f, j);
    }
    if (result) {
        *result = (sx_lm_result){
            .state = state, .evaluations = f.evaluations, .chi2 = f.here.chi2, .bound = bound};
    }
    free(block);
    return SX_OK;
}
