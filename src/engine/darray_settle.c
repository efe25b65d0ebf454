/* SPDX-License-Identifier: Apache-2.0
 * From what is still to be computed to what is stored. */
#include "engine/darray.h"

#include <stdio.h>
#include <string.h>

#include <sextant/task.h>

#include "base/fail.h"
#include "engine/band.h"
#include "engine/ranks.h"

/* Less than this is computed by every rank for itself: sooner than sent. */
static const int64_t SMALL_BYTES = 1 << 16;
/* Of a tile: so much that calling costs nothing, so little that it stays in the cache. */
static const int64_t TILE_ELEMENTS = 1 << 14;

sx_status sxi_region_read(sx_darray *array, const sxi_region *region, sx_array *out) {
    sx_status status = SX_OK;
    sxi_needs needs = {0};
    sxi_arena arena = {0};
    sxi_band *band = NULL;
    const sxi_held *held = NULL;
    int n = 0;
    sx_array view;
    SXI_GO(sxi_needs_add(&needs, array, region));
    SXI_GO(sxi_band_create(array->cluster, &band));
    SXI_GO(sxi_band_start(band, &needs, sx_threads(sxi_ranks_context(array->cluster)) - 1));
    SXI_GO(sxi_band_wait(band, &n, &held));
    SXI_GO(sxi_region_view(array, region, n, held, &arena, &view));
    status = sx_array_copy(&view, out);
out:
    sxi_band_destroy(&band);
    sxi_arena_free(&arena);
    return status;
}

static sxi_region all_of(const sx_darray *array) {
    sxi_region region = {{0}, {0}};
    memcpy(region.count, array->shape, sizeof region.count);
    return region;
}

sx_status sxi_darray_load(sx_darray *array, sx_darray **loaded) {
    const sxi_region region = all_of(array);
    SXI_TRY(sxi_darray_complete(array));
    sx_darray *made = sx_darray_create(array->cluster, array->dtype, array->rank, array->shape);
    sx_status status = sxi_darray_check(made);
    if (status == SX_OK) {
        status = sxi_region_read(array, &region, &made->values);
    }
    if (status != SX_OK) {
        sx_darray_destroy(&made);
    }
    *loaded = made;
    return status;
}

sx_status sxi_darray_complete(sx_darray *array) {
    for (int k = 0; k < 2 && array->input[k]; k++) {
        SXI_TRY(sxi_darray_complete(array->input[k]));
    }
    if (array->kind != SXI_NODE_MEMORY || array->complete) {
        return SX_OK;
    }
    /* What a task has written is contiguous, unless it is the caller's. */
    sx_array whole = array->values;
    sx_status status = SX_OK;
    if (!sx_array_contiguous(&whole)) {
        SXI_TRY(sx_array_create(whole.dtype, whole.rank, whole.shape, &whole));
        SXI_GO(sx_array_copy(&array->values, &whole));
    }
    SXI_GO(sxi_ranks_broadcast(array->cluster, 0, whole.data, (size_t)sxi_darray_bytes(array)));
    if (whole.data != array->values.data) {
        SXI_GO(sx_array_copy(&whole, &array->values));
    }
    array->complete = true;
out:
    if (whole.data != array->values.data) {
        sx_array_destroy(&whole);
    }
    return status;
}

/* --- computing --- */

static bool is_computed(const sx_darray *array) {
    switch (array->kind) {
    case SXI_NODE_FAILED:
    case SXI_NODE_MEMORY:
    case SXI_NODE_FILE:
    case SXI_NODE_SOURCE:
        return true;
    case SXI_NODE_VIEW:
        return is_computed(array->input[0]);
    case SXI_NODE_CONVERT:
    case SXI_NODE_MAP:
    case SXI_NODE_ADD:
    case SXI_NODE_SUBTRACT:
    case SXI_NODE_MULTIPLY:
    case SXI_NODE_DIVIDE:
        break;
    }
    return false;
}

static sx_status copy_tile(const sx_tile *tile) {
    sx_array out = tile->array[1];
    return sx_array_copy(&tile->array[0], &out);
}

/* "a=1 b=32 c=512" and "a b c" for an array: a few last axes whole. */
static void name_axes(const sx_darray *array, char tiles[256], char axes[64]) {
    int64_t behind = 1;
    int64_t tile[SX_MAX_RANK] = {0};
    for (int d = array->rank - 1; d >= 0; d--) {
        const int64_t room = TILE_ELEMENTS / behind > 1 ? TILE_ELEMENTS / behind : 1;
        tile[d] = array->shape[d] < room ? array->shape[d] : room;
        tile[d] = tile[d] < 1 ? 1 : tile[d];
        behind *= tile[d];
    }
    size_t used = 0, length = 0;
    for (int d = 0; d < array->rank; d++) {
        used += (size_t)snprintf(tiles + used, 256 - used, "%c=%lld ", 'a' + d, (long long)tile[d]);
        length += (size_t)snprintf(axes + length, 64 - length, "%c ", 'a' + d);
    }
}

/* By all ranks, tile by tile. */
static sx_status compute(sx_darray *array, sx_darray *into) {
    char tiles[256] = "", axes[64] = "";
    name_axes(array, tiles, axes);
    return sx_task_run(&(sx_task){.name = "evaluate",
                                  .tiles = tiles,
                                  .cpu = copy_tile,
                                  .use = {{array, axes, SX_READ}, {into, axes, SX_WRITE}}});
}

sx_status sxi_darray_settle(sx_darray *array) {
    SXI_TRY(sxi_darray_check(array));
    if (is_computed(array)) {
        return SX_OK;
    }
    sx_darray *stored = NULL;
    sx_status status = SX_OK;
    if (sxi_darray_bytes(array) <= SMALL_BYTES) {
        SXI_GO(sxi_darray_load(array, &stored));
    } else {
        stored = sx_darray_create(array->cluster, array->dtype, array->rank, array->shape);
        SXI_GO(sxi_darray_check(stored));
        SXI_GO(compute(array, stored));
    }
    sxi_darray_adopt(array, stored);
out:
    sx_darray_destroy(&stored);
    if (status != SX_OK) {
        sxi_darray_fail(array, status);
    }
    return status;
}
