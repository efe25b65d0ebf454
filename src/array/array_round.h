/* SPDX-License-Identifier: Apache-2.0
 * From double and from int64_t to each element type: rounded to nearest, clamped, NaN to 0. */
#ifndef SXI_ARRAY_ROUND_H
#define SXI_ARRAY_ROUND_H

#include <math.h>
#include <stdint.h>

/* For 64 bits (double)most is one more than most, so every double below it still fits. */
#define SXI_ROUND(name, type, least, most)                                                         \
    static inline type sxi_round_##name(double value) {                                            \
        const double rounded = rint(value);                                                        \
        if (rounded >= (double)(most)) {                                                           \
            return (most);                                                                         \
        }                                                                                          \
        return rounded >= (double)(least) ? (type)rounded : value < 0 ? (least) : (type)0;         \
    }                                                                                              \
    static inline type sxi_clamp_##name(int64_t value) {                                           \
        return value < (int64_t)(least)                                  ? (least)                 \
               : (uint64_t)(most) < INT64_MAX && value > (int64_t)(most) ? (most)                  \
                                                                         : (type)value;            \
    }

SXI_ROUND(I8, int8_t, INT8_MIN, INT8_MAX)
SXI_ROUND(U8, uint8_t, 0, UINT8_MAX)
SXI_ROUND(I16, int16_t, INT16_MIN, INT16_MAX)
SXI_ROUND(U16, uint16_t, 0, UINT16_MAX)
SXI_ROUND(I32, int32_t, INT32_MIN, INT32_MAX)
SXI_ROUND(U32, uint32_t, 0, UINT32_MAX)
SXI_ROUND(I64, int64_t, INT64_MIN, INT64_MAX)
SXI_ROUND(U64, uint64_t, 0, UINT64_MAX)
#undef SXI_ROUND

static inline float sxi_round_F32(double value) { return (float)value; }
static inline double sxi_round_F64(double value) { return value; }
static inline float sxi_clamp_F32(int64_t value) { return (float)value; }
static inline double sxi_clamp_F64(int64_t value) { return (double)value; }

#endif
