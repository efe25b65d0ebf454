/* SPDX-License-Identifier: Apache-2.0
 * Between source.c and the files that each know one layout. A layout finds datasets and fills this
 * struct; reading is then the same for all of them. */
#ifndef SXI_XANI_SOURCE_LAYOUT_H
#define SXI_XANI_SOURCE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "io/hdf5/h5file.h"
#include "xani/source/source.h"

enum { SXI_SOURCE_FILES = 4, SXI_SOURCE_NAME = 256 };

/* A dataset [T], [T,N], [T,H,W] or [T,S,H,W] of an open file. */
typedef struct sxi_stack {
    sx_hdf5 *file;
    char name[SXI_SOURCE_NAME];
    sx_hdf5_dataset about;
    int marks;      /* values that stand for a missing sample, of _FillValue and missing_value */
    double mark[2]; /* they are read as NaN */
} sxi_stack;

struct sxi_source {
    const sx_context *context; /* of the caller: threads and cancel of reading */
    sxi_source_info info;
    int files;
    sx_hdf5 *file[SXI_SOURCE_FILES];
    char *path[SXI_SOURCE_FILES]; /* info.paths points here */
    double *delay;                /* [nt] ps */
    double *weight;               /* [nt] or NULL */
    int64_t *order;               /* [nt] place in the file of each delay; NULL: as stored */
    bool *empty;                  /* [nt] bins without shots; NULL: none */
    uint8_t *mask;                /* [rows * width] 0 good; NULL: all good */
    sxi_stack signal;             /* file NULL: trace holds the values */
    double *trace;                /* [nt] */
    sxi_stack sigma;              /* shaped like signal; file NULL: sigma_t or none */
    double *sigma_t;              /* [nt] in the order of delay */
    double *scale;                /* [nt] in the order of delay, and */
    double *off; /* [rows * width]: y = signal * scale / off - 1; NULL: y = signal */
};

/* What a layout is given besides the source to fill: file[0] is open, it is the cube. */
typedef struct sxi_layout_request {
    const sx_xani_input *input;
    const sx_context *context;
} sxi_layout_request;

typedef struct sxi_layout {
    const char *name; /* "LCLS1 cube" */
    bool (*recognise)(sx_hdf5 *cube);
    sx_status (*open)(sxi_source *source, const sxi_layout_request *request);
    bool uses_off, uses_detector, uses_i0;
} sxi_layout;

extern const sxi_layout sxi_layout_cube;
extern const sxi_layout sxi_layout_lcls1;
extern const sxi_layout sxi_layout_lcls2;
extern const sxi_layout sxi_layout_cropped;

/* The two that are asked for by name, not recognised. */
sx_status sxi_source_open_datasets(sxi_source *source, const sxi_layout_request *request);
sx_status sxi_source_open_table(sxi_source *source, const sxi_layout_request *request);

/* --- for the layouts (source_parts.c, source_axis.c, source_rows.c) --- */

/* sxi_source_file - opens path, or finds it among the files already open. */
sx_status sxi_source_file(sxi_source *source, const char *path, sx_hdf5 **file);

/* sxi_source_input - notes a path for provenance (sxi_source_file does so too). */
sx_status sxi_source_input(sxi_source *source, const char *path);

/* sxi_source_name - splits "FILE:/path" at the last ":/", opens FILE and describes the dataset.
 * option: "--signal", for the sentence. */
sx_status sxi_source_name(sxi_source *source, const char *option, const char *text,
                          sxi_stack *stack);

/* sxi_source_stack - a numeric dataset of a file, described. One that is packed (scale_factor,
 * add_offset) is refused. */
sx_status sxi_source_stack(sx_hdf5 *file, const char *name, sxi_stack *stack);

/* sxi_source_vector - all values of a dataset [count] or [count,1] as new doubles, missing ones NaN;
 * expected < 0: any count. */
sx_status sxi_source_vector(sx_hdf5 *file, const char *name, int64_t expected, double **values,
                            int64_t *count);

/* sxi_source_signal - takes the stack as the signal: nt, shape of the frame, dtype, chunks. */
sx_status sxi_source_signal(sxi_source *source, const sxi_stack *signal);

