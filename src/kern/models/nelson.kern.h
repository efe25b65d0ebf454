/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_NELSON_KERN_H
#define SXI_MODEL_NELSON_KERN_H

#include "kern/lanes.h"

/* b1 - b2 x1 exp(-b3 x2) */
SX_FN SX_REAL sx_model_nelson(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL e = x[0] * sx_exp(-b[2] * x[1]);
    d[0] = SX_SET(1.0);
    d[1] = -e;
    d[2] = b[1] * x[1] * e;
    return SX_FNMA(b[1], e, b[0]);
}

#endif
