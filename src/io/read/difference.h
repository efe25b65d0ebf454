/* SPDX-License-Identifier: Apache-2.0
 * The first value in which two arrays differ, for a sentence. */
#ifndef SXI_DIFFERENCE_H
#define SXI_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include <sextant/array.h>

/* sxi_difference - the bits of the count values of an array and of another. element: bytes of one;
 * numeric: of type dtype.
 *
 * returns        index of the first that differs, or -1
 * out  a, b      [size] the two values as text */
enum { SXI_DIFFERENCE = 64 };
int64_t sxi_difference(const void *one, const void *other, int64_t count, int64_t element,
                       bool numeric, sx_dtype dtype, char a[SXI_DIFFERENCE],
                       char b[SXI_DIFFERENCE]);

#endif
