/* SPDX-License-Identifier: Apache-2.0
 * Rows that become columns. */
#ifndef SXI_TRANSPOSE_H
#define SXI_TRANSPOSE_H

#include <stdint.h>

/* sxi_transpose - element c of row r of the source becomes element r of row c of the target:
 *
 *   target[c * target_stride + r * bytes] = source[r * source_stride + c * bytes]
 *
 * for values of 1, 2, 4 or 8 bytes. Strides are bytes of any sign. */
void sxi_transpose(int64_t bytes, int64_t rows, int64_t columns, const char *source,
                   int64_t source_stride, char *target, int64_t target_stride);

#endif
