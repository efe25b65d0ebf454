/* SPDX-License-Identifier: Apache-2.0
 * Householder's tridiagonal form, then QR steps with Wilkinson's shift (Golub and Van Loan, Matrix
 * Computations, 8.3). Vectors are kept as rows, so every rotation runs along memory. */
#include "numer/eigen.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "numer/dense.h"

typedef struct tridiagonal {
    int n;
    double *d;   /* [n] diagonal */
    double *e;   /* [n] subdiagonal, the last unused */
    double *tau; /* [n] scalars of the reflectors; the vectors stay in the rows of the matrix */
    double *z;   /* [n][n] rows: eigenvectors of the tridiagonal matrix */
} tridiagonal;

/* B -= v w' + w v' with w = tau (B v - (tau v'Bv / 2) v): the reflector v on both sides of the
 * trailing length x length block B of a matrix with rows of n. */
static void reflect_both(int n, int length, double *b, const double *v, double tau, double *w) {
    memset(w, 0, (size_t)length * sizeof *w);
    for (int j = 0; j < length; j++) {
        const double *row = b + (ptrdiff_t)j * n;
        double x = tau * v[j];
        for (int i = 0; i < length; i++) {
            w[i] += x * row[i];
        }
    }
    double half = 0.5 * tau * sxi_dot(length, w, v);
    for (int i = 0; i < length; i++) {
        w[i] -= half * v[i];
    }
    for (int j = 0; j < length; j++) {
        double *row = b + (ptrdiff_t)j * n;
        double x = v[j], y = w[j];
        for (int i = 0; i < length; i++) {
            row[i] -= x * w[i] + y * v[i];
        }
    }
}

/* The reflector of step k is left in row k of a, behind the diagonal. w [n] is work. */
static void make_tridiagonal(double *a, tridiagonal *t, double *w) {
    int n = t->n;
    for (int k = 0; k < n; k++) {
        double *row = a + (ptrdiff_t)k * n;
        t->d[k] = row[k];
        t->e[k] = 0.0;
        t->tau[k] = 0.0;
        int length = n - 1 - k;
        if (length > 0) {
            double *v = row + k + 1;
            t->tau[k] = sxi_reflector(length, v);
            t->e[k] = v[0];
            v[0] = 1.0;
            reflect_both(n, length, row + n + k + 1, v, t->tau[k], w);
        }
    }
}

static void rotate(int n, double c, double s, double *x, double *y) {
    for (int i = 0; i < n; i++) {
        double keep = x[i];
        x[i] = c * keep + s * y[i];
        y[i] = c * y[i] - s * keep;
    }
}

/* One QR step on rows low .. high. */
static void sweep(tridiagonal *t, int low, int high) {
    double *d = t->d, *e = t->e;
    double half = 0.5 * (d[high - 1] - d[high]), last = e[high - 1];
    double root = hypot(half, last);
    double shift = d[high] - last * (last / (half + (half < 0.0 ? -root : root)));
    double x = d[low] - shift, bulge = e[low];
    for (int k = low; k < high; k++) {
        double length = hypot(x, bulge);
        double c = length > 0.0 ? x / length : 1.0, s = length > 0.0 ? bulge / length : 0.0;
        if (k > low) {
            e[k - 1] = length;
        }
        double p = d[k], q = d[k + 1], r = e[k];
        d[k] = c * c * p + 2.0 * c * s * r + s * s * q;
        d[k + 1] = s * s * p - 2.0 * c * s * r + c * c * q;
        e[k] = c * s * (q - p) + (c * c - s * s) * r;
        x = e[k];
        if (k + 1 < high) {
            bulge = s * e[k + 1];
            e[k + 1] *= c;
        }
        rotate(t->n, c, s, t->z + (ptrdiff_t)k * t->n, t->z + (ptrdiff_t)(k + 1) * t->n);
    }
}

static bool negligible(const tridiagonal *t, int k) {
    return fabs(t->e[k]) <= DBL_EPSILON * (fabs(t->d[k]) + fabs(t->d[k + 1]));
}

static bool diagonalise(tridiagonal *t) {
    int high = t->n - 1;
    for (int left = 30 * t->n; high > 0 && left > 0;) {
        if (negligible(t, high - 1)) {
            high--;
            continue;
        }
        int low = high - 1;
        while (low > 0 && !negligible(t, low - 1)) {
            low--;
        }
        sweep(t, low, high);
        left--;
    }
    return high <= 0;
}

/* Applies the reflectors to a vector of the tridiagonal matrix: the last one first. */
static void back_transform(const double *a, const tridiagonal *t, double *x) {
    for (int k = t->n - 2; k >= 0; k--) {
        const double *v = a + (ptrdiff_t)k * t->n + k + 1;
        int length = t->n - 1 - k;
        double s = t->tau[k] * sxi_dot(length, v, x + k + 1);
        for (int i = 0; i < length; i++) {
            x[k + 1 + i] -= s * v[i];
        }
    }
}

bool sxi_symmetric_eigen(int n, double *a, int count, double *values, double *vectors,
                         double *work) {
    size_t width = (size_t)n;
    tridiagonal t = {.n = n, .z = work, .d = work + width * width};
    t.e = t.d + n;
    t.tau = t.e + n;
    make_tridiagonal(a, &t, t.tau + n);
    memset(t.z, 0, width * width * sizeof *t.z);
    for (size_t i = 0; i < width; i++) {
        t.z[i * width + i] = 1.0;
    }
    if (!diagonalise(&t)) {
        return false;
    }
    for (int k = 0; k < n; k++) {
        int best = 0;
        for (int i = 1; i < n; i++) {
            if (!(t.d[best] >= t.d[i])) {
                best = i;
            }
        }
        values[k] = t.d[best];
        t.d[best] = (double)-INFINITY;
        if (k < count) {
            double *x = vectors + (ptrdiff_t)k * n;
            memcpy(x, t.z + (ptrdiff_t)best * n, width * sizeof *x);
            back_transform(a, &t, x);
        }
    }
    return true;
}
