/* SPDX-License-Identifier: Apache-2.0
 * Files of a run, what lies in them, and the quantities of shots. */
#include "io/facility/euxfel.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/hdf5/h5file.h"

/* --- files --- */

static bool is_run_file(const char *name) {
    return strncmp(name, "RAW-R", 5) == 0 || strncmp(name, "CORR-R", 6) == 0;
}

static sx_status list(const char *folder, int *count, char ***paths) {
    int more = 0;
    char **others = NULL;
    SXI_TRY(sxi_paths(folder, "CORR-R", ".h5", count, paths));
    sx_status status = sxi_paths(folder, "RAW-R", ".h5", &more, &others);
    char **all =
        status == SX_OK ? realloc(*paths, (size_t)(*count + more + 1) * sizeof **paths) : NULL;
    if (!all) {
        sxi_paths_free(*count, *paths);
        sxi_paths_free(more, others);
        return status == SX_OK ? SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to list it", folder)
                               : status;
    }
    for (int i = 0; i < more; i++) {
        all[*count + i] = others[i];
    }
    *paths = all;
    *count += more;
    free(others);
    return SX_OK;
}

static bool holds(const char *path) {
    int count = 0;
    char **paths = NULL;
    if (!sxi_is_folder(path)) {
        return is_run_file(sxi_base_of(path));
    }
    if (list(path, &count, &paths) != SX_OK) {
        return false;
    }
    sxi_paths_free(count, paths);
    return count > 0;
}

/* 12 of RAW-R0012-JNGFR01-S00000.h5, or of the first such file of a folder; -1 without. */
static long run_number(const char *path) {
    int count = 0;
    char **paths = NULL;
    long number = -1;
    if (!sxi_is_folder(path)) {
        const char *dash = strstr(sxi_base_of(path), "-R");
        return dash ? strtol(dash + 2, NULL, 10) : -1;
    }
    if (list(path, &count, &paths) == SX_OK && count > 0) {
        number = run_number(paths[0]);
    }
    sxi_paths_free(count, paths);
    return number;
}

static bool joins(const char *path, const char *other) {
    return run_number(path) == run_number(other);
}

/* .../proc/r0012 keeps corrected detectors; all the rest of that run is in .../raw/r0012. */
static bool raw_beside(const char *path, char *raw, size_t size) {
    char plain[PATH_MAX];
    snprintf(plain, sizeof plain, "%s", path);
    for (size_t n = strlen(plain); n > 1 && plain[n - 1] == '/'; n--) {
        plain[n - 1] = '\0';
    }
    const char *run = sxi_base_of(plain);
    char parent[PATH_MAX], above[PATH_MAX];
    sxi_folder_of(plain, parent, sizeof parent);
    sxi_folder_of(parent, above, sizeof above);
    return strcmp(sxi_base_of(parent), "proc") == 0 &&
           snprintf(raw, size, "%.2000s/raw/%.200s", above, run) < (int)size && sxi_is_folder(raw);
}

/* Trains of which the time server did not tell are flagged since format 1.0: they may have the number of
 * another. 1 is a safe train, but in format 1.1, where 0 was. */
static sx_status drop_suspect(sxi_train_file *f, bool again, const sx_context *context) {
    char version[16] = "";
    sx_array flags = {0};
    int64_t dropped = 0;
    if (!sxi_h5_exists(f->file, "INDEX/flag")) {
        return SX_OK;
    }
    if (sxi_h5_exists(f->file, "METADATA/dataFormatVersion")) {
        SXI_TRY(
            sxi_h5_read_text(f->file, "METADATA/dataFormatVersion", 0, version, sizeof version));
    }
    SXI_TRY(sxi_shot_values(f->file, "INDEX/flag", -1, SX_I64, &flags));
    const bool safe_is_zero = strcmp(version, "1.1") == 0;
    for (int64_t t = 0; t < f->trains && t < sx_array_count(&flags); t++) {
        const bool zero = ((const int64_t *)flags.data)[t] == 0;
        if (f->train[t] != 0 && zero != safe_is_zero) {
            f->train[t] = 0;
            dropped++;
        }
    }
    sx_array_destroy(&flags);
    if (dropped > 0 && !again) {
        sx_log(context, SX_LOG_WARNING,
               "%s: %lld of its trains are flagged as of uncertain number, and are left out",
               sx_hdf5_path_of(f->file), (long long)dropped);
    }
    return SX_OK;
}

