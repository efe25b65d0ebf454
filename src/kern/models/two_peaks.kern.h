/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_MODEL_TWO_PEAKS_KERN_H
#define SXI_MODEL_TWO_PEAKS_KERN_H

#include "kern/lanes.h"

/* b1 exp(-b2 x) + b3 exp(-((x - b4) / b5)^2 / 2) + b6 exp(-((x - b7) / b8)^2 / 2) */
SX_FN SX_REAL sx_model_two_peaks(const SX_REAL *x, const SX_REAL *b, SX_REAL *d) {
    d[0] = sx_exp(-b[1] * x[0]);
    d[1] = -x[0] * b[0] * d[0];
    SX_REAL sum = b[0] * d[0];
    for (int k = 2; k < 8; k += 3) {
        const SX_REAL inverse = SX_SET(1.0) / b[k + 2], u = (x[0] - b[k + 1]) * inverse;
        d[k] = sx_exp(SX_SET(-0.5) * u * u);
        d[k + 1] = b[k] * d[k] * u * inverse;
        d[k + 2] = d[k + 1] * u;
        sum = SX_FMA(b[k], d[k], sum);
    }
    return sum;
}

#endif
