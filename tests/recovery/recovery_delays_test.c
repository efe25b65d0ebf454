/* SPDX-License-Identifier: Apache-2.0
 * Delays, masks and sigmas as they come: short and long scans, logarithmic, clustered, with gaps,
 * stored in single precision. */
#include "population.h"

enum { COUNT = 1000 };

/* Demanded modes reach the minimum next to the truth, clear ones are true, noise stays silent. Of
 * 1,000 pixels 1 % may miss it (0.5 % on the two grids of ten thousand), 1 % may lie (0.25 % on
 * clustered delays and on 20 samples, where a short mode is seen by few samples; six seeds), 1 % of
 * noise may report a mode. */
static void holds(const char *name, uint64_t seed, population *p) {
    static sx_dcos_fit fit[COUNT];
    int modes = 0;
    sx_dcos_options options = {.fixed_modes = true, .modes = 1};
    sx_fit_traces(&options, p->nt, p->t, p->count, p->y, p->sigma, fit);
    score s = judge_fits(p, fit);
    score_print(name, p, &s);
    for (int64_t i = 0; i < p->count; i++) {
        p->truth[i].tones = 0;
    }
    population_fill(seed, p);
    sx_fit_traces(NULL, p->nt, p->t, p->count, p->y, p->sigma, fit);
    for (int64_t i = 0; i < p->count; i++) {
        modes += fit[i].modes > 0;
    }
    printf("    noise: %.1f %% report a mode\n", 100.0 * modes / COUNT);
    ck_assert_int_ge(s.reached, COUNT * 99 / 100);
    ck_assert_int_le(s.lying, COUNT / 100);
    ck_assert_int_le(modes, COUNT / 100);
}

/* A short scan of a damped mode may be fitted best beyond the box: at or beyond Nyquist, slower
 * than half a cycle, gone within a sample. The judge stays inside as the fit does. */
static double box(population *p) {
    sx_dcos_plan *plan;
    double low, high, span = p->t[p->nt - 1] - p->t[0];
    ck_ok(sx_dcos_plan_create(p->nt, p->t, NULL, &plan));
    sx_dcos_plan_window(plan, &low, &high);
    sx_dcos_plan_destroy(&plan);
    p->lower[1] = low;
    p->upper[1] = high - 0.1 / span;
    p->lower[3] = -3 / span;
    p->upper[3] = 4 * high;
    return high;
}

/* Fills and judges traces on the delays that p holds, with frequencies well inside the window. */
static void on_delays(const char *name, uint64_t seed, population *p) {
    population_draw_modes(seed, fmin(5, 0.9 * box(p)), p);
    population_fill(seed, p);
    holds(name, seed, p);
    population_destroy(p);
}

START_TEST(short_and_long_scans) {
    uint64_t seed = sx_seed(401);
    const int64_t lengths[] = {20, 30, 50, 100, 300};
    for (int i = 0; i < 5; i++) {
        char name[32];
        population p;
        population_create(lengths[i], COUNT, &p);
        snprintf(name, sizeof name, "even, T %lld", (long long)lengths[i]);
        on_delays(name, seed, &p);
    }
}
END_TEST

START_TEST(uneven_scans) {
    uint64_t seed = sx_seed(402);
    population p;
    population_create(150, COUNT, &p);
    for (int i = 0; i < 150; i++) {
        p.t[i] = 0.03 * pow(10 / 0.03, i / 149.0);
    }
    on_delays("logarithmic", seed, &p);
    population_create(150, COUNT, &p);
    for (int i = 0; i < 150; i++) {
        p.t[i] = 2.2 * (i / 30) + 0.035 * (i % 30);
    }
    on_delays("clustered", seed, &p);
    population_create(150, COUNT, &p);
    for (int i = 0; i < 150; i++) {
        p.t[i] = i < 60 ? 0.05 * i : 5.5 + 0.05 * (i - 60);
    }
    on_delays("gap", seed, &p);
    population_create(190, COUNT, &p);
    for (int i = 0; i < 190; i++) {
        p.t[i] = 0.05 * (i + i / 19);
    }
    on_delays("missing bins", seed, &p);
    population_create(200, COUNT, &p);
    for (int i = 0; i < 200; i++) {
        p.t[i] = (double)(0.05F * (float)i);
    }
    on_delays("single precision", seed, &p);
}
END_TEST

START_TEST(masks_and_sigmas) {
    uint64_t seed = sx_seed(403);
    population p;
    population_create(200, COUNT, &p);
    p.masked = 0.2;
    on_delays("masks of their own", seed, &p);
    population_create(200, COUNT, &p);
    for (int i = 0; i < 200; i++) {
        p.profile[i] = 0.3 * pow(10, i / 199.0);
    }
    on_delays("sigma grows tenfold", seed, &p);
    population_create(200, COUNT, &p);
    for (int i = 0; i < 200; i++) {
        p.profile[i] = 0.3 * pow(10, sxi_rng_uniform(seed, 21, (uint64_t)i));
    }
    on_delays("sigma jumps tenfold", seed, &p);
}
END_TEST

SX_TEST_MAIN("recovery_delays", short_and_long_scans, uneven_scans, masks_and_sigmas)
