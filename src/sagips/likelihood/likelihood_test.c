/* SPDX-License-Identifier: Apache-2.0
 * Maximum likelihood: Cramer-Rao, pulls, null directions, bounds, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/sagips.h>

#include "sagips/events/draw.h"
#include "sagips/likelihood/fisher.h"
#include "sagips/likelihood/likelihood.h"
#include "sx_check.h"

static const double TRUTH[] = {2.1875, -0.5, 3, 1.09375, -0.5, 4};

static sx_array draw(const sx_theory *theory, const double *p, uint64_t seed, int64_t n) {
    const int64_t shape[2] = {n, theory->observables};
    sxi_drawer *drawer;
    sx_array events;
    ck_ok(sx_array_create(SX_F32, 2, shape, &events));
    ck_ok(sxi_drawer_create(theory, p, seed, &drawer));
    for (int64_t i = 0; i < n; i++) {
        double event[SX_THEORY_COLUMNS];
        sxi_drawer_event(drawer, i, event);
        for (int c = 0; c < theory->observables; c++) {
            ((float *)events.data)[i * theory->observables + c] = (float)event[c];
        }
    }
    sxi_drawer_destroy(&drawer);
    return events;
}

static sx_solution solve(const sx_theory *theory, const double *p, uint64_t seed, int64_t n,
                         bool no_norms, int threads) {
    const sx_context context = {.threads = threads};
    const sx_likelihood_options options = {no_norms, &context};
    double norms[SX_THEORY_CHANNELS];
    sx_solution solution;
    sx_array events = draw(theory, p, seed, n);
    ck_ok(sx_theory_norms(theory, p, norms, NULL));
    ck_ok(sx_sagips_likelihood(theory, &events, no_norms ? NULL : norms, &options, &solution));
    sx_array_destroy(&events);
    return solution;
}

static double normal(const sx_theory *theory, const double *p, int j) {
    const sx_parameter *about = theory->parameter + j;
    return (p[j] - about->least) / (about->most - about->least);
}

/* A likelihood of proxy1d events and its norms; destroyed with its events. */
static void open_likelihood(int64_t n, sx_array *events, sxi_event_source *source,
                            sxi_likelihood *l) {
    const sx_theory *theory;
    ck_ok(sx_theory_find("proxy1d", &theory));
    *events = draw(theory, TRUTH, 9, n);
    ck_ok(sxi_events_view(events, theory, source));
    ck_ok(sx_theory_norms(theory, TRUTH, source->norms, NULL));
    source->has_norms = true;
    ck_ok(sxi_likelihood_create(source, true, 0, NULL, l));
}

/* The published bounds of proxy1d for 10^5 events, three digits, where norms are known exactly: counting
 * them as data, too, changes less than 1 %. */
START_TEST(cramer_rao) {
    static const double bound[] = {.0272, .0087, .0077, .0308, .0183, .0205};
    const bool all[] = {true, true, true, true, true, true};
    sx_array events;
    sxi_event_source source;
    sxi_likelihood l;
    sxi_fisher fisher;
    double q[6], matrix[36], covariance[36];
    open_likelihood(100000, &events, &source, &l);
    for (int j = 0; j < 6; j++) {
        q[j] = normal(source.theory, TRUTH, j);
    }
    ck_ok(sxi_likelihood_information(&l, q, matrix));
    ck_ok(sxi_fisher_create(6, matrix, all, &fisher));
    sxi_fisher_covariance(&fisher, covariance);
    for (int j = 0; j < 6; j++) {
        ck_near(sqrt(covariance[j * 7]), bound[j], 0.01, 0);
    }
    sxi_likelihood_destroy(&l);
    sx_array_destroy(&events);
}
END_TEST

