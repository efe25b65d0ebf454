/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/branches.h"

#include <stdlib.h>

#include "base/rng.h"
#include "sx_check.h"

enum { RUN = 2 * SXI_BLOCK_ROWS, CELLS = 3, RUNS = 37 };

static double value(int64_t row, int64_t cell) {
    return sxi_rng_normal(5, (uint32_t)cell, (uint64_t)row);
}

/* By one tree, row after row. */
static void fold(sxi_fold kind, int64_t begin, int64_t end, double *values) {
    sxi_tree tree;
    ck_ok(sxi_tree_create(kind, CELLS, end - begin, &tree));
    sxi_tree_begin(&tree, CELLS, values);
    for (int64_t row = 0; row < end - begin; row++) {
        double x[CELLS];
        for (int64_t c = 0; c < CELLS; c++) {
            x[c] = value(begin + row, c);
        }
        sxi_tree_add(&tree, row, 0, CELLS, x);
        if (row % SXI_BLOCK_ROWS == SXI_BLOCK_ROWS - 1) {
            sxi_tree_block_ends(&tree, row, 0, CELLS);
        }
    }
    sxi_tree_finish(&tree, end - begin);
    sxi_tree_destroy(&tree);
}

/* Numbers 0 .. n - 1 in an order of their own for each seed. */
static void shuffle(uint64_t seed, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t k = (int64_t)(sxi_rng_uniform(seed, 3, (uint64_t)i) * (double)(i + 1));
        const int64_t swapped = order[i];
        order[i] = order[k];
        order[k] = swapped;
    }
}

/* The last run has some rows only. */
START_TEST(any_order_of_runs_gives_the_bits_of_one_tree) {
    static const sxi_fold kinds[] = {SXI_FOLD_SUM, SXI_FOLD_VARIANCE, SXI_FOLD_MAX};
    for (int64_t runs = 1; runs <= RUNS; runs++) {
        const int64_t rows = (runs - 1) * RUN + 1 + runs * 29 % RUN;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            double expected[CELLS * SXI_FOLD_TERMS];
            int64_t order[RUNS];
            sxi_branches branches;
            fold(kinds[k], 0, rows, expected);
            shuffle((uint64_t)runs, runs, order);
            sxi_branches_create(kinds[k], CELLS, rows, RUN, &branches);
            for (int64_t i = 0; i < runs; i++) {
                const int64_t begin = order[i] * RUN;
                sxi_branch *branch = NULL;
                ck_assert_ptr_null(branches.root);
                ck_ok(sxi_branches_take(&branches, &branch));
                fold(kinds[k], begin, begin + RUN < rows ? begin + RUN : rows, branch->values);
                sxi_branches_add(&branches, order[i], branch);
            }
            ck_assert_ptr_nonnull(branches.root);
            ck_assert_mem_eq(branches.root->values, expected,
                             (size_t)(CELLS * sxi_fold_terms(kinds[k])) * sizeof *expected);
            sxi_branches_destroy(&branches);
        }
    }
}
END_TEST

SX_TEST_MAIN("branches", any_order_of_runs_gives_the_bits_of_one_tree)
