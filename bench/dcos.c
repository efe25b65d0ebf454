/* SPDX-License-Identifier: Apache-2.0
 * Fits of damped cosines per second of one core, one JSON line per case. Processor time, the best
 * of a few rounds: other programs on the machine disturb less.
 *
 *   bench_dcos [pixels]     2000 by default */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sextant/cpu.h>
#include <sextant/dcos.h>
#include <sextant/version.h>

#include "base/rng.h"

enum { MOST = 200, ROUNDS = 3 };
static const double TWO_PI = 6.283185307179586476925286766559;
static const uint64_t SEED = 1;

typedef enum noise_known { UNKNOWN, SAME, OWN } noise_known;

typedef struct bench_case {
    const char *name;
    int nt;
    int modes;         /* of the truth */
    bool uneven;       /* half of the delays in the first 3 of 10 ps */
    noise_known sigma; /* not given, one per trace, one per sample */
    bool demanded;     /* else the number of modes is left to the fit */
    bool warm;         /* starts 5 % off */
} bench_case;

/* The two-mode trace that others are compared on, here at 16 to 30 dB. */
#define STANDARD "warm two modes"

static const bench_case CASES[] = {
    {STANDARD, 96, 2, false, UNKNOWN, false, true},
    {"warm two modes, any", 96, 2, false, UNKNOWN, false, true},
    {"one mode", 200, 1, false, UNKNOWN, true, false},
    {"one mode, sigma", 200, 1, false, SAME, true, false},
    {"one mode, sigma per sample", 200, 1, false, OWN, true, false},
    {"one mode, uneven", 200, 1, true, UNKNOWN, true, false},
    {"one mode, uneven, sigma per sample", 200, 1, true, OWN, true, false},
    {"auto", 200, 1, false, UNKNOWN, false, false},
    {"auto, sigma", 200, 1, false, SAME, false, false},
    {"auto, sigma per sample", 200, 1, false, OWN, false, false},
    {"auto, uneven", 200, 1, true, UNKNOWN, false, false},
    {"auto, uneven, sigma", 200, 1, true, SAME, false, false},
    {"auto, uneven, sigma per sample", 200, 1, true, OWN, false, false},
    {"auto, two modes", 200, 2, false, UNKNOWN, false, false},
    {"auto, noise", 200, 0, false, UNKNOWN, false, false},
    {"auto, noise, sigma", 200, 0, false, SAME, false, false},
    {"auto, noise, uneven", 200, 0, true, UNKNOWN, false, false},
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_delays(const bench_case *c, double *t) {
    double step = c->nt == 96 ? 0.1 : 10.0 / c->nt;
    for (int i = 0; i < c->nt; i++) {
        double u = sxi_rng_uniform(SEED, 1, (uint64_t)i);
        t[i] = !c->uneven ? step * i : i < c->nt / 2 ? 3 * u : 3 + 7 * u;
    }
    qsort(t, (size_t)c->nt, sizeof *t, compare);
}

/* f 0.5 to 5 THz, g 0.1 to 2 per ps; the second mode two thirds as high. */
static void draw_truth(const bench_case *c, uint64_t p, sx_dcos_fit *truth) {
    memset(truth, 0, sizeof *truth);
    truth->modes = (uint8_t)c->modes;
    truth->background_slope = truth->background_time = (double)NAN;
    for (int k = 0; k < c->modes; k++) {
        uint32_t stream = 10 + 4 * (uint32_t)k;
        truth->mode[k].frequency = 0.5 + 4.5 * sxi_rng_uniform(SEED, stream, p);
        truth->mode[k].decay = 0.1 + 1.9 * sxi_rng_uniform(SEED, stream + 1, p);
        truth->mode[k].phase = TWO_PI * sxi_rng_uniform(SEED, stream + 2, p);
        truth->mode[k].amplitude = k == 0 ? 1 : 0.67;
    }
    if (strcmp(c->name, STANDARD) == 0) {
        truth->offset = 0.15;
        truth->mode[0] = (sx_dcos_mode){0.9 / TWO_PI, 0.45, 0.03, -0.75, 0, 0, 0, 0};
        truth->mode[1] = (sx_dcos_mode){2.4 / TWO_PI, 1.25, 0.09, 0.30, 0, 0, 0, 0};
    }
}

/* Noise of amplitude / SNR, SNR 2 to 50; warm ones 10 to 50. */
static void fill_trace(const bench_case *c, const double *t, uint64_t p, sx_dcos_fit *truth,
                       double *y, double *sigma) {
    double u = sxi_rng_uniform(SEED, 20, p);
    double noise = c->modes == 0 ? 1 : c->warm ? 0.1 * pow(5, -u) : 0.5 * pow(25, -u);
    draw_truth(c, p, truth);
    sx_dcos_model(truth, 0, c->nt, t, y);
    for (int i = 0; i < c->nt; i++) {
        uint64_t sample = p * MOST + (uint64_t)i;
        double part = c->sigma == OWN ? 0.5 + sxi_rng_uniform(SEED, 21, sample) : 1;
        sigma[i] = noise * part;
        y[i] += sigma[i] * sxi_rng_normal(SEED, 22, sample);
    }
    for (int k = 0; c->warm && k < c->modes; k++) {
        truth->mode[k].frequency *= 1 + 0.01 * sxi_rng_normal(SEED, 23, 4 * p + (uint64_t)k);
        truth->mode[k].decay *= 1 + 0.05 * sxi_rng_normal(SEED, 24, 4 * p + (uint64_t)k);
    }
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_line(const bench_case *c, int64_t pixels, double seconds,
                       const sx_dcos_fit *fit) {
    char machine[160], date[32];
    time_t now = time(NULL);
    int64_t ok = 0;
    sx_cpu cpu;
    sx_cpu_get(&cpu);
    sx_cpu_describe(&cpu, machine, sizeof machine);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    for (int64_t p = 0; p < pixels; p++) {
        ok += fit[p].state == SX_DCOS_OK;
    }
    printf("{\"bench\": \"dcos\", \"case\": \"%s\", \"samples\": %d, \"pixels\": %lld, "
           "\"us_per_fit\": %.2f, \"fits_per_second\": %.0f, \"ok\": %lld, \"machine\": \"%s\", "
           "\"commit\": \"%s\", \"date\": \"%s\"}\n",
           c->name, c->nt, (long long)pixels, 1e6 * seconds / (double)pixels,
           (double)pixels / seconds, (long long)ok, machine, sx_commit(), date);
    fflush(stdout);
}

static sx_status run(const bench_case *c, int64_t pixels, double *y, double *sigma,
                     sx_dcos_fit *truth, sx_dcos_fit *fit) {
    double t[MOST], best = INFINITY;
    sx_dcos_options options = {.fixed_modes = c->demanded, .modes = c->modes};
    sx_dcos_plan *plan;
    fill_delays(c, t);
    for (int64_t p = 0; p < pixels; p++) {
        fill_trace(c, t, (uint64_t)p, &truth[p], y + p * c->nt, sigma + p * c->nt);
    }
    sx_status status = sx_dcos_plan_create(c->nt, t, &options, &plan);
    for (int round = 0; status == SX_OK && round < ROUNDS; round++) {
        double start = processor_seconds();
        status = sx_dcos_fit_tile(plan, pixels, y, c->sigma == UNKNOWN ? NULL : sigma, NULL,
                                  c->warm ? truth : NULL, fit);
        best = fmin(best, processor_seconds() - start);
    }
    sx_dcos_plan_destroy(&plan);
    if (status == SX_OK) {
        print_line(c, pixels, best, fit);
    }
    return status;
}

int main(int argc, char **argv) {
    int64_t pixels = argc > 1 ? strtoll(argv[1], NULL, 10) : 2000;
    if (pixels < 1 || pixels > 1000000) {
        fprintf(stderr, "bench_dcos: '%s' is no number of pixels from 1 to 1000000\n", argv[1]);
        return 2;
    }
    size_t samples = (size_t)pixels * MOST;
    double *y = malloc(samples * sizeof *y), *sigma = malloc(samples * sizeof *sigma);
    sx_dcos_fit *truth = malloc((size_t)pixels * sizeof *truth);
    sx_dcos_fit *fit = malloc((size_t)pixels * sizeof *fit);
    sx_status status = y && sigma && truth && fit ? SX_OK : SX_ERR_MEMORY;
    for (size_t i = 0; status == SX_OK && i < sizeof CASES / sizeof *CASES; i++) {
        status = run(&CASES[i], pixels, y, sigma, truth, fit);
    }
    if (status != SX_OK) {
        fprintf(stderr, "bench_dcos: %s\n", sx_error_message());
    }
    free(y);
    free(sigma);
    free(truth);
    free(fit);
    return status != SX_OK;
}
