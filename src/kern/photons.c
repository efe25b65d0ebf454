/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/photons.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/rng.h"

enum {
    STEPS = 64, /* tables per photon */
    MOST = 16,  /* photons, beyond which there are none */
    TABLES = STEPS * MOST,
    CELL_BITS = 10,
    CELLS = 1 << CELL_BITS,
    REST_BITS = 32 - CELL_BITS,
    SEVERAL = 255, /* of a cell: more than one count */
    /* Whole photons beyond MOST: counts from 8 standard deviations below on, and where they end. */
    BRIGHTEST = 192,
    SPAN = 254
};

struct sxi_photons {
    void (*blocks)(const sxi_photons *photons, uint64_t key, uint32_t stream, uint64_t first,
                   int64_t blocks, const float *mean, float intensity, uint16_t *count);
    uint8_t guide[TABLES * CELLS + 3]; /* vectors read four bytes at once */
    uint8_t bright_guide[BRIGHTEST][CELLS];
    double bright_sum[BRIGHTEST][SPAN]; /* cumulative probability */
};

/* --- tables --- */

static void fill_guide(double mean, uint8_t *guide) {
    double p = exp(-mean), sum = p;
    int k = 0;
    for (int c = 0; c < CELLS; c++) {
        const double low = (double)c / CELLS, high = (double)(c + 1) / CELLS;
        while (low >= sum && p > 0) {
            p *= mean / ++k;
            sum += p;
        }
        guide[c] = mean == 0 ? 0 : high <= sum && k < SEVERAL ? (uint8_t)k : SEVERAL;
    }
}

static int bright_base(int mean) {
    const int base = mean - (int)(8 * sqrt(mean));
    return base > 0 ? base : 0;
}

static void fill_bright(int mean, double *sum, uint8_t *guide) {
    const int base = bright_base(mean);
    double p = exp(base * log(mean) - mean - lgamma(base + 1.0)), all = 0;
    for (int k = 0; k < SPAN; k++) {
        all += p;
        sum[k] = all;
        p *= (double)mean / (base + k + 1);
    }
    for (int c = 0, k = 0; c < CELLS; c++) {
        while (k < SPAN - 1 && (double)c / CELLS >= sum[k]) {
            k++;
        }
        guide[c] = (double)(c + 1) / CELLS <= sum[k] ? (uint8_t)k : SEVERAL;
    }
}

sx_status sxi_photons_create(sxi_photons **photons) {
    *photons = calloc(1, sizeof **photons);
    if (!*photons) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for tables of Poisson numbers");
    }
    for (int t = 0; t < TABLES; t++) {
        fill_guide((double)t / STEPS, (*photons)->guide + (size_t)t * CELLS);
    }
    for (int mean = MOST; mean < BRIGHTEST; mean++) {
        fill_bright(mean, (*photons)->bright_sum[mean], (*photons)->bright_guide[mean]);
    }
    int best = 0;
    while (sxi_photons_variant_get(best + 1)) {
        best++;
    }
    (*photons)->blocks = sxi_photons_variant_get(best)->blocks;
    return SX_OK;
}

void sxi_photons_destroy(sxi_photons **photons) {
    free(*photons);
    *photons = NULL;
}

/* --- one pixel --- */

static double uniform(uint32_t high, uint32_t low) {
    return ((double)(((uint64_t)high << 32 | low) >> 12) + 0.5) * 0x1p-52;
}

/* Events of a rest of r photons, once the lower bits have said that there may be some, which they do
 * with probability enter >= 1 - exp(-r): the rest of the way to a Poisson distribution. */
static int64_t rest_events(double u, double r, double enter) {
    double p = exp(-r);
    double sum = (p - (1 - enter)) / enter;
    int64_t k = 0;
    while (u > sum && p > 1e-300) {
        k++;
        p *= r / (double)k;
        sum += p / enter;
    }
    return k;
}

/* A mean below MOST.
 * in  cell       a cell of its table
 * in  low, bits  that many further random bits
 * in  number     of the pixel in the whole series */
static int64_t draw_dim(const sxi_photons *photons, uint64_t key, uint32_t stream, uint64_t number,
                        float mean, uint32_t cell, uint32_t low, int bits) {
    const float scaled = mean * (float)STEPS;
    const int table = (int)scaled;
    const float rest = scaled - (float)table;
    const float limit = rest * ((float)(1 << bits) / (float)STEPS);
    int64_t count = photons->guide[table * CELLS + (int)cell];
    const bool more = (float)low < limit;
    if (count != SEVERAL && !more) {
        return count;
    }
    uint32_t fresh[4];
    sxi_rng_bits(key, stream + 1, number, 0, fresh);
    if (count == SEVERAL) {
        const double u = (cell + uniform(fresh[0], fresh[1])) / CELLS;
        count = sxi_rng_poisson_of(u, (double)table / STEPS);
    }
    if (more) {
        const double enter = ceil((double)limit) / (1 << bits);
        count += rest_events(uniform(fresh[2], fresh[3]), (double)rest / STEPS, enter);
    }
    return count;
}