/* Mean 0 and width 1, each within 4 of its own standard deviations; bench/sagips_likelihood.py has more. */
static void check_pulls(const char *name, const double *p, int64_t events, int replicas) {
    const sx_theory *theory;
    double sum[SX_THEORY_PARAMETERS] = {0}, square[SX_THEORY_PARAMETERS] = {0};
    ck_ok(sx_theory_find(name, &theory));
    for (int i = 0; i < replicas; i++) {
        const sx_solution s = solve(theory, p, 100 + (uint64_t)i, events, false, 0);
        ck_assert_int_eq(s.state, SX_SOLUTION_OK);
        for (int j = 0; j < theory->parameters; j++) {
            const double pull = (s.parameters[j] - normal(theory, p, j)) / s.errors[j];
            sum[j] += pull;
            square[j] += pull * pull;
        }
    }
    for (int j = 0; j < theory->parameters; j++) {
        const double mean = sum[j] / replicas, width = sqrt(square[j] / replicas - mean * mean);
        ck_near(mean, 0, 0, 4 / sqrt(replicas));
        ck_near(width, 1, 0, 4 / sqrt(2.0 * replicas));
    }
}

START_TEST(pulls_of_proxy1d) { check_pulls("proxy1d", TRUTH, 20000, 8); }
END_TEST

START_TEST(pulls_of_others) {
    const double plane[] = {0.3, 3.3, 0.5, 3.5, 0.75}, lifetime[] = {2.197, 0.8};
    check_pulls("proxy2d", plane, 20000, 3);
    check_pulls("lifetime", lifetime, 2000, 20);
}
END_TEST

/* Without norms nobody can tell (p0, p3) from a multiple of it. In normalised units that is their own
 * direction, here at three truths. */
START_TEST(null_direction) {
    static const double scale[3][2] = {{2.1875, 1.09375}, {1, 2}, {2.5, 2.5}};
    const sx_theory *theory;
    ck_ok(sx_theory_find("proxy1d", &theory));
    for (int i = 0; i < 3; i++) {
        double p[6];
        memcpy(p, TRUTH, sizeof p);
        p[0] = scale[i][0];
        p[3] = scale[i][1];
        const sx_solution s = solve(theory, p, 5, 40000, true, 0);
        ck_assert_int_eq(s.null_count, 1);
        ck_assert(isnan(s.errors[0]) && isnan(s.errors[3]));
        /* The direction at the solution, whose ratio is measured within some 15 %. */
        const double *v = s.null_directions, *q = s.parameters;
        ck_near(v[0] / v[3], q[0] / q[3], 1e-6, 0);
        ck_near(v[0] / v[3], p[0] / p[3], 0.5, 0);
        const int others[] = {1, 2, 4, 5};
        for (int k = 0; k < 4; k++) {
            ck_near(v[others[k]], 0, 0, 1e-6);
            ck_assert(s.errors[others[k]] > 0);
            ck_near(q[others[k]], normal(theory, p, others[k]), 0, 5 * s.errors[others[k]]);
        }
    }
}
END_TEST

/* The Fisher matrix is the mean curvature: slopes at two sides of the truth differ by it. */
START_TEST(information_is_curvature) {
    sx_array events;
    sxi_event_source source;
    sxi_likelihood l;
    double q[6], matrix[36], value, up[6], down[6];
    open_likelihood(100000, &events, &source, &l);
    for (int j = 0; j < 6; j++) {
        q[j] = normal(source.theory, TRUTH, j);
    }
    ck_ok(sxi_likelihood_information(&l, q, matrix));
    for (int j = 0; j < 6; j++) {
        double moved[6];
        memcpy(moved, q, sizeof q);
        moved[j] = q[j] + 1e-4;
        ck_ok(sxi_likelihood_value(&l, moved, &value, up));
        moved[j] = q[j] - 1e-4;
        ck_ok(sxi_likelihood_value(&l, moved, &value, down));
        ck_near((up[j] - down[j]) / 2e-4, matrix[j * 6 + j], 0.04,
                0); /* the scatter of 10^5 events */
    }
    sxi_likelihood_destroy(&l);
    sx_array_destroy(&events);
}
END_TEST

