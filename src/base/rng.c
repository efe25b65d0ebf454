/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include <math.h>

#include <Random123/philox.h>

void sxi_rng_bits(uint64_t key, uint32_t stream, uint64_t counter, uint32_t draw,
                  uint32_t bits[4]) {
    const philox4x32_ctr_t c = {{(uint32_t)counter, (uint32_t)(counter >> 32), stream, draw}};
    const philox4x32_key_t k = {{(uint32_t)key, (uint32_t)(key >> 32)}};
    const philox4x32_ctr_t r = philox4x32(c, k);
    for (int i = 0; i < 4; i++) {
        bits[i] = r.v[i];
    }
}

/* Two uniforms per block. 52 bits and a half step: 53 would round the last value to 1. */
static void pair(uint64_t key, uint32_t stream, uint64_t counter, uint32_t draw, double u[2]) {
    uint32_t bits[4];
    sxi_rng_bits(key, stream, counter, draw, bits);
    for (int i = 0; i < 2; i++) {
        const uint64_t whole = (uint64_t)bits[2 * i + 1] << 32 | bits[2 * i];
        u[i] = ((double)(whole >> 12) + 0.5) * 0x1p-52;
    }
}

double sxi_rng_uniform(uint64_t key, uint32_t stream, uint64_t counter) {
    double u[2];
    pair(key, stream, counter, 0, u);
    return u[0];
}

/* Box and Muller 1958; the second normal of the pair is given up, so that one counter is one
 * number. */
double sxi_rng_normal(uint64_t key, uint32_t stream, uint64_t counter) {
    const double two_pi = 6.283185307179586;
    double u[2];
    pair(key, stream, counter, 0, u);
    return sqrt(-2.0 * log(u[0])) * cos(two_pi * u[1]);
}

int64_t sxi_rng_poisson_of(double u, double mean) {
    double p = exp(-mean);
    double sum = p;
    int64_t k = 0;
    /* The sum of a rounded series may stay below 1 - 2^-53: p ends the search then. */
    while (u > sum && p > 1e-300) {
        k++;
        p *= mean / (double)k;
        sum += p;
    }
    return k;
}

/* Transformed rejection with squeeze: Hoermann 1993, The transformed rejection method for
 * generating Poisson random variables, algorithm PTRS; its letters and constants, mean >= 10. */
static int64_t poisson_by_rejection(uint64_t key, uint32_t stream, uint64_t counter, double mean) {
    const double b = 0.931 + 2.53 * sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double v_r = 0.9277 - 3.6224 / (b - 2.0);
    const double log_alpha = log(1.1239 + 1.1328 / (b - 3.4));
    const double log_mean = log(mean);
    for (uint32_t draw = 0;; draw++) {
        double u[2];
        pair(key, stream, counter, draw, u);
        const double us = 0.5 - fabs(u[0] - 0.5);
        const double v = u[1];
        const double k = floor((2.0 * a / us + b) * (u[0] - 0.5) + mean + 0.43);
        if (us >= 0.07 && v <= v_r) {
            return (int64_t)k;
        }
        if (k < 0.0 || (us < 0.013 && v > us)) {
            continue;
        }
        int sign; /* lgamma keeps the sign in a global */
        if (log(v) + log_alpha - log(a / (us * us) + b) <=
            k * log_mean - mean - lgamma_r(k + 1.0, &sign)) {
            return (int64_t)k;
        }
    }
}

int64_t sxi_rng_poisson(uint64_t key, uint32_t stream, uint64_t counter, double mean) {
    if (!(mean > 0.0)) {
        return 0;
    }
    if (mean < 10.0) {
        return sxi_rng_poisson_of(sxi_rng_uniform(key, stream, counter), mean);
    }
    if (mean <= 1e9) {
        return poisson_by_rejection(key, stream, counter, mean);
    }
    /* Above, the difference of logarithms loses more than the skewness, 3e-5, is worth. */
    const double value = rint(mean + sqrt(mean) * sxi_rng_normal(key, stream, counter));
    return value < 0x1p62 ? (int64_t)value : (int64_t)1 << 62;
}
