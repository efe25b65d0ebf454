/* SPDX-License-Identifier: Apache-2.0
 * Errors: against the full model differentiated by numbers, moved to another time zero, and
 * against the scatter of many draws. */
#include "sx_traces.h"

enum { N = 140, MOST = 3 + 4 * SX_DCOS_MAX_MODES };

/* Parameters in the order: offset, slope or (amplitude, time), then f, A, g, p of each mode. */
static int pack(const sx_truth *truth, double *p) {
    int n = 0;
    p[n++] = truth->offset;
    if (truth->slope != 0) {
        p[n++] = truth->slope;
    }
    if (truth->time > 0) {
        p[n++] = truth->amplitude;
        p[n++] = truth->time;
    }
    for (int k = 0; k < truth->tones; k++) {
        memcpy(p + n, &truth->tone[k], sizeof truth->tone[k]);
        n += 4;
    }
    return n;
}

static void unpack(const double *p, sx_truth *truth) {
    truth->offset = *p++;
    if (truth->slope != 0) {
        truth->slope = *p++;
    }
    if (truth->time > 0) {
        truth->amplitude = *p++;
        truth->time = *p++;
    }
    for (int k = 0; k < truth->tones; k++, p += 4) {
        memcpy(&truth->tone[k], p, sizeof truth->tone[k]);
    }
}

static void unpack_fit(const sx_dcos_fit *fit, double t0, sx_truth *truth, double *error) {
    int n = 0;
    *truth = (sx_truth){.tones = fit->modes, .offset = fit->offset, .t0 = t0};
    error[n++] = fit->offset_error;
    if (isfinite(fit->background_slope)) {
        truth->slope = fit->background_slope;
        error[n++] = fit->background_slope_error;
    }
    if (isfinite(fit->background_time)) {
        truth->amplitude = fit->background_amplitude;
        truth->time = fit->background_time;
        error[n++] = fit->background_amplitude_error;
        error[n++] = fit->background_time_error;
    }
    for (int k = 0; k < fit->modes; k++) {
        const sx_dcos_mode *m = &fit->mode[k];
        truth->tone[k] = (sx_tone){m->frequency, m->amplitude, m->decay, m->phase};
        error[n++] = m->frequency_error;
        error[n++] = m->amplitude_error;
        error[n++] = m->decay_error;
        error[n++] = m->phase_error;
    }
}

/* a = a^-1 by Gauss and Jordan; positive definite matrices need no pivots. */
static void invert(int n, double a[MOST][MOST]) {
    for (int c = 0; c < n; c++) {
        double pivot = 1 / a[c][c];
        a[c][c] = 1;
        for (int j = 0; j < n; j++) {
            a[c][j] *= pivot;
        }
        for (int r = 0; r < n; r++) {
            double factor = a[r][c];
            if (r != c) {
                a[r][c] = 0;
                for (int j = 0; j < n; j++) {
                    a[r][j] -= factor * a[c][j];
                }
            }
        }
    }
}

/* 1-sigma errors of all parameters at truth: the diagonal of (J' W J)^-1, J by central differences
 * of 1e-6, which are good to 1e-9. Scaled to a unit diagonal before it is inverted. */
static void numeric_errors(const sx_truth *truth, const double *t, const double *sigma,
                           double *error) {
    double jacobian[N][MOST], p[MOST], normal[MOST][MOST] = {{0}}, scale[MOST];
    int n = pack(truth, p);
    for (int j = 0; j < n; j++) {
        double middle = p[j], step = 1e-6 * fmax(fabs(middle), 0.1);
        sx_truth up = *truth, down = *truth;
        p[j] = middle + step;
        unpack(p, &up);
        p[j] = middle - step;
        unpack(p, &down);
        p[j] = middle;
        for (int i = 0; i < N; i++) {
            jacobian[i][j] =
                (sx_truth_at(&up, t[i]) - sx_truth_at(&down, t[i])) / (2 * step * sigma[i]);
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                normal[j][k] += jacobian[i][j] * jacobian[i][k];
            }
        }
    }
    for (int j = 0; j < n; j++) {
        scale[j] = sqrt(normal[j][j]);
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++) {
            normal[j][k] /= scale[j] * scale[k];
        }
    }
    invert(n, normal);
    for (int j = 0; j < n; j++) {
        error[j] = sqrt(normal[j][j]) / scale[j];
    }
}

static const sx_truth TWO = {
    .tones = 2, .tone = {{0.8, 1.0, 0.25, 0.4}, {2.3, 0.7, 0.4, -2.1}}, .offset = 0.5, .t0 = -0.7};

static sx_truth with_background(sx_dcos_background background) {
    sx_truth truth = TWO;
    if (background == SX_BACKGROUND_LINEAR) {
        truth.slope = 0.3;
    } else if (background == SX_BACKGROUND_EXP) {
        truth.amplitude = 1.2;
        truth.time = 2.1;
    }
    return truth;
}

