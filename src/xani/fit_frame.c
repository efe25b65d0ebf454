/* SPDX-License-Identifier: Apache-2.0
 * Regions and bins. */
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
