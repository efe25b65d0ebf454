/* SPDX-License-Identifier: Apache-2.0
 * Panels with the delay on the horizontal axis, and the numbers of a fit. */
#include "xani/figure/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Points of the fitted curve: at least this many, and this many to the fastest period. */
enum { CURVE_POINTS = 600, PER_PERIOD = 24, MOST_POINTS = 20000 };

/* --- numbers --- */

void sxi_figure_value(double value, double error, char *text, size_t size) {
    if (!isfinite(value)) {
        snprintf(text, size, "-");
        return;
    }
    if (!(error > 0 && isfinite(error))) {
        snprintf(text, size, "%.4g", value);
        return;
    }
    /* One digit of the error, two if it begins with 1: 0.0148 becomes 15 in the fourth digit. */
    int place = (int)floor(log10(error));
    int decimals = (error / pow(10, place) < 1.95 ? 1 : 0) - place;
    double largest = fmax(fabs(value), error);
    if (decimals >= 0 && largest >= 1e-4) {
        snprintf(text, size, "%.*f(%.0f)", decimals, value, error * pow(10, decimals));
        return;
    }
    int exponent = (int)floor(log10(largest));
    decimals += exponent;
    snprintf(text, size, "%.*f(%.0f)e%+03d", decimals, value / pow(10, exponent),
             error * pow(10, decimals - exponent), exponent);
}

static double unit_of(const sxi_trace *trace) { return trace->relative ? 100 : 1; }

/* Four entries of a table, in columns that hold "1.3282(12)e-06": characters of two bytes defeat
 * padding with blanks. */
static void table_row(sxi_sheet *sheet, double x, double y, const char *const entries[4]) {
    static const double columns[4] = {0, 126, 252, 378};
    for (int i = 0; i < 4; i++) {
        sxi_sheet_text(sheet, x + columns[i], y, "monospace,10", entries[i]);
    }
}

void sxi_panel_numbers(sxi_sheet *sheet, double x, double y, const sxi_trace *trace) {
    const sx_dcos_fit *fit = &trace->fit;
    double unit = unit_of(trace);
    char line[256], value[4][48];
    const char *const heads[] = {"f (THz)", trace->relative ? "A (%)" : "A", "γ (1/ps)", "φ (rad)"};
    const char *const entries[] = {value[0], value[1], value[2], value[3]};
    table_row(sheet, x, y, heads);
    for (int m = 0; m < fit->modes && m < SX_DCOS_MAX_MODES; m++) {
        const sx_dcos_mode *mode = &fit->mode[m];
        sxi_figure_value(mode->frequency, mode->frequency_error, value[0], sizeof value[0]);
        sxi_figure_value(unit * mode->amplitude, unit * mode->amplitude_error, value[1],
                         sizeof value[1]);
        sxi_figure_value(mode->decay, mode->decay_error, value[2], sizeof value[2]);
        sxi_figure_value(mode->phase, mode->phase_error, value[3], sizeof value[3]);
        y += 24;
        table_row(sheet, x, y, entries);
    }
    sxi_figure_value(unit * fit->offset, unit * fit->offset_error, value[0], sizeof value[0]);
    snprintf(line, sizeof line, "offset %s%s", value[0], trace->relative ? " %" : "");
    sxi_sheet_text(sheet, x, y + 36, "monospace,11", line);
    snprintf(line, sizeof line, "%s %.3g",
             trace->sigma ? "χ² per degree of freedom" : "residual variance", fit->chi2);
    sxi_sheet_text(sheet, x, y + 60, "monospace,11", line);
    const char *word = sx_dcos_state_word(fit->state);
    const char *sentence = sx_dcos_state_sentence(fit->state);
    snprintf(line, sizeof line, "state %s: %s", word ? word : "?", sentence ? sentence : "");
    sxi_sheet_text(sheet, x, y + 84, "sans,10", line);
}

/* --- the trace --- */

/* The error of a sample for the residuals: as given, or from the scatter about the fit. */
static double error_of(const sxi_trace *trace, int64_t t) {
    return trace->sigma ? trace->sigma[t] : sqrt(trace->fit.chi2);
}

static sx_status write_samples(const sxi_trace *trace, FILE *data) {
    double *model = calloc((size_t)trace->nt, sizeof *model);
    if (!model) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a curve of %lld points",
                        (long long)trace->nt);
    }
    if (trace->has_fit) {
        sx_dcos_model(&trace->fit, trace->t0, trace->nt, trace->delay, model);
    }
    fputs("# delay (ps), signal, its error, (signal - fit) / error, 1 where the fit used it\n",
          data);
    for (int64_t t = 0; t < trace->nt; t++) {
        bool used = trace->has_fit && trace->delay[t] >= trace->t_start;
        double residual = used ? (trace->y[t] - model[t]) / error_of(trace, t) : (double)NAN;
        fprintf(data, "%.9g %.9g %.6g %.6g %d\n", trace->delay[t], trace->y[t],
                trace->sigma ? trace->sigma[t] : (double)NAN, residual, used);
    }
    free(model);
    return SX_OK;
}

static sx_status write_curve(const sxi_trace *trace, FILE *data) {
    double first = trace->t_start, last = trace->delay[trace->nt - 1];
    double fastest = 0;
    for (int m = 0; m < trace->fit.modes && m < SX_DCOS_MAX_MODES; m++) {
        fastest = fmax(fastest, trace->fit.mode[m].frequency);
    }
    double wanted = fmin(fmax(CURVE_POINTS, PER_PERIOD * fastest * (last - first)), MOST_POINTS);
    int64_t n = last > first ? (int64_t)wanted : 1;
    double *t = calloc(2 * (size_t)n, sizeof *t);
    if (!t) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a curve of %lld points", (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        t[i] = first + (last - first) * (double)i / (double)(n > 1 ? n - 1 : 1);
    }
    sx_dcos_model(&trace->fit, trace->t0, n, t, t + n);
    fputs("\n\n# delay (ps), fit\n", data);
    for (int64_t i = 0; i < n; i++) {
        fprintf(data, "%.9g %.9g\n", t[i], t[n + i]);
    }
    free(t);
    return SX_OK;
}