/* sxi_source_mask - adds a dataset shaped like a frame to the mask. good_is_one: LCLS's way round.
 */
sx_status sxi_source_mask(sxi_source *source, const sxi_stack *mask, bool good_is_one);

/* Where delays come from and how they are to be taken. */
typedef struct sxi_axis {
    const char *where;    /* "file.h5:/cube/delay", for sentences */
    const char *unit;     /* of the file; "" without */
    double default_scale; /* ps per unit where there is no unit; 0: then --delay-scale is needed */
    bool sort;            /* rows come in any order */
} sxi_axis;

/* sxi_source_axis - turns the stored values [info.nt] into source->delay and source->order. */
sx_status sxi_source_axis(sxi_source *source, const sxi_layout_request *request,
                          const sxi_axis *axis, const double *stored);

/* sxi_source_reorder - brings values [nt] from the order of the file into that of the delays. */
sx_status sxi_source_reorder(const sxi_source *source, double *values);

/* sxi_stack_blank - makes NaN of the values of a float array that stand for missing samples. */
void sxi_stack_blank(const sxi_stack *stack, sx_array *values);

/* Boxes of datasets that one request reads. All zero: none. */
typedef struct sxi_boxes {
    int count, room;
    struct sxi_box *box;
} sxi_boxes;

/* sxi_boxes_add - frames first .. first + n - 1, rows row0 .. row0 + count - 1 of a stack, which go
 * to target [n][count][width]. The stack must stay until start. */
sx_status sxi_boxes_add(sxi_boxes *boxes, const sxi_stack *stack, int64_t first, int64_t n,
                        int64_t row0, int64_t count, const sx_array *target);

/* sxi_boxes_start - begins to read them (sx_hdf5_start). */
sx_status sxi_boxes_start(const sxi_boxes *boxes, const sx_context *context,
                          sx_hdf5_request **request);
void sxi_boxes_free(sxi_boxes *boxes);

/* sxi_stack_read - frames first .. first + n - 1, rows row0 .. row0 + count - 1 into target
 * [n][count][width]; missing samples are NaN. */
sx_status sxi_stack_read(const sxi_stack *stack, int64_t first, int64_t n, int64_t row0,
                         int64_t count, sx_array *target);

/* One side of an on/off pair: what its frames are divided by. */
typedef struct sxi_side {
    sxi_stack frames;
    double *shots;   /* [nt] in the frames; not above 0: the bin is empty */
    double *monitor; /* [nt] sum of I0 over monitor_shots; NULL: no I0 */
    double *monitor_shots;
    double *delay; /* as stored, for comparison; may be NULL */
} sxi_side;

void sxi_side_free(sxi_side *side);

/* sxi_source_sides - lets open fill both sides and frees them, whatever became of it. */
typedef sx_status (*sxi_sides_fn)(sxi_source *source, const sxi_layout_request *request,
                                  sxi_side *on, sxi_side *off);
sx_status sxi_source_sides(sxi_source *source, const sxi_layout_request *request,
                           sxi_sides_fn open);

/* sxi_source_ratio - source reads on / off - 1 from now on, off being one image pooled over all
 * bins (off does not depend on the delay). To be called after sxi_source_axis; sets weight, empty,
 * scale, off, and masks pixels whose off is not above 0. Logs what was pooled. */
sx_status sxi_source_ratio(sxi_source *source, const sxi_side *on, const sxi_side *off,
                           const sx_context *context);

/* sxi_source_same_shape - on and off fit each other: number of bins if bins, frames, delays. */
sx_status sxi_source_same_shape(const sxi_side *on, const sxi_side *off, bool bins);

/* sxi_shape_text - "[200, 64, 64]". */
const char *sxi_shape_text(int rank, const int64_t *shape, char *text, size_t size);

/* A growing list of names for sentences: "a, b, c". */
typedef struct sxi_names {
    int count;
    char last[SXI_SOURCE_NAME];
    char text[700];
} sxi_names;

void sxi_names_add(sxi_names *names, const char *name);

#endif
