/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/array.h>

#include <string.h>

#include "array/array_round.h"
#include "base/fail.h"

/* Types meet in the middle: 2 x 10 short loops instead of 100. Integers meet in int64_t, because
 * a double cannot hold them all; a uint64_t beyond it is clamped, as the target will do anyway. */
enum { PIECE = 512 };

static void load_real(sx_dtype dtype, const void *from, int64_t stride, int64_t n, double *to) {
    switch (dtype) {
#define LOAD(name, type, word)                                                                     \
    case SX_##name:                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            to[i] = (double)((const type *)from)[i * stride];                                      \
        }                                                                                          \
        break;
        SX_DTYPE_LIST(LOAD)
#undef LOAD
    }
}

static void store_real(sx_dtype dtype, const double *from, int64_t n, void *to, int64_t stride) {
    switch (dtype) {
#define STORE(name, type, word)                                                                    \
    case SX_##name:                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            ((type *)to)[i * stride] = sxi_round_##name(from[i]);                                  \
        }                                                                                          \
        break;
        SX_DTYPE_LIST(STORE)
#undef STORE
    }
}

static void load_int(sx_dtype dtype, const void *from, int64_t stride, int64_t n, int64_t *to) {
    if (dtype == SX_U64) {
        for (int64_t i = 0; i < n; i++) {
            const uint64_t value = ((const uint64_t *)from)[i * stride];
            to[i] = value > INT64_MAX ? INT64_MAX : (int64_t)value;
        }
        return;
    }
    switch (dtype) {
#define LOAD(name, type, word)                                                                     \
    case SX_##name:                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            to[i] = (int64_t)((const type *)from)[i * stride];                                     \
        }                                                                                          \
        break;
        SX_DTYPE_LIST(LOAD)
#undef LOAD
    }
}

static void store_int(sx_dtype dtype, const int64_t *from, int64_t n, void *to, int64_t stride) {
    switch (dtype) {
#define STORE(name, type, word)                                                                    \
    case SX_##name:                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            ((type *)to)[i * stride] = sxi_clamp_##name(from[i]);                                  \
        }                                                                                          \
        break;
        SX_DTYPE_LIST(STORE)
#undef STORE
    }
}

static bool is_integer(sx_dtype dtype) { return dtype != SX_F32 && dtype != SX_F64; }

static void copy_row(sx_dtype from_type, const char *from, int64_t from_stride, sx_dtype to_type,
                     char *to, int64_t to_stride, int64_t n) {
    const int64_t from_bytes = (int64_t)sx_dtype_size(from_type);
    const int64_t to_bytes = (int64_t)sx_dtype_size(to_type);
    if (from_type == to_type) {
        if (from_stride == 1 && to_stride == 1) {
            memcpy(to, from, (size_t)(n * to_bytes));
            return;
        }
        for (int64_t i = 0; i < n; i++) {
            memcpy(to + i * to_stride * to_bytes, from + i * from_stride * from_bytes,
                   (size_t)to_bytes);
        }
        return;
    }
    union {
        double real[PIECE];
        int64_t integer[PIECE];
    } middle;
    const bool integers = is_integer(from_type) && is_integer(to_type);
    for (int64_t i = 0; i < n; i += PIECE) {
        const int64_t m = n - i < PIECE ? n - i : PIECE;
        const char *source = from + i * from_stride * from_bytes;
        char *target = to + i * to_stride * to_bytes;
        if (integers) {
            load_int(from_type, source, from_stride, m, middle.integer);
            store_int(to_type, middle.integer, m, target, to_stride);
        } else {
            load_real(from_type, source, from_stride, m, middle.real);
            store_real(to_type, middle.real, m, target, to_stride);
        }
    }
}

/* Where the row of this index starts, in bytes. */
static int64_t row_offset(const sx_array *array, const int64_t *index) {
    int64_t offset = 0;
    for (int d = 0; d < array->rank - 1; d++) {
        offset += index[d] * array->stride[d];
    }
    return offset * (int64_t)sx_dtype_size(array->dtype);
}

sx_status sx_array_copy(const sx_array *source, sx_array *target) {
    const int rank = source->rank;
    bool same = rank == target->rank;
    for (int d = 0; same && d < rank; d++) {
        same = source->shape[d] == target->shape[d];
    }
    if (!same) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "an array of %d axes and %lld elements cannot be copied into one of %d "
                        "axes and %lld elements: shapes must be equal",
                        rank, (long long)sx_array_count(source), target->rank,
                        (long long)sx_array_count(target));
    }
    const int64_t count = sx_array_count(source);
    if (count == 0) {
        return SX_OK;
    }
    const bool one_row = rank == 0 || (sx_array_contiguous(source) && sx_array_contiguous(target));
    const int64_t n = one_row ? count : source->shape[rank - 1];
    const int64_t from_stride = one_row ? 1 : source->stride[rank - 1];
    const int64_t to_stride = one_row ? 1 : target->stride[rank - 1];
    int64_t index[SX_MAX_RANK] = {0};
    for (int64_t row = 0; row < count / n; row++) {
        copy_row(source->dtype, (const char *)source->data + row_offset(source, index), from_stride,
                 target->dtype, (char *)target->data + row_offset(target, index), to_stride, n);
        for (int d = rank - 2; d >= 0 && ++index[d] == source->shape[d]; d--) {
            index[d] = 0;
        }
    }
    return SX_OK;
}
