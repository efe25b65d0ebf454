/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/lm_batch.h"

#include <string.h>

#include "base/rng.h"
#include "numer/lm_nist.h"
#include "sx_check.h"

enum { P = SX_LM_MAX_PARAMETERS };

static double uniform(uint32_t stream, int64_t i, double low, double high) {
    return low + (high - low) * sxi_rng_uniform(41, stream, (uint64_t)i);
}

/* Kernels that give up at once: every trace goes to the exact core. */
static void no_sums(int64_t n, const double *x, const double *y, const double *w,
                    sxi_lm_bundle *bundle) {
    (void)n, (void)x, (void)y, (void)w, (void)bundle;
}

static void no_step(const sxi_lm_box *box, sxi_lm_bundle *bundle) {
    (void)box;
    bundle->failed |= bundle->running;
    bundle->running = 0;
}

static sxi_lm_kernels exact_only(void) {
    sxi_lm_kernels kernels = {.name = "exact"};
    for (int i = 0; i < SXI_MODELS; i++) {
        kernels.sums[i] = no_sums;
    }
    for (int i = 0; i < P; i++) {
        kernels.step[i] = no_step;
    }
    return kernels;
}

/* --- models --- */

/* Derivatives against central differences at points where every model is harmless: a step of 1e-5
 * leaves 1e-10 of curvature and 1e-11 of rounding. */
START_TEST(derivatives_are_differences) {
    const sx_lm_model *model;
    for (int number = 0; (model = sx_lm_model_get(number)); number++) {
        ck_assert(model->parameters <= P && model->inputs <= SXI_MODEL_MOST_INPUTS);
        for (int i = 0; i < 200; i++) {
            double b[P], x[SXI_MODEL_MOST_INPUTS], d[P], scratch[P];
            for (int j = 0; j < P; j++) {
                b[j] = uniform(1, i * P + j, 0.3, 2);
            }
            for (int k = 0; k < SXI_MODEL_MOST_INPUTS; k++) {
                x[k] = uniform(2, i * 2 + k, 0.1, 3);
            }
            sxi_model_value((enum sxi_model)number, x, b, d);
            for (int j = 0; j < model->parameters; j++) {
                const double was = b[j], h = 1e-5;
                b[j] = was + h;
                const double above = sxi_model_value((enum sxi_model)number, x, b, scratch);
                b[j] = was - h;
                const double below = sxi_model_value((enum sxi_model)number, x, b, scratch);
                b[j] = was;
                const double slope = (above - below) / (2 * h);
                ck_assert_msg(fabs(d[j] - slope) <= 1e-7 * (1 + fabs(slope)),
                              "%s: derivative %d is %g, differences give %g", model->name, j + 1,
                              d[j], slope);
            }
        }
    }
}
END_TEST

/* --- NIST --- */

/* Which problems a model covers; parameter j of ours is factor times number `theirs` of NIST's. */
typedef struct nist_case {
    const char *problem, *model;
    int theirs[P];
    double factor[P];
} nist_case;

#define ROOT_HALF 0.70710678118654752440
static const nist_case NIST[] = {
    {"Chwirut1", "chwirut", {0, 1, 2}, {1, 1, 1}},
    {"Chwirut2", "chwirut", {0, 1, 2}, {1, 1, 1}},
    {"Gauss1", "two_peaks", {0, 1, 2, 3, 4, 5, 6, 7}, {1, 1, 1, 1, ROOT_HALF, 1, 1, ROOT_HALF}},
    {"Gauss2", "two_peaks", {0, 1, 2, 3, 4, 5, 6, 7}, {1, 1, 1, 1, ROOT_HALF, 1, 1, ROOT_HALF}},
    {"Kirby2", "rational_2", {0, 1, 2, 3, 4}, {1, 1, 1, 1, 1}},
    {"Lanczos1", "three_decays", {0, 1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 1}},
    {"Lanczos2", "three_decays", {0, 1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 1}},
    {"Lanczos3", "three_decays", {0, 1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 1}},
    {"MGH09", "mgh09", {0, 1, 2, 3}, {1, 1, 1, 1}},
    {"MGH10", "vogel", {0, 1, 2}, {1, 1, 1}},
    {"MGH17", "two_decays", {1, 3, 2, 4, 0}, {1, 1, 1, 1, 1}},
    {"Misra1a", "rise", {0, 1}, {1, 1}},
    {"Misra1b", "misra1b", {0, 1}, {1, 1}},
    {"Misra1c", "misra1c", {0, 1}, {1, 1}},
    {"Misra1d", "langmuir", {0, 1}, {1, 1}},
    {"BoxBOD", "rise", {0, 1}, {1, 1}},
    {"Nelson", "nelson", {0, 1, 2}, {1, 1, 1}},
    {"Rat42", "logistic", {0, 1, 2}, {1, 1, 1}},
    {"Thurber", "rational_3", {0, 1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1, 1}},
};

