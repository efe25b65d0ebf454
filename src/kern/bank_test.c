/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/bank.h"

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

SX_TEST_MAIN("bank", products_are_plain_sums)
