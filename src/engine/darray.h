/* SPDX-License-Identifier: Apache-2.0
 * What a distributed array is made of: a node of a graph whose leaves are memory, files and
 * functions of the caller. Elementwise nodes are computed region by region, when a task or a sum
 * asks for it; a stored array lies in memory. */
#ifndef SXI_DARRAY_H
#define SXI_DARRAY_H

#include <stdatomic.h>
#include <stdbool.h>

#include <sextant/darray.h>
#include <sextant/hdf5.h>

#include "engine/arena.h"

typedef enum sxi_node_kind {
    SXI_NODE_FAILED,
    SXI_NODE_MEMORY, /* values: all of it on rank 0, and on every rank if complete */
    SXI_NODE_FILE,
    SXI_NODE_SOURCE,
    SXI_NODE_VIEW,    /* of input[0], offset */
    SXI_NODE_CONVERT, /* of input[0] */
    SXI_NODE_MAP,     /* of input[0] */
    SXI_NODE_ADD,     /* of both */
    SXI_NODE_SUBTRACT,
    SXI_NODE_MULTIPLY,
    SXI_NODE_DIVIDE
} sxi_node_kind;

/* An expression that evaluates more nodes than this for one element is computed once and stored:
 * x = x + x, done twenty times, would read its file a million times. */
enum { SXI_COST_MOST = 16, SXI_ORIGINS = 16 };

/* An open file, shared by the arrays of its datasets. */
typedef struct sxi_shared_file {
    atomic_int users;
    sx_hdf5 *file;
} sxi_shared_file;

/* A source of the caller, shared by its arrays. */
typedef struct sxi_shared_source {
    atomic_int users;
    sx_darray_source source;
} sxi_shared_source;

struct sx_darray {
    atomic_int users; /* the caller and the arrays made of it */
    sx_cluster *cluster;
    sxi_node_kind kind;
    sx_dtype dtype;
    int rank;
    int64_t shape[SX_MAX_RANK];
    int64_t tile[SX_MAX_RANK], halo[SX_MAX_RANK]; /* of sx_darray_retile; 0: none */
    int64_t cost; /* leaves and functions evaluated for one element */

    sx_darray *input[2];
    int64_t offset[SX_MAX_RANK]; /* VIEW */
    sx_map_fn map;               /* MAP */
    void *map_data;

    sx_array values;  /* MEMORY; owned or not */
    int64_t reserved; /* bytes of the memory budget */
    int64_t mapped;   /* bytes of a scratch file */
    bool complete;    /* on every rank */

    sxi_shared_file *file; /* FILE */
    char *name;
    int64_t chunk[SX_MAX_RANK]; /* 0: not chunked; also of SOURCE along its axis */
    bool plain; /* FILE: bytes without filters, of which any box can be read for its own cost */
    sxi_shared_source *source; /* SOURCE */
    int member;

    char *origin[SXI_ORIGINS]; /* files that what is stored was made of; NULL behind the last */

    sx_status status; /* FAILED */
    char *sentence;   /* NULL: there was no memory for it */
};

/* sxi_darray_new - a node without inputs; a failed array on lack of memory. */
sx_darray *sxi_darray_new(sx_cluster *cluster, sxi_node_kind kind, sx_dtype dtype, int rank,
                          const int64_t *shape);

/* sxi_darray_failed - a failed array with the last sentence of this thread. */
sx_darray *sxi_darray_failed(sx_cluster *cluster, sx_status status);

/* sxi_darray_fail - makes a failed array of one that was not, with the last sentence. */
void sxi_darray_fail(sx_darray *array, sx_status status);

/* sxi_darray_check - SX_OK, or why it has failed, in the sentence of this thread. */
sx_status sxi_darray_check(const sx_darray *array);

/* sxi_darray_keep - one more user. */
sx_darray *sxi_darray_keep(sx_darray *array);

/* sxi_darray_adopt - takes the values of another, which is left without. */
void sxi_darray_adopt(sx_darray *array, sx_darray *stored);

/* sxi_darray_complete - stored arrays that it is made of are brought to every rank. All ranks. */
sx_status sxi_darray_complete(sx_darray *array);

/* sxi_darray_settle - what is computed element by element is computed and stored. All ranks. */
sx_status sxi_darray_settle(sx_darray *array);

/* sxi_darray_load - the same values, stored, and complete: every rank computes all of them. */
sx_status sxi_darray_load(sx_darray *array, sx_darray **loaded);

/* sxi_darray_bytes - of all elements; INT64_MAX if they cannot be counted. */
int64_t sxi_darray_bytes(const sx_darray *array);

/* --- regions --- */

/* start[d] <= index < start[d] + count[d] of an array. */
typedef struct sxi_region {
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK];
} sxi_region;

int64_t sxi_region_count(const sxi_region *region, int rank);

/* sxi_input_region - the part of an input that a region of an array is computed from. */
sxi_region sxi_input_region(const sx_darray *array, int input, const sxi_region *region);

/* A leaf, and the part of it that is in memory. */
typedef struct sxi_held {
    sx_darray *leaf;
    sxi_region region;
    sx_array array;
} sxi_held;

/* sxi_region_view - a region of an array: a view of what is held, or computed in the arena. Any
 * thread with an arena of its own.
 *
 * in   held  [n] parts of all leaves that are not in memory
 * out  view  valid until the arena is reset */
sx_status sxi_region_view(const sx_darray *array, const sxi_region *region, int n,
                          const sxi_held *held, sxi_arena *arena, sx_array *view);

/* sxi_region_read - reads what a region needs and computes it into `out`, of its shape and of any
 * type; on all threads as far as reading goes. */
sx_status sxi_region_read(sx_darray *array, const sxi_region *region, sx_array *out);

/* sxi_elementwise - computes the elements of `out`, in C order, from views of the inputs of a node
 * that have its shape (stride 0 where they are repeated). */
void sxi_elementwise(const sx_darray *node, const sx_array *inputs, sx_array *out);

/* sxi_doubles - n elements as doubles: `room`, or where they are if they are doubles side by side. */
const double *sxi_doubles(const sx_array *array, const void *first, int64_t stride, int64_t n,
                          double *room);

#endif