/* NULL, said by sx_data, where its file is not here. */
static nist_problem *find_problem(const char *name) {
    nist_problem *problem;
    for (int i = 0; (problem = nist_builtin_problem(i)); i++) {
        if (strcmp(problem->name, name) == 0) {
            return problem;
        }
    }
    for (int i = 0; (problem = nist_file_problem(i)); i++) {
        char file[64];
        snprintf(file, sizeof file, "nist/%s.dat", name);
        const char *path = strcmp(problem->name, name) == 0 ? sx_data(file) : NULL;
        if (path) {
            ck_assert_msg(nist_read(path, problem), "%s is not as expected", path);
            return problem;
        }
    }
    return NULL;
}

static double digits(double x, double certified) {
    const double error = fabs(x - certified) / fabs(certified);
    return error > 1e-11 ? -log10(error) : error <= 1e-11 ? 11.0 : 0.0;
}

enum { BATCH = 64 };

typedef struct nist_batch {
    double x[NIST_MAX_POINTS * 2], y[BATCH][NIST_MAX_POINTS], start[BATCH * P];
    sx_lm_fit fit[BATCH], judge[BATCH];
} nist_batch;

static void fill_nist(const nist_case *c, const nist_problem *problem, int which, nist_batch *n) {
    double *y = &n->y[0][0];
    for (int i = 0; i < problem->m; i++) {
        for (int k = 0; k < problem->predictors; k++) {
            n->x[i * problem->predictors + k] = problem->x[i][k];
        }
    }
    for (int t = 0; t < BATCH; t++) {
        memcpy(y + t * problem->m, problem->y, (size_t)problem->m * sizeof *y);
        for (int j = 0; j < problem->n; j++) {
            n->start[t * problem->n + j] = c->factor[j] * problem->start[which][c->theirs[j]] *
                                           (t == 0 ? 1 : uniform(3, t * P + j, 0.95, 1.05));
        }
    }
}

static double digits_of(const nist_case *c, const nist_problem *problem, const sx_lm_fit *fit) {
    double least = 11;
    for (int j = 0; j < problem->n; j++) {
        least = fmin(least, digits(fit->b[j], c->factor[j] * problem->value[c->theirs[j]]));
    }
    return least;
}

typedef struct nist_score {
    int reached, core, refitted; /* traces at the certified minimum; those of the exact core */
    double least;                /* digits of those */
    double evaluations;
} nist_score;

/* Perturbed starts may lead to other minima (permuted exponentials, MGH09 at infinity); at the
 * certified one nine digits are asked for. NIST's own start has to get there. */
static nist_score score_nist(const nist_case *c, const nist_problem *problem, const nist_batch *n) {
    nist_score s = {.least = 11};
    for (int t = 0; t < BATCH; t++) {
        const double mine = digits_of(c, problem, &n->fit[t]);
        ck_assert_msg(t > 0 || mine >= 9, "%s: %g digits from NIST's start", problem->name, mine);
        ck_assert_msg(mine < 4 || n->fit[t].state == SX_LM_TRACE_OK, "%s: state %d", problem->name,
                      n->fit[t].state);
        s.refitted += n->fit[t].exact;
        s.evaluations += (double)n->fit[t].evaluations / BATCH;
        s.reached += mine >= 4;
        s.core += digits_of(c, problem, &n->judge[t]) >= 4;
        s.least = fmin(s.least, mine >= 4 ? mine : 11);
    }
    return s;
}

