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

static sx_status read_numbers(sx_hdf5 *file, const char *name, sx_dtype dtype, sx_array *values) {
    SXI_TRY(sxi_h5_read(file, name, &dtype, values));
    return SX_OK;
}

static sx_status open_file(sxi_euxfel *run, const char *path, const sx_context *context) {
    sxi_train_file *f = run->file + run->files;
    sx_array trains = {0};
    *f = (sxi_train_file){.corrected = strncmp(sxi_base_of(path), "CORR", 4) == 0};
    SXI_TRY(sx_hdf5_open(path, &f->file));
    run->files++;
    sxi_h5_context_set(f->file, context);
    SXI_TRY(read_numbers(f->file, "INDEX/trainId", SX_U64, &trains));
    f->trains = sx_array_count(&trains);
    f->train = malloc((size_t)(f->trains + 1) * sizeof *f->train);
    if (f->train && f->trains) {
        memcpy(f->train, trains.data, (size_t)f->trains * sizeof *f->train);
    }
    sx_array_destroy(&trains);
    return f->train ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its trains", path);
}

static sx_status open_files(sxi_euxfel *run, const char *path, const sx_context *context) {
    sx_status status = SX_OK;
    char raw[PATH_MAX];
    int count = 0, more = 0;
    char **paths = NULL, **others = NULL;
    if (sxi_is_folder(path)) {
        SXI_GO(list(path, &count, &paths));
        if (raw_beside(path, raw, sizeof raw)) {
            SXI_GO(list(raw, &more, &others));
        }
    }
    run->file = calloc((size_t)(count + more + 1), sizeof *run->file);
    if (!run->file) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %d files", path, count + more);
        goto out;
    }
    if (count == 0) {
        SXI_GO(open_file(run, path, context));
    }
    for (int i = 0; i < count; i++) {
        SXI_GO(open_file(run, paths[i], context));
    }
    for (int i = 0; i < more; i++) {
        SXI_GO(open_file(run, others[i], context));
    }
out:
    sxi_paths_free(count, paths);
    sxi_paths_free(more, others);
    return status;
}

static void close_run(void *data) {
    sxi_euxfel *run = data;
    for (int i = 0; i < run->files; i++) {
        sx_hdf5_close(&run->file[i].file);
        free(run->file[i].train);
    }
    for (int m = 0; m < run->modules; m++) {
        free(run->dataset[m]);
    }
    free(run->file);
    free(run->part);
    free(run->train);
    free(run->order);
    free(run);
}

/* --- names --- */

static bool find_in(sx_hdf5 *file, const char *name, char dataset[SXI_SHOT_NAME]) {
    static const char *const forms[] = {"INSTRUMENT/%s", "CONTROL/%s/value", "CONTROL/%s", "%s"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char path[SXI_SHOT_NAME + 32];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, forms[i], name);
#pragma GCC diagnostic pop
        if (strlen(path) < SXI_SHOT_NAME && sxi_h5_exists(file, path) &&
            !sxi_h5_is_group(file, path)) {
            memcpy(dataset, path, strlen(path) + 1);
            return true;
        }
    }
    return false;
}

bool sxi_euxfel_find(const sxi_euxfel *run, const char *name, int turn, int *number,
                     char dataset[SXI_SHOT_NAME]) {
    for (int i = 0; i < run->files; i++) {
        if (find_in(run->file[i].file, name, dataset) && turn-- == 0) {
            if (number) {
                *number = i;
            }
            return true;
        }
    }
    return false;
}

static bool find(const sxi_shots *s, const char *name, int turn, sx_hdf5 **file,
                 char dataset[SXI_SHOT_NAME]) {
    const sxi_euxfel *run = s->data;
    int number;
    if (!sxi_euxfel_find(run, name, turn, &number, dataset)) {
        return false;
    }
    *file = run->file[number].file;
    return true;
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
    SXI_TRY(read_numbers(f->file, name, SX_I64, &values));
    const int64_t found = sx_array_count(&values);
    if (found == f->trains && found > 0) {
        memcpy(to, values.data, (size_t)found * sizeof *to);
    }
    sx_array_destroy(&values);
    return found == f->trains
               ? SX_OK
               : SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %lld entries for %lld trains",
                          sx_hdf5_path_of(f->file), name, (long long)found, (long long)f->trains);
}

