/* SPDX-License-Identifier: Apache-2.0
 * Jacobi's method, since a matrix of 3 to 30 rows needs no better one and its vectors come out
 * orthogonal to the last digit, also those of equal values. */
#include "numer/hermitian.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Each sweep squares what is left, so that six to eight are enough. */
enum { MOST_SWEEPS = 60 };

/* A rotation of elements p and q, after q has been multiplied by exp(-i angle). */
typedef struct rotation {
    double c, s;   /* cosine and sine */
    double re, im; /* exp(-i angle) */
} rotation;

static void rotate(rotation r, double *p, double *q) {
    const double re = r.re * q[0] - r.im * q[1];
    const double im = r.re * q[1] + r.im * q[0];
    q[0] = r.s * p[0] + r.c * re;
    q[1] = r.s * p[1] + r.c * im;
    p[0] = r.c * p[0] - r.s * re;
    p[1] = r.c * p[1] - r.s * im;
}

static void put_conjugate(double *to, const double *from) {
    to[0] = from[0];
    to[1] = -from[1];
}

/* Makes a_pq zero. */
static void annihilate(int n, double *a, double *vectors, int p, int q) {
    double *pq = a + 2 * (n * p + q);
    double *pp = a + 2 * (n * p + p), *qq = a + 2 * (n * q + q);
    const double size = hypot(pq[0], pq[1]);
    const double ratio = 0.5 * (qq[0] - pp[0]) / size;
    const double t = copysign(1, ratio) / (fabs(ratio) + hypot(ratio, 1));
    const double c = 1 / hypot(t, 1);
    const rotation r = {c, t * c, pq[0] / size, -pq[1] / size};
    pp[0] -= t * size;
    qq[0] += t * size;
    pq[0] = pq[1] = 0;
    put_conjugate(a + 2 * (n * q + p), pq);
    for (int k = 0; k < n; k++) {
        if (k != p && k != q) {
            rotate(r, a + 2 * (n * k + p), a + 2 * (n * k + q));
            put_conjugate(a + 2 * (n * p + k), a + 2 * (n * k + p));
            put_conjugate(a + 2 * (n * q + k), a + 2 * (n * k + q));
        }
        rotate(r, vectors + 2 * (n * p + k), vectors + 2 * (n * q + k));
    }
}

/* One sweep over the upper triangle; whether anything was still to be done. */
static bool sweep(int n, double *a, double *vectors, double least) {
    bool changed = false;
    for (int p = 0; p < n - 1; p++) {
        for (int q = p + 1; q < n; q++) {
            const double *pq = a + 2 * (n * p + q);
            if (fabs(pq[0]) + fabs(pq[1]) > least) {
                annihilate(n, a, vectors, p, q);
                changed = true;
            }
        }
    }
    return changed;
}

static void swap(double *x, double *y, int count) {
    for (int k = 0; k < count; k++) {
        const double kept = x[k];
        x[k] = y[k];
        y[k] = kept;
    }
}

static void sort(int n, double *values, double *vectors) {
    for (int k = 0; k < n - 1; k++) {
        int least = k;
        for (int l = k + 1; l < n; l++) {
            least = values[l] < values[least] ? l : least;
        }
        if (least != k) {
            swap(values + k, values + least, 1);
            swap(vectors + 2 * n * k, vectors + 2 * n * least, 2 * n);
        }
    }
}

/* The phase is free; without a rule it would depend on the order of the rotations. */
static void fix_phase(int n, double *v) {
    double most = 0;
    for (int k = 0; k < n; k++) {
        most = fmax(most, hypot(v[2 * k], v[2 * k + 1]));
    }
    int first = 0;
    while (hypot(v[2 * first], v[2 * first + 1]) < (1 - 1e-6) * most) {
        first++;
    }
    const double size = hypot(v[2 * first], v[2 * first + 1]);
    const double re = v[2 * first] / size, im = -v[2 * first + 1] / size;
    for (int k = 0; k < n; k++) {
        const double x = v[2 * k], y = v[2 * k + 1];
        v[2 * k] = re * x - im * y;
        v[2 * k + 1] = re * y + im * x;
    }
    v[2 * first + 1] = 0;
}

bool sxi_hermitian_eigen(int n, double *a, double *values, double *vectors) {
    double norm = 0;
    memset(vectors, 0, sizeof(double) * 2 * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        vectors[2 * (n * i + i)] = 1;
        a[2 * (n * i + i) + 1] = 0;
        norm += fabs(a[2 * (n * i + i)]); /* a sum, not the largest: fmax skips NaN */
        for (int j = i + 1; j < n; j++) {
            const double *ij = a + 2 * (n * i + j);
            put_conjugate(a + 2 * (n * j + i), ij);
            norm += hypot(ij[0], ij[1]);
        }
    }
    if (!isfinite(norm)) {
        return false;
    }
    /* An element this small moves no value by a digit that counts. */
    const double least = 0.01 * DBL_EPSILON * norm / n;
    int sweeps = 0;
    while (sweep(n, a, vectors, least)) {
        if (++sweeps == MOST_SWEEPS) {
            return false;
        }
    }
    for (int k = 0; k < n; k++) {
        values[k] = a[2 * (n * k + k)];
    }
    sort(n, values, vectors);
    for (int k = 0; k < n; k++) {
        fix_phase(n, vectors + 2 * n * k);
    }
    return true;
}
