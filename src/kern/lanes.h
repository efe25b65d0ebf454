/* SPDX-License-Identifier: Apache-2.0
 * The glue of kernels that work on several traces at once: LANE values side by side, one operation
 * for all. A body is written once in these words and compiled for each instruction set:
 *
 *   SX_LANES_C       one lane, plain C: the reference
 *   SX_LANES_CUDA    one lane, a thread of a GPU (C++)
 *   SX_LANES_AVX2    4 lanes, with FMA
 *   SX_LANES_AVX512  8 lanes
 *
 * The file that includes a body defines one of them. No value ever crosses lanes, so what a trace
 * gives does not depend on its neighbours, and variants with fused products give the same bits; the
 * plain one rounds products too. */
#ifndef SXI_LANES_H
#define SXI_LANES_H

#include <math.h>
#include <stdint.h>

/* Arrays of lanes in memory hold this many, whatever the variant: a bundle of traces. Of 200 samples
 * it just fits the nearest cache, where lanes are refilled one by one (32 were a tenth slower). */
enum { SXI_BUNDLE = 16 };
#define SXI_ALL_LANES ((uint32_t)((UINT64_C(1) << SXI_BUNDLE) - 1))

#if defined(SX_LANES_AVX512)
#include <immintrin.h>
#define SX_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
typedef __m512d SX_REAL;
typedef __mmask8 SX_MASK;
enum { SX_LANES = 8 };
#define SX_SET(x) _mm512_set1_pd(x)
#define SX_LOAD(p) _mm512_loadu_pd(p)
#define SX_STORE(p, v) _mm512_storeu_pd(p, v)
#define SX_STORE_SINGLE(p, v) _mm256_storeu_ps(p, _mm512_cvtpd_ps(v)) /* to float */
#define SX_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)                      /* a b + c */
#define SX_FNMA(a, b, c) _mm512_fnmadd_pd(a, b, c)                    /* c - a b */
#define SX_SQRT(a) _mm512_sqrt_pd(a)
/* in single precision, |a| within its range */
#define SX_SQRT_SINGLE(a) _mm512_cvtps_pd(_mm256_sqrt_ps(_mm512_cvtpd_ps(a)))
#define SX_ABS(a) _mm512_abs_pd(a)
#define SX_LT(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define SX_LE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)
#define SX_SELECT(m, a, b) _mm512_mask_blend_pd(m, b, a) /* m ? a : b */
#define SX_AND(a, b) ((SX_MASK)((a) & (b)))
#define SX_OR(a, b) ((SX_MASK)((a) | (b)))
#define SX_NOT(a) ((SX_MASK) ~(a))
#define SX_ANY(m) ((m) != 0)
#define SX_BITS(m) ((uint32_t)(m))
#define SX_FROM_BITS(bits) ((SX_MASK)(bits))
/* 2^n of whole n */
#define SX_POWER2(n) _mm512_scalef_pd(_mm512_set1_pd(1), n)
#elif defined(SX_LANES_AVX2)
#include <immintrin.h>
#define SX_TARGET __attribute__((target("avx2,fma")))
typedef __m256d SX_REAL;
typedef __m256d SX_MASK;
enum { SX_LANES = 4 };
#define SX_SET(x) _mm256_set1_pd(x)
#define SX_LOAD(p) _mm256_loadu_pd(p)
#define SX_STORE(p, v) _mm256_storeu_pd(p, v)
#define SX_STORE_SINGLE(p, v) _mm_storeu_ps(p, _mm256_cvtpd_ps(v))
#define SX_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define SX_FNMA(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define SX_SQRT(a) _mm256_sqrt_pd(a)
#define SX_SQRT_SINGLE(a) _mm256_cvtps_pd(_mm_sqrt_ps(_mm256_cvtpd_ps(a)))
#define SX_ABS(a) _mm256_andnot_pd(_mm256_set1_pd(-0.0), a)
#define SX_LT(a, b) _mm256_cmp_pd(a, b, _CMP_LT_OQ)
#define SX_LE(a, b) _mm256_cmp_pd(a, b, _CMP_LE_OQ)
#define SX_SELECT(m, a, b) _mm256_blendv_pd(b, a, m)
#define SX_AND(a, b) _mm256_and_pd(a, b)
#define SX_OR(a, b) _mm256_or_pd(a, b)
#define SX_NOT(a) _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)))
#define SX_ANY(m) (_mm256_movemask_pd(m) != 0)
#define SX_BITS(m) ((uint32_t)_mm256_movemask_pd(m))
#define SX_FROM_BITS(bits)                                                                         \
    _mm256_castsi256_pd(_mm256_cmpgt_epi64(                                                        \
        _mm256_and_si256(_mm256_set1_epi64x((int64_t)(bits)), _mm256_set_epi64x(8, 4, 2, 1)),      \
        _mm256_setzero_si256()))