START_TEST(nist_problems_in_batches) {
    static nist_batch n;
    const sxi_lm_kernels exact = exact_only();
    for (size_t i = 0; i < sizeof NIST / sizeof *NIST; i++) {
        nist_problem *problem = find_problem(NIST[i].problem);
        for (int which = 0; problem && which < 2; which++) {
            fill_nist(&NIST[i], problem, which, &n);
            sx_lm_batch batch = {.model = NIST[i].model,
                                 .n = problem->m,
                                 .x = n.x,
                                 .traces = BATCH,
                                 .y = &n.y[0][0],
                                 .start = n.start};
            ck_ok(sx_lm_batch_run(&batch, n.fit, NULL));
            ck_ok(sxi_lm_batch_run(&exact, &batch, n.judge, NULL));
            const nist_score s = score_nist(&NIST[i], problem, &n);
            printf("%-9s start %d: %2d of %d (exact core %2d), %2d refitted, digits %4.1f, "
                   "%5.1f evaluations\n",
                   problem->name, which + 1, s.reached, BATCH, s.core, s.refitted, s.least,
                   s.evaluations);
            ck_assert_msg(s.least >= 9, "%s: %g digits", problem->name, s.least);
            /* one may fall on either side of a watershed */
            ck_assert_int_ge(s.reached, s.core - 1);
        }
    }
}
END_TEST

/* --- simulated traces --- */

typedef struct simulation {
    sx_lm_batch batch;
    int p;
    double *x, *y, *sigma, *truth, *start;
    sx_lm_fit *fit, *judge;
    double *covariance, *judged; /* of fit and judge */
} simulation;

static const double NOISE = 0.05;

/* The middle of the truth, and the step of x, of a few models. */
typedef struct scene {
    const char *model;
    double step;
    double b[P];
} scene;

static const scene SCENES[] = {
    {"decay", 0.1, {1, 0.5, 0.2}},
    {"two_decays", 0.1, {1, 2, 0.7, 0.3, 0.2}},
    {"peak", 0.1, {1, 5, 1, 0.2}},
    {"two_peaks", 0.2, {1, 0.1, 2, 6, 1.5, 1.5, 14, 2}},
};
enum { ALL_SCENES = sizeof SCENES / sizeof *SCENES };

/* Traces of n samples, truth and start within a tenth of the middle of the scene. */
static void simulate(const scene *middle, int n, int64_t traces, simulation *s) {
    int number = 0;
    while (strcmp(sx_lm_model_get(number)->name, middle->model) != 0) {
        number++;
    }
    const int p = s->p = sx_lm_model_get(number)->parameters;
    const size_t samples = (size_t)(traces * n), parameters = (size_t)(traces * p);
    s->x = malloc((size_t)n * sizeof *s->x);
    s->y = malloc(samples * sizeof *s->y);
    s->sigma = malloc(samples * sizeof *s->sigma);
    s->truth = malloc(parameters * sizeof *s->truth);
    s->start = malloc(parameters * sizeof *s->start);
    s->fit = malloc((size_t)traces * sizeof *s->fit);
    s->judge = malloc((size_t)traces * sizeof *s->judge);
    s->covariance = malloc(parameters * (size_t)p * sizeof *s->covariance);
    s->judged = malloc(parameters * (size_t)p * sizeof *s->judged);
    for (int i = 0; i < n; i++) {
        s->x[i] = i * middle->step;
    }
    for (int64_t t = 0; t < traces; t++) {
        double *truth = s->truth + t * p, d[P];
        for (int j = 0; j < p; j++) {
            truth[j] = middle->b[j] * uniform(10, t * P + j, 0.9, 1.1);
            s->start[t * p + j] = middle->b[j] * uniform(11, t * P + j, 0.9, 1.1);
        }
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = t * n + i;
            s->sigma[at] = NOISE * uniform(12, at, 0.5, 1.5);
            s->y[at] = sxi_model_value((enum sxi_model)number, s->x + i, truth, d) +
                       s->sigma[at] * sxi_rng_normal(41, 13, (uint64_t)at);
        }
    }
    s->batch = (sx_lm_batch){.model = middle->model,
                             .n = n,
                             .x = s->x,
                             .traces = traces,
                             .y = s->y,
                             .sigma = s->sigma,
                             .start = s->start,
                             .absolute_sigma = true};
}

static void simulation_free(simulation *s) {
    free(s->x);
    free(s->y);
    free(s->sigma);
    free(s->truth);
    free(s->start);
    free(s->fit);
    free(s->judge);
    free(s->covariance);
    free(s->judged);
}

/* The bound: 1e-6 of a value. Both stop within 1e-8 of an error, and errors are below 100
 * times their parameters here. */
