/* SPDX-License-Identifier: Apache-2.0
 * Which frames of which modules make a shot: those of one train and one pulse, wherever the files keep
 * them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/facility/euxfel.h"
#include "io/hdf5/h5file.h"

/* --- the detector --- */

/* Datasets of frames by the end of their source, the likeliest first. */
static const char *const KEYS[] = {"image/data", "adc", "data/adc", "image/pixels", "data"};

/* A detector: the name of its dataset with '*' for the number of the module. */
typedef struct detector {
    char pattern[SXI_SHOT_NAME];
} detector;

/* "DET/7CH0:xtdf" and "DET/JNGFR07:daqOutput" are module 7 of a detector. */
static int split_module(const char *dataset, char pattern[SXI_SHOT_NAME]) {
    const char *device = strstr(dataset, "/DET/");
    device = device ? device : strstr(dataset, "/CORR/"); /* newer corrected sources */
    snprintf(pattern, SXI_SHOT_NAME, "%s", dataset);
    if (!device) {
        return 0;
    }
    const char *digits = strchr(device + 1, '/') + 1;
    while (*digits && *digits != '/' && *digits != ':' && !isdigit((unsigned char)*digits)) {
        digits++;
    }
    char *end = NULL;
    const long module = isdigit((unsigned char)*digits) ? strtol(digits, &end, 10) : -1;
    if (module < 0 || module >= SXI_EUXFEL_MODULES) {
        return 0;
    }
    snprintf(pattern, SXI_SHOT_NAME, "%.*s*%s", (int)(digits - dataset), dataset, end);
    return (int)module;
}

/* The dataset of frames of a source of the list, if it has one. */
static bool frames_of(sx_hdf5 *file, const char *source, char dataset[SXI_SHOT_NAME]) {
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        sx_hdf5_dataset about;
        const char *head = strncmp(KEYS[i], "image/", 6) == 0 && strlen(source) > 6 &&
                                   strcmp(source + strlen(source) - 6, "/image") == 0
                               ? KEYS[i] + 6
                               : KEYS[i];
        snprintf(dataset, SXI_SHOT_NAME, "%.200s/%s", source, head);
        if (sxi_h5_exists(file, dataset) && !sxi_h5_is_group(file, dataset) &&
            sx_hdf5_describe(file, dataset, &about) == SX_OK && about.numeric && about.rank >= 3) {
            return true;
        }
    }
    return false;
}

bool sxi_euxfel_source(sx_hdf5 *file, int64_t i, char source[SXI_SHOT_NAME]) {
    static const char *const lists[] = {"METADATA/dataSources/dataSourceId",
                                        "METADATA/dataSourceId"};
    for (int k = 0; k < 2; k++) {
        sx_hdf5_dataset about;
        if (sxi_h5_exists(file, lists[k]) && sx_hdf5_describe(file, lists[k], &about) == SX_OK) {
            return about.rank == 1 && i < about.shape[0] &&
                   sxi_h5_read_text(file, lists[k], i, source, SXI_SHOT_NAME) == SX_OK;
        }
    }
    return false;
}

/* Does the user mean this one? With or without '*', or by a part of its name. */
static bool is_meant(const char *named, const char *pattern) {
    return !named || strstr(pattern, named) != NULL;
}

enum { DETECTORS = 8 };

typedef struct found {
    int count;
    detector list[DETECTORS];
} found;

static void note(found *all, const char *pattern) {
    for (int i = 0; i < all->count; i++) {
        if (strcmp(all->list[i].pattern, pattern) == 0) {
            return;
        }
    }
    if (all->count < DETECTORS) {
        snprintf(all->list[all->count++].pattern, SXI_SHOT_NAME, "%s", pattern);
    }
}

/* Calls with every dataset of frames in the files. */
static void look_through(const sxi_euxfel *run, void (*see)(void *, const char *), void *data) {
    for (int f = 0; f < run->files; f++) {
        char source[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME];
        for (int64_t i = 0; sxi_euxfel_source(run->file[f].file, i, source); i++) {
            if (strncmp(source, "INSTRUMENT/", 11) == 0 &&
                frames_of(run->file[f].file, source, dataset)) {
                see(data, dataset);
            }
        }
    }
}

typedef struct looking {
    const char *named;
    found meant, others;
} looking;

