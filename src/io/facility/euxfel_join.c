/* SPDX-License-Identifier: Apache-2.0
 * Shots of a run of European XFEL: the frames of its modules, joined by train and pulse, wherever the
 * files keep them. One module is looked at after the other, so that memory is that of the table. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/facility/euxfel.h"
#include "io/hdf5/h5file.h"

/* --- frames of a module --- */

typedef struct frame {
    sxi_train_shot shot;
    sxi_train_part part;
} frame;

typedef struct frames {
    frame *list; /* in order of shots, each once, when sorted */
    int64_t count, room;
} frames;

static bool add_frame(frames *all, const frame *one) {
    if (all->count == all->room) {
        const int64_t room = 2 * all->room + 4096;
        frame *more = realloc(all->list, (size_t)room * sizeof *more);
        if (!more) {
            return false;
        }
        all->list = more;
        all->room = room;
    }
    all->list[all->count++] = *one;
    return true;
}

/* Pulse numbers of the entries of a fast detector; without data it has none, and the place in the train
 * counts. */
static sx_status read_pulses(sx_hdf5 *file, const char *dataset, int64_t entries,
                             sx_array *pulses) {
    char name[SXI_SHOT_NAME + 16];
    const char *slash = strrchr(dataset, '/');
    snprintf(name, sizeof name, "%.*s/pulseId", (int)(slash - dataset), dataset);
    *pulses = (sx_array){0};
    if (!sxi_h5_exists(file, name)) {
        return SX_OK;
    }
    SXI_TRY(sxi_shot_values(file, name, -1, SX_U64, pulses));
    const int64_t found = sx_array_count(pulses);
    if (found < entries) {
        sx_array_destroy(pulses);
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %lld frames and %lld pulse numbers",
                        sx_hdf5_path_of(file), dataset, (long long)entries, (long long)found);
    }
    return SX_OK;
}

/* Frames of a train: entries of the dataset, of which each may hold several cells. */
static bool add_train(uint64_t train, int64_t first, int64_t count, int64_t cells,
                      const uint64_t *pulses, int32_t file, frames *all) {
    for (int64_t i = 0; i < count * cells; i++) {
        const int64_t entry = first + i / cells;
        const frame one = {{train, pulses ? pulses[entry] : (uint64_t)i},
                           {file, (int32_t)(entry * cells + i % cells)}};
        if (!add_frame(all, &one)) {
            return false;
        }
    }
    return true;
}

static sx_status add_file(const sxi_euxfel *run, int number, int module, frames *all,
                          int64_t *lost) {
    const sxi_train_file *f = run->file + number;
    const char *dataset = run->dataset[module];
    sx_status status = SX_OK;
    int64_t *first = NULL, *count = NULL;
    sx_array pulses = {0};
    sx_hdf5_dataset about;
    SXI_TRY(sx_hdf5_describe(f->file, dataset, &about));
    const int64_t entries = about.shape[0], cells = run->cells ? run->cells : 1;
    if (entries > INT32_MAX / cells) {
        return SXI_FAIL(SX_ERR_RANGE, "%s:%s claims %lld entries: is the file damaged?",
                        sx_hdf5_path_of(f->file), dataset, (long long)entries);
    }
    SXI_GO(sxi_euxfel_index(f, dataset, entries, &first, &count, lost));
    SXI_GO(read_pulses(f->file, dataset, entries, &pulses));
    for (int64_t t = 0; t < f->trains; t++) {
        if (f->train[t] != 0 &&
            !add_train(f->train[t], first[t], count[t], cells, pulses.data, number, all)) {
            status = SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld frames", (long long)all->count);
            goto out;
        }
    }
out:
    free(first);
    sx_array_destroy(&pulses);
    return status;
}

static int by_shot(const sxi_train_shot *x, const sxi_train_shot *y) {
    return x->train != y->train ? (x->train > y->train ? 1 : -1)
                                : (x->pulse > y->pulse) - (x->pulse < y->pulse);
}

