/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/bank.h"

#include <math.h>

#include "base/rng.h"
#include "sx_check.h"

enum { N = 57, WIDTH = SXI_BANK_WIDTH };

/* In the order that is promised, and whatever the number of rows: the bits of a plain loop. */
START_TEST(products_are_plain_sums) {
    float row[9 * N], block[N * WIDTH], out[9 * WIDTH];
    for (int i = 0; i < 9 * N; i++) {
        row[i] = (float)sxi_rng_normal(52, 1, (uint64_t)i);
    }
    for (int i = 0; i < N * WIDTH; i++) {
        block[i] = (float)sxi_rng_normal(52, 2, (uint64_t)i);
    }
    for (int rows = 1; rows <= 9; rows++) {
        sxi_bank_products(rows, N, row, block, out);
        for (int r = 0; r < rows; r++) {
            for (int l = 0; l < WIDTH; l++) {
                float sum = 0;
                for (int i = 0; i < N; i++) {
                    sum += row[r * N + i] * block[i * WIDTH + l];
                }
                ck_near(out[r * WIDTH + l], sum, 0, 0);
            }
        }
    }
}
END_TEST

START_TEST(squares_are_those_of_the_rows) {
    float row[3 * 2 * N], block[N * WIDTH], out[3 * 5 * WIDTH];
    for (int i = 0; i < 6 * N; i++) {
        row[i] = (float)sxi_rng_normal(53, 1, (uint64_t)i);
    }
    for (int i = 0; i < N * WIDTH; i++) {
        block[i] = (float)sxi_rng_uniform(53, 2, (uint64_t)i);
    }
    sxi_bank_squares(3, N, row, block, out);
    for (int r = 0; r < 3; r++) {
        const float *u = row + 2 * r * N, *v = u + N;
        for (int l = 0; l < WIDTH; l++) {
            float sum[5] = {0};
            for (int i = 0; i < N; i++) {
                float w = block[i * WIDTH + l];
                const float part[5] = {u[i] * w, v[i] * w, u[i] * (u[i] * w), v[i] * (u[i] * w),
                                       v[i] * (v[i] * w)};
                for (int j = 0; j < 5; j++) {
                    sum[j] += part[j];
                }
            }
            for (int j = 0; j < 5; j++) {
                ck_near(out[(5 * r + j) * WIDTH + l], sum[j], 0, 0);
            }
        }
    }
}
END_TEST

/* The fall of the sum of squares, solved by hand: u = (1, 0, 0), v = (0, 2, 0), weight 1, 1/2, 1. */
START_TEST(gains_are_falls_of_the_sum_of_squares) {
    float signal[2 * WIDTH], sums[5 * WIDTH], total[WIDTH], gain[WIDTH];
    const float uv[5] = {1, 1, 1, 0, 2};
    for (int l = 0; l < WIDTH; l++) {
        signal[l] = 3;
        signal[WIDTH + l] = 1;
        for (int j = 0; j < 5; j++) {
            sums[j * WIDTH + l] = l == 2 && j == 4 ? 0 : uv[j];
        }
        total[l] = l == 1 ? 2.5F : INFINITY;
    }
    sxi_bank_gain(signal, sums, total, gain);
    ck_near(gain[0], 9 + 0.5, 1e-6, 0);
    /* [0.6 -0.4; -0.4 1.6]^-1 = [1.6 0.4; 0.4 0.6] / 0.8 */
    ck_near(gain[1], (1.6 * 9 + 2 * 0.4 * 3 + 0.6) / 0.8, 1e-5, 0);
    ck_near(gain[2], 0, 0, 0); /* no sine */
}
END_TEST

SX_TEST_MAIN("bank", products_are_plain_sums, squares_are_those_of_the_rows,
             gains_are_falls_of_the_sum_of_squares)
