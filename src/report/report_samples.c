/* SPDX-License-Identifier: Apache-2.0
 * One pass over the samples: traces of pixels on a lattice, the frame delay by delay in bins, and
 * moments of every delay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/report.h"

/* What frames may take, before compression. */
static const int64_t FRAME_BYTES = 12LL << 20;

/* What is read at once. */
static const int64_t BAND_BYTES = 64LL << 20;

/* The part of the signal, by size, that the colours of a frame span. */
static const double SHOWN = 0.995;

typedef struct samples {
    sxi_report *report;
    int64_t rows, width, nt;     /* the maps */
    double *y, *sigma;           /* [width][nt] one row */
    int16_t *trace;              /* [n][nt] */
    uint16_t *error;             /* [n][nt]; NULL: no sigma */
    float *scale;                /* [n][3] middle, step, step of sigma */
    int64_t bin, bins_y, bins_x; /* of frames */
    float *frame;                /* [nt][bins_y][bins_x] */
    double *sum, *count;         /* [bins_x][nt] of the bins that are being filled */
} samples;

/* --- traces --- */

static void put_trace(samples *s, int64_t at, const double *y, const double *sigma) {
    double low = (double)INFINITY, high = (double)-INFINITY, most = 0;
    for (int64_t t = 0; t < s->nt; t++) {
        low = isfinite(y[t]) ? fmin(low, y[t]) : low;
        high = isfinite(y[t]) ? fmax(high, y[t]) : high;
        most = s->error && isfinite(sigma[t]) ? fmax(most, sigma[t]) : most;
    }
    const double middle = low <= high ? low / 2 + high / 2 : 0;
    const double step = high > low ? (high / 2 - low / 2) / INT16_MAX : 1;
    const double error = most > 0 ? most / UINT16_MAX : 1;
    for (int64_t t = 0; t < s->nt; t++) {
        s->trace[at * s->nt + t] =
            isfinite(y[t]) ? (int16_t)lrint((y[t] - middle) / step) : INT16_MIN;
        if (s->error) {
            const bool given = isfinite(sigma[t]) && sigma[t] > 0;
            s->error[at * s->nt + t] = given ? (uint16_t)lrint(sigma[t] / error) : 0;
        }
    }
    s->scale[3 * at] = (float)middle;
    s->scale[3 * at + 1] = (float)step;
    s->scale[3 * at + 2] = (float)error;
}

static void put_traces(samples *s, int64_t row) {
    const sxi_report_lattice *lattice = &s->report->lattice;
    if (row % lattice->step != lattice->row0) {
        return;
    }
    for (int64_t j = 0; j < lattice->width; j++) {
        const int64_t column = lattice->column0 + j * lattice->step;
        put_trace(s, row / lattice->step * lattice->width + j, s->y + column * s->nt,
                  s->sigma + column * s->nt);
    }
}

/* --- frames and moments --- */

static void add_row(samples *s) {
    const sxi_report_moments *moments = &s->report->moments;
    for (int64_t x = 0; x < s->width; x++) {
        double *sum = s->sum + x / s->bin * s->nt, *count = s->count + x / s->bin * s->nt;
        for (int64_t t = 0; t < s->nt; t++) {
            const double y = s->y[x * s->nt + t];
            const bool given = isfinite(y);
            sum[t] += given ? y : 0;
            count[t] += given;
            moments->square[t] += given ? y * y : 0;
            moments->count[t] += given;
        }
    }
}

static void end_bins(samples *s, int64_t bin_row) {
    const int64_t size = s->bins_x * s->nt;
    for (int64_t x = 0; x < s->bins_x; x++) {
        for (int64_t t = 0; t < s->nt; t++) {
            const double count = s->count[x * s->nt + t];
            s->frame[(t * s->bins_y + bin_row) * s->bins_x + x] =
                count > 0 ? (float)(s->sum[x * s->nt + t] / count) : NAN;
        }
    }
    memset(s->sum, 0, (size_t)size * sizeof *s->sum);
    memset(s->count, 0, (size_t)size * sizeof *s->count);
}

/* Bins of some rows end where a segment does not: bins hold rows of the maps as they follow. */
static void take_row(samples *s, int64_t row) {
    put_traces(s, row);
    add_row(s);
    if ((row + 1) % s->bin == 0 || row + 1 == s->rows) {
        end_bins(s, row / s->bin);
    }
}

/* --- the pass --- */

/* Rows that are read at once: whole chunks, of one segment. */
static int64_t rows_of_band(const samples *s) {
    const sxi_fitted *fitted = &s->report->fitted;
    const int64_t bytes =
        s->nt * fitted->info->width * fitted->frame.bin_y * (int64_t)sizeof(double);
    const int64_t chunk = fitted->info->chunk_rows / fitted->frame.bin_y;
    int64_t rows = BAND_BYTES / bytes;
    rows = chunk > 1 && rows > chunk ? rows / chunk * chunk : rows;
    return rows > 1 ? rows : chunk > 1 ? chunk : 1;
}

static sx_status take_band(samples *s, int64_t row, int64_t rows) {
    sxi_fitted *fitted = &s->report->fitted;
    SXI_TRY(sxi_fitted_read(fitted, row, rows));
    for (int64_t r = 0; r < rows; r++) {
        sxi_fitted_gather(fitted, r, 0, s->width, s->y, s->sigma);
        take_row(s, row + r);
    }
    return SX_OK;
}

