/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <string.h>

#include <sextant/lm.h>

#include "numer/lm_nist.h"
#include "sx_check.h"

/* --- NIST --- */

static bool nist_residuals(void *data, const double *b, double *r, double *jacobian) {
    const nist_problem *problem = data;
    for (int i = 0; i < problem->m; i++) {
        r[i] = problem->model(b, problem->x[i], jacobian + i * problem->n) - problem->y[i];
    }
    return true;
}

/* The analytic derivatives against central differences near the certified values: relative 1e-5,
 * a step of 1e-6 leaving about 1e-9 of rounding and 1e-12 of curvature in units of the column. */
static void check_derivatives(const nist_problem *problem) {
    for (int j = 0; j < problem->n; j++) {
        double b[NIST_MAX_PARAMETERS], d[NIST_MAX_PARAMETERS], scratch[NIST_MAX_PARAMETERS];
        double largest = 0.0, worst = 0.0;
        for (int i = 0; i < problem->m; i++) {
            memcpy(b, problem->value, sizeof b);
            problem->model(b, problem->x[i], d);
            double h = 1e-6 * fabs(b[j]);
            b[j] += h;
            double above = problem->model(b, problem->x[i], scratch);
            b[j] -= 2.0 * h;
            double below = problem->model(b, problem->x[i], scratch);
            double slope = (above - below) / (2.0 * h);
            largest = fmax(largest, fabs(slope));
            worst = fmax(worst, fabs(slope - d[j]));
        }
        ck_assert_msg(worst <= 1e-5 * largest, "%s: derivative %d is off by %g of %g",
                      problem->name, j + 1, worst, largest);
    }
}

/* Correct digits of x, at most the 11 that are certified. */
static double digits(double x, double certified) {
    double error = fabs(x - certified) / fabs(certified);
    return error > 1e-11 ? -log10(error) : error <= 1e-11 ? 11.0 : 0.0;
}

typedef struct score {
    double parameters, deviations, rss;
    int evaluations;
    sx_lm_state state;
} score;

static score solve_nist(nist_problem *problem, int start) {
    int n = problem->n;
    double b[NIST_MAX_PARAMETERS], covariance[NIST_MAX_PARAMETERS * NIST_MAX_PARAMETERS];
    memcpy(b, problem->start[start], sizeof b);
    sx_lm_result result;
    ck_ok(sx_lm_run(problem->m, n, nist_residuals, problem, NULL, b, covariance, &result));
    score s = {11.0, 11.0, digits(result.chi2, problem->rss), result.evaluations, result.state};
    for (int j = 0; j < n; j++) {
        double sd = sqrt(covariance[j * n + j] * result.chi2 / (problem->m - n));
        s.parameters = fmin(s.parameters, digits(b[j], problem->value[j]));
        s.deviations = fmin(s.deviations, digits(sd, problem->deviation[j]));
    }
    return s;
}

/* The residuals of Lanczos1 are rounding of its 14-digit data: 1e-13 of a signal of 2.5, and
 * 4e-16 of rounding in the model leaves two digits of their square and of what follows from it. */
static void check_nist(nist_problem *problem) {
    check_derivatives(problem);
    double rest = strcmp(problem->name, "Lanczos1") == 0 ? 1.5 : 6.0;
    for (int start = 0; start < 2; start++) {
        score s = solve_nist(problem, start);
        printf("%-9s start %d: digits %4.1f, of deviations %4.1f, of rss %4.1f, %3d evaluations\n",
               problem->name, start + 1, s.parameters, s.deviations, s.rss, s.evaluations);
        ck_assert_msg(s.state == SX_LM_CONVERGED, "%s start %d: state %d", problem->name, start + 1,
                      (int)s.state);
        ck_assert_msg(s.parameters >= 6.0, "%s start %d: %g digits", problem->name, start + 1,
                      s.parameters);
        ck_assert_msg(s.deviations >= rest, "%s start %d: %g digits of the deviations",
                      problem->name, start + 1, s.deviations);
        ck_assert_msg(s.rss >= rest, "%s start %d: %g digits of the rss", problem->name, start + 1,
                      s.rss);
    }
}

