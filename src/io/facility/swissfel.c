/* SPDX-License-Identifier: Apache-2.0
 * A run of SwissFEL: files NAME.KIND.h5 of channels, /data/CHANNEL/{data, pulse_id}, in older ones without
 * /data. Each channel has its own pulses, and what belongs together has the same. A frame of which
 * is_good_frame is not set was not put together whole. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/facility/facility.h"
#include "io/hdf5/h5file.h"

/* A frame: its row in the detector's channel of a file. */
typedef struct row {
    uint64_t pulse;
    int32_t file;
    bool good;
    int64_t at;
} row;

typedef struct swissfel {
    int files;
    sx_hdf5 **file;
    char **dataset; /* [files] of the frames; NULL: not in this one */
    row *row;       /* [count] in order of pulses */
    int64_t *pulse; /* [count] again, by which a laser pattern counts: a lost frame moves none */
} swissfel;

/* --- files --- */

/* "JF07T32V01" of "run_000041.JF07T32V01.h5", if it is a kind of file that there is. */
static bool has_kind(const char *path) {
    static const char *const kinds[] = {"JF",         "BSREAD", "BSDATA",  "CAMERA",
                                        "PVCHANNELS", "PVDATA", "SCALARS", "ARRAYS"};
    const char *name = sxi_base_of(path);
    const char *end = strstr(name, ".h5");
    const char *begin = end;
    while (begin && begin > name && begin[-1] != '.') {
        begin--;
    }
    bool known = false;
    for (size_t i = 0; begin && begin > name && i < sizeof kinds / sizeof *kinds; i++) {
        known = known || strncmp(begin, kinds[i], strlen(kinds[i])) == 0;
    }
    return known && end[3] == '\0';
}

/* Files of a folder, or of its folder data, where newer runs have them. */
static sx_status list(const char *folder, int *count, char ***paths) {
    char data[PATH_MAX];
    int kept = 0;
    SXI_TRY(sxi_paths(folder, "", ".h5", count, paths));
    for (int i = 0; i < *count; i++) {
        if (has_kind((*paths)[i])) {
            (*paths)[kept++] = (*paths)[i];
        } else {
            free((*paths)[i]);
        }
    }
    *count = kept;
    if (kept == 0 && snprintf(data, sizeof data, "%.4000s/data", folder) > 0 &&
        strcmp(sxi_base_of(folder), "data") != 0 && sxi_is_folder(data)) {
        sxi_paths_free(*count, *paths);
        return list(data, count, paths);
    }
    return SX_OK;
}

static bool holds(const char *path) {
    int count = 0;
    char **paths = NULL;
    if (!sxi_is_folder(path)) {
        return has_kind(path);
    }
    const bool here = list(path, &count, &paths) == SX_OK && count > 0;
    sxi_paths_free(count, paths);
    return here;
}

/* run_000041.BSREAD.h5 and run_000041.JF07T32V01.h5 are one run. */
static bool joins(const char *path, const char *other) {
    char folder[PATH_MAX], another[PATH_MAX];
    const char *name = sxi_base_of(path), *second = sxi_base_of(other);
    const size_t length = strcspn(name, ".");
    sxi_folder_of(path, folder, sizeof folder);
    sxi_folder_of(other, another, sizeof another);
    return !sxi_is_folder(path) && !sxi_is_folder(other) && strcmp(folder, another) == 0 &&
           length == strcspn(second, ".") && strncmp(name, second, length) == 0;
}

static sx_status open_files(swissfel *run, int count, const char *const *paths,
                            const sx_context *context) {
    run->file = (sx_hdf5 **)calloc((size_t)count + 1, sizeof(sx_hdf5 *));
    run->dataset = (char **)calloc((size_t)count + 1, sizeof(char *));
    if (!run->file || !run->dataset) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d files", count);
    }
    for (int i = 0; i < count; i++) {
        SXI_TRY(sx_hdf5_open(paths[i], &run->file[i]));
        run->files++;
        sxi_h5_context_set(run->file[i], context);
    }
    return SX_OK;
}

static void close_run(void *data) {
    swissfel *run = data;
    for (int i = 0; i < run->files; i++) {
        sx_hdf5_close(&run->file[i]);
        free(run->dataset[i]);
    }
    free(run->file);
    free(run->dataset);
    free(run->row);
    free(run->pulse);
    free(run);
}

/* --- channels --- */

static const char *root_of(sx_hdf5 *file) { return sxi_h5_is_group(file, "data") ? "data" : "/"; }

