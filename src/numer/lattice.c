/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/lattice.h"

#include <math.h>
#include <string.h>

#include "numer/dense.h"

void sxi_vector_times(const double x[3], const double a[9], double y[3]) {
    for (int k = 0; k < 3; k++) {
        y[k] = x[0] * a[k] + x[1] * a[3 + k] + x[2] * a[6 + k];
    }
}

void sxi_times_vector(const double a[9], const double x[3], double y[3]) {
    for (int k = 0; k < 3; k++) {
        y[k] = sxi_dot(3, a + 3 * k, x);
    }
}

void sxi_matrix_times(const double a[9], const double b[9], double c[9]) {
    for (int k = 0; k < 3; k++) {
        sxi_vector_times(a + 3 * k, b, c + 3 * k);
    }
}

double sxi_determinant(const double a[9]) {
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
           a[2] * (a[3] * a[7] - a[4] * a[6]);
}

bool sxi_matrix_invert(const double a[9], double inverse[9]) {
    const double d = sxi_determinant(a);
    const double size = sxi_norm(3, a) * sxi_norm(3, a + 3) * sxi_norm(3, a + 6);
    if (!(fabs(d) > 1e-12 * size)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int r = (j + 1) % 3, s = (j + 2) % 3, t = (i + 1) % 3, u = (i + 2) % 3;
            inverse[3 * i + j] = (a[3 * r + t] * a[3 * s + u] - a[3 * r + u] * a[3 * s + t]) / d;
        }
    }
    return true;
}

static void sort_by_length(double b[9]) {
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l < 2; l++) {
            double *one = b + 3 * l, *next = one + 3, kept[3];
            if (sxi_dot(3, next, next) < sxi_dot(3, one, one)) {
                memcpy(kept, one, sizeof kept);
                memcpy(one, next, sizeof kept);
                memcpy(next, kept, sizeof kept);
            }
        }
    }
}

/* Takes from the longest vector the sum of multiples of the others that shortens it most; false
 * where none does. The best multiples lie next to those that make it orthogonal to both. */
static bool shorten(double b[9]) {
    const double *b0 = b, *b1 = b + 3;
    double *b2 = b + 6;
    const double g00 = sxi_dot(3, b0, b0), g11 = sxi_dot(3, b1, b1);
    const double g01 = sxi_dot(3, b0, b1);
    const double p0 = sxi_dot(3, b2, b0), p1 = sxi_dot(3, b2, b1);
    const double d = g00 * g11 - g01 * g01;
    const double x = floor((p0 * g11 - p1 * g01) / d), y = floor((p1 * g00 - p0 * g01) / d);
    double best[3], best_square = sxi_dot(3, b2, b2);
    const double enough = best_square * (1 - 1e-10); /* rounding is no progress */
    bool shorter = false;
    for (int i = -1; i <= 2; i++) {
        for (int j = -1; j <= 2; j++) {
            double v[3];
            for (int k = 0; k < 3; k++) {
                v[k] = b2[k] - (x + i) * b0[k] - (y + j) * b1[k];
            }
            const double square = sxi_dot(3, v, v);
            if (square < enough && square < best_square) {
                memcpy(best, v, sizeof best);
                best_square = square;
                shorter = true;
            }
        }
    }
    if (shorter) {
        memcpy(b2, best, sizeof best);
    }
    return shorter;
}

/* Gauss: the two shorter vectors, sorted. */
static void reduce_pair(double b[9]) {
    for (;;) {
        sort_by_length(b);
        const double n = round(sxi_dot(3, b, b + 3) / sxi_dot(3, b, b));
        const double before = sxi_dot(3, b + 3, b + 3);
        double v[3];
        for (int k = 0; k < 3; k++) {
            v[k] = b[3 + k] - n * b[k];
        }
        if (!(sxi_dot(3, v, v) < before * (1 - 1e-10))) {
            return;
        }
        memcpy(b + 3, v, sizeof v);
    }
}

void sxi_lattice_reduce(double basis[9]) {
    do {
        reduce_pair(basis);
    } while (shorten(basis));
    sort_by_length(basis);
}

int sxi_lattice_nearest(const double basis[9], const double inverse[9], const double d[3],
                        double tolerance, double shortest[SXI_LATTICE_NEAREST][3]) {
    double place[3];
    sxi_vector_times(d, inverse, place);
    double vector[SXI_LATTICE_NEAREST][3], length[SXI_LATTICE_NEAREST], least = INFINITY;
    for (int n = 0; n < SXI_LATTICE_NEAREST; n++) {
        const int aside[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        double step[3];
        for (int k = 0; k < 3; k++) {
            step[k] = round(place[k]) + aside[k];
        }
        for (int k = 0; k < 3; k++) {
            vector[n][k] =
                d[k] - step[0] * basis[k] - step[1] * basis[3 + k] - step[2] * basis[6 + k];
        }
        length[n] = sxi_norm(3, vector[n]);
        least = fmin(least, length[n]);
    }
    int count = 0;
    for (int n = 0; n < SXI_LATTICE_NEAREST; n++) {
        if (length[n] <= least + tolerance) {
            memcpy(shortest[count++], vector[n], sizeof vector[n]);
        }
    }
    return count;
}
