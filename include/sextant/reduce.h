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

/* --- from the files of a run --- */

typedef struct sx_reduce_window {
    bool given;
    double least, most; /* both allowed */
} sx_reduce_window;

/* An angle of the goniometer, written to /cube/NAME in degrees. */
typedef struct sx_reduce_angle {
    const char *name;
    const char *field; /* dataset of the run, in degrees, whose mean is taken; NULL: value */
    double value;
} sx_reduce_angle;

/* What frames hold: energy or counts; or what a detector read out, to be calibrated. */
typedef enum sx_reduce_raw {
    SX_REDUCE_RAW_NONE,
    SX_REDUCE_RAW_PLAIN,    /* one stage of gain, 16 bits */
    SX_REDUCE_RAW_JUNGFRAU, /* 14 bits, the stage in the two above */
    SX_REDUCE_RAW_EPIX10KA, /* 14 bits, the stage by the bit above and the configuration of the pixel */
    SX_REDUCE_RAW_EPIX100 /* one stage */
} sx_reduce_raw;

/* The median of what is taken off pixels in the first stage. */
typedef enum sx_reduce_common_mode {
    SX_REDUCE_COMMON_MODE_NONE,
    SX_REDUCE_COMMON_MODE_ROWS,    /* each row of a bank of the readout */
    SX_REDUCE_COMMON_MODE_COLUMNS, /* each column of a bank */
    SX_REDUCE_COMMON_MODE_BOTH,    /* rows, then columns */
    SX_REDUCE_COMMON_MODE_BANKS    /* a whole bank */
} sx_reduce_common_mode;

/* All zero: defaults. Fields are names of the facility (datasets of the files, SOURCE/key of European XFEL,
 * channels of SwissFEL), NAME[k] for one element; NULL: looked for under their usual names. */
typedef struct sx_xani_reduce_options {
    const char *detector, *i0, *delay, *laser, *xray;
    const char *time_tool, *time_tool_amplitude, *time_tool_width;
    const char
        *laser_pattern; /* instead of laser: "10" over the frames of a train or file, "11,00" over
                                  trains; 1 is on */
    bool no_time_tool;
    int time_tool_sign; /* delay = nominal + sign * time tool; 0: 1 */
    double delay_scale; /* ps per unit of the nominal delay, negative flips; 0: from the file */
    sx_reduce_window i0_window, time_tool_window, amplitude_window, width_window;
    /* Bins: edges, or bins of one width that begin at multiples of it, over the range or all delays. */
    const double *edges; /* [edge_count] ps */
    int64_t edge_count;
    double bin_width; /* ps */
    sx_reduce_window delay_range;
    sx_reduce_off off; /* binned: laser-off shots go with the laser-on shot nearest in time */
    sx_cube_options cube;
    const char *mask; /* FILE:/path of one frame, 0 is good */
    sx_reduce_raw raw;
    const char
        *calibration; /* FILE:/group with pedestal, gain, mask; NULL: UserDataCfg of the detector */
    sx_reduce_common_mode common_mode;
    double scale, i0_scale; /* 0: 1 for pixels, by the median for I0 */
    double photon_energy;   /* eV; 0: of ebeam/photon_energy where there is one */
    const sx_reduce_angle *angles;
    int angle_count;
    bool overwrite;
} sx_xani_reduce_options;

/* Why a shot was left out; the first that holds. X(name, words). */
#define SX_REDUCE_REASON_LIST(X)                                                                   \
    X(USED, "used")                                                                                \
    X(NO_XRAY, "no X-rays by their code")                                                          \
    X(BAD_FRAME, "bad frame by the detector")                                                      \
    X(NO_LASER_CODE, "no laser code")                                                              \
    X(NO_I0, "I0 not known")                                                                       \
    X(I0, "I0 outside its window")                                                                 \
    X(NO_DELAY, "delay not known")                                                                 \
    X(NO_TIME_TOOL, "time tool not known")                                                         \
    X(TIME_TOOL, "time tool outside its window")                                                   \
    X(AMPLITUDE, "amplitude of the time tool outside its window")                                  \
    X(WIDTH, "width of the time tool outside its window")                                          \
    X(OUTSIDE, "delay outside the bins")                                                           \
    X(NO_PARTNER, "laser-off shot without a laser-on one")

typedef enum sx_reduce_reason {
#define SX_REDUCE_REASON_ENUM(name, words) SX_REDUCE_##name,
    SX_REDUCE_REASON_LIST(SX_REDUCE_REASON_ENUM)
#undef SX_REDUCE_REASON_ENUM
        SX_REDUCE_REASONS
} sx_reduce_reason;

enum { SX_REDUCE_WARNINGS = 4 }; /* at most, of what does not fit together */

typedef struct sx_xani_reduce_summary {
    int64_t shots, on, off, bins, empty_bins;
    int64_t reason[SX_REDUCE_REASONS]; /* shots */
    double delay_first, delay_last;    /* ps, of laser-on shots in the bins */
    double i0_offset;
    double i0_correlation; /* of the total of a frame with I0 */
    bool has_time_tool;
    double tool_mean, tool_rms, tool_slope, tool_slope_error; /* ps; slope against nominal delay */
    double
        sharpness; /* in standard deviations: by how much the frames depend more on the delay with the
                         sign that was taken than with the other */
    double on_change,
        off_change; /* in standard deviations: how much the frames change with the delay */
    int warnings;
    char warning[SX_REDUCE_WARNINGS][320];
    int64_t bytes; /* of frames, as stored in memory */
    double seconds;
} sx_xani_reduce_summary;

/* sx_xani_reduce - reads runs (files of LCLS smalldata, files or folders of European XFEL and SwissFEL,
 * NeXus series) once and writes cube.h5; files of one run that follow each other are one. Warnings of
 * what does not fit together, such as a time tool of the wrong sign, go to the log of the context.
 * Memory is that of the sums, some 100 MB for frames under way and 150 bytes per shot of a run, with
 * 8 more for each module. The output appears complete or not at all.
 *
 * out  summary  NULL allowed */
SX_API sx_status sx_xani_reduce(int runs, const char *const *paths,
                                const sx_xani_reduce_options *options, const char *output,
                                const sx_context *context, sx_xani_reduce_summary *summary);

/* sx_xani_merge - adds the sums of cubes of xani reduce. SX_ERR_SHAPE where they do not fit, also where
 * photon energy or angles differ.
 *
 * out  counts  of the sum; NULL allowed */
SX_API sx_status sx_xani_merge(int cubes, const char *const *paths, const char *output,
                               bool overwrite, const sx_context *context,
                               sx_reducer_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
