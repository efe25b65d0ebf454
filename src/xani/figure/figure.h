/* SPDX-License-Identifier: Apache-2.0
 * Pictures through gnuplot: a stage where script and data are written, and panels put on it.
 * Lengths and places are pixels of the picture, from its upper left corner. */
#ifndef SXI_XANI_FIGURE_H
#define SXI_XANI_FIGURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <sextant/xani.h>

/* --- the stage (figure_plot.c) --- */

/* OUTPUT.png or OUTPUT.pdf and what lies beside it, in the order in which they are moved to their places. */
typedef enum sxi_plot_file {
    SXI_PLOT_MAPS,    /* OUTPUT.maps.dat: planes of float32 */
    SXI_PLOT_TRACE,   /* OUTPUT.trace.dat: text */
    SXI_PLOT_SCRIPT,  /* OUTPUT.gnuplot */
    SXI_PLOT_PICTURE, /* what gnuplot makes of them */
    SXI_PLOT_FILES
} sxi_plot_file;

typedef struct sxi_plot sxi_plot;

/* sxi_plot_create - opens a folder of its own beside the output, where everything is made under its
 * final name. SX_ERR_ARGUMENT (neither .png nor .pdf), SX_ERR_EXISTS, SX_ERR_IO. */
sx_status sxi_plot_create(const char *output, bool overwrite, sxi_plot **plot);

/* sxi_plot_open - the stream of a file, created at the first call; the plot closes it. NULL after a
 * failure, which commit reports: writers need not check. */
FILE *sxi_plot_open(sxi_plot *plot, sxi_plot_file file);

/* sxi_plot_terminal - the lines of the script that choose it, for a picture of that size in pixels. */
void sxi_plot_terminal(sxi_plot *plot, double width, double height);

/* sxi_plot_quote - the name of a file, as a gnuplot string, into the script. */
void sxi_plot_quote(sxi_plot *plot, sxi_plot_file file);

/* sxi_plot_commit - draws, and moves picture, script and data to their places. After a failure
 * nothing is left behind. SX_ERR_MISSING (no gnuplot), SX_ERR_IO. *plot is NULL afterwards. */
sx_status sxi_plot_commit(sxi_plot **plot, const sx_context *context);
void sxi_plot_abandon(sxi_plot **plot);

/* --- panels (figure_panel.c) --- */

typedef struct sxi_box {
    double x, y, width, height;
} sxi_box;

/* What all panels of a picture share: the frame as drawn, which of a large one is every step-th
 * pixel. */
typedef struct sxi_sheet {
    sxi_plot *plot;
    FILE *script, *maps;
    double width, height;  /* of the picture */
    int64_t rows, columns; /* of the frame as stored */
    int64_t step;
    int64_t drawn_rows, drawn_columns;
    bool has_mark; /* a pixel marked in every map */
    int64_t mark[2];
    int64_t planes; /* written so far */
} sxi_sheet;

typedef enum sxi_palette { SXI_EVEN, SXI_CYCLIC, SXI_DIVERGING } sxi_palette;

typedef struct sxi_scale {
    sxi_palette palette;
    bool log, empty; /* empty: no finite value */
    double low, high;
} sxi_scale;

/* sxi_sheet_begin - a picture of that size about frames of rows x columns, with a title; sheet is
 * filled. sxi_sheet_end closes the script. */
void sxi_sheet_begin(sxi_sheet *sheet, sxi_plot *plot, double width, double height, int64_t rows,
                     int64_t columns, const char *title);
void sxi_sheet_end(sxi_sheet *sheet);

/* sxi_sheet_text - one line of text for the next panel, with its left end at (x, y). */
void sxi_sheet_text(sxi_sheet *sheet, double x, double y, const char *font, const char *text);

/* sxi_scale_fit - the range from the 2nd to the 98th percentile of the finite ones of n values.
 * Even values, all above zero, that span more than a factor 20 become logarithmic. SX_ERR_MEMORY. */
sx_status sxi_scale_fit(sxi_palette palette, int64_t n, const float *value, sxi_scale *scale);

/* sxi_panel_map - a map [rows][columns] of the frame as stored, with its scale; NaN is grey. A
 * frame of one row or column becomes points against the pixel number. */
sx_status sxi_panel_map(sxi_sheet *sheet, sxi_box box, const char *title, const sxi_scale *scale,
                        const float *value);

typedef struct sxi_class {
    const char *colour; /* "#rrggbb" */
    char words[48];
} sxi_class;

/* sxi_panel_classes - a map of whole numbers 0 <= value < n, with a legend by name. */
sx_status sxi_panel_classes(sxi_sheet *sheet, sxi_box box, const char *title, int n,
                            const sxi_class *classes, const float *value);

/* sxi_panel_axes - margins, title and labels of a panel that the caller draws itself, and the
 * settings of earlier panels taken back. sxi_panel_done ends it. */
void sxi_panel_axes(sxi_sheet *sheet, sxi_box box, const char *title, const char *xlabel,
                    const char *ylabel);
void sxi_panel_done(sxi_sheet *sheet);

/* --- traces (figure_trace.c) --- */

typedef struct sxi_trace {
    int64_t nt;
    const double *delay; /* [nt] ps */
    const double *y;     /* [nt] NaN: missing */
    const double *sigma; /* [nt] NULL: unknown */
    bool relative;       /* y is on / off - 1, shown in percent */
    bool has_fit;
    sx_dcos_fit fit;
    double t0, t_start; /* ps, of the fit */
} sxi_trace;

/* sxi_panel_trace - data with errors, and where there is a fit its curve, and the residuals in a
 * strip below. SX_ERR_MEMORY. */
sx_status sxi_panel_trace(sxi_sheet *sheet, sxi_box box, const char *title, const sxi_trace *trace);

/* sxi_panel_numbers - the parameters of the fit with errors, as text from (x, y) on, into the next
 * panel. */
void sxi_panel_numbers(sxi_sheet *sheet, double x, double y, const sxi_trace *trace);

/* sxi_panel_counts - a bar per delay. */
void sxi_panel_counts(sxi_sheet *sheet, sxi_box box, const char *title, int64_t nt,
                      const double *delay, const double *count);

/* sxi_figure_value - "1.842(7)", "2.0(3)e-09": the error counts in last digits. "1.84" where error
 * is not above zero and finite, "-" for a value that is not finite. */
void sxi_figure_value(double value, double error, char *text, size_t size);

/* --- what can be drawn --- */

sx_status sxi_figure_fit(const char *path, const sx_xani_figure_options *options,
                         const char *output, const sx_context *context);
sx_status sxi_figure_cube(const char *path, const sx_xani_figure_options *options,
                          const char *output, const sx_context *context);
sx_status sxi_figure_path(const char *path, const sx_xani_figure_options *options,
                          const char *output, const sx_context *context);

#endif
