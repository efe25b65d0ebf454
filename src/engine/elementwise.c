/* SPDX-License-Identifier: Apache-2.0
 * The arithmetic of elementwise nodes: row by row, some elements at a time, as doubles. */
#include "engine/darray.h"

#include <string.h>

enum { PIECE = 512 };

const double *sxi_doubles(const sx_array *array, const void *first, int64_t stride, int64_t n,
                          double *room) {
    if (array->dtype == SX_F64 && stride == 1) {
        return first;
    }
    switch (array->dtype) {
#define LOAD(name, type, word)                                                                     \
    case SX_##name:                                                                                \
        if (stride == 1) {                                                                         \
            for (int64_t i = 0; i < n; i++) {                                                      \
                room[i] = (double)((const type *)first)[i];                                        \
            }                                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                room[i] = (double)((const type *)first)[i * stride];                               \
            }                                                                                      \
        }                                                                                          \
        break;
        SX_DTYPE_LIST(LOAD)
#undef LOAD
    }
    return room;
}

#define EACH(expression)                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
        z[i] = expression;                                                                         \
    }                                                                                              \
    break

/* A product of floats, or a sum, quotient or difference, rounded to double and then to float is the
 * float that float arithmetic gives: a double has more than twice the digits. */
static void compute(const sx_darray *node, int64_t n, const double *x, const double *y, double *z) {
    switch (node->kind) {
    case SXI_NODE_ADD:
        EACH(x[i] + y[i]);
    case SXI_NODE_SUBTRACT:
        EACH(x[i] - y[i]);
    case SXI_NODE_MULTIPLY:
        EACH(x[i] * y[i]);
    case SXI_NODE_DIVIDE:
        EACH(x[i] / y[i]);
    case SXI_NODE_MAP:
        node->map(node->map_data, n, x, z);
        break;
    case SXI_NODE_FAILED:
    case SXI_NODE_MEMORY:
    case SXI_NODE_FILE:
    case SXI_NODE_SOURCE:
    case SXI_NODE_VIEW:
    case SXI_NODE_CONVERT:
        break;
    }
}

/* Elements of one row; z is float or double, side by side. */
static void row(const sx_darray *node, const sx_array *inputs, const char *const *from,
                const int64_t *stride, int64_t n, sx_dtype dtype, char *z) {
    double room[3][PIECE];
    const int count = node->input[1] ? 2 : 1;
    for (int64_t i = 0; i < n; i += PIECE) {
        const int64_t m = n - i < PIECE ? n - i : PIECE;
        const double *x[2] = {room[0], room[1]};
        for (int k = 0; k < count; k++) {
            const int64_t bytes = (int64_t)sx_dtype_size(inputs[k].dtype);
            x[k] = sxi_doubles(&inputs[k], from[k] + i * stride[k] * bytes, stride[k], m, room[k]);
        }
        double *result = dtype == SX_F64 ? (double *)(void *)z + i : room[2];
        compute(node, m, x[0], x[1], result);
        for (int64_t j = 0; dtype == SX_F32 && j < m; j++) {
            ((float *)(void *)z)[i + j] = (float)result[j];
        }
    }
}

/* How many of the last axes are one run of elements in every input. */
static int axes_of_run(const sx_darray *node, const sx_array *inputs, const sx_array *out,
                       int64_t *run) {
    int axes = out->rank;
    *run = 1;
    while (axes > 0) {
        const int d = axes - 1;
        bool runs = true;
        for (int k = 0; k < (node->input[1] ? 2 : 1); k++) {
            runs = runs && (out->shape[d] == 1 || inputs[k].stride[d] == *run);
        }
        if (!runs) {
            break;
        }
        *run *= out->shape[d];
        axes--;
    }
    return axes;
}

void sxi_elementwise(const sx_darray *node, const sx_array *inputs, sx_array *out) {
    const int64_t count = sx_array_count(out), size = (int64_t)sx_dtype_size(out->dtype);
    const int inputs_used = node->input[1] ? 2 : 1;
    int64_t index[SX_MAX_RANK] = {0}, stride[2] = {1, 1}, run;
    int axes = axes_of_run(node, inputs, out, &run);
    if (count == 0) {
        return;
    }
    if (run == 1 && axes > 0) { /* an input is repeated or strided along the last axis */
        axes--;
        run = out->shape[axes];
        stride[0] = inputs[0].stride[axes];
        stride[1] = inputs_used > 1 ? inputs[1].stride[axes] : 0;
    }
    char *z = out->data;
    for (int64_t done = 0; done < count; done += run, z += run * size) {
        const char *from[2] = {NULL, NULL};
        for (int k = 0; k < inputs_used; k++) {
            int64_t offset = 0;
            for (int d = 0; d < axes; d++) {
                offset += index[d] * inputs[k].stride[d];
            }
            from[k] =
                (const char *)inputs[k].data + offset * (int64_t)sx_dtype_size(inputs[k].dtype);
        }
        row(node, inputs, from, stride, run, out->dtype, z);
        for (int d = axes - 1; d >= 0 && ++index[d] == out->shape[d]; d--) {
            index[d] = 0;
        }
    }
}
