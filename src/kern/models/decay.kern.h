/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_DECAY_KERN_H
#define SXI_MODEL_DECAY_KERN_H

#include "kern/lanes.h"

/* b1 exp(-b2 x) + b3 */
SX_FN SX_REAL sx_model_decay(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL e = sx_exp(-b[1] * x[0]);
    d[0] = e;
    d[1] = -x[0] * b[0] * e;
    d[2] = SX_SET(1.0);
    return SX_FMA(b[0], e, b[2]);
}

#endif
