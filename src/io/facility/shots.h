/* SPDX-License-Identifier: Apache-2.0
 * The shots of a run file as every facility's reader hands them on: a table with a line per shot, and
 * where its frame lies. */
#ifndef SXI_FACILITY_SHOTS_H
#define SXI_FACILITY_SHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/hdf5.h>

/* Which datasets to take, relative to the root; NULL: found by their usual names. */
typedef struct sxi_shot_fields {
    const char *detector, *i0, *delay, *laser, *xray;
    const char *time_tool, *time_tool_amplitude, *time_tool_width;
    const char *time;   /* for the order of shots */
    double delay_scale; /* ps per unit; 0: by the unit in the file, or the name */
    bool no_time_tool;
} sxi_shot_fields;

enum { SXI_SHOT_NAME = 256 };

typedef struct sxi_shots {
    sx_hdf5 *file;
    int64_t count;
    sx_hdf5_dataset frames; /* [count, frame] */
    char detector[SXI_SHOT_NAME], i0_name[SXI_SHOT_NAME], delay_name[SXI_SHOT_NAME];
    char tool_name[SXI_SHOT_NAME]; /* "" without */
    /* [count] each; NaN: not known. NULL: the file does not say. */
    double *i0, *delay_ps, *laser, *xray, *tool_ps, *tool_amplitude, *tool_width, *time;
} sxi_shots;

/* sxi_smalldata_open - a per-shot file of LCLS smalldata: rows are shots. SX_ERR_MISSING naming what
 * there is instead, SX_ERR_SHAPE. *shots is empty on failure. Theory: docs/theory/reduce.md. */
sx_status sxi_smalldata_open(const char *path, const sxi_shot_fields *fields,
                             const sx_context *context, sxi_shots *shots);

/* sxi_shots_close - of an empty one, too. */
void sxi_shots_close(sxi_shots *shots);

/* sxi_shots_mean - mean over the shots of a dataset [count] or of one number, of a motor or the like;
 * NaN where it is never known. */
sx_status sxi_shots_mean(const sxi_shots *shots, const char *name, double *mean);

#endif
