/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/convert.h"

#include <string.h>

#include "kern/kern.h"
#include "kern/raw.h"

/* An integer that does not fit becomes the nearest that does. most is INT64_MAX for a uint64_t: a
 * signed value is never above it. */
static inline int64_t cut_signed(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

static inline uint64_t cut_unsigned(uint64_t value, uint64_t most) {
    return value > most ? most : value;
}

/* Branches would keep the compiler from making vectors, so the following select between bits. */

/* HDF5 calls everything beyond FLT_MAX infinite, also what would be rounded down to it. */
static inline float narrow(double value) {
    const int64_t most = INT64_C(0x47efffffe0000000), infinite = INT64_C(0x7ff0000000000000);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int64_t magnitude = (int64_t)(bits & INT64_MAX);
    const uint64_t signed_infinite = (bits & UINT64_C(1) << 63) | (uint64_t)infinite;
    bits = ((magnitude > most) & (magnitude <= infinite)) ? signed_infinite : bits;
    memcpy(&value, &bits, sizeof bits);
    return (float)value;
}

/* HDF5 converts floats that are not the machine's own (half precision, the other byte order) in
 * software: a NaN keeps its sign and gets every other bit, and there is no rule about FLT_MAX. */
static inline double soft_F64(float value) {
    const double wide = (double)value;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    bits |= value != value ? UINT64_MAX >> 1 : 0;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static inline float soft_F32(double value) {
    const float cast = (float)value;
    uint32_t bits;
    memcpy(&bits, &cast, sizeof bits);
    bits |= value != value ? UINT32_MAX >> 1 : 0;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* 1 sign, 5 exponent (bias 15), 10 mantissa bits. A float holds every half exactly: the bits in its
 * place are too small by the difference of the biases, 2^112, also where the half is denormal. */
static inline float from_half(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    uint32_t bits = magnitude << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    value *= 0x1p112f;
    memcpy(&bits, &value, sizeof bits);
    bits |= magnitude >= 0x7c00 ? 0x7f800000u : 0;
    bits |= magnitude > 0x7c00 ? UINT32_MAX >> 1 : 0;
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* from_U16_to_F32 and so on: one loop per pair of types, so that the compiler makes vectors of it. */
#define LOOP(name, from, to, expression)                                                           \
    SXI_CLONES                                                                                     \
    static void name(int64_t n, const void *source, void *target) {                                \
        const sxi_raw_##from *restrict s = source;                                                 \
        sxi_raw_##to *restrict t = target;                                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            t[i] = (sxi_raw_##to)(expression);                                                     \
        }                                                                                          \
    }
#define ROW(from, to, expression) LOOP(from_##from##_to_##to, from, to, expression)

#define FROM_SIGNED(from)                                                                          \
    ROW(from, I8, cut_signed(s[i], INT8_MIN, INT8_MAX))                                            \
    ROW(from, U8, cut_signed(s[i], 0, UINT8_MAX))                                                  \
    ROW(from, I16, cut_signed(s[i], INT16_MIN, INT16_MAX))                                         \
    ROW(from, U16, cut_signed(s[i], 0, UINT16_MAX))                                                \
    ROW(from, I32, cut_signed(s[i], INT32_MIN, INT32_MAX))                                         \
    ROW(from, U32, cut_signed(s[i], 0, UINT32_MAX))                                                \
    ROW(from, I64, s[i])                                                                           \
    ROW(from, U64, cut_signed(s[i], 0, INT64_MAX))                                                 \
    ROW(from, F32, s[i])                                                                           \
    ROW(from, F64, s[i])

#define FROM_UNSIGNED(from)                                                                        \
    ROW(from, I8, cut_unsigned(s[i], INT8_MAX))                                                    \
    ROW(from, U8, cut_unsigned(s[i], UINT8_MAX))                                                   \
    ROW(from, I16, cut_unsigned(s[i], INT16_MAX))                                                  \
    ROW(from, U16, cut_unsigned(s[i], UINT16_MAX))                                                 \
    ROW(from, I32, cut_unsigned(s[i], INT32_MAX))                                                  \
    ROW(from, U32, cut_unsigned(s[i], UINT32_MAX))                                                 \
    ROW(from, I64, cut_unsigned(s[i], INT64_MAX))                                                  \
    ROW(from, U64, s[i])                                                                           \
    ROW(from, F32, s[i])                                                                           \
    ROW(from, F64, s[i])

FROM_SIGNED(I8)
FROM_UNSIGNED(U8)
FROM_SIGNED(I16)
FROM_UNSIGNED(U16)
FROM_SIGNED(I32)
FROM_UNSIGNED(U32)
FROM_SIGNED(I64)
FROM_UNSIGNED(U64)
ROW(F32, F64, s[i])
ROW(F64, F32, narrow(s[i]))
LOOP(soft_F32_to_F64, F32, F64, soft_F64(s[i]))
LOOP(soft_F64_to_F32, F64, F32, soft_F32(s[i]))
LOOP(from_half_to_F32, U16, F32, from_half(s[i]))
LOOP(from_half_to_F64, U16, F64, soft_F64(from_half(s[i])))
LOOP(order_U16, U16, U16, __builtin_bswap16(s[i]))
LOOP(order_U32, U32, U32, __builtin_bswap32(s[i]))
LOOP(order_U64, U64, U64, __builtin_bswap64(s[i]))

#define TO_ALL(from)                                                                               \
    [SX_##from] = {                                                                                \
        [SX_I8] = from_##from##_to_I8,   [SX_U8] = from_##from##_to_U8,                            \
        [SX_I16] = from_##from##_to_I16, [SX_U16] = from_##from##_to_U16,                          \
        [SX_I32] = from_##from##_to_I32, [SX_U32] = from_##from##_to_U32,                          \
        [SX_I64] = from_##from##_to_I64, [SX_U64] = from_##from##_to_U64,                          \
        [SX_F32] = from_##from##_to_F32, [SX_F64] = from_##from##_to_F64,                          \
    }

static const sxi_convert_fn VALUE[SX_F64 + 1][SX_F64 + 1] = {
    TO_ALL(I8),
    TO_ALL(U8),
    TO_ALL(I16),
    TO_ALL(U16),
    TO_ALL(I32),
    TO_ALL(U32),
    TO_ALL(I64),
    TO_ALL(U64),
    [SX_F32] = {[SX_F64] = from_F32_to_F64},
    [SX_F64] = {[SX_F32] = from_F64_to_F32},
};

static sxi_convert_fn find_order(const sxi_place_type *source) {
    if (source->kind == SXI_PLACE_BYTES || !source->swapped) {
        return NULL;
    }
    return source->bytes == 2   ? order_U16
           : source->bytes == 4 ? order_U32
           : source->bytes == 8 ? order_U64
                                : NULL;
}

static bool is_float(sx_dtype dtype) { return dtype == SX_F32 || dtype == SX_F64; }

/* Between numbers of different type. */
static sxi_convert_fn find_value(const sxi_place_type *source, sx_dtype target) {
    if (source->kind == SXI_PLACE_HALF) {
        return target == SX_F32 ? from_half_to_F32 : target == SX_F64 ? from_half_to_F64 : NULL;
    }
    if (source->swapped && is_float(source->dtype) && is_float(target)) {
        return target == SX_F32 ? soft_F64_to_F32 : soft_F32_to_F64;
    }
    return VALUE[source->dtype][target];
}

/* HDF5 only turns the bytes round between integers of one size in different order, also where one
 * has a sign and the other not. */
static bool only_order(const sxi_place_type *source, const sxi_place_type *target) {
    return source->swapped && source->bytes == target->bytes && source->bytes > 1 &&
           !is_float(source->dtype) && !is_float(target->dtype);
}

bool sxi_convert_find(const sxi_place_type *source, const sxi_place_type *target,
                      sxi_convert *convert) {
    *convert = (sxi_convert){find_order(source), NULL, source->bytes, target->bytes};
    if (source->kind == SXI_PLACE_BYTES || target->kind == SXI_PLACE_BYTES) {
        return source->kind == target->kind && source->bytes == target->bytes;
    }
    if (target->kind == SXI_PLACE_HALF || target->swapped) {
        return false;
    }
    if (source->kind == SXI_PLACE_NUMBER &&
        (source->dtype == target->dtype || only_order(source, target))) {
        return true;
    }
    convert->value = find_value(source, target->dtype);
    return convert->value != NULL;
}

enum { PIECE = 256 };

void sxi_convert_row(const sxi_convert *convert, int64_t n, const void *source, void *target) {
    if (!convert->order && !convert->value) {
        memcpy(target, source, (size_t)(n * convert->source_bytes));
        return;
    }
    if (!convert->order || !convert->value) {
        (convert->order ? convert->order : convert->value)(n, source, target);
        return;
    }
    uint64_t native[PIECE];
    for (int64_t i = 0; i < n; i += PIECE) {
        const int64_t m = n - i < PIECE ? n - i : PIECE;
        convert->order(m, (const char *)source + i * convert->source_bytes, native);
        convert->value(m, native, (char *)target + i * convert->target_bytes);
    }
}
