/* SPDX-License-Identifier: Apache-2.0
 * The frames of a file: while a batch is added the next one is read. */
#include "xani/reduce/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/reduce/reducer.h"

/* Of a batch: it stays in the cache while it is looked at and added, and fresh memory is dear. */
static const int64_t BATCH_BYTES = (int64_t)8 << 20;

/* Shots of a file that are read together. */
typedef struct batch {
    sx_array memory; /* [frames of a batch, pixels], as read */
    float *energy;   /* the same, calibrated; NULL: nothing is to be calibrated */
    sx_array bad;    /* [frames of a batch, pixels], U8, where the frames have masks */
    sx_hdf5_request *request;
    int64_t count;         /* shots to add */
    const void **frame;    /* [frames] */
    sx_shot *shot;         /* [frames] */
    sxi_check_shot *check; /* [frames] */
} batch;

typedef struct reading {
    sxi_frames *f;
    sx_dtype dtype; /* as read */
    int64_t pixels, part_pixels;
    int64_t frames; /* of a batch */
    int64_t next;   /* shot */
    batch two[2];
} reading;

/* As what frames are added; those with missing values need a NaN. */
static sx_dtype added_as(const sxi_shots *s) {
    switch (s->dtype) {
    case SX_U16:
        return s->gaps || s->masked || s->has_none ? SX_F32 : SX_U16;
    case SX_I8:
    case SX_U8:
    case SX_I16:
    case SX_F32:
        return SX_F32;
    case SX_I32:
    case SX_U32:
    case SX_I64:
    case SX_U64:
    case SX_F64:
        break;
    }
    return SX_F64;
}

static sx_status batch_create(const reading *r, batch *b) {
    const int64_t shape[] = {r->frames, r->pixels};
    const size_t n = (size_t)r->frames;
    SXI_TRY(sx_array_create(r->dtype, 2, shape, &b->memory));
    if (r->f->shots->masked) {
        SXI_TRY(sx_array_create(SX_U8, 2, shape, &b->bad));
    }
    b->frame = malloc(n * sizeof *b->frame);
    b->shot = malloc(n * sizeof *b->shot);
    b->check = malloc(n * sizeof *b->check);
    if (r->f->calibration) {
        b->energy = malloc(n * (size_t)r->pixels * sizeof *b->energy);
        if (!b->energy) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory to calibrate %lld frames",
                            (long long)r->frames);
        }
    }
    return b->frame && b->shot && b->check
               ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld frames", (long long)r->frames);
}

static void batch_destroy(batch *b) {
    if (b->request) {
        sx_hdf5_cancel(b->request);
        sx_hdf5_wait(&b->request, NULL);
    }
    sx_array_destroy(&b->memory);
    free(b->energy);
    sx_array_destroy(&b->bad);
    free(b->frame);
    free(b->shot);
    free(b->check);
}

/* Pixel p of the frame at a place of the batch. */
static void *memory_at(const reading *r, const batch *b, int64_t place, int64_t p) {
    return (char *)b->memory.data + (size_t)(place * r->pixels + p) * sx_dtype_size(r->dtype);
}

static void take_shot(const reading *r, batch *b, int64_t k, int64_t place) {
    const sxi_shots *s = r->f->shots;
    const sx_shot *shot = &r->f->chosen->shot[k];
    b->frame[b->count] = memory_at(r, b, place, 0);
    b->shot[b->count] = *shot;
    b->check[b->count] = (sxi_check_shot){.shot = *shot,
                                          .nominal_ps = s->delay_ps[k],
                                          .tool_ps = s->tool_ps ? s->tool_ps[k] : (double)NAN};
    b->count++;
}

/* --- what to read --- */

typedef struct box {
    sx_array view;
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK];
} box;

typedef struct boxes {
    int count;
    sx_hdf5_box *list;
    box *box;
} boxes;

/* Parts of consecutive shots that lie one after the other. */
typedef struct run {
    sxi_shot_part first;
    int axis; /* along which they follow */
    int64_t count, place;
} run;

/* One dataset of a run into memory of that type. */
static void add_dataset(const reading *r, boxes *x, const run *one, const char *dataset,
                        sx_dtype dtype, void *data) {
    const sxi_shots *s = r->f->shots;
    const int skip = s->parts > 1, leading = one->first.leading, axes = s->rank - skip;
    box *to = x->box + x->count;
    to->view = (sx_array){.dtype = dtype, .rank = leading + axes, .data = data};
    int64_t stride = 1;
    for (int d = leading + axes - 1; d >= 0; d--) {
        const bool inside = d >= leading;
        to->start[d] = inside ? 0 : one->first.at[d];
        to->count[d] = inside ? s->shape[skip + d - leading] : d == one->axis ? one->count : 1;
        to->view.shape[d] = to->count[d];
        to->view.stride[d] = inside ? stride : r->pixels;
        stride *= inside ? to->count[d] : 1;
    }
    x->list[x->count++] = (sx_hdf5_box){one->first.file, dataset, to->start, to->count, &to->view};
}

