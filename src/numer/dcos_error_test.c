/* SPDX-License-Identifier: Apache-2.0
 * Errors: against the full model differentiated by numbers, moved to another time zero, and
 * against the scatter of many draws. */
#include "sx_bounds.h"
#include "sx_traces.h"

enum { N = 140, MOST = SX_MOST_PARAMETERS };

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
            sx_fit_unpack(&fit, truth.t0, &found, error);
            sx_bound_errors(&found, N, t, sigma, expected);
            int n = sx_truth_pack(&found, p);
            for (int j = 0; j < n; j++) {
                ck_near(error[j], expected[j], 1e-5, 0);
            }
            options.scale = SX_SCALE_RESIDUAL;
            fit = sx_fit_trace(&options, N, t, y, sigma);
            sx_fit_unpack(&fit, truth.t0, &found, error);
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
    int n = sx_truth_pack(truth, expected);
    sx_even_delays(N, 0, 0.07, t);
    for (int p = 0; p < draws; p++) {
        sx_truth_fill(truth, N, t, y + (size_t)p * N);
        sx_add_noise(33, (uint64_t)p, N, 0.03, y + (size_t)p * N);
    }
    sx_fit_traces(options, N, t, draws, y, NULL, fit);
    for (int p = 0; p < draws; p++) {
        sx_truth found;
        double value[MOST], error[MOST];
        sx_fit_unpack(&fit[p], truth->t0, &found, error);
        sx_truth_pack(&found, value);
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
