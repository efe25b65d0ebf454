/* SPDX-License-Identifier: Apache-2.0
 * The life of a geometry, and what all kinds of files share. */
#include "io/geometry/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/geometry/text.h"
#include "io/table/slurp.h"

/* Far more than any detector has; a slip of the pen in a file must not take all memory. */
static const int64_t MOST_PIXELS = (int64_t)1 << 28;
static const int64_t MOST_EXTENT = (int64_t)1 << 24;
static const double MOST_METRES = 1e3;

/* h c / e in eV m, and what follows: exact in the SI of 2019. */
static const double EV_METRES = 1.23984198433200e-6;

const char *sx_geometry_kind_name(sx_geometry_kind kind) {
    static const char *const names[] = {
#define SX_GEOMETRY_WORD(name, word) word,
        SX_GEOMETRY_LIST(SX_GEOMETRY_WORD)
#undef SX_GEOMETRY_WORD
    };
    return names[kind];
}

void sxi_vector_cross(const double *a, const double *b, double *product) {
    product[0] = a[1] * b[2] - a[2] * b[1];
    product[1] = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
}

double sxi_vector_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* --- what readers call --- */

sxi_panel *sxi_geometry_panel(sx_geometry *geometry) {
    if (geometry->panels == geometry->room) {
        const int room = geometry->room ? 2 * geometry->room : 16;
        sxi_panel *grown = realloc(geometry->panel, (size_t)room * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        geometry->panel = grown;
        geometry->room = room;
    }
    sxi_panel *panel = &geometry->panel[geometry->panels++];
    *panel = (sxi_panel){0};
    return panel;
}

sx_status sxi_geometry_shape(sx_geometry *geometry, int rank, const int64_t *shape) {
    int64_t pixels = 1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 1 || shape[d] > MOST_EXTENT || pixels > MOST_PIXELS / shape[d]) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "%s: frames would have an axis of %lld, and no detector has more than "
                            "%lld pixels in all",
                            geometry->path, (long long)shape[d], (long long)MOST_PIXELS);
        }
        pixels *= shape[d];
    }
    geometry->facts.rank = rank;
    memcpy(geometry->facts.shape, shape, (size_t)rank * sizeof *shape);
    geometry->facts.pixels = pixels;
    geometry->columns = shape[rank - 1];
    geometry->rows = pixels / geometry->columns;
    return SX_OK;
}

void sxi_geometry_energy(sx_geometry *geometry, double photon_energy) {
    if (!(geometry->options.photon_energy > 0)) {
        geometry->facts.photon_energy = photon_energy;
        geometry->facts.wavelength = EV_METRES / photon_energy;
    }
}

void sxi_geometry_wavelength(sx_geometry *geometry, double wavelength) {
    sxi_geometry_energy(geometry, EV_METRES / wavelength);
}

/* --- checks --- */

static sx_status check_panel(const sx_geometry *g, const sxi_panel *p) {
    double across[3];
    sxi_vector_cross(p->fast, p->slow, across);
    const double area = sqrt(sxi_vector_dot(across, across));
    const double sides = sqrt(sxi_vector_dot(p->fast, p->fast) * sxi_vector_dot(p->slow, p->slow));
    if (p->row < 0 || p->column < 0 || p->rows < 1 || p->columns < 1 ||
        p->rows > g->rows - p->row || p->columns > g->columns - p->column) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s: %s covers %lld x %lld pixels from row %lld, column %lld, the frame "
                        "has %lld x %lld",
                        g->path, p->name, (long long)p->rows, (long long)p->columns,
                        (long long)p->row, (long long)p->column, (long long)g->rows,
                        (long long)g->columns);
    }
    /* 1e-3 is a skew of 0.06 degrees from a line: no panel, but a slip in one of the vectors. */
    if (!(area > 1e-3 * sides) || !(sides > 0)) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "%s: the rows and columns of %s run along one line, or nowhere", g->path,
                        p->name);
    }
    const double a = p->stepped ? 0 : (double)p->columns, b = p->stepped ? 0 : (double)p->rows;
    for (int d = 0; d < 3; d++) {
        const double reach = fabs(p->origin[d]) + a * fabs(p->fast[d]) + b * fabs(p->slow[d]);
        const bool open = d == 2 && !g->facts.has_distance;
        if (!open && !(reach <= MOST_METRES)) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "%s: %s reaches %.3g m from the sample; are its lengths in the units "
                            "that this format wants?",
                            g->path, p->name, reach);
        }
    }
    return SX_OK;
}

