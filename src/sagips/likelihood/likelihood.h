/* SPDX-License-Identifier: Apache-2.0
 * The likelihood of events under a theory, as a function of its parameters. Theory:
 * docs/theory/likelihood.md. */
#ifndef SXI_LIKELIHOOD_H
#define SXI_LIKELIHOOD_H

#include "sagips/events/source.h"
#include "sagips/theory/theory.h"

typedef struct sxi_likelihood {
    const sxi_event_source *source;
    const sx_context *context;
    bool use_norms; /* extended: the norms of the source are data, too */
    int64_t events; /* of the source, the first so many */
    sxi_quadrature quadrature[SX_THEORY_CHANNELS];
    float *shard;                        /* events read at a time */
    double *block;                       /* sums of the blocks of a shard */
    int64_t outside[SX_THEORY_CHANNELS]; /* of events: not in the box, or not a number */
} sxi_likelihood;

/* sxi_likelihood_create - of the first events of a source (0: all), which must outlive it. Counts
 * what lies outside. SX_ERR_MISSING where norms are wanted and the source has none. SX_ERR_MEMORY. */
sx_status sxi_likelihood_create(const sxi_event_source *source, bool use_norms, int64_t events,
                                const sx_context *context, sxi_likelihood *likelihood);
void sxi_likelihood_destroy(sxi_likelihood *likelihood);

/* sxi_likelihood_value - minus the logarithm of the likelihood.
 *
 * in   q      [P] normalised
 * out  value  infinite where an event has the density zero
 * out  slope  [P] its derivatives by q
 *
 * The bits do not depend on the number of threads. SX_ERR_NUMERIC, SX_ERR_IO, SX_ERR_CANCELLED. */
sx_status sxi_likelihood_value(sxi_likelihood *likelihood, const double *q, double *value,
                               double *slope);

/* sxi_likelihood_information - the Fisher matrix expected at q, by integration.
 * out  information  [P][P] */
sx_status sxi_likelihood_information(const sxi_likelihood *likelihood, const double *q,
                                     double *information);

/* sxi_theory_physical - parameters in their units. */
void sxi_theory_physical(const sx_theory *theory, const double *q, double *p);

#endif
