/* SPDX-License-Identifier: Apache-2.0
 * The same values otherwise. */
#include "engine/darray.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"

/* A node of that kind over one input; a failed one over a failed one. */
static sx_darray *over(sx_darray *array, sxi_node_kind kind, sx_dtype dtype, const int64_t *shape) {
    sx_status status = sxi_darray_check(array);
    assert(array || status != SX_OK);
    if (status == SX_OK && kind != SXI_NODE_VIEW && array->cost >= SXI_COST_MOST) {
        status = sxi_darray_settle(array);
    }
    if (status != SX_OK) {
        return sxi_darray_failed(array ? array->cluster : NULL, status);
    }
    sx_darray *made = sxi_darray_new(array->cluster, kind, dtype, array->rank, shape);
    if (made->kind != SXI_NODE_FAILED) {
        made->input[0] = sxi_darray_keep(array);
        made->cost = array->cost + (kind != SXI_NODE_VIEW);
        memcpy(made->tile, array->tile, sizeof made->tile);
        memcpy(made->halo, array->halo, sizeof made->halo);
    }
    return made;
}

/* A view of a view is one of what that views. */
static void flatten(sx_darray *view) {
    sx_darray *from = view->input[0];
    if (from->kind == SXI_NODE_VIEW) {
        for (int d = 0; d < view->rank; d++) {
            view->offset[d] += from->offset[d];
        }
        view->input[0] = sxi_darray_keep(from->input[0]);
        sx_darray_destroy(&from);
    }
}

sx_darray *sx_darray_view(sx_darray *array, const int64_t *start, const int64_t *stop) {
    int64_t shape[SX_MAX_RANK] = {0};
    for (int d = 0; array && array->kind != SXI_NODE_FAILED && d < array->rank; d++) {
        if (start[d] < 0 || stop[d] < start[d] || stop[d] > array->shape[d]) {
            return sxi_darray_failed(
                array->cluster,
                SXI_FAIL(SX_ERR_RANGE, "%lld:%lld was asked for of axis %d, which has %lld",
                         (long long)start[d], (long long)stop[d], d, (long long)array->shape[d]));
        }
        shape[d] = stop[d] - start[d];
    }
    sx_darray *made = over(array, SXI_NODE_VIEW, array ? array->dtype : SX_F64, shape);
    if (made->kind != SXI_NODE_FAILED) {
        memcpy(made->offset, start, (size_t)made->rank * sizeof *start);
        flatten(made);
    }
    return made;
}

sx_darray *sx_darray_retile(sx_darray *array, const int64_t *tile, const int64_t *halo) {
    for (int d = 0; array && array->kind != SXI_NODE_FAILED && d < array->rank; d++) {
        if (tile[d] < 0 || (halo && halo[d] < 0)) {
            return sxi_darray_failed(
                array->cluster, SXI_FAIL(SX_ERR_ARGUMENT,
                                         "a tile of %lld with a halo of %lld along axis %d: "
                                         "neither may be negative",
                                         (long long)tile[d], halo ? (long long)halo[d] : 0LL, d));
        }
    }
    sx_darray *made =
        over(array, SXI_NODE_VIEW, array ? array->dtype : SX_F64, array ? array->shape : NULL);
    if (made->kind != SXI_NODE_FAILED) {
        for (int d = 0; d < made->rank; d++) {
            made->tile[d] = tile[d];
            made->halo[d] = halo ? halo[d] : 0;
        }
        flatten(made);
    }
    return made;
}

sx_darray *sx_convert(sx_darray *array, sx_dtype dtype) {
    return over(array, SXI_NODE_CONVERT, dtype, array ? array->shape : NULL);
}

sx_darray *sx_map(sx_darray *array, sx_map_fn function, void *data) {
    const bool single = array && array->dtype == SX_F32;
    sx_darray *made =
        over(array, SXI_NODE_MAP, single ? SX_F32 : SX_F64, array ? array->shape : NULL);
    if (made->kind != SXI_NODE_FAILED) {
        made->map = function;
        made->map_data = data;
    }
    return made;
}
