/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_MGH09_KERN_H
#define SXI_MODEL_MGH09_KERN_H

#include "kern/lanes.h"

/* b1 (x^2 + b2 x) / (x^2 + b3 x + b4) */
SX_FN SX_REAL sx_model_mgh09(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL inverse = SX_SET(1.0) / SX_FMA(x[0] + b[2], x[0], b[3]);
    d[0] = (x[0] + b[1]) * x[0] * inverse;
    d[1] = b[0] * x[0] * inverse;
    d[3] = -b[0] * d[0] * inverse;
    d[2] = x[0] * d[3];
    return b[0] * d[0];
}

#endif
