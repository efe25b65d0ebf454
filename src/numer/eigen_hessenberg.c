/* SPDX-License-Identifier: Apache-2.0
 * Francis' double-shift QR steps on the active block alone, as no vectors are wanted (Golub and Van
 * Loan, Matrix Computations, 7.5). */
#include "numer/eigen.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "numer/dense.h"

/* The steps an eigenvalue may take, and after how many an arbitrary shift breaks a cycle. */
enum { STEPS = 40, STEPS_TO_ODD_SHIFT = 10 };

typedef struct matrix {
    int n;
    double *h;
} matrix;

static double *at(const matrix *m, int row, int column) {
    return m->h + (ptrdiff_t)row * m->n + column;
}

/* Rows row .. row + length - 1 become (I - tau v v') times them, in columns first .. last. */
static void from_left(const matrix *m, int row, int length, const double *v, double tau, int first,
                      int last) {
    for (int j = first; j <= last; j++) {
        double s = 0.0;
        for (int i = 0; i < length; i++) {
            s += v[i] * *at(m, row + i, j);
        }
        s *= tau;
        for (int i = 0; i < length; i++) {
            *at(m, row + i, j) -= s * v[i];
        }
    }
}

/* The same from the right, in rows first .. last. */
static void from_right(const matrix *m, int column, int length, const double *v, double tau,
                       int first, int last) {
    for (int i = first; i <= last; i++) {
        double *row = at(m, i, column);
        double s = tau * sxi_dot(length, row, v);
        for (int j = 0; j < length; j++) {
            row[j] -= s * v[j];
        }
    }
}

void sxi_hessenberg_reduce(int n, double *a, double *v) {
    matrix m = {n, a};
    for (int k = 0; k + 2 < n; k++) {
        int length = n - 1 - k;
        for (int i = 0; i < length; i++) {
            v[i] = *at(&m, k + 1 + i, k);
        }
        double tau = sxi_reflector(length, v);
        *at(&m, k + 1, k) = v[0];
        v[0] = 1.0;
        for (int i = 1; i < length; i++) {
            *at(&m, k + 1 + i, k) = 0.0;
        }
        from_left(&m, k + 1, length, v, tau, k + 1, n - 1);
        from_right(&m, k + 1, length, v, tau, 0, n - 1);
    }
}

/* Eigenvalues of (a b; c d). */
static void pair_of(double a, double b, double c, double d, double *re, double *im) {
    double half = 0.5 * (a - d), square = half * half + b * c;
    double root = sqrt(fabs(square));
    if (square >= 0.0) {
        double z = half + (half < 0.0 ? -root : root);
        re[0] = d + z;
        re[1] = z != 0.0 ? d - b * (c / z) : d;
        im[0] = im[1] = 0.0;
    } else {
        re[0] = re[1] = d + half;
        im[0] = root;
        im[1] = -root;
    }
}

/* First row of the block that ends at high: above it the subdiagonal is negligible. */
static int block_start(const matrix *m, int high) {
    int low = high;
    while (low > 0) {
        double size = fabs(*at(m, low, low)) + fabs(*at(m, low - 1, low - 1));
        if (fabs(*at(m, low, low - 1)) <= DBL_EPSILON * size) {
            break;
        }
        low--;
    }
    return low;
}

/* One double step on rows low .. high with the shifts of sum `trace` and product `det`. */
static void francis(const matrix *m, int low, int high, double trace, double det) {
    double a = *at(m, low, low), b = *at(m, low, low + 1), c = *at(m, low + 1, low);
    double d = *at(m, low + 1, low + 1);
    double v[3] = {a * (a - trace) + b * c + det, c * (a + d - trace),
                   c * *at(m, low + 2, low + 1)};
    for (int k = low; k < high; k++) {
        int length = k + 2 <= high ? 3 : 2;
        double tau = sxi_reflector(length, v);
        if (k > low) {
            *at(m, k, k - 1) = v[0];
            for (int i = 1; i < length; i++) {
                *at(m, k + i, k - 1) = 0.0;
            }
        }
        v[0] = 1.0;
        from_left(m, k, length, v, tau, k, high);
        from_right(m, k, length, v, tau, low, k + 3 <= high ? k + 3 : high);
        v[0] = *at(m, k + 1, k);
        v[1] = k + 2 <= high ? *at(m, k + 2, k) : 0.0;
        v[2] = k + 3 <= high ? *at(m, k + 3, k) : 0.0;
    }
}

static void step(const matrix *m, int low, int high, int count) {
    double a = *at(m, high - 1, high - 1), b = *at(m, high - 1, high);
    double c = *at(m, high, high - 1), d = *at(m, high, high);
    double trace = a + d, det = a * d - b * c;
    if (count % STEPS_TO_ODD_SHIFT == 0) {
        double size = fabs(c) + fabs(*at(m, high - 1, high - 2));
        trace = 1.5 * size;
        det = size * size;
    }
    francis(m, low, high, trace, det);
}

bool sxi_hessenberg_eigen(int n, double *h, double *re, double *im) {
    matrix m = {n, h};
    int count = 0;
    for (int high = n - 1; high >= 0;) {
        int low = block_start(&m, high);
        if (low == high) {
            re[high] = *at(&m, high, high);
            im[high] = 0.0;
            high--;
            count = 0;
        } else if (low == high - 1) {
            pair_of(*at(&m, low, low), *at(&m, low, high), *at(&m, high, low), *at(&m, high, high),
                    re + low, im + low);
            high -= 2;
            count = 0;
        } else if (++count > STEPS) {
            return false;
        } else {
            step(&m, low, high, count);
        }
    }
    return true;
}
