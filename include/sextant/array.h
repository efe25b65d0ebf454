/* SPDX-License-Identifier: Apache-2.0
 * A typed n-d array: either the owner of its memory or a view of somebody else's. */
#ifndef SEXTANT_ARRAY_H
#define SEXTANT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SX_MAX_RANK 8

/* X(name, C type, word) */
#define SX_DTYPE_LIST(X)                                                                           \
    X(I8, int8_t, "int8")                                                                          \
    X(U8, uint8_t, "uint8")                                                                        \
    X(I16, int16_t, "int16")                                                                       \
    X(U16, uint16_t, "uint16")                                                                     \
    X(I32, int32_t, "int32")                                                                       \
    X(U32, uint32_t, "uint32")                                                                     \
    X(I64, int64_t, "int64")                                                                       \
    X(U64, uint64_t, "uint64")                                                                     \
    X(F32, float, "float32")                                                                       \
    X(F64, double, "float64")

typedef enum sx_dtype {
#define SX_DTYPE_ENUM(name, type, word) SX_##name,
    SX_DTYPE_LIST(SX_DTYPE_ENUM)
#undef SX_DTYPE_ENUM
} sx_dtype;

/* sx_dtype_size - bytes of one element. sx_dtype_name - "float32" and so on. */
SX_API size_t sx_dtype_size(sx_dtype dtype);
SX_API const char *sx_dtype_name(sx_dtype dtype);

/* All zero is an empty array that may be destroyed. Row-major: shape[rank-1] is the fastest. */
typedef struct sx_array {
    sx_dtype dtype;
    int rank;
    int64_t shape[SX_MAX_RANK];
    int64_t stride[SX_MAX_RANK]; /* elements, may be any */
    void *data;                  /* first element */
    void *owned;                 /* what destroy frees; NULL for a view */
} sx_array;

/* sx_array_create - allocates zeroed, 64-byte aligned, contiguous memory.
 * SX_ERR_MEMORY, SX_ERR_SHAPE (rank or extent out of range, size overflows). *array is NULL-like on
 * failure. */
SX_API sx_status sx_array_create(sx_dtype dtype, int rank, const int64_t *shape, sx_array *array);

/* sx_array_view - a contiguous view of data, which must outlive it. */
SX_API sx_status sx_array_view(sx_dtype dtype, int rank, const int64_t *shape, void *data,
                               sx_array *array);

/* sx_array_slice - a view of start[d] <= index < stop[d] of each axis. SX_ERR_RANGE. */
SX_API sx_status sx_array_slice(const sx_array *array, const int64_t *start, const int64_t *stop,
                                sx_array *view);

/* sx_array_destroy - frees what it owns and clears it; NULL is allowed. */
SX_API void sx_array_destroy(sx_array *array);

/* sx_array_count - number of elements; sx_array_contiguous - whether they lie in C order without
 * gaps. */
SX_API int64_t sx_array_count(const sx_array *array);
SX_API bool sx_array_contiguous(const sx_array *array);

/* sx_array_get, sx_array_set - one element as a double, by index[rank]. No bounds check but assert.
 */
SX_API double sx_array_get(const sx_array *array, const int64_t *index);
SX_API void sx_array_set(sx_array *array, const int64_t *index, double value);

/* sx_array_copy - copies every element of source into target of the same shape, converting the type
 * (to an integer: rounded to nearest, clamped; NaN becomes 0). SX_ERR_SHAPE. */
SX_API sx_status sx_array_copy(const sx_array *source, sx_array *target);

#ifdef __cplusplus
}
#endif
#endif
