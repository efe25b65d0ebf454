/* SPDX-License-Identifier: Apache-2.0
 * Input files for tests, a dataset a line. */
#ifndef SX_PUT_H
#define SX_PUT_H

#include "io/hdf5/h5file.h"
#include "sx_check.h"

/* Value of element i of a dataset. */
typedef double (*sx_put_fn)(int64_t i);

/* Writes a dataset of any type and shape, its values from a function. */
static inline void sx_put(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                          const int64_t *shape, const char *unit, sx_put_fn value) {
    sx_array array;
    sx_array flat;
    ck_ok(sx_array_create(dtype, rank, shape, &array));
    const int64_t count = sx_array_count(&array);
    ck_ok(sx_array_view(dtype, 1, &count, array.data, &flat));
    for (int64_t i = 0; i < count; i++) {
        sx_array_set(&flat, &i, value(i));
    }
    ck_ok(sxi_h5_write(writer, name, &array, unit, ""));
    sx_array_destroy(&array);
}

/* Writes a dataset [count] of given values. */
static inline void sx_put_values(sxi_h5_writer *writer, const char *name, sx_dtype dtype,
                                 int64_t count, const double *values, const char *unit) {
    sx_array array;
    ck_ok(sx_array_create(dtype, 1, &count, &array));
    for (int64_t i = 0; i < count; i++) {
        sx_array_set(&array, &i, values[i]);
    }
    ck_ok(sxi_h5_write(writer, name, &array, unit, ""));
    sx_array_destroy(&array);
}

#endif
