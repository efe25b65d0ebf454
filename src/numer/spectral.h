/* SPDX-License-Identifier: Apache-2.0
 * Poles of a uniformly sampled real trace: start values for damped cosines.
 *
 *   y_k = sum_j c_j z_j^k,   z_j = exp(-decay_j + 2 pi i frequency_j),   k = 0 .. n - 1
 *
 * A real trace has its complex poles in pairs; a constant is the pole 1. Spacing is 1: divide decay
 * and frequency by the sampling interval. */
#ifndef SXI_SPECTRAL_H
#define SXI_SPECTRAL_H

#include <stdint.h>

#include <sextant/status.h>

/* Most poles that can be asked for. */
#define SXI_SPECTRAL_MAX_ORDER 32

/* sxi_esprit - poles from the rotation of the signal subspace.
 * sxi_lpsvd - poles from backward linear prediction with a truncated singular value decomposition.
 *
 * in   n          samples, at least 8
 * in   y          [n]
 * in   order      poles to look for, 1 .. SXI_SPECTRAL_MAX_ORDER: two per mode, one more where
 *                 there is a constant. Short or exact traces give fewer
 * out  decay      [order / 2]  per sample; negative for what grows
 * out  frequency  [order / 2]  cycles per sample, in (0, 0.5), increasing
 * out  count      pairs found. 0 without an error where the trace has none: constant, zero, or with
 *                 a sample that is not finite
 *
 * Poles on the real axis (constants, relaxations) are looked for but not reported. Long traces are
 * taken through windows of at most 128 samples (lpsvd: 96): the cost grows with the cube of the
 * window, the loss is resolution, which a fit that starts here regains. lpsvd finds what decays; a
 * mode that grows is usually missed.
 *
 * SX_ERR_ARGUMENT, SX_ERR_MEMORY, SX_ERR_NUMERIC (an eigenvalue did not converge).
 * Threads: yes; equal input gives equal bits. Theory: docs/theory/spectral.md. */
sx_status sxi_esprit(int64_t n, const double *y, int order, double *decay, double *frequency,
                     int *count);
sx_status sxi_lpsvd(int64_t n, const double *y, int order, double *decay, double *frequency,
                    int *count);

#endif
