/* SPDX-License-Identifier: Apache-2.0
 * The traces that a fit.h5 was made of, read again from the file that was fitted. */
#ifndef SXI_XANI_FITTED_H
#define SXI_XANI_FITTED_H

#include "xani/figure/figure_load.h"
#include "xani/fit/fit.h"
#include "xani/fit/fit_arguments.h"

typedef struct sxi_fitted {
    sxi_source *source;
    const sxi_source_info *info;
    sxi_fit_frame frame; /* its pixels are those of the maps */
    sxi_fit_patch band;  /* rows read last, of all columns */
    sxi_fit_arguments arguments;
} sxi_fitted;

/* sxi_fitted_open - finds and opens what was fitted.
 *
 * in   cube  NULL, or where that lies now
 *
 * SX_ERR_MISSING (with the places looked at), SX_ERR_FORMAT (another file lies there), SX_ERR_SHAPE
 * (the maps do not follow from its frames). */
sx_status sxi_fitted_open(const sxi_fit_file *fit, const char *cube, const sx_context *context,
                          sxi_fitted *fitted);
void sxi_fitted_close(sxi_fitted *fitted);

/* sxi_fitted_read - reads rows of the maps, of one segment. */
sx_status sxi_fitted_read(sxi_fitted *fitted, int64_t row, int64_t rows);

/* sxi_fitted_gather - of a row of those read last, from 0, some columns as traces.
 *
 * out  y, sigma  [columns][nt]  as sxi_fit_gather */
void sxi_fitted_gather(const sxi_fitted *fitted, int64_t row, int64_t column, int64_t columns,
                       double *y, double *sigma);

#endif
