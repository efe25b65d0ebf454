/* SPDX-License-Identifier: Apache-2.0
 * A first look at a cube.h5: the image, the change at a few delays, the shots, one trace. */
#include "xani/figure/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/hdf5/h5file.h"

static const double WIDTH = 1600, COLUMN = 525, LEFT = 85, TOP = 90, SIDE = 350, FLAT = 170;
static const double ROW_GAP = 100, TRACE = 330, BOTTOM = 90;

/* Frames shown, and where they lie between time zero and the last delay. */
enum { FRAMES = 5 };
static const double places[FRAMES] = {0.04, 0.1, 0.2, 0.4, 0.8};

typedef struct cube_file {
    sx_hdf5 *h5;
    const char *path;
    int rank; /* of a frame */
    int64_t shape[SX_MAX_RANK];
    int64_t nt, rows, width, npix;
    sx_array delay, count; /* count empty: not in the file */
} cube_file;

static void cube_close(cube_file *cube) {
    sx_hdf5_close(&cube->h5);
    sx_array_destroy(&cube->delay);
    sx_array_destroy(&cube->count);
}

static sx_status cube_open(const char *path, cube_file *cube) {
    static const sx_dtype real = SX_F64;
    sx_status status = SX_OK;
    sx_hdf5_dataset signal;
    *cube = (cube_file){.path = path};
    SXI_GO(sx_hdf5_open(path, &cube->h5));
    SXI_GO(sx_hdf5_describe(cube->h5, "/cube/signal", &signal));
    SXI_GO(sxi_h5_read(cube->h5, "/cube/delay", &real, &cube->delay));
    if (sxi_h5_exists(cube->h5, "/cube/count")) {
        SXI_GO(sxi_h5_read(cube->h5, "/cube/count", &real, &cube->count));
    }
    cube->nt = sx_array_count(&cube->delay);
    cube->rank = signal.rank - 1;
    cube->npix = 1;
    for (int d = 0; d < cube->rank; d++) {
        cube->shape[d] = signal.shape[d + 1];
        cube->npix *= cube->shape[d];
    }
    if (signal.rank < 2 || signal.rank > 4 || signal.shape[0] != cube->nt || cube->nt < 1 ||
        cube->npix < 1 || (cube->count.data && sx_array_count(&cube->count) != cube->nt)) {
        status = SXI_FAIL(SX_ERR_SHAPE,
                          "%s: /cube/signal has %d dimensions and %lld frames for %lld delays; "
                          "[T,N], [T,H,W] or [T,S,H,W] with one frame for each delay was expected",
                          path, signal.rank, (long long)signal.shape[0], (long long)cube->nt);
        goto out;
    }
    cube->width = cube->rank == 1 ? 1 : cube->shape[cube->rank - 1];
    cube->rows = cube->npix / cube->width;
out:
    if (status != SX_OK) {
        cube_close(cube);
    }
    return status;
}

static sx_status read_frame(const cube_file *cube, int64_t t, float *frame) {
    int64_t start[SX_MAX_RANK] = {t}, count[SX_MAX_RANK] = {1};
    memcpy(count + 1, cube->shape, (size_t)cube->rank * sizeof *count);
    sx_array array;
    SXI_TRY(sx_array_view(SX_F32, cube->rank + 1, count, frame, &array));
    return sxi_h5_read_box(cube->h5, "/cube/signal", start, count, &array);
}

/* The mean laser-off image; the frame of NaN where the file has none. */
static sx_status read_off(const cube_file *cube, float *frame) {
    static const char *const name = "/cube/off_mean";
    if (!sxi_h5_exists(cube->h5, name)) {
        for (int64_t i = 0; i < cube->npix; i++) {
            frame[i] = NAN;
        }
        return SX_OK;
    }
    int64_t start[SX_MAX_RANK] = {0};
    sx_array array;
    SXI_TRY(sx_array_view(SX_F32, cube->rank, cube->shape, frame, &array));
    return sxi_h5_read_box(cube->h5, name, start, cube->shape, &array);
}

static double delay_of(const cube_file *cube, int64_t t) {
    return ((const double *)cube->delay.data)[t];
}

