/* SPDX-License-Identifier: Apache-2.0
 * Reads bands of an open source. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sxi_source_request {
    sxi_source *source;
    int64_t row0;
    sx_array y, sigma; /* views of the caller's; sigma without data: not asked for */
    int64_t masked_count;
    int64_t *masked;    /* pixels of the band */
    sx_context context; /* of the reading */
    sx_hdf5_request *reading;
};

/* --- what is asked for --- */

static sx_status check_band(const sxi_source *source, int64_t row0, int64_t count,
                            const sx_array *y, const sx_array *sigma, const sx_array *mask) {
    const sxi_source_info *info = &source->info;
    const int64_t band[] = {info->nt, count, info->width};
    const sx_array *arrays[] = {y, sigma};
    if (row0 < 0 || count < 0 || count > info->rows - row0) {
        return SXI_FAIL(SX_ERR_RANGE, "rows %lld to %lld are asked for, there are %lld",
                        (long long)row0, (long long)(row0 + count), (long long)info->rows);
    }
    for (int i = 0; i < 2; i++) {
        const sx_array *array = arrays[i];
        if (array && (array->dtype != info->dtype || array->rank != 3 || array->stride[2] != 1 ||
                      memcmp(array->shape, band, sizeof band) != 0)) {
            return SXI_FAIL(SX_ERR_SHAPE, "the band must be %s [%lld, %lld, %lld]",
                            sx_dtype_name(info->dtype), (long long)band[0], (long long)band[1],
                            (long long)band[2]);
        }
    }
    if (mask->dtype != SX_U8 || mask->rank != 2 || mask->shape[0] != count ||
        mask->shape[1] != info->width || mask->stride[1] != 1) {
        return SXI_FAIL(SX_ERR_SHAPE, "the mask must be uint8 [%lld, %lld]", (long long)count,
                        (long long)info->width);
    }
    if (sigma && !info->has_sigma) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "there is no sigma in this input (%s)", info->layout);
    }
    return SX_OK;
}

/* From delay t on, how many lie side by side in the file, and which way they go. */
static int64_t run_of(const sxi_source *source, int64_t t, int64_t *step) {
    const int64_t nt = source->info.nt, *order = source->order;
    *step = 1;
    if (!order) {
        return nt - t;
    }
    int64_t n = 1;
    if (t + 1 < nt && order[t + 1] == order[t] - 1) {
        *step = -1;
    }
    while (t + n < nt && order[t + n] == order[t] + n * *step) {
        n++;
    }
    return n;
}

/* A band of a stack in the order of the delays; a run that goes backwards in the file goes
 * backwards in memory. */
static sx_status add_ordered(const sxi_source *source, const sxi_stack *stack, int64_t row0,
                             int64_t count, const sx_array *band, sxi_boxes *boxes) {
    int64_t step = 0;
    for (int64_t t = 0, n = 0; t < source->info.nt; t += n) {
        n = run_of(source, t, &step);
        const int64_t from[] = {t, 0, 0};
        const int64_t to[] = {t + n, count, band->shape[2]};
        sx_array run;
        SXI_TRY(sx_array_slice(band, from, to, &run));
        const int64_t stored = source->order ? source->order[t] : t;
        if (step < 0) {
            run.data =
                (char *)run.data + (n - 1) * run.stride[0] * (int64_t)sx_dtype_size(run.dtype);
            run.stride[0] = -run.stride[0];
        }
        SXI_TRY(sxi_boxes_add(boxes, stack, step < 0 ? stored - (n - 1) : stored, n, row0, count,
                              &run));
    }
    return SX_OK;
}

/* Fills the mask of the band, and lists what is masked: mostly few, and one list serves all frames. */
static sx_status take_mask(sxi_source_request *request, const sx_array *mask) {
    const sxi_source *source = request->source;
    const int64_t width = source->info.width;
    int64_t count = 0;
    for (int64_t row = 0; row < mask->shape[0]; row++) {
        uint8_t *to = (uint8_t *)mask->data + row * mask->stride[0];
        for (int64_t x = 0; x < width; x++) {
            to[x] = source->mask ? source->mask[(request->row0 + row) * width + x] : 0;
            count += to[x] != 0;
        }
    }
    request->masked = malloc((size_t)(count + 1) * sizeof *request->masked);
    if (!request->masked) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to list %lld masked pixels", (long long)count);
    }
    for (int64_t i = 0; request->masked_count < count; i++) {
        const int64_t row = i / width, x = i % width;
        if (((const uint8_t *)mask->data)[row * mask->stride[0] + x]) {
            request->masked[request->masked_count++] = i;
        }
    }
    return SX_OK;
}

/* --- what becomes of it --- */

/* The same value in every pixel of a frame. */
static void fill(sx_array *frame, double value) {
    for (int64_t row = 0; row < frame->shape[1]; row++) {
        for (int64_t x = 0; x < frame->shape[2]; x++) {
            const int64_t at = row * frame->stride[1] + x;
            if (frame->dtype == SX_F32) {
                ((float *)frame->data)[at] = (float)value;
            } else {
                ((double *)frame->data)[at] = value;
            }
        }
    }
}

/* y = signal * scale / off - 1 */
#define DIVIDE(type)                                                                               \
    do {                                                                                           \
        type *y = (type *)frame->data + row * frame->stride[1];                                    \
        for (int64_t x = 0; x < width; x++) {                                                      \
            y[x] = (type)((double)y[x] * scale / off[x] - 1);                                      \
        }                                                                                          \
    } while (0)

