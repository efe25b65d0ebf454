/* SPDX-License-Identifier: Apache-2.0
 * NeXus: an NXdetector whose modules depend on axes (NXmx); or with offsets of its pixels; or with beam
 * centre and distance alone, as Eiger files have. Theory: docs/theory/geometry.md. */
#include "io/geometry/nexus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

typedef struct finder {
    sx_hdf5 *file;
    sx_geometry *geometry;
    char entry[SXI_NEXUS_PATH], instrument[SXI_NEXUS_PATH], detector[SXI_NEXUS_PATH];
    int frame_rank; /* 0: no frames found */
    int64_t frame[SX_MAX_RANK];
    char frames[SXI_NEXUS_PATH]; /* the dataset */
} finder;

/* --- finding --- */

static bool there(const finder *f, const char *group, const char *name, char *path) {
    return sxi_nexus_join(group, name, path) == SX_OK && sxi_h5_exists(f->file, path) &&
           !sxi_h5_is_group(f->file, path);
}

static bool is_class(const finder *f, const char *path, const char *class) {
    char found[64] = "";
    if (!sxi_h5_is_group(f->file, path) ||
        sxi_h5_attribute_text(f->file, path, "NX_class", found, sizeof found) != SX_OK) {
        return false;
    }
    return strcmp(found, class) == 0;
}

/* The n-th group of a class in another; SX_ERR_MISSING without. */
static sx_status child_of_class(const finder *f, const char *group, const char *class, int n,
                                char *path) {
    char *names = NULL, candidate[SXI_NEXUS_PATH];
    size_t length;
    bool found = false;
    SXI_TRY(sxi_member_names(f->file, group, &names, &length));
    for (const char *name = names; name < names + length && !found; name += strlen(name) + 1) {
        if (sxi_nexus_join(group, name, candidate) == SX_OK && is_class(f, candidate, class)) {
            found = n-- == 0;
        }
    }
    free(names);
    if (!found) {
        return SXI_FAIL(SX_ERR_MISSING, "%s has no %s in %s", sx_hdf5_path_of(f->file), class,
                        group);
    }
    memcpy(path, candidate, sizeof candidate);
    return SX_OK;
}

/* The only one of its kind. */
static sx_status only_child(const finder *f, const char *group, const char *class, char *path) {
    char second[SXI_NEXUS_PATH];
    SXI_TRY(child_of_class(f, group, class, 0, path));
    if (child_of_class(f, group, class, 1, second) == SX_OK) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s has several %s: %s, %s; one was expected",
                        sx_hdf5_path_of(f->file), class, path, second);
    }
    sx_error_clear();
    return SX_OK;
}

/* Frames that are not there read as zeros, so their geometry is refused, too: one element is read,
 * which fails where its source is missing. */
static sx_status check_frames(const finder *f, const char *path) {
    const int64_t start[SX_MAX_RANK] = {0};
    int64_t count[SX_MAX_RANK];
    sx_hdf5_dataset about;
    sx_array element = {0};
    SXI_TRY(sx_hdf5_describe(f->file, path, &about));
    if (about.layout != SX_HDF5_VIRTUAL) {
        return SX_OK;
    }
    for (int d = 0; d < about.rank; d++) {
        count[d] = 1;
        if (about.shape[d] < 1) {
            return SX_OK;
        }
    }
    SXI_TRY(sx_array_create(SX_F64, about.rank, count, &element));
    const sx_status status = sxi_h5_read_box(f->file, path, start, count, &element);
    sx_array_destroy(&element);
    return status;
}

/* A link to a file that is not here is listed and leads nowhere. */
static sx_status check_link(const finder *f, const char *group, const char *name) {
    char *names = NULL, path[SXI_NEXUS_PATH];
    size_t length;
    bool listed = false;
    SXI_TRY(sxi_nexus_join(group, name, path));
    if (sxi_h5_exists(f->file, path)) {
        return SX_OK; /* a group */
    }
    SXI_TRY(sxi_member_names(f->file, group, &names, &length));
    for (const char *n = names; n < names + length; n += strlen(n) + 1) {
        listed = listed || strcmp(n, name) == 0;
    }
    free(names);
    return listed ? SXI_FAIL(SX_ERR_MISSING, "%s:%s/%s leads to a file that is not here",
                             sx_hdf5_path_of(f->file), group, name)
                  : SX_OK;
}

