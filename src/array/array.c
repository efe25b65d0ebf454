/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/array.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_round.h"
#include "base/fail.h"

enum { ALIGNMENT = 64 };

size_t sx_dtype_size(sx_dtype dtype) {
    switch (dtype) {
#define SIZE(name, type, word)                                                                     \
    case SX_##name:                                                                                \
        return sizeof(type);
        SX_DTYPE_LIST(SIZE)
#undef SIZE
    }
    return 0;
}

const char *sx_dtype_name(sx_dtype dtype) {
    switch (dtype) {
#define WORD(name, type, word)                                                                     \
    case SX_##name:                                                                                \
        return word;
        SX_DTYPE_LIST(WORD)
#undef WORD
    }
    return "?";
}

/* Fills type, shape and C-order strides; *bytes is the size of all elements. */
static sx_status lay_out(sx_dtype dtype, int rank, const int64_t *shape, sx_array *array,
                         size_t *bytes) {
    const size_t size = sx_dtype_size(dtype);
    if (size == 0) {
        return SXI_FAIL(SX_ERR_TYPE, "%d is not an element type", (int)dtype);
    }
    if (rank < 0 || rank > SX_MAX_RANK) {
        return SXI_FAIL(SX_ERR_SHAPE, "an array of %d axes was asked for, 0 to %d are possible",
                        rank, SX_MAX_RANK);
    }
    *array = (sx_array){.dtype = dtype, .rank = rank};
    bool empty = false;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0) {
            return SXI_FAIL(SX_ERR_SHAPE, "axis %d has the negative extent %lld", d,
                            (long long)shape[d]);
        }
        array->shape[d] = shape[d];
        empty = empty || shape[d] == 0;
    }
    /* Pointer differences into the array must fit ptrdiff_t, hence not SIZE_MAX. */
    const int64_t most = (int64_t)(PTRDIFF_MAX - ALIGNMENT) / (int64_t)size;
    int64_t count = 1;
    for (int d = rank - 1; d >= 0; d--) {
        array->stride[d] = count;
        if (!empty && count > most / shape[d]) {
            return SXI_FAIL(SX_ERR_SHAPE,
                            "an array of these extents does not fit in memory "
                            "(axis %d has %lld, element %zu bytes)",
                            d, (long long)shape[d], size);
        }
        count *= empty ? 1 : shape[d];
    }
    *bytes = empty ? 0 : (size_t)count * size;
    return SX_OK;
}

sx_status sx_array_create(sx_dtype dtype, int rank, const int64_t *shape, sx_array *array) {
    sx_array made = {0};
    size_t bytes = 0;
    *array = made;
    SXI_TRY(lay_out(dtype, rank, shape, &made, &bytes));
    /* calloc hands out untouched pages of the system, so a large array costs nothing until it is
     * used; aligned_alloc and memset would touch them all. */
    char *block = calloc(bytes + ALIGNMENT, 1);
    if (!block) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for an array of %zu bytes", bytes);
    }
    made.owned = block;
    made.data = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
    *array = made;
    return SX_OK;
}

sx_status sx_array_view(sx_dtype dtype, int rank, const int64_t *shape, void *data,
                        sx_array *array) {
    sx_array made = {0};
    size_t bytes = 0;
    *array = made;
    SXI_TRY(lay_out(dtype, rank, shape, &made, &bytes));
    assert(data || bytes == 0);
    made.data = data;
    *array = made;
    return SX_OK;
}

static char *element(const sx_array *array, const int64_t *index) {
    int64_t offset = 0;
    for (int d = 0; d < array->rank; d++) {
        assert(index[d] >= 0 && index[d] < array->shape[d]);
        offset += index[d] * array->stride[d];
    }
    return (char *)array->data + offset * (int64_t)sx_dtype_size(array->dtype);
}

sx_status sx_array_slice(const sx_array *array, const int64_t *start, const int64_t *stop,
                         sx_array *view) {
    sx_array made = *array;
    int64_t offset = 0;
    made.owned = NULL;
    for (int d = 0; d < array->rank; d++) {
        if (start[d] < 0 || stop[d] < start[d] || stop[d] > array->shape[d]) {
            return SXI_FAIL(SX_ERR_RANGE, "%lld:%lld was asked for of axis %d, which has %lld",
                            (long long)start[d], (long long)stop[d], d, (long long)array->shape[d]);
        }
        made.shape[d] = stop[d] - start[d];
        offset += start[d] * array->stride[d];
    }
    if (sx_array_count(&made) > 0) {
        made.data = (char *)array->data + offset * (int64_t)sx_dtype_size(array->dtype);
    }
    *view = made;
    return SX_OK;
}

void sx_array_destroy(sx_array *array) {
    if (array) {
        free(array->owned);
        *array = (sx_array){0};
    }
}

int64_t sx_array_count(const sx_array *array) {
    int64_t count = array->rank == 0 && !array->data ? 0 : 1;
    for (int d = 0; d < array->rank; d++) {
        if (array->shape[d] == 0) {
            return 0; /* before the product of the others, which may be huge */
        }
    }
    for (int d = 0; d < array->rank; d++) {
        count *= array->shape[d];
    }
    return count;
}

bool sx_array_contiguous(const sx_array *array) {
    int64_t expected = 1;
    if (sx_array_count(array) == 0) {
        return true;
    }
    for (int d = array->rank - 1; d >= 0; d--) {
        if (array->shape[d] != 1 && array->stride[d] != expected) {
            return false;
        }
        expected *= array->shape[d];
    }
    return true;
}

double sx_array_get(const sx_array *array, const int64_t *index) {
    const void *at = element(array, index);
    switch (array->dtype) {
#define GET(name, type, word)                                                                      \
    case SX_##name:                                                                                \
        return (double)*(const type *)at;
        SX_DTYPE_LIST(GET)
#undef GET
    }
    return (double)NAN;
}

void sx_array_set(sx_array *array, const int64_t *index, double value) {
    void *at = element(array, index);
    switch (array->dtype) {
#define SET(name, type, word)                                                                      \
    case SX_##name:                                                                                \
        *(type *)at = sxi_round_##name(value);                                                     \
        break;
        SX_DTYPE_LIST(SET)
#undef SET
    }
}
