/* SPDX-License-Identifier: Apache-2.0
 * Panels of a .geom: where they lie in the frame and in space. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "io/geometry/crystfel.h"

static const char *const WORDS[SXI_REALS] = {"min_fs",   "max_fs",   "min_ss", "max_ss",
                                             "corner_x", "corner_y", "res"};

static bool all_zero(const double *v) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

/* --- what a panel must have --- */

static sx_status incomplete(const sxi_geom *geom, const sxi_geom_panel *p, const char *what) {
    return SXI_FAIL(SX_ERR_MISSING,
                    "%s: panel %s has no %s, and no value for all panels precedes it",
                    geom->line.path, p->name, what);
}

static sx_status check_panel(const sxi_geom *geom, const sxi_geom_panel *p) {
    for (int i = 0; i < SXI_REALS; i++) {
        if (isnan(p->real[i])) {
            return incomplete(geom, p, WORDS[i]);
        }
    }
    if (all_zero(p->fs) || all_zero(p->ss)) {
        return incomplete(geom, p, all_zero(p->fs) ? "fs" : "ss");
    }
    for (int i = SXI_MIN_FS; i <= SXI_MAX_SS; i++) {
        /* Some programs write 1029.0. */
        if (!(p->real[i] >= 0 && p->real[i] < 1e9) || p->real[i] != floor(p->real[i])) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "%s: %s of panel %s is %g, which is not an index of a pixel",
                            geom->line.path, WORDS[i], p->name, p->real[i]);
        }
    }
    if (p->real[SXI_MAX_FS] < p->real[SXI_MIN_FS] || p->real[SXI_MAX_SS] < p->real[SXI_MIN_SS]) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "%s: panel %s ends before it begins: fs %g to %g, ss %g to %g",
                        geom->line.path, p->name, p->real[SXI_MIN_FS], p->real[SXI_MAX_FS],
                        p->real[SXI_MIN_SS], p->real[SXI_MAX_SS]);
    }
    if (!(p->real[SXI_RES] > 0)) {
        return SXI_FAIL(SX_ERR_RANGE, "%s: res of panel %s is %g; it is pixels per metre",
                        geom->line.path, p->name, p->real[SXI_RES]);
    }
    return SX_OK;
}

/* --- the dataset of a panel --- */

/* Dimensions of the dataset: how many, where the rows, columns and the one fixed index are (-1
 * without), and how many count frames or are fixed. */
typedef struct layout {
    int rank, slow, fast, fixed_at, fixed, frames;
} layout;

static sx_status layout_of(const sxi_geom *geom, const sxi_geom_panel *p, layout *l) {
    *l = (layout){.rank = 2, .slow = 0, .fast = 1, .fixed_at = -1};
    int given = 0;
    for (int d = 0; d < SXI_GEOM_DIMS; d++) {
        given = p->dim[d] == SXI_DIM_NONE ? given : d + 1;
    }
    if (given == 0) {
        return SX_OK;
    }
    int slow = 0, fast = 0;
    l->rank = given;
    for (int d = 0; d < given; d++) {
        switch (p->dim[d]) {
        case SXI_DIM_NONE:
            return SXI_FAIL(SX_ERR_MISSING, "%s: panel %s has a dim%d and no dim%d",
                            geom->line.path, p->name, given - 1, d);
        case SXI_DIM_FRAME:
            l->frames++;
            break;
        case SXI_DIM_SLOW:
            slow++;
            l->slow = d;
            break;
        case SXI_DIM_FAST:
            fast++;
            l->fast = d;
            break;
        default:
            l->fixed++;
            l->fixed_at = d;
        }
    }
    if (slow != 1 || fast != 1 || l->slow > l->fast) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s: of the dimensions of panel %s one should be ss, and one after it fs",
                        geom->line.path, p->name);
    }
    return SX_OK;
}

/* Whether two panels lie in one image: same dataset and fixed indices. */
static bool same_image(const sxi_geom_panel *a, const sxi_geom_panel *b) {
    for (int d = 0; d < SXI_GEOM_DIMS; d++) {
        if ((a->dim[d] >= 0 || b->dim[d] >= 0) && a->dim[d] != b->dim[d]) {
            return false;
        }
    }
    return strcmp(a->data, b->data) == 0;
}

/* Numbers the images; *indexed: one dataset holds them, and they are told by their index in it. */
static sx_status number_images(sxi_geom *geom, const layout *first, int64_t *images,
                               bool *indexed) {
    *images = 0;
    *indexed = first->fixed == 1;
    for (int i = 0; i < geom->panels; i++) {
        sxi_geom_panel *p = &geom->panel[i];
        layout l;
        SXI_TRY(layout_of(geom, p, &l));
        *indexed = *indexed && l.fixed == 1 && l.fixed_at == first->fixed_at &&
                   strcmp(p->data, geom->panel[0].data) == 0;
        int k = 0;
        while (k < i && !same_image(p, &geom->panel[k])) {
            k++;
        }
        p->segment = k < i ? geom->panel[k].segment : (*images)++;
    }
    if (*indexed) {
        *images = 0;
        for (int i = 0; i < geom->panels; i++) {
            sxi_geom_panel *p = &geom->panel[i];
            p->segment = p->dim[first->fixed_at];
            *images = p->segment + 1 > *images ? p->segment + 1 : *images;
        }
    }
    return SX_OK;
}

