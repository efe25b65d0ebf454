/* SPDX-License-Identifier: Apache-2.0
 * From a minimum in scaled coordinates to values, errors and a state in the caller's units. */
#include <math.h>
#include <string.h>

#include "kern/column.h"
#include "numer/dcos.h"

enum { PARAMETERS = SXI_DCOS_PARAMETERS_MOST };

/* Cycles over the span within which a frequency counts as near zero or Nyquist, or two as one. */
static const double NEAR_ZERO = 0.1, NEAR_NYQUIST = 0.5, NEAR_MODE = 0.5;
/* Gone to 1/e within one radian: a relaxation or a spike looks the same. */
static const double OVERDAMPED = 6.283185307179586;
/* Amplitude over error below which the errors mean little. */
static const double FAINT = 3;
/* Reduced chi2 above which a given sigma is less than half of what it should be. */
static const double MISFIT = 4;
/* Deviations of the correlation of residuals: 1 in 3 million traces of noise. */
static const double ALIKE = 5;
/* Residuals below this part of the trace, squared, are rounding, which is no noise. */
static const double ROUNDING = 1e-20;
/* Two parameters more correlated than this share their information. */
static const double CORRELATED = 0.9999;

/* Inverse of the normal matrix of what is not frozen. */
static bool invert_normal(const sxi_dcos_work *work, int slopes, uint32_t frozen,
                          double inverse[SXI_DCOS_NONLINEAR][SXI_DCOS_NONLINEAR]) {
    sxi_dcos_factor factor;
    if (!sxi_dcos_factorise(&work->normal, slopes, frozen, 0, &factor)) {
        return false;
    }
    for (int j = 0; j < slopes; j++) {
        double unit[SXI_DCOS_NONLINEAR] = {0};
        unit[j] = 1;
        sxi_dcos_solve(&factor, unit, inverse[j]); /* symmetric: row or column */
    }
    return true;
}

/* The covariance of all parameters of [q r | slope]: with C that of the nonlinear ones and X = r^-1
 * h, linear: r^-1 r^-T + X C X',  mixed: -X C. */
static bool make_covariance(const sxi_dcos_work *work, const sxi_dcos_trace *trace,
                            const sxi_dcos_model *model, sxi_dcos_covariance *cov) {
    int m = sxi_dcos_linear(trace->background, model->modes);
    int s = sxi_dcos_nonlinear(trace->background, model->modes);
    double nonlinear[SXI_DCOS_NONLINEAR][SXI_DCOS_NONLINEAR] = {{0}};
    double x[SXI_DCOS_LINEAR][SXI_DCOS_NONLINEAR] = {{0}};
    double t[SXI_DCOS_LINEAR][SXI_DCOS_LINEAR] = {{0}}; /* r^-1 */
    cov->linear = m;
    cov->slopes = s;
    cov->count = m + s;
    if (!invert_normal(work, s, model->frozen, nonlinear)) {
        return false;
    }
    for (int j = 0; j < m; j++) {
        for (int i = j; i >= 0; i--) {
            double a = i == j ? 1 : 0;
            for (int k = i + 1; k <= j; k++) {
                a -= work->r[i][k] * t[k][j];
            }
            t[i][j] = a / work->r[i][i];
        }
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < s; j++) {
            for (int k = i; k < m; k++) {
                x[i][j] += t[i][k] * work->h[k][j];
            }
        }
    }
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) {
            cov->c[m + i][m + j] = nonlinear[i][j];
        }
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < s; j++) {
            double a = 0;
            for (int k = 0; k < s; k++) {
                a -= x[i][k] * nonlinear[k][j];
            }
            cov->c[i][m + j] = cov->c[m + j][i] = a;
        }
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            double a = 0;
            for (int k = i > j ? i : j; k < m; k++) {
                a += t[i][k] * t[j][k];
            }
            for (int k = 0; k < s; k++) {
                a -= cov->c[i][m + k] * x[j][k];
            }
            cov->c[i][j] = a;
        }
    }
    return true;
}

/* Error of a quantity from its derivatives with respect to a few parameters. */
static double propagate(const sxi_dcos_covariance *cov, int count, const int *parameter,
                        const double *derivative, double variance) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            sum += derivative[i] * cov->c[parameter[i]][parameter[j]] * derivative[j];
        }
    }
    return sum >= 0 ? sqrt(sum * variance) : (double)NAN;
}

static double error_of(const sxi_dcos_covariance *cov, int parameter, double variance) {
    double value = cov->c[parameter][parameter];
    return value > 0 ? sqrt(value * variance) : (double)NAN;
}

