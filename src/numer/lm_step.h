/* SPDX-License-Identifier: Apache-2.0
 * The step of a trust region, for a linear model that is already a triangle. */
#ifndef SXI_LM_STEP_H
#define SXI_LM_STEP_H

/* sxi_lm_step - minimises |R z + q| over |z| <= radius, the length met within a tenth.
 *
 * in      n, r [n][n] upper triangle with pivoted columns, q [n]
 * in      rank     rows of R that are not zero; with rank < n the undamped step is the basic one
 * in      radius   > 0, INFINITY for the undamped step
 * in,out  damping  >= 0: first guess, then the multiplier of |z|^2 that was used; 0: undamped
 * out     z        [n]
 * work             [n][n] + 3 [n]
 *
 * Source: More 1978, section 5. */
void sxi_lm_step(int n, const double *r, const double *q, int rank, double radius, double *damping,
                 double *z, double *work);

#endif
