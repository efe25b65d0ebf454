/* SPDX-License-Identifier: Apache-2.0
 * Pixels that a .geom leaves out: regions, edges, panels, and masks in files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/geometry/crystfel.h"

/* A part of a panel, in rows and columns of the frame: first, and end. */
typedef struct box {
    int64_t row, row_end, column, column_end;
} box;

static void set_bad(sx_geometry *g, const box *b) {
    for (int64_t r = b->row; r < b->row_end; r++) {
        for (int64_t c = b->column; c < b->column_end; c++) {
            g->mask[r * g->columns + c] |= SXI_PIXEL_BAD;
        }
    }
}

static box box_of(const sxi_panel *p) {
    return (box){p->row, p->row + p->rows, p->column, p->column + p->columns};
}

/* --- edges and regions --- */

static void mask_edges(sx_geometry *g, const sxi_panel *p, double width) {
    const box all = box_of(p);
    const int64_t most = p->rows > p->columns ? p->rows : p->columns;
    const int64_t w = width >= (double)most ? most : (int64_t)width;
    for (int64_t r = all.row; r < all.row_end && w > 0; r++) {
        for (int64_t c = all.column; c < all.column_end; c++) {
            if (r < all.row + w || r >= all.row_end - w || c < all.column + w ||
                c >= all.column_end - w) {
                g->mask[r * g->columns + c] |= SXI_PIXEL_BAD;
            }
        }
    }
}

/* Indices first..last, inclusive, of an axis that has a panel from `from` on. */
static void clip(double least, double most, int64_t from, int64_t count, int64_t *first,
                 int64_t *end) {
    const double low = fmax(ceil(least), (double)from);
    const double high = fmin(floor(most) + 1, (double)(from + count));
    *first = (int64_t)low;
    *end = high > low ? (int64_t)high : *first;
}

/* Rows and columns as the file counts them. */
static void mask_indices(sx_geometry *g, const sxi_geom_panel *from, const sxi_panel *p,
                         const sxi_geom_bad *bad) {
    box b;
    const int64_t above = p->row - (int64_t)from->real[SXI_MIN_SS];
    clip(bad->least[SXI_BAD_SS], bad->most[SXI_BAD_SS], p->row - above, p->rows, &b.row,
         &b.row_end);
    clip(bad->least[SXI_BAD_FS], bad->most[SXI_BAD_FS], p->column, p->columns, &b.column,
         &b.column_end);
    b.row += above;
    b.row_end += above;
    set_bad(g, &b);
}

/* Pixels whose centre lies in a part of the x-y plane, in pixels of the panel. */
static void mask_plane(sx_geometry *g, const sxi_geom_panel *from, const sxi_panel *p,
                       const sxi_geom_bad *bad) {
    const double res = from->real[SXI_RES];
    for (int64_t j = 0; j < p->rows; j++) {
        for (int64_t i = 0; i < p->columns; i++) {
            bool in = true;
            for (int d = 0; d < 2; d++) {
                const double at = (p->origin[d] + ((double)i + 0.5) * p->fast[d] +
                                   ((double)j + 0.5) * p->slow[d]) *
                                  res;
                in = in && at >= bad->least[SXI_BAD_X + d] && at <= bad->most[SXI_BAD_X + d];
            }
            if (in) {
                g->mask[(p->row + j) * g->columns + p->column + i] |= SXI_PIXEL_BAD;
            }
        }
    }
}

static bool has_pair(const sxi_geom_bad *bad, int a) {
    return !isnan(bad->least[a]) && !isnan(bad->most[a]) && !isnan(bad->least[a + 1]) &&
           !isnan(bad->most[a + 1]);
}

static bool has_any(const sxi_geom_bad *bad, int a) {
    return !isnan(bad->least[a]) || !isnan(bad->most[a]) || !isnan(bad->least[a + 1]) ||
           !isnan(bad->most[a + 1]);
}

static sx_status mask_region(const sxi_geom *geom, const sxi_geom_bad *bad, sx_geometry *g) {
    const bool indices = has_pair(bad, SXI_BAD_FS), plane = has_pair(bad, SXI_BAD_X);
    bool found = *bad->panel == '\0';
    if (indices == plane || has_any(bad, plane ? SXI_BAD_FS : SXI_BAD_X)) {
        return SXI_FAIL(
            SX_ERR_FORMAT,
            "%s: the region %s should have min and max of fs and ss, or of x and y, and "
            "not of both",
            geom->line.path, bad->name);
    }
    for (int i = 0; i < geom->panels; i++) {
        if (*bad->panel == '\0' || strcmp(bad->panel, geom->panel[i].name) == 0) {
            found = true;
            (indices ? mask_indices : mask_plane)(g, &geom->panel[i], &g->panel[i], bad);
        }
    }
    return found ? SX_OK
                 : SXI_FAIL(SX_ERR_MISSING,
                            "%s: the region %s lies on a panel %s, which is not there",
                            geom->line.path, bad->name, bad->panel);
}

/* --- mask files --- */

