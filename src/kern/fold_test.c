/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/fold.h"

#include <string.h>

#include "base/rng.h"
#include "sx_check.h"

enum { ROWS = 64, N = 70, GAP = 3 };

/* Values of any size of the type, also those that a sum rounds. */
static double draw(sx_dtype dtype, int64_t i) {
    const double u = 2 * sxi_rng_uniform(1, dtype, (uint64_t)i) - 1;
    return dtype == SX_F32 || dtype == SX_F64 ? u : u * pow(2, 8 * (double)sx_dtype_size(dtype));
}

START_TEST(rows_are_added_one_after_the_other) {
    for (int type = SX_I8; type <= SX_F64; type++) {
        const sx_dtype dtype = (sx_dtype)type;
        const int64_t shape[] = {ROWS, N + GAP};
        sx_array x;
        ck_ok(sx_array_create(dtype, 2, shape, &x));
        for (int64_t i = 0; i < ROWS * (N + GAP); i++) {
            const int64_t index[] = {i / (N + GAP), i % (N + GAP)};
            sx_array_set(&x, index, draw(dtype, i));
        }
        for (int64_t rows = 0; rows <= ROWS; rows++) {
            double sum[N], expected[N];
            for (int64_t i = 0; i < N; i++) {
                sum[i] = expected[i] = i % 2 ? -0.0 : 1e9 * (double)i / 7;
                sum[i] = expected[i] = type < SX_I32 ? rint(sum[i]) : sum[i];
                for (int64_t k = 0; k < rows; k++) {
                    const int64_t index[] = {k, i};
                    expected[i] += sx_array_get(&x, index);
                }
            }
            sxi_fold_rows(dtype, rows, N, x.data, shape[1] * (int64_t)sx_dtype_size(dtype), sum);
            ck_assert_mem_eq(sum, expected, sizeof sum);
        }
        sx_array_destroy(&x);
    }
}
END_TEST

SX_TEST_MAIN("fold", rows_are_added_one_after_the_other)
