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

#endif
