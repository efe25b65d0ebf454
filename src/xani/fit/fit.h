/* SPDX-License-Identifier: Apache-2.0
 * Pieces of sx_xani_fit: where output pixels come from, how tiles are gathered and fitted, how maps are
 * declared and written. */
#ifndef SXI_XANI_FIT_H
#define SXI_XANI_FIT_H

#include <sextant/task.h>
#include <sextant/xani.h>

#include "io/hdf5/h5file.h"
#include "xani/source/source.h"

/* Output pixels: the region of interest of each segment, binned. Output rows of all segments follow
 * each other. */
typedef struct sxi_fit_frame {
    int64_t segments;     /* 1 without */
    int64_t segment_rows; /* rows of one segment as stored */
    int64_t width;        /* as stored */
    int64_t y0, y1, x0, x1;
    int64_t bin_y, bin_x;
    int64_t rows, columns; /* of the output, per segment */
} sxi_fit_frame;

/* SX_ERR_RANGE for a region outside the frame, SX_ERR_ARGUMENT for a bin larger than it. */
sx_status sxi_fit_frame_make(const sxi_source_info *info, const sx_xani_fit_options *options,
                             sxi_fit_frame *frame);

/* sxi_fit_frame_tile - output rows and columns of a tile: as wished (0: chosen), but no more rows than
 * can be read at once. It depends on the input and the options alone, so that a journal fits any number
 * of threads and ranks. */
void sxi_fit_frame_tile(const sxi_fit_frame *frame, const sxi_source_info *info,
                        const int64_t wished[2], int64_t tile[2]);

/* --- samples --- */

/* The arrays of a source in output rows, R of all segments. What the last bin of a segment lacks is
 * masked. */
typedef struct sxi_fit_samples {
    sxi_source *source;
    const sxi_fit_frame *frame;
    sx_darray *y;     /* [nt][R][bin_y][width] */
    sx_darray *mask;  /* [R][bin_y][width]  0 good */
    sx_darray *sigma; /* as y; NULL without */
} sxi_fit_samples;

/* sxi_fit_samples_declare - samples must stay where they are until the arrays are destroyed. */
void sxi_fit_samples_declare(sx_cluster *cluster, sxi_source *source, const sxi_fit_frame *frame,
                             sxi_fit_samples *samples);
void sxi_fit_samples_destroy(sxi_fit_samples *samples);

/* sxi_fit_stored_rows - an array [nt][R][bin_y][width], or without nt, as [nt][R * bin_y][width]. */
sx_array sxi_fit_stored_rows(const sx_array *array);

/* Some output pixels of a tile and the samples of its rows; rows count from that of the tile, columns
 * from that of the frame. */
typedef struct sxi_fit_patch {
    sx_array y,
        sigma; /* [nt][rows * bin_y][width] of any strides but the last; sigma: no data without */
    sx_array mask; /* [rows * bin_y][width] */
    int64_t row, rows, column, columns;
} sxi_fit_patch;

/* sxi_fit_gather - the pixels of a patch, row by row, as traces.
 *
 * in   weight  [nt] of the source, or NULL
 * out  y       [rows * columns][nt]
 * out  sigma   [rows * columns][nt]  filled where there is sigma, or where binning makes samples
 *                                    unequal; relative then
 * Theory: docs/theory/dcos.md, "Binning". */
void sxi_fit_gather(const sxi_fit_frame *frame, const sxi_fit_patch *patch, const double *weight,
                    double *y, double *sigma);

/* Whether sxi_fit_gather fills sigma. */
bool sxi_fit_gathers_sigma(const sxi_fit_frame *frame, const sxi_source_info *info);

/* --- the maps of fit.h5 --- */

enum { SXI_FIT_MAPS_MOST = 28 };

typedef struct sxi_fit_maps {
    const sxi_source_info *info;
    const sx_xani_fit_options *options;
    const sxi_fit_frame *frame;
    int modes;                         /* planes of the maps of modes */
    sx_darray *map[SXI_FIT_MAPS_MOST]; /* in the order of the table of fields, NULL: not wanted */
} sxi_fit_maps;

/* sxi_fit_maps_declare - makes the arrays, [R][columns] or [modes][R][columns]. */
void sxi_fit_maps_declare(sx_cluster *cluster, sxi_fit_maps *maps);
void sxi_fit_maps_destroy(sxi_fit_maps *maps);

/* sxi_fit_maps_use - as outputs of a task with the dimensions row and column. */
void sxi_fit_maps_use(const sxi_fit_maps *maps, sx_use *use);

/* sxi_fit_maps_put - the fits of a patch into the arrays of a tile, those of sxi_fit_maps_use, which
 * begin at an output column. */
void sxi_fit_maps_put(const sxi_fit_maps *maps, const sxi_fit_patch *patch, int64_t first_column,
                      const sx_dcos_fit *fit, const sx_array *array);

/* Once all is fitted, on rank 0. */

/* sxi_fit_maps_values - of a map without modes, by its name in fit.h5. */
const void *sxi_fit_maps_values(const sxi_fit_maps *maps, const char *name);

/* sxi_fit_maps_single - where there is a single pixel: its fit. */
void sxi_fit_maps_single(const sxi_fit_maps *maps, sx_dcos_fit *fit);

/* sxi_fit_maps_write - every dataset of /fit with its attributes and scales. */
sx_status sxi_fit_maps_write(const sxi_fit_maps *maps, const sx_dcos_plan *plan,
                             sxi_h5_writer *writer);

/* --- a tile --- */

typedef struct sxi_fit_worker sxi_fit_worker;

/* What tiles are fitted with. */
typedef struct sxi_fit_work {
    const sx_dcos_plan *plan;
    const sxi_fit_maps *maps;
    int threads;
    sxi_fit_worker *worker; /* [threads] */
} sxi_fit_work;

/* sxi_fit_work_create - memory for traces. SX_ERR_MEMORY. */
sx_status sxi_fit_work_create(const sx_dcos_plan *plan, const sxi_fit_maps *maps, int threads,
                              sxi_fit_work *work);
void sxi_fit_work_destroy(sxi_fit_work *work);

/* sxi_fit_tile - the function of the task, whose data is the work. Uses: y "- row - -", mask
 * "row - -", sigma as y where there is one, the maps. */
sx_status sxi_fit_tile(const sx_tile *tile);

#endif
