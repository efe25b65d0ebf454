/* SPDX-License-Identifier: Apache-2.0
 * What a Fisher matrix says: steps, errors, and the directions about which the data say nothing. */
#ifndef SXI_FISHER_H
#define SXI_FISHER_H

#include <stdbool.h>

#include <sextant/sagips.h>

/* A Fisher matrix [n][n] in its own directions, after each parameter was scaled by the square root
 * of its diagonal element, by 1 where that is 0. Parameters that are not free have scale 0. */
typedef struct sxi_fisher {
    int n;
    double scale[SX_THEORY_PARAMETERS];
    double value[SX_THEORY_PARAMETERS];                         /* eigenvalues, the largest first */
    double vector[SX_THEORY_PARAMETERS * SX_THEORY_PARAMETERS]; /* their vectors, one a row */
    int known; /* directions with a value above 1e-9; the others are null */
} sxi_fisher;

/* sxi_fisher_create - in: matrix [n][n], free [n]. SX_ERR_NUMERIC where it is not finite. */
sx_status sxi_fisher_create(int n, const double *matrix, const bool *is_free, sxi_fisher *fisher);

/* sxi_fisher_step - the step - (F + damping diag F)^-1 slope in the known directions, and how far
 * it is to the minimum of a parabola, in units of the value: half the slope times the step. */
double sxi_fisher_step(const sxi_fisher *fisher, const double *slope, double damping, double *step);

/* sxi_fisher_covariance - [n][n]. NaN in rows and columns of parameters that are not free or take
 * part in a null direction. */
void sxi_fisher_covariance(const sxi_fisher *fisher, double *covariance);

/* sxi_fisher_null - unit vectors [count][n] along which the parameters may move unnoticed; returns
 * count. A parameter that is not free is in none. */
int sxi_fisher_null(const sxi_fisher *fisher, double *vectors);

#endif
