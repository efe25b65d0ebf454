/* SPDX-License-Identifier: Apache-2.0
 * What the search by spectra knows before it sees a trace. */
#ifndef SXI_DCOS_SPECTRUM_TABLE_H
#define SXI_DCOS_SPECTRUM_TABLE_H

#include "kern/spectrum.h"
#include "numer/dcos_spectrum.h"

enum { SXI_SPECTRUM_LEVELS = 7, SXI_SPECTRUM_STEPS = 64 };

/* Filters of one decay. */
typedef struct sxi_spectrum_level {
    double decay;
    int64_t ratio;     /* bins of the finest level to one of this: 1, 2, 4 ... */
    int halved;        /* ratio = 1 << halved */
    int64_t top;       /* last bin */
    int64_t low, high; /* bins that are searched, a neighbour or the end beyond */
    int64_t samples;   /* that a filter reaches, even: one of weight 0 may be behind the last */
    float *weight;     /* [samples] exp(-decay x) */
    float *square;     /* [samples] exp(-2 decay x) */
    float *form;       /* [top + 1][3] */
    sxi_spectrum_plan plan;
} sxi_spectrum_level;

/* Between a level and the next: decay and best gain, as functions of the share
 * next / (own + next) that their gains have of their sum. */
typedef struct sxi_spectrum_between {
    float least; /* share at no decay; the next ones are 1 / steps apart */
    float steps;
    float decay[SXI_SPECTRUM_STEPS + 2];
    float rise[SXI_SPECTRUM_STEPS + 2]; /* best gain over the sum */
} sxi_spectrum_between;

struct sxi_dcos_spectrum {
    const sxi_spectrum_kernels *kernels;
    int64_t samples;
    bool centred, own_weights;
    double step;         /* cycles between bins of level 0 */
    int64_t first, last; /* bins of level 0 that are searched */
    double frequency_least, frequency_most;
    int levels; /* at most SXI_SPECTRUM_LEVELS */
    sxi_spectrum_level level[SXI_SPECTRUM_LEVELS];
    sxi_spectrum_between between[SXI_SPECTRUM_LEVELS - 1];
};

/* sxi_dcos_spectrum_forms - level->form of every bin, from the sums over the true delays.
 * SX_ERR_MEMORY. */
sx_status sxi_dcos_spectrum_forms(const sxi_dcos_spectrum_grid *grid, double step,
                                  sxi_spectrum_level *level);

/* sxi_dcos_spectrum_between - fills between from the decays of the levels. */
void sxi_dcos_spectrum_between(const sxi_dcos_spectrum_grid *grid, sxi_dcos_spectrum *spectrum);

#endif
