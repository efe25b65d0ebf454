/* SPDX-License-Identifier: Apache-2.0
 * Values: real data, noiseless recovery, canonical form, backgrounds, masks, scale. */
#include "sx_traces.h"

enum { MUSR_MOST = 400 };

/* The first numbers of each line of data; lines of words are passed over. Returns their count. */
static int64_t read_musr(const char *path, double *t, double *y, double *sigma) {
    char line[256];
    int64_t n = 0;
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (n < MUSR_MOST && fgets(line, sizeof line, file)) {
        n += sscanf(line, "%lf,%lf,%lf", &t[n], &y[n], &sigma[n]) == 3;
    }
    fclose(file);
    return n;
}

static void scale(int64_t n, double factor, double *a) {
    for (int64_t i = 0; i < n; i++) {
        a[i] *= factor;
    }
}

/* The header of trace_left.csv, a least-squares fit at tolerance 1e-15 by another program, printed
 * with ten digits. */
START_TEST(musr_run_is_fitted_as_published) {
    double t[MUSR_MOST], y[MUSR_MOST], sigma[MUSR_MOST];
    const char *path = sx_data("musr/trace_left.csv");
    if (!path) {
        return;
    }
    int64_t n = read_musr(path, t, y, sigma);
    ck_assert_int_eq(n, 262);
    sx_dcos_options options = {.fixed_modes = true, .modes = 1};
    sx_dcos_fit fit = sx_fit_trace(&options, n, t, y, sigma);
    ck_state(fit, SX_DCOS_OK);
    ck_near(fit.mode[0].amplitude, 0.2559970453, 1e-6, 0);
    ck_near(fit.mode[0].decay, 0.3054664729, 1e-6, 0);
    ck_near(fit.mode[0].frequency, 1.326677183, 1e-6, 0);
    ck_near(fit.mode[0].phase, 3.118935961, 1e-6, 0);
    ck_near(fit.offset, 2.358656037e-05, 0, 1e-5 * 0.0007135);
    ck_near(fit.chi2 * (double)(n - 5), 353.11258705, 1e-6, 0);
    /* The errors are printed with four digits. */
    ck_near(fit.mode[0].amplitude_error, 0.00204, 0.01, 0);
    ck_near(fit.mode[0].decay_error, 0.006365, 0.01, 0);
    ck_near(fit.mode[0].frequency_error, 0.001047, 0.01, 0);
    ck_near(fit.mode[0].phase_error, 0.008376, 0.01, 0);
    ck_near(fit.offset_error, 0.0007135, 0.01, 0);
}
END_TEST

/* The same numbers in other units: 1e-9 everywhere, but an offset of 1000 A costs 10 of the 53
 * bits of each sample, 3e-11 of its sigma. */
static void same_answer(const sx_dcos_fit *a, const sx_dcos_fit *b, double time, double height,
                        double shift) {
    const sx_dcos_mode *m = &a->mode[0], *k = &b->mode[0];
    ck_state(*b, SX_DCOS_OK);
    ck_near(k->frequency * time, m->frequency, 1e-9, 0);
    ck_near(k->decay * time, m->decay, 1e-9, 0);
    ck_near(k->phase, m->phase, 1e-9, 0);
    ck_near(k->amplitude / height, m->amplitude, 1e-9, 0);
    ck_near((b->offset - shift) / height, a->offset, 1e-9, 1e-9 * a->offset_error);
    ck_near(k->frequency_error * time, m->frequency_error, 1e-9, 0);
    ck_near(k->decay_error * time, m->decay_error, 1e-9, 0);
    ck_near(k->phase_error, m->phase_error, 1e-9, 0);
    ck_near(k->amplitude_error / height, m->amplitude_error, 1e-9, 0);
    ck_near(b->offset_error / height, a->offset_error, 1e-9, 0);
    ck_near(b->chi2, a->chi2, 1e-9, 0);
}

