/* SPDX-License-Identifier: Apache-2.0
 * The run over the delay, and what of it can be checked without knowing the answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/report.h"

/* --- curves --- */

static sx_status add_curve(sxi_report *report, const char *title, const char *y, bool bars,
                           const double *value) {
    const sxi_source_info *info = report->fitted.info;
    sx_status status = SX_OK;
    json_t *xs = json_array(), *ys = json_array();
    for (int64_t t = 0; t < info->nt; t++) {
        SXI_GO(sxi_report_add(xs, json_real(info->delay_ps[t])));
        SXI_GO(sxi_report_add(ys, isfinite(value[t]) ? json_real(value[t]) : json_null()));
    }
    SXI_GO(sxi_report_add(json_object_get(report->description, "curves"),
                          json_pack("{s:s, s:s, s:s, s:b, s:b, s:O, s:O}", "title", title, "x",
                                    "delay (ps)", "y", y, "bars", bars, "points", !bars, "xs", xs,
                                    "ys", ys)));
out:
    json_decref(xs);
    json_decref(ys);
    return status;
}

/* Shots of each delay, where the file that was fitted is a cube of ours. */
static sx_status add_counts(sxi_report *report) {
    static const char *const name = "/cube/count";
    static const sx_dtype real = SX_F64;
    const char *path = report->fitted.arguments.input.cube;
    sx_status status = SX_OK;
    sx_array count = {0};
    sx_hdf5 *file = NULL;
    if (path && sx_hdf5_open(path, &file) == SX_OK && sxi_h5_exists(file, name)) {
        SXI_GO(sxi_h5_read(file, name, &real, &count));
        if (sx_array_count(&count) == report->fitted.info->nt) {
            SXI_GO(add_curve(report, "shots of each delay", "shots", true, count.data));
        }
    }
out:
    sx_array_destroy(&count);
    sx_hdf5_close(&file);
    return status;
}

/* rms [nt] of the signal over the frame. */
static void root_mean_square(const sxi_report *report, double *rms) {
    for (int64_t t = 0; t < report->fitted.info->nt; t++) {
        rms[t] = sqrt(report->moments.square[t] / report->moments.count[t]);
    }
}

/* --- checks --- */

static sx_status check_states(sxi_report *report) {
    const sxi_fit_file *fit = &report->fit;
    char words[256];
    int64_t used = 0;
    for (int64_t i = 0; i < fit->npix; i++) {
        used += strncmp(fit->name[(int)fit->class[i]].words, "masked", 6) != 0;
    }
    const bool good = 2 * fit->ok >= used && used > 0;
    snprintf(words, sizeof words, "%lld of %lld pixels that are not masked are in state ok%s",
             (long long)fit->ok, (long long)used,
             good ? "" : ": look at the map of states for what became of the others");
    return sxi_report_check(report, good, words);
}

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* chi2 of the pixel in the middle of those in state ok. */
static sx_status check_chi2(sxi_report *report) {
    const sxi_fit_file *fit = &report->fit;
    char words[256];
    float *value = malloc((size_t)fit->npix * sizeof *value);
    int64_t count = 0;
    if (!value) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a check");
    }
    for (int64_t i = 0; i < fit->npix; i++) {
        if (isfinite(fit->chi2[i])) {
            value[count++] = fit->chi2[i];
        }
    }
    qsort(value, (size_t)count, sizeof *value, by_value);
    const double median = count > 0 ? (double)value[count / 2] : (double)NAN;
    free(value);
    if (fit->no_sigma || count == 0) {
        return SX_OK;
    }
    const bool good = median > 0.8 && median < 1.25;
    snprintf(words, sizeof words, "χ² per degree of freedom is %.3g in the middle of all pixels%s",
             median,
             good           ? ": the errors given describe the scatter"
             : median < 0.8 ? ": the errors given are larger than the scatter"
                            : ": the errors given are smaller than the scatter, or the model is "
                              "not what happens");
    return sxi_report_check(report, good, words);
}

/* Before time zero nothing happens. Where more does than after it, the axis may run backwards. */
static sx_status check_before(sxi_report *report, const double *rms) {
    enum { LEAST = 3 };
    const sxi_source_info *info = report->fitted.info;
    double sum[2] = {0};
    int64_t count[2] = {0};
    char words[256];
    for (int64_t t = 0; t < info->nt; t++) {
        const bool after = info->delay_ps[t] >= report->fit.t0;
        if (isfinite(rms[t])) {
            sum[after] += rms[t] * rms[t];
            count[after]++;
        }
    }
    if (count[0] < LEAST || count[1] < LEAST) {
        return SX_OK;
    }
    const double before = sqrt(sum[0] / (double)count[0]), after = sqrt(sum[1] / (double)count[1]);
    const bool good = before <= 1.1 * after;
    snprintf(words, sizeof words, "the signal before time zero is %.3g of that after it%s",
             before / after,
             good ? "" : ": are the signs of delay and time tool right, and time zero?");
    return sxi_report_check(report, good, words);
}

static sx_status check_empty(sxi_report *report) {
    int64_t empty = 0;
    char words[256];
    for (int64_t t = 0; t < report->fitted.info->nt; t++) {
        empty += !(report->moments.count[t] > 0);
    }
    snprintf(words, sizeof words, "%lld of %lld delays have no samples", (long long)empty,
             (long long)report->fitted.info->nt);
    return sxi_report_check(report, empty == 0, words);
}

static sx_status show_samples(sxi_report *report) {
    const size_t nt = (size_t)report->fitted.info->nt;
    const double unit = report->fit.relative ? 100 : 1;
    sx_status status = SX_OK;
    double *rms = malloc(2 * nt * sizeof *rms);
    if (!rms) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a curve");
    }
    double *shown = rms + nt;
    root_mean_square(report, rms);
    for (size_t t = 0; t < nt; t++) {
        shown[t] = unit * rms[t];
    }
    SXI_GO(add_curve(report, "size of the signal over the frame",
                     report->fit.relative ? "root mean square (%)" : "root mean square", false,
                     shown));
    SXI_GO(add_counts(report));
    SXI_GO(check_empty(report));
    SXI_GO(check_before(report, rms));
out:
    free(rms);
    return status;
}

sx_status sxi_report_run(sxi_report *report) {
    if (report->has_fit) {
        SXI_TRY(check_states(report));
        SXI_TRY(check_chi2(report));
    }
    SXI_TRY(sxi_report_told(report));
    return report->has_samples ? show_samples(report) : SX_OK;
}
