/* SPDX-License-Identifier: Apache-2.0
 * The picture of a fit.h5: what became of every pixel, and one of them in full. */
#include "xani/figure/figure_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* The picture, in its pixels: three columns of maps, beneath them the trace and its numbers. */
static const double WIDTH = 1600, COLUMN = 500, LEFT = 85, TOP = 90, SIDE = 330, FLAT = 170;
static const double ROW_GAP = 100, TRACE = 380, TRACE_WIDTH = 990, BOTTOM = 90;

static sx_status choose_pixel(const sxi_fit_file *fit, const sx_xani_figure_options *options,
                              int64_t *pixel) {
    if (!options->has_pixel) {
        *pixel = fit->best >= 0 ? fit->best : fit->npix == 1 ? 0 : -1;
        return SX_OK;
    }
    int64_t y = options->pixel[0], x = options->pixel[1];
    if (y < 0 || y >= fit->rows || x < 0 || x >= fit->width) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "pixel %lld,%lld is outside of the maps of %s: give row,column below "
                        "%lld,%lld",
                        (long long)y, (long long)x, fit->path, (long long)fit->rows,
                        (long long)fit->width);
    }
    *pixel = y * fit->width + x;
    return SX_OK;
}

/* --- the picture --- */

static double map_height(const sxi_fit_file *fit) {
    if (fit->rows == 1 || fit->width == 1) {
        return FLAT;
    }
    double height = SIDE * (double)fit->rows / (double)fit->width;
    return fmin(fmax(height, FLAT), SIDE);
}

static sx_status draw_maps(sxi_sheet *sheet, const sxi_fit_file *fit) {
    const struct {
        const char *title;
        sxi_palette palette;
        const float *value;
    } maps[] = {{"frequency of the strongest mode (THz)", SXI_EVEN, fit->frequency},
                {fit->relative ? "amplitude (%)" : "amplitude", SXI_EVEN, fit->amplitude},
                {"decay (1/ps)", SXI_EVEN, fit->decay},
                {"phase at time zero (rad)", SXI_CYCLIC, fit->phase},
                {fit->no_sigma ? "residual variance (signal²)" : "χ² per degree of freedom",
                 SXI_EVEN, fit->chi2}};
    enum { MAPS = sizeof maps / sizeof *maps };
    double height = map_height(fit);
    for (int m = 0; m <= MAPS; m++) {
        int row = m / 3, column = m % 3;
        sxi_box box = {LEFT + COLUMN * column, TOP + (height + ROW_GAP) * row, SIDE, height};
        if (m == MAPS) {
            return sxi_panel_classes(sheet, box, "number of modes, or state if not ok",
                                     fit->classes, fit->name, fit->class);
        }
        sxi_scale scale;
        SXI_TRY(sxi_scale_fit(maps[m].palette, fit->npix, maps[m].value, &scale));
        SXI_TRY(sxi_panel_map(sheet, box, maps[m].title, &scale, maps[m].value));
    }
    return SX_OK;
}

static void pixel_words(const sxi_fit_file *fit, int64_t pixel, char *words, size_t size) {
    if (fit->npix == 1) {
        snprintf(words, size, "trace");
    } else if (fit->rank == 1) {
        snprintf(words, size, "pixel %lld", (long long)pixel);
    } else {
        snprintf(words, size, "pixel in row %lld, column %lld", (long long)(pixel / fit->width),
                 (long long)(pixel % fit->width));
    }
}

static sx_status draw_trace(sxi_sheet *sheet, const sxi_fit_file *fit, int64_t pixel, double top,
                            const sxi_trace *trace) {
    char words[96];
    pixel_words(fit, pixel, words, sizeof words);
    if (trace->has_fit) {
        sxi_sheet_text(sheet, LEFT + TRACE_WIDTH + 25, top + 10, "sans,13", words);
        sxi_panel_numbers(sheet, LEFT + TRACE_WIDTH + 25, top + 46, trace);
    }
    return sxi_panel_trace(sheet, (sxi_box){LEFT, top, TRACE_WIDTH, TRACE},
                           trace->has_fit ? "" : words, trace);
}

