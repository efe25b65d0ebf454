/* SPDX-License-Identifier: Apache-2.0
 * Regions of arrays: which parts of the leaves they need, and their values. */
#include "engine/darray.h"

#include "base/fail.h"

int64_t sxi_region_count(const sxi_region *region, int rank) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++) {
        count *= region->count[d];
    }
    return count;
}

sxi_region sxi_input_region(const sx_darray *array, int input, const sxi_region *region) {
    const sx_darray *from = array->input[input];
    const int skipped = array->rank - from->rank;
    sxi_region mapped = {{0}, {0}};
    for (int d = 0; d < from->rank; d++) {
        const bool repeated = from->shape[d] == 1 && array->shape[d + skipped] != 1;
        mapped.start[d] = repeated ? 0 : region->start[d + skipped] + array->offset[d + skipped];
        mapped.count[d] =
            repeated && region->count[d + skipped] > 0 ? 1 : region->count[d + skipped];
    }
    return mapped;
}

static sx_status leaf_view(const sx_array *values, const sxi_region *held, const sxi_region *region,
                           sx_array *view) {
    int64_t start[SX_MAX_RANK], stop[SX_MAX_RANK];
    for (int d = 0; d < values->rank; d++) {
        start[d] = region->start[d] - held->start[d];
        stop[d] = start[d] + region->count[d];
    }
    return sx_array_slice(values, start, stop, view);
}

/* A view of an input in the shape of the node: what is repeated has stride 0. */
static void stretch(const sx_array *input, const sx_array *shape, sx_array *stretched) {
    const int skipped = shape->rank - input->rank;
    *stretched = *input;
    stretched->rank = shape->rank;
    for (int d = 0; d < shape->rank; d++) {
        const int e = d - skipped;
        const bool repeated = e < 0 || (input->shape[e] == 1 && shape->shape[d] != 1);
        stretched->stride[d] = repeated ? 0 : input->stride[e];
        stretched->shape[d] = shape->shape[d];
    }
}

static sx_status take(const sx_darray *array, const sxi_region *region, sxi_arena *arena,
                      sx_array *out) {
    const int64_t count = sxi_region_count(region, array->rank);
    void *memory = sxi_arena_take(arena, (size_t)count * sx_dtype_size(array->dtype));
    if (!memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld elements of a region", (long long)count);
    }
    return sx_array_view(array->dtype, array->rank, region->count, memory, out);
}

sx_status sxi_region_view(const sx_darray *array, const sxi_region *region, int n,
                          const sxi_held *held, sxi_arena *arena, sx_array *view) {
    static const sxi_region origin;
    if (array->kind == SXI_NODE_MEMORY) {
        return leaf_view(&array->values, &origin, region, view);
    }
    for (int i = 0; i < n; i++) {
        if (held[i].leaf == array) {
            return leaf_view(&held[i].array, &held[i].region, region, view);
        }
    }
    sx_array input[2], stretched[2];
    for (int k = 0; k < 2 && array->input[k]; k++) {
        const sxi_region mapped = sxi_input_region(array, k, region);
        SXI_TRY(sxi_region_view(array->input[k], &mapped, n, held, arena, &input[k]));
    }
    if (array->kind == SXI_NODE_VIEW) {
        *view = input[0];
        return SX_OK;
    }
    SXI_TRY(take(array, region, arena, view));
    if (array->kind == SXI_NODE_CONVERT) {
        return sx_array_copy(&input[0], view);
    }
    for (int k = 0; k < 2 && array->input[k]; k++) {
        stretch(&input[k], view, &stretched[k]);
    }
    sxi_elementwise(array, stretched, view);
    return SX_OK;
}
