/* SPDX-License-Identifier: Apache-2.0
 * Rows of samples into lanes, y[i][lane] = (row[lane][i] - shift[lane]) * part[lane]: a group of
 * lanes four samples at a time, or one lane alone. */
#ifndef SXI_DCOS_FILL_KERN_H
#define SXI_DCOS_FILL_KERN_H

#include "kern/lanes.h"

/* The rows of a bundle. */
typedef struct SX_ROWS {
    int64_t n;
    const double *const *row;   /* [SXI_BUNDLE] each [n] */
    const double *shift, *part; /* [SXI_BUNDLE] */
} SX_ROWS;

#define SX_FILL(name, type, store)                                                                 \
    SX_FN void name##_lane(const SX_ROWS *rows, int64_t first, int lane, type *y) {                \
        const double *row = rows->row[lane];                                                       \
        const double shift = rows->shift[lane], part = rows->part[lane];                           \
        for (int64_t i = first; i < rows->n; i++) {                                                \
            y[i * SXI_BUNDLE + lane] = (type)((row[i] - shift) * part);                            \
        }                                                                                          \
    }                                                                                              \
    SX_FN void name##_group(const SX_ROWS *rows, int lane, type *y) {                              \
        const SX_REAL shift = SX_LOAD(rows->shift + lane), part = SX_LOAD(rows->part + lane);      \
        const double *at[SX_LANES];                                                                \
        SX_REAL column[4];                                                                         \
        int64_t i = 0;                                                                             \
        for (; i + 4 <= rows->n; i += 4) {                                                         \
            for (int l = 0; l < SX_LANES; l++) {                                                   \
                at[l] = rows->row[lane + l] + i;                                                   \
            }                                                                                      \
            sx_load_rows(at, column);                                                              \
            for (int c = 0; c < 4; c++) {                                                          \
                store(&y[(i + c) * SXI_BUNDLE + lane], (column[c] - shift) * part);                \
            }                                                                                      \
        }                                                                                          \
        for (int l = 0; l < SX_LANES; l++) {                                                       \
            name##_lane(rows, i, lane + l, y);                                                     \
        }                                                                                          \
    }                                                                                              \
    SX_FN void name(const SX_ROWS *rows, uint32_t lanes, type *y) {                                \
        const uint32_t all = (UINT32_C(1) << SX_LANES) - 1;                                        \
        for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {                                  \
            if ((lanes >> lane & all) == all) {                                                    \
                name##_group(rows, lane, y);                                                       \
                continue;                                                                          \
            }                                                                                      \
            for (int l = lane; l < lane + SX_LANES; l++) {                                         \
                if (lanes >> l & 1) {                                                              \
                    name##_lane(rows, 0, l, y);                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

SX_FILL(sx_fill, double, SX_STORE)
SX_FILL(sx_fill_single, float, SX_STORE_SINGLE)

#endif
