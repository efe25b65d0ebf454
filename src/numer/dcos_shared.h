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
 * It serves frequencies up to grid->frequency_bound and decays up to shared->decay_most, a quarter of
 * an e-folding a step of the even grid: sums of y are good to 4e-11 of sum |w y| for decays up to a
 * tenth of that, to 1e-8 at it. A fit that ends there may belong further out.
 *
 * Traces are spread less their weighted mean, and their bundle has yy = sum w y^2, total = sum w.
 * SX_ERR_MEMORY. */
sx_status sxi_dcos_shared_create(const sxi_dcos_grid *grid, const double *weight,
                                 sxi_dcos_shared **shared);
void sxi_dcos_shared_destroy(sxi_dcos_shared **shared);

/* sxi_dcos_shared_factor - sum w y exp(-(g + 2 pi i f) x) over the delays divided by the same sum of
 * the spread trace over the grid: a sxi_dcos_spectrum_factor_fn whose data is the shared. */
void sxi_dcos_shared_factor(const void *shared, double decay, double frequency, double factor[2]);

#endif
