/* SPDX-License-Identifier: Apache-2.0
 * Frequencies along the path of a dispersion.h5: fitted modes with errors over their spectrum, calculated bands
 * where there are any. */
#include "xani/figure/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/hdf5/h5file.h"

static const double WIDTH = 1400, HEIGHT = 860, LEFT = 90, TOP = 70, RIGHT = 40, BOTTOM = 120;

typedef struct path_file {
    sx_hdf5 *h5;
    sx_array distance, frequency, error, at, spectrum, spectrum_distance, spectrum_frequency;
    sx_array band_distance, bands; /* empty: none */
    double length, top;            /* 1/Angstrom, THz */
} path_file;

static void path_close(path_file *p) {
    enum { ARRAYS = 9 };
    sx_array *const arrays[ARRAYS] = {
        &p->distance,          &p->frequency,          &p->error, &p->at,           &p->spectrum,
        &p->spectrum_distance, &p->spectrum_frequency, &p->bands, &p->band_distance};
    for (int i = 0; i < ARRAYS; i++) {
        sx_array_destroy(arrays[i]);
    }
    sx_hdf5_close(&p->h5);
}

static double value(const sx_array *array, int64_t i) { return ((const double *)array->data)[i]; }

/* The largest frequency that is drawn, with some room. */
static double highest(const path_file *p) {
    double most = 0;
    for (int64_t i = 0; i < sx_array_count(&p->frequency); i++) {
        most = fmax(most, value(&p->frequency, i));
    }
    for (int64_t i = 0; p->bands.data && i < sx_array_count(&p->bands); i++) {
        most = fmax(most, value(&p->bands, i));
    }
    return most > 0 ? 1.06 * most : 1;
}

static sx_status path_open(const char *path, path_file *p) {
    static const sx_dtype real = SX_F64;
    *p = (path_file){0};
    const struct {
        const char *name;
        sx_array *to;
        bool needed;
    } datasets[] = {{"/path/distance", &p->distance, true},
                    {"/path/frequency", &p->frequency, true},
                    {"/path/frequency_errors", &p->error, true},
                    {"/path/label_distance", &p->at, true},
                    {"/path/spectrum", &p->spectrum, true},
                    {"/path/spectrum_distance", &p->spectrum_distance, true},
                    {"/path/spectrum_frequency", &p->spectrum_frequency, true},
                    {"/path/band_distance", &p->band_distance, false},
                    {"/path/bands", &p->bands, false}};
    sx_status status = SX_OK;
    SXI_GO(sx_hdf5_open(path, &p->h5));
    for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++) {
        if (datasets[i].needed || sxi_h5_exists(p->h5, datasets[i].name)) {
            SXI_GO(sxi_h5_read(p->h5, datasets[i].name, &real, datasets[i].to));
        }
    }
    const int64_t stops = sx_array_count(&p->at), n = sx_array_count(&p->distance);
    if (stops < 2 || sx_array_count(&p->frequency) != n || sx_array_count(&p->error) != n ||
        p->spectrum.rank != 2 || p->spectrum.shape[0] != sx_array_count(&p->spectrum_distance) ||
        p->spectrum.shape[1] != sx_array_count(&p->spectrum_frequency) ||
        (p->bands.data &&
         (p->bands.rank != 2 || p->bands.shape[0] != sx_array_count(&p->band_distance)))) {
        status = SXI_FAIL(SX_ERR_SHAPE, "%s: the datasets of /path do not fit together", path);
        goto out;
    }
    p->length = value(&p->at, stops - 1);
    p->top = highest(p);
out:
    if (status != SX_OK) {
        path_close(p);
    }
    return status;
}

/* --- data --- */

/* Square roots, so that weak modes are seen, too; rows are frequencies, the lowest first. */
static void write_spectrum(const path_file *p, FILE *maps) {
    for (int64_t f = 0; f < p->spectrum.shape[1]; f++) {
        for (int64_t d = 0; d < p->spectrum.shape[0]; d++) {
            const float root = (float)sqrt(value(&p->spectrum, d * p->spectrum.shape[1] + f));
            fwrite(&root, sizeof root, 1, maps);
        }
    }
}

/* A missing value breaks the line; two blank lines would end the data of all bands. */
static void write_bands(const path_file *p, FILE *data) {
    const int64_t n = p->bands.shape[0], bands = p->bands.shape[1];
    bool broken = true;
    for (int64_t i = 0; i < (n + 1) * bands; i++) {
        const int64_t k = i / (n + 1), at = i % (n + 1);
        const double f = at < n ? value(&p->bands, at * bands + k) : (double)NAN;
        if (isfinite(f)) {
            fprintf(data, "%.9g %.9g\n", value(&p->band_distance, at), f);
        } else if (!broken) {
            fputc('\n', data);
        }
        broken = !isfinite(f);
    }
}