static sx_status open_file(sxi_euxfel *run, const char *path, const sxi_shot_fields *fields,
                           const sx_context *context) {
    sxi_train_file *f = run->file + run->files;
    sx_array trains = {0};
    *f = (sxi_train_file){.corrected = strncmp(sxi_base_of(path), "CORR", 4) == 0};
    SXI_TRY(sx_hdf5_open(path, &f->file));
    run->files++;
    sxi_h5_context_set(f->file, context);
    SXI_TRY(sxi_shot_values(f->file, "INDEX/trainId", -1, SX_U64, &trains));
    f->trains = sx_array_count(&trains);
    f->train = malloc((size_t)(f->trains + 1) * sizeof *f->train);
    if (f->train && f->trains) {
        memcpy(f->train, trains.data, (size_t)f->trains * sizeof *f->train);
    }
    sx_array_destroy(&trains);
    return f->train ? drop_suspect(f, fields->again, context)
                    : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its trains", path);
}

static sx_status open_paths(sxi_euxfel *run, int count, char *const *paths,
                            const sxi_shot_fields *fields, const sx_context *context) {
    sxi_train_file *more = realloc(run->file, (size_t)(run->files + count + 1) * sizeof *run->file);
    if (!more) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d files", count);
    }
    run->file = more;
    for (int i = 0; i < count; i++) {
        SXI_TRY(open_file(run, paths[i], fields, context));
    }
    return SX_OK;
}

static sx_status open_folder(sxi_euxfel *run, const char *folder, const sxi_shot_fields *fields,
                             const sx_context *context) {
    int count = 0;
    char **paths = NULL;
    SXI_TRY(list(folder, &count, &paths));
    sx_status status = SX_OK;
    for (int i = 1; i < count && status == SX_OK; i++) {
        if (run_number(paths[i]) != run_number(paths[0])) {
            status = SXI_FAIL(SX_ERR_ARGUMENT,
                              "%s holds files of several runs, %s and %s: name the files of one",
                              folder, sxi_base_of(paths[0]), sxi_base_of(paths[i]));
        }
    }
    if (status == SX_OK) {
        status = open_paths(run, count, paths, fields, context);
    }
    sxi_paths_free(count, paths);
    return status;
}

static sx_status open_files(sxi_euxfel *run, int count, const char *const *paths,
                            const sxi_shot_fields *fields, const sx_context *context) {
    char raw[PATH_MAX];
    for (int i = 0; i < count; i++) {
        if (!sxi_is_folder(paths[i])) {
            char *path = strdup(paths[i]);
            const sx_status status = path ? open_paths(run, 1, &path, fields, context)
                                          : SXI_FAIL(SX_ERR_MEMORY, "no memory for a path");
            free(path);
            SXI_TRY(status);
            continue;
        }
        SXI_TRY(open_folder(run, paths[i], fields, context));
        if (count == 1 && raw_beside(paths[i], raw, sizeof raw)) {
            SXI_TRY(open_folder(run, raw, fields, context));
        }
    }
    return SX_OK;
}

static void close_run(void *data) {
    sxi_euxfel *run = data;
    for (int i = 0; i < run->files; i++) {
        sx_hdf5_close(&run->file[i].file);
        free(run->file[i].train);
    }
    for (int m = 0; m < run->modules; m++) {
        free(run->dataset[m]);
        free(run->mask[m]);
        free(run->part[m]);
    }
    free(run->file);
    free(run->has_mask);
    free(run->shot);
    free(run->train);
    free(run->order);
    free(run);
}

/* --- names --- */

