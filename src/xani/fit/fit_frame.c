/* SPDX-License-Identifier: Apache-2.0
 * Regions, bins and tiles. */
#include <assert.h>

#include "base/fail.h"
#include "xani/fit/fit.h"

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

/* Pixels of a tile: the fit works on many traces at once, and this many of some hundred delays still fit
 * into the cache of the processor. They take some 20 ms, and no longer where traces are longer, for a
 * wish to stop is only heard between tiles. Few pixels are cut finer, so that all threads have some. */
enum { PIXELS_MOST = 256, PIXELS_LEAST = 64, TILES = 64 };
static const int64_t SAMPLES = 200000;

/* Rows of a tile are read at once; this much of them can be anywhere. */
static const int64_t BYTES = 8LL << 20;

static int64_t clamp(int64_t value, int64_t lowest, int64_t highest) {
    return value < lowest ? lowest : value > highest ? highest : value;
}

/* Rows that chunks are made of, as far as possible: no chunk is read twice. */
static int64_t fit_chunk(int64_t rows, int64_t chunk) {
    if (rows >= chunk) {
        return rows / chunk * chunk;
    }
    while (chunk % rows != 0) {
        rows--;
    }
    return rows;
}

void sxi_fit_frame_tile(const sxi_fit_frame *frame, const sxi_source_info *info,
                        const int64_t wished[2], int64_t tile[2]) {
    const int64_t all = frame->segments * frame->rows;
    const int64_t row = frame->bin_y * info->width * info->nt * (int64_t)sx_dtype_size(info->dtype);
    const int64_t most = clamp(BYTES / row, 1, all);
    assert(frame->columns > 0);
    if (wished[0] > 0) {
        tile[0] = clamp(wished[0], 1, most);
        tile[1] = clamp(wished[1], 1, frame->columns);
        return;
    }
    const int64_t share = clamp(all * frame->columns / TILES, PIXELS_LEAST, PIXELS_MOST);
    const int64_t pixels = clamp(SAMPLES / info->nt, 1, share);
    tile[1] = clamp(pixels, 1, frame->columns);
    tile[0] =
        fit_chunk(clamp(pixels / tile[1], 1, most), divide_up(info->chunk_rows, frame->bin_y));
}
