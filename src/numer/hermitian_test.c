/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/hermitian.h"

#include <math.h>
#include <string.h>

#include "sx_check.h"

enum { MOST = 30 };

static double original[MOST * MOST * 2], a[MOST * MOST * 2], vectors[MOST * MOST * 2];
static double values[MOST];

/* Hermitian, with elements between -1 and 1 that follow no rule. */
static void fill(int n) {
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            const double re = sin(12.9898 * i + 78.233 * j + n) * 43758.5453;
            const double im = sin(39.346 * i + 11.135 * j + n) * 24634.6345;
            double *ij = original + 2 * (n * i + j), *ji = original + 2 * (n * j + i);
            ij[0] = ji[0] = 2 * (re - floor(re)) - 1;
            ij[1] = i == j ? 0 : 2 * (im - floor(im)) - 1;
            ji[1] = -ij[1];
        }
    }
    memcpy(a, original, sizeof a);
}

/* |a v - value v|, largest element. */
static double residual(int n, int k) {
    double worst = 0;
    const double *v = vectors + 2 * n * k;
    for (int i = 0; i < n; i++) {
        double re = -values[k] * v[2 * i], im = -values[k] * v[2 * i + 1];
        for (int j = 0; j < n; j++) {
            const double *ij = original + 2 * (n * i + j);
            re += ij[0] * v[2 * j] - ij[1] * v[2 * j + 1];
            im += ij[0] * v[2 * j + 1] + ij[1] * v[2 * j];
        }
        worst = fmax(worst, hypot(re, im));
    }
    return worst;
}

START_TEST(vectors_belong_to_values) {
    const int sizes[] = {1, 2, 3, 6, 24, MOST};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int n = sizes[s];
        fill(n);
        ck_assert(sxi_hermitian_eigen(n, a, values, vectors));
        double trace = 0, sum = 0;
        for (int k = 0; k < n; k++) {
            trace += original[2 * (n * k + k)];
            sum += values[k];
            ck_assert(k == 0 || values[k] >= values[k - 1]);
            /* Rounding of n products of order 1. */
            ck_near(residual(n, k), 0, 0, 1e-14 * n);
            for (int l = 0; l <= k; l++) {
                double re = 0, im = 0;
                for (int i = 0; i < n; i++) {
                    const double *x = vectors + 2 * (n * k + i), *y = vectors + 2 * (n * l + i);
                    re += x[0] * y[0] + x[1] * y[1];
                    im += x[0] * y[1] - x[1] * y[0];
                }
                ck_near(re, k == l, 0, 1e-14 * n);
                ck_near(im, 0, 0, 1e-14 * n);
            }
        }
        ck_near(sum, trace, 0, 1e-14 * n);
    }
}
END_TEST

/* Its values are 1 -+ |z|; two fold ones keep orthogonal vectors. */
START_TEST(closed_form) {
    const double two[] = {1, 0, 0.3, -0.4, 7, 7, 1, 0};
    memcpy(a, two, sizeof two);
    ck_assert(sxi_hermitian_eigen(2, a, values, vectors));
    ck_near(values[0], 0.5, 0, 1e-15);
    ck_near(values[1], 1.5, 0, 1e-15);
    /* Largest element real and positive: (1, -(0.6 + 0.8 i)) / sqrt 2. */
    const double v = sqrt(0.5);
    ck_near(vectors[0], v, 0, 1e-15);
    ck_near(vectors[1], 0, 0, 0);
    ck_near(vectors[2], -0.6 * v, 0, 1e-15);
    ck_near(vectors[3], -0.8 * v, 0, 1e-15);

    /* A ring of three: 2 - 2 cos(2 pi k / 3), the upper one twofold. */
    const double ring[] = {2, 0, -1, 0, -1, 0, 0, 0, 2, 0, -1, 0, 0, 0, 0, 0, 2, 0};
    memcpy(a, ring, sizeof ring);
    memcpy(original, (double[]){2, 0, -1, 0, -1, 0, -1, 0, 2, 0, -1, 0, -1, 0, -1, 0, 2, 0},
           sizeof ring);
    ck_assert(sxi_hermitian_eigen(3, a, values, vectors));
    ck_near(values[0], 0, 0, 1e-15);
    ck_near(values[1], 3, 0, 1e-14);
    ck_near(values[2], 3, 0, 1e-14);
    for (int k = 0; k < 3; k++) {
        ck_near(residual(3, k), 0, 0, 1e-14);
    }
}
END_TEST

START_TEST(no_number_is_told) {
    fill(3);
    a[2] = NAN;
    ck_assert(!sxi_hermitian_eigen(3, a, values, vectors));
}
END_TEST

SX_TEST_MAIN("hermitian", vectors_belong_to_values, closed_form, no_number_is_told)
