/* SPDX-License-Identifier: Apache-2.0
 * Maps, as the page draws them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/report.h"

/* Four digits are enough for a map, and bits that are not there need no room. */
static float rounded(float value) {
    enum { DROPPED = 10 };
    uint32_t bits;
    if (!isfinite(value)) {
        return NAN;
    }
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + (UINT32_C(1) << (DROPPED - 1))) & ~((UINT32_C(1) << DROPPED) - 1);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A map [npix], which is rounded in place. */
static sx_status add_map(sxi_report *report, const char *id, const char *title, const char *unit,
                         sxi_palette palette, int64_t npix, float *value) {
    static const char *const kinds[] = {
        [SXI_EVEN] = "even", [SXI_CYCLIC] = "cyclic", [SXI_DIVERGING] = "diverging"};
    char name[32];
    sxi_scale scale;
    SXI_TRY(sxi_scale_fit(palette, npix, value, &scale));
    for (int64_t i = 0; i < npix; i++) {
        value[i] = rounded(value[i]);
    }
    snprintf(name, sizeof name, "map-%s", id);
    SXI_TRY(sxi_page_block(report->page, name, SX_F32, npix, value));
    return sxi_report_add(json_object_get(report->description, "maps"),
                          json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:b}", "id", id, "title", title,
                                    "unit", unit, "kind", kinds[palette], "low",
                                    scale.empty ? 0 : scale.low, "high",
                                    scale.empty ? 1 : scale.high, "log", scale.log));
}

static sx_status add_classes(sxi_report *report) {
    const sxi_fit_file *fit = &report->fit;
    sx_status status = SX_OK;
    uint8_t *class = malloc((size_t)fit->npix);
    json_t *classes = json_array();
    if (!class || !classes) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for a map");
        goto out;
    }
    for (int64_t i = 0; i < fit->npix; i++) {
        class[i] = (uint8_t)fit->class[i];
    }
    for (int c = 0; c < fit->classes; c++) {
        SXI_GO(sxi_report_add(classes, json_pack("{s:s, s:s}", "colour", fit->name[c].colour,
                                                 "words", fit->name[c].words)));
    }
    SXI_GO(sxi_page_block(report->page, "map-class", SX_U8, fit->npix, class));
    SXI_GO(sxi_report_add(json_object_get(report->description, "maps"),
                          json_pack("{s:s, s:s, s:s, s:s, s:O}", "id", "class", "title",
                                    "number of modes, or state if not ok", "unit", "", "kind",
                                    "class", "classes", classes)));
out:
    json_decref(classes);
    free(class);
    return status;
}

static sx_status add_fit(sxi_report *report) {
    const sxi_fit_file *fit = &report->fit;
    const char *share = fit->relative ? "%" : "";
    const struct {
        const char *id, *title, *unit;
        sxi_palette palette;
        float *value;
    } maps[] = {{"frequency", "frequency of the strongest mode", "THz", SXI_EVEN, fit->frequency},
                {"amplitude", "amplitude", share, SXI_EVEN, fit->amplitude},
                {"phase", "phase at time zero", "rad", SXI_CYCLIC, fit->phase},
                {"decay", "decay", "1/ps", SXI_EVEN, fit->decay},
                {"chi2", fit->no_sigma ? "residual variance" : "χ² per degree of freedom",
                 fit->no_sigma ? "signal²" : "", SXI_EVEN, fit->chi2}};
    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++) {
        SXI_TRY(add_map(report, maps[m].id, maps[m].title, maps[m].unit, maps[m].palette, fit->npix,
                        maps[m].value));
    }
    return add_classes(report);
}

/* The laser-off image of our cubes, where the maps are its pixels. */
static sx_status add_image(sxi_report *report) {
    static const char *const name = "/cube/off_mean";
    static const sx_dtype single = SX_F32;
    const sxi_fit_frame *frame = &report->fitted.frame;
    const char *path = report->fitted.arguments.input.cube;
    const int64_t npix = frame->segments * frame->segment_rows * frame->width;
    if (!path || frame->bin_x * frame->bin_y != 1 ||
        npix != frame->segments * frame->rows * frame->columns) {
        return SX_OK;
    }
    sx_status status = SX_OK;
    sx_array image = {0};
    sx_hdf5 *file = NULL;
    if (sx_hdf5_open(path, &file) == SX_OK && sxi_h5_exists(file, name)) { /* CSV: no image */
        SXI_GO(sxi_h5_read(file, name, &single, &image));
        if (sx_array_count(&image) == npix) {
            SXI_GO(add_map(report, "off", "mean image, laser off", "", SXI_EVEN, npix, image.data));
        }
    }
out:
    sx_array_destroy(&image);
    sx_hdf5_close(&file);
    return status;
}

sx_status sxi_report_maps(sxi_report *report) {
    int64_t rows, width;
    sxi_report_frame(report, &rows, &width);
    if (rows * width < 2) { /* a single trace, or nothing but a dispersion */
        return SX_OK;
    }
    if (report->has_fit) {
        SXI_TRY(add_fit(report));
    }
    return report->has_samples ? add_image(report) : SX_OK;
}
