/* SPDX-License-Identifier: Apache-2.0
 * How long a tiled task takes on many ranks: its bands, claims and messages as events, one after the
 * other in time. What they cost is measured on two ranks. Theory: docs/theory/engine.md, "Scale". */
#ifndef SCALE_MODEL_H
#define SCALE_MODEL_H

#include <stdint.h>

/* Seconds. */
typedef struct scale_costs {
    double tile;         /* the engine's own, of a tile that does nothing */
    double claim_rested; /* from asking rank 0 to its answer, when it has rested before */
    double claim_quick;  /* when it has just answered another one */
    double service;      /* of rank 0 for a claim: how often it can answer */
    double message;      /* short, from rank to rank, one after the other */
    double long_message; /* one that is offered and accepted first, without its bytes */
    double byte;         /* of a long message, copying in and out included */
} scale_costs;

/* A task of equal tiles, one thread a rank. */
typedef struct scale_task {
    int64_t tiles;
    double tile;           /* s of a core */
    int64_t tile_bytes;    /* of all outputs */
    int64_t bands_of_rank; /* 4 if the task reads, else 32 (src/engine/plan.c) */
} scale_task;

typedef struct scale_result {
    double seconds;   /* in all */
    double computing; /* until the last tile is done */
    double gathering; /* from then on */
    double claiming;  /* of all ranks, in which they wait for answers */
    int64_t bands;
} scale_result;

/* scale_run - out of memory: seconds is NaN. */
scale_result scale_run(const scale_costs *costs, const scale_task *task, int ranks);

#endif
