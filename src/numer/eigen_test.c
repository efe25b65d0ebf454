/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/eigen.h"

#include <float.h>
#include <string.h>

#include "sx_check.h"

enum { MOST = 96 };

static const double PI = 3.14159265358979323846;

/* 2 on the diagonal, -1 beside it: eigenvalues 2 - 2 cos(k pi / (n + 1)). Rotated by a reflector,
 * so that it is full. */
static void second_difference(int n, double *a) {
    double v[MOST], norm = 0.0;
    for (int i = 0; i < n; i++) {
        v[i] = 1.0 + 0.3 * cos(1.7 * i);
        norm += v[i] * v[i];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i * n + j] = i == j ? 2.0 : abs(i - j) == 1 ? -1.0 : 0.0;
        }
    }
    for (int side = 0; side < 2; side++) { /* each side ends transposed, twice is straight */
        for (int i = 0; i < n; i++) {
            double s = 0.0;
            for (int j = 0; j < n; j++) {
                s += a[i * n + j] * v[j];
            }
            for (int j = 0; j < n; j++) {
                a[i * n + j] -= 2.0 * s * v[j] / norm;
            }
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) {
                double keep = a[i * n + j];
                a[i * n + j] = a[j * n + i];
                a[j * n + i] = keep;
            }
        }
    }
}

/* Absolute 4 n eps |A|, |A| = 4: what the routine promises. */
START_TEST(symmetric_values_and_vectors) {
    static double a[MOST * MOST], copy[MOST * MOST], vectors[MOST * MOST];
    static double work[MOST * MOST + 4 * MOST];
    const int sizes[] = {1, 2, 3, 5, 32, MOST};
    for (int i = 0; i < 6; i++) {
        int n = sizes[i], count = n > 5 ? n / 2 : n;
        double values[MOST], tolerance = 16.0 * n * DBL_EPSILON;
        second_difference(n, a);
        memcpy(copy, a, sizeof a);
        ck_assert(sxi_symmetric_eigen(n, a, count, values, vectors, work));
        for (int k = 0; k < n; k++) {
            ck_near(values[k], 2.0 - 2.0 * cos((n - k) * PI / (n + 1)), 0.0, tolerance);
        }
        for (int k = 0; k < count; k++) {
            const double *x = vectors + k * n;
            double norm = 0.0;
            for (int r = 0; r < n; r++) {
                double ax = 0.0;
                for (int c = 0; c < n; c++) {
                    ax += copy[r * n + c] * x[c];
                }
                ck_near(ax, values[k] * x[r], 0.0, tolerance);
                norm += x[r] * x[r];
            }
            ck_near(norm, 1.0, 0.0, tolerance);
        }
    }
}
END_TEST

START_TEST(symmetric_special_matrices) {
    double zero[9] = {0}, same[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, ones[9];
    double values[3], vectors[9], work[21];
    for (int i = 0; i < 9; i++) {
        ones[i] = 1.0;
    }
    ck_assert(sxi_symmetric_eigen(3, zero, 3, values, vectors, work));
    ck_assert(values[0] == 0.0 && values[2] == 0.0);
    ck_assert(sxi_symmetric_eigen(3, same, 3, values, vectors, work));
    ck_assert(values[0] == 3.0 && values[2] == 3.0);
    ck_assert(sxi_symmetric_eigen(3, ones, 1, values, vectors, work));
    ck_near(values[0], 3.0, 1e-15, 0.0);
    ck_near(values[2], 0.0, 0.0, 1e-15);
    ck_near(fabs(vectors[1]), sqrt(1.0 / 3.0), 1e-15, 0.0);
}
END_TEST

/* Coefficients of the polynomial with the given roots, highest power first, without its leading 1.
 */
static void polynomial(int n, const double *re, const double *im, double *c) {
    double r[MOST + 1] = {1.0}, s[MOST + 1] = {0.0};
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i > 0; i--) {
            r[i] -= re[k] * r[i - 1] - im[k] * s[i - 1];
            s[i] -= re[k] * s[i - 1] + im[k] * r[i - 1];
        }
    }
    memcpy(c, r + 1, (size_t)n * sizeof *c);
}