START_TEST(units_do_not_matter) {
    double t[MUSR_MOST], y[MUSR_MOST], sigma[MUSR_MOST];
    const char *path = sx_data("musr/trace_left.csv");
    if (!path) {
        return;
    }
    int64_t n = read_musr(path, t, y, sigma);
    sx_dcos_options options = {0};
    sx_dcos_fit plain = sx_fit_trace(&options, n, t, y, sigma);
    ck_assert_int_eq(plain.modes, 1);
    scale(n, 1e6, t);
    sx_dcos_fit other = sx_fit_trace(&options, n, t, y, sigma);
    same_answer(&plain, &other, 1e6, 1, 0);
    for (int i = 0; i < 2; i++) {
        double factor = i == 0 ? 1e-6 : 1e12;
        scale(n, factor, y);
        scale(n, factor, sigma);
        other = sx_fit_trace(&options, n, t, y, sigma);
        same_answer(&plain, &other, 1e6, i == 0 ? 1e-6 : 1e6, 0);
    }
    double shift = 1000 * plain.mode[0].amplitude * 1e6;
    for (int64_t i = 0; i < n; i++) {
        y[i] += shift;
    }
    other = sx_fit_trace(&options, n, t, y, sigma);
    same_answer(&plain, &other, 1e6, 1e6, shift);
}
END_TEST

static const sx_truth FOUR = {.tones = 4,
                              .tone = {{0.6, 1.0, 0.15, 0.4},
                                       {1.3, 0.7, 0.3, -2.1},
                                       {2.2, 1.6, 0.5, 3.0},
                                       {3.7, 0.4, 0.1, 1.2}},
                              .offset = -0.8};

/* Without noise the answer is the truth; 1e-8 of each quantity (of the amplitude for the offset):
 * rounding of 1e-16 times the condition of four modes. */
static void is_truth(const sx_dcos_fit *fit, const sx_truth *truth) {
    ck_state(*fit, SX_DCOS_OK);
    ck_assert_int_eq(fit->modes, truth->tones);
    ck_near(fit->offset, truth->offset, 0, 1e-8);
    for (int k = 0; k < truth->tones; k++) {
        ck_near(fit->mode[k].frequency, truth->tone[k].frequency, 1e-8, 0);
        ck_near(fit->mode[k].amplitude, truth->tone[k].amplitude, 1e-8, 0);
        ck_near(fit->mode[k].decay, truth->tone[k].decay, 1e-8, 0);
        ck_near(fit->mode[k].phase, truth->tone[k].phase, 0, 1e-8);
    }
}

START_TEST(noiseless_modes_are_found_exactly) {
    enum { N = 150 };
    double t[N], y[N], sigma[N];
    for (int uneven = 0; uneven < 2; uneven++) {
        sx_even_delays(N, 0, 0.0625, t);
        if (uneven) {
            sx_uneven_delays(3, N, t);
        }
        for (int weighted = 0; weighted < 2; weighted++) {
            for (int i = 0; i < N; i++) {
                sigma[i] = 1e-3 * (1 + 4 * sxi_rng_uniform(4, 3, (uint64_t)i));
            }
            for (int modes = 1; modes <= 4; modes++) {
                sx_truth truth = FOUR;
                truth.tones = modes;
                sx_truth_fill(&truth, N, t, y);
                sx_dcos_fit fit = sx_fit_trace(NULL, N, t, y, weighted ? sigma : NULL);
                is_truth(&fit, &truth);
                for (int i = 0; i < N; i += 7) {
                    y[i] = (double)NAN;
                }
                fit = sx_fit_trace(NULL, N, t, y, weighted ? sigma : NULL);
                is_truth(&fit, &truth);
                ck_assert_int_eq(fit.used, N - 22);
            }
        }
    }
}
END_TEST

START_TEST(phase_and_amplitude_refer_to_time_zero) {
    enum { N = 180 };
    double t[N], y[N];
    sx_truth truth = FOUR;
    truth.tones = 2;
    truth.t0 = 0.31;
    sx_even_delays(N, -1, 0.0625, t);
    sx_truth_fill(&truth, N, t, y);
    for (int i = 0; i < N && t[i] < 0.9; i++) {
        y[i] += t[i] < truth.t0 ? 100 : 1; /* nothing before the start may enter */
    }
    sx_dcos_options options = {.t0 = truth.t0, .t_start = 0.9, .has_t_start = true};
    sx_dcos_fit fit = sx_fit_trace(&options, N, t, y, NULL);
    is_truth(&fit, &truth);
    ck_assert_int_eq(fit.used, 149);
    double model[N];
    sx_dcos_model(&fit, truth.t0, N, t, model);
    for (int i = N - fit.used; i < N; i++) {
        ck_near(model[i], y[i], 0, 1e-8);
    }
}
END_TEST

