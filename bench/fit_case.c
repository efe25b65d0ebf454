/* SPDX-License-Identifier: Apache-2.0 */
#include "fit_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

static const double TWO_PI = 6.283185307179586476925286766559;
static const double STEP_PS = 0.05;

/* The two-mode trace that others are compared on, here at 16 to 30 dB. */
#define STANDARD "warm two modes"

const fit_case FIT_CASES[] = {
    {"even", 200, 1, .peers = true, .goal = 1.2e6, .goal_ratio = 500},
    {"uneven", 200, 1, .uneven = true, .peers = true, .goal = 1e6, .goal_ratio = 500},
    {"own sigma", 200, 1, .noise = FIT_OWN, .peers = true, .goal = 1e5},
    {"separable sigma", 200, 1, .noise = FIT_SEPARABLE, .peers = true},
    {"two modes", 200, 2, .peers = true, .goal = 3e5},
    {"uneven, separable sigma", 200, 1, .uneven = true, .noise = FIT_SEPARABLE},
    {"shared weights", 200, 1, .noise = FIT_WEIGHTS},
    {"same gaps", 200, 1, .gaps = FIT_SAME_GAPS},
    {"own gaps", 200, 1, .gaps = FIT_OWN_GAPS},
    {"auto", 200, 1, .automatic = true},
    {"auto, uneven", 200, 1, .uneven = true, .automatic = true},
    {"auto, own sigma", 200, 1, .noise = FIT_OWN, .automatic = true},
    {"auto, separable sigma", 200, 1, .noise = FIT_SEPARABLE, .automatic = true},
    {"auto, two modes", 200, 2, .automatic = true},
    {"auto, noise", 200, 0, .automatic = true},
    {"auto, noise, uneven", 200, 0, .uneven = true, .automatic = true},
    {STANDARD, 96, 2, .automatic = true, .warm = true},
};
const int FIT_CASE_COUNT = sizeof FIT_CASES / sizeof *FIT_CASES;

/* 200 first of its kind: the others are measured by it. */
const fit_case FIT_LENGTHS[] = {
    {"200 even", 200, 1, .uneven = false},   {"50 even", 50, 1, .uneven = false},
    {"100 even", 100, 1, .uneven = false},   {"300 even", 300, 1, .uneven = false},
    {"1000 even", 1000, 1, .uneven = false}, {"200 uneven", 200, 1, .uneven = true},
    {"50 uneven", 50, 1, .uneven = true},    {"100 uneven", 100, 1, .uneven = true},
    {"300 uneven", 300, 1, .uneven = true},  {"1000 uneven", 1000, 1, .uneven = true},
};
const int FIT_LENGTH_COUNT = sizeof FIT_LENGTHS / sizeof *FIT_LENGTHS;

/* One number per quantity; modes, trace and sample count within. */
enum { DELAY = 1, SPREAD, GAP, FREQUENCY, DECAY, PHASE, HEIGHT, OFFSET, LEVEL, PART, NOISE, OFF };

