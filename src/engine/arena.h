/* SPDX-License-Identifier: Apache-2.0
 * Scratch memory of one thread: taken bit by bit, given back all at once. */
#ifndef SXI_ARENA_H
#define SXI_ARENA_H

#include <stddef.h>

/* All zero is an empty one. */
typedef struct sxi_arena {
    struct sxi_arena_block *block; /* the newest, then older ones */
    size_t used;                   /* of the newest */
    size_t taken;                  /* of all since the last reset */
} sxi_arena;

/* sxi_arena_take - aligned to 64 bytes; NULL without memory. */
void *sxi_arena_take(sxi_arena *arena, size_t bytes);

/* sxi_arena_reset - what was taken may be taken again. */
void sxi_arena_reset(sxi_arena *arena);

void sxi_arena_free(sxi_arena *arena);

#endif
