/* SPDX-License-Identifier: Apache-2.0
 * A series of images in NeXus, such as NXmx writes: /entry/data/data, or data_000001, data_000002, ...,
 * mostly links to files of their own. Every image is a shot; what changes from image to image stands in
 * datasets with one value for each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/facility/facility.h"
#include "io/geometry/nexus.h"
#include "io/hdf5/h5file.h"

/* h c, CODATA 2018 (exact). */
static const double EV_METRE = 1.23984198433200e-6;

/* A dataset of images, and how many there are before it. */
typedef struct piece {
    char *dataset;
    int64_t before, images;
} piece;

typedef struct nexus {
    sx_hdf5 *file;
    char entry[SXI_SHOT_NAME]; /* its path, without a slash at the end */
    int pieces;
    piece *piece;
} nexus;

/* --- the entry --- */

typedef struct seeking {
    sx_hdf5 *file;
    char found[SXI_SHOT_NAME]; /* "" : not yet */
} seeking;

static bool see_entry(void *data, const char *member, bool is_group) {
    seeking *k = data;
    char kind[16] = "";
    if (is_group && strlen(member) < 64 &&
        sxi_h5_attribute_text(k->file, member, "NX_class", kind, sizeof kind) == SX_OK &&
        strcmp(kind, "NXentry") == 0) {
        snprintf(k->found, sizeof k->found, "%s", member);
    }
    return k->found[0] == '\0';
}

static bool has_entry(sx_hdf5 *file, char entry[SXI_SHOT_NAME]) {
    seeking k = {.file = file};
    const bool listed = sxi_h5_members(file, "/", see_entry, &k) == SX_OK;
    memcpy(entry, k.found, sizeof k.found);
    return listed && k.found[0] != '\0';
}

/* What does not open is left to the last reader, which says why. */
static bool holds(const char *path) {
    char entry[SXI_SHOT_NAME];
    sx_hdf5 *file = NULL;
    if (sxi_is_folder(path) || sx_hdf5_open(path, &file) != SX_OK) {
        return false;
    }
    const bool here = has_entry(file, entry);
    sx_hdf5_close(&file);
    return here;
}

/* --- images --- */

typedef struct listing {
    const char *group;
    int count, room;
    char **names;
    bool memory;
} listing;

static bool see_piece(void *data, const char *member, bool is_group) {
    listing *l = data;
    char path[SXI_SHOT_NAME];
    if (is_group || strncmp(member, "data_", 5) != 0 ||
        strspn(member + 5, "0123456789") != strlen(member + 5) || strlen(member) > 40) {
        return true;
    }
    if (l->count == l->room) {
        char **more = (char **)realloc(l->names, (size_t)(2 * l->room + 64) * sizeof(char *));
        if (!more) {
            l->memory = false;
            return false;
        }
        l->names = more;
        l->room = 2 * l->room + 64;
    }
    snprintf(path, sizeof path, "%.200s/%s", l->group, member);
    l->names[l->count] = strdup(path);
    l->memory = l->names[l->count] != NULL;
    l->count += l->memory;
    return l->memory;
}

/* Of the group of data: `data`, or else its numbered pieces, whether or not their files are there. */
static sx_status name_pieces(const nexus *run, const char *named, listing *l) {
    char group[SXI_SHOT_NAME], data[SXI_SHOT_NAME];
    snprintf(group, sizeof group, "%.200s/data", run->entry);
    snprintf(data, sizeof data, "%.240s/data", group);
    *l = (listing){.group = group, .memory = true};
    if (!named && !sxi_h5_exists(run->file, data) && sxi_h5_is_group(run->file, group)) {
        SXI_TRY(sxi_h5_members(run->file, group, see_piece, l));
    }
    if (l->count == 0) {
        l->names = malloc(sizeof *l->names);
        l->memory = l->names && (l->names[0] = strdup(named ? named : data)) != NULL;
        l->count = l->memory;
    }
    l->group = NULL;
    return l->memory ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for the names of images");
}

static sx_status add_piece(nexus *run, const char *dataset, sxi_shots *s) {
    sx_hdf5_dataset about;
    sxi_shots one = {.path = s->path};
    SXI_TRY(sx_hdf5_describe(run->file, dataset, &about));
    if (about.rank < 3) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s:%s has %d axes: a series of images has at least 3, image, y and x",
                        s->path, dataset, about.rank);
    }
    if (about.layout == SX_HDF5_VIRTUAL) { /* before anything else is asked for */
        SXI_TRY(sxi_h5_check_written(run->file, dataset));
    }
    SXI_TRY(sxi_shot_frame(&one, &about, dataset, 1, 1));
    if (run->pieces == 0) {
        s->rank = one.rank;
        s->parts = one.parts;
        s->dtype = one.dtype;
        memcpy(s->shape, one.shape, sizeof s->shape);
        s->together = about.chunk[0] > 1 ? about.chunk[0] : 1;
        /* Counting detectors write their largest number where a pixel overflowed or is masked. */
        s->has_none = one.dtype == SX_U16 || one.dtype == SX_U32;
        s->none = one.dtype == SX_U16 ? UINT16_MAX : UINT32_MAX;
    }
    if (one.rank != s->rank ||
        memcmp(one.shape, s->shape, (size_t)s->rank * sizeof *s->shape) != 0) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s: its images are shaped unlike those of %s", s->path,
                        dataset, run->piece[0].dataset);
    }
    run->piece[run->pieces] = (piece){strdup(dataset), s->count, about.shape[0]};
    s->count += about.shape[0];
    return run->piece[run->pieces++].dataset
               ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", s->path);
}

