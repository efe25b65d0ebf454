/* SPDX-License-Identifier: Apache-2.0
 * What all pixels of a bank, or of a row or column of it, have in common is noise of the readout. Medians, as
 * photons must not move it. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "xani/calibration/calibration.h"

/* As LCLS has them by default: a larger common mode is none. */
static const float FARTHEST = 100; /* ADU */
enum { FEWEST = 10 };

/* Some pixels of a frame: a rectangle. */
typedef struct block {
    int64_t first, rows, columns, pitch;
} block;

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void take_off(const block *b, const uint8_t *stage, float *frame, float *values) {
    int64_t n = 0;
    for (int64_t y = 0; y < b->rows; y++) {
        for (int64_t x = 0; x < b->columns; x++) {
            const int64_t p = b->first + y * b->pitch + x;
            if (stage[p] == 0 && isfinite(frame[p])) {
                values[n++] = frame[p];
            }
        }
    }
    if (n < FEWEST) {
        return;
    }
    qsort(values, (size_t)n, sizeof *values, by_value);
    const float median = n % 2 ? values[n / 2] : 0.5F * (values[n / 2 - 1] + values[n / 2]);
    for (int64_t y = 0; fabsf(median) <= FARTHEST && y < b->rows; y++) {
        for (int64_t x = 0; x < b->columns; x++) {
            const int64_t p = b->first + y * b->pitch + x;
            frame[p] -= stage[p] == 0 ? median : 0;
        }
    }
}

/* Rows of a bank are as wide as it; columns as high, each alone. */
static void take_off_all(const sxi_calibration *c, bool rows, bool columns, const uint8_t *stage,
                         float *frame, float *values) {
    const int64_t bank_rows = c->kind->bank_rows ? c->kind->bank_rows : c->rows;
    const int64_t bank_columns = c->kind->bank_columns ? c->kind->bank_columns : c->columns;
    const int64_t height = rows ? 1 : bank_rows, width = columns ? 1 : bank_columns;
    const int64_t all_rows = c->pixels / c->columns;
    for (int64_t y = 0; y < all_rows; y += height) {
        for (int64_t x = 0; x < c->columns; x += width) {
            const block b = {y * c->columns + x, height, width, c->columns};
            take_off(&b, stage, frame, values);
        }
    }
}

sx_status sxi_common_mode(const sxi_calibration *c, const uint8_t *stage, float *frame) {
    const sx_reduce_common_mode mode = c->common_mode;
    float *values = malloc((size_t)c->pixels * sizeof *values);
    if (!values) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a common mode");
    }
    if (mode == SX_REDUCE_COMMON_MODE_BANKS) {
        take_off_all(c, false, false, stage, frame, values);
    }
    if (mode == SX_REDUCE_COMMON_MODE_ROWS || mode == SX_REDUCE_COMMON_MODE_BOTH) {
        take_off_all(c, true, false, stage, frame, values);
    }
    if (mode == SX_REDUCE_COMMON_MODE_COLUMNS || mode == SX_REDUCE_COMMON_MODE_BOTH) {
        take_off_all(c, false, true, stage, frame, values);
    }
    free(values);
    return SX_OK;
}
