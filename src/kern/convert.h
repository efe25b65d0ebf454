/* SPDX-License-Identifier: Apache-2.0
 * Rows of values from one type to another, bit for bit as HDF5 converts them. One exception:
 * where a double in foreign byte order rounds up to the next power of two, HDF5 1.10 loses the carry
 * and gives half of it (255.9999999 becomes 128); here it is rounded right. */
#ifndef SXI_CONVERT_H
#define SXI_CONVERT_H

#include "kern/place.h"

/* n values without gaps; source and target do not overlap, neither need be aligned. */
typedef void (*sxi_convert_fn)(int64_t n, const void *source, void *target);

/* How values of one type become values of another: put in the machine's byte order, then converted.
 * Both NULL: they are copied. */
typedef struct sxi_convert {
    sxi_convert_fn order;
    sxi_convert_fn value;
    int64_t source_bytes; /* of one element */
    int64_t target_bytes;
} sxi_convert;

/* sxi_convert_find - false where it is not known here (sxi_place_known). */
bool sxi_convert_find(const sxi_place_type *source, const sxi_place_type *target,
                      sxi_convert *convert);

/* sxi_convert_row - converts n values without gaps. */
void sxi_convert_row(const sxi_convert *convert, int64_t n, const void *source, void *target);

#endif