static void same_fit(const simulation *s, int64_t t) {
    const sx_lm_fit *a = &s->fit[t], *b = &s->judge[t];
    ck_assert_int_eq(a->state, b->state);
    ck_assert_int_eq(a->used, b->used);
    ck_near(a->chi2, b->chi2, 1e-10, 0);
    const bool minimum = b->state == SX_LM_TRACE_OK || b->state == SX_LM_TRACE_AT_BOUND;
    for (int j = 0; minimum && j < s->p; j++) {
        ck_near(a->b[j], b->b[j], 1e-6, 1e-7 * b->error[j]);
        ck_near(a->error[j], b->error[j], 1e-6, 0);
        for (int k = 0; k < s->p; k++) {
            const int64_t at = (t * s->p + j) * s->p + k;
            ck_near(s->covariance[at], s->judged[at], 0, 1e-6 * b->error[j] * b->error[k]);
        }
    }
    for (int j = s->p; j < P; j++) {
        ck_assert(isnan(a->b[j]) && isnan(a->error[j]));
    }
}

/* Fits by both; returns how many traces the lanes gave up. */
static int run_both(simulation *s) {
    const sxi_lm_kernels exact = exact_only();
    int refitted = 0;
    ck_ok(sx_lm_batch_run(&s->batch, s->fit, s->covariance));
    ck_ok(sxi_lm_batch_run(&exact, &s->batch, s->judge, s->judged));
    for (int64_t t = 0; t < s->batch.traces; t++) {
        refitted += s->fit[t].exact;
        ck_assert(s->judge[t].exact || s->judge[t].state != SX_LM_TRACE_OK);
    }
    return refitted;
}

START_TEST(lanes_and_exact_core_agree) {
    for (int i = 0; i < ALL_SCENES; i++) {
        for (int relative = 0; relative < 2; relative++) {
            simulation s;
            simulate(&SCENES[i], 100, 400, &s);
            s.batch.absolute_sigma = !relative;
            ck_assert_int_le(run_both(&s), 4);
            for (int64_t t = 0; t < s.batch.traces; t++) {
                same_fit(&s, t);
            }
            simulation_free(&s);
        }
    }
}
END_TEST

/* 10,000 pulls: their mean is known within 0.01 and their width within 0.007; four of those, and
 * the bias of a nonlinear estimate, a few hundredths of its error at this noise. */
START_TEST(pulls_have_width_one) {
    simulation s;
    simulate(&SCENES[0], 100, 10000, &s);
    ck_ok(sx_lm_batch_run(&s.batch, s.fit, NULL));
    for (int j = 0; j < s.p; j++) {
        double sum = 0, square = 0;
        for (int64_t t = 0; t < s.batch.traces; t++) {
            ck_assert_int_eq(s.fit[t].state, SX_LM_TRACE_OK);
            const double pull = (s.fit[t].b[j] - s.truth[t * s.p + j]) / s.fit[t].error[j];
            sum += pull / 10000;
            square += pull * pull / 10000;
        }
        ck_near(sum, 0, 0, 0.1);
        ck_near(sqrt(square - sum * sum), 1, 0.03, 0);
    }
    simulation_free(&s);
}
END_TEST

/* Traces in reverse, alone, and among those that give up: the same bytes. */
START_TEST(neighbours_do_not_matter) {
    simulation s;
    simulate(&SCENES[2], 50, 200, &s);
    for (int64_t t = 0; t < 200; t += 7) { /* slow ones and hopeless ones among them */
        s.start[t * 4 + 1] = 3;
        s.start[(t + 1) * 4] = (double)NAN;
    }
    ck_ok(sx_lm_batch_run(&s.batch, s.fit, NULL));
    for (int64_t t = 199; t >= 0; t--) {
        sx_lm_batch one = s.batch;
        sx_lm_fit fit;
        one.traces = 1;
        one.y += t * one.n;
        one.sigma += t * one.n;
        one.start += t * 4;
        ck_ok(sx_lm_batch_run(&one, &fit, NULL));
        ck_assert_mem_eq(&fit, &s.fit[t], sizeof fit);
    }
    simulation_free(&s);
}
END_TEST