#define SX_POWER2(n)                                                                               \
    _mm256_castsi256_pd(_mm256_slli_epi64(                                                         \
        _mm256_castpd_si256(_mm256_add_pd(n, _mm256_set1_pd(1023 + 4503599627370496.0))), 52))
#else
#if defined(SX_LANES_CUDA)
#define SX_TARGET __device__
#else
#define SX_TARGET
#endif
typedef double SX_REAL;
typedef int SX_MASK;
enum { SX_LANES = 1 };
#define SX_SET(x) ((double)(x))
#define SX_LOAD(p) (*(p))
#define SX_STORE(p, v) (*(p) = (v))
#define SX_STORE_SINGLE(p, v) (*(p) = (float)(v))
#if defined(SX_LANES_CUDA)
#define SX_FMA(a, b, c) fma(a, b, c)
#define SX_FNMA(a, b, c) fma(-(a), b, c)
#else
#define SX_FMA(a, b, c) ((a) * (b) + (c))
#define SX_FNMA(a, b, c) ((c) - (a) * (b))
#endif
#define SX_SQRT(a) sqrt(a)
#define SX_SQRT_SINGLE(a) ((double)sqrtf((float)(a)))
#define SX_ABS(a) fabs(a)
#define SX_LT(a, b) ((a) < (b))
#define SX_LE(a, b) ((a) <= (b))
#define SX_SELECT(m, a, b) ((m) ? (a) : (b))
#define SX_AND(a, b) ((a) & (b))
#define SX_OR(a, b) ((a) | (b))
#define SX_NOT(a) (!(a))
#define SX_ANY(m) (m)
#define SX_BITS(m) ((uint32_t)(m))
#define SX_FROM_BITS(bits) ((int)((bits)&1u))
#define SX_POWER2(n) ldexp(1.0, (n) == (n) ? (int)(n) : 0) /* NaN has no int */
#endif

#if defined(SX_LANES_CUDA)
#define SX_FN static __device__ inline
#else
#define SX_FN static inline __attribute__((always_inline)) SX_TARGET
#endif

/* A complex number a lane. */
typedef struct SX_COMPLEX {
    SX_REAL r, i;
} SX_COMPLEX;

/* Four numbers of a row of each lane: column[c] = row[lane][c]. */
SX_FN void sx_load_rows(const double *const row[SX_LANES], SX_REAL column[4]) {
#if defined(SX_LANES_AVX512)
    __m512d pair[4], low[2], high[2];
    for (int j = 0; j < 4; j++) { /* row j beside row j + 4 */
        pair[j] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(row[j])),
                                     _mm256_loadu_pd(row[j + 4]), 1);
    }
    for (int j = 0; j < 2; j++) {
        low[j] = _mm512_unpacklo_pd(pair[2 * j], pair[2 * j + 1]);
        high[j] = _mm512_unpackhi_pd(pair[2 * j], pair[2 * j + 1]);
    }
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    column[0] = _mm512_permutex2var_pd(low[0], first, low[1]);
    column[1] = _mm512_permutex2var_pd(high[0], first, high[1]);
    column[2] = _mm512_permutex2var_pd(low[0], second, low[1]);
    column[3] = _mm512_permutex2var_pd(high[0], second, high[1]);
#elif defined(SX_LANES_AVX2)
    __m256d low[2], high[2];
    for (int j = 0; j < 2; j++) {
        const __m256d a = _mm256_loadu_pd(row[2 * j]), b = _mm256_loadu_pd(row[2 * j + 1]);
        low[j] = _mm256_unpacklo_pd(a, b);
        high[j] = _mm256_unpackhi_pd(a, b);
    }
    column[0] = _mm256_permute2f128_pd(low[0], low[1], 0x20);
    column[1] = _mm256_permute2f128_pd(high[0], high[1], 0x20);
    column[2] = _mm256_permute2f128_pd(low[0], low[1], 0x31);
    column[3] = _mm256_permute2f128_pd(high[0], high[1], 0x31);
