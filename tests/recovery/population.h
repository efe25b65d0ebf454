/* SPDX-License-Identifier: Apache-2.0
 * Populations of traces with known truth, and the judge of their fits. */
#ifndef POPULATION_H
#define POPULATION_H

#include <sextant/lm.h>

#include "sx_bounds.h"
#include "sx_traces.h"

/* A seed other than the test's own may be given, to see that a threshold does not hang on it. */
static inline uint64_t sx_seed(uint64_t own) {
    const char *given = getenv("SEXTANT_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : own;
    printf("seed %llu\n", (unsigned long long)seed);
    return seed;
}

/* Traces on common delays; sigma [nt] is the true noise of a sample over that of its trace. */
typedef struct population {
    int64_t nt, count;
    double *t, *profile;
    double *y, *sigma; /* [count][nt] */
    sx_truth *truth;
    double *snr;
    double *least;             /* [count] sum of squares of the judge; 0: not asked yet */
    double masked;             /* part of the samples that is missing */
    double lower[5], upper[5]; /* box of the judge, order of sx_truth_pack */
} population;

static inline void population_create(int64_t nt, int64_t count, population *p) {
    size_t samples = (size_t)(nt * count);
    *p = (population){.nt = nt, .count = count};
    p->t = malloc((size_t)nt * sizeof *p->t);
    p->profile = malloc((size_t)nt * sizeof *p->profile);
    p->y = malloc(samples * sizeof *p->y);
    p->sigma = malloc(samples * sizeof *p->sigma);
    p->truth = calloc((size_t)count, sizeof *p->truth);
    p->snr = calloc((size_t)count, sizeof *p->snr);
    p->least = calloc((size_t)count, sizeof *p->least);
    sx_even_delays(nt, 0, 10.0 / (double)nt, p->t);
    sx_fill(nt, 1, p->profile);
    sx_fill(5, -INFINITY, p->lower);
    sx_fill(5, INFINITY, p->upper);
}

static inline void population_destroy(population *p) {
    free(p->t);
    free(p->profile);
    free(p->y);
    free(p->sigma);
    free(p->truth);
    free(p->snr);
    free(p->least);
}

/* SNR 2 to 50 (amplitude over sigma), f 0.5 to 5 THz, g 0.1 to 2 per ps, any phase, amplitudes over
 * two decades, offsets as large as the amplitude. most: the highest frequency. */
static inline void population_draw_modes(uint64_t seed, double most, population *p) {
    for (int64_t i = 0; i < p->count; i++) {
        uint64_t k = (uint64_t)i;
        double amplitude = 0.1 * pow(100, sxi_rng_uniform(seed, 10, k));
        p->snr[i] = 2 * pow(25, sxi_rng_uniform(seed, 11, k));
        p->truth[i] = (sx_truth){.tones = 1,
                                 .tone = {{0.5 + (most - 0.5) * sxi_rng_uniform(seed, 12, k),
                                           amplitude, 0.1 + 1.9 * sxi_rng_uniform(seed, 13, k),
                                           SX_PI * (2 * sxi_rng_uniform(seed, 14, k) - 1)}},
                                 .offset = amplitude * sxi_rng_normal(seed, 15, k)};
    }
}

/* Samples and sigmas from truth, snr and profile. Without modes the noise has sigma 1. */
static inline void population_fill(uint64_t seed, population *p) {
    for (int64_t i = 0; i < p->count; i++) {
        const sx_truth *truth = &p->truth[i];
        double noise = truth->tones ? truth->tone[0].amplitude / p->snr[i] : 1;
        double *y = p->y + i * p->nt, *sigma = p->sigma + i * p->nt;
        sx_truth_fill(truth, p->nt, p->t, y);
        for (int64_t k = 0; k < p->nt; k++) {
            sigma[k] = noise * p->profile[k];
            uint64_t sample = (uint64_t)(i * p->nt + k);
            bool missing = sxi_rng_uniform(seed, 17, sample) < p->masked;
            y[k] = missing ? (double)NAN : y[k] + sigma[k] * sxi_rng_normal(seed, 16, sample);
        }
    }
}

/* --- the judge: the general minimiser on all five parameters, started at the truth --- */

typedef struct judge_data {
    int64_t n;
    const double *t, *y, *sigma;
} judge_data;

static inline bool judge_residuals(void *data, const double *p, double *r, double *jacobian) {
    const judge_data *d = data;
    for (int64_t i = 0; i < d->n; i++, jacobian += 5) {
        double w = isfinite(d->y[i]) ? 1 / d->sigma[i] : 0, t = d->t[i];
        double decay = w * exp(-p[3] * t), angle = 2 * SX_PI * p[1] * t + p[4];
        double c = decay * cos(angle), s = decay * sin(angle);
        r[i] = w > 0 ? w * (p[0] - d->y[i]) + p[2] * c : 0;
        jacobian[0] = w;
        jacobian[1] = -2 * SX_PI * t * p[2] * s;
        jacobian[2] = c;
        jacobian[3] = -t * p[2] * c;
        jacobian[4] = -p[2] * s;
    }
    return true;
}

/* Weighted sum of squares of trace i at the minimum nearest to its truth. */
static inline double judge_chi2(const population *p, int64_t i) {
    if (p->least[i] > 0) {
        return p->least[i];
    }
    judge_data data = {p->nt, p->t, p->y + i * p->nt, p->sigma + i * p->nt};
    double parameter[5];
    sx_lm_result result;
    sx_truth_pack(&p->truth[i], parameter);
    sx_lm_options options = {.max_evaluations = 200, .lower = p->lower, .upper = p->upper};
    ck_ok(sx_lm_run((int)p->nt, 5, judge_residuals, &data, &options, parameter, NULL, &result));
    return p->least[i] = result.chi2;
}

/* Weighted sum of squares of the fit itself. */
static inline double fit_chi2(const population *p, int64_t i, const sx_dcos_fit *fit) {
    double sum = 0;
    double *model = malloc((size_t)p->nt * sizeof *model);
    sx_dcos_model(fit, 0, p->nt, p->t, model);
    for (int64_t k = 0; k < p->nt; k++) {
        double y = p->y[i * p->nt + k];
        sum += isfinite(y) ? pow((y - model[k]) / p->sigma[i * p->nt + k], 2) : 0;
    }
    free(model);
    return sum;
}

/* What a demanded single mode came to. */
typedef struct score {
    int64_t reached; /* chi2 within 1 + 1e-4 of the judge's */
    int64_t ok;      /* state */
    int64_t lying;   /* ok, amplitude 5 errors or more, yet the frequency off by 5 of its own */
    int64_t pulled;  /* SNR above 10 */
    int64_t unknown; /* of those, without an error */
    double mean[5], width[5];
} score;

static inline void score_pull(const sx_truth *truth, const sx_dcos_fit *fit, score *s) {
    const sx_dcos_mode *m = &fit->mode[0];
    const sx_tone *tone = &truth->tone[0];
    const double pull[5] = {(fit->offset - truth->offset) / fit->offset_error,
                            (m->frequency - tone->frequency) / m->frequency_error,
                            (m->amplitude - tone->amplitude) / m->amplitude_error,
                            (m->decay - tone->decay) / m->decay_error,
                            remainder(m->phase - tone->phase, 2 * SX_PI) / m->phase_error};
    s->pulled++;
    if (!isfinite(pull[0] + pull[1] + pull[2] + pull[3] + pull[4])) {
        s->unknown++;
        return;
    }
    for (int j = 0; j < 5; j++) {
        s->mean[j] += pull[j];
        s->width[j] += pull[j] * pull[j];
    }
}

static inline score judge_fits(const population *p, const sx_dcos_fit *fit) {
    score s = {0};
    for (int64_t i = 0; i < p->count; i++) {
        const sx_tone *tone = &p->truth[i].tone[0];
        const sx_dcos_mode *m = &fit[i].mode[0];
        s.reached += fit_chi2(p, i, &fit[i]) <= judge_chi2(p, i) * (1 + 1e-4);
        bool ok = fit[i].state == SX_DCOS_OK;
        s.ok += ok;
        bool clear = m->amplitude > 5 * m->amplitude_error;
        s.lying += ok && clear && !(fabs(m->frequency - tone->frequency) <= 5 * m->frequency_error);
        if (p->snr[i] > 10) {
            score_pull(&p->truth[i], &fit[i], &s);
        }
    }
    double n = (double)(s.pulled - s.unknown);
    for (int j = 0; j < 5; j++) {
        s.mean[j] /= n;
        s.width[j] = sqrt(s.width[j] / n - s.mean[j] * s.mean[j]);
    }
    return s;
}

static inline void score_print(const char *name, const population *p, const score *s) {
    const double percent = 100.0 / (double)p->count;
    printf("%s: reached %.2f %%, ok %.2f %%, clear but off by 5 sigma %lld; pulls", name,
           percent * (double)s->reached, percent * (double)s->ok, (long long)s->lying);
    for (int j = 0; j < 5; j++) {
        printf(" %.3f/%.3f", s->mean[j], s->width[j]);
    }
    printf(" of %lld, %lld without errors\n", (long long)s->pulled, (long long)s->unknown);
}

#endif