static void divide(const sxi_source *source, int64_t row0, double scale, sx_array *frame) {
    const int64_t width = source->info.width;
    for (int64_t row = 0; row < frame->shape[1]; row++) {
        const double *off = source->off + (row0 + row) * width;
        if (frame->dtype == SX_F32) {
            DIVIDE(float);
        } else {
            DIVIDE(double);
        }
    }
}

static void blank_masked(const sxi_source_request *request, sx_array *frame) {
    const int64_t width = frame->shape[2];
    for (int64_t i = 0; i < request->masked_count; i++) {
        const int64_t pixel = request->masked[i];
        const int64_t at = pixel / width * frame->stride[1] + pixel % width;
        if (frame->dtype == SX_F32) {
            ((float *)frame->data)[at] = NAN;
        } else {
            ((double *)frame->data)[at] = (double)NAN;
        }
    }
}

static void finish_y(const sxi_source_request *request, int64_t t, sx_array *frame) {
    const sxi_source *source = request->source;
    if (source->empty && source->empty[t]) {
        fill(frame, (double)NAN);
        return;
    }
    if (source->signal.file) {
        sxi_stack_blank(&source->signal, frame);
    } else {
        fill(frame, source->trace[t]);
    }
    if (source->off) {
        divide(source, request->row0, source->scale[t], frame);
    }
    blank_masked(request, frame);
}

static void finish_sigma(const sxi_source_request *request, int64_t t, sx_array *frame) {
    const sxi_source *source = request->source;
    if (source->sigma.file) {
        sxi_stack_blank(&source->sigma, frame);
    } else {
        fill(frame, source->sigma_t[t]);
    }
}

static sx_array frame_of(const sx_array *band, int64_t t) {
    sx_array frame = *band;
    frame.data = (char *)frame.data + t * band->stride[0] * (int64_t)sx_dtype_size(band->dtype);
    frame.shape[0] = 1;
    return frame;
}

/* Whether more is to be done than to blank what is masked. */
static bool is_long(const sxi_source_request *request) {
    const sxi_source *source = request->source;
    return source->off || source->signal.marks > 0 || source->sigma.marks > 0 ||
           (request->sigma.data && !source->sigma.file);
}

static void finish(const sxi_source_request *request) {
    const sxi_source *source = request->source;
#pragma omp parallel for if (is_long(request)) num_threads(sx_threads(source->context))
    for (int64_t t = 0; t < source->info.nt; t++) {
        sx_array y = frame_of(&request->y, t);
        finish_y(request, t, &y);
        if (request->sigma.data) {
            sx_array sigma = frame_of(&request->sigma, t);
            finish_sigma(request, t, &sigma);
        }
    }
}

/* --- requests --- */

static void request_free(sxi_source_request *request) {
    free(request->masked);
    free(request);
}

static sx_status start_reading(sxi_source_request *request, int64_t count) {
    const sxi_source *source = request->source;
    sxi_boxes boxes = {0};
    sx_status status = SX_OK;
    if (source->signal.file) {
        SXI_GO(add_ordered(source, &source->signal, request->row0, count, &request->y, &boxes));
    }
    if (request->sigma.data && source->sigma.file) {
        SXI_GO(add_ordered(source, &source->sigma, request->row0, count, &request->sigma, &boxes));
    }
    status = sxi_boxes_start(&boxes, &request->context, &request->reading);
out:
    sxi_boxes_free(&boxes);
    return status;
}

sx_status sxi_source_start(sxi_source *source, int threads, int64_t row0, int64_t count,
                           const sx_array *y, const sx_array *sigma, const sx_array *mask,
                           sxi_source_request **request) {
    *request = NULL;
    SXI_TRY(check_band(source, row0, count, y, sigma, mask));
    sxi_source_request *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to read %lld rows", (long long)count);
    }
    made->source = source;
    made->row0 = row0;
    made->y = *y;
    made->sigma = sigma ? *sigma : (sx_array){0};
    made->context = source->context ? *source->context : (sx_context){0};
    made->context.threads = threads > 0 ? threads : -1;
    sx_status status = take_mask(made, mask);
    if (status == SX_OK) {
        status = start_reading(made, count);
    }
    if (status != SX_OK) {
        request_free(made);
        return status;
    }
    *request = made;
    return SX_OK;
}

void sxi_source_work(sxi_source_request *request) { sx_hdf5_work(request->reading); }

sx_status sxi_source_wait(sxi_source_request **request) {
    sxi_source_request *waited = *request;
    *request = NULL;
    const sx_status status = sx_hdf5_wait(&waited->reading, NULL);
    if (status == SX_OK) {
        finish(waited);
    }
    request_free(waited);
    return status;
}

void sxi_source_cancel(sxi_source_request **request) {
    if (!*request) {
        return;
    }
    /* What led here stays the last failure of the thread. */
    const sx_status failed = sx_error_status();
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", sx_error_message());
    sx_hdf5_cancel((*request)->reading);
    sx_hdf5_wait(&(*request)->reading, NULL);
    if (failed != SX_OK) {
        sxi_fail(failed, __FILE__, __LINE__, "%s", sentence);
    }
    request_free(*request);
    *request = NULL;
}

sx_status sxi_source_read(sxi_source *source, int64_t row0, int64_t count, sx_array *y,
                          sx_array *sigma, sx_array *mask) {
    sxi_source_request *request = NULL;
    SXI_TRY(sxi_source_start(source, sx_threads(source->context) - 1, row0, count, y, sigma, mask,
                             &request));
    return sxi_source_wait(&request);
}