#else
    for (int c = 0; c < 4; c++) {
        column[c] = row[0][c];
    }
#endif
}

/* a < least ? least : a > most ? most : a */
SX_FN SX_REAL sx_clamp(SX_REAL a, SX_REAL least, SX_REAL most) {
    a = SX_SELECT(SX_LT(a, least), least, a);
    return SX_SELECT(SX_LT(most, a), most, a);
}

SX_FN SX_REAL sx_larger(SX_REAL a, SX_REAL b) { return SX_SELECT(SX_LT(a, b), b, a); }

/* Nearest integer, |a| < 2^51: the sum has no bits left for a fraction. */
SX_FN SX_REAL sx_round(SX_REAL a) {
    const SX_REAL large = SX_SET(6755399441055744.0); /* 1.5 * 2^52 */
    return (a + large) - large;
}

/* exp(a), |a| taken as at most 700. Source: Cody and Waite 1980; Taylor to the 13th power on half a
 * log 2, whose next term is 5e-18. */
SX_FN SX_REAL sx_exp(SX_REAL a) {
    const double term[] = {
        1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
    a = sx_clamp(a, SX_SET(-700.0), SX_SET(700.0));
    const SX_REAL n = sx_round(a * SX_SET(1.44269504088896340736));
    SX_REAL r = SX_FNMA(n, SX_SET(6.93147180369123816490e-01), a);
    r = SX_FNMA(n, SX_SET(1.90821492927058770002e-10), r);
    SX_REAL p = SX_SET(1.0 / 6227020800.0);
    for (int k = 0; k < 11; k++) {
        p = SX_FMA(p, r, SX_SET(term[k]));
    }
    p = SX_FMA(p * r, r, r) + SX_SET(1.0);
    return p * SX_POWER2(n);
}

/* cos(pi h) and sin(pi h), |h| < 2^50. Taylor to the 22nd power of pi / 2, next terms 2e-19. */
SX_FN SX_COMPLEX sx_turn(SX_REAL h) {
    const double even[] = {1.0 / 2432902008176640000.0,
                           -1.0 / 6402373705728000.0,
                           1.0 / 20922789888000.0,
                           -1.0 / 87178291200.0,
                           1.0 / 479001600.0,
                           -1.0 / 3628800.0,
                           1.0 / 40320.0,
                           -1.0 / 720.0,
                           1.0 / 24.0,
                           -0.5,
                           1.0};
    const double odd[] = {-1.0 / 121645100408832000.0,
                          1.0 / 355687428096000.0,
                          -1.0 / 1307674368000.0,
                          1.0 / 6227020800.0,
                          -1.0 / 39916800.0,
                          1.0 / 362880.0,
                          -1.0 / 5040.0,
                          1.0 / 120.0,
                          -1.0 / 6.0};
    const SX_REAL k = sx_round(h);
    const SX_REAL uneven = k - SX_SET(2.0) * sx_round(SX_SET(0.5) * k); /* -1, 0 or 1 */
    const SX_REAL sign = SX_FNMA(SX_SET(2.0) * uneven, uneven, SX_SET(1.0));
    const SX_REAL a = (h - k) * SX_SET(3.14159265358979323846), z = a * a;
    SX_REAL c = SX_SET(-1.0 / 1124000727777607680000.0), s = SX_SET(1.0 / 51090942171709440000.0);
    for (int j = 0; j < 11; j++) {
        c = SX_FMA(c, z, SX_SET(even[j]));
    }
    for (int j = 0; j < 9; j++) {
        s = SX_FMA(s, z, SX_SET(odd[j]));
    }
    SX_COMPLEX turned = {sign * c, sign * SX_FMA(s * z, a, a)};
    return turned;
}

SX_FN SX_COMPLEX sx_times(SX_COMPLEX a, SX_COMPLEX b) {
    SX_COMPLEX p = {SX_FNMA(a.i, b.i, a.r * b.r), SX_FMA(a.r, b.i, a.i * b.r)};
    return p;
}

/* a conj(b) */
SX_FN SX_COMPLEX sx_times_conjugate(SX_COMPLEX a, SX_COMPLEX b) {
    SX_COMPLEX p = {SX_FMA(a.i, b.i, a.r * b.r), SX_FNMA(a.r, b.i, a.i * b.r)};
    return p;
}

#endif