/* The dataset with the frames: data, or data_000001, of the entry's NXdata or of the detector. */
static sx_status find_frames(finder *f) {
    static const char *const words[] = {"data", "data_000001"};
    char group[2][SXI_NEXUS_PATH];
    memcpy(group[1], f->detector, sizeof group[1]);
    if (child_of_class(f, f->entry, "NXdata", 0, group[0]) != SX_OK) {
        memcpy(group[0], f->detector, sizeof group[0]);
    }
    for (int i = 0; i < 4 && f->frame_rank == 0; i++) {
        sx_hdf5_dataset about;
        if (!there(f, group[i / 2], words[i % 2], f->frames)) {
            SXI_TRY(check_link(f, group[i / 2], words[i % 2]));
        } else {
            SXI_TRY(check_frames(f, f->frames));
            SXI_TRY(sx_hdf5_describe(f->file, f->frames, &about));
            f->frame_rank = about.rank;
            memcpy(f->frame, about.shape, sizeof about.shape);
            if (about.rank < 2) {
                return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %d axes, frames have two or more",
                                sx_hdf5_path_of(f->file), f->frames, about.rank);
            }
        }
    }
    sx_error_clear();
    return SX_OK;
}

/* --- modules --- */

static sx_status read_whole(const finder *f, const char *group, const char *name, int *rank,
                            int64_t *values) {
    static const sx_dtype as = SX_F64;
    char path[SXI_NEXUS_PATH];
    sx_array array = {0};
    SXI_TRY(sxi_nexus_join(group, name, path));
    sx_hdf5_dataset about;
    SXI_TRY(sx_hdf5_describe(f->file, path, &about));
    if (about.rank != 1 || about.shape[0] < 2 || about.shape[0] > 3) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s should hold two or three numbers",
                        sx_hdf5_path_of(f->file), path);
    }
    SXI_TRY(sxi_h5_read(f->file, path, &as, &array));
    bool whole = true;
    *rank = (int)about.shape[0];
    for (int d = 0; d < *rank; d++) {
        const double v = ((const double *)array.data)[d];
        whole = whole && v >= 0 && v < 1e9 && v == floor(v);
        values[d] = whole ? (int64_t)v : 0;
    }
    sx_array_destroy(&array);
    return whole ? SX_OK
                 : SXI_FAIL(SX_ERR_RANGE, "%s:%s should hold whole numbers of pixels",
                            sx_hdf5_path_of(f->file), path);
}

typedef struct module {
    char path[SXI_NEXUS_PATH];
    int rank;
    int64_t origin[3], size[3];
    sxi_axis fast, slow;
    sxi_motion motion;
} module;

/* Some files let the slow direction depend on the fast one: both are directions here and move nothing.
 * What the first other axis on the way is, moves the module. */
static const char *base_of(const module *m, const char *fast, const char *slow,
                           const char *offset) {
    const char *base = m->fast.next;
    if (strcmp(base, slow) == 0 || strcmp(base, ".") == 0) {
        base = m->slow.next;
    }
    return strcmp(base, fast) == 0 || strcmp(base, ".") == 0 ? offset : base;
}

static sx_status read_module(const finder *f, module *m) {
    char fast[SXI_NEXUS_PATH], slow[SXI_NEXUS_PATH], offset[SXI_NEXUS_PATH];
    int rank;
    SXI_TRY(sxi_nexus_join(m->path, "fast_pixel_direction", fast));
    SXI_TRY(sxi_nexus_join(m->path, "slow_pixel_direction", slow));
    SXI_TRY(sxi_nexus_axis(f->file, fast, &m->fast));
    SXI_TRY(sxi_nexus_axis(f->file, slow, &m->slow));
    if (!there(f, m->path, "module_offset", offset)) {
        snprintf(offset, sizeof offset, ".");
    }
    SXI_TRY(sxi_nexus_chain(f->file, base_of(m, fast, slow, offset), &m->motion));
    SXI_TRY(read_whole(f, m->path, "data_origin", &m->rank, m->origin));
    SXI_TRY(read_whole(f, m->path, "data_size", &rank, m->size));
    if (rank != m->rank) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s: data_origin has %d numbers, data_size %d",
                        sx_hdf5_path_of(f->file), m->path, m->rank, rank);
    }
    return SX_OK;
}

