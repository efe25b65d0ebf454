/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_CHWIRUT_KERN_H
#define SXI_MODEL_CHWIRUT_KERN_H

#include "kern/lanes.h"

/* exp(-b1 x) / (b2 + b3 x) */
SX_FN SX_REAL sx_model_chwirut(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL inverse = SX_SET(1.0) / SX_FMA(b[2], x[0], b[1]);
    const SX_REAL y = sx_exp(-b[0] * x[0]) * inverse;
    d[0] = -x[0] * y;
    d[1] = -y * inverse;
    d[2] = x[0] * d[1];
    return y;
}

#endif
