/* SPDX-License-Identifier: Apache-2.0
 * Products of a bank of filters with a block of traces, lanes = traces. */
#ifndef SXI_BANK_KERNEL_H
#define SXI_BANK_KERNEL_H

#include <stdint.h>

enum { SXI_BANK_WIDTH = 16 }; /* traces of a block */

/* out[r][l] = sum_i row[r][i] block[i][l], i increasing: the sum of a trace does not depend on its
 * place.
 *
 * in   rows   any; n samples
 * in   row    [rows][n]
 * in   block  [n][SXI_BANK_WIDTH]
 * out  out    [rows][SXI_BANK_WIDTH] */
void sxi_bank_products(int64_t rows, int64_t n, const float *row, const float *block, float *out);

/* The sums of a weight that squares of filters have, formed as they go: for pairs of rows u, v
 *
 *   sum w u, sum w v, sum w u u, sum w u v, sum w v v
 *
 * in   pairs  any; n samples
 * in   row    [pairs][2][n]
 * in   block  [n][SXI_BANK_WIDTH]  weights
 * out  out    [pairs][5][SXI_BANK_WIDTH] */
void sxi_bank_squares(int64_t pairs, int64_t n, const float *row, const float *block, float *out);

/* How much a damped cosine lowers the sum of squares of each trace: with the matrix of its sums
 * about the mean, gain = [ru rv] [uu uv; uv vv]^-1 [ru; rv]. A filter too near to a constant, or
 * whose cosine and sine cannot be told apart, gains 0.
 *
 * in   signal  [2][SXI_BANK_WIDTH]  ru, rv: sums of weight residual times u and v
 * in   sums    [5][SXI_BANK_WIDTH]  sums of weight times u, v, uu, uv, vv
 * in   total   [SXI_BANK_WIDTH]     sum of weights; infinite: not about the mean
 * out  gain    [SXI_BANK_WIDTH] */
void sxi_bank_gain(const float *signal, const float *sums, const float *total, float *gain);

#endif
