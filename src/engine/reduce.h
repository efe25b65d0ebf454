/* SPDX-License-Identifier: Apache-2.0
 * What the files of sums share. Only for reduce*.c. */
#ifndef SXI_REDUCE_H
#define SXI_REDUCE_H

#include "engine/arena.h"
#include "engine/band.h"
#include "engine/branches.h"
#include "engine/darray.h"
#include "engine/tree.h"
#include "io/read/bands.h"

/* Runs of the axis and parts of the result are items, which ranks take from a shared counter. */
typedef struct sxi_item {
    int64_t number; /* part * runs + run */
    sxi_branch *sums;
} sxi_item;

typedef struct sxi_reduction {
    sx_darray *array, *out;
    sx_cluster *cluster;
    const sx_context *context;
    sxi_fold fold;
    int axis;
    int threads;
    sxi_bands parts; /* of the result */
    int64_t part_count;
    int64_t runs, run_rows; /* of the axis */
    sxi_arena *arena;       /* [threads] */
    sxi_band **band;        /* [threads], at least two */
    sxi_item *item;         /* those of this rank */
    int64_t item_count;
    int64_t done; /* rows, to be told */
} sxi_reduction;

/* Bytes that are read at a time, few enough to be folded out of the cache. */
enum { SXI_STEP_BYTES = 4 << 20 };

/* Rows of the axis and a part of the result that are folded together. */
typedef struct sxi_run {
    sxi_region part;
    int64_t begin, end; /* rows */
} sxi_run;

static inline int64_t sxi_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t sxi_most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t sxi_divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* sxi_reduce_part - part number `number` of the result. */
void sxi_reduce_part(const sxi_reduction *r, int64_t number, sxi_region *part);

/* sxi_reduce_region - the region of the array that belongs to a part of the result and some rows. */
sxi_region sxi_reduce_region(const sxi_reduction *r, const sxi_region *part, int64_t first,
                             int64_t rows);

/* sxi_reduce_axis - the axis of the result along which threads share a part: the first that has
 * something to share; -1: none. sxi_reduce_strip - indices from, from + 1 ... of it.
 *
 * out  cell  the first of them, counted in the part */
int sxi_reduce_axis(const sxi_reduction *r, const sxi_region *part);
sxi_region sxi_reduce_strip(const sxi_reduction *r, const sxi_region *part, int axis, int64_t from,
                            int64_t count, int64_t *cell);

/* sxi_reduce_view - folds all cells of a view of some rows; the first of them is number `cell` of
 * the tree. first: row in the tree. (reduce_view.c) */
void sxi_reduce_view(const sxi_reduction *r, sxi_tree *tree, const sx_array *view, int64_t first,
                     int64_t cell);

/* sxi_reduce_together - all threads read some rows, then fold them, each some cells, while they read
 * the next ones. For all arrays. (reduce_together.c) */
sx_status sxi_reduce_together(sxi_reduction *r, const sxi_run *run, sxi_branch *sums);

/* sxi_reduce_alone - each thread reads and folds for itself. sxi_reduce_may_alone - whether that is
 * possible and worth it. (reduce_alone.c) */
bool sxi_reduce_may_alone(const sxi_reduction *r, const sxi_run *run);
sx_status sxi_reduce_alone(sxi_reduction *r, const sxi_run *run, sxi_branch *sums);

/* sxi_reduce_join - rank 0 joins the items of all ranks and stores the result. (reduce_join.c) */
sx_status sxi_reduce_join(sxi_reduction *r);

#endif
