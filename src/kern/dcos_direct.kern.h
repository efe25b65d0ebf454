/* SPDX-License-Identifier: Apache-2.0
 * Sums and residuals sample by sample: any delays, weights of each trace.
 *
 * The columns u_j, v_j of a chunk of samples are made first, into memory near the core; then their
 * products are summed, as many sums at a time as registers hold. Every sum runs in the order of
 * samples, so how many go together changes no bit. */
#ifndef SXI_DCOS_DIRECT_KERN_H
#define SXI_DCOS_DIRECT_KERN_H

#include "kern/dcos_even.kern.h"

/* Products of one column whose three sums fit into the registers of an instruction set. */
#if defined(SX_LANES_AVX512)
#define SX_TOGETHER 8
#else
#define SX_TOGETHER 4
#endif

enum {
    SX_CHUNK = 32,                            /* samples; 16 KB of columns of 4 modes in AVX-512 */
    SX_CHAINS = 4,                            /* of z_{i+4} = z_i q^4, which hide their latency */
    SX_COLUMNS = 2 * SXI_DCOS_MOST_MODES,     /* u_0, v_0, u_1, ... */
    SX_PARTNERS = 2 + 2 * SXI_DCOS_MOST_MODES /* of a column: 1, y, then columns */
};

/* What makes the columns of a mode. */
typedef struct SX_WAVE {
    SX_REAL g, f;
    SX_COMPLEX one, chains; /* z after one and after SX_CHAINS even steps */
} SX_WAVE;

SX_FN void sx_wave_make(const int modes, const sxi_dcos_delays *delays,
                        const sxi_dcos_bundle *bundle, int lane, SX_WAVE *wave) {
    for (int k = 0; k < modes; k++) {
        wave[k].g = SX_LOAD(&bundle->theta[2 * k][lane]);
        wave[k].f = SX_LOAD(&bundle->theta[2 * k + 1][lane]);
        wave[k].one = sx_mode_at(wave[k].g, wave[k].f, delays->dx);
        wave[k].chains = sx_mode_at(wave[k].g, wave[k].f, SX_CHAINS * delays->dx);
    }
}

/* Columns of samples first, first + 1, ...: [SX_CHUNK][2 modes]. On even delays by products, afresh
 * in every chunk, so that rounding stays below SX_CHUNK / SX_CHAINS + SX_CHAINS of them. */
SX_FN void sx_wave_columns(const int modes, const sxi_dcos_delays *delays, int64_t first, int count,
                           const SX_WAVE *wave, SX_REAL *columns) {
    for (int k = 0; k < modes; k++) {
        SX_REAL *to = columns + 2 * k;
        if (delays->dx > 0) {
            SX_COMPLEX z[SX_CHAINS];
            z[0] = sx_mode_at(wave[k].g, wave[k].f, (double)first * delays->dx);
            SX_UNROLL
            for (int c = 1; c < SX_CHAINS; c++) {
                z[c] = sx_times(z[c - 1], wave[k].one);
            }
            for (int i = 0; i < SX_CHUNK; i += SX_CHAINS) {
                SX_UNROLL
                for (int c = 0; c < SX_CHAINS; c++, to += 2 * modes) {
                    to[0] = z[c].r;
                    to[1] = z[c].i;
                    z[c] = sx_times(z[c], wave[k].chains);
                }
            }
        } else {
            for (int i = 0; i < count; i++, to += 2 * modes) {
                const SX_COMPLEX z = sx_mode_at(wave[k].g, wave[k].f, delays->x[first + i]);
                to[0] = z.r;
                to[1] = z.i;
            }
        }
    }
}

/* A chunk of samples of a group of lanes. */
typedef struct SX_SAMPLES {
    int count;
    const double *x, *w, *y; /* at its first sample and lane */
    const SX_REAL *columns;
} SX_SAMPLES;

/* Adds w x^m times column a times its partners `from` to `from` + count - 1: number 0 is 1, number 1 is
 * y, number 2 + b is column a + b. head: from is 0. */
