/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_PEAK_KERN_H
#define SXI_MODEL_PEAK_KERN_H

#include "kern/lanes.h"

/* b1 exp(-((x - b2) / b3)^2 / 2) + b4 */
SX_FN SX_REAL sx_model_peak(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    const SX_REAL inverse = SX_SET(1.0) / b[2], u = (x[0] - b[1]) * inverse;
    d[0] = sx_exp(SX_SET(-0.5) * u * u);
    d[1] = b[0] * d[0] * u * inverse;
    d[2] = d[1] * u;
    d[3] = SX_SET(1.0);
    return SX_FMA(b[0], d[0], b[3]);
}

#endif
