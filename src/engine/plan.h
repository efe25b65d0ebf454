/* SPDX-License-Identifier: Apache-2.0
 * A task with all words read: tiles, and bands of tiles that are read together.
 *
 * Tiles are numbered in C order of the dimensions. A band has one index of the dimensions before the
 * one that is cut, some of that, and all of those after it, so its tiles follow each other. */
#ifndef SXI_PLAN_H
#define SXI_PLAN_H

#include "engine/band.h"
#include "engine/dimensions.h"

typedef struct sxi_plan {
    const sx_task *task;
    sx_cluster *cluster;
    sxi_dimensions dimensions;
    int64_t extent[SX_TASK_DIMENSIONS], tile[SX_TASK_DIMENSIONS];
    int64_t grid[SX_TASK_DIMENSIONS]; /* tiles along each dimension */
    int64_t tiles;                    /* 0: an extent is 0 */
    int uses;
    sxi_axes axes[SX_TASK_USES];
    sx_darray *array[SX_TASK_USES]; /* kept */
    int cut;
    int64_t step, bands;
    bool reads; /* from a file or a source */
} sxi_plan;

/* sxi_plan_make - SX_ERR_ARGUMENT, SX_ERR_SHAPE, SX_ERR_MEMORY (one tile exceeds the budget), and
 * what made an array fail. All ranks: what every tile sees is computed, and is everywhere then. */
sx_status sxi_plan_make(const sx_task *task, sxi_plan *plan);
void sxi_plan_free(sxi_plan *plan);

/* sxi_plan_identify - a hash of what makes two runs of a task the same one: words, key, extents, types.
 * SX_ERR_MEMORY. */
sx_status sxi_plan_identify(const sxi_plan *plan, uint64_t *run);

/* sxi_plan_band - the tiles of a band. sxi_plan_needs - what they are computed from. */
void sxi_plan_band(const sxi_plan *plan, int64_t band, int64_t *first, int64_t *tiles);
sx_status sxi_plan_needs(const sxi_plan *plan, int64_t first, int64_t tiles, sxi_needs *needs);

/* sxi_plan_tile - elements start .. start + count - 1 of each dimension. */
void sxi_plan_tile(const sxi_plan *plan, int64_t tile, int64_t *start, int64_t *count);

/* sxi_plan_region - the part of array `use` that goes with such a box, halo included. */
sxi_region sxi_plan_region(const sxi_plan *plan, int use, const int64_t *start,
                           const int64_t *count);

#endif
