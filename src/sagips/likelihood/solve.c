/* SPDX-License-Identifier: Apache-2.0
 * Fisher scoring with damping, each parameter within its range. */
#include "sagips/likelihood/solve.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "sagips/likelihood/fisher.h"

enum {
    STARTS = 8,           /* the middle of the ranges, and random ones */
    START_EVENTS = 20000, /* which of them is best is decided with so many */
    START_ITERATIONS = 30
};

/* To the minimum, in units of minus log likelihood: 0.14 % of one sigma. Rounding of a sum over 10^8
 * events is less. */
static const double CLOSE = 1e-6;

typedef struct solver {
    sxi_likelihood *likelihood;
    int n;
    double q[SX_THEORY_PARAMETERS], value, slope[SX_THEORY_PARAMETERS];
    double matrix[SX_THEORY_PARAMETERS * SX_THEORY_PARAMETERS];
    bool is_free[SX_THEORY_PARAMETERS];
    double damping, distance;
    sxi_fisher fisher;
    sxi_history *history;
} solver;

static sx_status look(solver *s) {
    SXI_TRY(sxi_likelihood_information(s->likelihood, s->q, s->matrix));
    for (int j = 0; j < s->n; j++) {
        s->is_free[j] = !(s->q[j] <= 0 && s->slope[j] > 0) && !(s->q[j] >= 1 && s->slope[j] < 0);
    }
    return sxi_fisher_create(s->n, s->matrix, s->is_free, &s->fisher);
}

static void remember(solver *s) {
    sxi_history *h = s->history;
    if (h && h->count <= SXI_LIKELIHOOD_ITERATIONS) {
        h->value[h->count] = s->value;
        h->distance[h->count] = s->distance;
        memcpy(h->parameters + h->count * s->n, s->q, (size_t)s->n * sizeof(double));
        h->count++;
    }
}

/* Takes a step that does not go up; false where even a tiny one does. */
static sx_status descend(solver *s, bool *moved) {
    *moved = false;
    while (s->damping <= 1e10) {
        double step[SX_THEORY_PARAMETERS], q[SX_THEORY_PARAMETERS], slope[SX_THEORY_PARAMETERS];
        double value;
        sxi_fisher_step(&s->fisher, s->slope, s->damping, step);
        for (int j = 0; j < s->n; j++) {
            q[j] = fmin(fmax(s->q[j] + step[j], 0), 1);
        }
        SXI_TRY(sxi_likelihood_value(s->likelihood, q, &value, slope));
        if (value <= s->value) {
            memcpy(s->q, q, sizeof q);
            memcpy(s->slope, slope, sizeof slope);
            s->value = value;
            s->damping = s->damping > 1e-4 ? s->damping / 10 : 0;
            *moved = true;
            return SX_OK;
        }
        s->damping = fmax(1e-3, s->damping * 10);
    }
    return SX_OK;
}

static sx_status minimise(solver *s, int most, int *iterations) {
    double step[SX_THEORY_PARAMETERS];
    s->damping = 1e-3;
    SXI_TRY(sxi_likelihood_value(s->likelihood, s->q, &s->value, s->slope));
    for (*iterations = 0;; ++*iterations) {
        SXI_TRY(look(s));
        s->distance = sxi_fisher_step(&s->fisher, s->slope, 0, step);
        remember(s);
        if (s->distance < CLOSE || *iterations == most) {
            return SX_OK;
        }
        bool moved;
        sx_progress(s->likelihood->context, "iterations", *iterations + 1, 0);
        SXI_TRY(descend(s, &moved));
        if (!moved) {
            return SX_OK;
        }
    }
}

static void start_at(solver *s, sxi_likelihood *likelihood, int start) {
    *s = (solver){.likelihood = likelihood, .n = likelihood->source->theory->parameters};
    for (int j = 0; j < s->n; j++) {
        s->q[j] = start ? sxi_rng_uniform(1, (uint32_t)j, (uint64_t)start) : 0.5;
    }
}

/* The best of several minima of the first events. */
static sx_status search(const sxi_event_source *source, bool use_norms, const sx_context *context,
                        double *q) {
    sx_status status = SX_OK;
    sxi_likelihood few;
    double best = (double)INFINITY;
    SXI_TRY(sxi_likelihood_create(source, use_norms, START_EVENTS, context, &few));
    for (int i = 0; i < STARTS; i++) {
        solver s;
        int iterations;
        start_at(&s, &few, i);
        SXI_GO(minimise(&s, START_ITERATIONS, &iterations));
        if (s.value < best) {
            best = s.value;
            memcpy(q, s.q, sizeof s.q);
        }
    }
    if (!isfinite(best)) {
        status = SXI_FAIL(SX_ERR_NUMERIC, "no start gives every event a density above zero");
    }
out:
    sxi_likelihood_destroy(&few);
    return status;
}

static void conclude(const solver *s, sx_solution *solution) {
    solution->state = SX_SOLUTION_OK;
    sxi_fisher_covariance(&s->fisher, solution->covariance);
    solution->null_count = sxi_fisher_null(&s->fisher, solution->null_directions);
    for (int j = 0; j < s->n; j++) {
        solution->parameters[j] = s->q[j];
        solution->errors[j] = sqrt(solution->covariance[j * s->n + j]);
        if (!s->is_free[j]) {
            solution->state = SX_SOLUTION_AT_BOUND;
        }
    }
    if (!(s->distance < CLOSE)) {
        solution->state = SX_SOLUTION_NOT_CONVERGED;
    }
    solution->value = s->value;
    solution->distance = s->distance;
    solution->events = s->likelihood->events;
    for (int k = 0; k < s->likelihood->source->theory->channels; k++) {
        solution->outside += s->likelihood->outside[k];
    }
}

sx_status sxi_likelihood_solve(const sxi_event_source *source, bool use_norms,
                               const sx_context *context, sx_solution *solution,
                               sxi_history *history) {
    sx_status status = SX_OK;
    sxi_likelihood all;
    solver s;
    sx_solution found = {.theory = source->theory};
    SXI_TRY(sxi_likelihood_create(source, use_norms, 0, context, &all));
    start_at(&s, &all, 0);
    s.history = history;
    SXI_GO(search(source, use_norms, context, s.q));
    SXI_GO(minimise(&s, SXI_LIKELIHOOD_ITERATIONS, &found.iterations));
    conclude(&s, &found);
    *solution = found;
out:
    sxi_likelihood_destroy(&all);
    return status;
}

sx_status sx_sagips_likelihood(const sx_theory *theory, const sx_array *events, const double *norms,
                               const sx_likelihood_options *options, sx_solution *solution) {
    const sx_likelihood_options o = options ? *options : (sx_likelihood_options){0};
    sxi_event_source source;
    SXI_TRY(sxi_events_view(events, theory, &source));
    source.has_norms = norms != NULL;
    if (norms) {
        memcpy(source.norms, norms, (size_t)theory->channels * sizeof *norms);
    }
    return sxi_likelihood_solve(&source, !o.no_norms, o.context, solution, NULL);
}

const char *sx_solution_state_name(sx_solution_state state) {
    static const char *const names[] = {"ok", "at_bound", "not_converged"};
    return names[state];
}