/* However the truth is written, the answer has A >= 0, p in (-pi, pi] and rising frequencies. */
START_TEST(answers_are_canonical) {
    enum { N = 128 };
    double t[N], y[N];
    sx_even_delays(N, 0, 0.08, t);
    for (int i = 0; i < 60; i++) {
        double p = -6 + 0.2 * i;
        sx_truth truth = {.tones = 2,
                          .tone = {{2.5, -0.9, 0.3, p}, {0.9, i % 2 ? 1.4 : -1.4, 0.2, -2 * p}}};
        sx_truth_fill(&truth, N, t, y);
        sx_dcos_fit fit = sx_fit_trace(NULL, N, t, y, NULL);
        ck_assert_int_eq(fit.modes, 2);
        for (int k = 0; k < 2; k++) {
            const sx_tone *tone = &truth.tone[1 - k];
            double turned = tone->amplitude < 0 ? tone->phase + SX_PI : tone->phase;
            ck_near(fit.mode[k].frequency, tone->frequency, 1e-8, 0);
            ck_near(fit.mode[k].amplitude, fabs(tone->amplitude), 1e-8, 0);
            ck_near(remainder(fit.mode[k].phase - turned, 2 * SX_PI), 0, 0, 1e-8);
            ck_assert(fit.mode[k].phase > -SX_PI && fit.mode[k].phase <= SX_PI);
        }
        ck_assert(isnan(fit.mode[2].frequency) && isnan(fit.mode[2].phase_error));
    }
}
END_TEST

/* Every way to say "missing" gives the bits of a trace in which the sample is NaN. */
START_TEST(missing_samples_do_not_enter) {
    enum { N = 100 };
    double t[N], y[6 * N], sigma[6 * N];
    sx_dcos_fit fit[6];
    sx_truth truth = FOUR;
    truth.tones = 1;
    sx_even_delays(N, 0, 0.1, t);
    for (int p = 0; p < 6; p++) {
        sx_truth_fill(&truth, N, t, y + (size_t)p * N);
        sx_add_noise(5, 0, N, 0.05, y + (size_t)p * N);
        sx_fill(N, 0.05, sigma + (size_t)p * N);
    }
    for (int i = 3; i < N; i += 9) {
        y[i] = (double)NAN;
        y[N + i] = (double)INFINITY;
        y[2 * N + i] = 1e4, sigma[2 * N + i] = (double)NAN;
        y[3 * N + i] = 1e4, sigma[3 * N + i] = (double)INFINITY;
        y[4 * N + i] = 1e4, sigma[4 * N + i] = 0;
        y[5 * N + i] = 1e4, sigma[5 * N + i] = -1;
    }
    sx_dcos_options options = {.fixed_modes = true, .modes = 1};
    sx_fit_traces(&options, N, t, 6, y, sigma, fit);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        sx_dcos_fit *f = &fit[0];
        truth.tone[0] = (sx_tone){f->mode[0].frequency, f->mode[0].amplitude, f->mode[0].decay,
                                  f->mode[0].phase};
        truth.offset = f->offset;
        sum += isnan(y[i]) ? 0 : pow((y[i] - sx_truth_at(&truth, t[i])) / 0.05, 2);
    }
    ck_assert_int_eq(fit[0].used, 89);
    ck_near(fit[0].chi2, sum / (89 - 5), 1e-9, 0);
    for (int p = 1; p < 6; p++) {
        ck_assert_mem_eq(&fit[p], &fit[0], sizeof *fit);
    }
}
END_TEST

/* One relative weight for all traces is the same as a sigma of 1 / sqrt(weight) whose scale is
 * taken from the residuals. */
