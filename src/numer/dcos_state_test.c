/* SPDX-License-Identifier: Apache-2.0
 * States: a result that may not be used says why. */
#include "sx_traces.h"

enum { N = 120 };

static const double STEP = 0.08, SIGMA = 0.02;

/* One trace on N even delays, with noise of SIGMA, fitted with that sigma. */
static sx_dcos_fit fit_truth(const sx_dcos_options *options, const sx_truth *truth, uint64_t draw) {
    double t[N], y[N], sigma[N];
    sx_even_delays(N, 0, STEP, t);
    sx_fill(N, SIGMA, sigma);
    sx_truth_fill(truth, N, t, y);
    sx_add_noise(21, draw, N, SIGMA, y);
    return sx_fit_trace(options, N, t, y, sigma);
}

static const sx_dcos_options ONE = {.fixed_modes = true, .modes = 1};
static const sx_dcos_options TWO = {.fixed_modes = true, .modes = 2};
static const double SPAN = (N - 1) * 0.08;

START_TEST(states_have_words) {
    for (int state = 0; state < 11; state++) {
        ck_assert_ptr_nonnull(sx_dcos_state_word(state));
        ck_assert_ptr_nonnull(sx_dcos_state_sentence(state));
    }
    ck_assert_str_eq(sx_dcos_state_word(SX_DCOS_AMBIGUOUS), "ambiguous");
    ck_assert_ptr_null(sx_dcos_state_word(11));
    ck_assert_ptr_null(sx_dcos_state_sentence(-1));
}
END_TEST

START_TEST(nothing_to_use_is_masked) {
    double t[N], y[N], sigma[N];
    sx_even_delays(N, 0, STEP, t);
    sx_fill(N, (double)NAN, y);
    sx_dcos_fit fit = sx_fit_trace(NULL, N, t, y, NULL);
    ck_state(fit, SX_DCOS_MASKED);
    ck_assert_int_eq(fit.used, 0);
    ck_assert(isnan(fit.offset) && isnan(fit.chi2) && isnan(fit.mode[0].frequency));
    sx_fill(N, 1, y);
    sx_fill(N, 0, sigma);
    fit = sx_fit_trace(NULL, N, t, y, sigma);
    ck_state(fit, SX_DCOS_MASKED);
    sx_fill(N, 1e-310, sigma); /* its inverse is not a number */
    fit = sx_fit_trace(NULL, N, t, y, sigma);
    ck_state(fit, SX_DCOS_MASKED);
}
END_TEST

/* A shot or a bin whose sigma came out near zero pins the curve; the mode in all the others is still
 * there. Alone or in every third sample. */
START_TEST(tiny_sigmas_do_not_hide_a_mode) {
    const sx_truth truth = {
        .tones = 1, .tone = {{.frequency = 1.5, .amplitude = 0.4, .decay = 0.2, .phase = 0.3}}};
    const double tiny[] = {1e-4, 1e-6, 1e-9, 1e-12, 1e-40};
    for (int i = 0; i < 5; i++) {
        for (int every = 3; every <= N; every += N - 3) {
            double t[N], y[N], sigma[N];
            sx_even_delays(N, 0, STEP, t);
            sx_fill(N, SIGMA, sigma);
            sx_truth_fill(&truth, N, t, y);
            sx_add_noise(22, 0, N, SIGMA, y);
            for (int k = 5; k < N; k += every) {
                sigma[k] = SIGMA * tiny[i];
                y[k] = sx_truth_at(&truth, t[k]);
            }
            sx_dcos_fit fit = sx_fit_trace(NULL, N, t, y, sigma);
            ck_assert_int_eq(fit.modes, 1);
            /* error of the frequency with N even samples at this noise: 0.002; five of them */
            ck_near(fit.mode[0].frequency, 1.5, 0, 0.01);
        }
    }
}
END_TEST

/* Far before the first sample the amplitude is no number: said, not written as infinity. */
START_TEST(overflow_at_time_zero_is_singular) {
    const sx_truth truth = {
        .tones = 1, .tone = {{.frequency = 1.5, .amplitude = 0.4, .decay = 0.2, .phase = 0.3}}};
    const sx_dcos_options far = {.t0 = -1e5};
    sx_dcos_fit fit = fit_truth(&far, &truth, 0);
    ck_state(fit, SX_DCOS_SINGULAR);
    ck_assert(isnan(fit.mode[0].amplitude) && isnan(fit.mode[0].amplitude_error));
    ck_near(fit.mode[0].frequency, 1.5, 0, 0.01);
}
END_TEST

