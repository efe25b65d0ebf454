/* SPDX-License-Identifier: Apache-2.0
 * Folding what is in memory. */
#include "engine/reduce.h"

enum { PIECE = 512 }; /* cells that are converted at a time */

/* Rows of one line of cells, `stride` elements apart. at: its first element, in the first row. */
typedef struct line {
    const char *at;
    int64_t row_bytes, stride;
    int64_t cell, cells;
} line;

static void fold_line(const sxi_reduction *r, sxi_tree *tree, const sx_array *view, const line *l,
                      int64_t first) {
    const int64_t size = (int64_t)sx_dtype_size(view->dtype);
    double room[PIECE];
    for (int64_t c = 0; c < l->cells; c += PIECE) {
        const int64_t n = sxi_least(l->cells - c, PIECE);
        for (int64_t k = 0; k < view->shape[r->axis]; k++) {
            const int64_t row = first + k;
            const char *from = l->at + c * l->stride * size + k * l->row_bytes;
            sxi_tree_add(tree, row, l->cell + c, n, sxi_doubles(view, from, l->stride, n, room));
            if (row % SXI_BLOCK_ROWS == SXI_BLOCK_ROWS - 1) {
                sxi_tree_block_ends(tree, row, l->cell + c, n);
            }
        }
    }
}

/* The same for sums of cells side by side. */
static void sum_line(const sxi_reduction *r, sxi_tree *tree, const sx_array *view, const line *l,
                     int64_t first) {
    const int64_t rows = view->shape[r->axis];
    for (int64_t k = 0, n; k < rows; k += n) {
        const int64_t row = first + k;
        n = sxi_least(rows - k, SXI_BLOCK_ROWS - row % SXI_BLOCK_ROWS);
        sxi_tree_add_rows(tree, row, n, l->cell, l->cells, view->dtype, l->at + k * l->row_bytes,
                          l->row_bytes);
        if ((row + n) % SXI_BLOCK_ROWS == 0) {
            sxi_tree_block_ends(tree, row, l->cell, l->cells);
        }
    }
}

/* The axes of cells, with the last ones as a single one where they are one run of elements. */
typedef struct cell_axes {
    int axes;
    int64_t shape[SX_MAX_RANK], stride[SX_MAX_RANK];
} cell_axes;

static cell_axes cells_of(const sxi_reduction *r, const sx_array *view) {
    cell_axes c = {.axes = 0};
    for (int d = 0; d < view->rank; d++) {
        if (d != r->axis) {
            c.shape[c.axes] = view->shape[d];
            c.stride[c.axes++] = view->stride[d];
        }
    }
    if (c.axes == 0) {
        c = (cell_axes){1, {1}, {1}};
    }
    for (int e = c.axes - 1; e > 0 && c.stride[e - 1] == c.shape[e] * c.stride[e]; e--) {
        c.stride[e - 1] = c.stride[e];
        c.shape[e - 1] *= c.shape[e];
        c.axes = e;
    }
    return c;
}

void sxi_reduce_view(const sxi_reduction *r, sxi_tree *tree, const sx_array *view, int64_t first,
                     int64_t cell) {
    const int64_t size = (int64_t)sx_dtype_size(view->dtype);
    const cell_axes c = cells_of(r, view);
    const int last = c.axes - 1;
    const bool sums = r->fold == SXI_FOLD_SUM || r->fold == SXI_FOLD_MEAN;
    int64_t index[SX_MAX_RANK] = {0}, lines = 1;
    for (int e = 0; e < last; e++) {
        lines *= c.shape[e];
    }
    line l = {.row_bytes = view->stride[r->axis] * size,
              .stride = c.stride[last],
              .cell = cell,
              .cells = c.shape[last]};
    for (int64_t i = 0; i < lines; i++, l.cell += l.cells) {
        int64_t offset = 0;
        for (int e = 0; e < last; e++) {
            offset += index[e] * c.stride[e];
        }
        l.at = (const char *)view->data + offset * size;
        if (sums && l.stride == 1) {
            sum_line(r, tree, view, &l, first);
        } else {
            fold_line(r, tree, view, &l, first);
        }
        for (int e = last - 1; e >= 0 && ++index[e] == c.shape[e]; e--) {
            index[e] = 0;
        }
    }
}