START_TEST(shared_weights_are_relative_sigmas) {
    enum { N = 120 };
    double t[N], y[N], sigma[N], weight[N];
    sx_truth truth = FOUR;
    truth.tones = 2;
    sx_even_delays(N, 0, 0.08, t);
    sx_truth_fill(&truth, N, t, y);
    for (int i = 0; i < N; i++) {
        sigma[i] = 0.01 + 0.04 * sxi_rng_uniform(6, 3, (uint64_t)i);
        y[i] += sigma[i] * sxi_rng_normal(6, 4, (uint64_t)i);
        weight[i] = 1 / (sigma[i] * sigma[i]);
    }
    weight[5] = 0;
    sigma[5] = 0;
    sx_dcos_options options = {.scale = SX_SCALE_RESIDUAL};
    sx_dcos_plan *plan;
    sx_dcos_fit by_weight, by_sigma;
    ck_ok(sx_dcos_plan_create(N, t, &options, &plan));
    ck_ok(sx_dcos_fit_tile(plan, 1, y, NULL, weight, NULL, &by_weight));
    ck_ok(sx_dcos_fit_tile(plan, 1, y, sigma, NULL, NULL, &by_sigma));
    sx_dcos_plan_destroy(&plan);
    ck_assert_int_eq(by_weight.modes, 2);
    ck_assert_int_eq(by_weight.used, N - 1);
    for (int k = 0; k < 2; k++) {
        ck_near(by_weight.mode[k].frequency, by_sigma.mode[k].frequency, 1e-9, 0);
        ck_near(by_weight.mode[k].decay_error, by_sigma.mode[k].decay_error, 1e-9, 0);
    }
    ck_near(by_weight.chi2, by_sigma.chi2, 1e-9, 0);
}
END_TEST

START_TEST(backgrounds_are_recovered_exactly) {
    enum { N = 160 };
    double t[N], y[N];
    sx_truth truth = FOUR;
    truth.tones = 2;
    truth.t0 = -0.5;
    sx_even_delays(N, 0, 0.0625, t);

    truth.offset = 0;
    sx_truth_fill(&truth, N, t, y);
    sx_dcos_options options = {.background = SX_BACKGROUND_NONE, .t0 = truth.t0};
    sx_dcos_fit fit = sx_fit_trace(&options, N, t, y, NULL);
    is_truth(&fit, &truth);
    ck_assert(isnan(fit.background_slope) && isnan(fit.background_time));

    truth.offset = 2;
    truth.slope = -0.7;
    options.background = SX_BACKGROUND_LINEAR;
    sx_truth_fill(&truth, N, t, y);
    fit = sx_fit_trace(&options, N, t, y, NULL);
    is_truth(&fit, &truth);
    ck_near(fit.background_slope, -0.7, 1e-8, 0);

    truth.slope = 0;
    truth.amplitude = -3;
    truth.time = 1.7;
    options.background = SX_BACKGROUND_EXP;
    sx_truth_fill(&truth, N, t, y);
    fit = sx_fit_trace(&options, N, t, y, NULL);
    is_truth(&fit, &truth);
    ck_near(fit.background_amplitude, -3, 1e-8, 0);
    ck_near(fit.background_time, 1.7, 1e-8, 0);
}
END_TEST

START_TEST(tiles_do_not_change_a_bit) {
    enum { N = 64, P = 50 };
    static double y[P * N], sigma[P * N], turned[P * N], turned_sigma[P * N];
    double t[N];
    sx_dcos_fit whole[P], reversed[P], alone;
    sx_even_delays(N, 0, 0.15, t);
    for (int p = 0; p < P; p++) {
        sx_truth truth = FOUR;
        truth.tones = p % 4;
        sx_truth_fill(&truth, N, t, y + (size_t)p * N);
        sx_add_noise(7, (uint64_t)p, N, 0.1, y + (size_t)p * N);
        sx_fill(N, p % 5 ? 0.1 : 0.2, sigma + (size_t)p * N);
        if (p % 3 == 0) {
            y[p * N + p] = (double)NAN;
        }
        for (int i = 0; p % 7 == 6 && i < N; i++) {
            sigma[p * N + i] *= 1 + 0.1 * (i % 8);
        }
        memcpy(turned + (size_t)(P - 1 - p) * N, y + (size_t)p * N, sizeof t);
        memcpy(turned_sigma + (size_t)(P - 1 - p) * N, sigma + (size_t)p * N, sizeof t);
    }
    for (int given = 0; given < 2; given++) {
        sx_fit_traces(NULL, N, t, P, y, given ? sigma : NULL, whole);
        sx_fit_traces(NULL, N, t, P, turned, given ? turned_sigma : NULL, reversed);
        for (int p = 0; p < P; p++) {
            alone =
                sx_fit_trace(NULL, N, t, y + (size_t)p * N, given ? sigma + (size_t)p * N : NULL);
            ck_assert_mem_eq(&alone, &whole[p], sizeof alone);
            ck_assert_mem_eq(&alone, &reversed[P - 1 - p], sizeof alone);
        }
    }
}
END_TEST