/* Older files give the size as fast, slow. */
static void swap_size(const finder *f, module *m) {
    const int64_t *frame = f->frame + f->frame_rank - 2;
    int64_t *size = m->size + m->rank - 2;
    if (f->frame_rank >= 2 && size[0] == frame[1] && size[1] == frame[0] && size[0] != size[1]) {
        sx_log(f->geometry->options.context, SX_LOG_WARNING,
               "%s:%s/data_size is in the order fast, slow, unlike the frames; taken so",
               sx_hdf5_path_of(f->file), m->path);
        size[0] = frame[0];
        size[1] = frame[1];
    }
}

/* A module of three axes has one image of the first. */
static sx_status add_module(const module *m, sx_geometry *g) {
    const int r = m->rank;
    sxi_panel *p = sxi_geometry_panel(g);
    if (!p) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %d modules", g->path, g->panels);
    }
    if (r == 3 && (m->size[0] != 1 || m->origin[1] + m->size[1] > g->facts.shape[1])) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s lies in more than one image", g->path, m->path);
    }
    const char *name = strrchr(m->path, '/') + 1;
    snprintf(p->name, sizeof p->name, "%.*s", (int)sizeof p->name - 1, name);
    p->row = m->origin[r - 2] + (r == 3 ? m->origin[0] * g->facts.shape[1] : 0);
    p->rows = m->size[r - 2];
    p->column = m->origin[r - 1];
    p->columns = m->size[r - 1];
    double at[3], fast[3], slow[3];
    for (int d = 0; d < 3; d++) {
        at[d] = m->fast.offset[d] + m->slow.offset[d];
        fast[d] = m->fast.value * m->fast.vector[d];
        slow[d] = m->slow.value * m->slow.vector[d];
    }
    sxi_nexus_move(&m->motion, true, at, p->origin);
    sxi_nexus_move(&m->motion, false, fast, p->fast);
    sxi_nexus_move(&m->motion, false, slow, p->slow);
    return SX_OK;
}

static sx_status read_modules(finder *f, int count, module *all) {
    sx_geometry *g = f->geometry;
    int64_t shape[3] = {0};
    const int rank = all[0].rank;
    for (int i = 0; i < count; i++) {
        swap_size(f, &all[i]);
        if (all[i].rank != rank) {
            return SXI_FAIL(SX_ERR_SHAPE, "%s: modules %s and %s differ in their number of axes",
                            g->path, all[0].path, all[i].path);
        }
        for (int d = 0; d < rank; d++) {
            const int64_t end = all[i].origin[d] + all[i].size[d];
            shape[d] = end > shape[d] ? end : shape[d];
        }
    }
    for (int d = 0; d < rank && f->frame_rank >= rank; d++) {
        shape[d] = f->frame[f->frame_rank - rank + d];
    }
    SXI_TRY(sxi_geometry_shape(g, rank, shape));
    for (int i = 0; i < count; i++) {
        SXI_TRY(add_module(&all[i], g));
    }
    return SX_OK;
}

static sx_status with_modules(finder *f, int count) {
    module *all = calloc((size_t)count, sizeof *all);
    sx_status status = SX_OK;
    if (!all) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %d modules", f->geometry->path, count);
    }
    for (int i = 0; i < count; i++) {
        SXI_GO(child_of_class(f, f->detector, "NXdetector_module", i, all[i].path));
        SXI_GO(read_module(f, &all[i]));
    }
    status = read_modules(f, count, all);
out:
    free(all);
    return status;
}

/* --- a detector without modules --- */

static sx_status one_panel(finder *f, int64_t rows, int64_t columns, sxi_panel **panel) {
    const int64_t shape[] = {rows, columns};
    SXI_TRY(sxi_geometry_shape(f->geometry, 2, shape));
    *panel = sxi_geometry_panel(f->geometry);
    if (!*panel) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory", f->geometry->path);
    }
    snprintf((*panel)->name, sizeof(*panel)->name, "the detector");
    (*panel)->rows = rows;
    (*panel)->columns = columns;
    return SX_OK;
}

/* A path, or what one stands in; "." without. */
static sx_status depends_on(const finder *f, char *path) {
    char at[SXI_NEXUS_PATH], text[SXI_NEXUS_PATH];
    snprintf(path, SXI_NEXUS_PATH, ".");
    if (!there(f, f->detector, "depends_on", at)) {
        return SX_OK;
    }
    SXI_TRY(sxi_h5_read_text(f->file, at, 0, text, sizeof text));
    return strcmp(text, ".") == 0 || *text == '\0' ? SX_OK
                                                   : sxi_nexus_join(f->detector, text, path);
}