/* Under INSTRUMENT or CONTROL, or at the root. */
static bool find_as(sx_hdf5 *file, const char *name, char dataset[SXI_SHOT_NAME]) {
    static const char *const around[][2] = {
        {"INSTRUMENT/", ""}, {"CONTROL/", "/value"}, {"CONTROL/", ""}, {"", ""}};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        char path[SXI_SHOT_NAME + 32];
        snprintf(path, sizeof path, "%s%s%s", around[i][0], name, around[i][1]);
        if (strlen(path) < SXI_SHOT_NAME && sxi_h5_exists(file, path) &&
            !sxi_h5_is_group(file, path)) {
            memcpy(dataset, path, strlen(path) + 1);
            return true;
        }
    }
    return false;
}

/* Keys are also written with dots, as EXtra-data does: SOURCE/data.intensityTD. */
static bool find_in(sx_hdf5 *file, const char *name, char dataset[SXI_SHOT_NAME]) {
    char dotted[SXI_SHOT_NAME];
    if (find_as(file, name, dataset)) {
        return true;
    }
    snprintf(dotted, sizeof dotted, "%s", name);
    for (char *dot = strchr(dotted, '.'); dot; dot = strchr(dot, '.')) {
        *dot = '/';
    }
    return strcmp(dotted, name) != 0 && find_as(file, dotted, dataset);
}

static bool find(const sxi_shots *s, const char *name, int turn, sx_hdf5 **file,
                 char dataset[SXI_SHOT_NAME]) {
    const sxi_euxfel *run = s->data;
    for (int i = 0; i < run->files; i++) {
        if (find_in(run->file[i].file, name, dataset) && turn-- == 0) {
            *file = run->file[i].file;
            return true;
        }
    }
    return false;
}

/* "INDEX/SOURCE" of "INSTRUMENT/SOURCE/key": the longest beginning that is there. */
static bool index_group(sx_hdf5 *file, const char *dataset, char group[SXI_SHOT_NAME + 16]) {
    const char *slash = strchr(dataset, '/');
    snprintf(group, SXI_SHOT_NAME + 16, "INDEX/%s", slash ? slash + 1 : dataset);
    for (char *end = strrchr(group, '/'); end && end - group > 5; end = strrchr(group, '/')) {
        char name[SXI_SHOT_NAME + 32];
        *end = '\0';
        snprintf(name, sizeof name, "%s/first", group);
        if (sxi_h5_exists(file, name)) {
            return true;
        }
    }
    return false;
}

static sx_status read_index(const sxi_train_file *f, const char *group, const char *member,
                            int64_t *to) {
    char name[SXI_SHOT_NAME + 32];
    sx_array values = {0};
    snprintf(name, sizeof name, "%s/%s", group, member);
    SXI_TRY(sxi_shot_values(f->file, name, -1, SX_I64, &values));
    const int64_t found = sx_array_count(&values);
    if (found >= f->trains && f->trains > 0) {
        memcpy(to, values.data, (size_t)f->trains * sizeof *to);
    }
    sx_array_destroy(&values);
    return found >= f->trains
               ? SX_OK
               : SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %lld entries for %lld trains",
                          sx_hdf5_path_of(f->file), name, (long long)found, (long long)f->trains);
}

/* Before format 0.5 there were first and last, some with a status that is 0 without data, instead of
 * first and count. */
static sx_status read_counts(const sxi_train_file *f, const char *group, int64_t *first,
                             int64_t *count) {
    char name[SXI_SHOT_NAME + 32];
    sx_status status = SX_OK;
    int64_t *status_of = NULL;
    SXI_TRY(read_index(f, group, "first", first));
    snprintf(name, sizeof name, "%s/count", group);
    if (sxi_h5_exists(f->file, name)) {
        return read_index(f, group, "count", count);
    }
    SXI_TRY(read_index(f, group, "last", count));
    snprintf(name, sizeof name, "%s/status", group);
    if (sxi_h5_exists(f->file, name)) {
        status_of = malloc((size_t)(f->trains + 1) * sizeof *status_of);
        status = status_of ? read_index(f, group, "status", status_of)
                           : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its index",
                                      sx_hdf5_path_of(f->file));
    }
    for (int64_t t = 0; status == SX_OK && t < f->trains; t++) {
        count[t] = !status_of || status_of[t] ? count[t] - first[t] + 1 : 0;
    }
    free(status_of);
    return status;
}

