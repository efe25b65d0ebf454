/* SPDX-License-Identifier: Apache-2.0
 * Shots of a pump-probe run to a cube: a reducer takes one detector frame after another, with the
 * intensity of its pulse and its delay, and keeps sums. Its memory does not grow with the number of
 * shots. Theory: docs/theory/reduce.md. */
#ifndef SEXTANT_REDUCE_H
#define SEXTANT_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>
#include <sextant/context.h>
#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_reducer sx_reducer;

/* Laser-off shots do not depend on the delay. */
typedef enum sx_reduce_off {
    SX_REDUCE_OFF_POOLED, /* all of them make one image: least noise */
    SX_REDUCE_OFF_BINNED  /* the caller gives each the delay of a laser-on shot near it in time, and
                             every bin is compared with its own: slow drifts cancel */
} sx_reduce_off;

typedef struct sx_reducer_options {
    int rank; /* 1..4, of a frame */
    int64_t shape[SX_MAX_RANK];
    int64_t bins;        /* of the delay, at least 1 */
    const double *edges; /* [bins + 1] ps, increasing: edges[b] <= delay < edges[b + 1]; copied */
    const uint8_t *mask; /* [pixels] 0 good; NULL: all are; copied */
    sx_reduce_off off;
    /* Powers of two, with which pixel values and I0 are measured before they become integers; 0: 1.
     * Fit for pixels up to 2^18 (ADU, keV, photons) and I0 of 1/4 to 2^16; give the size of a
     * typical value else. Sums merge exactly where both are equal. */
    double scale, i0_scale;
} sx_reducer_options;

typedef struct sx_shot {
    double i0;       /* intensity of the pulse; any unit */
    double delay_ps; /* not used of a laser-off shot whose image is pooled */
    bool on;         /* the laser was there */
} sx_shot;

/* sx_reducer_create - SX_ERR_ARGUMENT, SX_ERR_SHAPE, SX_ERR_MEMORY; *reducer is NULL on failure. */
SX_API sx_status sx_reducer_create(const sx_reducer_options *options, sx_reducer **reducer);

/* sx_reducer_destroy - NULL allowed. */
SX_API void sx_reducer_destroy(sx_reducer **reducer);

/* sx_reducer_add - adds one shot.
 *
 * in  frame     of the shape of the reducer, any type. NaN: that pixel has no value in this shot
 *
 * A shot outside the edges, or whose i0 or delay is not finite, is counted and left out.
 * SX_ERR_SHAPE. SX_ERR_RANGE: a value too large for the scale, or a sum that would overflow; nothing
 * was added. Threads: no. */
SX_API sx_status sx_reducer_add(sx_reducer *reducer, const sx_array *frame, double i0,
                                double delay_ps, bool on);

/* sx_reducer_add_many - the same for frames [n, shape of the reducer] in C order, on all threads of
 * the context. The sums do not depend on the order of the shots, on how they are divided among
 * calls, or on threads. */
SX_API sx_status sx_reducer_add_many(sx_reducer *reducer, const sx_array *frames,
                                     const sx_shot *shots, const sx_context *context);

/* sx_reducer_merge - adds the sums of another reducer with the same shape, edges, kind of off and
 * scales (SX_ERR_SHAPE otherwise): bit for bit as if its shots had been added here. A pixel is good
 * where it is good in both. SX_ERR_RANGE: overflow; nothing was added. */
SX_API sx_status sx_reducer_merge(sx_reducer *reducer, const sx_reducer *other);

/* Where the noise of a shot is learnt. */
typedef enum sx_reduce_sigma {
    SX_REDUCE_SIGMA_POOLED, /* from all bins of a pixel: steady where bins hold few shots */
    SX_REDUCE_SIGMA_BIN     /* from the bin itself: right where the pump changes the noise itself */
} sx_reduce_sigma;

/* All zero, or NULL: defaults. */
typedef struct sx_cube_options {
    double i0_offset;   /* what the monitor reads without beam */
    bool fit_i0_offset; /* find it: where the line of frame total against I0 meets zero */
    sx_reduce_sigma sigma;
} sx_cube_options;

/* The cube of the shots so far; to be destroyed. All zero is an empty one. */
typedef struct sx_cube {
    sx_array signal;    /* F32 [bins, shape]  on / off - 1; NaN: unknown */
    sx_array sigma;     /* F32 [bins, shape]  1 sigma of signal. Of the pooled off image nothing */
    sx_array delay;     /* F64 [bins]  ps, mean of the shots; middle of a bin without */
    sx_array count;     /* I64 [bins]  laser-on shots */
    sx_array off_mean;  /* F32 [shape]  laser-off image per shot */
    sx_array off_error; /* F32 [shape]  1 sigma of it */
    sx_array mask;      /* U8  [shape]  0 good */
    double i0_offset;   /* that was used */
} sx_cube;

/* sx_reducer_cube - SX_ERR_MISSING (no laser-off shot), SX_ERR_NUMERIC (the offset cannot be found),
 * SX_ERR_MEMORY. *cube is empty on failure. */
SX_API sx_status sx_reducer_cube(const sx_reducer *reducer, const sx_cube_options *options,
                                 sx_cube *cube);
SX_API void sx_cube_destroy(sx_cube *cube);

/* What has been added. */
typedef struct sx_reducer_counts {
    int64_t on, off;   /* shots in the sums */
    int64_t outside;   /* laser-on shots beyond the edges */
    int64_t not_known; /* I0 or delay not finite */
    int64_t missing;   /* values that were NaN, of pixels that are good */
} sx_reducer_counts;

SX_API sx_reducer_counts sx_reducer_count(const sx_reducer *reducer);

/* sx_reducer_save - writes cube.h5 with its sums, which sx_reducer_load takes up again. The errors
 * of sx_reducer_cube, SX_ERR_EXISTS, SX_ERR_IO. */
SX_API sx_status sx_reducer_save(const sx_reducer *reducer, const sx_cube_options *options,
                                 const char *path, bool overwrite, const sx_context *context);

/* sx_reducer_load - the reducer that wrote a cube.h5. SX_ERR_MISSING (a cube without sums),
 * SX_ERR_FORMAT, SX_ERR_SHAPE, SX_ERR_IO. */
SX_API sx_status sx_reducer_load(const char *path, const sx_context *context, sx_reducer **reducer);

#ifdef __cplusplus
}
#endif
#endif
