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

/* Residuals r [m] and, where jacobian is not NULL, jacobian [m][n] = d r_i / d p_j, at p [n].
 * Returns false where the model is not defined at p; the step is then made shorter. */
typedef bool (*sx_lm_fn)(void *data, const double *p, double *r, double *jacobian);

typedef struct sx_lm_options {
    int max_evaluations; /* 0: 400 */
    double first_radius; /* first trust radius over the scaled norm of p; 0: 1 */
    double tolerance;    /* converged when the undamped step is shorter, in standard deviations; 0:
                            1e-8 */
    const double *lower; /* [n] bounds; NULL: none */
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
 * in      function, data
 * in      options     NULL: defaults
 * in,out  p           [n]  start, then the minimum; on failure as before
 * out     covariance  [n][n]  (J'J)^-1 without any scaling; rows of parameters at a bound are 0;
 * NULL: not wanted out     result
 *
 * SX_ERR_ARGUMENT, SX_ERR_MEMORY. Not converging is a state, not an error. Threads: yes.
 * Theory: docs/theory/lm.md. Source: More 1978, The Levenberg-Marquardt algorithm: implementation
 * and theory. */
SX_API sx_status sx_lm_run(int m, int n, sx_lm_fn function, void *data,
                           const sx_lm_options *options, double *p, double *covariance,
                           sx_lm_result *result);

#ifdef __cplusplus
}
#endif
#endif
