/* SPDX-License-Identifier: Apache-2.0 */
#include "fit_newton.h"

#include <math.h>

enum { N = FIT_MOST_PARAMETERS, M = FIT_MOST_SAMPLES, STEPS = 20 };
static const double NEGLIGIBLE = 1e-8; /* of a standard deviation; the step after it is 1e-16 */
static const double TWO_PI = 6.283185307179586476925286766559;

/* Half the second derivative of sum r^2, less J'J: sum r d2r of each mode with itself. Order: A, g,
 * f, p. */
static void add_curvature(const fit_problem *problem, const double *p, const double *r, int n,
                          double *matrix) {
    for (int i = 0; i < problem->nt; i++) {
        const double t = problem->t[i], w = TWO_PI * t;
        const double factor = r[i] / (problem->sigma ? problem->sigma[i] : 1);
        for (int k = 0; k < problem->modes; k++) {
            const double *q = p + 1 + 4 * k, a = q[0];
            const double u = factor * exp(-q[1] * t) * cos(w * q[2] + q[3]);
            const double v = factor * exp(-q[1] * t) * sin(w * q[2] + q[3]);
            const double second[4][4] = {{0, -t * u, -w * v, -v},
                                         {-t * u, a * t * t * u, a * t * w * v, a * t * v},
                                         {-w * v, a * t * w * v, -a * w * w * u, -a * w * u},
                                         {-v, a * t * v, -a * w * u, -a * u}};
            for (int x = 0; x < 4; x++) {
                for (int y = 0; y < 4; y++) {
                    matrix[(1 + 4 * k + x) * n + 1 + 4 * k + y] += second[x][y];
                }
            }
        }
    }
}

/* Gradient and matrix scaled to a unit diagonal of J'J, so that a step of the root mean square of r
 * is one standard deviation. Returns that. */
static double equations(const fit_problem *problem, const double *p, int n, double *matrix,
                        double *gradient, double *scale) {
    static _Thread_local double r[M], j[M * N];
    double square = 0;
    fit_residual(problem, p, r);
    fit_jacobian(problem, p, n, 1, j);
    for (int a = 0; a < n; a++) {
        gradient[a] = 0;
        for (int b = 0; b < n; b++) {
            matrix[a * n + b] = 0;
        }
    }
    for (int i = 0; i < problem->nt; i++) {
        square += r[i] * r[i];
        for (int a = 0; a < n; a++) {
            gradient[a] += j[i * n + a] * r[i];
            for (int b = 0; b < n; b++) {
                matrix[a * n + b] += j[i * n + a] * j[i * n + b];
            }
        }
    }
    for (int a = 0; a < n; a++) {
        scale[a] = 1 / sqrt(matrix[a * n + a]);
    }
    add_curvature(problem, p, r, n, matrix);
    for (int a = 0; a < n; a++) {
        gradient[a] *= scale[a];
        for (int b = 0; b < n; b++) {
            matrix[a * n + b] *= scale[a] * scale[b];
        }
    }
    return sqrt(square / problem->nt);
}

/* Cholesky's method without keeping the factor: are all pivots above zero? */
static bool minimum(int n, const double *matrix) {
    double l[N * N];
    for (int a = 0; a < n; a++) {
        for (int b = 0; b <= a; b++) {
            double sum = matrix[a * n + b];
            for (int c = 0; c < b; c++) {
                sum -= l[a * n + c] * l[b * n + c];
            }
            if (a == b && !(sum > 0)) {
                return false;
            }
            l[a * n + b] = a == b ? sqrt(sum) : sum / l[b * n + b];
        }
    }
    return true;
}

bool fit_newton(const fit_problem *problem, double *p) {
    const int n = fit_parameters(problem->modes);
    double before = (double)INFINITY;
    for (int step = 0; step < STEPS; step++) {
        double matrix[N * N], gradient[N], scale[N], longest = 0;
        const double deviation = equations(problem, p, n, matrix, gradient, scale);
        if (!minimum(n, matrix) || !fit_solve(n, matrix, gradient)) {
            return false;
        }
        for (int a = 0; a < n; a++) {
            p[a] -= scale[a] * gradient[a];
            longest = fmax(longest, fabs(gradient[a]));
        }
        if (!(longest < before)) { /* rounding no longer lets the steps shrink, or it diverges */
            return before < NEGLIGIBLE * deviation;
        }
        before = longest;
    }
    return false;
}