/* A constant and one mode are five parameters: six samples are the least. */
START_TEST(few_samples_are_too_few) {
    const double t[] = {0, 1, 2, 3, 4, 5}, y[] = {1, -1, 2, 0.5, -3, 0};
    for (int n = 1; n <= 5; n++) {
        sx_dcos_fit fit = sx_fit_trace(NULL, n, t, y, NULL);
        ck_state(fit, SX_DCOS_TOO_FEW);
        ck_assert_int_eq(fit.used, n);
        ck_assert_int_eq(fit.modes, 0);
    }
    sx_dcos_fit fit = sx_fit_trace(NULL, 6, t, y, NULL);
    ck_assert_int_ne(fit.state, SX_DCOS_TOO_FEW);
    double gaps[] = {1, -1, (double)NAN, 0.5, -3, 0};
    fit = sx_fit_trace(NULL, 6, t, gaps, NULL);
    ck_state(fit, SX_DCOS_TOO_FEW);
    sx_dcos_options none = {.fixed_modes = true, .modes = 0};
    fit = sx_fit_trace(&none, 2, t, y, NULL);
    ck_state(fit, SX_DCOS_OK);
    ck_near(fit.offset, 0, 0, 1e-15);
    ck_near(fit.chi2, 2, 1e-12, 0);
    fit = sx_fit_trace(&none, 1, t, y, NULL);
    ck_state(fit, SX_DCOS_TOO_FEW);
    fit = sx_fit_trace(&TWO, 6, t, y, NULL);
    ck_state(fit, SX_DCOS_TOO_FEW);
}
END_TEST

START_TEST(constants_are_no_signal) {
    double t[N], y[N];
    const double offsets[] = {0, 3.7, 1e6, -1e6 / 3, 1e300, 1e-300};
    sx_even_delays(N, 0, STEP, t);
    for (int i = 0; i < 6; i++) {
        sx_fill(N, offsets[i], y);
        sx_dcos_fit fit = sx_fit_trace(NULL, N, t, y, NULL);
        ck_state(fit, SX_DCOS_NO_SIGNAL);
        ck_near(fit.offset, offsets[i], 1e-15, 0);
        ck_assert_int_eq(fit.modes, 0);
        y[7] = (double)NAN;
        fit = sx_fit_trace(&ONE, N, t, y, NULL);
        ck_state(fit, SX_DCOS_NO_SIGNAL);
        ck_assert_int_eq(fit.used, N - 1);
    }
}
END_TEST

/* Noise may also fit as well elsewhere, which is said first; never is it ok. */
START_TEST(noise_has_no_modes_unless_demanded) {
    sx_truth nothing = {.offset = 1};
    int insignificant = 0;
    for (uint64_t draw = 0; draw < 50; draw++) {
        sx_dcos_fit fit = fit_truth(NULL, &nothing, draw);
        ck_state(fit, SX_DCOS_OK);
        ck_assert_int_eq(fit.modes, 0);
        ck_near(fit.offset, 1, 0, 5 * fit.offset_error);
        fit = fit_truth(&ONE, &nothing, draw);
        ck_assert_int_ne(fit.state, SX_DCOS_OK);
        ck_assert_int_eq(fit.modes, 1);
        insignificant += fit.state == SX_DCOS_INSIGNIFICANT;
    }
    ck_assert_int_ge(insignificant, 1);
    sx_truth one = {.tones = 1, .tone = {{1.3, 1, 0.2, 0.5}}};
    sx_dcos_fit fit = fit_truth(&TWO, &one, 0);
    ck_assert_int_ne(fit.state, SX_DCOS_OK);
    ck_assert_int_eq(fit.modes, 2);
}
END_TEST