/* More than a train can have: 600 us of pulses at 4.5 MHz are 2700. */
static const int64_t ENTRIES_MOST = 100000;

/* Keeps what is there of the entries of a train; files of which a writer died promise more. */
static sx_status clip(const sxi_train_file *f, const char *dataset, int64_t t, int64_t entries,
                      const int64_t *first, int64_t *count, int64_t *lost) {
    if (count[t] < 0 || count[t] > ENTRIES_MOST || first[t] < 0) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "%s: the index of %s is damaged: %lld entries from %lld on for train %llu",
                        sx_hdf5_path_of(f->file), dataset, (long long)count[t], (long long)first[t],
                        (unsigned long long)f->train[t]);
    }
    const int64_t left = first[t] < entries ? entries - first[t] : 0;
    if (count[t] > left) {
        *lost += count[t] - left;
        count[t] = left;
    }
    return SX_OK;
}

sx_status sxi_euxfel_index(const sxi_train_file *f, const char *dataset, int64_t entries,
                           int64_t **first, int64_t **count, int64_t *lost) {
    char group[SXI_SHOT_NAME + 16];
    int64_t gone = 0;
    if (!index_group(f->file, dataset, group)) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: there is no index of %s, which says where its trains are",
                        sx_hdf5_path_of(f->file), dataset);
    }
    *first = malloc((size_t)(2 * f->trains + 1) * sizeof **first);
    if (!*first) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its index", sx_hdf5_path_of(f->file));
    }
    *count = *first + f->trains;
    sx_status status = read_counts(f, group, *first, *count);
    for (int64_t t = 0; status == SX_OK && t < f->trains; t++) {
        status = f->train[t] ? clip(f, dataset, t, entries, *first, *count, &gone) : SX_OK;
    }
    if (status != SX_OK) {
        free(*first);
        *first = *count = NULL;
    } else if (lost) {
        *lost += gone;
    }
    return status;
}

/* --- columns --- */

/* What a train has of a quantity. */
typedef struct rows {
    const double *values; /* [entries][row] */
    int64_t row, first, count;
} rows;

/* The value of frame number k of a train: one for all its frames, one entry each, or, where its one entry
 * is a row, element k. */
static double value_of(const rows *r, int64_t k) {
    if (r->count > 1) {
        return k < r->count && r->row == 1 ? r->values[r->first + k] : (double)NAN;
    }
    if (r->row == 1) {
        return r->values[r->first];
    }
    return k < r->row ? r->values[r->first * r->row + k] : (double)NAN;
}

/* A gas monitor writes 1 for the pulses that a train did not have, up to 1000 of them. */
static void blank_padding(const char *dataset, sx_array *values) {
    const size_t n = strlen(dataset);
    const bool monitor =
        strstr(dataset, "/intensity") && n > 2 && strcmp(dataset + n - 2, "TD") == 0;
    double *v = values->data;
    if (!monitor || values->rank != 2) {
        return;
    }
    for (int64_t i = 0; i < values->shape[0]; i++) {
        for (int64_t k = values->shape[1]; k-- > 0 && v[i * values->shape[1] + k] == 1;) {
            v[i * values->shape[1] + k] = (double)NAN;
        }
    }
}

static sx_status fill_column(const sxi_euxfel *run, const sxi_shots *s, int number,
                             const char *dataset, int64_t element, double *column) {
    const sxi_train_file *f = run->file + number;
    sx_status status = SX_OK;
    sx_array values = {0};
    int64_t *first = NULL, *count = NULL;
    sxi_keyed *list = malloc((size_t)(f->trains + 1) * sizeof *list);
    if (!list) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its trains", sx_hdf5_path_of(f->file));
    }
    SXI_GO(sxi_shot_values(f->file, dataset, element, SX_F64, &values));
    blank_padding(dataset, &values);
    const int64_t entries = values.rank > 0 ? values.shape[0] : 0;
    const int64_t row = entries > 0 ? sx_array_count(&values) / entries : 0;
    SXI_GO(sxi_euxfel_index(f, dataset, entries, &first, &count, NULL));
    for (int64_t t = 0; t < f->trains; t++) {
        list[t] = (sxi_keyed){f->train[t], t};
    }
    sxi_keyed_sort(list, f->trains);
    for (int64_t k = 0; k < s->count; k++) {
        const sxi_keyed *at = sxi_keyed_find(list, f->trains, run->train[k]);
        if (at && count[at->at] > 0 && isnan(column[k])) {
            const rows r = {values.data, row, first[at->at], count[at->at]};
            column[k] = sxi_shot_value(value_of(&r, run->order[k]));
        }
    }
