/* SPDX-License-Identifier: Apache-2.0
 * One pixel of a geometry, and geometries of a few lines of text. */
#ifndef SX_GEOMETRY_TEST_H
#define SX_GEOMETRY_TEST_H

#include <string.h>

#include <sextant/geometry.h>

#include "sx_check.h"
#include "sx_folder.h"

/* Position of column i of row j, counted through all segments. */
static inline void sx_pixel(const sx_geometry *geometry, int64_t j, int64_t i, double at[3]) {
    const sx_geometry_facts *facts = sx_geometry_facts_of(geometry);
    const size_t columns = (size_t)facts->shape[facts->rank - 1];
    double *row = malloc(3 * columns * sizeof *row);
    ck_ok(sx_geometry_place(geometry, j, 1, row, row + columns, row + 2 * columns));
    for (size_t d = 0; d < 3; d++) {
        at[d] = row[d * columns + (size_t)i];
    }
    free(row);
}

/* A nanometre: far below what any detector is known to, above the rounding of a metre. */
#define ck_pixel(geometry, j, i, x, y, z)                                                          \
    do {                                                                                           \
        double at_[3];                                                                             \
        sx_pixel(geometry, j, i, at_);                                                             \
        ck_near(at_[0], x, 0, 1e-9);                                                               \
        ck_near(at_[1], y, 0, 1e-9);                                                               \
        ck_near(at_[2], z, 0, 1e-9);                                                               \
    } while (0)

/* A geometry that is expected to be read; NULL where foreign data are not here. */
static inline sx_geometry *sx_geometry_of(const char *path, const sx_geometry_options *options) {
    sx_geometry *geometry = NULL;
    if (path) {
        ck_ok(sx_geometry_read(path, options, &geometry));
    }
    return geometry;
}

static inline sx_geometry *sx_geometry_text(const char *text) {
    return sx_geometry_of(sx_folder_write("geometry", text, strlen(text)), NULL);
}

#define ck_geometry_fails(text, status, words)                                                     \
    do {                                                                                           \
        sx_geometry *geometry_ = NULL;                                                             \
        const char *path_ = sx_folder_write("geometry", text, strlen(text));                       \
        ck_fails(sx_geometry_read(path_, NULL, &geometry_), status, words);                        \
        ck_assert_ptr_null(geometry_);                                                             \
    } while (0)

#endif