static sx_status read_offsets(const finder *f, const char *name, double **steps, int64_t *count) {
    static const sx_dtype as = SX_F64;
    char path[SXI_NEXUS_PATH];
    sx_hdf5_dataset about;
    SXI_TRY(sxi_nexus_join(f->detector, name, path));
    SXI_TRY(sx_hdf5_describe(f->file, path, &about));
    if (about.rank != 1 || about.shape[0] > (1 << 24)) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s:%s has %d axes; offsets of rows and of columns are read, not of each "
                        "pixel",
                        sx_hdf5_path_of(f->file), path, about.rank);
    }
    char unit[32];
    if (sxi_h5_attribute_text(f->file, path, "units", unit, sizeof unit) != SX_OK) {
        snprintf(unit, sizeof unit, "m");
    }
    const double factor = strcmp(unit, "m") == 0 ? 1 : strcmp(unit, "mm") == 0 ? 1e-3 : 0;
    if (factor == 0) {
        return SXI_FAIL(SX_ERR_UNIT, "%s:%s is in '%s', expected was m or mm",
                        sx_hdf5_path_of(f->file), path, unit);
    }
    sx_array array = {0};
    SXI_TRY(sxi_h5_read(f->file, path, &as, &array));
    *count = about.shape[0];
    *steps = malloc((size_t)*count * sizeof **steps);
    sx_status status = *steps ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory", path);
    for (int64_t i = 0; i < *count && status == SX_OK; i++) {
        (*steps)[i] = factor * ((const double *)array.data)[i];
        if (!(fabs((*steps)[i]) < 1e3)) {
            status = SXI_FAIL(SX_ERR_RANGE, "%s:%s: offset %lld is %g m", sx_hdf5_path_of(f->file),
                              path, (long long)i, (*steps)[i]);
        }
    }
    sx_array_destroy(&array);
    return status;
}

static sx_status with_offsets(finder *f) {
    sx_geometry *g = f->geometry;
    int64_t rows = 0, columns = 0;
    char path[SXI_NEXUS_PATH];
    sxi_motion motion;
    sxi_panel *p;
    SXI_TRY(depends_on(f, path));
    SXI_TRY(sxi_nexus_chain(f->file, path, &motion));
    SXI_TRY(read_offsets(f, "x_pixel_offset", &g->fast_steps, &columns));
    SXI_TRY(read_offsets(f, "y_pixel_offset", &g->slow_steps, &rows));
    SXI_TRY(one_panel(f, rows, columns, &p));
    p->stepped = true;
    static const double zero[3] = {0, 0, 0}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    sxi_nexus_move(&motion, true, zero, p->origin);
    sxi_nexus_move(&motion, false, x, p->fast);
    sxi_nexus_move(&motion, false, y, p->slow);
    return SX_OK;
}

/* Of a detector square to the beam, row 0 on top and column 0 on the left as seen from the sample. */
static sx_status with_centre(finder *f) {
    static const char *const names[] = {"x_pixel_size", "y_pixel_size", "beam_center_x",
                                        "beam_center_y"};
    double value[4], distance;
    char path[SXI_NEXUS_PATH];
    SXI_TRY(depends_on(f, path));
    if (strcmp(path, ".") != 0) {
        return SXI_FAIL(
            SX_ERR_UNSUPPORTED,
            "%s:%s depends on axes and has no NXdetector_module that says how pixels lie "
            "on it",
            sx_hdf5_path_of(f->file), f->detector);
    }
    for (int i = 0; i < 4; i++) {
        SXI_TRY(sxi_nexus_join(f->detector, names[i], path));
        SXI_TRY(
            sxi_nexus_number(f->file, path, SXI_LENGTH, i < 2 ? 1 : value[i - 2], 1e-5, &value[i]));
    }
    if (!there(f, f->detector, "detector_distance", path)) {
        SXI_TRY(sxi_nexus_join(f->detector, "distance", path));
    }
    SXI_TRY(sxi_nexus_number(f->file, path, SXI_LENGTH, 1, 1e-5, &distance));
    if (f->frame_rank < 2) {
        return SXI_FAIL(SX_ERR_MISSING, "%s: no frames are there to say how many pixels %s has",
                        sx_hdf5_path_of(f->file), f->detector);
    }
    sxi_panel *p;
    SXI_TRY(one_panel(f, f->frame[f->frame_rank - 2], f->frame[f->frame_rank - 1], &p));
    p->origin[0] = value[2];
    p->origin[1] = value[3];
    p->origin[2] = distance;
    p->fast[0] = -value[0];
    p->slow[1] = -value[1];
    return SX_OK;
}