/* Variants with fused products agree in every bit; the plain one stops as near to the minimum. */
START_TEST(variants_agree) {
    for (int i = 0; i < ALL_SCENES; i++) {
        simulation s;
        simulate(&SCENES[i], 60, 100, &s);
        for (int v = 1; sxi_lm_kernels_variant(v); v++) {
            sx_lm_fit *before = v == 1 ? s.judge : s.fit, *now = v == 1 ? s.fit : s.judge;
            ck_ok(sxi_lm_batch_run(sxi_lm_kernels_variant(v - 1), &s.batch, before, s.judged));
            ck_ok(sxi_lm_batch_run(sxi_lm_kernels_variant(v), &s.batch, now, s.covariance));
            for (int64_t t = 0; v == 1 && t < 100; t++) {
                same_fit(&s, t);
            }
            if (v > 1) {
                ck_assert_mem_eq(before, now, 100 * sizeof *now);
                ck_assert_mem_eq(s.judged, s.covariance,
                                 (size_t)(100 * s.p * s.p) * sizeof *s.judged);
            }
        }
        simulation_free(&s);
    }
}
END_TEST

/* A missing sample is one that is not there. */
START_TEST(missing_samples_are_left_out) {
    const double nothing[] = {(double)NAN, (double)INFINITY, 0, -1};
    simulation whole, cut;
    simulate(&SCENES[0], 60, 40, &whole);
    simulate(&SCENES[0], 60, 40, &cut);
    for (int64_t t = 0; t < 40; t++) {
        int64_t kept = 0;
        for (int64_t i = 0; i < 60; i++) {
            const bool keep = i % 3 != t % 3;
            if (keep) {
                cut.x[kept] = whole.x[i];
                cut.y[kept] = whole.y[t * 60 + i];
                cut.sigma[kept++] = whole.sigma[t * 60 + i];
            } else if (t % 2) {
                whole.y[t * 60 + i] = i % 2 ? (double)NAN : (double)-INFINITY;
            } else {
                whole.sigma[t * 60 + i] = nothing[i % 4];
                whole.y[t * 60 + i] = 1e30;
            }
        }
        cut.batch.n = kept;
        cut.batch.traces = 1;
        cut.batch.start = whole.start + 3 * t;
        ck_ok(sx_lm_batch_run(&cut.batch, &cut.fit[t], cut.covariance + 9 * t));
    }
    ck_ok(sx_lm_batch_run(&whole.batch, whole.fit, whole.covariance));
    for (int64_t t = 0; t < 40; t++) {
        ck_assert_int_eq(whole.fit[t].used, 40);
        ck_assert_mem_eq(&whole.fit[t], &cut.fit[t], sizeof *cut.fit);
    }
    simulation_free(&whole);
    simulation_free(&cut);
}
END_TEST

/* Data times a power of ten, errors relative or with the data: all follow. 1e-9: stops differ by
 * 1e-9 of an error of a few percent. */
START_TEST(units_do_not_matter) {
    const double units[] = {1e-6, 1e6};
    for (int i = 0; i < 2 * ALL_SCENES; i++) {
        const double unit = units[i % 2];
        const bool linear[ALL_SCENES][P] = {{true, false, true},
                                            {true, false, true, false, true},
                                            {true, false, false, true},
                                            {true, false, true, false, false, true, false, false}};
        simulation a, b;
        simulate(&SCENES[i / 2], 100, 64, &a);
        simulate(&SCENES[i / 2], 100, 64, &b);
        a.batch.sigma = b.batch.sigma = NULL;
        a.batch.absolute_sigma = b.batch.absolute_sigma = false;
        for (int64_t k = 0; k < 6400; k++) {
            b.y[k] *= unit;
        }
        for (int k = 0; k < 64 * b.p; k++) {
            b.start[k] *= linear[i / 2][k % b.p] ? unit : 1;
        }
        ck_ok(sx_lm_batch_run(&a.batch, a.fit, NULL));
        ck_ok(sx_lm_batch_run(&b.batch, b.fit, NULL));
        for (int t = 0; t < 64; t++) {
            ck_assert_int_eq(a.fit[t].state, b.fit[t].state);
            ck_near(b.fit[t].chi2, a.fit[t].chi2 * unit * unit, 1e-9, 0);
            for (int j = 0; j < a.p; j++) {
                const double factor = linear[i / 2][j] ? unit : 1;
                ck_near(b.fit[t].b[j], a.fit[t].b[j] * factor, 1e-9, 1e-8 * b.fit[t].error[j]);
                ck_near(b.fit[t].error[j], a.fit[t].error[j] * factor, 1e-7, 0);
            }
        }
        simulation_free(&a);
        simulation_free(&b);
    }
}
END_TEST

