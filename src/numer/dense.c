/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/dense.h"

#include <math.h>
#include <string.h>

double sxi_dot(int n, const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

double sxi_norm(int n, const double *a) { return sqrt(sxi_dot(n, a, a)); }

/* b becomes (I - tau v v') b; v is 1 followed by what is stored below the diagonal. */
static void reflect(int length, const double *v, double tau, double *b) {
    double s = tau * (b[0] + sxi_dot(length - 1, v + 1, b + 1));
    b[0] -= s;
    for (int i = 1; i < length; i++) {
        b[i] -= s * v[i];
    }
}

double sxi_reflector(int length, double *x) {
    double norm = sxi_norm(length, x);
    if (!(norm > 0.0)) {
        return 0.0;
    }
    double beta = x[0] > 0.0 ? -norm : norm; /* the opposite sign, so nothing cancels */
    double scale = x[0] - beta;
    for (int i = 1; i < length; i++) {
        x[i] /= scale;
    }
    double tau = -scale / beta;
    x[0] = beta;
    return tau;
}

static void swap_columns(int m, double *a, double *b) {
    for (int i = 0; i < m; i++) {
        double keep = a[i];
        a[i] = b[i];
        b[i] = keep;
    }
}

void sxi_qr_factor(int m, int n, double *a, double *tau, int *pivot) {
    size_t stride = (size_t)m;
    for (int j = 0; j < n; j++) {
        pivot[j] = j;
    }
    for (int k = 0; k < n; k++) {
        /* The norms of what is left are computed afresh: with few columns this costs as much as
         * the reflection itself, and downdated norms lose their digits in dependent columns. */
        int best = k;
        double largest = -1.0;
        for (int j = k; j < n; j++) {
            double norm = sxi_norm(m - k, a + (size_t)j * stride + k);
            if (norm > largest) {
                largest = norm;
                best = j;
            }
        }
        if (best != k) {
            swap_columns(m, a + (size_t)k * stride, a + (size_t)best * stride);
            int keep = pivot[k];
            pivot[k] = pivot[best];
            pivot[best] = keep;
        }
        double *v = a + (size_t)k * stride + k;
        tau[k] = sxi_reflector(m - k, v);
        for (int j = k + 1; j < n; j++) {
            reflect(m - k, v, tau[k], a + (size_t)j * stride + k);
        }
    }
}

void sxi_qr_apply(int m, int n, const double *a, const double *tau, double *b) {
    for (int k = 0; k < n; k++) {
        reflect(m - k, a + (size_t)k * (size_t)m + k, tau[k], b + k);
    }
}

void sxi_upper_solve(int n, const double *r, const double *b, double *x) {
    for (int i = n - 1; i >= 0; i--) {
        const double *row = r + (size_t)i * (size_t)n;
        x[i] = (b[i] - sxi_dot(n - 1 - i, row + i + 1, x + i + 1)) / row[i];
    }
}

void sxi_upper_solve_transposed(int n, const double *r, const double *b, double *x) {
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        for (int k = 0; k < i; k++) {
            sum -= r[(size_t)k * (size_t)n + (size_t)i] * x[k];
        }
        x[i] = sum / r[(size_t)i * (size_t)n + (size_t)i];
    }
}

void sxi_upper_damped(int n, const double *r, const double *q, double damping, double *s, double *t,
                      double *row) {
    size_t width = (size_t)n;
    memcpy(s, r, width * width * sizeof *s);
    memcpy(t, q, width * sizeof *t);
    for (int j = 0; j < n; j++) {
        /* The row sqrt(damping) e_j is rotated into the triangle; its right side starts as 0. */
        memset(row, 0, width * sizeof *row);
        row[j] = sqrt(damping);
        double right = 0.0;
        for (int k = j; k < n; k++) {
            double *upper = s + (size_t)k * width;
            double length = hypot(upper[k], row[k]);
            if (!(length > 0.0)) {
                continue;
            }
            double c = upper[k] / length, d = row[k] / length;
            for (int l = k; l < n; l++) {
                double keep = upper[l];
                upper[l] = c * keep + d * row[l];
                row[l] = c * row[l] - d * keep;
            }
            double keep = t[k];
            t[k] = c * keep + d * right;
            right = c * right - d * keep;
        }
    }
}