START_TEST(parameters_end_at_bounds) {
    /* grows faster than is allowed: 3 e-foldings over the span */
    sx_truth growing = {.tones = 1, .tone = {{1.3, 0.01, -0.6, 0.5}}};
    sx_dcos_fit fit = fit_truth(&ONE, &growing, 0);
    ck_state(fit, SX_DCOS_AT_BOUND);
    ck_near(fit.mode[0].decay, -3 / SPAN, 1e-12, 0);
    /* a quarter of a cycle */
    sx_truth slow = {.tones = 1, .tone = {{0.25 / SPAN, 1, 0.1, -1.2}}};
    fit = fit_truth(&ONE, &slow, 0);
    ck_state(fit, SX_DCOS_AT_BOUND);
    ck_near(fit.mode[0].frequency, 0.5 / SPAN, 1e-12, 0);
}
END_TEST

START_TEST(edges_of_the_window_are_degenerate) {
    sx_truth truth = {.tones = 1, .tone = {{0.55 / SPAN, 30, 0.3, -1.2}}};
    sx_dcos_fit fit = fit_truth(&ONE, &truth, 0);
    ck_state(fit, SX_DCOS_DEGENERATE);
    truth.tone[0] = (sx_tone){0.5 / STEP - 0.3 / SPAN, 1, 0.05, 0.7};
    fit = fit_truth(&ONE, &truth, 0);
    ck_state(fit, SX_DCOS_DEGENERATE);
    truth.tones = 2;
    truth.tone[0] = (sx_tone){2.0, 100, 0.1, 0.7};
    truth.tone[1] = (sx_tone){2.0 + 0.4 / SPAN, 80, 0.12, 0.3};
    fit = fit_truth(&TWO, &truth, 0);
    ck_state(fit, SX_DCOS_DEGENERATE);
    ck_near(fit.mode[1].frequency - fit.mode[0].frequency, 0.4 / SPAN, 0.1, 0);
    truth.tone[1].frequency = 2.0 + 0.6 / SPAN; /* swapped, they are the same minimum */
    fit = fit_truth(&TWO, &truth, 0);
    ck_state(fit, SX_DCOS_OK);
}
END_TEST

/* At Nyquist the sine is rounding: amplitudes of 1e12 and no convergence, if it is reached. */
START_TEST(nyquist_is_not_reached) {
    for (uint64_t draw = 0; draw < 20; draw++) {
        sx_truth truth = {.tones = 1,
                          .tone = {{0.5 / STEP - 0.02 * (double)draw / SPAN, 1, 0.05, 0.7}}};
        sx_dcos_fit fit = fit_truth(&ONE, &truth, draw);
        ck_assert(fit.state == SX_DCOS_AT_BOUND || fit.state == SX_DCOS_DEGENERATE);
        ck_assert(fit.mode[0].amplitude < 10);
    }
}
END_TEST

/* Ten delays half a ps apart cannot tell f from 2 - f (per ps); the dozen closer ones that make the
 * window wide come when the signal has gone. */
START_TEST(sparse_delays_are_ambiguous) {
    enum { M = 22 };
    double t[M], y[M], sigma[M];
    sx_truth truth = {.tones = 1, .tone = {{0.7, 1, 0.5, 0.4}}, .offset = 0.3};
    sx_even_delays(10, 0, 0.5, t);
    sx_even_delays(12, 5, 0.02, t + 10);
    sx_truth_fill(&truth, M, t, y);
    sx_add_noise(22, 0, M, 0.05, y);
    sx_fill(M, 0.05, sigma);
    sx_dcos_fit fit = sx_fit_trace(&ONE, M, t, y, sigma);
    ck_state(fit, SX_DCOS_AMBIGUOUS);
    double here = fit.mode[0].frequency, other = fit.frequency_other;
    double sum = here + other, difference = fabs(here - other);
    double off = fmin(fabs(remainder(sum, 2)), fabs(remainder(difference, 2)));
    ck_assert_msg(off < 0.1, "%g and %g are no aliases of each other", here, other);
}
END_TEST

/* A drift that the background does not hold once hid modes of any height: no modes, state ok. */
START_TEST(drift_is_not_ok) {
    sx_truth truth = {.tones = 1, .tone = {{2.1, 10 * SIGMA, 0.3, 0.5}}};
    sx_dcos_options linear = {.background = SX_BACKGROUND_LINEAR};
    for (uint64_t draw = 0; draw < 20; draw++) {
        truth.slope = SIGMA * (double)(1 + draw);
        sx_dcos_fit fit = fit_truth(NULL, &truth, draw);
        ck_assert(fit.state != SX_DCOS_OK || fit.modes == 1);
        fit = fit_truth(&linear, &truth, draw);
        ck_state(fit, SX_DCOS_OK);
        ck_assert_int_eq(fit.modes, 1);
    }
}
END_TEST

