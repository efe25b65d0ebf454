/* SPDX-License-Identifier: Apache-2.0
 * Frames of a tile become traces. */
#include <math.h>

#include "kern/place.h"
#include "xani/fit/fit.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

bool sxi_fit_gathers_sigma(const sxi_fit_frame *frame, const sxi_source_info *info) {
    return info->has_sigma || frame->bin_y * frame->bin_x > 1;
}

/* --- single pixels: a transposition --- */

/* An array [nt][rows][width] to traces of doubles. */
static void turn(const sxi_fit_frame *frame, const sx_array *array, const sxi_fit_patch *p,
                 double *traces) {
    const int64_t nt = array->shape[0], size = (int64_t)sx_dtype_size(array->dtype);
    const int64_t trace = nt * (int64_t)sizeof *traces;
    const sxi_place_type from = {.dtype = array->dtype, .bytes = size};
    const sxi_place_type to = {.dtype = SX_F64, .bytes = sizeof *traces};
    const sxi_place_box box = {
        .rank = 3,
        .count = {p->rows, p->columns, nt},
        .source_stride = {array->stride[1] * size, size, array->stride[0] * size},
        .target_stride = {p->columns * trace, trace, sizeof *traces}};
    const char *first =
        (const char *)array->data + (p->row * array->stride[1] + frame->x0 + p->column) * size;
    sxi_place(&box, first, &from, traces, &to);
}

static void gather_single(const sxi_fit_frame *frame, const sxi_fit_patch *patch, double *y,
                          double *sigma) {
    turn(frame, &patch->y, patch, y);
    if (patch->sigma.data) {
        turn(frame, &patch->sigma, patch, sigma);
    }
}

/* --- bins: weighted means --- */

static double element(const sx_array *array, int64_t i) {
    return array->dtype == SX_F32 ? (double)((const float *)array->data)[i]
                                  : ((const double *)array->data)[i];
}

/* Stored rows and columns of an output pixel. */
typedef struct bin {
    int64_t y0, y1, x0, x1;
} bin;

static bin bin_of(const sxi_fit_frame *frame, const sxi_fit_patch *patch, int64_t pixel) {
    const int64_t y0 = (patch->row + pixel / patch->columns) * frame->bin_y;
    const int64_t x0 = frame->x0 + (patch->column + pixel % patch->columns) * frame->bin_x;
    return (bin){y0, least(y0 + frame->bin_y, patch->y.shape[1]), x0,
                 least(x0 + frame->bin_x, frame->x1)};
}

/* Weighted mean of the usable pixels of a bin; without sigma every pixel counts as one. */
static void add_bin(const sxi_fit_patch *patch, int64_t t, double relative, const bin *b, double *y,
                    double *sigma) {
    const uint8_t *mask = patch->mask.data;
    const int64_t width = patch->y.shape[2];
    double sum = 0, total = 0;
    for (int64_t r = b->y0; r < b->y1; r++) {
        const int64_t row = t * patch->y.stride[0] + r * patch->y.stride[1];
        for (int64_t x = b->x0; x < b->x1; x++) {
            double value = element(&patch->y, row + x);
            double s = patch->sigma.data ? element(&patch->sigma, row + x) : 1;
            if (mask[r * width + x] == 0 && isfinite(value) && isfinite(s) && s > 0) {
                sum += value / (s * s);
                total += 1 / (s * s);
            }
        }
    }
    *y = total > 0 ? sum / total : (double)NAN;
    *sigma = total > 0 && relative > 0 ? 1 / sqrt(total * relative) : (double)NAN;
}

/* Some delays of all pixels before the next ones: frames are read along their rows, and lines of
 * the cache are written whole. */
static void gather_binned(const sxi_fit_frame *frame, const sxi_fit_patch *patch,
                          const double *weight, double *y, double *sigma) {
    enum { DELAYS = 8 };
    const int64_t nt = patch->y.shape[0];
    for (int64_t t0 = 0; t0 < nt; t0 += DELAYS) {
        for (int64_t i = 0; i < patch->rows * patch->columns; i++) {
            const bin b = bin_of(frame, patch, i);
            for (int64_t t = t0; t < least(t0 + DELAYS, nt); t++) {
                const double relative = weight && !patch->sigma.data ? weight[t] : 1;
                add_bin(patch, t, relative, &b, y + i * nt + t, sigma + i * nt + t);
            }
        }
    }
}

void sxi_fit_gather(const sxi_fit_frame *frame, const sxi_fit_patch *patch, const double *weight,
                    double *y, double *sigma) {
    if (frame->bin_y * frame->bin_x == 1) {
        gather_single(frame, patch, y, sigma);
    } else {
        gather_binned(frame, patch, weight, y, sigma);
    }
}
