/* SPDX-License-Identifier: Apache-2.0
 * Regions, bins, and the trace of an output pixel. */
#include <math.h>

#include "base/fail.h"
#include "xani/fit.h"

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

sx_status sxi_fit_frame_make(const sxi_source_info *info, const sx_xani_fit_options *options,
                             sxi_fit_frame *frame) {
    int64_t segments = info->rank > 2 ? info->shape[0] : 1;
    *frame = (sxi_fit_frame){.segments = segments,
                             .segment_rows = info->rows / segments,
                             .width = info->width,
                             .y1 = info->rows / segments,
                             .x1 = info->width,
                             .bin_y = options->bin[0] > 0 ? options->bin[0] : 1,
                             .bin_x = options->bin[1] > 0 ? options->bin[1] : 1};
    if (options->has_roi) {
        const int64_t *roi = options->roi;
        if (roi[0] < 0 || roi[1] > frame->y1 || roi[2] < 0 || roi[3] > frame->x1 ||
            roi[0] >= roi[1] || roi[2] >= roi[3]) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "region %lld:%lld,%lld:%lld does not lie in the frame, which is "
                            "0:%lld,0:%lld",
                            (long long)roi[0], (long long)roi[1], (long long)roi[2],
                            (long long)roi[3], (long long)frame->y1, (long long)frame->x1);
        }
        frame->y0 = roi[0];
        frame->y1 = roi[1];
        frame->x0 = roi[2];
        frame->x1 = roi[3];
    }
    if (frame->bin_y > frame->y1 - frame->y0 || frame->bin_x > frame->x1 - frame->x0) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "a bin of %lldx%lld pixels is larger than the %lldx%lld "
                        "pixels to be fitted",
                        (long long)frame->bin_y, (long long)frame->bin_x,
                        (long long)(frame->y1 - frame->y0), (long long)(frame->x1 - frame->x0));
    }
    frame->rows = divide_up(frame->y1 - frame->y0, frame->bin_y);
    frame->columns = divide_up(frame->x1 - frame->x0, frame->bin_x);
    return SX_OK;
}

static double element(const sx_array *array, int64_t i) {
    return array->dtype == SX_F32 ? (double)((const float *)array->data)[i]
                                  : ((const double *)array->data)[i];
}

bool sxi_fit_gathers_sigma(const sxi_fit_frame *frame, const sxi_fit_band *band) {
    return band->sigma.data || frame->bin_y * frame->bin_x > 1;
}

static void gather_one(const sxi_fit_band *band, int64_t nt, int64_t place, int64_t frame_size,
                       double *y, double *sigma) {
    for (int64_t t = 0; t < nt; t++) {
        y[t] = element(&band->y, t * frame_size + place);
        if (band->sigma.data) {
            sigma[t] = element(&band->sigma, t * frame_size + place);
        }
    }
}

/* Weighted mean of the usable pixels of a bin; without sigma every pixel counts as one. */
static void gather_bin(const sxi_fit_band *band, int64_t nt, const double *weight,
                       const int64_t box[4], int64_t width, double *y, double *sigma) {
    const uint8_t *mask = band->mask.data;
    int64_t frame_size = band->stored * width;
    for (int64_t t = 0; t < nt; t++) {
        double sum = 0, total = 0;
        for (int64_t r = box[0]; r < box[1]; r++) {
            for (int64_t x = box[2]; x < box[3]; x++) {
                double value = element(&band->y, t * frame_size + r * width + x);
                double s =
                    band->sigma.data ? element(&band->sigma, t * frame_size + r * width + x) : 1;
                if (mask[r * width + x] == 0 && isfinite(value) && isfinite(s) && s > 0) {
                    sum += value / (s * s);
                    total += 1 / (s * s);
                }
            }
        }
        double relative = weight && !band->sigma.data ? weight[t] : 1;
        y[t] = total > 0 ? sum / total : (double)NAN;
        sigma[t] = total > 0 && relative > 0 ? 1 / sqrt(total * relative) : (double)NAN;
    }
}

void sxi_fit_gather(const sxi_fit_frame *frame, const sxi_fit_band *band, const double *weight,
                    int64_t row, int64_t column, double *y, double *sigma) {
    int64_t nt = band->y.shape[0];
    /* Rows of the band's own memory. */
    int64_t r0 = row * frame->bin_y, x0 = frame->x0 + column * frame->bin_x;
    if (frame->bin_y * frame->bin_x == 1) {
        gather_one(band, nt, r0 * frame->width + x0, band->stored * frame->width, y, sigma);
        return;
    }
    int64_t r1 = r0 + frame->bin_y, x1 = x0 + frame->bin_x;
    const int64_t box[4] = {r0, r1 < band->stored ? r1 : band->stored, x0,
                            x1 < frame->x1 ? x1 : frame->x1};
    gather_bin(band, nt, weight, box, frame->width, y, sigma);
}
