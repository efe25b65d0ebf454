/* SPDX-License-Identifier: Apache-2.0
 * What the kernels need to fit traces that share delays and weights, where delays are uneven or
 * weights differ. Theory: docs/theory/dcos.md. */
#ifndef SXI_DCOS_SHARED_H
#define SXI_DCOS_SHARED_H

#include "kern/dcos_kernels.h"
#include "numer/dcos.h"

/* sxi_dcos_shared_create - the even grid, how traces are spread to it, and the table of sums.
 *
 * in   grid    delays and box of the parameters
 * in   weight  [grid->n]  of the samples, 0: missing; NULL: all 1
 * out  shared  NULL where it would not pay: the grid would have more than 8 points a delay, or the
 *              table more than 32 MB
 *
 * It serves frequencies up to grid->frequency_bound. Decays are served up to shared->decay_most, a
 * quarter of an e-folding a step of the even grid: beyond, sums of y would be wrong by more than 1e-8
 * of sum |w y|, below they are good to 1e-10 for decays up to half of it.
 * SX_ERR_MEMORY. */
sx_status sxi_dcos_shared_create(const sxi_dcos_grid *grid, const double *weight,
                                 sxi_dcos_shared **shared);
void sxi_dcos_shared_destroy(sxi_dcos_shared **shared);

/* sxi_dcos_shared_factor - sum w y exp(-(g + 2 pi i f) x) over the delays divided by the same sum of
 * the spread trace over the grid. For imaginary frequencies of both signs; shared is a const
 * sxi_dcos_shared. */
void sxi_dcos_shared_factor(const void *shared, double decay, double frequency, double factor[2]);

#endif