/* Of two frames in one pulse that of the earlier file comes first. */
static int by_frame(const void *a, const void *b) {
    const frame *x = a, *y = b;
    const int order = by_shot(&x->shot, &y->shot);
    if (order != 0) {
        return order;
    }
    return x->part.file != y->part.file ? x->part.file - y->part.file
                                        : (x->part.row > y->part.row) - (x->part.row < y->part.row);
}

/* In order, each shot once. Most files are in order. */
static void sort_frames(frames *all, int64_t *twice) {
    int64_t k = 1, kept = 0;
    while (k < all->count && by_frame(all->list + k - 1, all->list + k) <= 0) {
        k++;
    }
    if (k < all->count) {
        qsort(all->list, (size_t)all->count, sizeof *all->list, by_frame);
    }
    for (int64_t i = 0; i < all->count; i++) {
        if (i == 0 || by_shot(&all->list[i].shot, &all->list[kept - 1].shot) != 0) {
            all->list[kept++] = all->list[i];
        }
    }
    *twice += all->count - kept;
    all->count = kept;
}

/* --- the table --- */

/* Frames of shots that the table does not have. */
static int64_t count_new(const sxi_euxfel *run, int64_t count, const frames *all) {
    int64_t k = 0, fresh = 0;
    for (int64_t i = 0; i < all->count; i++) {
        while (k < count && by_shot(run->shot + k, &all->list[i].shot) < 0) {
            k++;
        }
        fresh += k == count || by_shot(run->shot + k, &all->list[i].shot) != 0;
    }
    return fresh;
}

/* The shots of both; to[k]: where shot k of the table goes. */
static void merge(const sxi_euxfel *run, int64_t count, const frames *all, sxi_train_shot *shots,
                  int64_t *to) {
    int64_t k = 0, i = 0;
    for (int64_t n = 0; k < count || i < all->count; n++) {
        const int order = k == count        ? 1
                          : i == all->count ? -1
                                            : by_shot(run->shot + k, &all->list[i].shot);
        shots[n] = order > 0 ? all->list[i].shot : run->shot[k];
        if (order <= 0) {
            to[k++] = n;
        }
        i += order >= 0;
    }
}

static sxi_train_part *column(int64_t count) {
    sxi_train_part *part = malloc((size_t)(count + 1) * sizeof *part);
    for (int64_t k = 0; part && k < count; k++) {
        part[k] = (sxi_train_part){.file = -1};
    }
    return part;
}

/* Takes the shots of a module into the table, and moves the parts of the modules before it. */
static sx_status widen(sxi_euxfel *run, int module, const frames *all, int64_t *count) {
    const int64_t fresh = count_new(run, *count, all), more = *count + fresh;
    sx_status status = SX_OK;
    if (fresh == 0) {
        return SX_OK;
    }
    sxi_train_shot *shots = malloc((size_t)more * sizeof *shots);
    int64_t *to = malloc((size_t)(*count + 1) * sizeof *to);
    if (!shots || !to) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld shots", (long long)more);
        goto out;
    }
    merge(run, *count, all, shots, to);
    for (int m = 0; m < module; m++) {
        sxi_train_part *moved = column(more);
        if (!moved) {
            status = SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld shots", (long long)more);
            goto out;
        }
        for (int64_t k = 0; k < *count; k++) {
            moved[to[k]] = run->part[m][k];
        }
        free(run->part[m]);
        run->part[m] = moved;
    }
    free(run->shot);
    run->shot = shots;
    shots = NULL;
    *count = more;
out:
    free(shots);
    free(to);
    return status;
}

static sx_status place(sxi_euxfel *run, int module, const frames *all, int64_t count) {
    int64_t k = 0;
    run->part[module] = column(count);
    if (!run->part[module]) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld shots", (long long)count);
    }
    for (int64_t i = 0; i < all->count; i++) {
        while (by_shot(run->shot + k, &all->list[i].shot) != 0) {
            k++;
        }
        run->part[module][k] = all->list[i].part;
    }
    return SX_OK;
}

