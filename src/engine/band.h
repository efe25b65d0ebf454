/* SPDX-License-Identifier: Apache-2.0
 * The parts of files and sources that some regions of arrays are computed from, read together and in
 * the background. */
#ifndef SXI_BAND_H
#define SXI_BAND_H

#include "engine/darray.h"

/* Of all arrays of a task. */
enum { SXI_BAND_LEAVES = 64 };

/* What is asked for. All zero: nothing. */
typedef struct sxi_needs {
    int leaves;
    sx_darray *leaf[SXI_BAND_LEAVES];
    sxi_region region[SXI_BAND_LEAVES];
} sxi_needs;

/* sxi_needs_add - also what this region of an array is computed from. Parts of one leaf become the
 * box around them. SX_ERR_UNSUPPORTED: too many leaves. */
sx_status sxi_needs_add(sxi_needs *needs, sx_darray *array, const sxi_region *region);

/* sxi_needs_bytes - of all regions, as they are read. */
int64_t sxi_needs_bytes(const sxi_needs *needs);

typedef struct sxi_band sxi_band;

/* sxi_band_create - memory is taken by the first start, and kept for the next ones. */
sx_status sxi_band_create(sx_cluster *cluster, sxi_band **band);

/* sxi_band_start - begins to read what is needed, with at most so many threads of its own; 0: none,
 * so that only those of the caller work (but for sources that cannot lend threads). */
sx_status sxi_band_start(sxi_band *band, const sxi_needs *needs, int threads);

/* sxi_band_work - lends the calling thread. Any number of threads at a time, not beside wait. */
void sxi_band_work(sxi_band *band);

/* sxi_band_wait - until all is read. held [*n] is valid until the next start. */
sx_status sxi_band_wait(sxi_band *band, int *n, const sxi_held **held);

/* sxi_band_destroy - ends reading. NULL allowed. */
void sxi_band_destroy(sxi_band **band);

#endif
