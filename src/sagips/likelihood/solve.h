/* SPDX-License-Identifier: Apache-2.0
 * The solver of a likelihood, and what it did on the way. */
#ifndef SXI_LIKELIHOOD_SOLVE_H
#define SXI_LIKELIHOOD_SOLVE_H

#include "sagips/likelihood/likelihood.h"

enum { SXI_LIKELIHOOD_ITERATIONS = 200 };

/* After each iteration, of the last start. */
typedef struct sxi_history {
    int count;
    double value[SXI_LIKELIHOOD_ITERATIONS + 1];
    double distance[SXI_LIKELIHOOD_ITERATIONS + 1];
    double parameters[(SXI_LIKELIHOOD_ITERATIONS + 1) * SX_THEORY_PARAMETERS]; /* [count][P] */
} sxi_history;

/* sxi_likelihood_solve - the solution for the events of a source. history: NULL allowed. As
 * sx_sagips_likelihood. */
sx_status sxi_likelihood_solve(const sxi_event_source *source, bool use_norms,
                               const sx_context *context, sx_solution *solution,
                               sxi_history *history);

#endif
