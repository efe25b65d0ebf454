/* SPDX-License-Identifier: Apache-2.0
 * Cuts a box of an array into bands that follow each other in C order. */
#ifndef SXI_BANDS_H
#define SXI_BANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>

typedef struct sxi_bands {
    int rank;
    int64_t first[SX_MAX_RANK], end[SX_MAX_RANK]; /* the box */
    int axis;      /* that is cut; of those before it a band has one index, of those after it
                              all */
    int64_t step;  /* indices of that axis in a band, at most */
    int64_t unit;  /* bands end at multiples of it */
    int64_t bytes; /* of the largest band */
    int64_t at[SX_MAX_RANK]; /* where the next one begins */
    bool done;
} sxi_bands;

/* sxi_bands_plan - bands of some `usual` bytes that end at borders of chunks, so that no chunk is
 * decoded twice. A row of chunks that is larger becomes one band if it has at most `most` bytes;
 * else the borders of chunks are ignored.
 *
 * in  start, count  [rank] the box
 * in  chunk         [rank], 0: not chunked
 * in  element       bytes */
void sxi_bands_plan(int rank, const int64_t *start, const int64_t *count, const int64_t *chunk,
                    int64_t element, int64_t usual, int64_t most, sxi_bands *bands);

/* sxi_bands_next - start and count of the next band; false after the last. An empty box has none. */
bool sxi_bands_next(sxi_bands *bands, int64_t *start, int64_t *count);

#endif
