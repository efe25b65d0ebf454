/* SPDX-License-Identifier: Apache-2.0
 * Inside of the fast way: what a call works on, and the stages it sends a block of traces through. */
#ifndef SXI_DCOS_TILE_H
#define SXI_DCOS_TILE_H

#include "numer/dcos_fast.h"

/* Traces that go through a stage together: at most SXI_DCOS_BLOCK, fewer where they are long. */
enum { SXI_DCOS_BLOCK = 256, LEAST_BLOCK = SXI_BUNDLE, BLOCK_SAMPLES = 1 << 20 };

/* Scratch of one call, used again by the next; arrays are of `block` traces. */
typedef struct sxi_dcos_tile {
    struct sxi_dcos_tile *next; /* of those that wait to be used again */
    const sx_dcos_plan *plan;
    int block; /* traces that go together */
    bool absolute;
    sxi_dcos_way way;
    sxi_dcos_lanes *lanes;
    sxi_dcos_spectrum_work *spectrum;
    sxi_dcos_pixel *pixel; /* [block] */
    sxi_dcos_job *job;     /* [SXI_DCOS_BLOCK * SXI_DCOS_CANDIDATES] */
    sxi_dcos_pixel **list; /* [block] */
    sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES];
    float *residual;      /* [block][n] */
    float *weight;        /* [block][n], OWN on even delays */
    float *residual_grid; /* [block][room] of them spread, SHARED */
    double *grid;         /* [block][room] traces spread, SHARED */
    double *s;            /* [block][padded]  OWN: roots of weights; SHARED: traces */
    double *scratch;      /* [2][padded] */
    double *filtered;     /* [SXI_BANK_WIDTH][padded], without a transform */
} sxi_dcos_tile;

/* sxi_dcos_tile_take - scratch for a call: calls come one after the other with the same plan, and memory that
 * is new to the process is dear. SX_ERR_MEMORY. sxi_dcos_tile_give - back.
 * sxi_dcos_tile_destroy - for good. */
sx_status sxi_dcos_tile_take(const sx_dcos_plan *plan, sxi_dcos_tile **taken);
void sxi_dcos_tile_give(sxi_dcos_tile *t);
void sxi_dcos_tile_destroy(sxi_dcos_tile **made);

/* sxi_dcos_peaks - start values for one mode more.
 *
 * in   list, residual  [count]  traces and what their models leave, times the weights
 *      growing         peaks that would not count as a mode more may be left out
 * out  seed            [count] */
void sxi_dcos_peaks(sxi_dcos_tile *t, int64_t count, bool growing);

/* sxi_dcos_peak_keeps - the part that a peak of the spectrum has of the gain of the best mode near it, at
 * least. Beside other modes, which are refitted with it, it is no better than a filter. */
double sxi_dcos_peak_keeps(const sxi_dcos_fast *fast, int beside);

/* sxi_dcos_block_run - finds the modes of the pixels of a block and fills their fits; what is in doubt
 * is marked. */
void sxi_dcos_block_run(sxi_dcos_tile *t, int64_t pixels);

/* sxi_dcos_look_again - looks for better minima near answers that are hardly known. pixel->finished is
 * -1 where there was one, which has no errors yet. */
void sxi_dcos_look_again(sxi_dcos_tile *t, int64_t pixels);

#endif