START_TEST(relaxation_is_no_mode) {
    for (uint64_t draw = 0; draw < 300; draw++) {
        sx_truth truth = {.amplitude = 10 * SIGMA, .time = 0.3 + 0.005 * (double)draw};
        sx_dcos_fit fit = fit_truth(NULL, &truth, draw);
        ck_assert(fit.state != SX_DCOS_OK || fit.modes == 0);
    }
}
END_TEST

/* At SNR 50 and 0.7 cycles apart: the second mode lowers chi2 by hundreds. */
START_TEST(close_pairs_are_two_modes) {
    for (uint64_t draw = 0; draw < 20; draw++) {
        sx_truth truth = {.tones = 2,
                          .tone = {{2.0, 1, 0.15, 0.3 * (double)draw},
                                   {2.0 + 0.7 / SPAN, 0.8, 0.2, 1.1 - 0.2 * (double)draw}}};
        sx_dcos_fit fit = fit_truth(NULL, &truth, draw);
        ck_assert_int_eq(fit.modes, 2);
    }
}
END_TEST

/* Noise of which 0.7 is that of the sample before, and a sigma three times too small. */
START_TEST(what_is_no_noise_is_unexplained) {
    double t[N], y[N], sigma[N];
    sx_truth truth = {.tones = 1, .tone = {{2.1, 1, 0.3, 0.5}}};
    int unexplained = 0;
    sx_even_delays(N, 0, STEP, t);
    sx_fill(N, 3 * SIGMA, sigma);
    for (uint64_t draw = 0; draw < 50; draw++) {
        double noise = 0;
        sx_truth_fill(&truth, N, t, y);
        for (int i = 0; i < N; i++) {
            noise = 0.7 * noise + SIGMA * sxi_rng_normal(23, 1, draw * N + (uint64_t)i);
            y[i] += noise;
        }
        sx_dcos_fit fit = sx_fit_trace(&ONE, N, t, y, NULL);
        unexplained += fit.state == SX_DCOS_UNEXPLAINED;
        sx_truth_fill(&truth, N, t, y);
        sx_add_noise(24, draw, N, 3 * SIGMA, y);
        fit = sx_fit_trace(&ONE, N, t, y, sigma);
        ck_state(fit, SX_DCOS_OK);
    }
    ck_assert_int_ge(unexplained, 40);
    sx_fill(N, SIGMA, sigma);
    sx_dcos_fit fit = sx_fit_trace(&ONE, N, t, y, sigma);
    ck_state(fit, SX_DCOS_UNEXPLAINED);
    sx_dcos_options residual = {.scale = SX_SCALE_RESIDUAL};
    fit = sx_fit_trace(&residual, N, t, y, sigma);
    ck_state(fit, SX_DCOS_OK);
}
END_TEST

/* A start with more modes than the samples determine is no start. */
START_TEST(impossible_starts_are_searched) {
    double t[10], y[10];
    sx_dcos_fit start = {.modes = 4}, cold, warm;
    sx_dcos_plan *plan;
    sx_even_delays(10, 0, 1, t);
    sx_fill(10, 0, y);
    sx_add_noise(25, 0, 10, 1, y);
    ck_ok(sx_dcos_plan_create(10, t, NULL, &plan));
    ck_ok(sx_dcos_fit_tile(plan, 1, y, NULL, NULL, NULL, &cold));
    ck_ok(sx_dcos_fit_tile(plan, 1, y, NULL, NULL, &start, &warm));
    sx_dcos_plan_destroy(&plan);
    ck_assert_mem_eq(&warm, &cold, sizeof warm);
}
END_TEST

SX_TEST_MAIN("dcos_state", states_have_words, nothing_to_use_is_masked,
             tiny_sigmas_do_not_hide_a_mode, overflow_at_time_zero_is_singular,
             few_samples_are_too_few, constants_are_no_signal, noise_has_no_modes_unless_demanded,
             parameters_end_at_bounds, edges_of_the_window_are_degenerate, nyquist_is_not_reached,
             sparse_delays_are_ambiguous, drift_is_not_ok, relaxation_is_no_mode,
             close_pairs_are_two_modes, what_is_no_noise_is_unexplained,
             impossible_starts_are_searched)
