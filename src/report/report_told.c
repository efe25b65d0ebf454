/* SPDX-License-Identifier: Apache-2.0
 * What earlier steps found out about the run: labels, time tool and I0 by the reduction, geometry and
 * orientation by the dispersion. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "report/report.h"

sx_status sxi_report_check(sxi_report *report, bool good, const char *words) {
    report->summary.checks++;
    if (!good) {
        report->summary.doubts++;
        sx_log(report->context, SX_LOG_WARNING, "%s", words);
    }
    return sxi_report_add(
        json_object_get(report->description, "checks"),
        json_pack("{s:s, s:o}", "level", good ? "good" : "warning", "words", sxi_page_text(words)));
}

static double number(sx_hdf5 *file, const char *object, const char *name) {
    double value;
    return sxi_h5_attribute_real(file, object, name, &value) == SX_OK ? value : (double)NAN;
}

/* --- the reduction --- */

static sx_status add_warnings(sxi_report *report, sx_hdf5 *file, int *count) {
    for (*count = 0; *count < 10; ++*count) {
        char name[16], words[512];
        snprintf(name, sizeof name, "warning_%d", *count);
        if (sxi_h5_attribute_text(file, "/cube/sums", name, words, sizeof words) != SX_OK) {
            break;
        }
        SXI_TRY(sxi_report_check(report, false, words));
    }
    return SX_OK;
}

static sx_status add_reduction(sxi_report *report, sx_hdf5 *file) {
    char words[512];
    int warnings;
    const double correlation = number(file, "/cube/sums", "i0_correlation");
    const double slope = number(file, "/cube/sums", "time_tool_slope");
    if (!isfinite(correlation)) {
        return SX_OK; /* not of xani reduce */
    }
    SXI_TRY(add_warnings(report, file, &warnings));
    if (warnings > 0) {
        return SX_OK;
    }
    int used =
        snprintf(words, sizeof words,
                 "frames follow I0 (correlation %.2f); with the delay those with laser change "
                 "by %.1f standard deviations of chance, those without by %.1f",
                 correlation, number(file, "/cube/sums", "on_change"),
                 number(file, "/cube/sums", "off_change"));
    if (isfinite(slope) && number(file, "/cube/sums", "time_tool_rms") > 0) {
        snprintf(
            words + used, sizeof words - (size_t)used,
            "; the time tool scatters by %.3g ps with a slope of %.2f against the nominal delay, "
            "and its sign makes frames sharper by %.1f",
            number(file, "/cube/sums", "time_tool_rms"), slope,
            number(file, "/cube/sums", "sharpness"));
    }
    return sxi_report_check(report, true, words);
}

/* --- the dispersion --- */

static sx_status add_orientation(sxi_report *report, sx_hdf5 *file) {
    char words[512], verdict[64];
    if (sxi_h5_attribute_text(file, "/pixels", "agreement", verdict, sizeof verdict) != SX_OK ||
        strncmp(verdict, "not told", 8) == 0) {
        return SX_OK;
    }
    const bool good = strcmp(verdict, "agree") == 0, mirrored = strcmp(verdict, "mirrored") == 0;
    const int used = snprintf(words, sizeof words,
                              "%.0f %% of pixels that symmetry makes equivalent show the same "
                              "frequency, of any two %.0f %%",
                              100 * number(file, "/pixels", "alike"),
                              100 * number(file, "/pixels", "alike_by_chance"));
    if (!good) {
        snprintf(words + used, sizeof words - (size_t)used, "%s (%.0f %%): %s",
                 mirrored ? ", and more would with an axis of the detector reversed"
                          : ", by another orientation at best",
                 100 * number(file, "/pixels", "alike_otherwise"),
                 mirrored ? "the geometry looks mirrored"
                          : "orientation (UB), angles, cell or distance look wrong");
    }
    return sxi_report_check(report, good, words);
}

/* --- both --- */

static sx_status look(sxi_report *report, const char *path,
                      sx_status (*add)(sxi_report *, sx_hdf5 *)) {
    sx_hdf5 *file = NULL;
    if (!path || sx_hdf5_open(path, &file) != SX_OK) {
        return SX_OK; /* a CSV, or a cube that is no longer there */
    }
    const sx_status status = add(report, file);
    sx_hdf5_close(&file);
    return status;
}

sx_status sxi_report_told(sxi_report *report) {
    const char *cube = report->cube_path ? report->cube_path : report->fitted.arguments.input.cube;
    SXI_TRY(look(report, cube, add_reduction));
    return look(report, report->dispersion_path, add_orientation);
}
