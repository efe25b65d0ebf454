/* SPDX-License-Identifier: Apache-2.0 */
#include "io/facility/facility.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "base/units.h"
#include "io/hdf5/h5file.h"

/* --- columns --- */

double sxi_shot_value(double value) {
    return isfinite(value) && value != SXI_SHOT_MISSING ? value : (double)NAN;
}

sx_status sxi_shot_element(const char *given, char name[SXI_SHOT_NAME], int64_t *element) {
    const size_t length = strlen(given);
    const char *open = length && given[length - 1] == ']' ? strrchr(given, '[') : NULL;
    char digits[24] = "";
    *element = -1;
    if (length >= SXI_SHOT_NAME) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "a name of %zu characters is too long: %.60s...", length,
                        given);
    }
    snprintf(name, SXI_SHOT_NAME, "%.*s", (int)(open ? (size_t)(open - given) : length), given);
    if (!open) {
        return SX_OK;
    }
    snprintf(digits, sizeof digits, "%.*s", (int)(given + length - 1 - open - 1), open + 1);
    if (sx_parse_int(digits, element) != SX_OK || *element < 0) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s: '%s' is not the number of an element, from 0", given,
                        digits);
    }
    return SX_OK;
}

sx_status sxi_shot_some(const sxi_shots *s) {
    return s->count > 0 ? SX_OK
                        : SXI_FAIL(SX_ERR_MISSING, "%s holds no shots of %s", s->path, s->detector);
}

sx_status sxi_shot_column(const sxi_shots *s, double **column) {
    *column = malloc((size_t)(s->count ? s->count : 1) * sizeof **column);
    if (!*column) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %lld shots", s->path,
                        (long long)s->count);
    }
    for (int64_t k = 0; k < s->count; k++) {
        (*column)[k] = (double)NAN;
    }
    return SX_OK;
}

sx_status sxi_shot_pattern_check(const char *pattern) {
    bool good = *pattern != '\0' && pattern[strlen(pattern) - 1] != ',';
    for (const char *c = pattern; *c; c++) {
        good = good && (*c == '0' || *c == '1' || (*c == ',' && c > pattern && c[-1] != ','));
    }
    return good ? SX_OK
                : SXI_FAIL(SX_ERR_ARGUMENT,
                           "the laser pattern '%.60s' is not made of 0 and 1, with commas between "
                           "trains",
                           pattern);
}

double sxi_shot_pattern(const char *pattern, uint64_t train, int64_t k) {
    uint64_t groups = 1;
    for (const char *c = pattern; *c; c++) {
        groups += *c == ',';
    }
    for (train %= groups; train > 0; pattern++) {
        train -= *pattern == ',';
    }
    const int64_t length = (int64_t)strcspn(pattern, ",");
    return pattern[k % length] == '1';
}

sx_status sxi_shot_delay_unit(const sxi_shot_fields *fields, sx_hdf5 *file, const char *dataset,
                              double *scale) {
    sx_hdf5_dataset about;
    *scale = fields->delay_scale;
    if (*scale != 0) {
        return SX_OK;
    }
    SXI_TRY(sx_hdf5_describe(file, dataset, &about));
    return about.unit[0] ? sxi_unit_time(about.unit, scale) : SX_OK;
}

sx_status sxi_shot_frame(sxi_shots *s, const sx_hdf5_dataset *about, const char *dataset,
                         int leading, int parts) {
    const int axes = about->rank - leading, rank = axes + (parts > 1);
    if (!about->numeric || axes < 1 || rank > 4) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s:%s is no series of frames: numbers with the axes shot and pixel, or "
                        "shot, row and column, are needed",
                        s->path, dataset);
    }
    s->dtype = about->dtype;
    s->parts = parts;
    s->rank = rank;
    if (parts > 1) {
        s->shape[0] = parts;
    }
    memcpy(s->shape + (parts > 1), about->shape + leading, (size_t)axes * sizeof *s->shape);
    return SX_OK;
}

sx_status sxi_shot_mask(sxi_shots *s, sx_hdf5 *file, const char *dataset, int good) {
    const sx_dtype byte = SX_U8;
    int64_t pixels = 1;
    sx_array values = {0};
    sx_hdf5_dataset about;
    SXI_TRY(sx_hdf5_describe(file, dataset, &about));
    for (int d = 0; d < s->rank; d++) {
        pixels *= s->shape[d];
    }
    int64_t found = about.numeric ? 1 : 0;
    for (int d = 0; d < about.rank; d++) {
        found = about.shape[d] > pixels ? 0 : found * about.shape[d];
    }
    if (found != pixels) {
        return SX_OK; /* that of a detector of which a part was kept says nothing of the part */
    }
    SXI_TRY(sxi_h5_read(file, dataset, &byte, &values)); /* larger numbers are clamped */
    s->mask = malloc((size_t)pixels + 1);
    for (int64_t p = 0; s->mask && p < pixels; p++) {
        s->mask[p] = (((const uint8_t *)values.data)[p] != 0) != (good != 0);
    }
    sx_array_destroy(&values);
    return s->mask ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its mask", s->path);
}

/* --- paths --- */

bool sxi_is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

const char *sxi_base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void sxi_folder_of(const char *path, char *folder, size_t size) {
    const char *base = sxi_base_of(path);
    if (base == path) {
        snprintf(folder, size, ".");
    } else {
        snprintf(folder, size, "%.*s", base - path > 1 ? (int)(base - path - 1) : 1, path);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool fits(const char *name, const char *begin, const char *end) {
    const size_t length = strlen(name), head = strlen(begin), tail = strlen(end);
    return length >= head + tail && strncmp(name, begin, head) == 0 &&
           strcmp(name + length - tail, end) == 0;
}

sx_status sxi_paths(const char *folder, const char *begin, const char *end, int *count,
                    char ***paths) {
    DIR *open = opendir(folder);
    bool memory = true;
    int room = 0;
    *count = 0;
    *paths = NULL;
    for (struct dirent *e = open ? readdir(open) : NULL; e && memory; e = readdir(open)) {
        char path[PATH_MAX];
        if (!fits(e->d_name, begin, end) ||
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) {
            continue;
        }
        if (*count == room) {
            char **more = realloc(*paths, (size_t)(room = 2 * room + 16) * sizeof *more);
            memory = more != NULL;
            *paths = more ? more : *paths;
        }
        if (memory) {
            (*paths)[*count] = strdup(path);
            memory = (*paths)[*count] != NULL;
            *count += memory;
        }
    }
    if (open) {
        closedir(open);
    }
    if (!memory) {
        sxi_paths_free(*count, *paths);
        *count = 0;
        *paths = NULL;
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to list it", folder);
    }
    if (*count > 1) {
        qsort(*paths, (size_t)*count, sizeof **paths, by_name);
    }
    return SX_OK;
}

void sxi_paths_free(int count, char **paths) {
    for (int i = 0; i < count; i++) {
        free(paths[i]);
    }
    free(paths);
}
