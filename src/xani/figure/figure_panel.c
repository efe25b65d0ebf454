/* SPDX-License-Identifier: Apache-2.0
 * Panels as lines of a gnuplot script. The script is meant to be read and changed by people. */
#include "xani/figure/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* More pixels a side, or points in a row, than this are not drawn: a panel is some 350 pixels wide
 * in the picture. */
enum { MOST_DRAWN = 1024, MOST_POINTS = 16384 };

/* A frame is drawn with square pixels unless its shorter side would be below this, in pixels of the
 * picture: in a thin strip nothing can be seen. */
static const double SHORTEST = 170;

/* Palettes with even steps of lightness, or of hue at one lightness, in the OKLab space of Ottosson
 * 2020. Even: L 0.26 to 0.94, hue 300 to 100 degrees. Cyclic: L 0.70, chroma 0.125, 30 degrees a
 * step. Diverging: L 0.97 in the middle to 0.45, hues 255 and 40. */
static const char *const palettes[] = {
    [SXI_EVEN] = "0 '#300558', 1 '#1e2d81', 2 '#005583', 3 '#03748a', 4 '#019391', 5 '#02b48b', 6 "
                 "'#6fcd77', 7 '#bfde70', 8 '#ffed85'",
    [SXI_CYCLIC] =
        "0 '#e17f6f', 1 '#d78a46', 2 '#bd9a32', 3 '#95aa49', 4 '#60b474', 5 '#10b7a1', 6 "
        "'#09b2c7', 7 '#49a8e4', 8 '#809aec', 9 '#ab8ce0', 10 '#ca81c3', 11 '#dd7b9b', "
        "12 '#e17f6f'",
    [SXI_DIVERGING] = "0 '#0153a4', 1 '#467cc0', 2 '#80a4d3', 3 '#bacce5', 4 '#f5f5f5', 5 "
                      "'#e3c2b7', 6 '#cd917c', 7 '#b55f40', 8 '#913103'"};
static const char *const GREY = "#c8c8c8";

/* --- the sheet --- */

static double across(const sxi_sheet *sheet, double x) { return x / sheet->width; }

static double up(const sxi_sheet *sheet, double y) { return 1 - y / sheet->height; }

static void write_string(FILE *script, const char *text) {
    fputc('\'', script);
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            fputc('\'', script);
        }
        fputc(*c == '\n' ? ' ' : *c, script);
    }
    fputc('\'', script);
}

void sxi_sheet_begin(sxi_sheet *sheet, sxi_plot *plot, double width, double height, int64_t rows,
                     int64_t columns, const char *title) {
    *sheet = (sxi_sheet){.plot = plot,
                         .script = sxi_plot_open(plot, SXI_PLOT_SCRIPT),
                         .maps = sxi_plot_open(plot, SXI_PLOT_MAPS),
                         .width = width,
                         .height = height,
                         .rows = rows,
                         .columns = columns};
    int64_t longer = rows > columns ? rows : columns;
    int64_t most = rows == 1 || columns == 1 ? MOST_POINTS : MOST_DRAWN;
    sheet->step = (longer + most - 1) / most;
    sheet->drawn_rows = (rows + sheet->step - 1) / sheet->step;
    sheet->drawn_columns = (columns + sheet->step - 1) / sheet->step;
    if (!sheet->script) {
        return;
    }
    fputs("# Draws ", sheet->script);
    sxi_plot_quote(plot, SXI_PLOT_PICTURE);
    fputs("; run it in this folder: gnuplot ", sheet->script);
    sxi_plot_quote(plot, SXI_PLOT_SCRIPT);
    fputs("\n# Maps are planes of float32 in ", sheet->script);
    sxi_plot_quote(plot, SXI_PLOT_MAPS);
    fprintf(sheet->script, ", each %lld rows of %lld, row 0 on top.\nset encoding utf8\n",
            (long long)sheet->drawn_rows, (long long)sheet->drawn_columns);
    sxi_plot_terminal(plot, width, height);
    fputs("set output ", sheet->script);
    sxi_plot_quote(plot, SXI_PLOT_PICTURE);
    fputs("\nset multiplot\nset border linecolor '#404040'\nset tics nomirror out scale 0.6\n"
          "set label 1 ",
          sheet->script);
    write_string(sheet->script, title);
    fprintf(sheet->script, " at screen %.5f,%.5f left noenhanced font 'sans,14'\n",
            across(sheet, 24), up(sheet, 30));
}