SX_FN void sx_products(const int head, const int count, int modes, int a, int from,
                       const SX_SAMPLES *samples, SX_REAL (*sum)[3]) {
    SX_REAL s[SX_TOGETHER][3];
    const SX_REAL *row = samples->columns;
    const double *w = samples->w, *y = samples->y;
    const int other = a + from - 2;
    sum += from;
    SX_UNROLL
    for (int p = 0; p < count; p++) {
        s[p][0] = sum[p][0], s[p][1] = sum[p][1], s[p][2] = sum[p][2];
    }
    for (int i = 0; i < samples->count; i++) {
        const SX_REAL x = SX_SET(samples->x[i]);
        const SX_REAL c0 = SX_LOAD(w) * row[a], c1 = c0 * x, c2 = c1 * x;
        SX_UNROLL
        for (int p = 0; p < count; p++) {
            if (head && p == 0) {
                s[p][0] = s[p][0] + c0, s[p][1] = s[p][1] + c1, s[p][2] = s[p][2] + c2;
            } else {
                const SX_REAL partner = head && p == 1 ? SX_LOAD(y) : row[other + p];
                s[p][0] = SX_FMA(c0, partner, s[p][0]);
                s[p][1] = SX_FMA(c1, partner, s[p][1]);
                s[p][2] = SX_FMA(c2, partner, s[p][2]);
            }
        }
        w += SXI_BUNDLE, y += SXI_BUNDLE, row += 2 * modes;
    }
    SX_UNROLL
    for (int p = 0; p < count; p++) {
        sum[p][0] = s[p][0], sum[p][1] = s[p][1], sum[p][2] = s[p][2];
    }
}

#define SX_PRODUCTS(count)                                                                         \
    case count:                                                                                    \
        sx_products(head, count, modes, a, from, samples, sum);                                    \
        break;

SX_FN void sx_products_of(const int head, int count, int modes, int a, int from,
                          const SX_SAMPLES *samples, SX_REAL (*sum)[3]) {
    switch (count) {
        SX_PRODUCTS(2)
        SX_PRODUCTS(3)
        SX_PRODUCTS(4)
#if SX_TOGETHER > 4
        SX_PRODUCTS(5)
        SX_PRODUCTS(6)
        SX_PRODUCTS(7)
        SX_PRODUCTS(8)
#endif
    default:
        break;
    }
}

/* Every column with 1, y, itself and those after it, in parts of nearly equal size; none is of one. */
SX_FN void sx_chunk_sums(int modes, const SX_SAMPLES *samples, SX_REAL (*sum)[SX_PARTNERS][3]) {
    for (int a = 0; a < 2 * modes; a++) {
        int left = 2 + 2 * modes - a, parts = (left + SX_TOGETHER - 1) / SX_TOGETHER;
        int from = (left + parts - 1) / parts;
        sx_products_of(1, from, modes, a, 0, samples, sum[a]);
        for (left -= from, parts--; parts > 0; parts--) {
            int count = (left + parts - 1) / parts;
            sx_products_of(0, count, modes, a, from, samples, sum[a]);
            from += count;
            left -= count;
        }
    }
}

/* Sums of products of columns as sums of z. */
SX_FN void sx_put_products(int modes, SX_REAL (*sum)[SX_PARTNERS][3], int lane,
                           sxi_dcos_sums *sums) {
    for (int k = 0; k < modes; k++) {
        SX_REAL(*u)[3] = sum[2 * k], (*v)[3] = sum[2 * k + 1];
        for (int m = 0; m < 3; m++) {
            SX_STORE(&sums->one[k][m][0][lane], u[0][m]);
            SX_STORE(&sums->one[k][m][1][lane], v[0][m]);
            SX_STORE(&sums->z[k][m][0][lane], u[1][m]);
            SX_STORE(&sums->z[k][m][1][lane], v[1][m]);
        }
        for (int j = 0; j <= k; j++) {
            const int pair = sxi_dcos_pair(j, k), b = 2 + 2 * (k - j);
            for (int m = 0; m < 3; m++) {
                const SX_REAL uu = sum[2 * j][b][m], uv = sum[2 * j][b + 1][m];
                const SX_REAL vu = j < k ? sum[2 * j + 1][b - 1][m] : uv;
                const SX_REAL vv = sum[2 * j + 1][b][m];
                SX_STORE(&sums->plus[pair][m][0][lane], uu - vv);
                SX_STORE(&sums->plus[pair][m][1][lane], uv + vu);
                SX_STORE(&sums->minus[pair][m][0][lane], uu + vv);
                SX_STORE(&sums->minus[pair][m][1][lane], vu - uv);
            }
        }
    }
}

