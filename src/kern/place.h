/* SPDX-License-Identifier: Apache-2.0
 * Copies a box of values from one memory layout to another, converting the type on the way. */
#ifndef SXI_PLACE_H
#define SXI_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>

enum { SXI_PLACE_RANK = SX_MAX_RANK + 1 };

/* A type of stored values: one of ours, perhaps in the other byte order, or half precision, or bytes
 * that only move. */
typedef struct sxi_place_type {
    enum { SXI_PLACE_NUMBER, SXI_PLACE_HALF, SXI_PLACE_BYTES } kind;
    sx_dtype dtype; /* of a NUMBER */
    bool swapped;   /* NUMBER, HALF: byte order is not the machine's */
    int64_t bytes;  /* of one element, any kind */
} sxi_place_type;

/* rank 0 is one value. Strides are bytes, of any sign; a source stride of 0 repeats a value. Source
 * and target do not overlap; neither need be aligned. */
typedef struct sxi_place_box {
    int rank;
    int64_t count[SXI_PLACE_RANK];
    int64_t source_stride[SXI_PLACE_RANK];
    int64_t target_stride[SXI_PLACE_RANK];
} sxi_place_box;

/* sxi_place_known - whether the conversion is done here: equal types; NUMBER and HALF to floats;
 * integers to integers (clamped, as HDF5 does). Not: floats to integers, BYTES to anything but equal
 * BYTES. The target is never swapped and never HALF. */
bool sxi_place_known(const sxi_place_type *source, const sxi_place_type *target);

/* sxi_place - bit for bit what HDF5's own conversion gives (round to nearest even; NaN stays NaN).
 * Fast where the innermost axis of both sides is the same, and where it is not (a transposition is
 * done block by block, whole cache lines of the target at a time). Threads: yes. */
void sxi_place(const sxi_place_box *box, const void *source, const sxi_place_type *source_type,
               void *target, const sxi_place_type *target_type);

#endif