/* What a pixel of the maps is, where it is not one of the frame. */
static void bin_words(const sxi_fit_file *fit, char *words, size_t size) {
    const int64_t *bin = fit->bin, *roi = fit->roi;
    words[0] = '\0';
    if (bin[0] * bin[1] > 1 || roi[0] > 0 || roi[2] > 0) {
        snprintf(words, size,
                 "A pixel is %lld x %lld of the frame, from row %lld and column %lld on. ",
                 (long long)bin[0], (long long)bin[1], (long long)roi[0], (long long)roi[2]);
    }
}

/* What has to be known to read the picture. */
static void draw_note(sxi_sheet *sheet, const sxi_fit_file *fit, bool maps, bool numbers) {
    bool flat = maps && fit->rows > 1 && fit->width > 1;
    char thinned[96] = "", bins[160], note[640];
    if (sheet->step > 1) {
        snprintf(thinned, sizeof thinned, "In each direction one pixel in %lld is drawn. ",
                 (long long)sheet->step);
    }
    bin_words(fit, bins, sizeof bins);
    snprintf(note, sizeof note, "%s%s%s%s%s%s", flat ? "Row 0 is on top" : "",
             flat ? fit->rank == 3 ? ", segments one below the other. " : ". " : "",
             flat ? "Grey: not in state ok, or no mode. Colours run from the 2nd to the 98th "
                    "percentile. "
                  : "",
             thinned, bins,
             numbers
                 ? "In brackets: one sigma in units of the last digits, 1.842(7) is 1.842 ± 0.007."
                 : "");
    sxi_sheet_text(sheet, 24, sheet->height - 18, "sans,10", note);
}

static void write_title(const sxi_fit_file *fit, char *title, size_t size) {
    const char *slash = strrchr(fit->path, '/');
    const char *name = slash ? slash + 1 : fit->path;
    if (fit->npix == 1) {
        snprintf(title, size, "%s", name);
    } else if (fit->rank == 1) {
        snprintf(title, size, "%s: %lld pixels, %lld in state ok", name, (long long)fit->npix,
                 (long long)fit->ok);
    } else {
        snprintf(title, size, "%s: %lld x %lld pixels, %lld in state ok", name,
                 (long long)fit->rows, (long long)fit->width, (long long)fit->ok);
    }
}

static sx_status draw_fit(const sxi_fit_file *fit, int64_t pixel, const sxi_trace *trace,
                          sxi_plot *plot) {
    char title[512];
    bool maps = fit->npix > 1, has_trace = trace->nt > 0;
    double top = TOP + (maps ? 2 * (map_height(fit) + ROW_GAP) : 0);
    double height = top + (has_trace ? TRACE + BOTTOM : 0);
    sxi_sheet sheet;
    write_title(fit, title, sizeof title);
    sxi_sheet_begin(&sheet, plot, WIDTH, height, fit->rows, fit->width, title);
    if (has_trace && maps) {
        sheet.has_mark = true;
        sheet.mark[0] = pixel / fit->width;
        sheet.mark[1] = pixel % fit->width;
    }
    draw_note(&sheet, fit, maps, has_trace && trace->has_fit);
    if (maps) {
        SXI_TRY(draw_maps(&sheet, fit));
    }
    if (has_trace) {
        SXI_TRY(draw_trace(&sheet, fit, pixel, top, trace));
    }
    sxi_sheet_end(&sheet);
    return SX_OK;
}

sx_status sxi_figure_fit(const char *path, const sx_xani_figure_options *options,
                         const char *output, const sx_context *context) {
    sx_status status = SX_OK;
    sxi_fit_file fit;
    sxi_plot *plot = NULL;
    sxi_pixel_trace trace = {0};
    int64_t pixel = -1;
    SXI_TRY(sxi_fit_open(path, &fit));
    SXI_GO(sxi_plot_create(output, options->overwrite, &plot));
    SXI_GO(sxi_fit_read(&fit));
    SXI_GO(choose_pixel(&fit, options, &pixel));
    /* A picture of maps alone is no answer where a pixel was asked for, or where there are none. */
    SXI_GO(sxi_pixel_load(&fit, options->cube, pixel, options->has_pixel || fit.npix == 1, context,
                          &trace));
    SXI_GO(draw_fit(&fit, pixel, &trace.trace, plot));
    SXI_GO(sxi_plot_commit(&plot, context));
out:
    sxi_plot_abandon(&plot);
    sxi_pixel_close(&trace);
    sxi_fit_close(&fit);
    return status;
}
