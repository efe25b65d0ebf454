/* SPDX-License-Identifier: Apache-2.0
 * What the files of the reducer share. Theory: docs/theory/reduce.md. */
#ifndef SXI_XANI_REDUCER_H
#define SXI_XANI_REDUCER_H

#include <sextant/reduce.h>

#include "io/hdf5/h5file.h"

/* Sums are whole numbers of these quanta, of values over scale and i0_scale. A square of 2^18 may
 * come 2^15 times before a sum is full. */
#define SXI_QUANTUM_X 0x1p-16  /* sum of x */
#define SXI_QUANTUM_2 0x1p-12  /* sums of x^2, of x i0, of i0^2 */
#define SXI_QUANTUM_I0 0x1p-20 /* sum of i0 */
#define SXI_QUANTUM_T 0x1p-24  /* sum of delays, ps */

/* Sums of a pixel, and what a shot in which it has no value takes away from those of the slot. */
enum { SXI_X, SXI_XX, SXI_XI, SXI_SUMS };
enum { SXI_LOST_N, SXI_LOST_I, SXI_LOST_II, SXI_LOST };

/* Shots that are added up together: a bin of laser-on shots, or laser-off ones. */
typedef struct sxi_slot {
    int64_t n, i, ii, t;     /* shots; sums of i0, i0^2, delay */
    int64_t *sum[SXI_SUMS];  /* [pixels] */
    int64_t *lost[SXI_LOST]; /* [pixels] or NULL: no pixel was ever without value */
    double bound[SXI_SUMS];  /* no |sum| is larger */
} sxi_slot;

struct sx_reducer {
    int rank;
    int64_t shape[SX_MAX_RANK], pixels, bins, slots;
    double *edges; /* [bins + 1] */
    uint8_t *mask; /* [pixels] */
    sx_reduce_off off;
    double scale, i0_scale;
    sxi_slot *slot;  /* [slots] the bins, then laser off: one, or one for each bin */
    int64_t *memory; /* of the sums of all slots */
    int64_t outside, not_known, missing;
};

/* sxi_reducer_slot - where a shot goes; -1: nowhere. */
int64_t sxi_reducer_slot(const sx_reducer *reducer, const sx_shot *shot);

/* sxi_slot_lose - makes room for values that are missing. */
sx_status sxi_slot_lose(const sx_reducer *reducer, sxi_slot *slot);

/* sxi_slot_room - whether `more` may be added to the sums of a slot without overflow; takes it into
 * the bounds if so, which are measured anew first if need be. */
bool sxi_slot_room(const sx_reducer *reducer, sxi_slot *slot, const double more[SXI_SUMS]);

/* sxi_add_checked - *to += more; false where that overflows. */
bool sxi_add_checked(int64_t *to, int64_t more);

/* sxi_reducer_add_at - sx_reducer_add_many of frames that lie anywhere, each in C order; dtype F32, F64
 * or U16. */
sx_status sxi_reducer_add_at(sx_reducer *reducer, sx_dtype dtype, int64_t count,
                             const void *const *frames, const sx_shot *shots,
                             const sx_context *context);

/* --- the formulas (reducer_cube.c) --- */

/* What is needed of the whole run before a bin can be worked out. */
typedef struct sxi_reduction {
    const sx_reducer *reducer;
    double offset; /* of I0 */
    sx_reduce_sigma sigma;
    double *variance; /* [pixels] of a shot, from all bins; NULL with SX_REDUCE_SIGMA_BIN */
} sxi_reduction;

sx_status sxi_reduction_open(const sx_reducer *reducer, const sx_cube_options *options,
                             sxi_reduction *reduction);
void sxi_reduction_close(sxi_reduction *reduction);

/* sxi_reduction_bin - signal and sigma of a bin, [pixels] each. sxi_reduction_off - the pooled image,
 * its error, and the mask. sxi_reduction_delay - mean delay of a bin. */
void sxi_reduction_bin(const sxi_reduction *reduction, int64_t bin, float *signal, float *sigma);
void sxi_reduction_off(const sxi_reduction *reduction, float *mean, float *error, uint8_t *mask);
double sxi_reduction_delay(const sxi_reduction *reduction, int64_t bin);

/* --- files (reducer_file.c) --- */

/* sxi_reducer_write - /cube and its sums, all but the provenance. */
sx_status sxi_reducer_write(const sx_reducer *reducer, const sx_cube_options *options,
                            sxi_h5_writer *writer, const sx_context *context);

/* sxi_reducer_read - the reducer of an open cube.h5. */
sx_status sxi_reducer_read(sx_hdf5 *file, sx_reducer **reducer);

#endif