/* The decay is kept above the truth, below it, held, and free inside. */
START_TEST(bounds_hold) {
    const double least[] = {0.7, 0, 0.5, 0.1}, most[] = {2, 0.3, 0.5, 2};
    for (int i = 0; i < 4; i++) {
        const double lower[] = {-1e3, least[i], -1e3}, upper[] = {1e3, most[i], 1e3};
        simulation s;
        simulate(&SCENES[0], 80, 100, &s);
        s.batch.lower = lower;
        s.batch.upper = upper;
        ck_assert_int_le(run_both(&s), 2);
        for (int64_t t = 0; t < 100; t++) {
            same_fit(&s, t);
            ck_assert_int_eq(s.fit[t].state, i < 2 ? SX_LM_TRACE_AT_BOUND : SX_LM_TRACE_OK);
            if (i < 3) {
                ck_assert(s.fit[t].b[1] == (i == 1 ? most[i] : least[i]));
                ck_assert(s.fit[t].error[1] == 0 && s.fit[t].error[0] > 0);
            }
        }
        simulation_free(&s);
    }
}
END_TEST

/* Without noise nothing is left to measure an error with: the exact core decides. */
START_TEST(perfect_data_reach_the_truth) {
    for (int i = 0; i < ALL_SCENES; i++) {
        simulation s;
        simulate(&SCENES[i], 100, 64, &s);
        for (int64_t t = 0; t < 64; t++) {
            int number = 0;
            double d[P];
            while (strcmp(sx_lm_model_get(number)->name, SCENES[i].model) != 0) {
                number++;
            }
            for (int64_t k = 0; k < 100; k++) {
                s.y[t * 100 + k] =
                    sxi_model_value((enum sxi_model)number, s.x + k, s.truth + t * s.p, d);
            }
        }
        ck_ok(sx_lm_batch_run(&s.batch, s.fit, NULL));
        for (int64_t t = 0; t < 64; t++) {
            ck_assert_int_eq(s.fit[t].state, SX_LM_TRACE_OK);
            for (int j = 0; j < s.p; j++) { /* rounding times the condition of two decays */
                ck_near(s.fit[t].b[j], s.truth[t * s.p + j], 1e-10, 0);
            }
        }
        simulation_free(&s);
    }
}
END_TEST

/* --- what cannot be fitted is said --- */

/* One trace of a decay, with what is done to it. */
static sx_lm_fit one_decay(int n, const double *y, const double *start) {
    double x[64];
    sx_lm_fit fit;
    for (int i = 0; i < n; i++) {
        x[i] = 0.1 * i;
    }
    const sx_lm_batch batch = {
        .model = "decay", .n = n, .x = x, .traces = 1, .y = y, .start = start, .one_start = true};
    ck_ok(sx_lm_batch_run(&batch, &fit, NULL));
    return fit;
}

START_TEST(states_say_why) {
    const double start[3] = {1, 0.5, 0}, nan_start[3] = {1, (double)NAN, 0};
    const double far[3] = {1e200, -1e3, 0};
    double y[64];
    for (int i = 0; i < 64; i++) {
        y[i] = exp(-0.05 * i) + 0.01 * (i % 2);
    }
    ck_assert_int_eq(one_decay(64, y, start).state, SX_LM_TRACE_OK);
    sx_lm_fit fit = one_decay(2, y, start);
    ck_assert_int_eq(fit.state, SX_LM_TRACE_TOO_FEW);
    ck_assert_int_eq(fit.used, 2);
    ck_assert(isnan(fit.b[0]) && isnan(fit.error[0]) && isnan(fit.chi2));
    ck_assert_int_eq(one_decay(64, y, nan_start).state, SX_LM_TRACE_UNDEFINED);
    ck_assert_int_eq(one_decay(64, y, far).state, SX_LM_TRACE_UNDEFINED);
    const double through[3] = {4, 3, 2.5}; /* as many as parameters: a curve without errors */
    fit = one_decay(3, through, start);
    ck_assert(fit.state == SX_LM_TRACE_OK && fit.exact && isnan(fit.error[1]));
    for (int i = 0; i < 64; i++) {
        y[i] = i % 5 ? 3 : (double)NAN; /* a decay of no height has no rate */
    }
    fit = one_decay(64, y, start);
    ck_assert_int_eq(fit.state, SX_LM_TRACE_NO_SIGNAL);
    ck_assert_int_eq(fit.used, 51);
    for (int i = 0; i < 64; i++) {
        y[i] = (double)NAN;
    }
    ck_assert_int_eq(one_decay(64, y, start).state, SX_LM_TRACE_MASKED);
}
END_TEST

