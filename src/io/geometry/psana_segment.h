/* SPDX-License-Identifier: Apache-2.0
 * The sensors that a psana geometry names. */
#ifndef SXI_PSANA_SEGMENT_H
#define SXI_PSANA_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/status.h>

/* Where the pixels of a segment are in its own frame: pixel [j][i] at (column[i], row[j]), in um; at
 * (row[j], column[i]) where x runs along the rows. */
typedef struct sxi_segment {
    int64_t rows, columns;
    bool x_along_rows;
    double *row, *column; /* to be freed */
    const char *steps;    /* a few words on the spacing */
} sxi_segment;

/* sxi_segment_known - whether an object is a sensor and not a group of others. */
bool sxi_segment_known(const char *name);

/* sxi_segment_create - SX_ERR_UNSUPPORTED for a name that is not known; SX_ERR_RANGE, SX_ERR_MEMORY. */
sx_status sxi_segment_create(const char *path, const char *name, sxi_segment *segment);
void sxi_segment_destroy(sxi_segment *segment);

#endif
