/* SPDX-License-Identifier: Apache-2.0
 * The numbers of the fit, of the pixels that can be looked at in full. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "report/report.h"

/* Maps, and maps of each mode, of fit.h5; what a file has not is NaN. */
static const char *const maps[] = {"state",
                                   "modes",
                                   "chi2",
                                   "offset",
                                   "offset_errors",
                                   "background_slope",
                                   "background_amplitude",
                                   "background_time"};
static const char *const stacks[] = {
    "frequency", "frequency_errors", "amplitude", "amplitude_errors",
    "decay",     "decay_errors",     "phase",     "phase_errors"};
enum { MAPS = sizeof maps / sizeof *maps, STACKS = sizeof stacks / sizeof *stacks };

typedef struct fields {
    sxi_report *report;
    int64_t count, done;
    float *value;  /* [pixels][count] */
    double *plane; /* [npix] */
    json_t *names;
} fields;

/* One more field of every pixel; its name in the page is that of the dataset, and the mode. */
static sx_status add_field(fields *f, const char *name, int64_t mode) {
    const sxi_fit_file *fit = &f->report->fit;
    const sxi_report_lattice *lattice = &f->report->lattice;
    char path[64], title[64];
    snprintf(path, sizeof path, "/fit/%s", name);
    const bool given = sxi_h5_exists(fit->h5, path);
    if (given) {
        SXI_TRY(sxi_fit_plane(fit, path, mode, f->plane));
    }
    for (int64_t i = 0; i < lattice->rows; i++) {
        for (int64_t j = 0; j < lattice->width; j++) {
            const int64_t at = (lattice->row0 + i * lattice->step) * fit->width + lattice->column0 +
                               j * lattice->step;
            f->value[(i * lattice->width + j) * f->count + f->done] =
                given ? (float)f->plane[at] : NAN;
        }
    }
    f->done++;
    if (mode < 0) {
        return sxi_report_add(f->names, json_string(name));
    }
    snprintf(title, sizeof title, "%s %lld", name, (long long)mode);
    return sxi_report_add(f->names, json_string(title));
}

static sx_status add_fields(fields *f) {
    for (int m = 0; m < MAPS; m++) {
        SXI_TRY(add_field(f, maps[m], -1));
    }
    for (int64_t mode = 0; mode < f->report->fit.modes; mode++) {
        for (int s = 0; s < STACKS; s++) {
            SXI_TRY(add_field(f, stacks[s], mode));
        }
    }
    return SX_OK;
}

int64_t sxi_report_pixel_bytes(const sxi_report *report) {
    return report->has_fit ? (MAPS + STACKS * report->fit.modes) * (int64_t)sizeof(float) : 0;
}

sx_status sxi_report_pixels(sxi_report *report) {
    if (!report->has_fit) {
        return SX_OK;
    }
    const int64_t pixels = report->lattice.rows * report->lattice.width;
    fields f = {.report = report, .count = MAPS + STACKS * report->fit.modes};
    sx_status status = SX_OK;
    f.value = malloc((size_t)(pixels * f.count) * sizeof *f.value);
    f.plane = malloc((size_t)report->fit.npix * sizeof *f.plane);
    f.names = json_array();
    if (!f.value || !f.plane || !f.names) {
        status =
            SXI_FAIL(SX_ERR_MEMORY, "no memory for the numbers of %lld pixels", (long long)pixels);
        goto out;
    }
    SXI_GO(add_fields(&f));
    SXI_GO(sxi_page_block(report->page, "pixels", SX_F32, pixels * f.count, f.value));
    SXI_GO(sxi_report_set(report->description, "fields", json_incref(f.names)));
out:
    json_decref(f.names);
    free(f.value);
    free(f.plane);
    return status;
}
