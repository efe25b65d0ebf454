/* SPDX-License-Identifier: Apache-2.0
 * General nonlinear least squares: a trust region after More 1978, finished by undamped QR
 * Gauss-Newton steps. */
#ifndef SEXTANT_LM_H
#define SEXTANT_LM_H

#include <stdbool.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Residuals r [m] and jacobian [m][n] = d r_i / d p_j, at p [n].
 * Returns false where the model is not defined at p; the step is then made shorter. */
typedef bool (*sx_lm_fn)(void *data, const double *p, double *r, double *jacobian);

typedef struct sx_lm_options {
    int max_evaluations; /* calls of the function; 0: 2000, three times what NIST's worst needs */
    double first_radius; /* first trust radius over the scaled norm of p; 0: 1 */
    double tolerance;    /* longest undamped step, in standard deviations; 0: 1e-8 */
    const double *lower; /* [n] bounds; NULL: none. Equal bounds hold a parameter */
    const double *upper; /* [n] */
} sx_lm_options;

typedef enum sx_lm_state {
    SX_LM_CONVERGED,
    SX_LM_MAX_EVALUATIONS, /* gave up; p is the best point seen */
    SX_LM_STALLED,         /* no step lowers the sum of squares, yet the gradient is not zero */
    SX_LM_SINGULAR,        /* columns of the Jacobian depend on each other at the minimum */
    SX_LM_UNDEFINED        /* the model is not defined at the start */
} sx_lm_state;

typedef struct sx_lm_result {
    sx_lm_state state;
    int evaluations;
    double chi2; /* sum r^2 at p */
    int bound;   /* number of parameters that sit at a bound */
} sx_lm_result;

/* sx_lm_run - minimises sum r(p)^2.
 *
 * in      m, n        residuals and parameters, m >= n >= 1
 * in      function    what computes them; called from this thread only
 * in      data        handed to function
 * in      options     NULL: defaults
 * in,out  p           [n] finite start, moved to the nearest bound if outside; then the minimum
 * out     covariance  [n][n] (J'J)^-1 without any scaling; rows and columns of parameters at a
 *                     bound are 0; NaN where there is none (singular, undefined). NULL: not wanted
 * out     result      NULL: not wanted
 *
 * The answer does not depend on the units of residuals and parameters. The state is CONVERGED only
 * if the undamped step is within the tolerance, or below the rounding of the parameters.
 *
 * SX_ERR_ARGUMENT, SX_ERR_MEMORY: p is as before. Not converging is a state, not an error.
 * Threads: yes.
 * Theory: docs/theory/lm.md. Source: More 1978, The Levenberg-Marquardt algorithm: implementation
 * and theory. */
SX_API sx_status sx_lm_run(int m, int n, sx_lm_fn function, void *data,
                           const sx_lm_options *options, double *p, double *covariance,
                           sx_lm_result *result);

#ifdef __cplusplus
}
#endif
#endif