/* The panel before panel i that has a pixel of it, too. */
static const char *other_of(const sx_geometry *g, int i) {
    const sxi_panel *p = &g->panel[i];
    int j = 0;
    while (j < i) {
        const sxi_panel *o = &g->panel[j];
        if (p->row < o->row + o->rows && o->row < p->row + p->rows &&
            p->column < o->column + o->columns && o->column < p->column + p->columns) {
            break;
        }
        j++;
    }
    return g->panel[j].name;
}

static sx_status cover(sx_geometry *g, int i) {
    const sxi_panel *p = &g->panel[i];
    for (int64_t r = p->row; r < p->row + p->rows; r++) {
        uint8_t *row = g->mask + r * g->columns + p->column;
        if (memchr(row, 0, (size_t)p->columns)) {
            return SXI_FAIL(SX_ERR_FORMAT, "%s: %s and %s share pixels of the frame", g->path,
                            other_of(g, i), p->name);
        }
        memset(row, 0, (size_t)p->columns);
    }
    return SX_OK;
}

/* Whether the tables of steps run against the vectors, once or twice. */
static bool falls(const sx_geometry *g, const sxi_panel *p) {
    const bool columns = p->columns > 1 && g->fast_steps[p->columns - 1] < g->fast_steps[0];
    const bool rows = p->rows > 1 && g->slow_steps[p->rows - 1] < g->slow_steps[0];
    return columns != rows;
}

/* 1, or -1 for a panel that shows a mirror image of what is seen from the sample. */
static int hand_of(const sx_geometry *g, const sxi_panel *p) {
    double across[3], centre[3] = {0, 0, 1};
    sxi_vector_cross(p->fast, p->slow, across);
    for (int d = 0; d < 3 && g->facts.has_distance; d++) {
        centre[d] = p->origin[d];
        if (!p->stepped) {
            centre[d] += 0.5 * ((double)p->columns * p->fast[d] + (double)p->rows * p->slow[d]);
        }
    }
    const bool mirrored = sxi_vector_dot(across, centre) < 0;
    return mirrored != (p->stepped && falls(g, p)) ? -1 : 1;
}

static void set_handedness(sx_geometry *g) {
    int left = 0;
    for (int i = 0; i < g->panels; i++) {
        left += hand_of(g, &g->panel[i]) < 0;
    }
    g->facts.handedness = left == 0 ? 1 : left == g->panels ? -1 : 0;
    if (g->facts.handedness == 0) {
        sx_log(g->options.context, SX_LOG_WARNING,
               "%s: %d of %d panels are mirror images of the others: one of their directions has a "
               "wrong sign",
               g->path, left, g->panels);
    }
}

sx_status sxi_geometry_finish(sx_geometry *g) {
    if (g->panels == 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s holds no panel of a detector", g->path);
    }
    g->mask = malloc((size_t)g->facts.pixels);
    if (!g->mask) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for a mask of %lld pixels", g->path,
                        (long long)g->facts.pixels);
    }
    memset(g->mask, SXI_PIXEL_UNCOVERED, (size_t)g->facts.pixels);
    for (int i = 0; i < g->panels; i++) {
        SXI_TRY(check_panel(g, &g->panel[i]));
        SXI_TRY(cover(g, i));
    }
    g->facts.panels = g->panels;
    set_handedness(g);
    return SX_OK;
}

/* --- reading --- */

/* A line of a psana geometry: two names with their indices and nine numbers. */
static bool is_psana_line(const char *line) {
    int fields = 0;
    for (const char *at = line; (at += strspn(at, " \t\r"), *at && *at != '\n'); fields++) {
        const size_t length = strcspn(at, " \t\r\n");
        const bool number = strspn(at, "+-.0123456789eE") == length;
        if (fields == 1 || fields >= 3 ? !number : number) {
            return false;
        }
        at += length;
    }
    return fields == 13;
}

static bool is_poni_line(const char *line) {
    static const char *const words[] = {
        "poni_version", "Distance:", "Poni1:", "Poni2:", "Detector:", "PixelSize1:"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncmp(line, words[i], strlen(words[i])) == 0) {
            return true;
        }
    }
    return false;
}

typedef sx_status (*reader_fn)(sx_geometry *geometry, char *text);

/* The reader for a text, by the first line that only one of the kinds can have; NULL without. */
static reader_fn reader_of(const char *text, sx_geometry_kind *kind) {
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        line += strspn(line, " \t\r");
        const size_t length = strcspn(line, "\n");
        if (*line == '#' || *line == ';' || length == 0) {
            continue;
        }
        if (is_poni_line(line)) {
            *kind = SX_GEOMETRY_PONI;
            return sxi_geometry_poni;
        }
        if (is_psana_line(line)) {
            *kind = SX_GEOMETRY_PSANA;
            return sxi_geometry_psana;
        }
        if (memchr(line, '=', length)) {
            *kind = SX_GEOMETRY_CRYSTFEL;
            return sxi_geometry_crystfel;
        }
    }
    return NULL;
}