/* Before format 0.5 there were first, last and status instead of first and count. */
static sx_status read_counts(const sxi_train_file *f, const char *group, int64_t *first,
                             int64_t *count) {
    char name[SXI_SHOT_NAME + 32];
    SXI_TRY(read_index(f, group, "first", first));
    snprintf(name, sizeof name, "%s/count", group);
    if (sxi_h5_exists(f->file, name)) {
        return read_index(f, group, "count", count);
    }
    int64_t *status_of = malloc((size_t)(f->trains + 1) * sizeof *status_of);
    if (!status_of) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its index", sx_hdf5_path_of(f->file));
    }
    sx_status status = read_index(f, group, "status", status_of);
    if (status == SX_OK) {
        status = read_index(f, group, "last", count);
    }
    for (int64_t t = 0; status == SX_OK && t < f->trains; t++) {
        count[t] = status_of[t] ? count[t] - first[t] + 1 : 0;
    }
    free(status_of);
    return status;
}

sx_status sxi_euxfel_index(const sxi_train_file *f, const char *dataset, int64_t entries,
                           int64_t **first, int64_t **count) {
    char group[SXI_SHOT_NAME + 16];
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
        const int64_t begin = (*first)[t], n = (*count)[t];
        if (f->train[t] != 0 && (n < 0 || begin < 0 || (n > 0 && begin > entries - n))) {
            status = SXI_FAIL(SX_ERR_RANGE,
                              "%s: the index of %s says entries %lld to %lld of train %llu, there "
                              "are %lld",
                              sx_hdf5_path_of(f->file), dataset, (long long)begin,
                              (long long)(begin + n - 1), (unsigned long long)f->train[t],
                              (long long)entries);
        }
    }
    if (status != SX_OK) {
        free(*first);
        *first = *count = NULL;
    }
    return status;
}

/* --- columns --- */

/* Trains of a file in order of their numbers, to look them up. */
typedef struct train_at {
    uint64_t train;
    int64_t at;
} train_at;

static int by_train(const void *a, const void *b) {
    const train_at *x = a, *y = b;
    return x->train != y->train ? (x->train > y->train ? 1 : -1)
                                : (x->at > y->at) - (x->at < y->at);
}

static const train_at *look_up(const train_at *list, int64_t n, uint64_t train) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t half = low + (high - low) / 2;
        if (list[half].train < train) {
            low = half + 1;
        } else {
            high = half;
        }
    }
    return low < n && list[low].train == train ? list + low : NULL;
}

/* The value of frame number k of a train whose entries are these: one for all, one each, or a row of
 * them. */
static double value_of(const sx_array *values, int64_t row, int64_t first, int64_t count, int64_t k,
                       int64_t element) {
    const double *v = values->data;
    if (element >= 0) {
        return element < row ? v[first * row + element] : (double)NAN;
    }
    if (row > 1) {
        return k < row ? v[first * row + k] : (double)NAN;
    }
    return count == 1 ? v[first] : k < count ? v[first + k] : (double)NAN;
}

static sx_status fill_column(const sxi_euxfel *run, const sxi_shots *s, int number,
                             const char *dataset, int64_t element, double *column) {
    const sxi_train_file *f = run->file + number;
    sx_status status = SX_OK;
    sx_array values = {0};
    int64_t *first = NULL, *count = NULL;
    train_at *list = malloc((size_t)(f->trains + 1) * sizeof *list);
    if (!list) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its trains", sx_hdf5_path_of(f->file));
    }
    SXI_GO(read_numbers(f->file, dataset, SX_F64, &values));
    const int64_t entries = values.rank > 0 ? values.shape[0] : 0;
    const int64_t row = entries > 0 ? sx_array_count(&values) / entries : 0;
    SXI_GO(sxi_euxfel_index(f, dataset, entries, &first, &count));
    for (int64_t t = 0; t < f->trains; t++) {
        list[t] = (train_at){f->train[t], t};
    }
    qsort(list, (size_t)f->trains, sizeof *list, by_train);
    for (int64_t k = 0; k < s->count; k++) {
        const train_at *at = look_up(list, f->trains, run->train[k]);
        if (at && count[at->at] > 0 && isnan(column[k])) {
            column[k] = sxi_shot_value(
                value_of(&values, row, first[at->at], count[at->at], run->order[k], element));
        }
    }
out:
    free(first);
    free(list);
    sx_array_destroy(&values);
    return status;
}

sx_status sxi_euxfel_column(const sxi_euxfel *run, const sxi_shots *s, const char *given,
                            double **column) {
    char name[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME];
    int64_t element;
    int number, turn = 0;
    SXI_TRY(sxi_shot_element(given, name, &element));
    SXI_TRY(sxi_shot_column(s, column));
    for (; sxi_euxfel_find(run, name, turn, &number, dataset); turn++) {
        SXI_TRY(fill_column(run, s, number, dataset, element, *column));
    }
    return turn > 0 ? SX_OK
                    : SXI_FAIL(SX_ERR_MISSING,
                               "%s holds no %s: give SOURCE/key, such as "
                               "SA1_XTD2_XGM/DOOCS/MAIN:output/data/intensityTD",
                               s->path, name);
}

