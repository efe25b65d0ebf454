/* SPDX-License-Identifier: Apache-2.0
 * Eigenvalues and eigenvectors of small complex Hermitian matrices, such as dynamical matrices. */
#ifndef SXI_HERMITIAN_H
#define SXI_HERMITIAN_H

#include <stdbool.h>

/* sxi_hermitian_eigen - all eigenvalues and eigenvectors, by Jacobi rotations in a fixed order.
 *
 *   a v_k = values[k] v_k,  v_k' v_l = 1 if k = l, else 0
 *
 * in      n >= 1
 * in,out  a        [n][n][2] real and imaginary parts; only its upper triangle is read; destroyed
 * out     values   [n] in increasing order
 * out     vectors  [n][n][2] row k is the unit vector of values[k]. Its element of largest modulus
 *                  (the first of those within 1e-6 of it) is real and positive.
 *
 * false if it did not converge, which no finite matrix is known to do. Error of a value: a few
 * n eps times the largest modulus of one. Vectors of equal values are some basis of their space.
 * Source: Golub and Van Loan, Matrix Computations, 8.5. */
bool sxi_hermitian_eigen(int n, double *a, double *values, double *vectors);

#endif
