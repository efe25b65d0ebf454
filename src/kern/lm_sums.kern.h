/* SPDX-License-Identifier: Apache-2.0
 * Sums over samples for any model. */
#ifndef SXI_LM_SUMS_KERN_H
#define SXI_LM_SUMS_KERN_H

#include "kern/lanes_solve.kern.h"
#include "kern/lm_kernels.h"

typedef SX_REAL (*SX_MODEL)(const SX_REAL *x, const SX_REAL *b, SX_REAL *d);

#define SX_UNROLL _Pragma("GCC unroll 8")

/* One sample more. */
SX_FN void sx_lm_add(const int p, SX_REAL weight, SX_REAL rest, SX_REAL *d, SX_REAL *chi2,
                     SX_REAL *slope, SX_REAL *matrix) {
    const SX_REAL r = weight * rest;
    *chi2 = SX_FMA(r, r, *chi2);
    SX_UNROLL
    for (int j = 0; j < p; j++) {
        d[j] = weight * d[j];
        slope[j] = SX_FMA(d[j], r, slope[j]);
        SX_UNROLL
        for (int k = 0; k <= j; k++) {
            matrix[SX_AT(j, k)] = SX_FMA(d[j], d[k], matrix[SX_AT(j, k)]);
        }
    }
}

SX_FN void sx_lm_sums(SX_MODEL model, const int p, const int inputs, int64_t n, const double *x,
                      const double *y, const double *w, int lane, sxi_lm_bundle *bundle) {
    SX_REAL at[SXI_MODEL_MOST_INPUTS], b[SXI_LM_MOST], d[SXI_LM_MOST];
    SX_REAL chi2 = SX_SET(0.0), slope[SXI_LM_MOST], matrix[SXI_LM_TRIANGLE];
    for (int j = 0; j < p; j++) {
        b[j] = SX_LOAD(&bundle->b[j][lane]);
        slope[j] = SX_SET(0.0);
    }
    for (int j = 0; j < p * (p + 1) / 2; j++) {
        matrix[j] = SX_SET(0.0);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < inputs; k++) {
            at[k] = SX_SET(x[i * inputs + k]);
        }
        const SX_REAL value = model(at, b, d);
        sx_lm_add(p, SX_LOAD(w + i * SXI_BUNDLE + lane), value - SX_LOAD(y + i * SXI_BUNDLE + lane),
                  d, &chi2, slope, matrix);
    }
    SX_STORE(&bundle->point.chi2[lane], chi2);
    for (int j = 0; j < p; j++) {
        SX_STORE(&bundle->point.slope[j][lane], slope[j]);
    }
    for (int j = 0; j < p * (p + 1) / 2; j++) {
        SX_STORE(&bundle->point.matrix[j][lane], matrix[j]);
    }
}

#endif