/* Distance from a root to the nearest eigenvalue. */
static double nearest(double re, double im, int n, const double *x, const double *y) {
    double least = (double)INFINITY;
    for (int i = 0; i < n; i++) {
        least = fmin(least, hypot(re - x[i], im - y[i]));
    }
    return least;
}

/* The roots lie apart, so rounding of their polynomial moves them by no more than 1e-12. */
START_TEST(roots_of_a_polynomial) {
    const double re[7] = {0.5, 0.5, -0.9, -0.9, 0.99, 1.4, -0.2};
    const double im[7] = {0.8, -0.8, 0.1, -0.1, 0.0, 0.0, 0.0};
    double c[7], h[49] = {0}, x[7], y[7];
    polynomial(7, re, im, c);
    for (int i = 0; i < 7; i++) {
        h[i] = -c[i];
        if (i > 0) {
            h[i * 7 + i - 1] = 1.0;
        }
    }
    ck_assert(sxi_hessenberg_eigen(7, h, x, y));
    for (int i = 0; i < 7; i++) {
        ck_assert(nearest(re[i], im[i], 7, x, y) <= 1e-12);
        ck_assert(y[i] >= 0.0 || y[i - 1] == -y[i]);
    }
}
END_TEST

/* z^n = 1: QR steps without the odd shift stay where they are for ever. */
START_TEST(roots_of_unity) {
    static double h[MOST * MOST];
    double x[MOST], y[MOST];
    h[MOST - 1] = 1.0;
    for (int i = 1; i < MOST; i++) {
        h[i * MOST + i - 1] = 1.0;
    }
    ck_assert(sxi_hessenberg_eigen(MOST, h, x, y));
    for (int i = 0; i < MOST; i++) {
        double angle = 2.0 * PI * i / MOST;
        ck_assert(nearest(cos(angle), sin(angle), MOST, x, y) <= 1e-12);
    }
}
END_TEST

/* A full matrix D^-1 B D with B block diagonal: trace, determinant and roots are known. */
START_TEST(full_matrix_through_hessenberg) {
    const double re[5] = {0.9, 0.9, 0.2, 0.2, 1.0}, im[5] = {0.3, -0.3, 0.7, -0.7, 0.0};
    double b[25] = {0}, a[25] = {0}, v[5] = {1.0, -2.0, 0.5, 1.5, 1.0}, work[5], x[5], y[5];
    for (int k = 0; k < 5; k++) {
        b[k * 5 + k] = re[k];
    }
    b[0 * 5 + 1] = im[0];
    b[1 * 5 + 0] = -im[0];
    b[2 * 5 + 3] = im[2];
    b[3 * 5 + 2] = -im[2];
    double norm = 0.0;
    for (int k = 0; k < 5; k++) {
        norm += v[k] * v[k];
    }
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) { /* H B H with H = 1 - 2 v v' / norm */
            for (int k = 0; k < 5; k++) {
                for (int l = 0; l < 5; l++) {
                    double left = (i == k ? 1.0 : 0.0) - 2.0 * v[i] * v[k] / norm;
                    double right = (l == j ? 1.0 : 0.0) - 2.0 * v[l] * v[j] / norm;
                    a[i * 5 + j] += left * b[k * 5 + l] * right;
                }
            }
        }
    }
    sxi_hessenberg_reduce(5, a, work);
    for (int i = 2; i < 5; i++) {
        for (int j = 0; j < i - 1; j++) {
            ck_near(a[i * 5 + j], 0.0, 0.0, 0.0);
        }
    }
    ck_assert(sxi_hessenberg_eigen(5, a, x, y));
    for (int i = 0; i < 5; i++) {
        ck_assert(nearest(re[i], im[i], 5, x, y) <= 1e-14);
    }
}
END_TEST

SX_TEST_MAIN("eigen", symmetric_values_and_vectors, symmetric_special_matrices,
             roots_of_a_polynomial, roots_of_unity, full_matrix_through_hessenberg)