START_TEST(no_traces_are_no_work) {
    double t[] = {0, 1, 2};
    sx_dcos_plan *plan;
    ck_ok(sx_dcos_plan_create(3, t, NULL, &plan));
    ck_ok(sx_dcos_fit_tile(plan, 0, NULL, NULL, NULL, NULL, NULL));
    sx_dcos_plan_destroy(&plan);
    ck_assert_ptr_null(plan);
    sx_dcos_plan_destroy(&plan);
}
END_TEST

/* Squares of such values over- or underflow; the values themselves do not. */
START_TEST(huge_and_tiny_values_are_fitted) {
    enum { N = 100 };
    double t[N], y[N], sigma[N];
    const double factors[] = {1e300, 1e-300};
    sx_even_delays(N, 0, 0.1, t);
    for (int i = 0; i < 2; i++) {
        sx_truth truth = FOUR;
        truth.tones = 2;
        sx_truth_fill(&truth, N, t, y);
        sx_add_noise(8, 0, N, 0.01, y);
        sx_fill(N, 0.01, sigma);
        sx_dcos_fit plain = sx_fit_trace(NULL, N, t, y, sigma);
        scale(N, factors[i], y);
        scale(N, factors[i], sigma);
        for (int given = 0; given < 2; given++) {
            sx_dcos_fit fit = sx_fit_trace(NULL, N, t, y, given ? sigma : NULL);
            /* without errors chi2 has the unit of squares, and 1e600 is no number */
            const bool overflows = !given && factors[i] > 1;
            ck_state(fit, overflows ? SX_DCOS_SINGULAR : SX_DCOS_OK);
            ck_assert(overflows ? isnan(fit.chi2) : fit.chi2 >= 0 && isfinite(fit.chi2));
            ck_assert_int_eq(fit.modes, 2);
            ck_near(fit.mode[1].frequency, plain.mode[1].frequency, 1e-9, 0);
            ck_near(fit.mode[1].amplitude / factors[i], plain.mode[1].amplitude, 1e-9, 0);
        }
    }
}
END_TEST

START_TEST(warm_start_equals_cold_start) {
    enum { N = 96, P = 40 };
    static double y[P * N];
    double t[N];
    sx_dcos_fit cold[P], warm[P];
    sx_even_delays(N, 0, 0.1, t);
    for (int p = 0; p < P; p++) {
        sx_truth truth = FOUR;
        truth.tones = p % 4;
        sx_truth_fill(&truth, N, t, y + (size_t)p * N);
        sx_add_noise(9, (uint64_t)p, N, 0.05, y + (size_t)p * N);
    }
    sx_dcos_plan *plan;
    ck_ok(sx_dcos_plan_create(N, t, NULL, &plan));
    ck_ok(sx_dcos_fit_tile(plan, P, y, NULL, NULL, NULL, cold));
    ck_ok(sx_dcos_fit_tile(plan, P, y, NULL, NULL, cold, warm));
    sx_dcos_plan_destroy(&plan);
    for (int p = 0; p < P; p++) {
        ck_assert_int_eq(warm[p].modes, cold[p].modes);
        ck_near(warm[p].chi2, cold[p].chi2, 1e-10, 0);
        for (int k = 0; k < cold[p].modes; k++) { /* both stop within 1e-6 sigma */
            ck_near(warm[p].mode[k].frequency, cold[p].mode[k].frequency, 0,
                    1e-6 * cold[p].mode[k].frequency_error);
            ck_near(warm[p].mode[k].decay_error, cold[p].mode[k].decay_error, 1e-5, 0);
        }
    }
}
END_TEST

