/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/dcos_tile.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "kern/bank.h"

static bool allocate(sxi_dcos_tile *t) {
    const sxi_dcos_grid *grid = &t->plan->grid;
    const sxi_dcos_shared *shared = t->plan->fast->shared;
    const size_t n = (size_t)grid->n, padded = (size_t)grid->padded, block = (size_t)t->block;
    const size_t room = shared ? (size_t)shared->room : 1;
    t->pixel = malloc(block * sizeof *t->pixel);
    t->job = malloc(block * SXI_DCOS_CANDIDATES * sizeof *t->job);
    t->list = malloc(block * sizeof(sxi_dcos_pixel *)); /* NOLINT(bugprone-sizeof-expression) */
    t->seed = malloc(block * sizeof *t->seed);
    t->residual = malloc(block * n * sizeof *t->residual);
    t->weight = malloc(block * n * sizeof *t->weight);
    t->residual_grid = malloc(block * room * sizeof *t->residual_grid);
    t->grid = malloc(block * room * sizeof *t->grid);
    t->s = aligned_alloc(64, block * padded * sizeof *t->s);
    t->scratch = aligned_alloc(64, 2 * padded * sizeof *t->scratch);
    t->filtered = aligned_alloc(64, SXI_BANK_WIDTH * padded * sizeof *t->filtered);
    return t->pixel && t->job && t->list && t->seed && t->residual && t->weight &&
           t->residual_grid && t->grid && t->s && t->scratch && t->filtered;
}

void sxi_dcos_tile_destroy(sxi_dcos_tile **made) {
    sxi_dcos_tile *t = *made;
    if (t) {
        sxi_dcos_lanes_destroy(&t->lanes);
        sxi_dcos_spectrum_work_destroy(&t->spectrum);
        free(t->pixel);
        free(t->job);
        free(t->list);
        free(t->seed);
        free(t->residual);
        free(t->weight);
        free(t->residual_grid);
        free(t->grid);
        free(t->s);
        free(t->scratch);
        free(t->filtered);
        free(t);
        *made = NULL;
    }
}

static sx_status tile_create(const sx_dcos_plan *plan, sxi_dcos_tile **made) {
    sx_status status = SX_OK;
    const int64_t block = BLOCK_SAMPLES / plan->grid.n;
    *made = NULL;
    sxi_dcos_tile *t = calloc(1, sizeof *t);
    if (t) {
        t->plan = plan;
        t->block = block < LEAST_BLOCK      ? LEAST_BLOCK
                   : block < SXI_DCOS_BLOCK ? (int)block
                                            : SXI_DCOS_BLOCK;
    }
    if (!t || !allocate(t)) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to fit blocks of traces of %lld delays",
                          (long long)plan->grid.n);
        goto out;
    }
    SXI_GO(sxi_dcos_lanes_create(plan, &t->lanes));
    if (plan->fast->spectrum) {
        SXI_GO(sxi_dcos_spectrum_work_create(plan->fast->spectrum, &t->spectrum));
    }
    *made = t;
    t = NULL;
out:
    sxi_dcos_tile_destroy(&t);
    return status;
}

sx_status sxi_dcos_tile_take(const sx_dcos_plan *plan, sxi_dcos_tile **taken) {
    sxi_dcos_fast *fast = plan->fast;
    pthread_mutex_lock(&fast->mutex);
    *taken = fast->idle;
    fast->idle = *taken ? (*taken)->next : NULL;
    pthread_mutex_unlock(&fast->mutex);
    return *taken ? SX_OK : tile_create(plan, taken);
}

void sxi_dcos_tile_give(sxi_dcos_tile *t) {
    sxi_dcos_fast *fast = t->plan->fast;
    pthread_mutex_lock(&fast->mutex);
    t->next = fast->idle;
    fast->idle = t;
    pthread_mutex_unlock(&fast->mutex);
}
