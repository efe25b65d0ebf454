/* SPDX-License-Identifier: Apache-2.0
 * What the rational models share. */
#ifndef SXI_MODEL_RATIONAL_KERN_H
#define SXI_MODEL_RATIONAL_KERN_H

#include "kern/lanes.h"

/* Both polynomials of one degree; the constant below is 1. */
SX_FN SX_REAL sx_rational(const int degree, SX_REAL x, const SX_REAL *b, SX_REAL *d) {
    SX_REAL above = b[degree], below = b[2 * degree];
    for (int k = degree - 1; k > 0; k--) {
        above = SX_FMA(above, x, b[k]);
        below = SX_FMA(below, x, b[degree + k]);
    }
    above = SX_FMA(above, x, b[0]);
    below = SX_FMA(below, x, SX_SET(1.0));
    const SX_REAL inverse = SX_SET(1.0) / below, y = above * inverse;
    d[0] = inverse;
    for (int k = 1; k <= degree; k++) {
        d[k] = x * d[k - 1];
        d[degree + k] = -y * d[k];
    }
    return y;
}

#endif