static int64_t draw_whole(const sxi_photons *photons, uint64_t key, uint32_t stream,
                          uint64_t number, int mean, uint32_t cell) {
    const double *sum = photons->bright_sum[mean];
    int k = photons->bright_guide[mean][cell];
    if (k == SEVERAL) {
        uint32_t fresh[4];
        sxi_rng_bits(key, stream + 1, number, 1, fresh);
        const double u = (cell + uniform(fresh[0], fresh[1])) / CELLS;
        int above = SPAN - 1;
        for (k = 0; k < above;) {
            const int middle = (k + above) / 2;
            if (sum[middle] < u) {
                k = middle + 1;
            } else {
                above = middle;
            }
        }
    }
    return bright_base(mean) + k;
}

/* Of a mean beyond MOST the whole photons are drawn, and to them what is beyond. */
static uint16_t draw(const sxi_photons *photons, uint64_t key, uint32_t stream, uint64_t number,
                     float mean, uint32_t word) {
    enum { LOW_BITS = REST_BITS - CELL_BITS };
    if (mean < (float)MOST) {
        return (uint16_t)draw_dim(photons, key, stream, number, mean, word >> REST_BITS,
                                  word & ((1U << REST_BITS) - 1), REST_BITS);
    }
    if (mean < (float)BRIGHTEST) {
        const int whole = (int)mean;
        return (uint16_t)(draw_whole(photons, key, stream, number, whole, word >> REST_BITS) +
                          draw_dim(photons, key, stream, number, mean - (float)whole,
                                   word >> LOW_BITS & (CELLS - 1), word & ((1U << LOW_BITS) - 1),
                                   LOW_BITS));
    }
    const int64_t count = sxi_rng_poisson(key, stream + 1, number, (double)mean);
    return count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
}

/* --- blocks --- */

enum { BLOCK = SXI_PHOTONS_BLOCK, LANES = 8 };

static float mean_of(float mean, float intensity) {
    const float product = mean * intensity;
    return product > 0 ? product : 0;
}