static sx_status join_module(sxi_euxfel *run, int module, sxi_shots *s, int64_t *twice,
                             int64_t *lost) {
    frames all = {0};
    sx_status status = SX_OK;
    for (int f = 0; f < run->files; f++) {
        if (sxi_euxfel_gives(run, f, module)) {
            SXI_GO(add_file(run, f, module, &all, lost));
        }
    }
    sort_frames(&all, twice);
    SXI_GO(widen(run, module, &all, &s->count));
    SXI_GO(place(run, module, &all, s->count));
out:
    free(all.list);
    return status;
}

/* --- what is to be known of it --- */

/* Values of a train, such as those of a gas monitor, are counted by its pulses, frames have the number of
 * the pulse, which may be every fourth. So pulses are counted by their numbers among those of the run: a
 * frame that was not recorded does not move those behind it. */
static sx_status number_pulses(sxi_euxfel *run, const sxi_shots *s, const sx_context *context) {
    int64_t kinds = 0, uneven = 0;
    const size_t room = (size_t)(s->count + 1);
    sxi_keyed *pulses = malloc(room * sizeof *pulses);
    run->train = malloc(room * sizeof *run->train);
    run->order = malloc(room * sizeof *run->order);
    if (!pulses || !run->train || !run->order) {
        free(pulses);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its pulses", s->path);
    }
    for (int64_t k = 0; k < s->count; k++) {
        run->train[k] = run->shot[k].train;
        pulses[k] = (sxi_keyed){run->shot[k].pulse, k};
    }
    sxi_keyed_sort(pulses, s->count);
    for (int64_t k = 0; k < s->count; k++) {
        kinds += k > 0 && pulses[k].key != pulses[k - 1].key;
        run->order[pulses[k].at] = kinds;
    }
    free(pulses);
    for (int64_t k = 0; k < s->count; k++) {
        const bool begins = k == 0 || run->train[k] != run->train[k - 1];
        uneven += run->order[k] != (begins ? 0 : run->order[k - 1] + 1);
    }
    if (uneven > 0) {
        sx_log(context, SX_LOG_WARNING,
               "%s: trains differ in the pulses that they have frames of (%lld gaps): what has a "
               "value for each pulse of a train is taken as counted by all %lld of the run",
               s->path, (long long)uneven, (long long)kinds + 1);
    }
    return SX_OK;
}

static void find_gaps(const sxi_euxfel *run, sxi_shots *s, const sx_context *context) {
    int64_t missing = 0;
    for (int m = 0; m < run->modules; m++) {
        for (int64_t k = 0; k < s->count; k++) {
            missing += run->part[m][k].file < 0;
        }
    }
    s->gaps = missing > 0;
    if (missing > 0) {
        sx_log(context, SX_LOG_WARNING,
               "%s: of %lld shots with %d modules each, %lld parts were not recorded: they are "
               "missing, not zero",
               s->path, (long long)s->count, run->modules, (long long)missing);
    }
}

sx_status sxi_euxfel_join(sxi_euxfel *run, sxi_shots *s, const sx_context *context) {
    int64_t twice = 0, lost = 0;
    for (int m = 0; m < run->modules; m++) {
        SXI_TRY(join_module(run, m, s, &twice, &lost));
    }
    SXI_TRY(number_pulses(run, s, context));
    free(run->shot);
    run->shot = NULL;
    if (twice > 0) {
        sx_log(context, SX_LOG_WARNING,
               "%s: %lld frames stand for a train, pulse and module that others stand for, too: "
               "the first is taken",
               s->path, (long long)twice);
    }
    if (lost > 0) {
        sx_log(context, SX_LOG_WARNING,
               "%s: the index promises %lld frames that the files do not have: they are missing",
               s->path, (long long)lost);
    }
    find_gaps(run, s, context);
    return SX_OK;
}
