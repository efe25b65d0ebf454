/* SPDX-License-Identifier: Apache-2.0
 * What the engine keeps with a cluster: the memory budget and the trace. */
#ifndef SXI_ENGINE_STATE_H
#define SXI_ENGINE_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sextant/engine.h>

struct sxi_trace;

/* All zero is that of a new cluster. */
typedef struct sxi_engine {
    atomic_llong budget; /* bytes; 0: not known yet */
    atomic_llong reserved;
    struct sxi_trace *trace; /* NULL: none */
    char *scratch;           /* folder, NULL: none */
} sxi_engine;

/* sxi_engine_of - that of a cluster. sxi_engine_free - at its end. */
sxi_engine *sxi_engine_of(sx_cluster *cluster);
void sxi_engine_free(sxi_engine *engine);

/* sxi_engine_scratch - arrays that are created from now on and exceed half of the memory budget lie in
 * nameless files of this folder. SX_ERR_MEMORY. */
sx_status sxi_engine_scratch(sx_cluster *cluster, const char *folder);

/* sxi_engine_lost - a failure of this rank that the others may not share, such as that of a file, ends
 * what all do together. One that comes of the arguments is the same everywhere, and a cluster of one
 * rank goes on in any case. The sentence is the last of this thread. cluster: NULL allowed. */
void sxi_engine_lost(sx_cluster *cluster, sx_status status);

/* sxi_memory_reserve - takes bytes off the budget; false: they are not left. */
bool sxi_memory_reserve(sx_cluster *cluster, int64_t bytes);
void sxi_memory_release(sx_cluster *cluster, int64_t bytes);

/* sxi_memory_left - of the budget. sxi_memory_budget - all of it. */
int64_t sxi_memory_left(sx_cluster *cluster);
int64_t sxi_memory_budget(sx_cluster *cluster);

#endif
