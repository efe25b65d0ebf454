/* SPDX-License-Identifier: Apache-2.0
 * Start values of damped cosines in many traces at once, by Fourier transforms.
 *
 * The transform of a trace times exp(-g x) holds its products with all filters of decay g, so a few
 * transforms do what sxi_dcos_bank_search does with as many products as there are filters. Traces
 * of a call share delays and weights. Theory: docs/theory/dcos.md. */
#ifndef SXI_DCOS_SPECTRUM_H
#define SXI_DCOS_SPECTRUM_H

#include <stdbool.h>
#include <stdint.h>

#include "numer/dcos.h"

/* What sums over the transformed grid lack to those over the true delays, where traces were spread
 * from these to the grid:
 *
 *   sum_true w r exp(-(g + 2 pi i f) x) = factor sum_grid y exp(-(g + 2 pi i f) x)
 *
 * out  factor  real and imaginary part */
typedef void (*sxi_dcos_spectrum_factor_fn)(const void *data, double decay, double frequency,
                                            double factor[2]);

typedef struct sxi_dcos_spectrum_grid {
    int64_t samples; /* of the even grid that is transformed, at least 2: x = first + i step */
    double first, step;
    int64_t delays;                         /* true ones; 0: the grid itself, all weights 1 */
    const double *x;                        /* [delays] */
    const double *weight;                   /* [delays] squares of dcos.h's s; NULL: 1 */
    double frequency_least, frequency_most; /* cycles; at most 0.5 / step is searched */
    double decay_most;   /* e-foldings, of what is fitted from the seeds; 0: some 100 */
    double decay_served; /* e-foldings, beyond which sums over what is spread are wrong; 0: none */
    bool centred;        /* a constant is fitted along */
    bool own_weights;    /* sxi_dcos_spectrum_search_own will be called, too: of the grid itself */
    sxi_dcos_spectrum_factor_fn factor; /* NULL: 1 */
    const void *data;                   /* handed to factor */
} sxi_dcos_spectrum_grid;

/* Tables. Read-only after creation, shared by threads; the grid's arrays are not kept. */
typedef struct sxi_dcos_spectrum sxi_dcos_spectrum;

/* SX_ERR_MEMORY. */
sx_status sxi_dcos_spectrum_create(const sxi_dcos_spectrum_grid *grid,
                                   sxi_dcos_spectrum **spectrum);
void sxi_dcos_spectrum_destroy(sxi_dcos_spectrum **spectrum);

/* Scratch of one thread: about 64 bytes times 4 samples, rounded up. */
typedef struct sxi_dcos_spectrum_work sxi_dcos_spectrum_work;

/* SX_ERR_MEMORY. */
sx_status sxi_dcos_spectrum_work_create(const sxi_dcos_spectrum *spectrum,
                                        sxi_dcos_spectrum_work **work);
void sxi_dcos_spectrum_work_destroy(sxi_dcos_spectrum_work **work);

/* sxi_dcos_spectrum_search - the peaks of the gain over frequency, best first: the best, and those
 * whose gain is at least keep times the best less chance variances. Where more than
 * SXI_DCOS_CANDIDATES do, as in noise, a few of the lower may stand in for higher ones.
 *
 * in   count     any number of traces
 * in   trace     [count]  each [samples], weight times residual, finite; with `centred` it must sum
 *                to 0
 * in   variance  [count]  of a sample of weight 1
 * in   least     [count]  lower peaks may be left out; NULL: none are
 * out  seed      [count][SXI_DCOS_CANDIDATES]  gain 0: none
 *
 * Gains are those of the best damped cosine nearby within about 5 %, on uneven delays, where few
 * samples make a short tone, within 20 %. The seeds of a trace do not depend on the other
 * traces. */
void sxi_dcos_spectrum_search(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                              int64_t count, const float *const *trace, const float *variance,
                              const float *least, double keep, double chance,
                              sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]);

/* sxi_dcos_spectrum_search_own - the same where every trace has its own weights, 0 for what is
 * missing: three transforms a decay instead of one. Needs a grid with own_weights, no delays and no
 * factor.
 *
 * in   weight  [count]  each [samples], at least 0, finite */
void sxi_dcos_spectrum_search_own(const sxi_dcos_spectrum *spectrum, sxi_dcos_spectrum_work *work,
                                  int64_t count, const float *const *trace,
                                  const float *const *weight, const float *variance,
                                  const float *least, double keep, double chance,
                                  sxi_dcos_seed (*seed)[SXI_DCOS_CANDIDATES]);

#endif
