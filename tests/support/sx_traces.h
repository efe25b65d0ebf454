/* SPDX-License-Identifier: Apache-2.0
 * Traces with a known answer for tests of the fit. The model is written out here a second time, so
 * that the library is not its own judge. */
#ifndef SX_TRACES_H
#define SX_TRACES_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/dcos.h>

#include "base/rng.h"
#include "sx_check.h"

#define SX_PI 3.14159265358979323846

typedef struct sx_tone {
    double frequency, amplitude, decay, phase;
} sx_tone;

/* What a trace is made of; all zero: nothing. */
typedef struct sx_truth {
    int tones;
    sx_tone tone[SX_DCOS_MAX_MODES];
    double offset, slope;
    double amplitude, time; /* relaxation, if time > 0 */
    double t0;
} sx_truth;

static inline double sx_truth_at(const sx_truth *truth, double t) {
    double x = t - truth->t0;
    double y = truth->offset + truth->slope * x;
    if (truth->time > 0) {
        y += truth->amplitude * exp(-x / truth->time);
    }
    for (int k = 0; k < truth->tones; k++) {
        const sx_tone *m = &truth->tone[k];
        y += m->amplitude * exp(-m->decay * x) * cos(2 * SX_PI * m->frequency * x + m->phase);
    }
    return y;
}

static inline void sx_truth_fill(const sx_truth *truth, int64_t n, const double *t, double *y) {
    for (int64_t i = 0; i < n; i++) {
        y[i] = sx_truth_at(truth, t[i]);
    }
}

/* y += sigma noise; trace: which draw. */
static inline void sx_add_noise(uint64_t seed, uint64_t trace, int64_t n, double sigma, double *y) {
    for (int64_t i = 0; i < n; i++) {
        y[i] += sigma * sxi_rng_normal(seed, 1, trace * 65536 + (uint64_t)i);
    }
}

static inline void sx_fill(int64_t n, double value, double *a) {
    for (int64_t i = 0; i < n; i++) {
        a[i] = value;
    }
}

static inline void sx_even_delays(int64_t n, double first, double step, double *t) {
    for (int64_t i = 0; i < n; i++) {
        t[i] = first + step * (double)i;
    }
}

static inline int sx_compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half of the delays in the first 3 ps of 10, as scans are that look closely at the beginning. */
static inline void sx_uneven_delays(uint64_t seed, int64_t n, double *t) {
    for (int64_t i = 0; i < n; i++) {
        double u = sxi_rng_uniform(seed, 2, (uint64_t)i);
        t[i] = i < n / 2 ? 3 * u : 3 + 7 * u;
    }
    qsort(t, (size_t)n, sizeof *t, sx_compare_doubles);
}

/* Fits traces with options; fails the test on an error. */
static inline void sx_fit_traces(const sx_dcos_options *options, int64_t nt, const double *t,
                                 int64_t npix, const double *y, const double *sigma,
                                 sx_dcos_fit *fit) {
    sx_dcos_plan *plan;
    ck_ok(sx_dcos_plan_create(nt, t, options, &plan));
    ck_ok(sx_dcos_fit_tile(plan, npix, y, sigma, NULL, NULL, fit));
    sx_dcos_plan_destroy(&plan);
}

static inline sx_dcos_fit sx_fit_trace(const sx_dcos_options *options, int64_t nt, const double *t,
                                       const double *y, const double *sigma) {
    sx_dcos_fit fit;
    sx_fit_traces(options, nt, t, 1, y, sigma, &fit);
    return fit;
}

#define ck_state(fit, expected)                                                                    \
    ck_assert_msg((fit).state == (expected), "state %s, expected %s",                              \
                  sx_dcos_state_word((fit).state), sx_dcos_state_word(expected))

#endif
