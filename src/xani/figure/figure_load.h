/* SPDX-License-Identifier: Apache-2.0
 * The maps and pixels of a fit.h5, as the picture needs them. */
#ifndef SXI_XANI_FIGURE_LOAD_H
#define SXI_XANI_FIGURE_LOAD_H

#include "io/hdf5/h5file.h"
#include "xani/figure/figure.h"

/* States are numbers below this. */
enum { SXI_STATES = 16 };

typedef struct sxi_fit_file {
    sx_hdf5 *h5;
    const char *path;
    int rank; /* of a map: 1 to 3 */
    int64_t shape[SX_MAX_RANK];
    int64_t rows, width, npix; /* the map as rows x width */
    int64_t modes;             /* planes of frequency */
    double t0, t_start;        /* ps */
    int64_t bin[2], roi[4];    /* as in sx_xani_fit_options; all zero where the file has none */
    bool no_sigma;             /* chi2 is a residual variance */
    bool relative;             /* what was fitted is on / off - 1 */
    char layout[64];           /* what the input was taken for; "" unknown */
    /* By sxi_fit_read, [npix]: of the strongest mode of pixels in state ok, NaN elsewhere;
     * amplitude in percent if relative. */
    float *frequency, *amplitude, *decay, *phase, *chi2;
    float *class; /* [npix] index into name */
    int classes;
    sxi_class name[SX_DCOS_MAX_MODES + 1 + SXI_STATES];
    int64_t ok; /* pixels in that state */
    int64_t
        best; /* the pixel whose strongest mode stands out most from its error; -1: none is ok */
} sxi_fit_file;

/* sxi_fit_open - checks that the maps are there and have one shape. SX_ERR_FORMAT, SX_ERR_SHAPE,
 * SX_ERR_MISSING, SX_ERR_IO. */
sx_status sxi_fit_open(const char *path, sxi_fit_file *fit);
void sxi_fit_close(sxi_fit_file *fit);

/* sxi_fit_read - the maps. SX_ERR_MEMORY, SX_ERR_IO. */
sx_status sxi_fit_read(sxi_fit_file *fit);

/* sxi_fit_plane - a map of the file, [npix]: plane mode of a stack of modes, -1: a map by itself. */
sx_status sxi_fit_plane(const sxi_fit_file *fit, const char *name, int64_t mode, double *values);

/* sxi_fit_pixel - all that was fitted at pixel number row * width + x. */
sx_status sxi_fit_pixel(const sxi_fit_file *fit, int64_t pixel, sx_dcos_fit *out);

/* A trace and what it lives in. */
typedef struct sxi_pixel_trace {
    sxi_trace trace; /* nt 0: none */
    double *memory;
} sxi_pixel_trace;

/* sxi_pixel_load - the trace that was fitted at a pixel, and its fit. cube: NULL, or where that lies
 * which was fitted. If nothing can be read and neither a cube is named nor the trace needed, nothing
 * is loaded and the log says why. */
sx_status sxi_pixel_load(const sxi_fit_file *fit, const char *cube, int64_t pixel, bool needed,
                         const sx_context *context, sxi_pixel_trace *out);
void sxi_pixel_close(sxi_pixel_trace *out);

#endif