/* --- the rest --- */

static sx_status read_beam(const finder *f) {
    static const struct {
        const char *class, *name;
        sxi_quantity quantity;
        double without_unit;
    } places[] = {
        {"NXbeam", "incident_wavelength", SXI_LENGTH, 1e-10},
        {"NXbeam", "incident_energy", SXI_ENERGY, 1},
        {"NXmonochromator", "wavelength", SXI_LENGTH, 1e-10},
        {"NXmonochromator", "energy", SXI_ENERGY, 1},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char group[SXI_NEXUS_PATH], path[SXI_NEXUS_PATH];
        double value;
        if (child_of_class(f, f->instrument, places[i].class, 0, group) != SX_OK ||
            !there(f, group, places[i].name, path)) {
            continue;
        }
        /* Energies jitter from shot to shot; a spread of 5 % is not jitter but a scan. */
        SXI_TRY(sxi_nexus_number(f->file, path, places[i].quantity, places[i].without_unit, 0.05,
                                 &value));
        if (!(value > 0)) {
            return SXI_FAIL(SX_ERR_RANGE, "%s:%s is %g", sx_hdf5_path_of(f->file), path, value);
        }
        (places[i].quantity == SXI_LENGTH ? sxi_geometry_wavelength
                                          : sxi_geometry_energy)(f->geometry, value);
        return SX_OK;
    }
    sx_error_clear();
    return SX_OK;
}

static sx_status read_mask(const finder *f) {
    sx_geometry *g = f->geometry;
    char path[SXI_NEXUS_PATH];
    sx_hdf5_dataset about;
    sx_array mask = {0};
    static const sx_dtype as = SX_U64;
    if (!there(f, f->detector, "pixel_mask", path)) {
        return SX_OK;
    }
    SXI_TRY(sx_hdf5_describe(f->file, path, &about));
    bool fits = about.rank >= g->facts.rank;
    for (int d = 0; d < about.rank && fits; d++) {
        const int back = about.rank - d;
        fits = about.shape[d] == (back > g->facts.rank ? 1 : g->facts.shape[g->facts.rank - back]);
    }
    if (!fits) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has not the shape of a frame",
                        sx_hdf5_path_of(f->file), path);
    }
    SXI_TRY(sxi_h5_read(f->file, path, &as, &mask));
    for (int64_t i = 0; i < g->facts.pixels; i++) {
        g->mask[i] |= ((const uint64_t *)mask.data)[i] ? SXI_PIXEL_BAD : 0;
    }
    sx_array_destroy(&mask);
    return SX_OK;
}

static sx_status read_detector(finder *f) {
    char path[SXI_NEXUS_PATH];
    int modules = 0;
    while (child_of_class(f, f->detector, "NXdetector_module", modules, path) == SX_OK) {
        modules++;
    }
    sx_error_clear();
    if (modules > 0) {
        return with_modules(f, modules);
    }
    return there(f, f->detector, "x_pixel_offset", path) ? with_offsets(f) : with_centre(f);
}

sx_status sxi_geometry_nexus(sx_geometry *geometry, sx_hdf5 *file) {
    char path[SXI_NEXUS_PATH];
    finder f = {.file = file, .geometry = geometry};
    if (child_of_class(&f, "/", "NXentry", 0, f.entry) != SX_OK) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s is HDF5 and holds no NXentry, so it is no geometry that is known",
                        geometry->path);
    }
    SXI_TRY(only_child(&f, f.entry, "NXinstrument", f.instrument));
    SXI_TRY(only_child(&f, f.instrument, "NXdetector", f.detector));
    SXI_TRY(find_frames(&f));
    SXI_TRY(read_detector(&f));
    SXI_TRY(sxi_geometry_finish(geometry));
    SXI_TRY(read_mask(&f));
    if (there(&f, f.detector, "description", path)) {
        if (sxi_h5_read_text(file, path, 0, geometry->facts.detector,
                             sizeof geometry->facts.detector) != SX_OK) {
            sx_error_clear();
        }
    }
    return geometry->options.photon_energy > 0 ? SX_OK : read_beam(&f);
}
