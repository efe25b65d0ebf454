/* SPDX-License-Identifier: Apache-2.0
 * The shots of a run as every facility's reader hands them on: a table with a line per shot, and
 * where its frame lies. docs/adding-a-facility.md */
#ifndef SXI_FACILITY_SHOTS_H
#define SXI_FACILITY_SHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/context.h>
#include <sextant/hdf5.h>

/* Which quantities to take, under the names of the facility; NULL: found by their usual names. A name
 * that ends in [k] is element k of what stands under it, from 0. */
typedef struct sxi_shot_fields {
    const char *detector, *i0, *delay, *laser, *xray;
    const char *time_tool, *time_tool_amplitude, *time_tool_width;
    const char *time;   /* for the order of shots */
    double delay_scale; /* ps per unit; 0: by the unit in the file, or the name */
    bool no_time_tool;
    bool raw;   /* raw frames are wanted, to be calibrated afterwards */
    bool again; /* opened before: what is to be warned of was said */
    /* Instead of laser: "10" is on, off, on, ... over the frames of a train, or of the file; "11,00"
     * lets trains take turns by their number. */
    const char *laser_pattern;
} sxi_shot_fields;

enum { SXI_SHOT_NAME = 256 };

typedef struct sxi_shots sxi_shots;

/* Where a part of a frame lies: in the last axes of a dataset, at this place of those before. */
typedef struct sxi_shot_part {
    sx_hdf5 *file; /* NULL: that part was not recorded */
    const char *dataset;
    const char
        *mask;   /* dataset of the same shape, not 0 where a value is bad; NULL: all are good */
    int leading; /* axes before those of the part, 1 or 2 */
    int64_t at[2];
} sxi_shot_part;

/* What a facility's reader does. */
typedef struct sxi_facility {
    const char *name;
    /* Whether a path, of a file or a folder, is a run of this facility. */
    bool (*holds)(const char *path);
    /* Whether two paths that it holds are parts of one run; NULL: a path is a run. */
    bool (*joins)(const char *path, const char *other);
    /* Fills all of shots but facility and path from the paths of a run; what it leaves on failure is
     * closed. */
    sx_status (*open)(int count, const char *const *paths, const sxi_shot_fields *fields,
                      const sx_context *context, sxi_shots *shots);
    void (*part)(const sxi_shots *shots, int64_t shot, int part, sxi_shot_part *where);
    /* Occurrence number turn of a name in the files of the run; false: there are no more. */
    bool (*find)(const sxi_shots *shots, const char *name, int turn, sx_hdf5 **file,
                 char dataset[SXI_SHOT_NAME]);
    void (*close)(void *data);
} sxi_facility;

struct sxi_shots {
    const sxi_facility *facility;
    char *path;
    void *data; /* of the reader */
    int64_t count;
    /* A frame: modules first where the detector has several, each of which is a part. */
    int parts, rank;
    int64_t shape[SX_MAX_RANK];
    sx_dtype dtype;
    bool gaps;     /* some part of some shot is missing */
    bool masked;   /* some parts have a mask */
    bool has_none; /* a value stands for none: */
    double none;
    int64_t together; /* shots that are decoded together */
    char detector[SXI_SHOT_NAME], i0_name[SXI_SHOT_NAME], delay_name[SXI_SHOT_NAME];
    char tool_name[SXI_SHOT_NAME]; /* "" without */
    /* [count] each; NaN: not known. NULL: the file does not say. */
    double *i0, *delay_ps, *laser, *xray, *tool_ps, *tool_amplitude, *tool_width, *time;
    double *good;         /* 0: the detector says that the frame is bad */
    uint8_t *mask;        /* [pixels] of a frame, 0 good; NULL: the files have none */
    double photon_energy; /* eV; 0: the files do not say */
};

/* sxi_shots_joined - how many of the paths, from the first on, are parts of one run: files that were
 * given one by one. At least 1. */
int sxi_shots_joined(int count, const char *const *paths);

/* sxi_shots_open - the run of these paths, by the reader of its facility. SX_ERR_MISSING naming what
 * there is instead, SX_ERR_SHAPE, SX_ERR_UNIT, SX_ERR_FORMAT, SX_ERR_IO. *shots is empty on failure.
 * Theory: docs/theory/reduce.md. */
sx_status sxi_shots_open(int count, const char *const *paths, const sxi_shot_fields *fields,
                         const sx_context *context, sxi_shots *shots);

/* sxi_shots_close - of an empty one, too. */
void sxi_shots_close(sxi_shots *shots);

/* sxi_shots_mean - mean over the run of all numbers under a name, of a motor or the like; NaN where it is
 * never known. SX_ERR_MISSING. */
sx_status sxi_shots_mean(const sxi_shots *shots, const char *name, double *mean);

#endif
