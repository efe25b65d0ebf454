/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/bank.h"

#include "kern/kern.h"

typedef float lanes
    __attribute__((vector_size(SXI_BANK_WIDTH * sizeof(float)), aligned(4), may_alias));

SXI_CLONES
void sxi_bank_products(int64_t rows, int64_t n, const float *row, const float *block, float *out) {
    const lanes *y = (const lanes *)(const void *)block;
    lanes *sum = (lanes *)(void *)out;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
        const float *a = row + r * n, *b = a + n, *c = b + n, *d = c + n;
        lanes sa = {0}, sb = {0}, sc = {0}, sd = {0};
        for (int64_t i = 0; i < n; i++) {
            sa += a[i] * y[i];
            sb += b[i] * y[i];
            sc += c[i] * y[i];
            sd += d[i] * y[i];
        }
        sum[r] = sa;
        sum[r + 1] = sb;
        sum[r + 2] = sc;
        sum[r + 3] = sd;
    }
    for (; r < rows; r++) {
        lanes s = {0};
        for (int64_t i = 0; i < n; i++) {
            s += row[r * n + i] * y[i];
        }
        sum[r] = s;
    }
}
