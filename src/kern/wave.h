/* SPDX-License-Identifier: Apache-2.0
 * exp(-d) and the cosine and sine of a number of half turns, written so that a loop over them
 * becomes vector code: no branch, no call, no table, no fused product. The C library computes one
 * value at a time, which made uneven delays three times as dear as even ones. */
#ifndef SXI_WAVE_H
#define SXI_WAVE_H

#include <stdint.h>
#include <string.h>

/* To the nearest integer, |x| < 2^51: the sum has no bits left for a fraction. */
static inline double sxi_wave_round(double x) {
    const double large = 6755399441055744.0; /* 1.5 * 2^52 */
    return (x + large) - large;
}

/* exp(-d) within 4e-16 of its value; d below -700 or above 700 counts as that. Source: reduction by
 * multiples of log 2 (Cody and Waite 1980), Taylor series to the 13th power on |r| < 0.35, whose
 * next term is 5e-18. */
static inline double sxi_wave_decay(double d) {
    const double log2_high = 6.93147180369123816490e-01, log2_low = 1.90821492927058770002e-10;
    double x = d > 700 ? -700 : d < -700 ? 700 : -d;
    double n = sxi_wave_round(x * 1.44269504088896340736);
    double r = (x - n * log2_high) - n * log2_low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r * r + r + 1;
    /* 2^n: n + 1023 into the place of the exponent, through the low bits of a large number */
    double shifted = (n + 1023) + 4503599627370496.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* cos(pi h) and sin(pi h), |h| < 2^50, within 5e-16. The nearest integer k leaves |r| <= 1/2 and a
 * sign; Taylor series to the 22nd power of pi r, whose next terms are 2e-19. */
static inline void sxi_wave_turn(double h, double *cosine, double *sine) {
    double k = sxi_wave_round(h);
    double odd = k - 2 * sxi_wave_round(0.5 * k); /* -1, 0 or 1 */
    double sign = 1 - 2 * odd * odd;
    double a = (h - k) * 3.14159265358979323846, z = a * a;
    double c = -1.0 / 1124000727777607680000.0;
    c = c * z + 1.0 / 2432902008176640000.0;
    c = c * z - 1.0 / 6402373705728000.0;
    c = c * z + 1.0 / 20922789888000.0;
    c = c * z - 1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    c = c * z - 0.5;
    c = c * z + 1;
    double s = 1.0 / 51090942171709440000.0;
    s = s * z - 1.0 / 121645100408832000.0;
    s = s * z + 1.0 / 355687428096000.0;
    s = s * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    s = s * z * a + a;
    *cosine = sign * c;
    *sine = sign * s;
}

#endif