/* The samples from `first` on of a group of lanes, at most a chunk. */
SX_FN void sx_take_samples(int modes, const sxi_dcos_delays *delays, const double *w,
                           const double *y, int64_t first, int lane, const SX_WAVE *wave,
                           SX_REAL *columns, SX_SAMPLES *samples) {
    const int64_t left = delays->n - first, at = first * SXI_BUNDLE + lane;
    samples->count = left < SX_CHUNK ? (int)left : SX_CHUNK;
    samples->x = delays->x + first;
    samples->w = w ? w + at : 0;
    samples->y = y + at;
    samples->columns = columns;
    sx_wave_columns(modes, delays, first, samples->count, wave, columns);
}

SX_FN void sx_direct_sums(int modes, const sxi_dcos_delays *delays, const double *w,
                          const double *y, int lane, const sxi_dcos_bundle *bundle,
                          sxi_dcos_sums *sums) {
    SX_REAL columns[SX_CHUNK * SX_COLUMNS], sum[SX_COLUMNS][SX_PARTNERS][3];
    SX_WAVE wave[SXI_DCOS_MOST_MODES];
    SX_SAMPLES samples;
    for (int a = 0; a < 2 * modes; a++) {
        for (int p = 0; p < SX_PARTNERS; p++) {
            sum[a][p][0] = sum[a][p][1] = sum[a][p][2] = SX_SET(0.0);
        }
    }
    sx_wave_make(modes, delays, bundle, lane, wave);
    for (int64_t first = 0; first < delays->n; first += SX_CHUNK) {
        sx_take_samples(modes, delays, w, y, first, lane, wave, columns, &samples);
        sx_chunk_sums(modes, &samples, sum);
    }
    sx_put_products(modes, sum, lane, sums);
}

/* r = w (y - model) and the sum of neighbours in sqrt(w) (y - model). Roots in single precision:
 * the sum only says whether neighbours are alike. */
SX_FN void sx_direct_residual(int modes, const sxi_dcos_delays *delays, const double *w,
                              const double *y, int lane, const sxi_dcos_bundle *bundle, float *r,
                              double *neighbour) {
    SX_REAL columns[SX_CHUNK * SX_COLUMNS], coefficient[SXI_DCOS_MOST_COLUMNS];
    SX_REAL last = SX_SET(0.0), alike = SX_SET(0.0);
    SX_WAVE wave[SXI_DCOS_MOST_MODES];
    SX_SAMPLES samples;
    coefficient[0] = SX_LOAD(&bundle->coefficient[0][lane]);
    for (int k = 1; k <= 2 * modes; k++) {
        coefficient[k] = SX_LOAD(&bundle->coefficient[k][lane]);
    }
    sx_wave_make(modes, delays, bundle, lane, wave);
    for (int64_t first = 0; first < delays->n; first += SX_CHUNK) {
        sx_take_samples(modes, delays, w, y, first, lane, wave, columns, &samples);
        for (int i = 0; i < samples.count; i++) {
            SX_REAL d = SX_LOAD(samples.y + i * SXI_BUNDLE) - coefficient[0];
            for (int k = 0; k < 2 * modes; k++) {
                d = SX_FNMA(coefficient[1 + k], columns[i * 2 * modes + k], d);
            }
            SX_REAL whole = d, root = d;
            if (w) {
                const SX_REAL weight = SX_LOAD(samples.w + i * SXI_BUNDLE);
                whole = weight * d;
                root = SX_SQRT_SINGLE(weight) * d;
            }
            SX_STORE_SINGLE(r + (first + i) * SXI_BUNDLE + lane, whole);
            alike = SX_FMA(root, last, alike);
            last = root;
        }
    }
    SX_STORE(&neighbour[lane], alike);
}

#endif
