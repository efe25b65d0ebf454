/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/bank.h"

#include <stdbool.h>

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

SXI_CLONES
void sxi_bank_gain(const float *restrict signal, const float *restrict linear,
                   const float *restrict square, const float *restrict total, int32_t number,
                   float *restrict best, int32_t *restrict which) {
    enum { W = SXI_BANK_WIDTH };
    for (int l = 0; l < W; l++) {
        float u = linear[l], v = linear[W + l];
        float uu = square[l] - u * u / total[l];
        float uv = square[W + l] - u * v / total[l];
        float vv = square[2 * W + l] - v * v / total[l];
        float determinant = uu * vv - uv * uv;
        float x = signal[l], y = signal[W + l];
        float gain = (vv * x * x - 2 * uv * x * y + uu * y * y) / determinant;
        float least = 1e-4F * square[l] * square[2 * W + l];
        bool better = (determinant > least) & (uu > 0) & (vv > 0) & (gain > best[l]);
        best[l] = better ? gain : best[l];
        which[l] = better ? number : which[l];
    }
}