/* The dataset `member` of a channel; false: it has none. */
static bool member_of(sx_hdf5 *file, const char *channel, const char *member,
                      char dataset[SXI_SHOT_NAME]) {
    const char *root = root_of(file);
    const char *gap = root[0] == '/' ? "" : "/";
    if (strlen(channel) + strlen(member) + 8 > SXI_SHOT_NAME) {
        return false;
    }
    snprintf(dataset, SXI_SHOT_NAME, "%s%s%.200s/%.30s", root, gap, channel, member);
    return sxi_h5_exists(file, dataset) && !sxi_h5_is_group(file, dataset);
}

/* A channel, or a dataset as it is written. */
static bool find_in(sx_hdf5 *file, const char *name, char dataset[SXI_SHOT_NAME]) {
    if (member_of(file, name, "data", dataset)) {
        return true;
    }
    snprintf(dataset, SXI_SHOT_NAME, "%s", name);
    return sxi_h5_exists(file, dataset) && !sxi_h5_is_group(file, dataset);
}

static bool find(const sxi_shots *s, const char *name, int turn, sx_hdf5 **file,
                 char dataset[SXI_SHOT_NAME]) {
    const swissfel *run = s->data;
    for (int i = 0; i < run->files; i++) {
        if (find_in(run->file[i], name, dataset) && turn-- == 0) {
            *file = run->file[i];
            return true;
        }
    }
    return false;
}

/* Names of channels, in a sentence: all, or those with frames. */
typedef struct naming {
    sx_hdf5 *file;
    bool frames;
    int count;
    char first[SXI_SHOT_NAME], names[600];
} naming;

static bool name_one(void *data, const char *member, bool is_group) {
    naming *n = data;
    char dataset[SXI_SHOT_NAME];
    sx_hdf5_dataset about;
    if (!is_group || !member_of(n->file, member, "data", dataset) ||
        (n->frames && (sx_hdf5_describe(n->file, dataset, &about) != SX_OK || !about.numeric ||
                       about.rank < 3))) {
        return true;
    }
    char word[SXI_SHOT_NAME + 2];
    snprintf(word, sizeof word, "%s%.250s", n->count ? ", " : "", member);
    if (n->count > 0 && strcmp(n->first, member) == 0) {
        return true; /* of the next files of a run */
    }
    if (n->count++ == 0) {
        snprintf(n->first, sizeof n->first, "%s", member);
    }
    if (!strstr(n->names, word)) {
        const size_t used = strlen(n->names);
        snprintf(n->names + used, sizeof n->names - used, "%s", word);
    }
    return true;
}

static sx_status name_all(const swissfel *run, bool frames, naming *n) {
    *n = (naming){.frames = frames};
    for (int i = 0; i < run->files; i++) {
        n->file = run->file[i];
        SXI_TRY(sxi_h5_members(n->file, root_of(n->file), name_one, n));
    }
    return SX_OK;
}

static sx_status missing(const sxi_shots *s, const char *name) {
    naming n;
    SXI_TRY(name_all(s->data, false, &n));
    return SXI_FAIL(SX_ERR_MISSING, "%s: there is no channel %s; there are %s", s->path, name,
                    n.names);
}

/* --- pulses --- */

/* The dataset beside that of a channel's values. */
static bool beside(sx_hdf5 *file, const char *dataset, const char *member,
                   char name[SXI_SHOT_NAME]) {
    const char *slash = strrchr(dataset, '/');
    const size_t length = slash ? (size_t)(slash - dataset) + 1 : 0;
    if (length + strlen(member) >= SXI_SHOT_NAME) {
        return false;
    }
    snprintf(name, SXI_SHOT_NAME, "%.*s%s", (int)length, dataset, member);
    return sxi_h5_exists(file, name);
}

/* Numbers beside a dataset, one for each of its rows; without data where there are none. */
static sx_status read_beside(sx_hdf5 *file, const char *dataset, const char *member, int64_t rows,
                             sx_array *values) {
    char name[SXI_SHOT_NAME];
    *values = (sx_array){0};
    if (!beside(file, dataset, member, name)) {
        return SX_OK;
    }
    SXI_TRY(sxi_shot_values(file, name, -1, SX_U64, values));
    const int64_t found = sx_array_count(values);
    if (found != rows) {
        sx_array_destroy(values);
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %lld entries for the %lld rows of %s",
                        sx_hdf5_path_of(file), name, (long long)found, (long long)rows, dataset);
    }
    return SX_OK;
}

static sx_status read_pulses(sx_hdf5 *file, const char *dataset, int64_t rows, sx_array *pulses) {
    SXI_TRY(read_beside(file, dataset, "pulse_id", rows, pulses));
    return pulses->rank > 0 ? SX_OK
                            : SXI_FAIL(SX_ERR_MISSING,
                                       "%s:%s has no pulse_id beside it, by which its rows are "
                                       "matched with other channels",
                                       sx_hdf5_path_of(file), dataset);
}

/* --- columns --- */

