/* SPDX-License-Identifier: Apache-2.0 */
#include "io/read/bands.h"

#include <string.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bytes of all that lies behind one index of each axis. Sizes that no memory holds are cut. */
static void rows_of(const int64_t *count, int rank, int64_t element, int64_t *row) {
    int64_t bytes = element;
    for (int d = rank; d < SX_MAX_RANK; d++) {
        row[d] = element;
    }
    for (int d = rank - 1; d >= 0; d--) {
        row[d] = bytes;
        bytes = count[d] > 0 && bytes > INT64_MAX / 2 / count[d] ? INT64_MAX / 2 : bytes * count[d];
    }
}

void sxi_bands_plan(int rank, const int64_t *start, const int64_t *count, const int64_t *chunk,
                    int64_t element, int64_t usual, int64_t most, sxi_bands *bands) {
    int64_t row[SX_MAX_RANK];
    *bands = (sxi_bands){.rank = rank, .step = 1, .unit = 1, .bytes = element};
    for (int d = 0; d < rank; d++) {
        bands->first[d] = bands->at[d] = start[d];
        bands->end[d] = start[d] + count[d];
        bands->done = bands->done || count[d] == 0;
    }
    if (rank == 0 || bands->done) {
        return;
    }
    rows_of(count, rank, element, row);
    int d = 0;
    while (d < rank - 1 && row[d] > most) {
        d++;
    }
    int64_t unit = chunk[d] > 0 ? chunk[d] : 1;
    int64_t fit = usual / row[d];
    if (least(unit, count[d]) > most / row[d]) {
        unit = 1;
        fit = most / row[d];
    }
    bands->axis = d;
    bands->unit = unit;
    bands->step = fit < unit ? unit : fit / unit * unit;
    bands->bytes = least(bands->step, count[d]) * row[d];
}

bool sxi_bands_next(sxi_bands *bands, int64_t *start, int64_t *count) {
    if (bands->done) {
        return false;
    }
    const int axis = bands->axis;
    for (int d = 0; d < bands->rank; d++) {
        start[d] = bands->at[d];
        count[d] = d < axis ? 1 : bands->end[d] - bands->at[d];
    }
    if (bands->rank > 0) {
        const int64_t left = count[axis];
        const int64_t border = (start[axis] + least(bands->step, left)) / bands->unit * bands->unit;
        count[axis] = bands->step >= left ? left : border - start[axis];
        bands->at[axis] += count[axis];
    }
    /* The next index of the axes before, like the digits of a counter. */
    int d = axis;
    for (; d > 0 && bands->at[d] == bands->end[d]; d--) {
        bands->at[d] = bands->first[d];
        bands->at[d - 1]++;
    }
    bands->done = bands->rank == 0 || bands->at[0] == bands->end[0];
    return true;
}