START_TEST(errors_are_those_of_the_full_model) {
    const sx_dcos_background backgrounds[] = {SX_BACKGROUND_CONSTANT, SX_BACKGROUND_LINEAR,
                                              SX_BACKGROUND_EXP};
    double t[N], y[N], sigma[N];
    sx_uneven_delays(31, N, t);
    for (int i = 0; i < N; i++) {
        sigma[i] = 0.01 + 0.02 * sxi_rng_uniform(31, 3, (uint64_t)i);
    }
    for (int b = 0; b < 3; b++) {
        for (int tones = 0; tones <= 2; tones++) {
            sx_truth truth = with_background(backgrounds[b]), found;
            truth.tones = tones;
            sx_truth_fill(&truth, N, t, y);
            for (int i = 0; i < N; i++) {
                y[i] += sigma[i] * sxi_rng_normal(31, 4, (uint64_t)i);
            }
            sx_dcos_options options = {
                .fixed_modes = true, .modes = tones, .background = backgrounds[b], .t0 = truth.t0};
            sx_dcos_fit fit = sx_fit_trace(&options, N, t, y, sigma);
            ck_state(fit, SX_DCOS_OK);
            double error[MOST], expected[MOST], p[MOST];
            unpack_fit(&fit, truth.t0, &found, error);
            numeric_errors(&found, t, sigma, expected);
            int n = pack(&found, p);
            for (int j = 0; j < n; j++) {
                ck_near(error[j], expected[j], 1e-5, 0);
            }
            options.scale = SX_SCALE_RESIDUAL;
            fit = sx_fit_trace(&options, N, t, y, sigma);
            unpack_fit(&fit, truth.t0, &found, error);
            for (int j = 0; j < n; j++) {
                ck_near(error[j], expected[j] * sqrt(fit.chi2), 1e-5, 0);
            }
        }
    }
}
END_TEST

/* A mode held at its bound does not lend its uncertainty to the others: the offset keeps an error.
 */
START_TEST(no_background_has_no_error) {
    double t[N], y[N];
    sx_truth truth = TWO;
    truth.offset = 0;
    sx_even_delays(N, 0, 0.07, t);
    sx_truth_fill(&truth, N, t, y);
    sx_add_noise(32, 0, N, 0.01, y);
    sx_dcos_options options = {.background = SX_BACKGROUND_NONE, .t0 = truth.t0};
    sx_dcos_fit fit = sx_fit_trace(&options, N, t, y, NULL);
    ck_state(fit, SX_DCOS_OK);
    ck_near(fit.offset, 0, 0, 0);
    ck_near(fit.offset_error, 0, 0, 0);
}
END_TEST

/* Mean and width of the pulls of all parameters of `draws` traces. */
static void pulls(const sx_truth *truth, const sx_dcos_options *options, int draws, double *mean,
                  double *width) {
    static double y[400 * N];
    static sx_dcos_fit fit[400];
    double t[N], sum[MOST] = {0}, square[MOST] = {0}, expected[MOST];
    int n = pack(truth, expected);
    sx_even_delays(N, 0, 0.07, t);
    for (int p = 0; p < draws; p++) {
        sx_truth_fill(truth, N, t, y + (size_t)p * N);
        sx_add_noise(33, (uint64_t)p, N, 0.03, y + (size_t)p * N);
    }
    sx_fit_traces(options, N, t, draws, y, NULL, fit);
    for (int p = 0; p < draws; p++) {
        sx_truth found;
        double value[MOST], error[MOST];
        unpack_fit(&fit[p], truth->t0, &found, error);
        pack(&found, value);
        for (int j = 0; j < n; j++) {
            double pull = (value[j] - expected[j]) / error[j];
            sum[j] += pull / draws;
            square[j] += pull * pull / draws;
        }
    }
    for (int j = 0; j < n; j++) {
        mean[j] = sum[j];
        width[j] = sqrt(square[j] - sum[j] * sum[j]);
    }
}

/* 400 draws: means scatter by 0.05, widths by 0.035; four of these are allowed. */
START_TEST(relaxation_must_be_fitted) {
    sx_truth truth = with_background(SX_BACKGROUND_EXP);
    truth.tones = 1;
    double mean[MOST], width[MOST];
    sx_dcos_options options = {
        .fixed_modes = true, .modes = 1, .background = SX_BACKGROUND_EXP, .t0 = truth.t0};
    pulls(&truth, &options, 400, mean, width);
    for (int j = 0; j < 7; j++) {
        ck_near(mean[j], 0, 0, 0.2);
        ck_near(width[j], 1, 0, 0.14);
    }
    /* Left out, it bends the frequency by many of its errors. */
    options.background = SX_BACKGROUND_CONSTANT;
    double t[N], y[N];
    sx_even_delays(N, 0, 0.07, t);
    sx_truth_fill(&truth, N, t, y);
    sx_add_noise(33, 0, N, 0.03, y);
    sx_dcos_fit fit = sx_fit_trace(&options, N, t, y, NULL);
    ck_assert(fabs(fit.mode[0].frequency - 0.8) > 3 * 0.002);
}
END_TEST

SX_TEST_MAIN("dcos_error", errors_are_those_of_the_full_model, no_background_has_no_error,
             relaxation_must_be_fitted)
