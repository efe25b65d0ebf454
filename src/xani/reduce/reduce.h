/* SPDX-License-Identifier: Apache-2.0
 * What the files of xani reduce share. */
#ifndef SXI_XANI_REDUCE_H
#define SXI_XANI_REDUCE_H

#include <sextant/reduce.h>

#include "io/facility/shots.h"
#include "xani/calibration/calibration.h"

/* --- choosing shots (reduce_select.c) --- */

typedef struct sxi_selection {
    int64_t count;
    uint8_t *reason; /* [count] sx_reduce_reason */
    sx_shot *shot;   /* [count] */
} sxi_selection;

/* sxi_select - what every cut but that of the bins leaves of a file. The cuts of the time tool never touch
 * laser-off shots: without laser it sees no edge. */
sx_status sxi_select(const sxi_shots *shots, const sx_xani_reduce_options *options,
                     sxi_selection *chosen);
void sxi_selection_free(sxi_selection *selection);

/* sxi_select_bins - leaves out what lies outside the bins; where the laser-off shots are binned, gives
 * each the delay of the laser-on shot nearest in time. */
sx_status sxi_select_bins(const sxi_shots *shots, const sx_reducer_options *bins,
                          sxi_selection *chosen);

/* --- does it fit together? (reduce_check.c) --- */

typedef struct sxi_check sxi_check;

sx_status sxi_check_create(const sx_reducer_options *options, bool has_tool, int sign,
                           sxi_check **check);
void sxi_check_destroy(sxi_check **check);

/* One chosen shot: what is checked of it beside its frame. */
typedef struct sxi_check_shot {
    sx_shot shot;
    double nominal_ps, tool_ps; /* NaN: not known */
} sxi_check_shot;

/* sxi_check_add - frames of type F32, F64 or U16, of which some 8,000 pixels are looked at. */
sx_status sxi_check_add(sxi_check *check, sx_dtype dtype, int64_t count, const void *const *frames,
                        const sxi_check_shot *shots, double i0_offset, const sx_context *context);

/* sxi_check_tell - fills the part of the summary about it and logs warnings. */
void sxi_check_tell(const sxi_check *check, const sx_context *context,
                    sx_xani_reduce_summary *summary);

/* --- frames (reduce_frames.c) --- */

typedef struct sxi_frames {
    const sxi_shots *shots;
    const sxi_selection *chosen;
    sx_reducer *reducer;
    sxi_check *check;
    double i0_offset;
    const sxi_calibration *calibration; /* NULL: frames are calibrated */
    const sx_context *context;
    int64_t before, all; /* shots of the files before this one, and of all: for the progress */
    int64_t bytes;       /* out: of the frames that were added, as stored */
} sxi_frames;

/* sxi_frames_add - reads the frames of the chosen shots of a file and adds them. */
sx_status sxi_frames_add(sxi_frames *frames);

#endif
