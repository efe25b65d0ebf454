/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic on columns of n doubles, n a multiple of SXI_LANES. Sums run in SXI_LANES lanes that
 * are added pairwise at the end: one order, whatever the machine. */
#ifndef SXI_COLUMN_H
#define SXI_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

/* sum a_i b_i */
double sxi_column_dot(int64_t n, const double *a, const double *b);

/* r = sum q_i a_i, then a -= r q; returns r. One step of modified Gram-Schmidt. */
double sxi_column_project(int64_t n, const double *q, double *a);

/* a *= factor */
void sxi_column_scale(int64_t n, double factor, double *a);

/* A trace at a glance, n any number, not padded. */
typedef struct sxi_column_shape {
    double mean;       /* 0 if not about the mean */
    double square;     /* sum of squared deviations */
    double neighbours; /* sum of products of neighbouring deviations */
} sxi_column_shape;

/* A value that is no number makes the sum of squares none. */
void sxi_column_describe(int64_t n, const double *y, bool about_mean, sxi_column_shape *shape);

/* A damped cosine and sine at x, times s:
 *   u = s exp(-g x) cos(2 pi f x),  v = s exp(-g x) sin(2 pi f x)
 * in   dx  step of x where x_i = i dx exactly enough (then a recurrence is used); 0: any x */
void sxi_column_dcos(int64_t n, const double *x, double dx, const double *s, double g, double f,
                     double *u, double *v);

/* Derivatives of m = a u + b v with respect to the decay and the frequency of u and v:
 *   mg = -x (a u + b v),  mf = 2 pi x (b u - a v) */
void sxi_column_dcos_slope(int64_t n, const double *x, const double *u, const double *v, double a,
                           double b, double *mg, double *mf);

#endif
