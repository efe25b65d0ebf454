/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic of two arrays. */
#include "engine/darray.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

/* "[3, 1]" */
static void say_shape(const sx_darray *array, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (int d = 0; d < array->rank && used < size; d++) {
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d ? ", " : "",
                                 (long long)array->shape[d]);
    }
    if (used < size) {
        snprintf(text + used, size - used, "]");
    }
}

static sx_status broadcast(const sx_darray *a, const sx_darray *b, int *rank, int64_t *shape) {
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (int d = 0; d < *rank; d++) {
        const int in_a = d - (*rank - a->rank), in_b = d - (*rank - b->rank);
        const int64_t x = in_a >= 0 ? a->shape[in_a] : 1, y = in_b >= 0 ? b->shape[in_b] : 1;
        if (x != y && x != 1 && y != 1) {
            char one[200], other[200];
            say_shape(a, one, sizeof one);
            say_shape(b, other, sizeof other);
            return SXI_FAIL(SX_ERR_SHAPE,
                            "arrays of shapes %s and %s do not go together: matched from the last "
                            "axis, extents must be equal or 1",
                            one, other);
        }
        shape[d] = x == 1 ? y : x;
    }
    return SX_OK;
}

static sx_status check_pair(const sx_darray *a, const sx_darray *b) {
    SXI_TRY(sxi_darray_check(a));
    SXI_TRY(sxi_darray_check(b));
    return a->cluster == b->cluster
               ? SX_OK
               : SXI_FAIL(SX_ERR_ARGUMENT, "arrays of two clusters do not go together");
}

static sx_status make_cheap(sx_darray *a, sx_darray *b) {
    if (a->cost + b->cost > SXI_COST_MOST) {
        SXI_TRY(sxi_darray_settle(a->cost >= b->cost ? a : b));
    }
    return a->cost + b->cost > SXI_COST_MOST ? sxi_darray_settle(a->cost >= b->cost ? a : b)
                                             : SX_OK;
}

static sx_darray *pair(sxi_node_kind kind, sx_darray *a, sx_darray *b) {
    int64_t shape[SX_MAX_RANK] = {0};
    int rank = 0;
    sx_status status = check_pair(a, b);
    if (status == SX_OK) {
        status = broadcast(a, b, &rank, shape);
    }
    if (status == SX_OK) {
        status = make_cheap(a, b);
    }
    if (status != SX_OK) {
        return sxi_darray_failed(a ? a->cluster : NULL, status);
    }
    const bool single = a->dtype == SX_F32 && b->dtype == SX_F32;
    sx_darray *made = sxi_darray_new(a->cluster, kind, single ? SX_F32 : SX_F64, rank, shape);
    if (made->kind != SXI_NODE_FAILED) {
        const sx_darray *larger = a->rank == rank ? a : b;
        memcpy(made->tile, larger->tile, sizeof made->tile);
        memcpy(made->halo, larger->halo, sizeof made->halo);
        made->input[0] = sxi_darray_keep(a);
        made->input[1] = sxi_darray_keep(b);
        made->cost = a->cost + b->cost; /* more than each of them */
    }
    return made;
}

sx_darray *sx_add(sx_darray *a, sx_darray *b) { return pair(SXI_NODE_ADD, a, b); }
sx_darray *sx_subtract(sx_darray *a, sx_darray *b) { return pair(SXI_NODE_SUBTRACT, a, b); }
sx_darray *sx_multiply(sx_darray *a, sx_darray *b) { return pair(SXI_NODE_MULTIPLY, a, b); }
sx_darray *sx_divide(sx_darray *a, sx_darray *b) { return pair(SXI_NODE_DIVIDE, a, b); }
