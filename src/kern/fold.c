/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/fold.h"

#include "kern/kern.h"

/* Eight rows at a time, so that sums are loaded and stored once for eight values. */
enum { ROWS = 8 };

typedef void (*fold_fn)(int64_t n, const void *x, int64_t row_bytes, double *sum);
typedef void (*fold_one_fn)(int64_t n, const void *a, double *sum);

/* Eight rows of a type, one pointer to each. */
#define ROWS_OF(type)                                                                              \
    const char *at = x;                                                                            \
    const type *a = (const void *)at, *b = (const void *)(at + row_bytes),                         \
               *c = (const void *)(at + 2 * row_bytes), *d = (const void *)(at + 3 * row_bytes),   \
               *e = (const void *)(at + 4 * row_bytes), *f = (const void *)(at + 5 * row_bytes),   \
               *g = (const void *)(at + 6 * row_bytes), *h = (const void *)(at + 7 * row_bytes)

typedef uint32_t __attribute__((may_alias, aligned(2))) word;
enum { LOW = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, HIGH = 1 - LOW };

static inline int32_t low_unsigned(uint32_t w) { return (int32_t)(w & 0xffff); }
static inline int32_t high_unsigned(uint32_t w) { return (int32_t)(w >> 16); }
static inline int32_t low_signed(uint32_t w) { return (int32_t)(w << 16) >> 16; }
static inline int32_t high_signed(uint32_t w) { return (int32_t)w >> 16; }

/* `wide` holds the sum of eight values of a short integer exactly, as the double does. */
#define FOLD_SHORT(name, type, wide)                                                               \
    SXI_CLONES                                                                                     \
    static void fold_##name(int64_t n, const void *x, int64_t row_bytes, double *restrict sum) {   \
        ROWS_OF(type);                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const wide low = (wide)a[i] + (wide)b[i] + (wide)c[i] + (wide)d[i];                    \
            const wide high = (wide)e[i] + (wide)f[i] + (wide)g[i] + (wide)h[i];                   \
            sum[i] += (double)(low + high);                                                        \
        }                                                                                          \
    }
/* The same for 16 bits, two columns to a word of 32: a mask and a shift take them apart for less than
 * it costs to widen them. */
#define FOLD_PAIRS(name, type, low_of, high_of)                                                    \
    SXI_CLONES                                                                                     \
    static void fold_##name(int64_t n, const void *x, int64_t row_bytes, double *restrict sum) {   \
        ROWS_OF(word);                                                                             \
        for (int64_t i = 0; i < n / 2; i++) {                                                      \
            const int32_t low = ((low_of(a[i]) + low_of(b[i])) + (low_of(c[i]) + low_of(d[i]))) +  \
                                ((low_of(e[i]) + low_of(f[i])) + (low_of(g[i]) + low_of(h[i])));   \
            const int32_t high =                                                                   \
                ((high_of(a[i]) + high_of(b[i])) + (high_of(c[i]) + high_of(d[i]))) +              \
                ((high_of(e[i]) + high_of(f[i])) + (high_of(g[i]) + high_of(h[i])));               \
            sum[2 * i + LOW] += (double)low;                                                       \
            sum[2 * i + HIGH] += (double)high;                                                     \
        }                                                                                          \
        for (int64_t k = 0; n % 2 > 0 && k < ROWS; k++) {                                          \
            sum[n - 1] += (double)((const type *)(const void *)(at + k * row_bytes))[n - 1];       \
        }                                                                                          \
    }
#define FOLD_LONG(name, type)                                                                      \
    SXI_CLONES                                                                                     \
    static void fold_##name(int64_t n, const void *x, int64_t row_bytes, double *restrict sum) {   \
        ROWS_OF(type);                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const double low =                                                                     \
                (((sum[i] + (double)a[i]) + (double)b[i]) + (double)c[i]) + (double)d[i];          \
            sum[i] = (((low + (double)e[i]) + (double)f[i]) + (double)g[i]) + (double)h[i];        \
        }                                                                                          \
    }
#define FOLD_ONE(name, type, word)                                                                 \
    SXI_CLONES                                                                                     \
    static void fold_one_##name(int64_t n, const void *a, double *restrict sum) {                  \
        const type *p = a;                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            sum[i] += (double)p[i];                                                                \
        }                                                                                          \
    }

FOLD_SHORT(I8, int8_t, int32_t)
FOLD_SHORT(U8, uint8_t, int32_t)
FOLD_PAIRS(I16, int16_t, low_signed, high_signed)
FOLD_PAIRS(U16, uint16_t, low_unsigned, high_unsigned)
FOLD_LONG(I32, int32_t)
FOLD_LONG(U32, uint32_t)
FOLD_LONG(I64, int64_t)
FOLD_LONG(U64, uint64_t)
FOLD_LONG(F32, float)
FOLD_LONG(F64, double)
SX_DTYPE_LIST(FOLD_ONE)

void sxi_fold_rows(sx_dtype dtype, int64_t rows, int64_t n, const void *x, int64_t row_bytes,
                   double *sum) {
#define FOLD(name, type, word) fold_##name,
#define ONE(name, type, word) fold_one_##name,
    static const fold_fn eight[] = {SX_DTYPE_LIST(FOLD)};
    static const fold_one_fn single[] = {SX_DTYPE_LIST(ONE)};
    const char *at = x;
    int64_t k = 0;
    for (; k + ROWS <= rows; k += ROWS, at += ROWS * row_bytes) {
        eight[dtype](n, at, row_bytes, sum);
    }
    for (; k < rows; k++, at += row_bytes) {
        single[dtype](n, at, sum);
    }
}