static double wrap(double phase) {
    const double pi = 3.141592653589793238462643383280;
    double wrapped = remainder(phase, 2 * pi);
    return wrapped <= -pi ? pi : wrapped;
}

/* Mode k at time zero, which lies `ahead` spans before the first used sample. */
static void put_mode(const sxi_dcos_covariance *cov, const sxi_dcos_trace *trace,
                     const sxi_dcos_model *model, int k, double ahead, double variance,
                     sx_dcos_mode *mode) {
    const double two_pi = 6.283185307179586476925286766559;
    const double span = trace->grid->span;
    int ia = cov->linear - 2 * model->modes + 2 * k, ib = ia + 1;
    int ig = cov->linear + 2 * k, iff = ig + 1;
    double a = model->coefficient[ia], b = model->coefficient[ib];
    double g = model->theta[2 * k], f = model->theta[2 * k + 1];
    double size = hypot(a, b);
    double amplitude = size * exp(g * ahead) * trace->scale;
    const int amplitude_of[] = {ia, ib, ig}, phase_of[] = {ia, ib, iff};
    const double amplitude_slope[] = {a / (size * size), b / (size * size), ahead};
    const double phase_slope[] = {b / (size * size), -a / (size * size), -two_pi * ahead};
    mode->frequency = f / span;
    mode->decay = g / span;
    mode->amplitude = amplitude;
    mode->phase = wrap(atan2(-b, a) - two_pi * f * ahead);
    mode->frequency_error = error_of(cov, iff, variance) / span;
    mode->decay_error = error_of(cov, ig, variance) / span;
    mode->amplitude_error = amplitude * propagate(cov, 3, amplitude_of, amplitude_slope, variance);
    mode->phase_error = propagate(cov, 3, phase_of, phase_slope, variance);
}

static void put_background(const sxi_dcos_covariance *cov, const sxi_dcos_trace *trace,
                           const sxi_dcos_model *model, double ahead, double variance,
                           sx_dcos_fit *fit) {
    const double span = trace->grid->span, scale = trace->scale;
    const double *c = model->coefficient;
    if (trace->background == SX_BACKGROUND_NONE) {
        fit->offset = 0;
        fit->offset_error = 0;
        return;
    }
    fit->offset = trace->shift + scale * c[0];
    fit->offset_error = scale * error_of(cov, 0, variance);
    if (trace->background == SX_BACKGROUND_LINEAR) {
        fit->offset -= scale * c[1] * ahead;
        const int of[] = {0, 1};
        const double slope[] = {1, -ahead};
        fit->offset_error = scale * propagate(cov, 2, of, slope, variance);
        fit->background_slope = scale * c[1] / span;
        fit->background_slope_error = scale * error_of(cov, 1, variance) / span;
    }
    if (trace->background == SX_BACKGROUND_EXP) {
        int ir = cov->count - 1;
        double rate = model->theta[2 * model->modes], grown = exp(rate * ahead);
        const int of[] = {1, ir};
        const double slope[] = {grown, c[1] * ahead * grown};
        fit->background_amplitude = scale * c[1] * grown;
        fit->background_amplitude_error = scale * propagate(cov, 2, of, slope, variance);
        fit->background_time = span / rate;
        fit->background_time_error = span / (rate * rate) * error_of(cov, ir, variance);
    }
}

/* Far before the first sample an exponential outgrows numbers: what overflowed is not determined.
 * Returns whether anything was. */
static bool drop_overflow(sx_dcos_fit *fit) {
    const double nan = (double)NAN;
    bool dropped = false;
    for (int k = 0; k < fit->modes; k++) {
        sx_dcos_mode *mode = &fit->mode[k];
        if (!isfinite(mode->amplitude)) {
            mode->amplitude = mode->amplitude_error = nan;
            dropped = true;
        }
        if (!isfinite(mode->phase)) {
            mode->phase = mode->phase_error = nan;
            dropped = true;
        }
    }
    if (isinf(fit->background_amplitude)) {
        fit->background_amplitude = fit->background_amplitude_error = nan;
        dropped = true;
    }
    if (!isfinite(fit->offset)) {
        fit->offset = fit->offset_error = nan;
        dropped = true;
    }
    return dropped;
}

static void sort_modes(sx_dcos_fit *fit) {
    for (int i = 1; i < fit->modes; i++) {
        for (int k = i; k > 0 && fit->mode[k].frequency < fit->mode[k - 1].frequency; k--) {
            sx_dcos_mode lower = fit->mode[k];
            fit->mode[k] = fit->mode[k - 1];
            fit->mode[k - 1] = lower;
        }
    }
}

