/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { ALIGNMENT = 64, LEAST = 1 << 16 };

typedef struct sxi_arena_block {
    struct sxi_arena_block *older;
    size_t room;
    char *bytes; /* aligned, behind this */
} block;

static size_t round_up(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* A block that holds `bytes` and as much again as was taken before. */
static block *add_block(sxi_arena *arena, size_t bytes) {
    const size_t room = round_up(bytes + arena->taken > LEAST ? bytes + arena->taken : LEAST);
    block *made = malloc(sizeof *made + room + ALIGNMENT);
    if (made) {
        char *behind = (char *)(made + 1);
        made->bytes = behind + (ALIGNMENT - (uintptr_t)behind % ALIGNMENT) % ALIGNMENT;
        made->room = room;
        made->older = arena->block;
        arena->block = made;
        arena->used = 0;
    }
    return made;
}

void *sxi_arena_take(sxi_arena *arena, size_t bytes) {
    bytes = round_up(bytes);
    if ((!arena->block || arena->block->room - arena->used < bytes) && !add_block(arena, bytes)) {
        return NULL;
    }
    void *taken = arena->block->bytes + arena->used;
    arena->used += bytes;
    arena->taken += bytes;
    return taken;
}

/* Several blocks become a single one the next time, for all that was taken. */
void sxi_arena_reset(sxi_arena *arena) {
    const size_t taken = arena->taken;
    if (arena->block && arena->block->older) {
        sxi_arena_free(arena);
        add_block(arena, taken);
    }
    arena->used = 0;
    arena->taken = 0;
}

void sxi_arena_free(sxi_arena *arena) {
    while (arena->block) {
        block *older = arena->block->older;
        free(arena->block);
        arena->block = older;
    }
    *arena = (sxi_arena){0};
}