START_TEST(same_bits) {
    const sx_theory *theory;
    ck_ok(sx_theory_find("proxy1d", &theory));
    const sx_solution one = solve(theory, TRUTH, 4, 6000, false, 1);
    const sx_solution two = solve(theory, TRUTH, 4, 6000, false, 2);
    ck_assert(memcmp(one.parameters, two.parameters, 6 * sizeof(double)) == 0);
    ck_assert(memcmp(one.covariance, two.covariance, 36 * sizeof(double)) == 0);
}
END_TEST

/* No d at all: its powers mean nothing, and its scale lies at the end of its range or near it. */
START_TEST(at_the_end) {
    const sx_theory *theory;
    const double p[] = {2, 1};
    ck_ok(sx_theory_find("lifetime", &theory));
    int ended = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const sx_solution s = solve(theory, p, seed, 2000, false, 0);
        ck_assert(s.state == SX_SOLUTION_OK || s.state == SX_SOLUTION_AT_BOUND);
        if (s.state == SX_SOLUTION_AT_BOUND) {
            ended++;
            ck_near(s.parameters[1], 1, 0, 0);
            ck_assert(isnan(s.errors[1]) && s.errors[0] > 0);
        }
    }
    ck_assert_int_ge(ended, 1);
}
END_TEST

START_TEST(outside_is_left_out) {
    const sx_theory *theory;
    sx_solution clean, dirty;
    const double norms[] = {1};
    ck_ok(sx_theory_find("lifetime", &theory));
    sx_array events = draw(theory, (double[]){2, 0.7}, 1, 1000);
    sx_array few = events;
    few.shape[0] = 990;
    ck_ok(sx_sagips_likelihood(theory, &few, norms, NULL, &clean));
    float *last = (float *)events.data + 990;
    for (int i = 0; i < 10; i++) {
        last[i] = i % 2 ? NAN : 11;
    }
    ck_ok(sx_sagips_likelihood(theory, &events, norms, NULL, &dirty));
    ck_assert_int_eq(dirty.outside, 10);
    ck_near(dirty.parameters[0], clean.parameters[0], 1e-12, 0);
    for (int i = 0; i < 1000; i++) {
        ((float *)events.data)[i] = NAN;
    }
    ck_fails(sx_sagips_likelihood(theory, &events, norms, NULL, &dirty), SX_ERR_RANGE,
             "none of 1000 events");
    ck_fails(sx_sagips_likelihood(theory, &events, NULL, NULL, &dirty), SX_ERR_MISSING,
             "--no-norms");
    events.dtype = SX_I32;
    ck_fails(sx_sagips_likelihood(theory, &events, norms, NULL, &dirty), SX_ERR_TYPE, "float32");
    events.dtype = SX_F32;
    sx_array_destroy(&events);
}
END_TEST

/* A parameter that is held and one of which nothing is known do not mix. */
START_TEST(fisher_of_three) {
    const double matrix[] = {4, 0, 0, 0, 0, 0, 0, 0, 9};
    const bool is_free[] = {true, true, false};
    double covariance[9], null[9], step[3];
    sxi_fisher f;
    ck_ok(sxi_fisher_create(3, matrix, is_free, &f));
    sxi_fisher_covariance(&f, covariance);
    ck_near(covariance[0], 0.25, 1e-12, 0);
    ck_assert(isnan(covariance[4]) && isnan(covariance[8]));
    ck_assert_int_eq(sxi_fisher_null(&f, null), 1);
    ck_near(fabs(null[1]), 1, 1e-12, 0);
    ck_near(sxi_fisher_step(&f, (double[]){2, 5, 7}, 0, step), 0.5, 1e-12, 0);
    ck_near(step[0], -0.5, 1e-12, 0);
    ck_near(step[1], 0, 0, 1e-12);
    ck_near(step[2], 0, 0, 0);
}
END_TEST

SX_TEST_MAIN("likelihood", cramer_rao, pulls_of_proxy1d, pulls_of_others, null_direction,
             information_is_curvature, same_bits, at_the_end, outside_is_left_out, fisher_of_three)