static bool correlated(const sxi_dcos_covariance *cov, uint32_t frozen) {
    for (int i = 0; i < cov->count; i++) {
        for (int j = 0; j < i; j++) {
            bool off = (i >= cov->linear && (frozen & (1u << (i - cov->linear)))) ||
                       (j >= cov->linear && (frozen & (1u << (j - cov->linear))));
            double product = cov->c[i][i] * cov->c[j][j];
            if (!off && !(cov->c[i][j] * cov->c[i][j] < CORRELATED * CORRELATED * product)) {
                return true;
            }
        }
    }
    return false;
}

static bool degenerate(const sxi_dcos_covariance *cov, const sxi_dcos_grid *grid,
                       const sxi_dcos_model *model) {
    for (int k = 0; k < model->modes; k++) {
        double f = model->theta[2 * k + 1];
        if (f < grid->frequency_least + NEAR_ZERO || f > grid->frequency_most - NEAR_NYQUIST) {
            return true;
        }
        if (model->theta[2 * k] > OVERDAMPED * f) {
            return true;
        }
        for (int j = 0; j < k; j++) {
            if (fabs(f - model->theta[2 * j + 1]) < NEAR_MODE) {
                return true;
            }
        }
    }
    return correlated(cov, model->frozen);
}

/* An amplitude that may be zero has no phase, and its errors are no Gaussian's. */
static bool faint(const sx_dcos_fit *fit) {
    for (int k = 0; k < fit->modes; k++) {
        if (!(fit->mode[k].amplitude > FAINT * fit->mode[k].amplitude_error)) {
            return true;
        }
    }
    return false;
}

/* The correlation of a residual with the next one scatters by 1 / sqrt(n) if they are noise. */
static bool alike(const sxi_dcos_trace *trace, double rss, double neighbours) {
    return rss > ROUNDING * trace->yy && neighbours * sqrt((double)trace->used) > ALIKE * rss;
}

double sxi_dcos_neighbours(const sxi_dcos_work *work, const sxi_dcos_trace *trace) {
    const double *r = work->residual;
    double sum = 0;
    for (int64_t i = 1; i < trace->grid->n; i++) {
        sum += r[i] * r[i - 1];
    }
    return sum;
}

void sxi_dcos_doubt(const sxi_dcos_trace *trace, double rss, double neighbours, bool absolute,
                    sx_dcos_fit *fit) {
    if (fit->state == SX_DCOS_OK && faint(fit)) {
        fit->state = SX_DCOS_DEGENERATE;
    }
    bool misfit = absolute && fit->chi2 > MISFIT;
    if (fit->state == SX_DCOS_OK && (misfit || alike(trace, rss, neighbours))) {
        fit->state = SX_DCOS_UNEXPLAINED;
    }
}

sx_dcos_state sxi_dcos_report(const sxi_dcos_covariance *cov, bool known,
                              const sxi_dcos_trace *trace, const sxi_dcos_model *model,
                              double variance, double t0, sx_dcos_fit *fit) {
    double ahead = (trace->grid->t_first - t0) / trace->grid->span;
    variance = known ? variance : (double)NAN;
    fit->modes = (uint8_t)model->modes;
    fit->iterations = (uint16_t)model->evaluations;
    put_background(cov, trace, model, ahead, variance, fit);
    for (int k = 0; k < model->modes; k++) {
        put_mode(cov, trace, model, k, ahead, variance, &fit->mode[k]);
    }
    sort_modes(fit);
    known = !drop_overflow(fit) && known;
    if (!isfinite(fit->chi2)) { /* squares of values beyond 1e154, without errors, are no numbers */
        fit->chi2 = (double)NAN;
        known = false;
    }
    return model->end == SXI_END_NOT_CONVERGED        ? SX_DCOS_NOT_CONVERGED
           : !known || model->end == SXI_END_SINGULAR ? SX_DCOS_SINGULAR
           : model->frozen                            ? SX_DCOS_AT_BOUND
           : degenerate(cov, trace->grid, model)      ? SX_DCOS_DEGENERATE
                                                      : SX_DCOS_OK;
}

sx_dcos_state sxi_dcos_result(const sxi_dcos_work *work, const sxi_dcos_trace *trace,
                              const sxi_dcos_model *model, double variance, double t0,
                              sx_dcos_fit *fit) {
    sxi_dcos_covariance cov;
    bool known = make_covariance(work, trace, model, &cov);
    if (!known) {
        memset(cov.c, 0, sizeof cov.c);
    }
    return sxi_dcos_report(&cov, known, trace, model, variance, t0, fit);
}
