/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory_limit.h"
#include "engine/ranks.h"
#include "engine/trace.h"

/* Where the system does not say how much memory is free. */
static const int64_t UNKNOWN = 4LL << 30;

void sxi_engine_free(sxi_engine *engine) {
    sxi_trace_free(&engine->trace);
    free(engine->scratch);
}

sx_status sxi_engine_scratch(sx_cluster *cluster, const char *folder) {
    sxi_engine *engine = sxi_engine_of(cluster);
    free(engine->scratch);
    engine->scratch = strdup(folder);
    return engine->scratch ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for the name of a folder");
}

void sxi_engine_lost(sx_cluster *cluster, sx_status status) {
    const bool shared =
        status == SX_ERR_ARGUMENT || status == SX_ERR_SHAPE || status == SX_ERR_RANGE;
    if (cluster && !shared && sx_cluster_size(cluster) > 1) {
        sxi_ranks_fail(cluster, status);
    }
}

int64_t sxi_memory_budget(sx_cluster *cluster) {
    sxi_engine *engine = sxi_engine_of(cluster);
    if (atomic_load(&engine->budget) == 0) {
        int64_t total, available;
        sxi_memory_limit("", &total, &available);
        atomic_store(&engine->budget, available > 0 ? available / 4 * 3 : UNKNOWN);
    }
    return atomic_load(&engine->budget);
}

sx_status sx_engine_memory(sx_cluster *cluster, int64_t bytes) {
    if (bytes < 0) {
        return SXI_FAIL(SX_ERR_RANGE, "a memory budget of %lld bytes is negative",
                        (long long)bytes);
    }
    atomic_store(&sxi_engine_of(cluster)->budget, bytes);
    return SX_OK;
}

bool sxi_memory_reserve(sx_cluster *cluster, int64_t bytes) {
    sxi_engine *engine = sxi_engine_of(cluster);
    const int64_t budget = sxi_memory_budget(cluster);
    long long reserved = atomic_load(&engine->reserved);
    do {
        if (bytes > budget - reserved) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&engine->reserved, &reserved, reserved + bytes));
    return true;
}

void sxi_memory_release(sx_cluster *cluster, int64_t bytes) {
    atomic_fetch_sub(&sxi_engine_of(cluster)->reserved, bytes);
}

int64_t sxi_memory_left(sx_cluster *cluster) {
    const int64_t left =
        sxi_memory_budget(cluster) - atomic_load(&sxi_engine_of(cluster)->reserved);
    return left > 0 ? left : 0;
}

void sx_cancel(sx_cluster *cluster) {
    sxi_ranks_fail(cluster, SXI_FAIL(SX_ERR_CANCELLED, "cancelled"));
}
