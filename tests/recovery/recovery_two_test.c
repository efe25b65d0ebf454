/* SPDX-License-Identifier: Apache-2.0
 * A strong and a weak mode in rising noise, 2,000 draws each, number of modes left to the fit: is
 * the weak one kept, is the scatter the least possible, is no third one invented? */
#include "population.h"

enum { COUNT = 2000, T = 96, PARAMETERS = 9 };

/* (A, g, w, p) = (1.25, .09, 2.4, .30) and (.45, .03, .9, -.75), w in rad per ps; the weak one is
 * the slower. */
static const sx_truth TRUTH = {
    .tones = 2,
    .tone = {{0.9 / (2 * SX_PI), 0.45, 0.03, -0.75}, {2.4 / (2 * SX_PI), 1.25, 0.09, 0.30}},
    .offset = 0.15};

/* Root mean square about the mean over sigma is 10^(dB / 20). */
static double sigma_at(double decibel, const double *t) {
    double y[T], mean = 0, square = 0;
    sx_truth_fill(&TRUTH, T, t, y);
    for (int i = 0; i < T; i++) {
        mean += y[i] / T;
    }
    for (int i = 0; i < T; i++) {
        square += (y[i] - mean) * (y[i] - mean) / T;
    }
    return sqrt(square) / pow(10, decibel / 20);
}

/* The mode nearest to a frequency; NULL where none is within 0.3 rad per ps. */
static const sx_dcos_mode *nearest(const sx_dcos_fit *fit, double frequency) {
    const sx_dcos_mode *best = NULL;
    double least = 0.3 / (2 * SX_PI);
    for (int k = 0; k < fit->modes; k++) {
        double distance = fabs(fit->mode[k].frequency - frequency);
        if (distance < least) {
            least = distance;
            best = &fit->mode[k];
        }
    }
    return best;
}

typedef struct outcome {
    int lost, third, both;
    double square[PARAMETERS]; /* of the deviation from the truth */
} outcome;

static void add(const sx_dcos_fit *fit, outcome *o) {
    const sx_dcos_mode *m[2] = {nearest(fit, TRUTH.tone[0].frequency),
                                nearest(fit, TRUTH.tone[1].frequency)};
    o->third += fit->modes > 2;
    o->lost += !m[0];
    if (!m[0] || !m[1]) {
        return;
    }
    o->both++;
    o->square[0] += pow(fit->offset - TRUTH.offset, 2);
    for (int k = 0; k < 2; k++) {
        const sx_tone *tone = &TRUTH.tone[k];
        o->square[1 + 4 * k] += pow(m[k]->frequency - tone->frequency, 2);
        o->square[2 + 4 * k] += pow(m[k]->amplitude - tone->amplitude, 2);
        o->square[3 + 4 * k] += pow(m[k]->decay - tone->decay, 2);
        o->square[4 + 4 * k] += pow(remainder(m[k]->phase - tone->phase, 2 * SX_PI), 2);
    }
}

/* Weak mode never lost at 20 dB and above, in at most 3 % at 10 dB; a third mode in at most 1 %;
 * scatter at most 1.10 of the bound at 20 dB and above (2,000 draws know it to 1.6 %). */
static void recovers(uint64_t seed, double decibel, bool given) {
    static double y[COUNT * T], sigma[COUNT * T];
    static sx_dcos_fit fit[COUNT];
    double t[T], bound[SX_MOST_PARAMETERS];
    outcome o = {0};
    sx_even_delays(T, 0, 9.5 / (T - 1), t);
    double noise = sigma_at(decibel, t);
    sx_fill(COUNT * T, noise, sigma);
    sx_bound_errors(&TRUTH, T, t, sigma, bound);
    for (int i = 0; i < COUNT; i++) {
        sx_truth_fill(&TRUTH, T, t, y + i * T);
        sx_add_noise(seed, (uint64_t)i, T, noise, y + i * T);
    }
    sx_fit_traces(NULL, T, t, COUNT, y, given ? sigma : NULL, fit);
    for (int i = 0; i < COUNT; i++) {
        add(&fit[i], &o);
    }
    printf("%g dB, sigma %s: lost %.2f %%, third %.2f %%, scatter over bound", decibel,
           given ? "given" : "unknown", 100.0 * o.lost / COUNT, 100.0 * o.third / COUNT);
    for (int j = 0; j < PARAMETERS; j++) {
        printf(" %.3f", sqrt(o.square[j] / o.both) / bound[j]);
    }
    printf("\n");
    ck_assert_int_le(o.lost, decibel < 20 ? COUNT * 3 / 100 : 0);
    ck_assert_int_le(o.third, COUNT / 100);
    for (int j = 0; j < PARAMETERS && decibel >= 20; j++) {
        ck_assert_double_le(sqrt(o.square[j] / o.both), 1.10 * bound[j]);
    }
}

START_TEST(weak_mode_is_kept) {
    uint64_t seed = sx_seed(201);
    const double decibels[] = {40, 30, 20, 10};
    for (int i = 0; i < 4; i++) {
        recovers(seed, decibels[i], false);
        recovers(seed, decibels[i], true);
    }
}
END_TEST

SX_TEST_MAIN("recovery_two", weak_mode_is_kept)