static sx_status fill_column(const sxi_shots *s, sx_hdf5 *file, const char *dataset,
                             int64_t element, double *column) {
    const swissfel *run = s->data;
    sx_status status = SX_OK;
    sx_array values = {0}, pulses = {0}, present = {0};
    sxi_keyed *list = NULL;
    SXI_GO(sxi_shot_values(file, dataset, element, SX_F64, &values));
    const int64_t rows = values.rank > 0 ? values.shape[0] : 0;
    if (sx_array_count(&values) != rows) {
        status = SXI_FAIL(SX_ERR_SHAPE,
                          "%s:%s has %lld values for each of %lld pulses: choose one with NAME[k]",
                          sx_hdf5_path_of(file), dataset,
                          (long long)(rows ? sx_array_count(&values) / rows : 0), (long long)rows);
        goto out;
    }
    SXI_GO(read_pulses(file, dataset, rows, &pulses));
    SXI_GO(read_beside(file, dataset, "is_data_present", rows, &present));
    list = malloc((size_t)(rows + 1) * sizeof *list);
    if (!list) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its pulses", s->path);
        goto out;
    }
    for (int64_t i = 0; i < rows; i++) {
        list[i] = (sxi_keyed){((const uint64_t *)pulses.data)[i], i};
    }
    sxi_keyed_sort(list, rows);
    for (int64_t k = 0; k < s->count; k++) {
        const sxi_keyed *at = sxi_keyed_find(list, rows, run->row[k].pulse);
        if (at && isnan(column[k]) &&
            (present.rank == 0 || ((const uint64_t *)present.data)[at->at] != 0)) {
            column[k] = sxi_shot_value(((const double *)values.data)[at->at]);
        }
    }
out:
    free(list);
    sx_array_destroy(&values);
    sx_array_destroy(&pulses);
    sx_array_destroy(&present);
    return status;
}

static sx_status column_of(const sxi_shots *s, const char *given, double **column) {
    char name[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME];
    const swissfel *run = s->data;
    int64_t element;
    bool found = false;
    SXI_TRY(sxi_shot_element(given, name, &element));
    SXI_TRY(sxi_shot_column(s, column));
    for (int i = 0; i < run->files; i++) {
        if (find_in(run->file[i], name, dataset)) {
            SXI_TRY(fill_column(s, run->file[i], dataset, element, *column));
            found = true;
        }
    }
    return found ? SX_OK : missing(s, name);
}

/* --- frames --- */

static sx_status choose(sxi_shots *s, const char *named) {
    naming n;
    if (named) {
        snprintf(s->detector, sizeof s->detector, "%s", named);
        return SX_OK;
    }
    SXI_TRY(name_all(s->data, true, &n));
    snprintf(s->detector, sizeof s->detector, "%s", n.first);
    if (n.count == 0) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: no channel has frames: give the folder of the run, or all of its "
                        "files",
                        s->path);
    }
    return n.count == 1 ? SX_OK
                        : SXI_FAIL(SX_ERR_ARGUMENT,
                                   "%s holds frames of several detectors, %s: choose one with "
                                   "--detector",
                                   s->path, n.names);
}

static sx_status add_rows(swissfel *run, int number, int64_t rows, sxi_shots *s) {
    sx_hdf5 *file = run->file[number];
    sx_status status = SX_OK;
    sx_array pulses = {0}, good = {0};
    row *more = realloc(run->row, (size_t)(s->count + rows + 1) * sizeof *more);
    if (!more) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %lld shots", s->path, (long long)rows);
    }
    run->row = more;
    SXI_GO(read_pulses(file, run->dataset[number], rows, &pulses));
    SXI_GO(read_beside(file, run->dataset[number], "is_good_frame", rows, &good));
    for (int64_t i = 0; i < rows; i++) {
        const uint64_t pulse = ((const uint64_t *)pulses.data)[i];
        const bool whole = good.rank == 0 || ((const uint64_t *)good.data)[i] != 0;
        if (pulse != 0) { /* padding */
            run->row[s->count++] = (row){pulse, number, whole, i};
        }
    }
out:
    sx_array_destroy(&pulses);
    sx_array_destroy(&good);
    return status;
}

/* Frames of one file as those of the first. */
static sx_status settle(sxi_shots *s, const sx_hdf5_dataset *about, const char *dataset, int file) {
    sxi_shots one = {.path = s->path};
    SXI_TRY(sxi_shot_frame(&one, about, dataset, 1, 1));
    if (s->rank == 0) {
        s->rank = one.rank;
        s->parts = one.parts;
        s->dtype = one.dtype;
        memcpy(s->shape, one.shape, sizeof s->shape);
        s->together = about->chunk[0] > 1 ? about->chunk[0] : 1;
    }
    if (one.rank != s->rank ||
        memcmp(one.shape, s->shape, (size_t)s->rank * sizeof *s->shape) != 0) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s: its frames are shaped unlike those of other files",
                        sx_hdf5_path_of(((swissfel *)s->data)->file[file]), dataset);
    }
    return SX_OK;
}

