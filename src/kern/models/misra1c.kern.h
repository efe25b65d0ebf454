/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_MISRA1C_KERN_H
#define SXI_MODEL_MISRA1C_KERN_H

#include "kern/lanes.h"

/* b1 (1 - (1 + 2 b2 x)^-1/2) */
SX_FN SX_REAL sx_model_misra1c(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL u = SX_FMA(SX_SET(2.0) * b[1], x[0], SX_SET(1.0));
    const SX_REAL inverse = SX_SET(1.0) / SX_SQRT(u);
    d[0] = SX_SET(1.0) - inverse;
    d[1] = b[0] * x[0] * inverse / u;
    return b[0] * d[0];
}

#endif
