/* SPDX-License-Identifier: Apache-2.0
 * Small dense matrices. Own loops in a fixed order instead of a BLAS: equal input gives equal bits
 * on every thread and machine of one build, and nothing is global. */
#ifndef SXI_DENSE_H
#define SXI_DENSE_H

#include <stdint.h>

/* sxi_dot - sum a_i b_i. sxi_norm - square root of sum a_i^2. From the first to the last element.
 */
double sxi_dot(int n, const double *a, const double *b);
double sxi_norm(int n, const double *a);

/* sxi_reflector - the Householder reflection that turns x [length] into (beta, 0, 0, ...): beta in
 * x[0], the vector behind it (its first element is 1). Returns tau of I - tau v v'; 0 if x is. */
double sxi_reflector(int length, double *x);

/* sxi_qr_factor - Householder QR with column pivoting: A P = Q R.
 *
 * in      m, n    rows and columns, m >= n >= 0
 * in,out  a       [n][m] columns one after the other; R on and above the diagonal, below it the
 *                 reflectors
 * out     tau     [n] scalars of the reflectors
 * out     pivot   [n] column k of A P is column pivot[k] of A; the diagonal of R does not grow
 */
void sxi_qr_factor(int m, int n, double *a, double *tau, int *pivot);

/* sxi_qr_apply - b [m] becomes Q'b. */
void sxi_qr_apply(int m, int n, const double *a, const double *tau, double *b);

/* sxi_upper_solve, sxi_upper_solve_transposed - x = R^-1 b and R^-T b for an upper triangle
 * R [n][n], rows one after the other, without zeros on its diagonal. b and x may be the same. */
void sxi_upper_solve(int n, const double *r, const double *b, double *x);
void sxi_upper_solve_transposed(int n, const double *r, const double *b, double *x);

/* sxi_upper_damped - the triangle S and right side t with S'S = R'R + damping I, S't = R'q.
 *
 * in   n, r [n][n], q [n], damping >= 0
 * out  s [n][n], t [n]
 * work row [n] */
void sxi_upper_damped(int n, const double *r, const double *q, double damping, double *s, double *t,
                      double *row);

#endif
