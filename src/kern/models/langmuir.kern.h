/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_LANGMUIR_KERN_H
#define SXI_MODEL_LANGMUIR_KERN_H

#include "kern/lanes.h"

/* b1 b2 x / (1 + b2 x) */
SX_FN SX_REAL sx_model_langmuir(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL inverse = SX_SET(1.0) / SX_FMA(b[1], x[0], SX_SET(1.0));
    d[0] = b[1] * x[0] * inverse;
    d[1] = b[0] * x[0] * inverse * inverse;
    return b[0] * d[0];
}

#endif
