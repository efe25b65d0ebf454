/* SPDX-License-Identifier: Apache-2.0
 * The path of a dispersion.h5: fitted modes, and calculated bands if there are any. */
#include <stdlib.h>

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

sx_status sxi_report_path(sxi_report *report) {
    if (!report->dispersion_path) {
        return SX_OK;
    }
    sx_hdf5 *file = NULL;
    json_t *path = json_object();
    SXI_TRY(sxi_report_set(report->description, "path", path));
    SXI_TRY(sx_hdf5_open(report->dispersion_path, &file));
    const sx_status status = describe_path(report, file, path);
    sx_hdf5_close(&file);
    return status;
}
