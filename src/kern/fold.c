/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/fold.h"

#include "kern/kern.h"

/* Four rows at a time, so that sums are loaded and stored once for four values. */
enum { ROWS = 4 };

typedef void (*fold_fn)(int64_t n, const void *a, const void *b, const void *c, const void *d,
                        double *sum);
typedef void (*fold_one_fn)(int64_t n, const void *a, double *sum);

/* `wide` holds the sum of four values of a short integer exactly, as the double does. */
#define FOLD_SHORT(name, type, wide)                                                               \
    SXI_CLONES                                                                                     \
    static void fold_##name(int64_t n, const void *a, const void *b, const void *c, const void *d, \
                            double *restrict sum) {                                                \
        const type *p = a, *q = b, *r = c, *s = d;                                                 \
        for (int64_t i = 0; i < n; i++) {                                                          \
            sum[i] += (double)((wide)p[i] + (wide)q[i] + (wide)r[i] + (wide)s[i]);                 \
        }                                                                                          \
    }
#define FOLD_LONG(name, type)                                                                      \
    SXI_CLONES                                                                                     \
    static void fold_##name(int64_t n, const void *a, const void *b, const void *c, const void *d, \
                            double *restrict sum) {                                                \
        const type *p = a, *q = b, *r = c, *s = d;                                                 \
        for (int64_t i = 0; i < n; i++) {                                                          \
            sum[i] = (((sum[i] + (double)p[i]) + (double)q[i]) + (double)r[i]) + (double)s[i];     \
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
FOLD_SHORT(I16, int16_t, int32_t)
FOLD_SHORT(U16, uint16_t, int32_t)
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
    static const fold_fn four[] = {SX_DTYPE_LIST(FOLD)};
    static const fold_one_fn single[] = {SX_DTYPE_LIST(ONE)};
    const char *at = x;
    int64_t k = 0;
    for (; k + ROWS <= rows; k += ROWS, at += ROWS * row_bytes) {
        four[dtype](n, at, at + row_bytes, at + 2 * row_bytes, at + 3 * row_bytes, sum);
    }
    for (; k < rows; k++, at += row_bytes) {
        single[dtype](n, at, sum);
    }
}
