/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/lattice.h"

#include <string.h>

#include "numer/dense.h"
#include "sx_check.h"

static double fraction(double x) { return x - floor(x); }

/* Between 0 and 1, without rule. */
static double hash(int n) { return fraction(sin(12.9898 * n + 4.1) * 43758.5453); }

/* A skew basis: short vectors, then each has had multiples of the others added. */
static void skew(int n, double b[9]) {
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            b[3 * i + k] = (i == k ? 2 : 0) + hash(9 * n + 3 * i + k);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            b[3 * i + k] += (n % 5) * b[3 * ((i + 1) % 3) + k] - (n % 3) * b[3 * ((i + 2) % 3) + k];
        }
    }
}

START_TEST(a_reduced_basis_is_short) {
    for (int n = 0; n < 200; n++) {
        double b[9], kept[9], inverse[9], steps[9];
        skew(n, b);
        if (fabs(sxi_determinant(b)) < 0.1) {
            continue;
        }
        memcpy(kept, b, sizeof b);
        sxi_lattice_reduce(b);
        /* The same lattice: whole coefficients, determinant 1. */
        ck_assert(sxi_matrix_invert(b, inverse));
        sxi_matrix_times(kept, inverse, steps);
        for (int i = 0; i < 9; i++) {
            ck_near(steps[i], round(steps[i]), 0, 1e-9);
        }
        ck_near(fabs(sxi_determinant(steps)), 1, 0, 1e-9);
        /* No combination of small coefficients that holds b2 is shorter than it, and so on. */
        for (int m = 0; m < 343; m++) {
            const int c[3] = {m / 49 - 3, m / 7 % 7 - 3, m % 7 - 3};
            double v[3];
            for (int k = 0; k < 3; k++) {
                v[k] = c[0] * b[k] + c[1] * b[3 + k] + c[2] * b[6 + k];
            }
            const int last = c[2] ? 2 : c[1] ? 1 : 0;
            ck_assert(!c[last] || sxi_norm(3, v) > sxi_norm(3, b + 3 * last) * (1 - 1e-9));
        }
    }
}
END_TEST

/* Against all of 11 x 11 x 11 lattice points. */
START_TEST(nearest_of_all) {
    for (int n = 0; n < 200; n++) {
        double b[9], inverse[9], found[SXI_LATTICE_NEAREST][3];
        skew(n, b);
        if (fabs(sxi_determinant(b)) < 0.1) {
            continue;
        }
        sxi_lattice_reduce(b);
        ck_assert(sxi_matrix_invert(b, inverse));
        double d[3] = {0};
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                d[k] += (2 * hash(7 * n + i) - 1) * b[3 * i + k];
            }
        }
        double least = INFINITY;
        for (int m = 0; m < 1331; m++) {
            const int c[3] = {m / 121 - 5, m / 11 % 11 - 5, m % 11 - 5};
            double v[3];
            for (int k = 0; k < 3; k++) {
                v[k] = d[k] + c[0] * b[k] + c[1] * b[3 + k] + c[2] * b[6 + k];
            }
            least = fmin(least, sxi_norm(3, v));
        }
        ck_assert_int_ge(sxi_lattice_nearest(b, inverse, d, 1e-9, found), 1);
        ck_near(sxi_norm(3, found[0]), least, 0, 1e-12);
    }
}
END_TEST

/* The middle of a cube has eight corners, that of the fcc cell's octahedron six. */
START_TEST(equally_near) {
    const double cube[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double found[SXI_LATTICE_NEAREST][3];
    ck_assert_int_eq(sxi_lattice_nearest(cube, cube, (double[]){0.5, 0.5, 0.5}, 1e-9, found), 8);
    double fcc[9] = {0, 1, 1, 1, 0, 1, 1, 1, 0}, inverse[9];
    sxi_lattice_reduce(fcc);
    ck_assert(sxi_matrix_invert(fcc, inverse));
    ck_assert_int_eq(sxi_lattice_nearest(fcc, inverse, (double[]){1, 0, 0}, 1e-9, found), 6);
}
END_TEST

START_TEST(flat_is_told) {
    const double flat[9] = {1, 0, 0, 0, 1, 0, 1, 1, 0};
    double inverse[9];
    ck_assert(!sxi_matrix_invert(flat, inverse));
}
END_TEST

SX_TEST_MAIN("lattice", a_reduced_basis_is_short, nearest_of_all, equally_near, flat_is_told)
