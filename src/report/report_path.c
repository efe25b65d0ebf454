/* SPDX-License-Identifier: Apache-2.0
 * Of a dispersion.h5: the borders of Brillouin zones over the frame; the path with its fitted modes, and
 * calculated bands if there are any. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/report.h"

/* A dataset of numbers as a block of single precision. */
static sx_status add_block(sxi_report *report, sx_hdf5 *file, const char *name, const char *block) {
    static const sx_dtype single = SX_F32;
    sx_array array = {0};
    SXI_TRY(sxi_h5_read(file, name, &single, &array));
    const sx_status status =
        sxi_page_block(report->page, block, SX_F32, sx_array_count(&array), array.data);
    sx_array_destroy(&array);
    return status;
}

static sx_status describe_stops(sx_hdf5 *file, json_t *path) {
    static const sx_dtype real = SX_F64;
    sx_status status = SX_OK;
    sx_array at = {0};
    json_t *stops = json_array();
    SXI_GO(sxi_report_set(path, "stops", stops));
    SXI_GO(sxi_h5_read(file, "/path/label_distance", &real, &at));
    for (int64_t i = 0; i < sx_array_count(&at); i++) {
        char label[64];
        SXI_GO(sxi_h5_read_text(file, "/path/label", i, label, sizeof label));
        SXI_GO(sxi_report_add(stops, json_pack("{s:o, s:f}", "label", sxi_page_text(label), "at",
                                               ((const double *)at.data)[i])));
    }
out:
    sx_array_destroy(&at);
    return status;
}

static sx_status describe_path(sxi_report *report, sx_hdf5 *file, json_t *path) {
    char branch[128];
    sx_hdf5_dataset bands;
    SXI_TRY(describe_stops(file, path));
    SXI_TRY(sxi_h5_attribute_text(file, "/path", "branch", branch, sizeof branch));
    SXI_TRY(sxi_report_set(path, "branch", sxi_page_text(branch)));
    SXI_TRY(add_block(report, file, "/path/distance", "path-distance"));
    SXI_TRY(add_block(report, file, "/path/frequency", "path-frequency"));
    SXI_TRY(add_block(report, file, "/path/frequency_errors", "path-errors"));
    if (!sxi_h5_exists(file, "/path/bands")) {
        return sxi_report_set(path, "bands", json_integer(0));
    }
    SXI_TRY(sx_hdf5_describe(file, "/path/bands", &bands));
    SXI_TRY(sxi_report_set(path, "bands", json_integer(bands.shape[bands.rank - 1])));
    SXI_TRY(add_block(report, file, "/path/band_distance", "band-distance"));
    return add_block(report, file, "/path/bands", "bands");
}

/* --- Brillouin zones over the frame --- */

enum { ZONES = 4096, NO_ZONE = 65535 };

/* Lattice points nearest to the pixels of the first run: h less its part in the first zone. */
static sx_status read_lattice_points(sx_hdf5 *file, int64_t npix, double *g, bool *there) {
    static const sx_dtype real = SX_F64;
    sx_status status = SX_OK;
    *there = false;
    for (int d = 0; d < 3; d++) {
        char name[32], zone[32];
        sx_array h = {0}, q = {0};
        snprintf(name, sizeof name, "/pixels/%c", "hkl"[d]);
        snprintf(zone, sizeof zone, "/pixels/zone_%c", "hkl"[d]);
        if (!sxi_h5_exists(file, name) || !sxi_h5_exists(file, zone)) {
            return SX_OK;
        }
        status = sxi_h5_read(file, name, &real, &h);
        if (status == SX_OK) {
            status = sxi_h5_read(file, zone, &real, &q);
        }
        const bool fits = status == SX_OK && sx_array_count(&h) >= npix &&
                          sx_array_count(&q) == sx_array_count(&h) && h.rank > 1 &&
                          sx_array_count(&h) == npix * h.shape[0];
        for (int64_t i = 0; fits && i < npix; i++) {
            g[3 * i + d] = round(((const double *)h.data)[i] - ((const double *)q.data)[i]);
        }
        sx_array_destroy(&h);
        sx_array_destroy(&q);
        SXI_TRY(status);
        if (!fits) {
            return SX_OK; /* of other maps */
        }
    }
    *there = true;
    return SX_OK;
}

/* Numbers the zones as they come; false: there are more than anyone could tell apart. */
static bool number_zones(const double *g, int64_t npix, uint16_t *zone) {
    static const double tolerance = 0.5;
    double known[ZONES][3];
    int count = 0, last = 0;
    for (int64_t i = 0; i < npix; i++) {
        const double *at = g + 3 * i;
        zone[i] = NO_ZONE;
        if (!isfinite(at[0] + at[1] + at[2])) {
            continue;
        }
        for (int k = 0; k <= count; k++) {
            const int z = k == 0 ? last : k - 1;
            if (z < count && fabs(known[z][0] - at[0]) < tolerance &&
                fabs(known[z][1] - at[1]) < tolerance && fabs(known[z][2] - at[2]) < tolerance) {
                zone[i] = (uint16_t)(last = z);
                break;
            }
        }
        if (zone[i] == NO_ZONE) {
            if (count == ZONES) {
                return false;
            }
            memcpy(known[count], at, sizeof known[count]);
            zone[i] = (uint16_t)(last = count++);
        }
    }
    return true;
}

static sx_status add_zones(sxi_report *report, sx_hdf5 *file) {
    int64_t rows, width;
    bool there;
    sx_status status = SX_OK;
    if (!report->has_fit) {
        return SX_OK;
    }
    sxi_report_frame(report, &rows, &width);
    const int64_t npix = rows * width;
    double *g = malloc((size_t)(3 * npix + 1) * sizeof *g);
    uint16_t *zone = malloc((size_t)(npix + 1) * sizeof *zone);
    if (!g || !zone) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for the zones of %lld pixels", (long long)npix);
        goto out;
    }
    SXI_GO(read_lattice_points(file, npix, g, &there));
    if (there && number_zones(g, npix, zone)) {
        SXI_GO(sxi_page_block(report->page, "zones", SX_U16, npix, zone));
    }
out:
    free(g);
    free(zone);
    return status;
}

sx_status sxi_report_path(sxi_report *report) {
    if (!report->dispersion_path) {
        return SX_OK;
    }
    sx_hdf5 *file = NULL;
    sx_status status = SX_OK;
    SXI_TRY(sx_hdf5_open(report->dispersion_path, &file));
    SXI_GO(add_zones(report, file));
    if (sxi_h5_exists(file, "/path")) {
        json_t *path = json_object();
        SXI_GO(sxi_report_set(report->description, "path", path));
        SXI_GO(describe_path(report, file, path));
    }
out:
    sx_hdf5_close(&file);
    return status;
}