static sx_status read_pieces(nexus *run, const char *named, sxi_shots *s) {
    listing l;
    sx_status status = SX_OK;
    SXI_GO(name_pieces(run, named, &l));
    run->piece = calloc((size_t)l.count, sizeof *run->piece);
    if (!run->piece) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", s->path);
        goto out;
    }
    snprintf(s->detector, sizeof s->detector, "%s", l.names[0]);
    for (int i = 0; i < l.count; i++) {
        SXI_GO(add_piece(run, l.names[i], s));
    }
out:
    sxi_paths_free(l.count, l.names);
    return status;
}

/* --- columns --- */

/* A path from the root or the entry, or a name in the groups where axes and monitors stand. */
static bool find(const sxi_shots *s, const char *name, int turn, sx_hdf5 **file,
                 char dataset[SXI_SHOT_NAME]) {
    static const char *const groups[] = {
        "", "/data", "/sample/transformations", "/sample", "/monitor", "/control", "/instrument"};
    const nexus *run = s->data;
    *file = run->file;
    snprintf(dataset, SXI_SHOT_NAME, "%s", name);
    bool found = sxi_h5_exists(run->file, dataset) && !sxi_h5_is_group(run->file, dataset);
    for (size_t i = 0; !found && i < sizeof groups / sizeof *groups; i++) {
        snprintf(dataset, SXI_SHOT_NAME, "%.60s%s/%.150s", run->entry, groups[i], name);
        found = sxi_h5_exists(run->file, dataset) && !sxi_h5_is_group(run->file, dataset);
    }
    return found && turn == 0;
}

static sx_status column_of(const sxi_shots *s, const char *given, double **column) {
    char name[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME];
    int64_t element;
    sx_hdf5 *file;
    sx_array values = {0};
    sx_status status = SX_OK;
    SXI_TRY(sxi_shot_element(given, name, &element));
    if (!find(s, name, 0, &file, dataset)) {
        sx_hdf5_dataset about;
        return sx_hdf5_describe(file, name, &about); /* which says what there is */
    }
    SXI_TRY(sxi_shot_values(file, dataset, element, SX_F64, &values));
    const int64_t found = sx_array_count(&values);
    if (found != s->count && found != 1) {
        status = SXI_FAIL(SX_ERR_SHAPE, "%s:%s holds %lld values for the %lld images of %s",
                          s->path, dataset, (long long)found, (long long)s->count, s->detector);
        goto out;
    }
    SXI_GO(sxi_shot_column(s, column));
    for (int64_t k = 0; k < s->count; k++) {
        (*column)[k] = sxi_shot_value(((const double *)values.data)[found == 1 ? 0 : k]);
    }
out:
    sx_array_destroy(&values);
    return status;
}

/* --- the run --- */

static sx_status read_settings(const nexus *run, sxi_shots *s) {
    char name[SXI_SHOT_NAME];
    double wavelength;
    snprintf(name, sizeof name, "%.100s/instrument/detector/pixel_mask", run->entry);
    if (sxi_h5_exists(run->file, name)) {
        SXI_TRY(sxi_shot_mask(s, run->file, name, 0));
    }
    snprintf(name, sizeof name, "%.100s/instrument/beam/incident_wavelength", run->entry);
    if (sxi_h5_exists(run->file, name) &&
        sxi_nexus_number(run->file, name, SXI_LENGTH, 0, 1e-3, &wavelength) == SX_OK &&
        wavelength > 0) {
        s->photon_energy = EV_METRE / wavelength;
    }
    return SX_OK;
}

static sx_status open_run(int count, const char *const *paths, const sxi_shot_fields *f,
                          const sx_context *context, sxi_shots *s) {
    nexus *run = calloc(1, sizeof *run);
    (void)count;
    if (!run) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", paths[0]);
    }
    s->data = run;
    SXI_TRY(sx_hdf5_open(paths[0], &run->file));
    sxi_h5_context_set(run->file, context);
    has_entry(run->file, run->entry);
    SXI_TRY(read_pieces(run, f->detector, s));
    char dataset[SXI_SHOT_NAME];
    sx_hdf5 *file;
    const bool monitor = find(s, "monitor/data", 0, &file, dataset);
    const sxi_shot_table table = {
        .naming = "DATASET", .i0 = monitor ? "monitor/data" : NULL, .column = column_of};
    SXI_TRY(sxi_shot_fill(s, f, &table));
    return read_settings(run, s);
}

static void part(const sxi_shots *s, int64_t shot, int number, sxi_shot_part *where) {
    const nexus *run = s->data;
    int low = 0, high = run->pieces - 1;
    (void)number;
    while (low < high) { /* the last piece that begins at or before it */
        const int half = (low + high + 1) / 2;
        if (run->piece[half].before <= shot) {
            low = half;
        } else {
            high = half - 1;
        }
    }
    *where = (sxi_shot_part){.file = run->file,
                             .dataset = run->piece[low].dataset,
                             .leading = 1,
                             .at = {shot - run->piece[low].before, 0}};
}

static void close_run(void *data) {
    nexus *run = data;
    for (int i = 0; i < run->pieces; i++) {
        free(run->piece[i].dataset);
    }
    free(run->piece);
    sx_hdf5_close(&run->file);
    free(run);
}

const sxi_facility sxi_facility_nexus = {.name = "NeXus",
                                         .holds = holds,
                                         .open = open_run,
                                         .part = part,
                                         .find = find,
                                         .close = close_run};