/* A relative name is looked for where CrystFEL looks, and beside the geometry. */
static bool find_file(const char *geometry, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s", name);
    if (access(path, R_OK) == 0 || *name == '/') {
        return access(path, R_OK) == 0;
    }
    const char *slash = strrchr(geometry, '/');
    snprintf(path, size, "%.*s%s", slash ? (int)(slash + 1 - geometry) : 0, geometry, name);
    return access(path, R_OK) == 0;
}

/* The part of the mask that belongs to a panel: its last two axes are those of the frame; of a third,
 * the image of the panel, or the only one. */
static sx_status read_part(sx_hdf5 *file, const sxi_geom_panel *p, const char *name, int64_t rows,
                           int64_t columns, sx_array *part) {
    sx_hdf5_dataset dataset;
    SXI_TRY(sx_hdf5_describe(file, name, &dataset));
    int64_t start[SX_MAX_RANK] = {0}, count[SX_MAX_RANK];
    const int rank = dataset.rank;
    bool fits = rank >= 2 && rank <= SX_MAX_RANK;
    for (int d = 0; d < rank && fits; d++) {
        count[d] = 1;
        if (d == rank - 3 && dataset.shape[d] > 1) {
            start[d] = p->segment;
        }
        fits = d >= rank - 3 || dataset.shape[d] == 1;
    }
    if (fits) {
        start[rank - 2] = (int64_t)p->real[SXI_MIN_SS];
        start[rank - 1] = (int64_t)p->real[SXI_MIN_FS];
        count[rank - 2] = rows;
        count[rank - 1] = columns;
        for (int d = 0; d < rank; d++) {
            fits = fits && start[d] + count[d] <= dataset.shape[d];
        }
    }
    if (!fits) {
        return SXI_FAIL(SX_ERR_SHAPE, "the mask %s:%s does not cover panel %s",
                        sx_hdf5_path_of(file), name, p->name);
    }
    SXI_TRY(sx_array_create(SX_U64, rank, count, part));
    const sx_status status = sxi_h5_read_box(file, name, start, count, part);
    if (status != SX_OK) {
        sx_array_destroy(part);
    }
    return status;
}

static sx_status apply(sx_hdf5 *file, const sxi_geom_panel *p, const sxi_panel *to,
                       const sxi_geom_mask *mask, sx_geometry *g) {
    sx_array part = {0};
    SXI_TRY(read_part(file, p, mask->data, to->rows, to->columns, &part));
    const uint64_t *bits = part.data;
    for (int64_t j = 0; j < to->rows; j++) {
        uint8_t *row = g->mask + (to->row + j) * g->columns + to->column;
        for (int64_t i = 0; i < to->columns; i++) {
            const uint64_t value = bits[j * to->columns + i];
            const bool good = (value & mask->good) == mask->good && (value & mask->bad) == 0;
            row[i] |= good ? 0 : SXI_PIXEL_BAD;
        }
    }
    sx_array_destroy(&part);
    return SX_OK;
}

/* One mask of all panels. Files of masks often stay behind when a geometry travels: that is said, and
 * positions are as good as with it. */
static sx_status mask_file(const sxi_geom *geom, int m, sx_geometry *g) {
    sx_hdf5 *file = NULL;
    char open[2 * SXI_GEOMETRY_PATH + 4096] = "", path[sizeof open];
    sx_status status = SX_OK;
    bool said = false;
    for (int i = 0; i < geom->panels; i++) {
        const sxi_geom_mask *mask = &geom->panel[i].mask[m];
        if (*mask->data == '\0') {
            continue;
        }
        const char *name = *mask->file ? mask->file : g->options.data;
        if (!name || strchr(mask->data, '%') ||
            !find_file(geom->line.path, name, path, sizeof path)) {
            if (!said) {
                sx_log(g->options.context, SX_LOG_WARNING, "%s: the mask %s%s%s is left out: %s",
                       geom->line.path, name ? name : "", name ? ":" : "", mask->data,
                       !name                     ? "no data file is named"
                       : strchr(mask->data, '%') ? "it is another one for each frame"
                                                 : "the file is not here");
            }
            said = true;
            continue;
        }
        if (strcmp(open, path) != 0) {
            sx_hdf5_close(&file);
            SXI_GO(sx_hdf5_open(path, &file));
            memcpy(open, path, sizeof open);
        }
        SXI_GO(apply(file, &geom->panel[i], &g->panel[i], mask, g));
    }
out:
    sx_hdf5_close(&file);
    return status;
}

sx_status sxi_geom_masks(const sxi_geom *geom, sx_geometry *g) {
    for (int i = 0; i < geom->panels; i++) {
        const box all = box_of(&g->panel[i]);
        mask_edges(g, &g->panel[i], geom->panel[i].mask_edge);
        if (geom->panel[i].no_index) {
            set_bad(g, &all);
        }
    }
    for (int i = 0; i < geom->bads; i++) {
        SXI_TRY(mask_region(geom, &geom->bad[i], g));
    }
    for (int m = 0; m < SXI_GEOM_MASKS; m++) {
        SXI_TRY(mask_file(geom, m, g));
    }
    return SX_OK;
}
