/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/lm_step.h"

#include <math.h>
#include <string.h>

#include "numer/dense.h"

/* The length may miss the radius by this much: a trust region is a guess anyway, and an exact
 * solution takes three times the work. */
static const double SLACK = 0.1;

/* R z = -q with the last n - rank elements of z zero. */
static void undamped(int n, const double *r, const double *q, int rank, double *z) {
    memset(z, 0, (size_t)n * sizeof *z);
    for (int i = rank - 1; i >= 0; i--) {
        const double *row = r + (size_t)i * (size_t)n;
        z[i] = (-q[i] - sxi_dot(rank - 1 - i, row + i + 1, z + i + 1)) / row[i];
    }
}

/* Newton's correction to the damping for 1 / |z| = 1 / radius, a function nearly straight in it:
 * with S'S = R'R + damping I it is (|z| - radius) / (radius |S^-T z / |z||^2). */
static double correction(int n, const double *s, const double *z, double length, double radius,
                         double *w) {
    for (int i = 0; i < n; i++) {
        w[i] = z[i] / length;
    }
    sxi_upper_solve_transposed(n, s, w, w);
    return (length - radius) / (radius * sxi_dot(n, w, w));
}

/* |R'q|: the slope of the sum of squares, half. */
static double slope(int n, const double *r, const double *q) {
    double sum = 0.0;
    for (int j = 0; j < n; j++) {
        double g = 0.0;
        for (int i = 0; i <= j; i++) {
            g += r[(size_t)i * (size_t)n + (size_t)j] * q[i];
        }
        sum += g * g;
    }
    return sqrt(sum);
}

void sxi_lm_step(int n, const double *r, const double *q, int rank, double radius, double *damping,
                 double *z, double *work) {
    double *s = work, *t = s + (size_t)n * (size_t)n, *row = t + n, *w = row + n;
    undamped(n, r, q, rank, z);
    double length = sxi_norm(n, z);
    double miss = length - radius;
    if (miss <= SLACK * radius) {
        *damping = 0.0;
        return;
    }
    /* Bounds that always hold the solution. Without full rank nothing is known from below. */
    double lower = rank == n ? correction(n, r, z, length, radius, w) : 0.0;
    double upper = slope(n, r, q) / radius;
    double x = fmin(fmax(*damping, lower), upper);
    if (!(x > 0.0)) {
        x = upper * radius / length;
    }
    for (int iteration = 0; iteration < 10; iteration++) {
        if (!(x > 0.0)) {
            x = 1e-3 * upper;
        }
        sxi_upper_damped(n, r, q, x, s, t, row);
        sxi_upper_solve(n, s, t, z);
        for (int i = 0; i < n; i++) {
            z[i] = -z[i];
        }
        length = sxi_norm(n, z);
        double before = miss;
        miss = length - radius;
        /* Second case: no damping reaches the radius, as R is singular; the step is short enough.
         */
        if (fabs(miss) <= SLACK * radius || (!(lower > 0.0) && miss <= before && before < 0.0)) {
            break;
        }
        double change = correction(n, s, z, length, radius, w);
        if (miss > 0.0) {
            lower = fmax(lower, x);
        } else {
            upper = fmin(upper, x);
        }
        x = fmax(lower, x + change);
    }
    *damping = x;
}
