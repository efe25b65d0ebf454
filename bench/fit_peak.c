/* SPDX-License-Identifier: Apache-2.0
 * Twelve sums that do not depend on each other: enough for two units of four cycles each, few enough
 * for 16 registers. Each is a name of its own, since compilers keep arrays in memory. */
#include "fit_peak.h"

#include <stdint.h>
#include <time.h>

#include <sextant/cpu.h>

enum { SUMS = 12, LOOPS = 1 << 15, TRIES = 5 };

#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define DECLARE(i) VECTOR s##i = SET(1e-3 * i);
#define STEP(i) s##i = FUSED(s##i, x, y);
#define COLLECT(i) x = FUSED(s##i, x, y);

/* Returns something that depends on every sum, or the compiler would leave the work out. */
#define KERNEL(NAME, TARGET)                                                                       \
    TARGET static double NAME(void) {                                                              \
        VECTOR x = SET(0.5), y = SET(0.25);                                                        \
        ALL(DECLARE)                                                                               \
        for (int loop = 0; loop < LOOPS; loop++) {                                                 \
            ALL(STEP)                                                                              \
        }                                                                                          \
        ALL(COLLECT)                                                                               \
        return FIRST(x);                                                                           \
    }

/* Without an instruction for it: a product and a sum. */
#define VECTOR double
#define SET(v) (v)
#define FUSED(a, b, c) ((a) * (b) + (c))
#define FIRST(x) (x)
KERNEL(f64_c, )
#undef VECTOR
#undef SET
#undef FIRST
#define VECTOR float
#define SET(v) ((float)(v))
#define FIRST(x) ((double)(x))
KERNEL(f32_c, )
#undef VECTOR
#undef SET
#undef FUSED
#undef FIRST

typedef struct variant {
    const char *name;
    unsigned needs;
    int lanes64;
    double (*f64)(void), (*f32)(void);
} variant;

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))

#define VECTOR __m256d
#define SET(v) _mm256_set1_pd(v)
#define FUSED _mm256_fmadd_pd
#define FIRST(x) _mm256_cvtsd_f64(x)
KERNEL(f64_avx2, AVX2)
#undef VECTOR
#undef SET
#undef FUSED
#undef FIRST
#define VECTOR __m256
#define SET(v) _mm256_set1_ps((float)(v))
#define FUSED _mm256_fmadd_ps
#define FIRST(x) (double)_mm256_cvtss_f32(x)
KERNEL(f32_avx2, AVX2)
#undef VECTOR
#undef SET
#undef FUSED
#undef FIRST
#define VECTOR __m512d
#define SET(v) _mm512_set1_pd(v)
#define FUSED _mm512_fmadd_pd
#define FIRST(x) _mm512_cvtsd_f64(x)
KERNEL(f64_avx512, AVX512)
#undef VECTOR
#undef SET
#undef FUSED
#undef FIRST
#define VECTOR __m512
#define SET(v) _mm512_set1_ps((float)(v))
#define FUSED _mm512_fmadd_ps
#define FIRST(x) (double)_mm512_cvtss_f32(x)
KERNEL(f32_avx512, AVX512)

static const variant VARIANTS[] = {
    {"avx512", SX_CPU_AVX512, 8, f64_avx512, f32_avx512},
    {"avx2", SX_CPU_AVX2 | SX_CPU_FMA, 4, f64_avx2, f32_avx2},
    {"c", 0, 1, f64_c, f32_c},
};
#else
static const variant VARIANTS[] = {{"c", 0, 1, f64_c, f32_c}};
#endif

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The best of a few tries: another program on the core can only slow it down. */
static double rate(double (*kernel)(void), int lanes) {
    static volatile double keep;
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
        const double begin = processor_seconds();
        keep = kernel();
        const double now = 2.0 * SUMS * LOOPS * lanes / (processor_seconds() - begin);
        best = now > best ? now : best;
    }
    (void)keep;
    return best;
}

fit_peak fit_peak_measure(void) {
    sx_cpu cpu;
    sx_cpu_get(&cpu);
    const variant *v = VARIANTS;
    while ((cpu.features & v->needs) != v->needs) {
        v++;
    }
    return (fit_peak){v->name, rate(v->f64, v->lanes64), rate(v->f32, 2 * v->lanes64)};
}