static void add_box(const reading *r, const batch *b, boxes *x, const run *one, int part) {
    const int64_t pixel = part * r->part_pixels;
    uint8_t *bad = b->bad.data;
    add_dataset(r, x, one, one->first.dataset, r->dtype, memory_at(r, b, one->place, pixel));
    if (one->first.mask) {
        add_dataset(r, x, one, one->first.mask, SX_U8, bad + one->place * r->pixels + pixel);
        return;
    }
    for (int64_t i = 0; bad && i < one->count; i++) {
        memset(bad + (one->place + i) * r->pixels + pixel, 0, (size_t)r->part_pixels);
    }
}

/* Whether a part continues a run, along the axis that the second of a run decides. */
static bool follows(run *one, const sxi_shot_part *where, int64_t place) {
    const sxi_shot_part *f = &one->first;
    if (one->count == 0 || where->file != f->file || where->dataset != f->dataset ||
        where->mask != f->mask || place != one->place + one->count) {
        return false;
    }
    for (int axis = 0; axis < f->leading; axis++) {
        const int other = !axis;
        const bool same = f->leading == 1 || where->at[other] == f->at[other];
        if ((one->count == 1 || one->axis == axis) && same &&
            where->at[axis] == f->at[axis] + one->count) {
            one->axis = axis;
            return true;
        }
    }
    return false;
}

static void fill_nan(const reading *r, const batch *b, int64_t place, int part) {
    void *to = memory_at(r, b, place, part * r->part_pixels);
    for (int64_t i = 0; i < r->part_pixels; i++) {
        if (r->dtype == SX_F32) {
            ((float *)to)[i] = NAN;
        } else {
            ((double *)to)[i] = (double)NAN;
        }
    }
}

/* The boxes of one part of the shots [first, end). */
static void part_boxes(const reading *r, const batch *b, boxes *x, int64_t first, int64_t end,
                       bool whole, int part) {
    const sxi_shots *s = r->f->shots;
    run one = {.count = 0};
    int64_t place = 0;
    for (int64_t k = first; k < end; k++) {
        const bool wanted = r->f->chosen->reason[k] == SX_REDUCE_USED;
        sxi_shot_part where;
        if (!wanted && !whole) {
            continue;
        }
        s->facility->part(s, k, part, &where);
        if (where.file && follows(&one, &where, place)) {
            one.count++;
        } else {
            if (one.count > 0) {
                add_box(r, b, x, &one, part);
            }
            one = (run){.first = where, .axis = 0, .count = where.file != NULL, .place = place};
        }
        if (!where.file) {
            fill_nan(r, b, place, part);
        }
        place++;
    }
    if (one.count > 0) {
        add_box(r, b, x, &one, part);
    }
}

/* Where several frames are decoded together, all of them are read; else only those that are wanted. */
static void all_boxes(const reading *r, batch *b, boxes *x, int64_t first, int64_t end) {
    const bool whole = r->f->shots->together > 1;
    int64_t place = 0;
    b->count = 0;
    for (int64_t k = first; k < end; k++) {
        const bool wanted = r->f->chosen->reason[k] == SX_REDUCE_USED;
        if (wanted) {
            take_shot(r, b, k, place);
        }
        place += wanted || whole;
    }
    for (int part = 0; b->count > 0 && part < r->f->shots->parts; part++) {
        part_boxes(r, b, x, first, end, whole, part);
    }
}

/* Begins to read the next shots, if there are any. */
static sx_status batch_start(reading *r, batch *b) {
    const int64_t left = r->f->shots->count - r->next;
    const int64_t n = left < r->frames ? left : r->frames;
    const size_t most = (size_t)(2 * n * r->f->shots->parts + 1); /* with masks */
    boxes x = {.list = malloc(most * sizeof *x.list), .box = malloc(most * sizeof *x.box)};
    sx_status status = SX_OK;
    b->count = 0;
    if (!x.list || !x.box) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to read %lld frames", (long long)n);
        goto out;
    }
    all_boxes(r, b, &x, r->next, r->next + n);
    r->next += n;
    if (x.count > 0) {
        const sx_hdf5_options options = {.context = r->f->context};
        SXI_GO(sx_hdf5_start(x.count, x.list, &options, &b->request));
    }
out:
    free(x.list);
    free(x.box);
    return status;
}

/* --- adding --- */

