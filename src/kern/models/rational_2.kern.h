/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_RATIONAL_2_KERN_H
#define SXI_MODEL_RATIONAL_2_KERN_H

#include "kern/lanes.h"
#include "kern/models/rational.kern.h"

/* (b1 + b2 x + b3 x^2) / (1 + b4 x + b5 x^2) */
SX_FN SX_REAL sx_model_rational_2(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    return sx_rational(2, x[0], b, d);
}

#endif
