/* SPDX-License-Identifier: Apache-2.0
 * docs/theory/spectral.md holds the formulas; the letters are those of that page. */
#include "numer/spectral.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "numer/eigen.h"

enum { ESPRIT_WINDOW = 128, LPSVD_WINDOW = 96 };

/* Everything a call needs, in one block. */
typedef struct workspace {
    int W;           /* samples in a window: columns of the Hankel matrix */
    double *gram;    /* [W + 1][W + 1] H'H, and for linear prediction one lag more */
    double *values;  /* [W] */
    double *vectors; /* [order][W] */
    double *matrix;  /* [W][W] whose eigenvalues are the poles */
    double *re, *im; /* [W] */
    double *work;    /* [W][W] + 4 [W] */
} workspace;

static sx_status check(int64_t n, int order) {
    if (n < 8) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "a trace of %lld samples is too short for its poles; at least 8 are needed",
                        (long long)n);
    }
    if (order < 1 || order > SXI_SPECTRAL_MAX_ORDER) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%d poles were asked for; 1 to %d can be", order,
                        SXI_SPECTRAL_MAX_ORDER);
    }
    return SX_OK;
}

static double *allocate(int W, int order, workspace *w) {
    size_t n = (size_t)W, k = (size_t)order;
    double *x = malloc(((n + 1) * (n + 1) + 2 * n * n + k * n + 7 * n) * sizeof *x);
    if (!x) {
        return NULL;
    }
    w->W = W;
    w->gram = x;
    w->values = w->gram + (n + 1) * (n + 1);
    w->vectors = w->values + n;
    w->matrix = w->vectors + k * n;
    w->re = w->matrix + n * n;
    w->im = w->re + n;
    w->work = w->im + n;
    return x;
}

/* G_ij = sum_k y_{k+i} y_{k+j}, k = 0 .. rows - 1, i and j < size. Only the first row is summed;
 * down a diagonal one product enters and one leaves. */
static void gram_of(int64_t rows, const double *y, int size, double *G) {
    for (int j = 0; j < size; j++) {
        double sum = 0.0;
        for (int64_t k = 0; k < rows; k++) {
            sum += y[k] * y[k + j];
        }
        G[j] = sum;
    }
    for (int i = 1; i < size; i++) {
        const double *above = G + (i - 1) * size;
        double *row = G + i * size;
        double enters = y[rows + i - 1], leaves = y[i - 1];
        for (int j = i; j < size; j++) {
            row[j] = above[j - 1] + (enters * y[rows + j - 1] - leaves * y[j - 1]);
            G[j * size + i] = row[j];
        }
    }
}

/* How many of the first `order` eigenvalues stand above their rounding. */
static int rank_of(const workspace *w, int order) {
    double least = 4.0 * DBL_EPSILON * w->W * w->values[0];
    int rank = 0;
    while (rank < order && w->values[rank] > least) {
        rank++;
    }
    return rank;
}

/* Writes what lies above the real axis, by increasing frequency; sign is -1 for poles that are
 * given as their inverses. */
static void report(int n, const double *re, const double *im, double sign, double *decay,
                   double *frequency, int *count) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        double f = atan2(im[i], re[i]) / (2.0 * 3.14159265358979323846);
        if (f > 0.0 && f < 0.5) {
            int k = found++;
            for (; k > 0 && frequency[k - 1] > f; k--) {
                frequency[k] = frequency[k - 1];
                decay[k] = decay[k - 1];
            }
            frequency[k] = f;
            decay[k] = -sign * log(hypot(re[i], im[i]));
        }
    }
    *count = found;
}

static bool finite_all(int64_t n, const double *y) {
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(y[i])) {
            return false;
        }
    }
    return true;
}

/* Psi with V_up Psi = V_down in least squares, V_up and V_down the signal vectors without their
 * last and first element. As V'V = 1, V_up'V_up = 1 - l l' with l the last elements, and its
 * inverse is known. False where the last sample alone spans a vector: nothing can be shifted. */
static bool rotation_of(int W, int K, const double *vectors, double *psi) {
    double last[SXI_SPECTRAL_MAX_ORDER], along[SXI_SPECTRAL_MAX_ORDER];
    double rest = 1.0;
    for (int i = 0; i < K; i++) {
        last[i] = vectors[i * W + W - 1];
        rest -= last[i] * last[i];
    }
    if (!(rest > sqrt(DBL_EPSILON))) {
        return false;
    }
    for (int j = 0; j < K; j++) {
        along[j] = 0.0;
        for (int i = 0; i < K; i++) {
            psi[i * K + j] = sxi_dot(W - 1, vectors + i * W, vectors + j * W + 1);
            along[j] += last[i] * psi[i * K + j];
        }
    }
    for (int i = 0; i < K; i++) {
        for (int j = 0; j < K; j++) {
            psi[i * K + j] += last[i] * along[j] / rest;
        }
    }
    return true;
}

