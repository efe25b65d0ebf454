/* SPDX-License-Identifier: Apache-2.0
 * Lattices in three dimensions: short bases, and the lattice points nearest to a point. A matrix
 * is [3][3], its rows one after the other; the rows of a basis are its vectors. */
#ifndef SXI_LATTICE_H
#define SXI_LATTICE_H

#include <stdbool.h>

/* sxi_vector_times - x a for a row x. sxi_times_vector - a x for a column x. y may not be x. */
void sxi_vector_times(const double x[3], const double a[9], double y[3]);
void sxi_times_vector(const double a[9], const double x[3], double y[3]);

/* sxi_matrix_times - c = a b, and c is neither. */
void sxi_matrix_times(const double a[9], const double b[9], double c[9]);

double sxi_determinant(const double a[9]);

/* sxi_matrix_invert - false where the determinant is below 1e-12 of the product of the rows. */
bool sxi_matrix_invert(const double a[9], double inverse[9]);

/* sxi_lattice_reduce - replaces a basis by one of the same lattice whose vectors are as short as
 * can be (Minkowski), in increasing length. The basis must not be singular. */
void sxi_lattice_reduce(double basis[9]);

enum { SXI_LATTICE_NEAREST = 27 };

/* sxi_lattice_nearest - the shortest of the vectors d + lattice point, with those equally short.
 *
 * in   basis      reduced; inverse: its inverse
 * in   d          [3]
 * in   tolerance  lengths that differ by less are equal
 * out  shortest   [count <= 27][3]
 *
 * Returns count >= 1. For a reduced basis the shortest lies among the 27 neighbours of the rounded
 * one. */
int sxi_lattice_nearest(const double basis[9], const double inverse[9], const double d[3],
                        double tolerance, double shortest[SXI_LATTICE_NEAREST][3]);

#endif