static void blocks_c(const sxi_photons *photons, uint64_t key, uint32_t stream, uint64_t first,
                     int64_t blocks, const float *mean, float intensity, uint16_t *count) {
    for (int64_t b = 0; b < blocks; b++) {
        const uint64_t block = first + (uint64_t)b;
        for (int lane = 0; lane < LANES; lane++) {
            uint32_t bits[4];
            sxi_rng_bits(key, stream, LANES * block + (uint64_t)lane, 0, bits);
            for (int w = 0; w < 4; w++) {
                const int64_t i = BLOCK * b + LANES * w + lane;
                count[i] = draw(photons, key, stream, BLOCK * block + (uint64_t)(LANES * w + lane),
                                mean_of(mean[i], intensity), bits[w]);
            }
        }
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

/* The upper and lower halves of eight products. */
static inline AVX2 __m256i multiply(__m256i a, __m256i m, __m256i *low) {
    const __m256i even = _mm256_mul_epu32(a, m);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

static inline AVX2 __m256i all(uint32_t x) { return _mm256_set1_epi32((int)x); }

/* Philox4x32-10 of eight counters in a row, of which the first is a multiple of eight: their upper
 * halves are equal. Constants: Salmon et al. 2011. */
static inline AVX2 void philox(uint64_t key, uint32_t stream, uint64_t counter, __m256i c[4]) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    c[0] = _mm256_add_epi32(all((uint32_t)counter), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    c[1] = all((uint32_t)(counter >> 32));
    c[2] = all(stream);
    c[3] = _mm256_setzero_si256();
    for (int round = 0; round < 10; round++) {
        __m256i low0, low1;
        const __m256i high0 = multiply(c[0], all(0xD2511F53), &low0);
        const __m256i high1 = multiply(c[2], all(0xCD9E8D57), &low1);
        c[0] = _mm256_xor_si256(_mm256_xor_si256(high1, c[1]), all(k0));
        c[2] = _mm256_xor_si256(_mm256_xor_si256(high0, c[3]), all(k1));
        c[1] = low1;
        c[3] = low0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

/* Counts of eight pixels; lanes in *slow have to be drawn one by one. */
static inline AVX2 __m256i look_up(const sxi_photons *photons, __m256 mean, __m256i word,
                                   int *slow) {
    const __m256 scaled = _mm256_mul_ps(mean, _mm256_set1_ps((float)STEPS));
    const __m256i table = _mm256_min_epu32(_mm256_cvttps_epi32(scaled), all(TABLES - 1));
    const __m256 rest = _mm256_sub_ps(scaled, _mm256_cvtepi32_ps(table));
    const __m256i place =
        _mm256_or_si256(_mm256_slli_epi32(table, CELL_BITS), _mm256_srli_epi32(word, REST_BITS));
    const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(word, all((1U << REST_BITS) - 1)));
    const __m256i found = _mm256_and_si256(
        _mm256_i32gather_epi32((const int *)(const void *)photons->guide, place, 1), all(0xff));
    const __m256i several = _mm256_cmpeq_epi32(found, all(SEVERAL));
    const __m256 limit =
        _mm256_mul_ps(rest, _mm256_set1_ps((float)(1 << REST_BITS) / (float)STEPS));
    const __m256 more = _mm256_cmp_ps(low, limit, _CMP_LT_OQ);
    const __m256 beyond = _mm256_cmp_ps(scaled, _mm256_set1_ps((float)TABLES), _CMP_GE_OQ);
    *slow =
        _mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(_mm256_castsi256_ps(several), more), beyond));
    return found;
}

static AVX2 void blocks_avx2(const sxi_photons *photons, uint64_t key, uint32_t stream,
                             uint64_t first, int64_t blocks, const float *mean, float intensity,
                             uint16_t *count) {
    for (int64_t b = 0; b < blocks; b++) {
        const uint64_t block = first + (uint64_t)b;
        const float *m = mean + BLOCK * b;
        uint16_t *n = count + BLOCK * b;
        __m256i word[4], found[4];
        int slow[4];
        philox(key, stream, LANES * block, word);
        for (int w = 0; w < 4; w++) {
            const __m256 product =
                _mm256_mul_ps(_mm256_loadu_ps(m + LANES * w), _mm256_set1_ps(intensity));
            found[w] =
                look_up(photons, _mm256_max_ps(product, _mm256_setzero_ps()), word[w], &slow[w]);
        }
        for (int h = 0; h < 2; h++) {
            const __m256i both = _mm256_packus_epi32(found[2 * h], found[2 * h + 1]);
            _mm256_storeu_si256((__m256i *)(void *)(n + 2 * LANES * h),
                                _mm256_permute4x64_epi64(both, 0xd8));
        }
        for (int w = 0; w < 4; w++) {
            uint32_t words[LANES];
            if (slow[w]) {
                _mm256_storeu_si256((__m256i *)(void *)words, word[w]);
            }
            for (; slow[w]; slow[w] &= slow[w] - 1) {
                const int lane = __builtin_ctz((unsigned)slow[w]), i = LANES * w + lane;
                n[i] = draw(photons, key, stream, BLOCK * block + (uint64_t)i,
                            mean_of(m[i], intensity), words[lane]);
            }
        }
    }
}
#endif

const sxi_photons_variant *sxi_photons_variant_get(int number) {
    static const sxi_photons_variant variants[] = {
        {"c", blocks_c},
#if defined(__x86_64__)
        {"avx2", blocks_avx2},
#endif
    };
    int usable = (int)(sizeof variants / sizeof *variants);
#if defined(__x86_64__)
    usable -= !(sxi_cpu_features() & SX_CPU_AVX2);
#endif
    return number >= 0 && number < usable ? &variants[number] : NULL;
}

void sxi_photons_draw(const sxi_photons *photons, uint64_t key, uint32_t stream, uint64_t frame,
                      int64_t n, const float *mean, float intensity, uint16_t *count) {
    const int64_t whole = n / BLOCK, left = n % BLOCK;
    const uint64_t first = frame * (uint64_t)(whole + (left > 0));
    photons->blocks(photons, key, stream, first, whole, mean, intensity, count);
    if (left > 0) {
        float means[BLOCK] = {0};
        uint16_t counts[BLOCK];
        memcpy(means, mean + BLOCK * whole, (size_t)left * sizeof *means);
        photons->blocks(photons, key, stream, first + (uint64_t)whole, 1, means, intensity, counts);
        memcpy(count + BLOCK * whole, counts, (size_t)left * sizeof *counts);
    }
}