static sx_status unconverged(void) {
    return SXI_FAIL(SX_ERR_NUMERIC, "an eigenvalue of a trace's Hankel matrix did not converge");
}

sx_status sxi_esprit(int64_t n, const double *y, int order, double *decay, double *frequency,
                     int *count) {
    SXI_TRY(check(n, order));
    sx_status status = SX_OK;
    workspace w;
    int W = (int)(n / 2 < ESPRIT_WINDOW ? n / 2 : ESPRIT_WINDOW);
    int found = 0, K = order < W - 1 ? order : W - 1;
    void *block = allocate(W, order, &w);
    if (!block) {
        return SXI_FAIL(SX_ERR_MEMORY, "the poles of %lld samples need more memory", (long long)n);
    }
    if (finite_all(n, y)) {
        gram_of(n - W + 1, y, W, w.gram);
        if (!sxi_symmetric_eigen(W, w.gram, K, w.values, w.vectors, w.work)) {
            SXI_GO(unconverged());
        }
        K = rank_of(&w, K);
        if (rotation_of(W, K, w.vectors, w.matrix)) {
            sxi_hessenberg_reduce(K, w.matrix, w.work);
            if (!sxi_hessenberg_eigen(K, w.matrix, w.re, w.im)) {
                SXI_GO(unconverged());
            }
            report(K, w.re, w.im, 1.0, decay, frequency, &found);
        }
    }
    *count = found;
out:
    free(block);
    return status;
}

/* Coefficients a [W] of y_k = sum_m a_m y_{k+m}, m = 1 .. W, from the first K singular values:
 * a = sum_k v_k (v_k'b) / lambda_k, b = H'y. */
static void predict(const workspace *w, int K, const double *b, double *a) {
    memset(a, 0, (size_t)w->W * sizeof *a);
    for (int k = 0; k < K; k++) {
        const double *v = w->vectors + k * w->W;
        double x = sxi_dot(w->W, v, b) / w->values[k];
        for (int m = 0; m < w->W; m++) {
            a[m] += x * v[m];
        }
    }
}

/* z^W - a_1 z^(W-1) - ... - a_W as the matrix that has its roots. */
static void companion_of(int W, const double *a, double *matrix) {
    memset(matrix, 0, (size_t)W * (size_t)W * sizeof *matrix);
    memcpy(matrix, a, (size_t)W * sizeof *a);
    for (int i = 1; i < W; i++) {
        matrix[i * W + i - 1] = 1.0;
    }
}

/* Moves the largest roots to the front until K of them are there, one of a pair standing for both.
 * Returns how many were moved. The signal's lie outside the unit circle, as they are the inverses
 * of decaying poles; the truncated solution keeps the others inside. */
static int largest_roots(int W, int K, double *re, double *im) {
    int front = 0;
    while (K > 0) {
        int best = -1;
        for (int i = front; i < W; i++) {
            bool fits = im[i] == 0.0 || (im[i] > 0.0 && K > 1);
            if (fits && (best < 0 || hypot(re[i], im[i]) > hypot(re[best], im[best]))) {
                best = i;
            }
        }
        if (best < 0) {
            break;
        }
        double x = re[best], y = im[best];
        re[best] = re[front];
        im[best] = im[front];
        re[front] = x;
        im[front] = y;
        front++;
        K -= y > 0.0 ? 2 : 1;
    }
    return front;
}

sx_status sxi_lpsvd(int64_t n, const double *y, int order, double *decay, double *frequency,
                    int *count) {
    SXI_TRY(check(n, order));
    sx_status status = SX_OK;
    workspace w;
    int W = (int)(3 * (n / 4) < LPSVD_WINDOW ? 3 * (n / 4) : LPSVD_WINDOW);
    int rows = (int)(n - W < W ? n - W : W);
    int found = 0, K = order < rows ? order : rows;
    void *block = allocate(W, order, &w);
    if (!block) {
        return SXI_FAIL(SX_ERR_MEMORY, "the poles of %lld samples need more memory", (long long)n);
    }
    if (finite_all(n, y)) {
        gram_of(n - W, y, W + 1, w.gram);
        const double *b = w.gram + 1;
        for (int i = 0; i < W; i++) {
            memcpy(w.matrix + i * W, w.gram + (i + 1) * (W + 1) + 1, (size_t)W * sizeof *y);
        }
        if (!sxi_symmetric_eigen(W, w.matrix, K, w.values, w.vectors, w.work)) {
            SXI_GO(unconverged());
        }
        K = rank_of(&w, K);
        predict(&w, K, b, w.work);
        companion_of(W, w.work, w.matrix);
        if (!sxi_hessenberg_eigen(W, w.matrix, w.re, w.im)) {
            SXI_GO(unconverged());
        }
        report(largest_roots(W, K, w.re, w.im), w.re, w.im, -1.0, decay, frequency, &found);
    }
    *count = found;
out:
    free(block);
    return status;
}