static void see_detector(void *data, const char *dataset) {
    looking *l = data;
    char pattern[SXI_SHOT_NAME];
    split_module(dataset, pattern);
    note(is_meant(l->named, pattern) || is_meant(l->named, dataset) ? &l->meant : &l->others,
         pattern);
}

static void list_found(const found *all, size_t size, char *names) {
    names[0] = '\0';
    for (int i = 0; i < all->count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, size - used, "%s%s", i ? ", " : "", all->list[i].pattern);
    }
}

static sx_status choose(const sxi_euxfel *run, const sxi_shots *s, const char *named,
                        char pattern[SXI_SHOT_NAME]) {
    looking l = {.named = named};
    char names[600];
    look_through(run, see_detector, &l);
    if (l.meant.count == 1) {
        snprintf(pattern, SXI_SHOT_NAME, "%s", l.meant.list[0].pattern);
        return SX_OK;
    }
    list_found(l.meant.count ? &l.meant : &l.others, sizeof names, names);
    if (l.meant.count > 1) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%s holds frames of several detectors, %s: choose one with --detector",
                        s->path, names);
    }
    return l.others.count
               ? SXI_FAIL(SX_ERR_MISSING, "%s holds no frames of %s; it holds %s", s->path, named,
                          names)
               : SXI_FAIL(SX_ERR_MISSING,
                          "%s holds no frames of a detector: give the folder of the run, "
                          "or all of its files",
                          s->path);
}

/* --- its modules --- */

/* How many modules a detector has, by its name; 0: it does not say. Those of which a run has no file are
 * missing, and must not move the others. first: the number of the first. */
static int modules_of(const char *pattern, int *first) {
    static const struct {
        const char *word;
        int modules, first;
    } kinds[] = {{"AGIPD1M", 16, 0}, {"AGIPD500K", 8, 0}, {"LPD1M", 16, 0}, {"DSSC1M", 16, 0},
                 {"JF4M", 8, 1},     {"JF1M", 2, 1},      {"JF500K", 1, 1}};
    *first = strstr(pattern, "JNGFR") ? 1 : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strstr(pattern, kinds[i].word)) {
            *first = kinds[i].first;
            return kinds[i].modules;
        }
    }
    return 0;
}

typedef struct gathering {
    sxi_euxfel *run;
    const char *pattern;
    int first;
    bool memory;
} gathering;

static void see_module(void *data, const char *dataset) {
    gathering *g = data;
    char pattern[SXI_SHOT_NAME];
    const int module = split_module(dataset, pattern) - (strchr(g->pattern, '*') ? g->first : 0);
    if (strcmp(pattern, g->pattern) != 0 || module < 0 || g->run->dataset[module]) {
        return;
    }
    g->run->dataset[module] = strdup(dataset);
    g->memory = g->memory && g->run->dataset[module];
    g->run->modules = module >= g->run->modules ? module + 1 : g->run->modules;
}

static sx_status gather(sxi_euxfel *run, const char *pattern) {
    gathering g = {run, pattern, 0, true};
    const int modules = modules_of(pattern, &g.first);
    look_through(run, see_module, &g);
    run->modules = modules > run->modules ? modules : run->modules;
    if (!g.memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the modules of %s", pattern);
    }
    return run->modules > 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_FORMAT, "the modules of %s are not numbered as known", pattern);
}

/* --- their frames --- */

/* How the frames of a module lie in its dataset. Jungfrau keeps 1 or 16 memory cells an entry; raw AGIPD,
 * LPD and DSSC an axis of which the first is the signal. cells: 0 without that axis. */
static int leading_of(const sx_hdf5_dataset *about, const char *dataset, int64_t *cells) {
    const bool has_cells = about->rank == 4 && strstr(dataset, "/adc") != NULL;
    *cells = has_cells ? about->shape[1] : 0;
    return about->rank == 4 ? 2 : 1;
}

bool sxi_euxfel_gives(const sxi_euxfel *run, int number, int module) {
    const sxi_train_file *f = run->file + number;
    return run->dataset[module] && (f->corrected || !run->corrected) &&
           sxi_h5_exists(f->file, run->dataset[module]);
}

static void prefer_corrected(sxi_euxfel *run) {
    for (int m = 0; m < run->modules; m++) {
        for (int f = 0; f < run->files; f++) {
            run->corrected =
                run->corrected || (run->file[f].corrected && sxi_euxfel_gives(run, f, m));
        }
    }
}