static void write_data(const path_file *p, FILE *data) {
    fputs("# along the path (1/Angstrom), frequency (THz), 1 sigma\n", data);
    for (int64_t i = 0; i < sx_array_count(&p->distance); i++) {
        fprintf(data, "%.9g %.9g %.9g\n", value(&p->distance, i), value(&p->frequency, i),
                value(&p->error, i));
    }
    if (p->bands.data) {
        fputs("\n\n# calculated: along the path (1/Angstrom), frequency (THz)\n", data);
        write_bands(p, data);
    }
}

/* --- the panel --- */

static sx_status write_stops(const path_file *p, FILE *script) {
    fputs("set xtics nomirror noenhanced (", script);
    for (int64_t i = 0; i < sx_array_count(&p->at); i++) {
        char label[64], plain[64];
        size_t n = 0;
        SXI_TRY(sxi_h5_read_text(p->h5, "/path/label", i, label, sizeof label));
        for (const char *c = label; *c && n < sizeof plain - 1; c++) {
            if (*c != '\'' && *c != '\n') {
                plain[n++] = *c;
            }
        }
        plain[n] = '\0';
        fprintf(script, "%s'%s' %.9g", i ? ", " : "", strcmp(plain, "G") == 0 ? "Γ" : plain,
                value(&p->at, i));
    }
    fputs(")\n", script);
    return SX_OK;
}

static void write_plot(const path_file *p, sxi_sheet *sheet) {
    const int64_t columns = p->spectrum.shape[0], rows = p->spectrum.shape[1];
    const double dx = p->length / (double)columns;
    const double dy =
        rows > 1 ? value(&p->spectrum_frequency, 1) - value(&p->spectrum_frequency, 0) : 1;
    fputs("plot ", sheet->script);
    sxi_plot_quote(sheet->plot, SXI_PLOT_MAPS);
    fprintf(
        sheet->script,
        " binary array=(%lld,%lld) format='%%float' dx=%.9g dy=%.9g origin=(%.9g,%.9g) with image "
        "notitle",
        (long long)columns, (long long)rows, dx, dy, value(&p->spectrum_distance, 0),
        value(&p->spectrum_frequency, 0));
    if (p->bands.data) {
        fputs(", ", sheet->script);
        sxi_plot_quote(sheet->plot, SXI_PLOT_TRACE);
        fputs(" index 1 using 1:2 with lines linewidth 1.2 linecolor '#808080' title 'calculated'",
              sheet->script);
    }
    if (sx_array_count(&p->distance) > 0) {
        fputs(", ", sheet->script);
        sxi_plot_quote(sheet->plot, SXI_PLOT_TRACE);
        fputs(" index 0 using 1:2:3 with yerrorbars pointtype 7 pointsize 0.4 linecolor '#a02020' "
              "title 'fitted, 1 sigma'",
              sheet->script);
    }
    fputc('\n', sheet->script);
}

static sx_status draw(const path_file *p, const char *path, sxi_plot *plot) {
    const char *slash = strrchr(path, '/');
    char title[512], branch[128], note[400];
    sxi_sheet sheet;
    SXI_TRY(sxi_h5_attribute_text(p->h5, "/path", "branch", branch, sizeof branch));
    snprintf(title, sizeof title, "%s: %lld modes along the path", slash ? slash + 1 : path,
             (long long)sx_array_count(&p->distance));
    snprintf(note, sizeof note,
             "Branch rule %s. Shade: square root of the spectrum, squared amplitude per THz.",
             branch);
    sxi_sheet_begin(&sheet, plot, WIDTH, HEIGHT, p->spectrum.shape[1], p->spectrum.shape[0], title);
    FILE *data = sxi_plot_open(plot, SXI_PLOT_TRACE);
    if (!sheet.script || !sheet.maps || !data) {
        return SX_OK; /* the plot tells */
    }
    write_spectrum(p, sheet.maps);
    write_data(p, data);
    sxi_sheet_text(&sheet, 24, HEIGHT - 24, "sans,10", note);
    sxi_panel_axes(&sheet, (sxi_box){LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM}, "",
                   "wave vector", "frequency (THz)");
    SXI_TRY(write_stops(p, sheet.script));
    fprintf(
        sheet.script,
        "set xrange [0:%.9g]; set yrange [0:%.9g]\nset grid xtics front linetype 1 linewidth 0.7 "
        "linecolor '#b0b0b0'\nset palette defined (0 '#ffffff', 1 '#2f6f9f'); unset colorbox\nset "
        "key "
        "top right opaque\n",
        p->length, p->top);
    write_plot(p, &sheet);
    sxi_panel_done(&sheet);
    sxi_sheet_end(&sheet);
    return SX_OK;
}

sx_status sxi_figure_path(const char *path, const sx_xani_figure_options *options,
                          const char *output, const sx_context *context) {
    sx_status status = SX_OK;
    path_file p;
    sxi_plot *plot = NULL;
    SXI_TRY(path_open(path, &p));
    SXI_GO(sxi_plot_create(output, options->overwrite, &plot));
    SXI_GO(draw(&p, path, plot));
    SXI_GO(sxi_plot_commit(&plot, context));
out:
    sxi_plot_abandon(&plot);
    path_close(&p);
    return status;
}