static void plot_samples(sxi_sheet *sheet, const sxi_trace *trace) {
    FILE *script = sheet->script;
    const char *style = trace->sigma ? "yerrorbars" : "points";
    double unit = unit_of(trace);
    char columns[64];
    snprintf(columns, sizeof columns, trace->sigma ? "(%g*$2):(%g*$3)" : "(%g*$2)", unit, unit);
    fputs("plot ", script);
    sxi_plot_quote(sheet->plot, SXI_PLOT_TRACE);
    fprintf(script,
            " index 0 using (%s ? $1 : NaN):%s with %s pointtype 7 pointsize 0.6 linewidth "
            "1 linecolor '#35506b' notitle",
            trace->has_fit ? "$5 == 1" : "1", columns, style);
    if (trace->has_fit) {
        fputs(", '' ", script);
        fprintf(script,
                "index 0 using ($5 == 0 ? $1 : NaN):%s with %s pointtype 6 pointsize 0.6 "
                "linewidth 1 linecolor '#a0a8b0' notitle",
                columns, style);
        fprintf(script,
                ", '' index 1 using 1:(%g*$2) with lines linewidth 2 linecolor '#d1492e' "
                "notitle",
                unit);
    }
    fputs("\n", script);
}

static void plot_residuals(sxi_sheet *sheet) {
    fputs("plot ", sheet->script);
    sxi_plot_quote(sheet->plot, SXI_PLOT_TRACE);
    fputs(" index 0 using 1:4 with impulses linewidth 1.5 linecolor '#35506b' notitle, '' index 0 "
          "using 1:4 with points pointtype 7 pointsize 0.4 linecolor '#35506b' notitle\n",
          sheet->script);
}

static void write_range(sxi_sheet *sheet, const sxi_trace *trace) {
    double first = trace->delay[0], last = trace->delay[trace->nt - 1];
    double room = last > first ? 0.015 * (last - first) : 1;
    fprintf(sheet->script,
            "set xrange [%.9g:%.9g]; set grid xtics ytics linetype 1 linewidth 0.7 linecolor "
            "'#e0e0e0'\n",
            first - room, last + room);
    if (trace->has_fit) {
        fprintf(
            sheet->script,
            "set arrow from %.9g,graph 0 to %.9g,graph 1 nohead dashtype 3 linecolor '#808080'\n",
            trace->t0, trace->t0);
    }
}

static bool has_value(const sxi_trace *trace) {
    for (int64_t t = 0; t < trace->nt; t++) {
        if (isfinite(trace->y[t])) {
            return true;
        }
    }
    return false;
}

sx_status sxi_panel_trace(sxi_sheet *sheet, sxi_box box, const char *title,
                          const sxi_trace *trace) {
    FILE *data = sxi_plot_open(sheet->plot, SXI_PLOT_TRACE);
    if (!data || !sheet->script) {
        return SX_OK;
    }
    SXI_TRY(write_samples(trace, data));
    if (trace->has_fit) {
        SXI_TRY(write_curve(trace, data));
    }
    sxi_box upper = box, lower = box;
    if (trace->has_fit) {
        lower.height = 0.22 * box.height;
        lower.y = box.y + box.height - lower.height;
        upper.height = box.height - lower.height - 16;
    }
    bool any = has_value(trace);
    sxi_panel_axes(sheet, upper, title, trace->has_fit ? "" : "delay (ps)",
                   trace->relative ? "I_{on} / I_{off} − 1 (%)" : "signal");
    write_range(sheet, trace);
    if (trace->has_fit) {
        fputs("set format x ''\n", sheet->script);
    }
    if (any) {
        plot_samples(sheet, trace);
    } else {
        fputs(
            "set yrange [-1:1]; set label 'no sample' at graph 0.5,0.5 center\nplot NaN notitle\n",
            sheet->script);
    }
    sxi_panel_done(sheet);
    if (trace->has_fit && any) {
        sxi_panel_axes(sheet, lower, "", "delay (ps)", "residual (σ)");
        write_range(sheet, trace);
        fputs("set yrange [*<-4:4<*]; set ytics add autofreq 3\n", sheet->script);
        plot_residuals(sheet);
        sxi_panel_done(sheet);
    }
    return SX_OK;
}

void sxi_panel_counts(sxi_sheet *sheet, sxi_box box, const char *title, int64_t nt,
                      const double *delay, const double *count) {
    FILE *data = sxi_plot_open(sheet->plot, SXI_PLOT_TRACE);
    if (!data || !sheet->script) {
        return;
    }
    fputs("\n\n# delay (ps), shots\n", data);
    for (int64_t t = 0; t < nt; t++) {
        fprintf(data, "%.9g %.9g\n", delay[t], count[t]);
    }
    sxi_panel_axes(sheet, box, title, "delay (ps)", "shots");
    fputs("set yrange [0:*]; set grid xtics ytics linetype 1 linewidth 0.7 linecolor "
          "'#e0e0e0'\nplot ",
          sheet->script);
    sxi_plot_quote(sheet->plot, SXI_PLOT_TRACE);
    fputs(" index 1 using 1:2 with impulses linewidth 2 linecolor '#35506b' notitle\n",
          sheet->script);
    sxi_panel_done(sheet);
}
