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
void sxi_bank_squares(int64_t pairs, int64_t n, const float *row, const float *block, float *out) {
    const lanes *w = (const lanes *)(const void *)block;
    lanes *sum = (lanes *)(void *)out;
    for (int64_t r = 0; r < pairs; r++, row += 2 * n, sum += 5) {
        const float *u = row, *v = row + n;
        lanes a = {0}, b = {0}, aa = {0}, ab = {0}, bb = {0};
        for (int64_t i = 0; i < n; i++) {
            lanes wu = u[i] * w[i], wv = v[i] * w[i];
            a += wu;
            b += wv;
            aa += u[i] * wu;
            ab += v[i] * wu;
            bb += v[i] * wv;
        }
        sum[0] = a;
        sum[1] = b;
        sum[2] = aa;
        sum[3] = ab;
        sum[4] = bb;
    }
}

SXI_CLONES
void sxi_bank_gain(const float *restrict signal, const float *restrict sums,
                   const float *restrict total, float *restrict gain) {
    enum { W = SXI_BANK_WIDTH };
    for (int l = 0; l < W; l++) {
        float u = sums[l], v = sums[W + l];
        float uu = sums[2 * W + l] - u * u / total[l];
        float uv = sums[3 * W + l] - u * v / total[l];
        float vv = sums[4 * W + l] - v * v / total[l];
        float determinant = uu * vv - uv * uv;
        float x = signal[l], y = signal[W + l];
        float found = (vv * x * x - 2 * uv * x * y + uu * y * y) / determinant;
        float least = 1e-4F * sums[2 * W + l] * sums[4 * W + l];
        bool usable = (determinant > least) & (uu > 0) & (vv > 0) & (found > 0);
        gain[l] = usable ? found : 0;
    }
}
