/* SPDX-License-Identifier: Apache-2.0
 * The constants of a detector. */
#include "xani/calibration/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Banks as the readout has them: Jungfrau 4 x 64 columns in each chip of 256 x 256, ePix10ka 4 x 48 in each
 * of 176 x 192, ePix100 96 columns of half the sensor. */
static const sxi_detector_kind kinds[] = {
    [SX_REDUCE_RAW_PLAIN] = {"plain", 1, 0xffff, 0, 0},
    [SX_REDUCE_RAW_JUNGFRAU] = {"jungfrau", 3, 0x3fff, 256, 64},
    [SX_REDUCE_RAW_EPIX10KA] = {"epix10ka", 7, 0x3fff, 176, 48},
    [SX_REDUCE_RAW_EPIX100] = {"epix100", 1, 0xffff, 352, 96}};

const sxi_detector_kind *sxi_detector_kind_of(sx_reduce_raw raw) { return kinds + raw; }

void sxi_calibration_free(sxi_calibration *c) {
    free(c->pedestal);
    free(c->inverse);
    free(c->config);
    free(c->bad);
    *c = (sxi_calibration){0};
}

/* The numbers under a name: of so many frames, or of fewer (the stages that a detector never came to), or
 * (single) one. */
static sx_status read_numbers(sx_hdf5 *file, const char *name, int64_t frames, int64_t pixels,
                              bool single, sx_array *values) {
    static const sx_dtype real = SX_F64;
    SXI_TRY(sxi_h5_read(file, name, &real, values));
    const int64_t found = sx_array_count(values);
    const bool whole = found > 0 && found <= frames * pixels && found % pixels == 0;
    if (!whole && !(single && found == 1)) {
        sx_array_destroy(values);
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s:%s holds %lld numbers; %lld stage%s of frames of %lld pixels need %lld",
                        sx_hdf5_path_of(file), name, (long long)found, (long long)frames,
                        frames > 1 ? "s" : "", (long long)pixels, (long long)(frames * pixels));
    }
    return SX_OK;
}

static void name_of(const char *group, const char *member, char name[512]) {
    snprintf(name, 512, "%.400s/%s", group, member);
}

static sx_status read_pedestal(sx_hdf5 *file, const char *group, bool lcls, sxi_calibration *c) {
    char name[512];
    sx_array values = {0};
    const int64_t n = c->kind->stages * c->pixels;
    name_of(group, lcls ? "ped" : "pedestal", name);
    SXI_TRY(read_numbers(file, name, c->kind->stages, c->pixels, false, &values));
    c->pedestal = calloc((size_t)n, sizeof *c->pedestal);
    const int64_t found = sx_array_count(&values);
    for (int64_t i = 0; c->pedestal && i < n; i++) {
        c->pedestal[i] = i < found ? (float)((const double *)values.data)[i] : NAN;
    }
    sx_array_destroy(&values);
    return c->pedestal ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for pedestals");
}

static sx_status read_gain(sx_hdf5 *file, const char *group, sxi_calibration *c) {
    char name[512];
    sx_array values = {0};
    const int64_t n = c->kind->stages * c->pixels;
    name_of(group, "gain", name);
    SXI_TRY(read_numbers(file, name, c->kind->stages, c->pixels, c->kind->stages == 1, &values));
    const int64_t found = sx_array_count(&values);
    const bool single = found == 1;
    c->inverse = calloc((size_t)n, sizeof *c->inverse);
    for (int64_t i = 0; c->inverse && i < n; i++) {
        const double gain = single      ? ((const double *)values.data)[0]
                            : i < found ? ((const double *)values.data)[i]
                                        : 0;
        c->inverse[i] = isfinite(gain) && gain != 0 ? (float)(1 / gain) : NAN;
    }
    sx_array_destroy(&values);
    return c->inverse ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for gains");
}

