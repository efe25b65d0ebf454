/* SPDX-License-Identifier: Apache-2.0
 * Pages that people look at. */
#ifndef SEXTANT_REPORT_H
#define SEXTANT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/context.h>
#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_xani_report_summary {
    int64_t traces;     /* of pixels that can be looked at in full */
    int64_t step;       /* they are every step-th pixel in each direction; 0: no traces */
    int checks, doubts; /* checks made, and those that found something to look into */
} sx_xani_report_summary;

/* sx_xani_report - one HTML file with maps, traces, spectra and checks, which a browser shows from a
 * disk, without a network.
 *
 * in   files    number of paths
 * in   paths    a fit.h5, a cube.h5 (or what was fitted) and a dispersion.h5, or some of these; what
 *               a fit was made of is found from the fit if it is not given
 * in   output   where the page goes
 * out  summary  NULL allowed
 *
 * Checks that found something are also warnings of the log. SX_ERR_FORMAT (neither fit nor cube),
 * SX_ERR_ARGUMENT (two of a kind), SX_ERR_EXISTS, SX_ERR_IO, SX_ERR_CANCELLED. */
SX_API sx_status sx_xani_report(int files, const char *const *paths, bool overwrite,
                                const char *output, const sx_context *context,
                                sx_xani_report_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
