/* SPDX-License-Identifier: Apache-2.0
 * A mode at one delay, the innermost arithmetic where delays are not even: exponential and turn in one
 * go, with polynomials of least degree. */
#ifndef SXI_DCOS_WAVE_KERN_H
#define SXI_DCOS_WAVE_KERN_H

#include "kern/lanes.h"

/* exp((-g + 2 pi i f) x), |g| taken as at most 600; x in [0, 1.2], |f x| < 2^50.
 *
 * exp as in sx_exp. The turn is reduced to t in [-0.5, 0.5] cycles, sine and cosine of its half, pi t,
 * need no quadrants, and z = 1 + 2 i sin(pi t) exp(i pi t) doubles the angle. The coefficients
 * interpolate (exp r - 1 - r) / r^2, (cos pi t - 1) / t^2 and sin(pi t) / t at Chebyshev's points,
 * rounded to double: errors of 2e-17, 6e-17 and 4e-17. */
SX_FN SX_COMPLEX sx_mode_at(SX_REAL g, SX_REAL f, double x) {
    const double rise[] = {2.7620075892548164e-07, 2.7557268480289716e-06, 2.480152132234228e-05,
                           0.00019841269863040559, 0.0013888888917196736,  0.008333333333330065,
                           0.041666666666624164,   0.16666666666666669,    0.5000000000000001};
    const double even[] = {
        -0.00010458281993357744, 0.0019295626385929477, -0.02580689002370475, 0.23533063027198495,
        -1.335262768851874,      4.058712126416736,     -4.934802200544679,   1.0};
    const double odd[] = {2.1903487684769023e-05, -0.0004662998126284068, 0.007370430505217146,
                          -0.08214588657302717,   0.5992645293189403,     -2.5501640398773002,
                          5.167712780049969,      -3.141592653589793};
    const SX_REAL one = SX_SET(1.0), at = SX_SET(x);
    const SX_REAL a = sx_clamp(g, SX_SET(-600.0), SX_SET(600.0)) * SX_SET(-x);
    const SX_REAL n = sx_round(a * SX_SET(1.44269504088896340736));
    SX_REAL r = SX_FNMA(n, SX_SET(6.93147180369123816490e-01), a);
    r = SX_FNMA(n, SX_SET(1.90821492927058770002e-10), r);
    SX_REAL e = SX_SET(2.51003758422237e-08);
    for (int k = 0; k < 9; k++) {
        e = SX_FMA(e, r, SX_SET(rise[k]));
    }
    e = SX_FMA(SX_FMA(e, r, one), r, one) * SX_POWER2(n);
    const SX_REAL back = SX_FNMA(f, at, sx_round(f * at)), z = back * back; /* -t */
    SX_REAL c = SX_SET(4.1663456344652875e-06), s = SX_SET(-7.697726639610672e-07);
    for (int k = 0; k < 8; k++) {
        c = SX_FMA(c, z, SX_SET(even[k]));
        s = SX_FMA(s, z, SX_SET(odd[k]));
    }
    s = s * back;
    const SX_REAL half = e * s, twice = half + half;
    SX_COMPLEX turned = {SX_FNMA(twice, s, e), twice * c};
    return turned;
}

#endif
