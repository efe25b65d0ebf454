/* SPDX-License-Identifier: Apache-2.0
 * What a report is put together from, and its parts. */
#ifndef SXI_REPORT_H
#define SXI_REPORT_H

#include <sextant/report.h>

#include "report/page.h"
#include "xani/fit/fitted.h"

/* What one pass over the samples tells, delay by delay. */
typedef struct sxi_report_moments {
    double *square, *count; /* [nt] sums over pixels: of the signal's square, of samples */
} sxi_report_moments;

/* Pixels of which the page holds more than the maps: every step-th in each direction. */
typedef struct sxi_report_lattice {
    int64_t step, row0, column0, rows, width;
} sxi_report_lattice;

typedef struct sxi_report {
    sxi_page *page;
    json_t *description;
    const sx_context *context;
    const char *fit_path, *cube_path, *dispersion_path; /* NULL: none was named */
    bool has_fit, has_samples;
    sxi_fit_file fit;
    sxi_fitted fitted;
    sxi_report_lattice lattice;
    sxi_report_moments moments;
    sx_xani_report_summary summary;
} sxi_report;

/* Each adds its part to page and description. SX_ERR_MEMORY, and what reading returns. */
sx_status sxi_report_maps(sxi_report *report);    /* of the fit, and the mean image */
sx_status sxi_report_samples(sxi_report *report); /* traces, and the frame delay by delay */
sx_status sxi_report_pixels(sxi_report *report);  /* numbers of the fit where there are traces */
sx_status sxi_report_run(sxi_report *report);     /* curves over the delay, checks */
sx_status sxi_report_path(sxi_report *report);    /* of the dispersion */

/* sxi_report_check - a line among the checks, a doubt where it is not good. sxi_report_told - what reduction
 * and dispersion found on their way, from their files. */
sx_status sxi_report_check(sxi_report *report, bool good, const char *words);
sx_status sxi_report_told(sxi_report *report);

/* sxi_report_pixel_bytes - of the numbers of one pixel. */
int64_t sxi_report_pixel_bytes(const sxi_report *report);

/* sxi_report_set - json_object_set_new, noticing that there is no memory. */
sx_status sxi_report_set(json_t *object, const char *key, json_t *value);
sx_status sxi_report_add(json_t *list, json_t *value);

/* sxi_report_frame - rows and columns of the maps. */
void sxi_report_frame(const sxi_report *report, int64_t *rows, int64_t *width);

#endif