static double logarithmic(double least, double most, double u) {
    return least * pow(most / least, u);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_delays(fit_data *data) {
    const fit_case *c = data->c;
    const double span = STEP_PS * c->nt;
    for (int i = 0; i < c->nt; i++) {
        const double u = sxi_rng_uniform(data->seed, DELAY, (uint64_t)i);
        const double uneven = i < c->nt / 2 ? 0.3 * u : 0.3 + 0.7 * u;
        const double part = 0.5 + sxi_rng_uniform(data->seed, SPREAD, (uint64_t)i);
        data->t[i] = c->uneven ? span * uneven : (c->warm ? 0.1 : STEP_PS) * i;
        data->weight[i] = 1 / (part * part);
    }
    qsort(data->t, (size_t)c->nt, sizeof *data->t, compare);
}

bool fit_data_create(const fit_case *c, uint64_t seed, int64_t most, fit_data *data) {
    const size_t samples = (size_t)most * (size_t)c->nt;
    *data = (fit_data){.c = c, .seed = seed, .most = most};
    data->y = malloc(samples * sizeof *data->y);
    data->sigma = malloc(samples * sizeof *data->sigma);
    data->truth = malloc((size_t)most * sizeof *data->truth);
    data->start = malloc((size_t)most * sizeof *data->start);
    fill_delays(data);
    return data->y && data->sigma && data->truth && data->start;
}

void fit_data_destroy(fit_data *data) {
    free(data->y);
    free(data->sigma);
    free(data->truth);
    free(data->start);
    *data = (fit_data){0};
}

/* Returns the noise. */
static double draw_truth(const fit_data *data, uint64_t p, sx_dcos_fit *truth) {
    const uint64_t seed = data->seed;
    const double u = sxi_rng_uniform(seed, LEVEL, p);
    const double height = logarithmic(0.1, 10, sxi_rng_uniform(seed, HEIGHT, p));
    memset(truth, 0, sizeof *truth);
    truth->modes = (uint8_t)data->c->modes;
    truth->background_slope = truth->background_time = (double)NAN;
    truth->offset = height * sxi_rng_normal(seed, OFFSET, p);
    for (int k = 0; k < data->c->modes; k++) {
        const uint64_t number = FIT_MOST_MODES * p + (uint64_t)k;
        const double v = sxi_rng_uniform(seed, FREQUENCY, number);
        const double away = truth->mode[0].frequency - 0.5 + 0.3 + 3.9 * v; /* around the circle */
        truth->mode[k].frequency = 0.5 + (k == 0 ? 4.5 * v : fmod(away, 4.5));
        truth->mode[k].decay = 0.1 + 1.9 * sxi_rng_uniform(seed, DECAY, number);
        truth->mode[k].phase = TWO_PI * sxi_rng_uniform(seed, PHASE, number);
        truth->mode[k].amplitude = k == 0 ? height : 0.67 * height;
    }
    if (strcmp(data->c->name, STANDARD) == 0) {
        truth->offset = 0.15;
        truth->mode[0] = (sx_dcos_mode){0.9 / TWO_PI, 0.45, 0.03, -0.75, 0, 0, 0, 0};
        truth->mode[1] = (sx_dcos_mode){2.4 / TWO_PI, 1.25, 0.09, 0.30, 0, 0, 0, 0};
        return 1 / logarithmic(10, 50, u);
    }
    return height / logarithmic(data->c->modes == 2 ? 5 : 2, 50, u);
}

static bool missing(const fit_data *data, int i, uint64_t sample) {
    const fit_gaps gaps = data->c->gaps;
    const uint64_t number = gaps == FIT_SAME_GAPS ? (uint64_t)i : sample;
    return gaps != FIT_COMPLETE && sxi_rng_uniform(data->seed, GAP, number) < 0.05;
}

static void fill_trace(const fit_data *data, uint64_t p, sx_dcos_fit *truth, double *y,
                       double *sigma) {
    const fit_case *c = data->c;
    const double noise = draw_truth(data, p, truth);
    sx_dcos_model(truth, 0, c->nt, data->t, y);
    for (int i = 0; i < c->nt; i++) {
        const uint64_t sample = p * FIT_MOST_SAMPLES + (uint64_t)i;
        const double own = 0.5 + sxi_rng_uniform(data->seed, PART, sample);
        const double same = 1 / sqrt(data->weight[i]);
        const double part = c->noise == FIT_UNKNOWN ? 1 : c->noise == FIT_OWN ? own : same;
        sigma[i] = c->noise == FIT_SEPARABLE ? (double)(float)(noise * part) : noise * part;
        y[i] += sigma[i] * sxi_rng_normal(data->seed, NOISE, sample);
        y[i] = missing(data, i, sample) ? (double)NAN : y[i];
    }
}

static void fill_start(const fit_data *data, uint64_t p, const sx_dcos_fit *truth,
                       sx_dcos_fit *start) {
    *start = *truth;
    for (int k = 0; k < data->c->modes; k++) {
        const uint64_t number = 2 * (FIT_MOST_MODES * p + (uint64_t)k);
        start->mode[k].frequency *= 1 + 0.01 * sxi_rng_normal(data->seed, OFF, number);
        start->mode[k].decay *= 1 + 0.05 * sxi_rng_normal(data->seed, OFF, number + 1);
    }
}

void fit_data_fill(int64_t first, int64_t count, fit_data *data) {
    data->count = count;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t p = (uint64_t)(first + i);
        const int64_t at = i * data->c->nt;
        fill_trace(data, p, &data->truth[i], data->y + at, data->sigma + at);
        fill_start(data, p, &data->truth[i], &data->start[i]);
    }
}

sx_status fit_data_plan(const fit_data *data, sx_dcos_plan **plan) {
    const fit_case *c = data->c;
    const sx_dcos_options options = {.fixed_modes = !c->automatic, .modes = c->modes};
    return sx_dcos_plan_create(c->nt, data->t, &options, plan);
}

sx_status fit_data_run(const fit_data *data, const sx_dcos_plan *plan, int64_t first, int64_t count,
                       const sx_dcos_fit *start, sx_dcos_fit *fit) {
    const fit_noise noise = data->c->noise;
    const int64_t at = first * data->c->nt;
    const bool known = noise == FIT_OWN || noise == FIT_SEPARABLE;
    return sx_dcos_fit_tile(plan, count, data->y + at, known ? data->sigma + at : NULL,
                            noise == FIT_WEIGHTS ? data->weight : NULL, start, fit);
}

double fit_data_chi2(const fit_data *data, int64_t p, const sx_dcos_fit *fit) {
    const fit_noise noise = data->c->noise;
    double model[FIT_MOST_SAMPLES], sum = 0;
    sx_dcos_model(fit, 0, data->c->nt, data->t, model);
    for (int i = 0; i < data->c->nt; i++) {
        const double y = data->y[p * data->c->nt + i], sigma = data->sigma[p * data->c->nt + i];
        const double r = noise == FIT_UNKNOWN   ? y - model[i]
                         : noise == FIT_WEIGHTS ? (y - model[i]) * sqrt(data->weight[i])
                                                : (y - model[i]) / sigma;
        sum += isnan(y) ? 0 : r * r;
    }
    return sum;
}
