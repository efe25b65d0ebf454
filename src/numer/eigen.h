/* SPDX-License-Identifier: Apache-2.0
 * Eigenvalues of small matrices (up to a few hundred rows), in own loops of a fixed order: equal
 * input gives equal bits on every thread, and nothing is global. docs/decisions/0007 says why not
 * LAPACK.
 */
#ifndef SXI_EIGEN_H
#define SXI_EIGEN_H

#include <stdbool.h>

/* sxi_symmetric_eigen - eigenvalues, and the eigenvectors of the largest of them.
 *
 * in      n >= 1, count <= n
 * in,out  a        [n][n] symmetric; destroyed
 * out     values   [n] in decreasing order
 * out     vectors  [count][n] row k is the unit vector of values[k]; its sign is arbitrary
 * work             [n][n] + 4 [n]
 *
 * false if it did not converge, which no finite matrix is known to do. Error of a value: a few
 * n eps times the largest. */
bool sxi_symmetric_eigen(int n, double *a, int count, double *values, double *vectors,
                         double *work);

/* sxi_hessenberg_reduce - makes a [n][n] zero below its first subdiagonal, eigenvalues kept.
 * v [n] is work. */
void sxi_hessenberg_reduce(int n, double *a, double *v);

/* sxi_hessenberg_eigen - eigenvalues of a matrix that is zero below its first subdiagonal.
 *
 * in,out  h       [n][n] rows; destroyed
 * out     re, im  [n] complex ones in pairs, the positive imaginary part first
 *
 * false if it did not converge. */
bool sxi_hessenberg_eigen(int n, double *h, double *re, double *im);

#endif