/* --- the run --- */

static sx_status need(const sxi_euxfel *run, const sxi_shots *s, const char *what,
                      const char *option, const char *name, double **column) {
    if (!name) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: the names of devices differ, so say which is the %s: %s", s->path,
                        what, option);
    }
    return sxi_euxfel_column(run, s, name, column);
}

static sx_status read_laser(const sxi_euxfel *run, const sxi_shot_fields *f, sxi_shots *s) {
    if (!f->laser_pattern) {
        return need(run, s, "laser code", "--laser SOURCE/key or --laser-pattern", f->laser,
                    &s->laser);
    }
    SXI_TRY(sxi_shot_column(s, &s->laser));
    for (int64_t k = 0; k < s->count; k++) {
        s->laser[k] = sxi_shot_pattern(f->laser_pattern, run->train[k], run->order[k]);
    }
    return SX_OK;
}

static sx_status read_delay(const sxi_euxfel *run, const sxi_shot_fields *f, sxi_shots *s) {
    char name[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME];
    int64_t element;
    int number = 0;
    double scale;
    SXI_TRY(need(run, s, "delay", "--delay SOURCE/key", f->delay, &s->delay_ps));
    SXI_TRY(sxi_shot_element(f->delay, name, &element));
    sxi_euxfel_find(run, name, 0, &number, dataset);
    SXI_TRY(sxi_shot_delay_unit(f, run->file[number].file, dataset, &scale));
    if (scale == 0) {
        return SXI_FAIL(SX_ERR_UNIT,
                        "%s:%s names no unit: say with --delay-scale how many ps one of it is",
                        s->path, name);
    }
    for (int64_t k = 0; k < s->count; k++) {
        s->delay_ps[k] *= scale;
    }
    snprintf(s->delay_name, sizeof s->delay_name, "%s", f->delay);
    return SX_OK;
}

static sx_status read_tool(const sxi_euxfel *run, const sxi_shot_fields *f, sxi_shots *s) {
    if (f->no_time_tool || !f->time_tool) {
        return SX_OK;
    }
    SXI_TRY(sxi_euxfel_column(run, s, f->time_tool, &s->tool_ps));
    snprintf(s->tool_name, sizeof s->tool_name, "%s", f->time_tool);
    if (f->time_tool_amplitude) {
        SXI_TRY(sxi_euxfel_column(run, s, f->time_tool_amplitude, &s->tool_amplitude));
    }
    return f->time_tool_width ? sxi_euxfel_column(run, s, f->time_tool_width, &s->tool_width)
                              : SX_OK;
}

/* Frames of a train follow each other within a tenth of a second, the time from one to the next. */
static sx_status number_shots(const sxi_euxfel *run, sxi_shots *s) {
    SXI_TRY(sxi_shot_column(s, &s->time));
    for (int64_t k = 0; k < s->count; k++) {
        s->time[k] = (double)run->train[k] + 1e-4 * (double)run->order[k];
    }
    return SX_OK;
}

static sx_status open_run(const char *path, const sxi_shot_fields *f, const sx_context *context,
                          sxi_shots *s) {
    sxi_euxfel *run = calloc(1, sizeof *run);
    if (!run) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", path);
    }
    s->data = run;
    SXI_TRY(open_files(run, path, context));
    SXI_TRY(sxi_euxfel_frames(run, f, context, s));
    SXI_TRY(need(run, s, "intensity monitor", "--i0 SOURCE/key", f->i0, &s->i0));
    snprintf(s->i0_name, sizeof s->i0_name, "%s", f->i0);
    SXI_TRY(read_laser(run, f, s));
    if (f->xray) {
        SXI_TRY(sxi_euxfel_column(run, s, f->xray, &s->xray));
    }
    SXI_TRY(read_delay(run, f, s));
    SXI_TRY(read_tool(run, f, s));
    return f->time ? sxi_euxfel_column(run, s, f->time, &s->time) : number_shots(run, s);
}

static void part(const sxi_shots *s, int64_t shot, int number, sxi_shot_part *where) {
    const sxi_euxfel *run = s->data;
    const sxi_train_part *p = run->part + shot * run->modules + number;
    if (p->file < 0) {
        *where = (sxi_shot_part){0};
        return;
    }
    *where = (sxi_shot_part){run->file[p->file].file,
                             run->dataset[number],
                             run->leading,
                             {p->entry, p->cell < 0 ? 0 : p->cell}};
}

const sxi_facility sxi_facility_euxfel = {"European XFEL", holds, open_run, part, find, close_run};