/* The bin nearest to a delay. */
static int64_t bin_at(const cube_file *cube, double delay) {
    int64_t best = 0;
    for (int64_t t = 1; t < cube->nt; t++) {
        if (fabs(delay_of(cube, t) - delay) < fabs(delay_of(cube, best) - delay)) {
            best = t;
        }
    }
    return best;
}

static double map_height(const cube_file *cube) {
    if (cube->rows == 1 || cube->width == 1) {
        return FLAT;
    }
    return fmin(fmax(SIDE * (double)cube->rows / (double)cube->width, FLAT), SIDE);
}

static sxi_box map_box(const cube_file *cube, int m) {
    double height = map_height(cube);
    int row = m / 3, column = m % 3;
    return (sxi_box){LEFT + COLUMN * column, TOP + (height + ROW_GAP) * row, SIDE, height};
}

/* frames [FRAMES][npix]: all on one scale, so that they can be compared. */
static sx_status draw_frames(sxi_sheet *sheet, const cube_file *cube, float *frames) {
    double last = delay_of(cube, cube->nt - 1);
    double zero = delay_of(cube, 0) < 0 && last > 0 ? 0 : delay_of(cube, 0);
    int64_t bin[FRAMES];
    for (int f = 0; f < FRAMES; f++) {
        bin[f] = bin_at(cube, zero + places[f] * (last - zero));
        SXI_TRY(read_frame(cube, bin[f], frames + f * cube->npix));
    }
    for (int64_t i = 0; i < FRAMES * cube->npix; i++) {
        frames[i] *= 100;
    }
    sxi_scale scale;
    SXI_TRY(sxi_scale_fit(SXI_DIVERGING, FRAMES * cube->npix, frames, &scale));
    for (int f = 0; f < FRAMES; f++) {
        char title[96];
        snprintf(title, sizeof title, "signal at %.3g ps (%%)", delay_of(cube, bin[f]));
        SXI_TRY(sxi_panel_map(sheet, map_box(cube, f + 1), title, &scale, frames + f * cube->npix));
    }
    return SX_OK;
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A bright pixel, but not the brightest, which may be a hot one: the 99th percentile. */
static sx_status bright_pixel(const cube_file *cube, const float *off, int64_t *pixel) {
    float *sorted = malloc((size_t)cube->npix * sizeof *sorted);
    if (!sorted) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for frames of %lld pixels",
                        (long long)cube->npix);
    }
    int64_t n = 0;
    for (int64_t i = 0; i < cube->npix; i++) {
        if (isfinite(off[i])) {
            sorted[n++] = off[i];
        }
    }
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    float wanted = n ? sorted[(n - 1) - n / 100] : NAN;
    free(sorted);
    *pixel = 0;
    for (int64_t i = 0; i < cube->npix; i++) {
        if (off[i] == wanted) {
            *pixel = i;
            break;
        }
    }
    return SX_OK;
}

static sx_status choose_pixel(const cube_file *cube, const sx_xani_figure_options *options,
                              const float *off, int64_t *pixel) {
    if (!options->has_pixel) {
        return bright_pixel(cube, off, pixel);
    }
    int64_t y = options->pixel[0], x = options->pixel[1];
    if (y < 0 || y >= cube->rows || x < 0 || x >= cube->width) {
        return SXI_FAIL(
            SX_ERR_RANGE,
            "pixel %lld,%lld is outside of the frames of %s: give row,column below %lld,%lld",
            (long long)y, (long long)x, cube->path, (long long)cube->rows, (long long)cube->width);
    }
    *pixel = y * cube->width + x;
    return SX_OK;
}

/* One pixel of every frame of a dataset, as [nt] doubles. */
static sx_status read_column(const cube_file *cube, const char *name, int64_t pixel,
                             double *column) {
    int64_t start[SX_MAX_RANK] = {0}, count[SX_MAX_RANK] = {cube->nt, 1, 1, 1};
    for (int d = cube->rank - 1; d >= 0; d--) {
        start[d + 1] = pixel % cube->shape[d];
        pixel /= cube->shape[d];
    }
    sx_array array;
    SXI_TRY(sx_array_view(SX_F64, cube->rank + 1, count, column, &array));
    return sxi_h5_read_box(cube->h5, name, start, count, &array);
}

