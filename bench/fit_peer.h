/* SPDX-License-Identifier: Apache-2.0
 * Fits by others. Their parameters: offset, then amplitude, decay, frequency, phase of each mode.
 *
 * They start where a careful user starts: at the highest peak of the periodogram (twice as fine as
 * the span resolves; of each residual in turn where there are two modes), g = 0.5, and the best
 * amplitude, phase and offset for these. That is prepared beforehand: their time is without it, ours
 * with everything. */
#ifndef FIT_PEER_H
#define FIT_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "fit_case.h"

typedef struct fit_problem {
    int nt, modes;
    const double *t, *y, *sigma; /* [nt] sigma: NULL: 1 */
} fit_problem;

static inline int fit_parameters(int modes) { return 1 + 4 * modes; }

/* fit_problem_of - trace p; views. */
fit_problem fit_problem_of(const fit_data *data, int64_t p);

/* fit_residual, fit_jacobian - (model - y) / sigma, and its derivatives, element (i, j) at
 * jacobian[i * sample + j * parameter]. */
void fit_residual(const fit_problem *problem, const double *p, double *r);
void fit_jacobian(const fit_problem *problem, const double *p, int sample, int parameter,
                  double *jacobian);

/* fit_peer_starts - start [count][fit_parameters] for the first traces; false: no memory. */
bool fit_peer_starts(const fit_data *data, int64_t count, double *start);

/* fit_of_parameters - with A >= 0 and modes by frequency, for fit_data_chi2. */
sx_dcos_fit fit_of_parameters(int modes, const double *p);

/* fit_solve - right := matrix^-1 right, both overwritten; matrix [n][n]. False: singular. */
bool fit_solve(int n, double *matrix, double *right);

/* Fits the first count traces from start to result, both [count][fit_parameters]; false: could
 * not. */
typedef bool (*fit_peer_fn)(const fit_data *data, int64_t count, const double *start,
                            double *result);
bool fit_cminpack(const fit_data *data, int64_t count, const double *start, double *result);
bool fit_gsl(const fit_data *data, int64_t count, const double *start, double *result);

#endif
