/* SPDX-License-Identifier: Apache-2.0
 * A source as distributed arrays: output rows become stored rows of its segments. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/fit/fit.h"

enum { Y, MASK, SIGMA };

/* Output rows of one segment are read as one part; a band may hold several. */
typedef struct part {
    sxi_source_request *reading;
} part;

typedef struct request {
    int64_t count;
    part part[];
} request;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

sx_array sxi_fit_stored_rows(const sx_array *array) {
    sx_array rows = *array;
    const int last = --rows.rank - 1;
    rows.shape[last - 1] = array->shape[last - 1] * array->shape[last];
    rows.shape[last] = array->shape[last + 1];
    rows.stride[last - 1] = array->stride[last];
    rows.stride[last] = array->stride[last + 1];
    return rows;
}

/* Rows first .. first + count - 1 of the last axis but one. */
static sx_array some_rows(const sx_array *array, int64_t first, int64_t count) {
    const int axis = array->rank - 2;
    sx_array some = *array;
    some.shape[axis] = count;
    if (some.data) {
        some.data = (char *)array->data +
                    first * array->stride[axis] * (int64_t)sx_dtype_size(array->dtype);
    }
    return some;
}

/* What the last bin of a segment lacks. */
static void mask_rest(const sx_array *mask, int64_t first, int64_t count) {
    const sx_array rest = some_rows(mask, first, count);
    if (count > 0) {
        memset(rest.data, 1, (size_t)sx_array_count(&rest));
    }
}

/* Whether the rows of all segments follow each other as they are stored. */
static bool seamless(const sxi_fit_frame *frame) {
    return frame->y0 == 0 && frame->rows * frame->bin_y == frame->segment_rows;
}

/* Begins to read output rows of one segment: rows `at` .. of the arrays. */
static sx_status start_part(const sxi_fit_samples *samples, int threads, int64_t row, int64_t rows,
                            int64_t at, const sx_array *arrays, sxi_source_request **reading) {
    const sxi_fit_frame *f = samples->frame;
    const int64_t segment = row / f->rows, first = f->y0 + row % f->rows * f->bin_y;
    const int64_t wanted = rows * f->bin_y;
    const int64_t stored = seamless(f) ? wanted : least(wanted, f->y1 - first);
    const sx_array y = some_rows(&arrays[Y], at, stored),
                   mask = some_rows(&arrays[MASK], at, stored);
    const sx_array sigma = samples->sigma ? some_rows(&arrays[SIGMA], at, stored) : (sx_array){0};
    mask_rest(&arrays[MASK], at + stored, wanted - stored);
    return sxi_source_start(samples->source, threads, segment * f->segment_rows + first, stored, &y,
                            samples->sigma ? &sigma : NULL, &mask, reading);
}

static void cancel(void **data) {
    request *r = *data;
    for (int64_t i = 0; i < r->count; i++) {
        sxi_source_cancel(&r->part[i].reading);
    }
    free(r);
    *data = NULL;
}

static sx_status start(void *data, int threads, int64_t first, int64_t count,
                       const sx_array *arrays, void **made) {
    const sxi_fit_samples *samples = data;
    const sxi_fit_frame *f = samples->frame;
    assert(arrays[Y].data && arrays[MASK].data); /* the task uses all of them */
    const int64_t parts = seamless(f) ? 1 : (first + count - 1) / f->rows - first / f->rows + 1;
    request *r = calloc(1, sizeof *r + (size_t)parts * sizeof(part));
    if (!r) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to read %lld rows", (long long)count);
    }
    const sx_array rows[] = {sxi_fit_stored_rows(&arrays[Y]), sxi_fit_stored_rows(&arrays[MASK]),
                             samples->sigma ? sxi_fit_stored_rows(&arrays[SIGMA]) : arrays[SIGMA]};
    sx_status status = SX_OK;
    for (int64_t done = 0, some = 0; done < count && status == SX_OK; done += some) {
        const int64_t row = first + done, left = count - done;
        some = seamless(f) ? left : least(left, f->rows - row % f->rows);
        /* Threads wait for the disk, all for the same: the first part has them. */
        status = start_part(samples, r->count == 0 ? threads : 0, row, some, done * f->bin_y, rows,
                            &r->part[r->count].reading);
        r->count += status == SX_OK;
    }
    *made = r;
    if (status != SX_OK) {
        cancel(made);
    }
    return status;
}

static void work(void *data) {
    const request *r = data;
    for (int64_t i = 0; i < r->count; i++) {
        sxi_source_work(r->part[i].reading);
    }
}

static sx_status wait_for(void **data) {
    request *r = *data;
    sx_status status = SX_OK;
    for (int64_t i = 0; i < r->count && status == SX_OK; i++) {
        status = sxi_source_wait(&r->part[i].reading);
    }
    cancel(data);
    return status;
}

void sxi_fit_samples_declare(sx_cluster *cluster, sxi_source *source, const sxi_fit_frame *frame,
                             sxi_fit_samples *samples) {
    const sxi_source_info *info = sxi_source_describe(source);
    const int64_t rows = frame->segments * frame->rows;
    const int64_t shape[] = {info->nt, rows, frame->bin_y, info->width};
    sx_darray *array[SX_SOURCE_ARRAYS] = {NULL};
    sx_darray_source about = {.arrays = info->has_sigma ? 3 : 2,
                              .chunk_rows = (info->chunk_rows + frame->bin_y - 1) / frame->bin_y,
                              .data = samples,
                              .start = start,
                              .work = work,
                              .wait = wait_for,
                              .cancel = cancel};
    for (int i = 0; i < about.arrays; i++) {
        const int without = i == MASK; /* delays */
        about.array[i].dtype = i == MASK ? SX_U8 : info->dtype;
        about.array[i].rank = 4 - without;
        about.array[i].axis = 1 - without;
        memcpy(about.array[i].shape, shape + without, (size_t)(4 - without) * sizeof *shape);
    }
    *samples = (sxi_fit_samples){.source = source, .frame = frame};
    sx_darray_from_source(cluster, &about, array);
    samples->y = array[Y];
    samples->mask = array[MASK];
    samples->sigma = array[SIGMA];
}

void sxi_fit_samples_destroy(sxi_fit_samples *samples) {
    sx_darray_destroy(&samples->y);
    sx_darray_destroy(&samples->mask);
    sx_darray_destroy(&samples->sigma);
}