static sx_status draw_below(sxi_sheet *sheet, const cube_file *cube, int64_t pixel, double top) {
    sx_status status = SX_OK;
    double *y = malloc(2 * (size_t)cube->nt * sizeof *y), *sigma = y ? y + cube->nt : NULL;
    if (!y) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a trace of %lld delays", (long long)cube->nt);
    }
    bool has_sigma = sxi_h5_exists(cube->h5, "/cube/sigma");
    SXI_GO(read_column(cube, "/cube/signal", pixel, y));
    if (has_sigma) {
        SXI_GO(read_column(cube, "/cube/sigma", pixel, sigma));
    }
    const sxi_trace trace = {.nt = cube->nt,
                             .delay = cube->delay.data,
                             .y = y,
                             .sigma = has_sigma ? sigma : NULL,
                             .relative = true};
    char title[96];
    snprintf(title, sizeof title, "pixel in row %lld, column %lld",
             (long long)(pixel / cube->width), (long long)(pixel % cube->width));
    double width = cube->count.data ? 2 * COLUMN - 100 : 3 * COLUMN - 100;
    SXI_GO(sxi_panel_trace(sheet, (sxi_box){LEFT, top, width, TRACE}, title, &trace));
    if (cube->count.data) {
        sxi_panel_counts(sheet, (sxi_box){LEFT + 2 * COLUMN, top, SIDE + 90, TRACE},
                         "shots in each bin", cube->nt, cube->delay.data, cube->count.data);
    }
out:
    free(y);
    return status;
}

static void write_title(const cube_file *cube, char *title, size_t size) {
    const char *slash = strrchr(cube->path, '/');
    const char *name = slash ? slash + 1 : cube->path;
    if (cube->npix == 1) {
        snprintf(title, size, "%s: %lld delays", name, (long long)cube->nt);
    } else {
        snprintf(title, size, "%s: %lld delays of %lld x %lld pixels", name, (long long)cube->nt,
                 (long long)cube->rows, (long long)cube->width);
    }
}

static sx_status draw_cube(const cube_file *cube, const sx_xani_figure_options *options,
                           sxi_plot *plot) {
    sx_status status = SX_OK;
    float *off = malloc((1 + FRAMES) * (size_t)cube->npix * sizeof *off);
    if (!off) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for frames of %lld pixels",
                        (long long)cube->npix);
    }
    int64_t pixel;
    SXI_GO(read_off(cube, off));
    SXI_GO(choose_pixel(cube, options, off, &pixel));
    bool maps = cube->npix > 1;
    double top = TOP + (maps ? 2 * (map_height(cube) + ROW_GAP) : 0);
    char title[512];
    write_title(cube, title, sizeof title);
    sxi_sheet sheet;
    sxi_sheet_begin(&sheet, plot, WIDTH, top + TRACE + BOTTOM, cube->rows, cube->width, title);
    if (maps) {
        sheet.has_mark = true;
        sheet.mark[0] = pixel / cube->width;
        sheet.mark[1] = pixel % cube->width;
        sxi_sheet_text(
            &sheet, 24, sheet.height - 18, "sans,10",
            "Row 0 is on top. Grey: no value. Colours run from the 2nd to the 98th "
            "percentile; those of the signal are the same at all delays. Ring: the pixel "
            "of the trace.");
        sxi_scale scale;
        SXI_GO(sxi_scale_fit(SXI_EVEN, cube->npix, off, &scale));
        SXI_GO(sxi_panel_map(&sheet, map_box(cube, 0), "mean laser-off image", &scale, off));
        SXI_GO(draw_frames(&sheet, cube, off + cube->npix));
    }
    SXI_GO(draw_below(&sheet, cube, pixel, top));
    sxi_sheet_end(&sheet);
out:
    free(off);
    return status;
}

sx_status sxi_figure_cube(const char *path, const sx_xani_figure_options *options,
                          const char *output, const sx_context *context) {
    sx_status status = SX_OK;
    cube_file cube;
    sxi_plot *plot = NULL;
    SXI_TRY(cube_open(path, &cube));
    SXI_GO(sxi_plot_create(output, options->overwrite, &plot));
    SXI_GO(draw_cube(&cube, options, plot));
    SXI_GO(sxi_plot_commit(&plot, context));
out:
    sxi_plot_abandon(&plot);
    cube_close(&cube);
    return status;
}