static int by_pulse(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->pulse != y->pulse || x->file != y->file) {
        return x->pulse != y->pulse ? (x->pulse > y->pulse ? 1 : -1) : x->file - y->file;
    }
    return (x->at > y->at) - (x->at < y->at);
}

/* In order of pulses, each once. */
static void sort_rows(swissfel *run, sxi_shots *s, const sx_context *context) {
    int64_t kept = 0;
    if (s->count > 0) {
        qsort(run->row, (size_t)s->count, sizeof *run->row, by_pulse);
    }
    for (int64_t i = 0; i < s->count; i++) {
        if (i == 0 || run->row[i].pulse != run->row[kept - 1].pulse) {
            run->row[kept++] = run->row[i];
        }
    }
    if (kept < s->count) {
        sx_log(context, SX_LOG_WARNING,
               "%s: %lld frames stand for a pulse that others stand for, too: the first is taken",
               s->path, (long long)(s->count - kept));
    }
    s->count = kept;
}

static sx_status read_frames(sxi_shots *s, const sxi_shot_fields *f, const sx_context *context) {
    swissfel *run = s->data;
    bool any = false;
    SXI_TRY(choose(s, f->detector));
    for (int i = 0; i < run->files; i++) {
        char dataset[SXI_SHOT_NAME];
        sx_hdf5_dataset about;
        if (!find_in(run->file[i], s->detector, dataset)) {
            continue;
        }
        any = true;
        run->dataset[i] = strdup(dataset);
        if (!run->dataset[i]) {
            return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", s->path);
        }
        SXI_TRY(sx_hdf5_describe(run->file[i], dataset, &about));
        SXI_TRY(settle(s, &about, dataset, i));
        SXI_TRY(add_rows(run, i, about.shape[0], s));
    }
    if (!any) {
        return missing(s, s->detector);
    }
    context = f->again ? NULL : context;
    sort_rows(run, s, context);
    if (strncmp(s->detector, "JF", 2) == 0 && s->dtype == SX_U16 && !f->raw) {
        sx_log(context, SX_LOG_WARNING,
               "%s: raw frames of %s are taken as they are, without pedestal and gain: use "
               "converted ones, or --raw",
               s->path, s->detector);
    }
    return SX_OK;
}

/* --- the run --- */

static sx_status fill_own(sxi_shots *s) {
    const swissfel *run = s->data;
    SXI_TRY(sxi_shot_column(s, &s->good));
    if (!s->time) {
        SXI_TRY(sxi_shot_column(s, &s->time));
    }
    for (int64_t k = 0; s->good && s->time && k < s->count; k++) {
        s->good[k] = run->row[k].good;
        s->time[k] = isnan(s->time[k]) ? (double)run->row[k].pulse : s->time[k];
    }
    return SX_OK;
}

static sx_status open_run(int count, const char *const *paths, const sxi_shot_fields *f,
                          const sx_context *context, sxi_shots *s) {
    swissfel *run = calloc(1, sizeof *run);
    int listed = 0;
    char **files = NULL;
    if (!run) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", paths[0]);
    }
    s->data = run;
    if (sxi_is_folder(paths[0])) {
        SXI_TRY(list(paths[0], &listed, &files));
    }
    const sx_status status = files ? open_files(run, listed, (const char *const *)files, context)
                                   : open_files(run, count, paths, context);
    sxi_paths_free(listed, files);
    SXI_TRY(status);
    SXI_TRY(read_frames(s, f, context));
    run->pulse = malloc((size_t)(s->count + 1) * sizeof *run->pulse);
    if (!run->pulse) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its pulses", s->path);
    }
    for (int64_t k = 0; k < s->count; k++) {
        run->pulse[k] = (int64_t)run->row[k].pulse;
    }
    const sxi_shot_table table = {.naming = "CHANNEL", .column = column_of, .order = run->pulse};
    SXI_TRY(sxi_shot_fill(s, f, &table));
    return fill_own(s);
}

static void part(const sxi_shots *s, int64_t shot, int number, sxi_shot_part *where) {
    const swissfel *run = s->data;
    const row *r = run->row + shot;
    (void)number;
    *where = (sxi_shot_part){.file = run->file[r->file],
                             .dataset = run->dataset[r->file],
                             .leading = 1,
                             .at = {r->at, 0}};
}

const sxi_facility sxi_facility_swissfel = {.name = "SwissFEL",
                                            .holds = holds,
                                            .joins = joins,
                                            .open = open_run,
                                            .part = part,
                                            .find = find,
                                            .close = close_run};