static void refuses(int64_t n, const double *t, const sx_dcos_options *options, sx_status status,
                    const char *words) {
    int nothing;
    sx_dcos_plan *plan = (sx_dcos_plan *)(void *)&nothing;
    ck_fails(sx_dcos_plan_create(n, t, options, &plan), status, words);
    ck_assert_ptr_null(plan);
}

START_TEST(bad_delays_and_options_are_refused) {
    const double good[] = {0, 1, 2, 3, 4, 5, 6, 7}, equal[] = {0, 1, 1, 2}, falling[] = {0, 2, 1},
                 gap[] = {0, (double)NAN, 2}, uneven[] = {0, 1, 2, 4, 8};
    refuses(0, good, NULL, SX_ERR_RANGE, "0 delays given, 1 to 1048576");
    refuses(-3, good, NULL, SX_ERR_RANGE, "-3 delays given");
    refuses((1 << 20) + 1, good, NULL, SX_ERR_RANGE, "1048577 delays given");
    refuses(4, equal, NULL, SX_ERR_RANGE, "delay 1 is 1 and delay 2 is 1");
    refuses(3, falling, NULL, SX_ERR_RANGE, "delay 1 is 2 and delay 2 is 1");
    refuses(3, gap, NULL, SX_ERR_RANGE, "delay 1 is nan");
    const double far[] = {0, 1, 2, 3, 4, 1e6}, farther[] = {0, 1, 2, 3, 4, 1e300},
                 close[] = {0, 1e-320, 2e-320, 3e-320}, wide[] = {-1e308, 0, 1e308};
    refuses(6, far, NULL, SX_ERR_RANGE, "is one of them, 0 to 1e+06, far from the others");
    refuses(6, farther, NULL, SX_ERR_RANGE, "far from the others");
    refuses(4, close, NULL, SX_ERR_RANGE, "too close or too far apart");
    refuses(3, wide, &(sx_dcos_options){.t0 = -1e308}, SX_ERR_RANGE, "too close or too far apart");
    refuses(8, good, &(sx_dcos_options){.fixed_modes = true, .modes = 5}, SX_ERR_ARGUMENT,
            "0 to 4 can be fitted");
    refuses(8, good, &(sx_dcos_options){.max_modes = -1}, SX_ERR_ARGUMENT, "0 to 4 can be fitted");
    refuses(8, good, &(sx_dcos_options){.t0 = (double)NAN}, SX_ERR_ARGUMENT, "finite");
    refuses(8, good, &(sx_dcos_options){.t0 = 2, .t_start = 1, .has_t_start = true},
            SX_ERR_ARGUMENT, "before time zero");
    refuses(8, good, &(sx_dcos_options){.t0 = 7.5}, SX_ERR_RANGE, "all 8 delays lie before");
    refuses(5, uneven, &(sx_dcos_options){.init = SX_INIT_ESPRIT}, SX_ERR_ARGUMENT,
            "equal spacing");
}
END_TEST

START_TEST(window_is_half_a_cycle_to_nyquist) {
    double t[11], low, high;
    sx_even_delays(11, -1, 0.5, t);
    sx_dcos_plan *plan;
    ck_ok(sx_dcos_plan_create(11, t, NULL, &plan));
    ck_assert_int_eq(sx_dcos_plan_used(plan), 9);
    sx_dcos_plan_window(plan, &low, &high);
    ck_near(low, 0.5 / 4, 1e-12, 0);
    ck_near(high, 1, 1e-12, 0);
    sx_dcos_plan_destroy(&plan);
}
END_TEST

SX_TEST_MAIN("dcos", musr_run_is_fitted_as_published, units_do_not_matter,
             noiseless_modes_are_found_exactly, phase_and_amplitude_refer_to_time_zero,
             answers_are_canonical, missing_samples_do_not_enter,
             shared_weights_are_relative_sigmas, backgrounds_are_recovered_exactly,
             tiles_do_not_change_a_bit, no_traces_are_no_work, huge_and_tiny_values_are_fitted,
             warm_start_equals_cold_start, bad_delays_and_options_are_refused,
             window_is_half_a_cycle_to_nyquist)
