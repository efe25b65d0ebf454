/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_TWO_DECAYS_KERN_H
#define SXI_MODEL_TWO_DECAYS_KERN_H

#include "kern/lanes.h"

/* b1 exp(-b2 x) + b3 exp(-b4 x) + b5 */
SX_FN SX_REAL sx_model_two_decays(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL first = sx_exp(-b[1] * x[0]), second = sx_exp(-b[3] * x[0]);
    d[0] = first;
    d[1] = -x[0] * b[0] * first;
    d[2] = second;
    d[3] = -x[0] * b[2] * second;
    d[4] = SX_SET(1.0);
    return SX_FMA(b[0], first, SX_FMA(b[2], second, b[4]));
}

#endif