/* At a single x only the value there is determined. */
START_TEST(dependent_parameters_are_singular) {
    const double x[5] = {2, 2, 2, 2, 2}, y[5] = {1, 1.1, 0.9, 1.05, 0.95}, start[3] = {1, 1, 0};
    const sx_lm_batch batch = {
        .model = "decay", .n = 5, .x = x, .traces = 1, .y = y, .start = start};
    sx_lm_fit fit;
    double covariance[9];
    ck_ok(sx_lm_batch_run(&batch, &fit, covariance));
    ck_assert_int_eq(fit.state, SX_LM_TRACE_SINGULAR);
    ck_assert(fit.exact && isnan(fit.error[0]) && isnan(covariance[4]));
    ck_near(fit.b[0] * exp(-2 * fit.b[1]) + fit.b[2], 1, 1e-8, 0); /* tolerance of the exact core */
}
END_TEST

START_TEST(bad_arguments_are_refused) {
    const double x[4] = {0, 1, 2, 3}, y[4] = {4, 3, 2, 1}, start[3] = {4, 1, 0};
    const double low[3] = {0, 2, 0}, high[3] = {1, 1, 1}, bad_x[4] = {0, 1, (double)NAN, 3};
    const sx_lm_batch good = {
        .model = "decay", .n = 4, .x = x, .traces = 1, .y = y, .start = start};
    sx_lm_fit fit = {.chi2 = 77};
    sx_lm_batch batch = good;
    batch.model = "decoy";
    ck_fails(sx_lm_batch_run(&batch, &fit, NULL), SX_ERR_ARGUMENT, "no model is named 'decoy'");
    batch = good;
    batch.n = 0;
    ck_fails(sx_lm_batch_run(&batch, &fit, NULL), SX_ERR_ARGUMENT, "1 traces of 0 samples");
    batch = good;
    batch.y = NULL;
    ck_fails(sx_lm_batch_run(&batch, &fit, NULL), SX_ERR_ARGUMENT, "must be given");
    batch = good;
    batch.x = bad_x;
    ck_fails(sx_lm_batch_run(&batch, &fit, NULL), SX_ERR_RANGE, "x of sample 2 is nan");
    batch = good;
    batch.lower = low;
    batch.upper = high;
    ck_fails(sx_lm_batch_run(&batch, &fit, NULL), SX_ERR_ARGUMENT, "b2 has bounds 2 and 1");
    batch = good;
    batch.tolerance = -1;
    ck_fails(sx_lm_batch_run(&batch, &fit, NULL), SX_ERR_ARGUMENT, "tolerance -1");
    ck_fails(sx_lm_batch_run(NULL, &fit, NULL), SX_ERR_ARGUMENT, "must be given");
    ck_assert(fit.chi2 == 77);
    batch = good;
    batch.traces = 0;
    ck_ok(sx_lm_batch_run(&batch, &fit, NULL));
    ck_assert(sx_lm_model_get(-1) == NULL && sx_lm_model_get(SXI_MODELS) == NULL);
}
END_TEST

SX_TEST_RUNNER("lm_batch", run_tests, derivatives_are_differences, nist_problems_in_batches,
               lanes_and_exact_core_agree, pulls_have_width_one, neighbours_do_not_matter,
               variants_agree, missing_samples_are_left_out, units_do_not_matter, bounds_hold,
               perfect_data_reach_the_truth, states_say_why, dependent_parameters_are_singular,
               bad_arguments_are_refused)

/* `--models`: the table of docs/theory/lm.md, line by line. */
static int print_models(void) {
    const sx_lm_model *model;
    for (int number = 0; (model = sx_lm_model_get(number)); number++) {
        printf("| `%s` | %s |\n", model->name, model->formula);
    }
    return 0;
}

int main(int argc, char **argv) {
    return argc > 1 && strcmp(argv[1], "--models") == 0 ? print_models() : run_tests();
}