static sx_status take_all(samples *s) {
    const int64_t segment = s->report->fitted.frame.rows, most = rows_of_band(s);
    for (int64_t row = 0, rows; row < s->rows; row += rows) {
        const int64_t left = segment - row % segment;
        rows = left < most ? left : most;
        SXI_TRY(take_band(s, row, rows));
        sx_progress(s->report->context, "rows", row + rows, s->rows);
        if (sx_cancelled(s->report->context)) {
            return SXI_FAIL(SX_ERR_CANCELLED, "stopped; no report was written");
        }
    }
    return SX_OK;
}

/* --- into the page --- */

static sx_status write_traces(const samples *s) {
    sxi_page *page = s->report->page;
    const int64_t n = s->report->lattice.rows * s->report->lattice.width;
    SXI_TRY(sxi_page_block(page, "trace-y", SX_I16, n * s->nt, s->trace));
    SXI_TRY(sxi_page_block(page, "trace-scale", SX_F32, 3 * n, s->scale));
    s->report->summary.traces = n;
    s->report->summary.step = s->report->lattice.step;
    return s->error ? sxi_page_block(page, "trace-sigma", SX_U16, n * s->nt, s->error) : SX_OK;
}

static int by_size(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Of the sizes of some values, evenly spread, the one that SHOWN of them do not exceed; 0: none. */
static double shown_size(int64_t n, const float *value) {
    enum { MOST = 100000 };
    float *size = malloc(MOST * sizeof *size);
    int64_t count = 0;
    const int64_t step = n / MOST + 1;
    for (int64_t i = 0; size && i < n; i += step) {
        if (isfinite(value[i])) {
            size[count++] = fabsf(value[i]);
        }
    }
    double shown = 0;
    if (count > 0) {
        qsort(size, (size_t)count, sizeof *size, by_size);
        shown = (double)size[(int64_t)(SHOWN * (double)(count - 1))];
    }
    free(size);
    return shown;
}

/* The delay at which the frame differs most from none. */
static int64_t strongest_delay(const sxi_report_moments *moments, int64_t nt) {
    int64_t best = 0;
    for (int64_t t = 1; t < nt; t++) {
        const double here = moments->square[t] * moments->count[best];
        best = here > moments->square[best] * moments->count[t] ? t : best;
    }
    return best;
}

static sx_status write_frames(const samples *s) {
    enum { STEPS = 127 };
    const int64_t n = s->nt * s->bins_y * s->bins_x;
    const double high = shown_size(n, s->frame);
    int8_t *stored = malloc((size_t)n);
    if (!stored) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the frames of a report");
    }
    for (int64_t i = 0; i < n; i++) {
        const double part = high > 0 ? (double)s->frame[i] / high : 0;
        stored[i] =
            isfinite(s->frame[i]) ? (int8_t)lrint(STEPS * fmin(fmax(part, -1), 1)) : INT8_MIN;
    }
    sx_status status = sxi_page_block(s->report->page, "frames", SX_I8, n, stored);
    free(stored);
    SXI_TRY(status);
    const double unit = s->report->fit.relative ? 100 : 1;
    return sxi_report_set(s->report->description, "frames",
                          json_pack("{s:I, s:I, s:I, s:f, s:I}", "bin", (json_int_t)s->bin, "rows",
                                    (json_int_t)s->bins_y, "width", (json_int_t)s->bins_x, "high",
                                    high * unit, "shown",
                                    (json_int_t)strongest_delay(&s->report->moments, s->nt)));
}

/* --- memory --- */

static sx_status make(sxi_report *report, samples *s) {
    const sxi_source_info *info = report->fitted.info;
    *s = (samples){.report = report, .nt = info->nt, .bin = 1};
    sxi_report_frame(report, &s->rows, &s->width);
    while ((s->rows / s->bin + 1) * (s->width / s->bin + 1) * s->nt > FRAME_BYTES &&
           s->bin < s->rows + s->width) {
        s->bin++;
    }
    s->bins_y = (s->rows + s->bin - 1) / s->bin;
    s->bins_x = (s->width + s->bin - 1) / s->bin;
    const size_t n = (size_t)(s->report->lattice.rows * s->report->lattice.width),
                 nt = (size_t)s->nt;
    const size_t row = (size_t)s->width * nt, bins = (size_t)s->bins_x * nt;
    s->y = malloc(2 * row * sizeof *s->y);
    s->sigma = s->y ? s->y + row : NULL;
    s->trace = malloc(n * nt * sizeof *s->trace);
    s->error = info->has_sigma ? malloc(n * nt * sizeof *s->error) : NULL;
    s->scale = malloc(3 * n * sizeof *s->scale);
    s->frame = malloc((size_t)s->bins_y * bins * sizeof *s->frame);
    s->sum = calloc(2 * bins, sizeof *s->sum);
    s->count = s->sum ? s->sum + bins : NULL;
    report->moments.square = calloc(2 * nt, sizeof(double));
    report->moments.count = report->moments.square ? report->moments.square + nt : NULL;
    const bool got = s->y && s->trace && s->scale && s->frame && s->sum && report->moments.square &&
                     (s->error || !info->has_sigma);
    return got ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for the traces of a report");
}

static void release(samples *s) {
    free(s->y);
    free(s->trace);
    free(s->error);
    free(s->scale);
    free(s->frame);
    free(s->sum);
}

sx_status sxi_report_samples(sxi_report *report) {
    samples s = {0};
    sx_status status = SX_OK;
    if (!report->has_samples) {
        return SX_OK;
    }
    SXI_GO(make(report, &s));
    SXI_GO(take_all(&s));
    SXI_GO(write_traces(&s));
    if (s.rows * s.width > 1) {
        SXI_GO(write_frames(&s));
    }
out:
    release(&s);
    return status;
}
