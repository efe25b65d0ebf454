/* SPDX-License-Identifier: Apache-2.0
 * The arithmetic of regular selections, which tie a virtual dataset to its sources. No HDF5 calls. */
#ifndef SXI_H5_MAPPING_H
#define SXI_H5_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>

/* A length without end, with room to add to. */
#define SXI_H5_ENDLESS (INT64_MAX / 4)

/* A selection along one axis: element k lies at start + (k / block) * stride + k % block. */
typedef struct sxi_h5_axis {
    int64_t start, stride, block;
    int64_t length; /* elements; SXI_H5_ENDLESS: as far as the dataset goes */
} sxi_h5_axis;

typedef struct sxi_h5_selection {
    int rank;
    sxi_h5_axis axis[SX_MAX_RANK];
} sxi_h5_selection;

/* Two axes of which element k of one is element k of the other; -1 where a side has no such axis
 * (it selects one element of an axis that the other has not got). */
typedef struct sxi_h5_pair {
    int target, source;
} sxi_h5_pair;

/* A box. */
typedef struct sxi_h5_range {
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK];
} sxi_h5_range;

/* sxi_h5_rest - what is left of a box once n others are taken from it, as boxes that do not meet.
 *
 * out  rest  [most]
 *
 * returns their number; -1 where more than most would be needed on the way */
int64_t sxi_h5_rest(int rank, const sxi_h5_range *whole, int64_t n, const sxi_h5_range *taken,
                    int64_t most, sxi_h5_range *rest);

/* sxi_h5_elements - of a shape; at most SXI_H5_ENDLESS, whatever a damaged file says. */
int64_t sxi_h5_elements(int rank, const int64_t *shape);

/* sxi_h5_axis_of - count blocks; count or block may be SXI_H5_ENDLESS. Blocks that touch become
 * one. */
sxi_h5_axis sxi_h5_axis_of(int64_t start, int64_t stride, int64_t count, int64_t block);

/* sxi_h5_axis_at - where element k lies. sxi_h5_axis_below - how many elements lie below at. */
int64_t sxi_h5_axis_at(const sxi_h5_axis *axis, int64_t k);
int64_t sxi_h5_axis_below(const sxi_h5_axis *axis, int64_t at);

/* sxi_h5_axes_meet - false where no element of both lies at the same place. (Where strides differ
 * it may be true of axes that do not meet.) */
bool sxi_h5_axes_meet(const sxi_h5_axis *a, const sxi_h5_axis *b);

/* sxi_h5_pair_axes - ties the axes of two selections of equal size to each other, in order, once
 * those of one element are left out.
 *
 * out  pair  [2 * SX_MAX_RANK]
 *
 * returns the number of pairs; -1 where the shapes are not the same */
int sxi_h5_pair_axes(const sxi_h5_selection *target, const sxi_h5_selection *source,
                     sxi_h5_pair *pair);

/* sxi_h5_run_end - the end of the longest run that begins at element k and ends at most at end:
 * contiguous in the source, evenly spaced in the target. */
int64_t sxi_h5_run_end(const sxi_h5_axis *target, const sxi_h5_axis *source, int64_t k,
                       int64_t end);

/* sxi_h5_runs - how many runs there are from element k to end; at most `most` are counted. */
int64_t sxi_h5_runs(const sxi_h5_axis *target, const sxi_h5_axis *source, int64_t k, int64_t end,
                    int64_t most);

#endif
