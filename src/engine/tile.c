/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "engine/ranks.h"

sx_status sx_tile_fail(const sx_tile *tile, sx_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tile->reason, SXI_REASON, format, arguments);
    va_end(arguments);
    return status;
}

static bool writes(const sxi_plan *plan, int use) {
    return plan->task->use[use].access == SX_WRITE;
}

static sx_status view_of(const sxi_plan *plan, int use, const int64_t *start, const int64_t *count,
                         sx_array *view) {
    const sxi_region region = sxi_plan_region(plan, use, start, count);
    int64_t stop[SX_MAX_RANK];
    for (int a = 0; a < plan->array[use]->rank; a++) {
        stop[a] = region.start[a] + region.count[a];
    }
    return sx_array_slice(&plan->array[use]->values, region.start, stop, view);
}

sx_status sxi_tile_view(const sxi_plan *plan, int64_t tile, int use, sx_array *view) {
    int64_t start[SX_TASK_DIMENSIONS], count[SX_TASK_DIMENSIONS];
    sxi_plan_tile(plan, tile, start, count);
    return view_of(plan, use, start, count, view);
}

/* --- results as bytes --- */

static sx_status pack(const sxi_plan *plan, int64_t tile, char *bytes, bool in) {
    for (int u = 0; u < plan->uses; u++) {
        sx_array view, packed;
        if (!writes(plan, u)) {
            continue;
        }
        SXI_TRY(sxi_tile_view(plan, tile, u, &view));
        SXI_TRY(sx_array_view(view.dtype, view.rank, view.shape, bytes, &packed));
        SXI_TRY(in ? sx_array_copy(&view, &packed) : sx_array_copy(&packed, &view));
        bytes += sx_array_count(&view) * (int64_t)sx_dtype_size(view.dtype);
    }
    return SX_OK;
}

int64_t sxi_tile_bytes(const sxi_plan *plan, int64_t tile) {
    int64_t start[SX_TASK_DIMENSIONS], count[SX_TASK_DIMENSIONS], bytes = 0;
    sxi_plan_tile(plan, tile, start, count);
    for (int u = 0; u < plan->uses; u++) {
        if (writes(plan, u)) {
            const sxi_region region = sxi_plan_region(plan, u, start, count);
            bytes += sxi_region_count(&region, plan->array[u]->rank) *
                     (int64_t)sx_dtype_size(plan->array[u]->dtype);
        }
    }
    return bytes;
}

sx_status sxi_tile_pack(const sxi_plan *plan, int64_t tile, void *bytes) {
    return pack(plan, tile, bytes, true);
}

sx_status sxi_tile_unpack(const sxi_plan *plan, int64_t tile, void *bytes) {
    return pack(plan, tile, bytes, false);
}

/* --- running --- */

/* Missing: NaN, and 0 for integers, as sx_array_copy converts it. */
static sx_status fill_missing(const sxi_plan *plan, int64_t tile) {
    double missing = (double)NAN;
    for (int u = 0; u < plan->uses; u++) {
        sx_array view;
        if (!writes(plan, u)) {
            continue;
        }
        SXI_TRY(sxi_tile_view(plan, tile, u, &view));
        sx_array value = {.dtype = SX_F64, .rank = view.rank, .data = &missing};
        memcpy(value.shape, view.shape, sizeof value.shape);
        SXI_TRY(sx_array_copy(&value, &view));
    }
    return SX_OK;
}

/* "task 'fit', tile 17 (i 16, j 0), rank 0: singular" */
static void say_where(const sxi_plan *plan, const sx_tile *tile, const char *reason,
                      char sentence[SXI_REASON]) {
    char place[200];
    size_t used = 0;
    place[0] = '\0';
    for (int d = 0; d < plan->dimensions.n && used < sizeof place; d++) {
        used += (size_t)snprintf(place + used, sizeof place - used, "%s%s %lld", d ? ", " : "",
                                 plan->dimensions.name[d], (long long)tile->start[d]);
    }
    snprintf(sentence, SXI_REASON, "task '%s', tile %lld (%s), rank %d: %s", plan->task->name,
             (long long)tile->number, place, sx_cluster_rank(plan->cluster), reason);
}

static sx_status note_failure(const sxi_plan *plan, const sx_tile *tile, sx_status status,
                              sxi_worker *worker) {
    char sentence[SXI_REASON];
    say_where(plan, tile, tile->reason[0] ? tile->reason : sx_status_text(status), sentence);
    if (status == SX_ERR_MEMORY || status == SX_ERR_IO || status == SX_ERR_CANCELLED) {
        return SXI_FAIL(status, "%s", sentence);
    }
    worker->failed++;
    if (tile->number < worker->first_failed) {
        worker->first_failed = tile->number;
        memcpy(worker->sentence, sentence, sizeof sentence);
    }
    return fill_missing(plan, tile->number);
}

sx_status sxi_tile_run(const sxi_plan *plan, int64_t number, int n, const sxi_held *held,
                       sxi_worker *worker, bool *done) {
    sx_array array[SX_TASK_USES];
    int64_t first[SX_TASK_USES][SX_MAX_RANK];
    char reason[SXI_REASON] = "";
    sx_tile tile = {.data = plan->task->data,
                    .thread = worker->thread,
                    .number = number,
                    .array = array,
                    .first = (const int64_t(*)[SX_MAX_RANK])first,
                    .reason = reason};
    sxi_arena_reset(&worker->arena);
    sxi_plan_tile(plan, number, tile.start, tile.count);
    for (int u = 0; u < plan->uses; u++) {
        const sxi_region region = sxi_plan_region(plan, u, tile.start, tile.count);
        memcpy(first[u], region.start, sizeof first[u]);
        SXI_TRY(writes(plan, u)
                    ? view_of(plan, u, tile.start, tile.count, &array[u])
                    : sxi_region_view(plan->array[u], &region, n, held, &worker->arena, &array[u]));
    }
    const sx_status status = plan->task->cpu(&tile);
    worker->computed++;
    *done = status == SX_OK;
    return *done ? SX_OK : note_failure(plan, &tile, status, worker);
}
