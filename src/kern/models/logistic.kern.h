/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_LOGISTIC_KERN_H
#define SXI_MODEL_LOGISTIC_KERN_H

#include "kern/lanes.h"

/* b1 / (1 + exp(b2 - b3 x)) */
SX_FN SX_REAL sx_model_logistic(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL e = sx_exp(SX_FNMA(b[2], x[0], b[1]));
    d[0] = SX_SET(1.0) / (SX_SET(1.0) + e);
    d[1] = -b[0] * e * d[0] * d[0];
    d[2] = -x[0] * d[1];
    return b[0] * d[0];
}

#endif
