/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/shuffle.h"

#include <stdbool.h>
#include <stdint.h>

static void bytes_c(const unsigned char *plane, size_t pitch, size_t count, size_t planes,
                    unsigned char *target, size_t stride) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < planes; j++) {
            target[i * stride + j] = plane[j * pitch + i];
        }
    }
}

/* Exchanges the bits of mask << shift with those of mask. */
static inline uint64_t swap_bits(uint64_t x, int shift, uint64_t mask) {
    const uint64_t t = (x ^ (x >> shift)) & mask;
    return x ^ t ^ (t << shift);
}

/* An 8 x 8 matrix of bits, byte k its row k, is transposed by exchanging the off-diagonal elements
 * of its 2 x 2 blocks, then of 4 x 4, then of 8 x 8. */
static void bits_c(const unsigned char *row, size_t pitch, size_t count, unsigned char *plane) {
    for (size_t i = 0; i < count; i++) {
        uint64_t x = 0;
        for (size_t k = 0; k < 8; k++) {
            x |= (uint64_t)row[k * pitch + i] << (8 * k);
        }
        x = swap_bits(x, 7, UINT64_C(0x00aa00aa00aa00aa));
        x = swap_bits(x, 14, UINT64_C(0x0000cccc0000cccc));
        x = swap_bits(x, 28, UINT64_C(0x00000000f0f0f0f0));
        for (size_t b = 0; b < 8; b++) {
            plane[8 * i + b] = (unsigned char)(x >> (8 * b));
        }
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define HALVES 1
#define VECTOR __m128i
#define TARGET __attribute__((target("sse2")))
#define NAME(name) name##_sse2
#define V(name) _mm_##name
#define V_LOGIC(name) _mm_##name##_si128
#include "kern/shuffle_tmpl.h"

#define HALVES 2
#define VECTOR __m256i
#define TARGET __attribute__((target("avx2")))
#define NAME(name) name##_avx2
#define V(name) _mm256_##name
#define V_LOGIC(name) _mm256_##name##_si256
#include "kern/shuffle_tmpl.h"
#endif

const sxi_shuffle *sxi_shuffle_variant(int number) {
    static const sxi_shuffle variants[] = {
        {"c", bytes_c, bits_c},
#if defined(__x86_64__)
        {"sse2", bytes_sse2, bits_sse2},
        {"avx2", bytes_avx2, bits_avx2},
#endif
    };
    int usable = (int)(sizeof variants / sizeof *variants);
#if defined(__x86_64__)
    usable -= !__builtin_cpu_supports("avx2");
#endif
    return number >= 0 && number < usable ? &variants[number] : NULL;
}

const sxi_shuffle *sxi_shuffle_best(void) {
    int number = 0;
    while (sxi_shuffle_variant(number + 1)) {
        number++;
    }
    return sxi_shuffle_variant(number);
}
