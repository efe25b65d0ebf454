/* SPDX-License-Identifier: Apache-2.0
 * One tile of a task, on one thread. */
#ifndef SXI_TILE_H
#define SXI_TILE_H

#include "engine/plan.h"

enum { SXI_REASON = 512 };

/* What a thread keeps from tile to tile. */
typedef struct sxi_worker {
    int thread;
    sxi_arena arena;
    double seconds; /* of one tile, lately; 0: not known */
    /* Since the team began. */
    int64_t computed, failed;
    int64_t first_failed; /* the lowest number; INT64_MAX: none */
    char sentence[SXI_REASON];
    double busy, waiting;
} sxi_worker;

/* sxi_tile_run - calls the task's function. What stops the task is returned; any other failure
 * leaves NaN and is counted.
 *
 * in   held  [n] what the tile is computed from, unless it is in memory
 * out  done  whether its outputs are values */
sx_status sxi_tile_run(const sxi_plan *plan, int64_t number, int n, const sxi_held *held,
                       sxi_worker *worker, bool *done);

/* sxi_tile_view - the part of an output that a tile writes. */
sx_status sxi_tile_view(const sxi_plan *plan, int64_t tile, int use, sx_array *view);

/* sxi_tile_bytes - of all outputs of a tile. sxi_tile_pack, sxi_tile_unpack - copies them to and
 * from bytes without gaps. */
int64_t sxi_tile_bytes(const sxi_plan *plan, int64_t tile);
sx_status sxi_tile_pack(const sxi_plan *plan, int64_t tile, void *bytes);
sx_status sxi_tile_unpack(const sxi_plan *plan, int64_t tile, void *bytes);

#endif
