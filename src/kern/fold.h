/* SPDX-License-Identifier: Apache-2.0
 * Sums of rows, side by side. */
#ifndef SXI_FOLD_H
#define SXI_FOLD_H

#include <stdint.h>

#include <sextant/array.h>

/* sxi_fold_rows - adds rows to sums, one after the other: ((sum + x_0) + x_1) + ... for each of n
 * columns, the same bits as a plain loop of doubles. Of integers of 8 and 16 bits sums are whole.
 *
 * in      rows       at most 64
 * in      x          [rows][n] of dtype, rows row_bytes apart
 * in out  sum        [n] */
void sxi_fold_rows(sx_dtype dtype, int64_t rows, int64_t n, const void *x, int64_t row_bytes,
                   double *sum);

#endif
