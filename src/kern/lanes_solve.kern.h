/* SPDX-License-Identifier: Apache-2.0
 * Small linear systems in lanes, and masks of lanes as bits. */
#ifndef SXI_LANES_SOLVE_KERN_H
#define SXI_LANES_SOLVE_KERN_H

#include "kern/lanes.h"

/* Row i, column j <= i of a triangle stored by rows. */
#define SX_AT(i, j) ((i) * ((i) + 1) / 2 + (j))

/* Cholesky factor in place, with the inverses of its diagonal; a pivot that is not positive, or that
 * lost all but `least` of itself, marks the lane. */
SX_FN SX_MASK sx_factorise(const int size, double least, SX_REAL *l, SX_REAL *inverse) {
    SX_MASK good = SX_LE(SX_SET(0.0), SX_SET(1.0));
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            SX_REAL a = l[SX_AT(i, j)];
            for (int k = 0; k < j; k++) {
                a = SX_FNMA(l[SX_AT(i, k)], l[SX_AT(j, k)], a);
            }
            if (i == j) {
                const SX_MASK positive = SX_LT(SX_SET(least) * l[SX_AT(i, i)], a);
                good = SX_AND(good, positive);
                a = SX_SELECT(positive, a, SX_SET(1.0));
                inverse[i] = SX_SET(1.0) / SX_SQRT(a);
                l[SX_AT(i, i)] = a * inverse[i];
            } else {
                l[SX_AT(i, j)] = a * inverse[j];
            }
        }
    }
    return good;
}

/* x = l^-1 x */
SX_FN void sx_forward(const int size, const SX_REAL *l, const SX_REAL *inverse, SX_REAL *x) {
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < i; k++) {
            x[i] = SX_FNMA(l[SX_AT(i, k)], x[k], x[i]);
        }
        x[i] = x[i] * inverse[i];
    }
}

/* x = l^-T x */
SX_FN void sx_backward(const int size, const SX_REAL *l, const SX_REAL *inverse, SX_REAL *x) {
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++) {
            x[i] = SX_FNMA(l[SX_AT(k, i)], x[k], x[i]);
        }
        x[i] = x[i] * inverse[i];
    }
}

SX_FN SX_MASK sx_lanes_of(uint32_t bits, int lane) { return SX_FROM_BITS(bits >> lane); }

SX_FN void sx_lanes_set(uint32_t *bits, int lane, SX_MASK mask) {
#if defined(SX_LANES_CUDA) /* other threads set theirs */
    if (mask) {
        atomicOr(bits, UINT32_C(1) << lane);
    } else {
        atomicAnd(bits, ~(UINT32_C(1) << lane));
    }
#else
    const uint32_t group = SX_LANES == 32 ? UINT32_MAX : ((UINT32_C(1) << SX_LANES) - 1);
    *bits = (*bits & ~(group << lane)) | ((SX_BITS(mask) & group) << lane);
#endif
}

SX_FN SX_MASK sx_mask_select(SX_MASK m, SX_MASK a, SX_MASK b) {
    return SX_OR(SX_AND(m, a), SX_AND(SX_NOT(m), b));
}

SX_FN void sx_keep(SX_MASK better, SX_REAL value, double *kept) {
    SX_STORE(kept, SX_SELECT(better, value, SX_LOAD(kept)));
}

#endif