void sxi_sheet_end(sxi_sheet *sheet) {
    if (sheet->script) {
        fputs("\nunset multiplot\nunset output\n", sheet->script);
    }
}

void sxi_sheet_text(sxi_sheet *sheet, double x, double y, const char *font, const char *text) {
    if (sheet->script) {
        fputs("set label ", sheet->script);
        write_string(sheet->script, text);
        fprintf(sheet->script, " at screen %.5f,%.5f left noenhanced font '%s'\n", across(sheet, x),
                up(sheet, y), font);
    }
}

void sxi_panel_axes(sxi_sheet *sheet, sxi_box box, const char *title, const char *xlabel,
                    const char *ylabel) {
    FILE *script = sheet->script;
    if (!script) {
        return;
    }
    fprintf(script, "\n# %s\n", title);
    fprintf(script,
            "set lmargin at screen %.5f; set rmargin at screen %.5f; set tmargin at screen %.5f; "
            "set bmargin at screen %.5f\n",
            across(sheet, box.x), across(sheet, box.x + box.width), up(sheet, box.y),
            up(sheet, box.y + box.height));
    fputs("set title ", script);
    write_string(script, title);
    fputs(" offset 0,-0.4 font 'sans,13'\nset xlabel ", script);
    write_string(script, xlabel);
    /* A label of gnuplot's own moves left with the width of the tick labels, off the picture. */
    fputs(" offset 0,0.4\nset label ", script);
    write_string(script, ylabel);
    fprintf(script, " at screen %.5f,%.5f center rotate by 90\n", across(sheet, box.x - 68),
            up(sheet, box.y + box.height / 2));
    fputs("set autoscale; unset logscale; unset key; unset grid; unset colorbox; set format; "
          "set xtics auto nomirror; set ytics auto nomirror; set cbtics auto\n",
          script);
}

/* After a panel: what it has put on the sheet must not be drawn again with the next. */
void sxi_panel_done(sxi_sheet *sheet) {
    if (sheet->script) {
        fputs("unset label; unset object; unset arrow\n", sheet->script);
    }
}

/* --- scales --- */

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void widen(sxi_scale *scale) {
    if (scale->palette == SXI_DIVERGING) {
        double most = fmax(fabs(scale->low), fabs(scale->high));
        most = most > 0 ? most : 1;
        scale->low = -most;
        scale->high = most;
    } else if (!(scale->high - scale->low > 1e-6 * fabs(scale->high))) {
        double room = scale->high != 0 ? 0.05 * fabs(scale->high) : 1;
        scale->low -= room;
        scale->high += room;
    }
}

sx_status sxi_scale_fit(sxi_palette palette, int64_t n, const float *value, sxi_scale *scale) {
    *scale = (sxi_scale){.palette = palette, .empty = true, .low = -1, .high = 1};
    float *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to sort %lld values", (long long)n);
    }
    int64_t finite = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isfinite(value[i])) {
            sorted[finite++] = value[i];
        }
    }
    if (finite) {
        qsort(sorted, (size_t)finite, sizeof *sorted, ascending);
        int64_t cut = (finite - 1) / 50;
        *scale = (sxi_scale){.palette = palette,
                             .low = (double)sorted[cut],
                             .high = (double)sorted[finite - 1 - cut]};
        /* Values that have no logarithm would be left grey, as if they were missing. */
        scale->log = palette == SXI_EVEN && sorted[0] > 0 && scale->high > 20 * scale->low;
        widen(scale);
    }
    free(sorted);
    if (palette == SXI_CYCLIC) {
        const double pi = 3.14159265358979323846;
        scale->low = -pi;
        scale->high = pi;
    }
    return SX_OK;
}

/* --- maps --- */

/* Appends a plane as drawn; returns its number. */
static int64_t write_plane(sxi_sheet *sheet, const float *value) {
    for (int64_t row = 0; row < sheet->rows; row += sheet->step) {
        for (int64_t x = 0; x < sheet->columns; x += sheet->step) {
            const unsigned char *bytes = (const void *)&value[row * sheet->columns + x];
            if (sheet->maps) {
                fwrite(bytes, sizeof *value, 1, sheet->maps);
            }
        }
    }
    return sheet->planes++;
}

