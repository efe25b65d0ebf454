/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_THREE_DECAYS_KERN_H
#define SXI_MODEL_THREE_DECAYS_KERN_H

#include "kern/lanes.h"

/* b1 exp(-b2 x) + b3 exp(-b4 x) + b5 exp(-b6 x) */
SX_FN SX_REAL sx_model_three_decays(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    SX_REAL sum = SX_SET(0.0);
    for (int k = 0; k < 6; k += 2) {
        d[k] = sx_exp(-b[k + 1] * x[0]);
        d[k + 1] = -x[0] * b[k] * d[k];
        sum = SX_FMA(b[k], d[k], sum);
    }
    return sum;
}

#endif