/* The frame may be larger than what panels cover: of a dataset, if its name is plain. */
static sx_status shape_of_data(const sxi_geom *geom, const layout *l, bool indexed,
                               int64_t *shape) {
    const char *name = geom->panel[0].data;
    sx_hdf5_dataset dataset;
    if (!geom->data || strchr(name, '%')) {
        return SX_OK;
    }
    SXI_TRY(sx_hdf5_describe(geom->data, name, &dataset));
    if (dataset.rank != l->rank) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %d dimensions, %s says %d",
                        sx_hdf5_path_of(geom->data), name, dataset.rank, geom->line.path, l->rank);
    }
    const int64_t found[] = {indexed ? dataset.shape[l->fixed_at] : shape[0],
                             dataset.shape[l->slow], dataset.shape[l->fast]};
    for (int d = 0; d < 3; d++) {
        if (found[d] < shape[d]) {
            return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %lld %s, panels of %s reach to %lld",
                            sx_hdf5_path_of(geom->data), name, (long long)found[d],
                            d == 0   ? "images"
                            : d == 1 ? "rows"
                                     : "columns",
                            geom->line.path, (long long)shape[d]);
        }
        shape[d] = found[d];
    }
    return SX_OK;
}

static sx_status set_shape(sxi_geom *geom, sx_geometry *g) {
    layout first;
    bool indexed;
    int64_t shape[3] = {0};
    SXI_TRY(layout_of(geom, &geom->panel[0], &first));
    SXI_TRY(number_images(geom, &first, &shape[0], &indexed));
    for (int i = 0; i < geom->panels; i++) {
        const double *real = geom->panel[i].real;
        const int64_t rows = (int64_t)real[SXI_MAX_SS] + 1, columns = (int64_t)real[SXI_MAX_FS] + 1;
        shape[1] = rows > shape[1] ? rows : shape[1];
        shape[2] = columns > shape[2] ? columns : shape[2];
    }
    SXI_TRY(shape_of_data(geom, &first, indexed, shape));
    const bool flat = shape[0] == 1 && !indexed;
    memcpy(g->data, geom->panel[0].data, sizeof g->data);
    g->frame_axes = first.frames;
    return sxi_geometry_shape(g, flat ? 2 : 3, flat ? shape + 1 : shape);
}

/* --- positions --- */

static const sxi_geom_unit LENGTHS[] = {{"m", 1}, {"mm", 1e-3}, {NULL, 0}};
/* CrystFEL takes a length of a data file for millimetres unless told. */
static const sxi_geom_unit DATA_LENGTHS[] = {{"mm", 1e-3}, {"m", 1}, {NULL, 0}};

static sx_status distance(const sxi_geom *geom, const sxi_geom_panel *p, sx_geometry *g,
                          double *z) {
    bool there;
    const sxi_geom_unit *units = p->clen.path[0] ? DATA_LENGTHS : LENGTHS;
    /* 1e-5 of a metre is a tenth of a pixel. */
    SXI_TRY(sxi_geom_number(geom, "clen", &p->clen, units, 1e-5, z, &there));
    if (there) {
        return SX_OK;
    }
    if (g->facts.has_distance && p->clen.given) {
        sx_log(g->options.context, SX_LOG_WARNING,
               "%s: clen is to be found in %s of the data file; without that file z is not known",
               geom->line.path, p->clen.path);
    } else if (g->facts.has_distance) {
        sx_log(g->options.context, SX_LOG_WARNING,
               "%s says no distance, so z is not known: add a line such as 'clen = 0.1' before the "
               "panels",
               geom->line.path);
    }
    g->facts.has_distance = false;
    *z = (double)NAN;
    return SX_OK;
}

static sx_status place(const sxi_geom *geom, const sxi_geom_panel *p, const double *shift,
                       sx_geometry *g) {
    const double pixel = 1 / p->real[SXI_RES];
    double z = 0;
    sxi_panel *to = sxi_geometry_panel(g);
    if (!to) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %d panels", geom->line.path,
                        geom->panels);
    }
    SXI_TRY(distance(geom, p, g, &z));
    snprintf(to->name, sizeof to->name, "%s", p->name);
    to->row = p->segment * (g->rows / (g->facts.rank == 3 ? g->facts.shape[0] : 1)) +
              (int64_t)p->real[SXI_MIN_SS];
    to->rows = (int64_t)(p->real[SXI_MAX_SS] - p->real[SXI_MIN_SS]) + 1;
    to->column = (int64_t)p->real[SXI_MIN_FS];
    to->columns = (int64_t)(p->real[SXI_MAX_FS] - p->real[SXI_MIN_FS]) + 1;
    to->origin[0] = p->real[SXI_CORNER_X] * pixel + shift[0];
    to->origin[1] = p->real[SXI_CORNER_Y] * pixel + shift[1];
    to->origin[2] = z + p->coffset;
    for (int d = 0; d < 3; d++) {
        to->fast[d] = p->fs[d] * pixel;
        to->slow[d] = p->ss[d] * pixel;
    }
    return SX_OK;
}

sx_status sxi_geom_panels(sxi_geom *geom, sx_geometry *g) {
    double shift[2] = {0, 0};
    bool there;
    if (geom->panels == 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s holds no panel: no line such as 'p0/min_fs = 0'",
                        geom->line.path);
    }
    for (int i = 0; i < geom->panels; i++) {
        SXI_TRY(check_panel(geom, &geom->panel[i]));
    }
    for (int d = 0; d < 2; d++) {
        const sxi_geom_value *value = &geom->global[SXI_SHIFT_X + d];
        SXI_TRY(sxi_geom_number(geom, "detector_shift", value, LENGTHS, 1e-5, &shift[d], &there));
        if (value->given && !there) {
            return SXI_FAIL(SX_ERR_MISSING,
                            "%s: the shift of the detector is to be found in %s of the data file, "
                            "which is not named",
                            geom->line.path, value->path);
        }
    }
    SXI_TRY(set_shape(geom, g));
    for (int i = 0; i < geom->panels; i++) {
        SXI_TRY(place(geom, &geom->panel[i], shift, g));
    }
    return sxi_geometry_finish(g);
}
