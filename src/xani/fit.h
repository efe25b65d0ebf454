/* SPDX-License-Identifier: Apache-2.0
 * Pieces of sx_xani_fit: where output pixels come from, how a tile is gathered, how maps are
 * written. */
#ifndef SXI_XANI_FIT_H
#define SXI_XANI_FIT_H

#include <sextant/xani.h>

#include "io/hdf5/h5file.h"
#include "xani/source.h"

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

/* Some output rows of one segment, and the stored rows they need. */
typedef struct sxi_fit_band {
    int64_t segment, row0, rows; /* output rows within the segment */
    int64_t stored0, stored;     /* rows of the source */
    sx_array y, sigma, mask;     /* as sxi_source_read fills them */
    sx_dcos_fit *fit;            /* [rows * columns] */
} sxi_fit_band;

/* sxi_fit_gather - output pixels first .. first + count - 1 of a band, row by row, as traces.
 *
 * in   weight  [nt] of the source, or NULL
 * out  y       [count][nt]
 * out  sigma   [count][nt]  filled where there is sigma, or where binning makes samples unequal;
 *                           relative then
 * Theory: docs/theory/dcos.md, "Binning". */
void sxi_fit_gather(const sxi_fit_frame *frame, const sxi_fit_band *band, const double *weight,
                    int64_t first, int64_t count, double *y, double *sigma);

/* Whether sxi_fit_gather fills sigma. */
bool sxi_fit_gathers_sigma(const sxi_fit_frame *frame, const sxi_source_info *info);

/* --- the maps of fit.h5 --- */

typedef struct sxi_fit_output {
    const sxi_source_info *info;
    const sx_xani_fit_options *options;
    const sxi_fit_frame *frame;
    int modes; /* planes of the maps of modes */
} sxi_fit_output;

/* Creates every dataset of /fit with its attributes and scales. */
sx_status sxi_fit_output_create(const sxi_fit_output *output, const sx_dcos_plan *plan,
                                sxi_h5_writer *writer);
sx_status sxi_fit_output_write(const sxi_fit_output *output, const sxi_fit_band *band,
                               sxi_h5_writer *writer);

/* --- the work --- */

typedef struct sxi_fit_run {
    sxi_source *source;
    const sx_dcos_plan *plan;
    sxi_fit_output output;
    sxi_h5_writer *writer; /* its datasets are created */
    const sx_context *context;
    int64_t piece;      /* pixels fitted in one call, 0: chosen */
    int64_t band_bytes; /* read at once, 0: chosen */
    /* What comes out; pixels of the summary is known before. */
    sx_xani_fit_summary *summary;
    double chi2_sum; /* of ok pixels */
    int64_t far;     /* ok pixels whose offset no relative change would have */
} sxi_fit_run;

/* sxi_fit_run_all - fits every pixel; writes the maps, and the digests of the inputs. What is written depends neither on piece
 * nor band_bytes nor threads. */
sx_status sxi_fit_run_all(sxi_fit_run *run);

#endif
