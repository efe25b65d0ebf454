/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "kern/fold.h"

int sxi_fold_terms(sxi_fold fold) { return fold == SXI_FOLD_VARIANCE ? 2 : 1; }

int sxi_tree_levels(int64_t rows) {
    int levels = 0;
    if (rows <= SXI_BLOCK_ROWS) {
        return 0;
    }
    for (int64_t blocks = rows / SXI_BLOCK_ROWS; blocks > 0; blocks /= 2) {
        levels++;
    }
    return levels;
}

sx_status sxi_tree_create(sxi_fold fold, int64_t cells, int64_t rows, sxi_tree *tree) {
    const int terms = sxi_fold_terms(fold);
    const size_t bytes = (size_t)(cells * terms) * sizeof(double);
    *tree =
        (sxi_tree){.fold = fold, .cells = cells, .terms = terms, .levels = sxi_tree_levels(rows)};
    bool got = true;
    for (int k = 0; k < tree->levels && got; k++) {
        tree->level[k] = sxi_pages_take(bytes);
        got = tree->level[k] != NULL;
    }
    if (!got) {
        sxi_tree_destroy(tree);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to sum up %lld values side by side",
                        (long long)cells);
    }
    return SX_OK;
}

void sxi_tree_destroy(sxi_tree *tree) {
    for (int k = 0; k < SXI_TREE_LEVELS; k++) {
        free(tree->level[k]);
    }
    *tree = (sxi_tree){0};
}

void sxi_tree_begin(sxi_tree *tree, int64_t cells, double *block) {
    tree->cells = cells;
    tree->block = block;
}

/* A NaN stays, whichever comes first. */
static double lower(double a, double b) { return a < b || isnan(a) ? a : b; }
static double higher(double a, double b) { return a > b || isnan(a) ? a : b; }

/* Welford 1962, Note on a method for calculating corrected sums of squares and products. */
static void add_variance(int64_t n, int64_t k, const double *x, double *mean, double *squares) {
    const double share = 1.0 / (double)(k + 1);
    for (int64_t i = 0; i < n; i++) {
        const double d = x[i] - mean[i];
        mean[i] += d * share;
        squares[i] += d * (x[i] - mean[i]);
    }
}

void sxi_tree_add(sxi_tree *tree, int64_t row, int64_t cell, int64_t n, const double *x) {
    double *sum = tree->block + cell;
    const int64_t k = row % SXI_BLOCK_ROWS;
    if (k == 0) {
        memcpy(sum, x, (size_t)n * sizeof *sum);
        for (int64_t i = 0; tree->terms > 1 && i < n; i++) {
            sum[tree->cells + i] = x[i] - x[i]; /* 0, or NaN */
        }
        return;
    }
    switch (tree->fold) {
    case SXI_FOLD_SUM:
    case SXI_FOLD_MEAN:
        for (int64_t i = 0; i < n; i++) {
            sum[i] += x[i];
        }
        break;
    case SXI_FOLD_VARIANCE:
        add_variance(n, k, x, sum, sum + tree->cells);
        break;
    case SXI_FOLD_MIN:
        for (int64_t i = 0; i < n; i++) {
            sum[i] = lower(x[i], sum[i]);
        }
        break;
    case SXI_FOLD_MAX:
        for (int64_t i = 0; i < n; i++) {
            sum[i] = higher(x[i], sum[i]);
        }
        break;
    }
}

void sxi_tree_add_rows(sxi_tree *tree, int64_t row, int64_t rows, int64_t cell, int64_t n,
                       sx_dtype dtype, const void *x, int64_t row_bytes) {
    double *sum = tree->block + cell;
    for (int64_t i = 0; row % SXI_BLOCK_ROWS == 0 && i < n; i++) {
        sum[i] = -0.0; /* which changes no value that is added to it */
    }
    sxi_fold_rows(dtype, rows, n, x, row_bytes, sum);
}

/* n cells, of terms that are `cells` apart. Chan, Golub, LeVeque 1979 for the variance. */
static void join(sxi_fold fold, int64_t cells, int64_t n, double nl, const double *left, double nr,
                 double *right) {
    switch (fold) {
    case SXI_FOLD_SUM:
    case SXI_FOLD_MEAN:
        for (int64_t i = 0; i < n; i++) {
            right[i] = left[i] + right[i];
        }
        break;
    case SXI_FOLD_VARIANCE: {
        const double of_right = nr / (nl + nr), of_both = nl * nr / (nl + nr);
        for (int64_t i = 0; i < n; i++) {
            const double d = right[i] - left[i];
            right[i] = left[i] + d * of_right;
            right[cells + i] = left[cells + i] + right[cells + i] + d * d * of_both;
        }
        break;
    }
    case SXI_FOLD_MIN:
        for (int64_t i = 0; i < n; i++) {
            right[i] = lower(right[i], left[i]);
        }
        break;
    case SXI_FOLD_MAX:
        for (int64_t i = 0; i < n; i++) {
            right[i] = higher(right[i], left[i]);
        }
        break;
    }
}

void sxi_tree_join(sxi_fold fold, int64_t cells, double nl, const double *left, double nr,
                   double *right) {
    join(fold, cells, cells, nl, left, nr, right);
}

void sxi_tree_block_ends(sxi_tree *tree, int64_t row, int64_t cell, int64_t n) {
    double *sum = tree->block + cell;
    int64_t blocks = row / SXI_BLOCK_ROWS;
    int k = 0;
    if (tree->levels == 0) { /* the only block stays where it is */
        return;
    }
    for (double rows = SXI_BLOCK_ROWS; blocks & 1; blocks /= 2, k++, rows *= 2) {
        join(tree->fold, tree->cells, n, rows, tree->level[k] + cell, rows, sum);
    }
    for (int t = 0; t < tree->terms; t++) {
        memcpy(tree->level[k] + t * tree->cells + cell, sum + t * tree->cells,
               (size_t)n * sizeof *sum);
    }
}

void sxi_tree_finish(sxi_tree *tree, int64_t rows) {
    double nr = (double)(rows % SXI_BLOCK_ROWS), nl = SXI_BLOCK_ROWS;
    const size_t bytes = (size_t)(tree->cells * tree->terms) * sizeof(double);
    bool any = nr > 0 || (tree->levels == 0 && rows > 0);
    int k = 0;
    for (int64_t blocks = tree->levels > 0 ? rows / SXI_BLOCK_ROWS : 0; blocks > 0;
         blocks /= 2, k++, nl *= 2) {
        if (!(blocks & 1)) {
            continue;
        }
        if (any) {
            sxi_tree_join(tree->fold, tree->cells, nl, tree->level[k], nr, tree->block);
        } else {
            memcpy(tree->block, tree->level[k], bytes);
        }
        any = true;
        nr += nl;
    }
    if (!any) {
        memset(tree->block, 0, bytes);
    }
}