static void write_data(sxi_sheet *sheet, int64_t plane) {
    int64_t values = plane * sheet->drawn_rows * sheet->drawn_columns;
    long long bytes = (long long)values * (long long)sizeof(float);
    sxi_plot_quote(sheet->plot, SXI_PLOT_MAPS);
    fprintf(sheet->script, " binary skip=%lld format='%%float32' endian=default ", bytes);
}

/* The largest box with the frame's proportions inside box, at the middle of its top. */
static sxi_box fitting(const sxi_sheet *sheet, sxi_box box) {
    double unit =
        fmin(box.width / (double)sheet->drawn_columns, box.height / (double)sheet->drawn_rows);
    double width = fmax(unit * (double)sheet->drawn_columns, fmin(SHORTEST, box.width));
    box.x += 0.5 * (box.width - width);
    box.width = width;
    box.height = fmax(unit * (double)sheet->drawn_rows, fmin(SHORTEST, box.height));
    return box;
}

static bool is_line(const sxi_sheet *sheet) { return sheet->rows == 1 || sheet->columns == 1; }

/* 1, 2 or 5 times a power of ten, so that a range of whole numbers has about as many ticks. */
static double tick_distance(double range, double ticks) {
    double wanted = fmax(range / ticks, 1);
    double power = pow(10, floor(log10(wanted)));
    double lead = wanted / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static void write_image(sxi_sheet *sheet, sxi_box box, int64_t plane) {
    FILE *script = sheet->script;
    double rows = (double)sheet->drawn_rows, columns = (double)sheet->drawn_columns;
    double step = (double)sheet->step;
    fprintf(script,
            "set object rectangle from graph 0,0 to graph 1,1 behind fillcolor '%s' fillstyle "
            "solid noborder\n",
            GREY);
    if (sheet->has_mark) {
        /* A white ring around a dark one shows on every colour. */
        for (int ring = 0; ring < 2; ring++) {
            fprintf(script,
                    "set label '' at %lld,%lld point pointtype 6 pointsize 1.5 linewidth %s "
                    "linecolor '%s' front\n",
                    (long long)sheet->mark[1], (long long)sheet->mark[0], ring ? "1.2" : "3.5",
                    ring ? "#000000" : "#ffffff");
        }
    }
    /* Labels of numbers are up to 45 pixels wide and 20 high. */
    fprintf(script,
            "set xtics %.0f; set ytics %.0f\nset xrange [%.1f:%.1f]; set yrange [%.1f:%.1f]\nplot ",
            tick_distance(columns * step, box.width / 50),
            tick_distance(rows * step, box.height / 30), -0.5 * step, (columns - 0.5) * step,
            (rows - 0.5) * step, -0.5 * step);
    write_data(sheet, plane);
    fprintf(script, "array=(%lld,%lld) dx=%lld dy=%lld using 1 with image notitle\n",
            (long long)sheet->drawn_columns, (long long)sheet->drawn_rows, (long long)sheet->step,
            (long long)sheet->step);
}

static void write_points(sxi_sheet *sheet, int64_t plane) {
    int64_t n = sheet->drawn_rows * sheet->drawn_columns;
    double step = (double)sheet->step;
    fprintf(sheet->script,
            "set xrange [%.1f:%.1f]; set xtics %.0f; set grid xtics ytics linetype 1 linewidth 0.7 "
            "linecolor '#e0e0e0'\n",
            -0.5 * step, ((double)n - 0.5) * step, tick_distance((double)n * step, 6));
    if (sheet->has_mark) {
        int64_t at = sheet->rows == 1 ? sheet->mark[1] : sheet->mark[0];
        fprintf(sheet->script,
                "set arrow from %lld,graph 0 to %lld,graph 1 nohead linecolor '#b0b0b0' back\n",
                (long long)at, (long long)at);
    }
    fputs("plot ", sheet->script);
    write_data(sheet, plane);
    fprintf(sheet->script,
            "array=(%lld) dx=%lld using 1 with points pointtype 7 pointsize 0.5 linecolor "
            "'#1f4e79' notitle\n",
            (long long)n, (long long)sheet->step);
}

/* "nothing to show" across an empty panel; without data gnuplot would stop. */
static void write_nothing(sxi_sheet *sheet) {
    fprintf(sheet->script,
            "set object rectangle from graph 0,0 to graph 1,1 behind fillcolor '%s' fillstyle "
            "solid noborder\nset label 'no value' at graph 0.5,0.5 center\nset xrange [0:1]; set "
            "yrange [0:1]; unset xtics; unset ytics\nplot NaN notitle\n",
            GREY);
}

static void write_scale(sxi_sheet *sheet, sxi_box box, const sxi_scale *scale) {
    FILE *script = sheet->script;
    const char *axis = is_line(sheet) ? "y" : "cb";
    fprintf(script, "set palette defined (%s)\n", palettes[scale->palette]);
    if (scale->log) {
        fprintf(script, "set logscale %s; set format %s '%%g'\n", axis, axis);
    }
    if (scale->palette == SXI_CYCLIC) {
        fprintf(script, "set %stics ('−π' -pi, '−π/2' -pi/2, '0' 0, 'π/2' pi/2, 'π' pi)\n", axis);
    }
    fputs("set format cb '%g'\n", script);
    if (is_line(sheet)) {
        /* Points are not clipped to percentiles: there is room for all of them. */
        if (scale->palette == SXI_CYCLIC) {
            fputs("set yrange [-pi:pi]\n", script);
        }
        return;
    }
    fprintf(script,
            "set cbrange [%.6g:%.6g]\nset colorbox user origin screen %.5f,%.5f size screen "
            "%.5f,%.5f\n",
            scale->low, scale->high, across(sheet, box.x + box.width + 10),
            up(sheet, box.y + box.height), across(sheet, 14), box.height / sheet->height);
}

sx_status sxi_panel_map(sxi_sheet *sheet, sxi_box box, const char *title, const sxi_scale *scale,
                        const float *value) {
    int64_t plane = write_plane(sheet, value);
    if (!sheet->script) {
        return SX_OK;
    }
    if (!is_line(sheet)) {
        box = fitting(sheet, box);
    }
    sxi_panel_axes(sheet, box, title, is_line(sheet) ? "pixel" : "column (pixel)",
                   is_line(sheet) ? "" : "row (pixel)");
    if (scale->empty) {
        write_nothing(sheet);
    } else {
        write_scale(sheet, box, scale);
        if (is_line(sheet)) {
            write_points(sheet, plane);
        } else {
            write_image(sheet, box, plane);
        }
    }
    sxi_panel_done(sheet);
    return SX_OK;
}

static void write_legend(sxi_sheet *sheet, sxi_box box, int n, const sxi_class *classes) {
    for (int i = 0; i < n; i++) {
        double x = box.x + box.width + 10, y = box.y + 8 + 19 * i;
        fprintf(sheet->script,
                "set object rectangle from screen %.5f,%.5f to screen %.5f,%.5f fillcolor '%s' "
                "fillstyle solid border linecolor '#404040' linewidth 0.5\n",
                across(sheet, x), up(sheet, y + 6), across(sheet, x + 14), up(sheet, y - 6),
                classes[i].colour);
        sxi_sheet_text(sheet, x + 20, y, "sans,10", classes[i].words);
    }
}

sx_status sxi_panel_classes(sxi_sheet *sheet, sxi_box box, const char *title, int n,
                            const sxi_class *classes, const float *value) {
    int64_t plane = write_plane(sheet, value);
    FILE *script = sheet->script;
    if (!script) {
        return SX_OK;
    }
    sxi_box axes = is_line(sheet) ? box : fitting(sheet, box);
    sxi_panel_axes(sheet, axes, title, is_line(sheet) ? "pixel" : "column (pixel)",
                   is_line(sheet) ? "" : "row (pixel)");
    fputs("set palette defined (", script);
    for (int i = 0; i < n; i++) {
        fprintf(script, "%s%d '%s', %d.999 '%s'", i ? ", " : "", i, classes[i].colour, i,
                classes[i].colour);
    }
    fprintf(script, ")\nset cbrange [-0.5:%d.5]\n", n - 1);
    if (is_line(sheet)) {
        fprintf(script, "set yrange [-0.5:%d.5]; set ytics nomirror noenhanced (", n - 1);
        for (int i = 0; i < n; i++) {
            fputs(i ? ", " : "", script);
            write_string(script, classes[i].words);
            fprintf(script, " %d", i);
        }
        fputs(")\n", script);
        write_points(sheet, plane);
    } else {
        write_legend(sheet, axes, n, classes);
        write_image(sheet, axes, plane);
    }
    sxi_panel_done(sheet);
    return SX_OK;
}
