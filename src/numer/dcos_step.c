/* SPDX-License-Identifier: Apache-2.0
 * The small symmetric systems of the minimiser: Cholesky of a matrix scaled to a unit diagonal. */
#include <math.h>

#include "numer/dcos.h"

/* A pivot below this: the parameters depend on each other. */
static const double SINGULAR = 1e-10;

static bool is_frozen(uint32_t frozen, int i) { return frozen & (1u << i); }

bool sxi_dcos_factorise(const sxi_dcos_matrix *matrix, int n, uint32_t frozen, double lambda,
                        sxi_dcos_factor *factor) {
    double(*l)[SXI_DCOS_NONLINEAR] = factor->l;
    double *d = factor->d;
    factor->n = n;
    factor->frozen = frozen;
    for (int i = 0; i < n; i++) {
        bool off = is_frozen(frozen, i);
        d[i] = off ? 1 : sqrt(matrix->at[i][i]);
        if (!(d[i] > 0)) {
            return false;
        }
        for (int j = 0; j <= i; j++) {
            double a = off || is_frozen(frozen, j) ? 0 : matrix->at[i][j] / (d[i] * d[j]);
            a = i == j ? 1 + lambda : a;
            for (int k = 0; k < j; k++) {
                a -= l[i][k] * l[j][k];
            }
            if (i == j && !(a > SINGULAR)) {
                return false;
            }
            l[i][j] = i == j ? sqrt(a) : a / l[j][j];
        }
    }
    return true;
}

double sxi_dcos_solve(const sxi_dcos_factor *factor, const double *right, double *x) {
    const double(*l)[SXI_DCOS_NONLINEAR] = factor->l;
    double decrement = 0;
    for (int i = 0; i < factor->n; i++) {
        x[i] = is_frozen(factor->frozen, i) ? 0 : right[i] / factor->d[i];
        for (int k = 0; k < i; k++) {
            x[i] -= l[i][k] * x[k];
        }
        x[i] /= l[i][i];
        decrement += x[i] * x[i];
    }
    for (int i = factor->n - 1; i >= 0; i--) {
        for (int k = i + 1; k < factor->n; k++) {
            x[i] -= l[k][i] * x[k];
        }
        x[i] /= l[i][i];
    }
    for (int i = 0; i < factor->n; i++) {
        x[i] /= factor->d[i];
    }
    return decrement;
}
