/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_VOGEL_KERN_H
#define SXI_MODEL_VOGEL_KERN_H

#include "kern/lanes.h"

/* b1 exp(b2 / (x + b3)) */
SX_FN SX_REAL sx_model_vogel(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL inverse = SX_SET(1.0) / (x[0] + b[2]);
    d[0] = sx_exp(b[1] * inverse);
    d[1] = b[0] * d[0] * inverse;
    d[2] = -d[1] * b[1] * inverse;
    return b[0] * d[0];
}

#endif