/* A byte for each pixel, of a mask (flags: whether any bit is set, or it is no number) or of numbers to 255;
 * nothing where it is not there. */
static sx_status read_bytes(sx_hdf5 *file, const char *group, const char *member, bool flags,
                            int64_t pixels, uint8_t **bytes) {
    char name[512];
    sx_array values = {0};
    *bytes = NULL;
    name_of(group, member, name);
    if (!sxi_h5_exists(file, name)) {
        return SX_OK;
    }
    SXI_TRY(read_numbers(file, name, 1, pixels, false, &values));
    *bytes = malloc((size_t)pixels);
    for (int64_t i = 0; *bytes && i < pixels; i++) {
        const double value = ((const double *)values.data)[i];
        (*bytes)[i] = flags ? !(value == 0) : value >= 0 && value <= 255 ? (uint8_t)value : 0xff;
    }
    sx_array_destroy(&values);
    return *bytes ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for %s", name);
}

static sx_status read_bad(sx_hdf5 *file, const char *group, bool lcls, sxi_calibration *c) {
    SXI_TRY(read_bytes(file, group, "mask", true, c->pixels, &c->bad));
    const bool given = c->bad != NULL;
    c->bad = given ? c->bad : calloc((size_t)c->pixels, 1);
    if (!c->bad) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a mask");
    }
    for (int64_t p = 0; p < c->pixels; p++) {
        const bool masked = given && (lcls ? c->bad[p] == 0 : c->bad[p] != 0);
        c->bad[p] = masked || !isfinite(c->pedestal[p]) || !isfinite(c->inverse[p]);
    }
    return SX_OK;
}

static sx_status read_config(sx_hdf5 *file, const char *group, sxi_calibration *c) {
    if (c->raw != SX_REDUCE_RAW_EPIX10KA) {
        return SX_OK;
    }
    SXI_TRY(read_bytes(file, group, "config", false, c->pixels, &c->config));
    return c->config
               ? SX_OK
               : SXI_FAIL(
                     SX_ERR_MISSING,
                     "%s:%s/config is missing: the gain range of an ePix10ka pixel follows from "
                     "its configuration bits",
                     sx_hdf5_path_of(file), group);
}

/* Banks must divide a part of the frame, or the common mode would mix what does not belong together. */
static sx_status check_banks(const sxi_calibration *c) {
    const sxi_detector_kind *k = c->kind;
    if (c->common_mode == SX_REDUCE_COMMON_MODE_NONE || k->bank_rows == 0 ||
        (c->rows % k->bank_rows == 0 && c->columns % k->bank_columns == 0)) {
        return SX_OK;
    }
    return SXI_FAIL(
        SX_ERR_SHAPE,
        "frames of %lld x %lld pixels are not made of the banks of %s, %d x %d: its common "
        "mode cannot be taken off a cut-out",
        (long long)c->rows, (long long)c->columns, k->name, k->bank_rows, k->bank_columns);
}

sx_status sxi_calibration_read(sx_hdf5 *file, const char *group, bool lcls, sx_reduce_raw raw,
                               sx_reduce_common_mode common_mode, int rank, const int64_t *shape,
                               sxi_calibration *c) {
    sx_status status = SX_OK;
    *c = (sxi_calibration){
        .kind = sxi_detector_kind_of(raw), .raw = raw, .common_mode = common_mode, .pixels = 1};
    for (int d = 0; d < rank; d++) {
        c->pixels *= shape[d];
    }
    c->columns = shape[rank - 1];
    c->rows = rank > 1 ? shape[rank - 2] : 1;
    SXI_GO(check_banks(c));
    SXI_GO(read_pedestal(file, group, lcls, c));
    SXI_GO(read_gain(file, group, c));
    SXI_GO(read_bad(file, group, lcls, c));
    SXI_GO(read_config(file, group, c));
out:
    if (status != SX_OK) {
        sxi_calibration_free(c);
    }
    return status;
}
