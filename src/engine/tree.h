/* SPDX-License-Identifier: Apache-2.0
 * Folding along an axis in an order that depends on nothing but the index: blocks of 64 rows one
 * element after the other, blocks in pairs, pairs in pairs and so on. Theory: docs/theory/engine.md,
 * "Sums". */
#ifndef SXI_TREE_H
#define SXI_TREE_H

#include <stdint.h>

#include <sextant/array.h>

enum { SXI_BLOCK_ROWS = 64, SXI_TREE_LEVELS = 58, SXI_FOLD_TERMS = 2 };

typedef enum sxi_fold {
    SXI_FOLD_SUM,
    SXI_FOLD_MEAN,
    SXI_FOLD_VARIANCE, /* terms: mean, sum of squares around it */
    SXI_FOLD_MIN,
    SXI_FOLD_MAX
} sxi_fold;

/* Many cells are folded side by side; each has `terms` doubles. Row k of all cells must come before
 * row k + 1, cell by cell in any order. */
typedef struct sxi_tree {
    sxi_fold fold;
    int64_t cells;
    int terms;
    int levels;                     /* level[0 .. levels - 1] have memory */
    double *block;                  /* [terms][cells] the block that is being filled; lent */
    double *level[SXI_TREE_LEVELS]; /* 2^k blocks each, where that bit of their number is set */
} sxi_tree;

/* sxi_fold_terms - doubles of a cell. sxi_tree_levels - levels for so many rows; a single block needs
 * none. */
int sxi_fold_terms(sxi_fold fold);
int sxi_tree_levels(int64_t rows);

/* sxi_tree_create - for at most so many cells and rows. SX_ERR_MEMORY. */
sx_status sxi_tree_create(sxi_fold fold, int64_t cells, int64_t rows, sxi_tree *tree);
void sxi_tree_destroy(sxi_tree *tree);

/* sxi_tree_begin - before the first row, and to fold anew: into block [terms][cells], which the caller
 * lends. */
void sxi_tree_begin(sxi_tree *tree, int64_t cells, double *block);

/* sxi_tree_add - values x of row `row` of n cells from `cell` on. Any thread, on distinct cells. */
void sxi_tree_add(sxi_tree *tree, int64_t row, int64_t cell, int64_t n, const double *x);

/* sxi_tree_add_rows - the same for sums and means of rows that lie in one block, of any type, row_bytes
 * apart. */
void sxi_tree_add_rows(sxi_tree *tree, int64_t row, int64_t rows, int64_t cell, int64_t n,
                       sx_dtype dtype, const void *x, int64_t row_bytes);

/* sxi_tree_block_ends - after the last row of each block, for the same cells. */
void sxi_tree_block_ends(sxi_tree *tree, int64_t row, int64_t cell, int64_t n);

/* sxi_tree_finish - folds all; what comes out is in block[terms][cells]. rows: that were added. */
void sxi_tree_finish(sxi_tree *tree, int64_t rows);

/* sxi_tree_join - left [terms][cells] of nl rows and right of nr into right. */
void sxi_tree_join(sxi_fold fold, int64_t cells, double nl, const double *left, double nr,
                   double *right);

#endif