START_TEST(nist_files) {
    nist_problem *problem;
    for (int i = 0; (problem = nist_file_problem(i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "nist/%s.dat", problem->name);
        const char *path = sx_data(name);
        if (path) {
            ck_assert_msg(nist_read(path, problem), "%s is not as expected", path);
            check_nist(problem);
        }
    }
}
END_TEST

START_TEST(nist_builtin) {
    nist_problem *problem;
    for (int i = 0; (problem = nist_builtin_problem(i)); i++) {
        check_nist(problem);
    }
}
END_TEST

/* --- properties --- */

/* y = a exp(-b x) + c at x = 0, 1, ..., in any units and order of the parameters, with a ripple
 * that no parameter explains. */
enum { POINTS = 24 };

typedef struct curve {
    double data_unit; /* the data are multiplied by it */
    double unit[3];   /* of a, b, c: the parameters are given in multiples of it */
    int order[3];     /* which parameter is a, b, c */
    double ripple;
    double ceiling; /* the model is not defined where b exceeds it */
    int calls;
} curve;

static const curve PLAIN = {
    .data_unit = 1.0, .unit = {1.0, 1.0, 1.0}, .order = {0, 1, 2}, .ripple = 0.05, .ceiling = 1e9};

static double curve_data(const curve *c, double x) {
    return (2.0 * exp(-0.3 * x) + 0.5 + c->ripple * cos(2.1 * x)) * c->data_unit;
}

static bool curve_residuals(void *data, const double *p, double *r, double *jacobian) {
    curve *c = data;
    c->calls++;
    double b[3];
    for (int k = 0; k < 3; k++) {
        b[k] = p[c->order[k]] * c->unit[k];
    }
    if (b[1] > c->ceiling) {
        return false;
    }
    for (int i = 0; i < POINTS; i++) {
        double e = exp(-b[1] * i);
        double d[3] = {e, -i * b[0] * e, 1.0};
        r[i] = b[0] * e + b[2] - curve_data(c, i);
        for (int k = 0; k < 3; k++) {
            jacobian[i * 3 + c->order[k]] = d[k] * c->unit[k];
        }
    }
    return true;
}

/* Fits the curve from a poor start; b and deviation get a, b, c in plain units. */
static sx_lm_result fit_curve(curve *c, double *b, double *deviation) {
    const double start[3] = {0.5 * c->data_unit, 1.0, 0.0};
    double p[3], covariance[9];
    for (int k = 0; k < 3; k++) {
        p[c->order[k]] = start[k] / c->unit[k];
    }
    sx_lm_result result;
    ck_ok(sx_lm_run(POINTS, 3, curve_residuals, c, NULL, p, covariance, &result));
    for (int k = 0; k < 3; k++) {
        b[k] = p[c->order[k]] * c->unit[k];
        deviation[k] = sqrt(covariance[c->order[k] * 4]) * c->unit[k];
    }
    return result;
}

/* Relative 1e-9: a stop at 1e-8 deviations of 1 % leaves 1e-10. */
START_TEST(units_and_order_do_not_matter) {
    curve plain = PLAIN;
    double b[3], deviation[3];
    sx_lm_result result = fit_curve(&plain, b, deviation);
    ck_assert_int_eq(result.state, SX_LM_CONVERGED);
    ck_near(b[1], 0.3, 0.1, 0.0);
    const double data_units[] = {1e-6, 1e6, 1.0, 1e6};
    const double units[][3] = {{1, 1, 1}, {1, 1, 1}, {1e9, 1e-7, 1e-5}, {1e-3, 1e4, 1e8}};
    const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    for (int i = 0; i < 4; i++) {
        curve other = PLAIN;
        other.data_unit = data_units[i];
        memcpy(other.unit, units[i], sizeof other.unit);
        memcpy(other.order, orders[i], sizeof other.order);
        double v[3], w[3];
        sx_lm_result again = fit_curve(&other, v, w);
        ck_assert_int_eq(again.state, SX_LM_CONVERGED);
        ck_near(again.chi2, result.chi2 * data_units[i] * data_units[i], 1e-9, 0.0);
        for (int k = 0; k < 3; k++) {
            ck_near(v[k], k == 1 ? b[k] : b[k] * data_units[i], 1e-9, 0.0);
            ck_near(w[k], k == 1 ? deviation[k] / data_units[i] : deviation[k], 1e-9, 0.0);
        }
    }
}
END_TEST

START_TEST(perfect_data_converge) {
    curve c = PLAIN;
    c.ripple = 0.0;
    double b[3], deviation[3];
    sx_lm_result result = fit_curve(&c, b, deviation);
    ck_assert_int_eq(result.state, SX_LM_CONVERGED);
    ck_near(b[0], 2.0, 1e-13, 0.0);
    ck_near(b[1], 0.3, 1e-13, 0.0);
    ck_near(b[2], 0.5, 1e-13, 0.0);
    ck_assert(result.chi2 <= 1e-28);
}
END_TEST

/* Rosenbrock's valley: as many residuals as parameters, minimum 0 at (1, 1). */
static bool valley(void *data, const double *p, double *r, double *jacobian) {
    (void)data;
    r[0] = 10.0 * (p[1] - p[0] * p[0]);
    r[1] = 1.0 - p[0];
    jacobian[0] = -20.0 * p[0];
    jacobian[1] = 10.0;
    jacobian[2] = -1.0;
    jacobian[3] = 0.0;
    return true;
}

START_TEST(as_many_residuals_as_parameters) {
    double p[2] = {-1.2, 1.0};
    sx_lm_result result;
    ck_ok(sx_lm_run(2, 2, valley, NULL, NULL, p, NULL, &result));
    ck_assert_int_eq(result.state, SX_LM_CONVERGED);
    ck_near(p[0], 1.0, 1e-14, 0.0);
    ck_near(p[1], 1.0, 1e-14, 0.0);
}
END_TEST

/* (u + 1, -3 u^2 + u - 1), u = p - 5: minimum at u = 0, where the true curvature is four times that
 * of Gauss-Newton, so undamped steps run away. */
static bool bent(void *data, const double *p, double *r, double *jacobian) {
    (void)data;
    double u = p[0] - 5.0;
    r[0] = u + 1.0;
    r[1] = -3.0 * u * u + u - 1.0;
    jacobian[0] = 1.0;
    jacobian[1] = -6.0 * u + 1.0;
    return true;
}

START_TEST(converges_where_gauss_newton_runs_away) {
    double p[1] = {5.3};
    sx_lm_options options = {.tolerance = 1e-12}; /* the sum of squares is blind below 1e-8 */
    sx_lm_result result;
    ck_ok(sx_lm_run(2, 1, bent, NULL, &options, p, NULL, &result));
    ck_assert_int_eq(result.state, SX_LM_CONVERGED);
    ck_near(p[0], 5.0, 0.0, 1e-12); /* the deviation is 1 */
}
END_TEST

/* --- bounds --- */

/* With b held the rest is linear: a and c by their normal equations. */
static void linear_part(double b, double *a, double *c) {
    double n = POINTS, se = 0.0, see = 0.0, sy = 0.0, sey = 0.0;
    for (int i = 0; i < POINTS; i++) {
        double e = exp(-b * i), y = curve_data(&PLAIN, i);
        se += e;
        see += e * e;
        sy += y;
        sey += e * y;
    }
    *a = (n * sey - se * sy) / (n * see - se * se);
    *c = (sy - *a * se) / n;
}

START_TEST(bound_holds_and_the_rest_is_fitted) {
    const double bounds[][2] = {{-1.0, 0.2}, {0.5, 2.0}, {0.4, 0.4}};
    const double ends[] = {0.2, 0.5, 0.4};
    for (int i = 0; i < 3; i++) {
        curve data = PLAIN;
        double lower[3] = {-1e3, bounds[i][0], -1e3}, upper[3] = {1e3, bounds[i][1], 1e3};
        sx_lm_options options = {.lower = lower, .upper = upper};
        double p[3] = {0.1, 1.0, 0.0}, covariance[9], a, c; /* b starts outside, or inside */
        sx_lm_result result;
        ck_ok(sx_lm_run(POINTS, 3, curve_residuals, &data, &options, p, covariance, &result));
        linear_part(ends[i], &a, &c);
        ck_assert_int_eq(result.state, SX_LM_CONVERGED);
        ck_assert_int_eq(result.bound, 1);
        ck_near(p[1], ends[i], 0.0, 0.0);
        ck_near(p[0], a, 1e-12, 0.0); /* linear: exact but for rounding */
        ck_near(p[2], c, 1e-12, 0.0);
        for (int k = 0; k < 3; k++) {
            ck_near(covariance[3 + k], 0.0, 0.0, 0.0);
            ck_near(covariance[3 * k + 1], 0.0, 0.0, 0.0);
        }
        ck_assert(covariance[0] > 0.0 && covariance[8] > 0.0);
    }
}
END_TEST

START_TEST(bounds_out_of_the_way_change_nothing) {
    curve data = PLAIN;
    double b[3], deviation[3];
    fit_curve(&data, b, deviation);
    double lower[3] = {0.5, 0.0, 0.0}, upper[3] = {9.0, 1.0, 9.0};
    sx_lm_options options = {.lower = lower, .upper = upper};
    double p[3] = {0.5, 1.0, 0.0}; /* every parameter starts at a bound */
    sx_lm_result result;
    ck_ok(sx_lm_run(POINTS, 3, curve_residuals, &data, &options, p, NULL, &result));
    ck_assert_int_eq(result.state, SX_LM_CONVERGED);
    ck_assert_int_eq(result.bound, 0);
    for (int k = 0; k < 3; k++) {
        ck_near(p[k], b[k], 1e-9, 0.0);
    }
}
END_TEST

/* Two nearly parallel columns: at the start (0, 0) both gradients point inside, but the undamped
 * step is (-9, 10), outside for p0. With p >= 0 the minimum has p0 = 0. */
static bool parallel(void *data, const double *p, double *r, double *jacobian) {
    (void)data;
    const double j[3][2] = {{1.0, 1.1}, {0.0, 0.1}, {0.0, 0.0}}, y[3] = {2.0, 1.0, 0.5};
    for (int i = 0; i < 3; i++) {
        r[i] = j[i][0] * p[0] + j[i][1] * p[1] - y[i];
        jacobian[2 * i] = j[i][0];
        jacobian[2 * i + 1] = j[i][1];
    }
    return true;
}

START_TEST(step_that_leaves_against_the_gradient) {
    double lower[2] = {0.0, 0.0}, p[2] = {0.0, 0.0};
    sx_lm_options options = {.lower = lower};
    sx_lm_result result;
    ck_ok(sx_lm_run(3, 2, parallel, NULL, &options, p, NULL, &result));
    ck_assert_int_eq(result.state, SX_LM_CONVERGED);
    ck_near(p[0], 0.0, 0.0, 0.0);
    ck_near(p[1], (1.1 * 2.0 + 0.1) / (1.21 + 0.01), 1e-14, 0.0);
    ck_assert_int_eq(result.bound, 1);
}
END_TEST

/* --- what cannot be done is said --- */

/* (p0 + f p1) x - 2 x - ripple: p0 and p1 cannot be told apart. */
static bool dependent(void *data, const double *p, double *r, double *jacobian) {
    double factor = *(const double *)data;
    for (int i = 0; i < 5; i++) {
        double x = i + 0.1;
        r[i] = (p[0] + factor * p[1]) * x - 2.0 * x - (i % 2);
        jacobian[2 * i] = x;
        jacobian[2 * i + 1] = factor * x;
    }
    return true;
}

START_TEST(dependent_parameters_are_singular) {
    double factors[] = {1.0, 1.0 / 3.0, -7e11, 0.0};
    for (int i = 0; i < 4; i++) {
        double p[2] = {1.0, 0.0}, covariance[4];
        sx_lm_result result;
        ck_ok(sx_lm_run(5, 2, dependent, &factors[i], NULL, p, covariance, &result));
        ck_assert_int_eq(result.state, SX_LM_SINGULAR);
        ck_assert(isnan(covariance[0]) && isnan(covariance[3]));
        /* still the minimum: sum x (s x - 2 x - ripple) = 0 for the slope s; 1e-8 is the tolerance
         */
        double slope = 2.0 + (1.1 + 3.1) / (0.01 + 1.21 + 4.41 + 9.61 + 16.81);
        ck_near(p[0] + factors[i] * p[1], slope, 1e-8, 0.0);
    }
}
END_TEST

START_TEST(undefined_regions_shorten_the_step) {
    curve whole = PLAIN, cut = PLAIN;
    double b[3], deviation[3], v[3];
    fit_curve(&whole, b, deviation);
    cut.ceiling = 1.001; /* the start is at 1; the whole model goes to higher b first */
    sx_lm_result result = fit_curve(&cut, v, deviation);
    ck_assert_int_eq(result.state, SX_LM_CONVERGED);
    ck_near(v[1], b[1], 1e-9, 0.0);
    ck_assert_int_eq(result.evaluations, cut.calls);
}
END_TEST

START_TEST(undefined_start_is_a_state) {
    curve c = PLAIN;
    c.ceiling = 0.5;
    double p[3] = {1.0, 1.0, 0.0}, covariance[9];
    sx_lm_result result;
    ck_ok(sx_lm_run(POINTS, 3, curve_residuals, &c, NULL, p, covariance, &result));
    ck_assert_int_eq(result.state, SX_LM_UNDEFINED);
    ck_assert(p[0] == 1.0 && p[1] == 1.0 && p[2] == 0.0);
    ck_assert(isnan(result.chi2) && isnan(covariance[0]));
    c = PLAIN;
    c.ripple = (double)NAN; /* data that are missing */
    ck_ok(sx_lm_run(POINTS, 3, curve_residuals, &c, NULL, p, covariance, &result));
    ck_assert_int_eq(result.state, SX_LM_UNDEFINED);
}
END_TEST

START_TEST(evaluations_are_limited) {
    curve c = PLAIN;
    double p[3] = {0.5, 1.0, 0.0};
    sx_lm_options one = {.max_evaluations = 1}, four = {.max_evaluations = 4};
    sx_lm_result start, result;
    ck_ok(sx_lm_run(POINTS, 3, curve_residuals, &c, &one, p, NULL, &start));
    ck_assert_int_eq(start.state, SX_LM_MAX_EVALUATIONS);
    c.calls = 0;
    ck_ok(sx_lm_run(POINTS, 3, curve_residuals, &c, &four, p, NULL, &result));
    ck_assert_int_eq(result.state, SX_LM_MAX_EVALUATIONS);
    ck_assert_int_eq(c.calls, 4);
    ck_assert(result.chi2 < start.chi2);
}
END_TEST

START_TEST(bad_arguments_are_refused) {
    curve c = PLAIN;
    double p[3] = {0.5, 1.0, 0.0}, nan[3] = {0.5, (double)NAN, 0.0};
    double low[3] = {0.0, 2.0, 0.0}, high[3] = {1.0, 1.0, 1.0};
    sx_lm_options crossed = {.lower = low, .upper = high}, negative = {.tolerance = -1.0};
    ck_fails(sx_lm_run(2, 3, curve_residuals, &c, NULL, p, NULL, NULL), SX_ERR_ARGUMENT,
             "2 residuals cannot determine 3 parameters");
    ck_fails(sx_lm_run(2, 0, curve_residuals, &c, NULL, p, NULL, NULL), SX_ERR_ARGUMENT,
             "0 parameters");
    ck_fails(sx_lm_run(POINTS, 3, NULL, &c, NULL, p, NULL, NULL), SX_ERR_ARGUMENT, "no function");
    ck_fails(sx_lm_run(POINTS, 3, curve_residuals, &c, NULL, nan, NULL, NULL), SX_ERR_ARGUMENT,
             "parameter 1 starts at nan");
    ck_fails(sx_lm_run(POINTS, 3, curve_residuals, &c, &crossed, p, NULL, NULL), SX_ERR_ARGUMENT,
             "parameter 1 has bounds 2 and 1");
    ck_fails(sx_lm_run(POINTS, 3, curve_residuals, &c, &negative, p, NULL, NULL), SX_ERR_ARGUMENT,
             "tolerance -1");
    ck_assert_int_eq(c.calls, 0);
}
END_TEST

SX_TEST_MAIN("lm", nist_files, nist_builtin, units_and_order_do_not_matter, perfect_data_converge,
             as_many_residuals_as_parameters, converges_where_gauss_newton_runs_away,
             bound_holds_and_the_rest_is_fitted, bounds_out_of_the_way_change_nothing,
             step_that_leaves_against_the_gradient, dependent_parameters_are_singular,
             undefined_regions_shorten_the_step, undefined_start_is_a_state,
             evaluations_are_limited, bad_arguments_are_refused)