static sx_status read_text(sx_geometry *geometry, char *text) {
    const reader_fn reader = reader_of(text, &geometry->facts.kind);
    if (!reader) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s is no geometry that is known: neither PONI (Key: value), nor CrystFEL "
                        "(key = value), nor psana (two names and nine numbers a line), nor NeXus",
                        geometry->path);
    }
    return reader(geometry, text);
}

static sx_status read_hdf5(sx_geometry *geometry) {
    sx_hdf5 *file = NULL;
    SXI_TRY(sx_hdf5_open(geometry->path, &file));
    sxi_h5_context_set(file, geometry->options.context);
    geometry->facts.kind = SX_GEOMETRY_NEXUS;
    const sx_status status = sxi_geometry_nexus(geometry, file);
    sx_hdf5_close(&file);
    return status;
}

static void count_mask(sx_geometry *g) {
    for (int64_t i = 0; i < g->facts.pixels; i++) {
        g->facts.masked += g->mask[i] != 0;
        g->facts.uncovered += (g->mask[i] & SXI_PIXEL_UNCOVERED) != 0;
    }
}

sx_status sx_geometry_read(const char *path, const sx_geometry_options *options,
                           sx_geometry **geometry) {
    sx_status status = SX_OK;
    char *text = NULL;
    *geometry = NULL;
    sx_geometry *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read a geometry", path);
    }
    made->path = path;
    made->options = options ? *options : (sx_geometry_options){0};
    made->facts.has_distance = true;
    made->facts.wavelength = made->facts.photon_energy = (double)NAN;
    if (made->options.photon_energy > 0) {
        made->facts.photon_energy = made->options.photon_energy;
        made->facts.wavelength = EV_METRES / made->options.photon_energy;
    }
    SXI_GO(sxi_slurp_if_text(path, "a geometry of text", &text));
    status = text ? read_text(made, text) : read_hdf5(made);
    if (status == SX_OK) {
        count_mask(made);
        *geometry = made;
        made->path = NULL;
        made->options = (sx_geometry_options){0};
        made = NULL;
    }
out:
    free(text);
    sx_geometry_destroy(&made);
    return status;
}

void sx_geometry_destroy(sx_geometry **geometry) {
    if (geometry && *geometry) {
        free((*geometry)->mask);
        free((*geometry)->panel);
        free((*geometry)->fast_steps);
        free((*geometry)->slow_steps);
        free(*geometry);
        *geometry = NULL;
    }
}

const sx_geometry_facts *sx_geometry_facts_of(const sx_geometry *geometry) {
    return &geometry->facts;
}

const uint8_t *sx_geometry_mask(const sx_geometry *geometry) { return geometry->mask; }

/* --- positions --- */

static void place_row(const sx_geometry *g, const sxi_panel *p, int64_t j, double *const *to) {
    const double b = p->stepped ? g->slow_steps[j] : (double)j + 0.5;
    for (int d = 0; d < 3; d++) {
        const double start = p->origin[d] + b * p->slow[d], step = p->fast[d];
        double *out = to[d];
        if (p->stepped) {
            for (int64_t i = 0; i < p->columns; i++) {
                out[i] = start + g->fast_steps[i] * step;
            }
        } else {
            for (int64_t i = 0; i < p->columns; i++) {
                out[i] = start + ((double)i + 0.5) * step;
            }
        }
    }
}

sx_status sx_geometry_place(const sx_geometry *g, int64_t first, int64_t rows, double *x, double *y,
                            double *z) {
    if (first < 0 || rows < 0 || rows > g->rows - first) {
        return SXI_FAIL(SX_ERR_RANGE, "rows %lld to %lld of a detector of %lld rows",
                        (long long)first, (long long)(first + rows), (long long)g->rows);
    }
    const int64_t count = rows * g->columns;
    for (int64_t i = 0; i < count; i++) {
        x[i] = y[i] = z[i] = (double)NAN;
    }
    for (int k = 0; k < g->panels; k++) {
        const sxi_panel *p = &g->panel[k];
        const int64_t end = first + rows < p->row + p->rows ? first + rows : p->row + p->rows;
        for (int64_t r = first > p->row ? first : p->row; r < end; r++) {
            const int64_t at = (r - first) * g->columns + p->column;
            double *const to[] = {x + at, y + at, z + at};
            place_row(g, p, r - p->row, to);
        }
    }
    return SX_OK;
}