/* Equal frames in every file of every module. */
static sx_status settle(sxi_euxfel *run, sxi_shots *s) {
    for (int m = 0, seen = 0; m < run->modules; m++) {
        for (int f = 0; f < run->files; f++) {
            sx_hdf5_dataset about;
            sxi_shots one = {.path = s->path};
            int64_t cells;
            if (!sxi_euxfel_gives(run, f, m)) {
                continue;
            }
            SXI_TRY(sx_hdf5_describe(run->file[f].file, run->dataset[m], &about));
            const int leading = leading_of(&about, run->dataset[m], &cells);
            SXI_TRY(sxi_shot_frame(&one, &about, run->dataset[m], leading, run->modules));
            if (seen++ == 0) {
                s->rank = one.rank;
                s->parts = one.parts;
                s->dtype = one.dtype;
                memcpy(s->shape, one.shape, sizeof s->shape);
                run->leading = leading;
                run->cells = cells;
                const int64_t chunk = about.chunk[cells > 0 && about.chunk[1] > 1];
                s->together = chunk > 1 ? chunk : 1;
            }
            if (leading != run->leading || cells != run->cells || one.rank != s->rank ||
                memcmp(one.shape, s->shape, (size_t)s->rank * sizeof *s->shape) != 0) {
                return SXI_FAIL(SX_ERR_SHAPE,
                                "%s:%s: its frames are shaped unlike those of other modules or "
                                "files",
                                sx_hdf5_path_of(run->file[f].file), run->dataset[m]);
            }
        }
    }
    return SX_OK;
}

/* Corrected files say beside their frames which values are bad; those are mostly 0. */
static sx_status find_masks(sxi_euxfel *run, sxi_shots *s) {
    run->has_mask = calloc((size_t)run->files * (size_t)run->modules + 1, sizeof *run->has_mask);
    if (!run->has_mask) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its masks", s->path);
    }
    for (int m = 0; m < run->modules; m++) {
        char name[SXI_SHOT_NAME + 8];
        if (!run->dataset[m]) {
            continue;
        }
        const int length = (int)(strrchr(run->dataset[m], '/') - run->dataset[m]);
        snprintf(name, sizeof name, "%.*s/mask", length, run->dataset[m]);
        run->mask[m] = strdup(name);
        if (!run->mask[m]) {
            return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its masks", s->path);
        }
        for (int f = 0; f < run->files; f++) {
            sx_hdf5_dataset about, mask;
            if (!sxi_euxfel_gives(run, f, m) || !sxi_h5_exists(run->file[f].file, name)) {
                continue;
            }
            SXI_TRY(sx_hdf5_describe(run->file[f].file, run->dataset[m], &about));
            SXI_TRY(sx_hdf5_describe(run->file[f].file, name, &mask));
            if (!mask.numeric || mask.rank != about.rank ||
                memcmp(mask.shape, about.shape, (size_t)mask.rank * sizeof *mask.shape) != 0) {
                return SXI_FAIL(SX_ERR_SHAPE, "%s:%s is shaped unlike the frames that it masks",
                                sx_hdf5_path_of(run->file[f].file), name);
            }
            run->has_mask[f * run->modules + m] = s->masked = true;
        }
    }
    return SX_OK;
}

sx_status sxi_euxfel_frames(sxi_euxfel *run, const sxi_shot_fields *fields,
                            const sx_context *context, sxi_shots *s) {
    if (fields->raw) {
        return SXI_FAIL(
            SX_ERR_UNSUPPORTED,
            "%s: raw frames of European XFEL have their gain in a dataset of its own, "
            "which is not calibrated here: reduce the corrected run (proc) without --raw",
            s->path);
    }
    SXI_TRY(choose(run, s, fields->detector, s->detector));
    SXI_TRY(gather(run, s->detector));
    prefer_corrected(run);
    SXI_TRY(settle(run, s));
    SXI_TRY(find_masks(run, s));
    context = fields->again ? NULL : context;
    SXI_TRY(sxi_euxfel_join(run, s, context));
    if (run->leading > 1 && !run->corrected) {
        sx_log(context, SX_LOG_WARNING,
               "%s: raw frames of %s are taken as they are, without pedestal and gain: use the "
               "corrected run (proc) where there is one",
               s->path, s->detector);
    }
    return SX_OK;
}