out:
    free(first);
    free(list);
    sx_array_destroy(&values);
    return status;
}

/* Sources of the run, for a sentence. */
static void list_sources(const sxi_euxfel *run, size_t size, char *text) {
    char source[SXI_SHOT_NAME];
    text[0] = '\0';
    for (int f = 0; f < run->files; f++) {
        for (int64_t i = 0; sxi_euxfel_source(run->file[f].file, i, source); i++) {
            const char *slash = strchr(source, '/');
            const size_t used = strlen(text);
            if (slash && !strstr(text, slash + 1) && used + strlen(slash) + 3 < size) {
                snprintf(text + used, size - used, "%s%s", used ? ", " : "", slash + 1);
            }
        }
    }
}

static sx_status column_of(const sxi_shots *s, const char *given, double **column) {
    const sxi_euxfel *run = s->data;
    char name[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME], sources[700];
    int64_t element;
    bool found = false;
    SXI_TRY(sxi_shot_element(given, name, &element));
    SXI_TRY(sxi_shot_column(s, column));
    for (int i = 0; i < run->files; i++) {
        if (find_in(run->file[i].file, name, dataset)) {
            SXI_TRY(fill_column(run, s, i, dataset, element, *column));
            found = true;
        }
    }
    if (!found) {
        list_sources(run, sizeof sources, sources);
        return SXI_FAIL(SX_ERR_MISSING, "%s holds no %s; name it SOURCE/key, of the sources %s",
                        s->path, name, sources);
    }
    return SX_OK;
}

/* --- the run --- */

/* Frames of a train follow each other within a tenth of a second, the time from one to the next. */
static sx_status number_shots(const sxi_euxfel *run, sxi_shots *s) {
    SXI_TRY(sxi_shot_column(s, &s->time));
    for (int64_t k = 0; s->time && k < s->count; k++) {
        s->time[k] = (double)run->train[k] + 1e-4 * (double)run->order[k];
    }
    return SX_OK;
}

static sx_status open_run(int count, const char *const *paths, const sxi_shot_fields *f,
                          const sx_context *context, sxi_shots *s) {
    sxi_euxfel *run = calloc(1, sizeof *run);
    if (!run) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", paths[0]);
    }
    s->data = run;
    SXI_TRY(open_files(run, count, paths, f, context));
    SXI_TRY(sxi_euxfel_frames(run, f, context, s));
    const sxi_shot_table table = {
        .naming = "SOURCE/key", .column = column_of, .train = run->train, .order = run->order};
    SXI_TRY(sxi_shot_fill(s, f, &table));
    return s->time ? SX_OK : number_shots(run, s);
}

static void part(const sxi_shots *s, int64_t shot, int number, sxi_shot_part *where) {
    const sxi_euxfel *run = s->data;
    const sxi_train_part *p = run->part[number] + shot;
    if (p->file < 0) {
        *where = (sxi_shot_part){0};
        return;
    }
    const int64_t cells = run->cells ? run->cells : 1;
    const bool masked = run->has_mask[p->file * run->modules + number];
    *where = (sxi_shot_part){.file = run->file[p->file].file,
                             .dataset = run->dataset[number],
                             .mask = masked ? run->mask[number] : NULL,
                             .leading = run->leading,
                             .at = {p->row / cells, p->row % cells}};
}

const sxi_facility sxi_facility_euxfel = {.name = "European XFEL",
                                          .holds = holds,
                                          .joins = joins,
                                          .open = open_run,
                                          .part = part,
                                          .find = find,
                                          .close = close_run};
