/* SPDX-License-Identifier: Apache-2.0
 * Rows of the flattened frame out of a stack of frames. */
#include "xani/source_layout.h"

#include <math.h>

/* A mark is compared as the type of the array holds it: 1e20 is not the float 1e20. */
static void blank_row(double mark, sx_array *values, int64_t at, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; i++) {
        if (values->dtype == SX_F32) {
            float *value = (float *)values->data + at + i * stride;
            *value = *value == (float)mark ? NAN : *value;
        } else {
            double *value = (double *)values->data + at + i * stride;
            *value = *value == mark ? (double)NAN : *value;
        }
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

/* Rows of one segment; the box has the axes of the dataset, the view its strides. */
static sx_status read_part(const sxi_stack *stack, int64_t first, int64_t n, int64_t segment,
                           int64_t row0, int64_t count, sx_array *view) {
    int64_t start[SX_MAX_RANK] = {first};
    int64_t number[SX_MAX_RANK] = {n};
    sx_array box = {.dtype = view->dtype, .rank = stack->about.rank, .data = view->data};
    box.stride[0] = view->stride[0];
    int d = 1;
    if (box.rank == 4) {
        start[d] = segment;
        number[d] = 1;
        box.stride[d] = count * view->stride[1];
        d++;
    }
    if (d < box.rank) {
        start[d] = row0;
        number[d] = count;
        box.stride[d] = view->stride[1];
        d++;
    }
    if (d < box.rank) {
        number[d] = view->shape[2];
        box.stride[d] = view->stride[2];
    }
    for (d = 0; d < box.rank; d++) {
        box.shape[d] = number[d];
    }
    return sxi_h5_read_box(stack->file, stack->name, start, number, &box);
}

sx_status sxi_stack_read(const sxi_stack *stack, int64_t first, int64_t n, int64_t row0,
                         int64_t count, sx_array *target) {
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
        SXI_TRY(read_part(stack, first, n, segment, inside, part, &view));
        row += part;
    }
    sxi_stack_blank(stack, target);
    return SX_OK;
}
