/* SPDX-License-Identifier: Apache-2.0
 * Tiled tasks: one function for every tile of some arrays, on all threads of all ranks.
 *
 *     sx_task_run(&(sx_task){.name = "fit",
 *                            .tiles = "i=16 j=16",
 *                            .cpu = fit_tile,
 *                            .use = {{frames, "- i j", SX_READ},
 *                                    {delay, "-", SX_READ},
 *                                    {amplitude, "i j", SX_WRITE}}});
 *
 * A dimension name ties arrays together; "-" means that every tile sees all of that axis. */
#ifndef SEXTANT_TASK_H
#define SEXTANT_TASK_H

#include <sextant/darray.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SX_TASK_USES = 32, SX_TASK_DIMENSIONS = SX_MAX_RANK };

typedef enum sx_access { SX_READ, SX_WRITE } sx_access;

/* How a task uses an array: one word per axis. "i": cut along dimension i; "i+2": with 2 elements
 * more on both sides, where there are any; "-": all of it. An array that is written is cut along
 * every dimension of the task, without halo. */
typedef struct sx_use {
    sx_darray *array;
    const char *axes;
    sx_access access;
} sx_use;

/* What the function is given. */
typedef struct sx_tile {
    void *data;                          /* of the task */
    int thread;                          /* 0 .. threads - 1 of this rank, for scratch memory */
    int64_t number;                      /* in C order of the dimensions */
    int64_t start[SX_TASK_DIMENSIONS];   /* of each dimension, in the order of tiles */
    int64_t count[SX_TASK_DIMENSIONS];   /* fewer at the edges */
    const sx_array *array;               /* [uses], of any strides; what is only read must stay */
    const int64_t (*first)[SX_MAX_RANK]; /* [uses], index of their first elements in the whole */
    char *reason;                        /* what sx_tile_fail keeps */
} sx_tile;

/* Returns SX_OK or the status of sx_tile_fail. Out of memory, SX_ERR_IO and SX_ERR_CANCELLED stop
 * the task; after any other failure the outputs of the tile are NaN (integers 0), and it is
 * counted. */
typedef sx_status (*sx_tile_fn)(const sx_tile *tile);

/* sx_tile_fail - keeps why a tile failed; returns status. */
SX_API sx_status sx_tile_fail(const sx_tile *tile, sx_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

typedef struct sx_task_report {
    int64_t tiles;        /* in all */
    int64_t computed;     /* now, on all ranks */
    int64_t resumed;      /* taken from the journal */
    int64_t failed;       /* of those computed: NaN in the outputs */
    char first[512];      /* why the one of lowest number failed: task, tile, rank, reason; "" */
    double seconds;       /* by the clock */
    double busy, waiting; /* of all threads of this rank: in tiles; for data or for work */
    double reading;       /* from the start of a read to its end, beside which tiles are computed */
} sx_task_report;

typedef struct sx_task {
    const char *name;
    /* Dimensions and extents of a tile along them, slowest first: "i=16 j=16". An extent that is not
     * given is that of sx_darray_retile, or all. */
    const char *tiles;
    sx_tile_fn cpu;
    void *data; /* handed to it */
    sx_use use[SX_TASK_USES];
    /* Results of finished tiles are kept in this file (of rank r > 0: with ".r" behind), to be
     * removed by sx_journal_remove when the output is written; NULL: none. With resume what it
     * holds is not computed again. key tells runs apart that have the same shapes: options, names
     * and times of inputs; NULL: "". */
    const char *journal;
    const char *key;
    bool resume;
    sx_task_report *report; /* NULL allowed */
} sx_task;

/* sx_task_run - returns when all tiles are done, and the outputs are on rank 0.
 *
 * SX_ERR_ARGUMENT (words that cannot be read, a foreign or damaged journal), SX_ERR_SHAPE (an array
 * with other axes or extents), what reading an input returns, SX_ERR_MEMORY, SX_ERR_CANCELLED.
 * After a failure the outputs are failed arrays. */
SX_API sx_status sx_task_run(const sx_task *task);

/* sx_journal_remove - the output is complete: what the journal holds is not needed any more. */
SX_API void sx_journal_remove(const char *journal);

#ifdef __cplusplus
}
#endif
#endif