/* Frames in energy instead of those that were read. */
static sx_status calibrate(reading *r, batch *b) {
    bool good = true;
#pragma omp parallel for num_threads(sx_threads(r->f->context)) schedule(dynamic)
    for (int64_t k = 0; k < b->count; k++) {
        float *energy = b->energy + k * r->pixels;
        if (sxi_calibrate(r->f->calibration, b->frame[k], energy) != SX_OK) {
#pragma omp atomic write
            good = false;
        }
        b->frame[k] = energy;
    }
    return good ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory to calibrate frames");
}

/* Bad values, and what stands for none, are missing. bad: [pixels], or NULL. */
static void blank_f32(const sxi_shots *s, int64_t pixels, const uint8_t *bad, float *frame) {
    const float none = (float)s->none;
    for (int64_t p = 0; bad && p < pixels; p++) {
        frame[p] = bad[p] ? NAN : frame[p];
    }
    for (int64_t p = 0; s->has_none && p < pixels; p++) {
        frame[p] = frame[p] == none ? NAN : frame[p];
    }
}

static void blank_f64(const sxi_shots *s, int64_t pixels, const uint8_t *bad, double *frame) {
    for (int64_t p = 0; bad && p < pixels; p++) {
        frame[p] = bad[p] ? (double)NAN : frame[p];
    }
    for (int64_t p = 0; s->has_none && p < pixels; p++) {
        frame[p] = frame[p] == s->none ? (double)NAN : frame[p];
    }
}

static void blank(const reading *r, const batch *b) {
    const sxi_shots *s = r->f->shots;
    for (int64_t k = 0; k < b->count; k++) {
        const int64_t bytes = (const char *)b->frame[k] - (const char *)b->memory.data;
        const int64_t at = bytes / (int64_t)sx_dtype_size(r->dtype);
        const uint8_t *bad = b->bad.data ? (const uint8_t *)b->bad.data + at : NULL;
        if (r->dtype == SX_F32) {
            blank_f32(s, r->pixels, bad, (float *)b->memory.data + at);
        } else {
            blank_f64(s, r->pixels, bad, (double *)b->memory.data + at);
        }
    }
}

static sx_status batch_add(reading *r, batch *b) {
    sxi_frames *f = r->f;
    const sx_dtype dtype = f->calibration ? SX_F32 : r->dtype;
    if (b->request) {
        SXI_TRY(sx_hdf5_wait(&b->request, NULL));
    }
    if (f->calibration) {
        SXI_TRY(calibrate(r, b));
    } else if (f->shots->masked || f->shots->has_none) {
        blank(r, b);
    }
    SXI_TRY(sxi_check_add(f->check, dtype, b->count, b->frame, b->check, f->i0_offset, f->context));
    SXI_TRY(sxi_reducer_add_at(f->reducer, dtype, b->count, b->frame, b->shot, f->context));
    f->bytes += b->count * r->pixels * (int64_t)sx_dtype_size(f->shots->dtype);
    return SX_OK;
}

static sx_status read_and_add(reading *r) {
    const sxi_shots *s = r->f->shots;
    const int64_t bytes = r->pixels * (int64_t)sx_dtype_size(r->dtype) * s->together;
    const int64_t most = BATCH_BYTES / bytes;
    r->frames = s->together * (most > 1 ? most : 1);
    SXI_TRY(batch_create(r, &r->two[0]));
    SXI_TRY(batch_create(r, &r->two[1]));
    SXI_TRY(batch_start(r, &r->two[0]));
    for (int turn = 0; r->two[turn].count > 0 || r->next < s->count; turn = !turn) {
        const int64_t told = r->next;
        SXI_TRY(batch_start(r, &r->two[!turn]));
        SXI_TRY(batch_add(r, &r->two[turn]));
        sx_progress(r->f->context, "shots", r->f->before + told, r->f->all);
        if (sx_cancelled(r->f->context)) {
            return SXI_FAIL(SX_ERR_CANCELLED, "stopped; nothing was written");
        }
    }
    return SX_OK;
}

/* Raw frames are whole numbers of 16 bits, all of whose parts are there. */
static sx_status check_raw(const sxi_frames *f) {
    const sxi_shots *s = f->shots;
    if (!f->calibration || added_as(s) == SX_U16) {
        return SX_OK;
    }
    return SXI_FAIL(SX_ERR_TYPE, "%s:%s holds %s%s; raw frames to be calibrated are uint16, whole",
                    s->path, s->detector, sx_dtype_name(s->dtype),
                    s->gaps ? ", and parts of some were not recorded" : "");
}

sx_status sxi_frames_add(sxi_frames *f) {
    SXI_TRY(check_raw(f));
    reading r = {.f = f, .dtype = added_as(f->shots), .pixels = 1};
    for (int d = 0; d < f->shots->rank; d++) {
        r.pixels *= f->shots->shape[d];
    }
    r.part_pixels = r.pixels / f->shots->parts;
    const sx_status status = read_and_add(&r);
    batch_destroy(&r.two[0]);
    batch_destroy(&r.two[1]);
    return status;
}
