/* SPDX-License-Identifier: Apache-2.0
 * Rows of the flattened frame out of a stack of frames. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdlib.h>

/* A mark is compared as the type of the array holds it: 1e20 is not the float 1e20. */
#define BLANK(type, none)                                                                          \
    do {                                                                                           \
        type *value = (type *)values->data + at;                                                   \
        const type missing = (type)mark;                                                           \
        for (int64_t i = 0; i < count; i++) {                                                      \
            value[i * stride] = value[i * stride] == missing ? (none) : value[i * stride];         \
        }                                                                                          \
    } while (0)

static void blank_row(double mark, sx_array *values, int64_t at, int64_t count, int64_t stride) {
    if (values->dtype == SX_F32) {
        BLANK(float, NAN);
    } else {
        BLANK(double, (double)NAN);
    }
}

/* One axis after the other down to the last. */
static void blank(double mark, sx_array *values, int d, int64_t at) {
    if (d >= values->rank - 1) {
        blank_row(mark, values, at, values->rank ? values->shape[d] : 1,
                  values->rank ? values->stride[d] : 1);
        return;
    }
    for (int64_t i = 0; i < values->shape[d]; i++) {
        blank(mark, values, d + 1, at + i * values->stride[d]);
    }
}

void sxi_stack_blank(const sxi_stack *stack, sx_array *values) {
    for (int i = 0; i < stack->marks; i++) {
        blank(stack->mark[i], values, 0, 0);
    }
}

/* --- boxes --- */

struct sxi_box {
    const sxi_stack *stack;
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK];
    sx_array array; /* the axes of the dataset, the strides of the target */
};

static sx_status box_next(sxi_boxes *boxes, struct sxi_box **box) {
    if (boxes->count == boxes->room) {
        const int room = boxes->room ? 2 * boxes->room : 2;
        struct sxi_box *grown = realloc(boxes->box, (size_t)room * sizeof *grown);
        if (!grown) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory to read %d boxes", room);
        }
        boxes->box = grown;
        boxes->room = room;
    }
    *box = &boxes->box[boxes->count++];
    return SX_OK;
}

/* Rows of one segment into a view of the target. */
static sx_status add_part(sxi_boxes *boxes, const sxi_stack *stack, int64_t first, int64_t segment,
                          int64_t row0, int64_t height, const sx_array *view) {
    struct sxi_box *box = NULL;
    SXI_TRY(box_next(boxes, &box));
    *box = (struct sxi_box){.stack = stack, .start = {first}, .count = {view->shape[0]}};
    box->array = (sx_array){.dtype = view->dtype, .rank = stack->about.rank, .data = view->data};
    box->array.stride[0] = view->stride[0];
    int d = 1;
    if (box->array.rank == 4) {
        box->start[d] = segment;
        box->count[d] = 1;
        box->array.stride[d] = height * view->stride[1];
        d++;
    }
    if (d < box->array.rank) {
        box->start[d] = row0;
        box->count[d] = view->shape[1];
        box->array.stride[d] = view->stride[1];
        d++;
    }
    if (d < box->array.rank) {
        box->count[d] = view->shape[2];
        box->array.stride[d] = view->stride[2];
    }
    for (d = 0; d < box->array.rank; d++) {
        box->array.shape[d] = box->count[d];
    }
    return SX_OK;
}

sx_status sxi_boxes_add(sxi_boxes *boxes, const sxi_stack *stack, int64_t first, int64_t n,
                        int64_t row0, int64_t count, const sx_array *target) {
    const int64_t height = stack->about.rank == 4 ? stack->about.shape[2] : row0 + count;
    for (int64_t row = row0; row < row0 + count;) {
        const int64_t segment = row / height;
        const int64_t inside = row - segment * height;
        const int64_t left = row0 + count - row;
        const int64_t part = left < height - inside ? left : height - inside;
        const int64_t from[] = {0, row - row0, 0};
        const int64_t to[] = {n, row - row0 + part, target->shape[2]};
        sx_array view;
        SXI_TRY(sx_array_slice(target, from, to, &view));
        SXI_TRY(add_part(boxes, stack, first, segment, inside, part, &view));
        row += part;
    }
    return SX_OK;
}

/* What was never written was looked for when the stack was described. */
sx_status sxi_boxes_start(const sxi_boxes *boxes, const sx_context *context,
                          sx_hdf5_request **request) {
    const sx_hdf5_options options = {.context = context, .missing = SX_HDF5_MISSING_FILL};
    sx_hdf5_box *list = calloc((size_t)boxes->count + 1, sizeof *list);
    if (!list) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to read %d boxes", boxes->count);
    }
    for (int i = 0; i < boxes->count; i++) {
        struct sxi_box *box = &boxes->box[i];
        list[i] =
            (sx_hdf5_box){box->stack->file, box->stack->name, box->start, box->count, &box->array};
    }
    const sx_status status = sx_hdf5_start(boxes->count, list, &options, request);
    free(list);
    return status;
}

void sxi_boxes_free(sxi_boxes *boxes) {
    free(boxes->box);
    *boxes = (sxi_boxes){0};
}

sx_status sxi_stack_read(const sxi_stack *stack, int64_t first, int64_t n, int64_t row0,
                         int64_t count, sx_array *target) {
    sxi_boxes boxes = {0};
    sx_status status = sxi_boxes_add(&boxes, stack, first, n, row0, count, target);
    for (int i = 0; i < boxes.count && status == SX_OK; i++) {
        struct sxi_box *box = &boxes.box[i];
        status = sxi_h5_read_box(stack->file, stack->name, box->start, box->count, &box->array);
    }
    if (status == SX_OK) {
        sxi_stack_blank(stack, target);
    }
    sxi_boxes_free(&boxes);
    return status;
}
