/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/transpose.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Sixteen bytes, whatever the elements: every machine of 64 bits has such registers. */
typedef uint8_t v16 __attribute__((vector_size(16)));
typedef uint16_t v8 __attribute__((vector_size(16)));
typedef uint32_t v4 __attribute__((vector_size(16)));
typedef uint64_t v2 __attribute__((vector_size(16)));

#define INLINE static inline __attribute__((always_inline))

/* Elements of a and b in turn: the lower halves, the upper halves. */
INLINE v2 zip_low(int bytes, v2 a, v2 b) {
    switch (bytes) {
    case 1:
        return (v2)__builtin_shufflevector((v16)a, (v16)b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                           6, 22, 7, 23);
    case 2:
        return (v2)__builtin_shufflevector((v8)a, (v8)b, 0, 8, 1, 9, 2, 10, 3, 11);
    case 4:
        return (v2)__builtin_shufflevector((v4)a, (v4)b, 0, 4, 1, 5);
    default:
        return __builtin_shufflevector(a, b, 0, 2);
    }
}

INLINE v2 zip_high(int bytes, v2 a, v2 b) {
    switch (bytes) {
    case 1:
        return (v2)__builtin_shufflevector((v16)a, (v16)b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                           29, 14, 30, 15, 31);
    case 2:
        return (v2)__builtin_shufflevector((v8)a, (v8)b, 4, 12, 5, 13, 6, 14, 7, 15);
    case 4:
        return (v2)__builtin_shufflevector((v4)a, (v4)b, 2, 6, 3, 7);
    default:
        return __builtin_shufflevector(a, b, 1, 3);
    }
}

/* Part of so many bytes of a vector. */
INLINE void store(int bytes, char *target, v2 value, int lane) {
    switch (bytes) {
    case 2:
        memcpy(target, &(uint16_t){((v8)value)[lane]}, 2);
        break;
    case 4:
        memcpy(target, &(uint32_t){((v4)value)[lane]}, 4);
        break;
    case 8:
        memcpy(target, &(uint64_t){value[lane]}, 8);
        break;
    default:
        memcpy(target, &value, 16);
    }
}

enum { MOST = 8 };

/* A tile of `rows` rows (2, 4, 8) and one vector of columns. Zipping rows r and r + rows / 2 as
 * often as rows can be halved puts the elements of each column side by side. */
INLINE void tile(int bytes, int rows, const char *source, int64_t source_stride, char *target,
                 int64_t target_stride) {
    v2 now[MOST], next[MOST];
    for (int r = 0; r < rows; r++) {
        memcpy(&now[r], source + r * source_stride, sizeof *now);
    }
    for (int half = rows; half > 1; half /= 2) {
        for (int r = 0; r < rows / 2; r++) {
            next[2 * r] = zip_low(bytes, now[r], now[r + rows / 2]);
            next[2 * r + 1] = zip_high(bytes, now[r], now[r + rows / 2]);
        }
        memcpy(now, next, sizeof now);
    }
    const int column = rows * bytes, columns = 16 / bytes;
    for (int c = 0; c < columns; c++) {
        for (int b = 0; b < column; b += 16) {
            const int at = c * column + b;
            store(column, target + c * target_stride + b, now[at / 16], at % 16 / column);
        }
    }
}

/* Rows at a time, all columns; the last few one by one. */
INLINE void strip(int bytes, int rows, int64_t columns, const char *source, int64_t source_stride,
                  char *target, int64_t target_stride) {
    int64_t c = 0;
    for (; rows > 1 && c + 16 / bytes <= columns; c += 16 / bytes) {
        tile(bytes, rows, source + c * bytes, source_stride, target + c * target_stride,
             target_stride);
    }
    for (; c < columns; c++) {
        for (int r = 0; r < rows; r++) {
            memcpy(target + c * target_stride + r * bytes, source + r * source_stride + c * bytes,
                   (size_t)bytes);
        }
    }
}

INLINE void strips(int bytes, int64_t rows, int64_t columns, const char *source,
                   int64_t source_stride, char *target, int64_t target_stride) {
    int64_t r = 0;
#define STRIPS(n)                                                                                  \
    for (; r + (n) <= rows; r += (n)) {                                                            \
        strip(bytes, n, columns, source + r * source_stride, source_stride, target + r * bytes,    \
              target_stride);                                                                      \
    }
    STRIPS(8)
    STRIPS(4)
    STRIPS(2)
    STRIPS(1)
#undef STRIPS
}

/* The lines of the cache that a block writes stay in the second level until they are full. Where
 * the rows of the source are the closer ones (traces that become frames), a block is one vector wide,
 * so that the few columns it writes are long: many columns far apart would share few places of
 * the cache. */
enum { BLOCK = 1024 };

INLINE void blocks(int bytes, int64_t rows, int64_t columns, const char *source,
                   int64_t source_stride, char *target, int64_t target_stride) {
    const int64_t width = llabs(target_stride) > llabs(source_stride) ? 16 / bytes : BLOCK;
    for (int64_t r = 0; r < rows; r += BLOCK) {
        const int64_t m = rows - r < BLOCK ? rows - r : BLOCK;
        for (int64_t c = 0; c < columns; c += width) {
            const int64_t n = columns - c < width ? columns - c : width;
            strips(bytes, m, n, source + r * source_stride + c * bytes, source_stride,
                   target + c * target_stride + r * bytes, target_stride);
        }
    }
}

void sxi_transpose(int64_t bytes, int64_t rows, int64_t columns, const char *source,
                   int64_t source_stride, char *target, int64_t target_stride) {
    switch (bytes) {
    case 1:
        blocks(1, rows, columns, source, source_stride, target, target_stride);
        break;
    case 2:
        blocks(2, rows, columns, source, source_stride, target, target_stride);
        break;
    case 4:
        blocks(4, rows, columns, source, source_stride, target, target_stride);
        break;
    default:
        assert(bytes == 8);
        blocks(8, rows, columns, source, source_stride, target, target_stride);
    }
}
