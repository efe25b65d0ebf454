/* SPDX-License-Identifier: Apache-2.0
 * Kernels of the batched Levenberg-Marquardt for bundles of traces, lanes = traces. Theory and
 * letters: docs/theory/lm.md. */
#ifndef SXI_LM_KERNELS_H
#define SXI_LM_KERNELS_H

#include <stdint.h>

#include "kern/lanes.h"
#include "kern/models/models.h"

enum {
    SXI_LM_MOST = SXI_MODEL_MOST_PARAMETERS,
    SXI_LM_TRIANGLE = SXI_LM_MOST * (SXI_LM_MOST + 1) / 2
};

/* A sum of squares, half its gradient J'r and the matrix J'J by rows of its lower triangle. */
typedef struct sxi_lm_point {
    double chi2[SXI_BUNDLE];
    double slope[SXI_LM_MOST][SXI_BUNDLE];
    double matrix[SXI_LM_TRIANGLE][SXI_BUNDLE];
} sxi_lm_point;

/* What all traces share. */
typedef struct sxi_lm_box {
    double lower[SXI_LM_MOST], upper[SXI_LM_MOST]; /* infinite where there is none */
    double tolerance; /* standard deviations from the minimum that are near enough */
} sxi_lm_box;

/* The traces of a bundle and where their minimisations stand. */
typedef struct sxi_lm_bundle {
    double b[SXI_LM_MOST][SXI_BUNDLE]; /* to be evaluated; at the end the minimum */
    sxi_lm_point point;                /* at b */
    double freedom[SXI_BUNDLE];        /* samples less parameters, at least 1 */
    double best[SXI_LM_MOST][SXI_BUNDLE];
    sxi_lm_point kept;                     /* at best */
    double scale[SXI_LM_MOST][SXI_BUNDLE]; /* largest square that each column of J ever had */
    double lambda[SXI_BUNDLE];
    double expected[SXI_BUNDLE]; /* what chi2 should lose from best to b */
    double evaluations[SXI_BUNDLE];
    uint32_t fresh;   /* lanes whose b is a start */
    uint32_t running; /* lanes that are not done */
    uint32_t failed;  /* lanes that are done without a minimum that could be trusted */
} sxi_lm_bundle;

/* Samples: x [n][inputs] shared, y and w [n][SXI_BUNDLE]; w, the inverse of sigma, is 0 where a
 * sample is missing and y then finite. */
typedef void (*sxi_lm_sums_fn)(int64_t n, const double *x, const double *y, const double *w,
                               sxi_lm_bundle *bundle);

/* Takes the point at b, keeps it if it is better, and sets b to the next; what is within tolerance
 * of its minimum, or will not get there, leaves running. */
typedef void (*sxi_lm_step_fn)(const sxi_lm_box *box, sxi_lm_bundle *bundle);

/* One instruction set. */
typedef struct sxi_lm_kernels {
    const char *name;                /* "c", "avx2", "avx512" */
    sxi_lm_sums_fn sums[SXI_MODELS]; /* fill the point of running lanes; of others too, maybe */
    sxi_lm_step_fn step[SXI_LM_MOST + 1]; /* by number of parameters */
} sxi_lm_kernels;

/* sxi_lm_kernels_variant - number 0 is plain C; NULL from the first number on that is none. What
 * this machine cannot run is left out, and later is faster. */
const sxi_lm_kernels *sxi_lm_kernels_variant(int number);

/* sxi_model_value - value of a model at one x [inputs], and its derivatives d [parameters]. */
double sxi_model_value(enum sxi_model model, const double *x, const double *b, double *d);

#endif
