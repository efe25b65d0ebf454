/* SPDX-License-Identifier: Apache-2.0
 * Reading the mappings of a virtual dataset. */
#include "io/hdf5/sources/h5_virtual.h"
#include "io/hdf5/sources/h5_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Places of "%b" in a name of a source. */
static int numbers_in(const char *pattern) {
    int count = 0;
    for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%')) {
        count += at[1] == 'b';
    }
    return count;
}

char *sxi_h5_numbered(const char *pattern, int64_t number) {
    enum { DIGITS = 20 };
    const size_t size = strlen(pattern) + (size_t)numbers_in(pattern) * DIGITS + 1;
    char *text = malloc(size);
    size_t used = 0;
    for (const char *at = pattern; text && *at; at++) {
        if (at[0] == '%' && at[1] == 'b') {
            used += (size_t)snprintf(text + used, size - used, "%lld", (long long)number);
            at++;
        } else {
            text[used++] = *at;
            at += at[0] == '%' && at[1] == '%';
        }
    }
    if (text) {
        text[used] = '\0';
    }
    return text;
}

static void refuse(sxi_h5_mappings *mappings, const char *reason) {
    if (mappings->reason[0] == '\0') {
        snprintf(mappings->reason, sizeof mappings->reason, "%s", reason);
    }
}

static int64_t length_of(hsize_t length) {
    return length < (hsize_t)SXI_H5_ENDLESS ? (int64_t)length : SXI_H5_ENDLESS;
}

/* Bounds of a selection that is no box with regular gaps. */
static void read_bounds(hid_t space, sxi_h5_selection *selection) {
    hsize_t low[H5S_MAX_RANK] = {0};
    hsize_t high[H5S_MAX_RANK] = {0};
    H5Sget_select_bounds(space, low, high);
    for (int d = 0; d < selection->rank; d++) {
        selection->axis[d] =
            sxi_h5_axis_of(length_of(low[d]), 1, 1, length_of(high[d] - low[d] + 1));
    }
}

/* Blocks do not overlap, and places can be reckoned with. */
static bool is_sound(int rank, const hsize_t *start, const hsize_t *stride, const hsize_t *count,
                     const hsize_t *block) {
    for (int d = 0; d < rank; d++) {
        const bool endless = count[d] == H5S_UNLIMITED || block[d] == H5S_UNLIMITED;
        const double steps = endless ? 1 : (double)count[d];
        const double extent = block[d] == H5S_UNLIMITED ? 1 : (double)block[d];
        if (block[d] < 1 || (count[d] > 1 && stride[d] < block[d]) ||
            (double)start[d] + steps * (double)stride[d] + extent > (double)SXI_H5_ENDLESS) {
            return false;
        }
    }
    return true;
}

/* A dataspace of at most SX_MAX_RANK axes as it is selected; its endless axis, or -1. */
static int read_selection(hid_t space, sxi_h5_mappings *mappings, sxi_h5_selection *selection) {
    hsize_t start[H5S_MAX_RANK] = {0};
    hsize_t stride[H5S_MAX_RANK] = {0};
    hsize_t count[H5S_MAX_RANK] = {0};
    hsize_t block[H5S_MAX_RANK] = {0};
    const H5S_sel_type type = H5Sget_select_type(space);
    if (type == H5S_SEL_ALL) {
        H5Sget_simple_extent_dims(space, block, NULL);
        for (int d = 0; d < selection->rank; d++) {
            selection->axis[d] = sxi_h5_axis_of(0, 1, 1, length_of(block[d]));
        }
        return -1;
    }
    if (type == H5S_SEL_NONE) {
        for (int d = 0; d < selection->rank; d++) {
            selection->axis[d] = sxi_h5_axis_of(0, 1, 0, 1);
        }
        return -1;
    }
    if (type != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0 ||
        H5Sget_regular_hyperslab(space, start, stride, count, block) < 0 ||
        !is_sound(selection->rank, start, stride, count, block)) {
        refuse(mappings, "a mapping of the virtual dataset selects no regular box");
        read_bounds(space, selection);
        return -1;
    }
    int endless = -1;
    for (int d = 0; d < selection->rank; d++) {
        if (count[d] == H5S_UNLIMITED || block[d] == H5S_UNLIMITED) {
            endless = d;
        }
        selection->axis[d] = sxi_h5_axis_of(length_of(start[d]), length_of(stride[d]),
                                            length_of(count[d]), length_of(block[d]));
    }
    return endless;
}

/* One source for each block of the endless axis. */
static void read_steps(hid_t space, sxi_h5_mapping *mapping) {
    hsize_t start[H5S_MAX_RANK] = {0};
    hsize_t stride[H5S_MAX_RANK] = {0};
    hsize_t count[H5S_MAX_RANK] = {0};
    hsize_t block[H5S_MAX_RANK] = {0};
    H5Sget_regular_hyperslab(space, start, stride, count, block);
    const int d = mapping->endless;
    mapping->numbered = true;
    mapping->step = length_of(stride[d]);
    mapping->target.axis[d] = sxi_h5_axis_of(length_of(start[d]), 1, 1, length_of(block[d]));
}

/* Whether both sides fit each other, as far as that can be told before a source is opened. */
static void judge(sxi_h5_mappings *mappings, const sxi_h5_mapping *mapping, int source_endless) {
    sxi_h5_pair pair[2 * SX_MAX_RANK];
    const bool limited = mapping->endless < 0 || mapping->numbered;
    if (limited != (source_endless < 0) ||
        (!mapping->all && sxi_h5_pair_axes(&mapping->target, &mapping->source, pair) < 0)) {
        refuse(mappings, "a mapping of the virtual dataset changes the shape");
    }
}

static int64_t elements_of(const sxi_h5_mapping *mapping) {
    int64_t shape[SX_MAX_RANK];
    for (int d = 0; d < mapping->target.rank; d++) {
        shape[d] = mapping->target.axis[d].length;
    }
    return sxi_h5_elements(mapping->target.rank, shape);
}

static sx_status read_spaces(sxi_h5_mappings *mappings, sxi_h5_mapping *mapping, hid_t target,
                             hid_t source) {
    mapping->target.rank = H5Sget_simple_extent_ndims(target);
    mapping->source.rank = H5Sget_simple_extent_ndims(source);
    if (mapping->target.rank < 0 || mapping->target.rank > SX_MAX_RANK) {
        return SXI_FAIL(SX_ERR_FORMAT, "a mapping has %d axes", mapping->target.rank);
    }
    mapping->all = H5Sget_select_type(source) == H5S_SEL_ALL;
    mapping->endless = read_selection(target, mappings, &mapping->target);
    int source_endless = -1;
    if (mapping->source.rank < 0 || mapping->source.rank > SX_MAX_RANK) {
        mapping->source.rank = 0;
        mapping->all = true;
        refuse(mappings, "a source of the virtual dataset has too many axes");
    } else if (!mapping->all) {
        source_endless = read_selection(source, mappings, &mapping->source);
    }
    if (mapping->endless >= 0 && (numbers_in(mapping->file) || numbers_in(mapping->name))) {
        read_steps(target, mapping);
    }
    mapping->elements = mapping->endless < 0 || mapping->numbered ? elements_of(mapping) : -1;
    judge(mappings, mapping, source_endless);
    return SX_OK;
}

/* A text that HDF5 hands out in two calls; NULL without memory. */
static char *name_of(hid_t created, size_t i,
                     ssize_t (*get)(hid_t created, size_t i, char *name, size_t size)) {
    const ssize_t length = get(created, i, NULL, 0);
    char *name = length < 0 ? NULL : malloc((size_t)length + 1);
    if (name) {
        get(created, i, name, (size_t)length + 1);
    }
    return name;
}

static sx_status read_mapping(hid_t created, size_t i, sxi_h5_mappings *mappings) {
    sxi_h5_mapping *mapping = &mappings->mapping[i];
    mapping->file = name_of(created, i, H5Pget_virtual_filename);
    mapping->name = name_of(created, i, H5Pget_virtual_dsetname);
    if (!mapping->file || !mapping->name) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for its mappings");
    }
    hid_t target = H5Pget_virtual_vspace(created, i);
    hid_t source = H5Pget_virtual_srcspace(created, i);
    sx_status status = target < 0 || source < 0
                           ? SXI_FAIL(SX_ERR_FORMAT, "mapping %zu cannot be read", i)
                           : read_spaces(mappings, mapping, target, source);
    if (target >= 0) {
        H5Sclose(target);
    }
    if (source >= 0) {
        H5Sclose(source);
    }
    return status;
}

/* All that a mapping may ever reach. */
static sxi_h5_axis reach(const sxi_h5_mapping *mapping, int d) {
    const sxi_h5_axis *axis = &mapping->target.axis[d];
    return mapping->numbered && d == mapping->endless
               ? sxi_h5_axis_of(axis->start, mapping->step, SXI_H5_ENDLESS, axis->length)
               : *axis;
}

static bool mappings_meet(const sxi_h5_mapping *a, const sxi_h5_mapping *b) {
    for (int d = 0; d < a->target.rank; d++) {
        const sxi_h5_axis of_a = reach(a, d);
        const sxi_h5_axis of_b = reach(b, d);
        if (!sxi_h5_axes_meet(&of_a, &of_b)) {
            return false;
        }
    }
    return true;
}

/* Bounds of a mapping along the axis by which mappings are told apart best. */
typedef struct span {
    int64_t low, high;
    size_t i;
} span;

static int by_low(const void *a, const void *b) {
    const int64_t one = ((const span *)a)->low;
    const int64_t other = ((const span *)b)->low;
    return (one > other) - (one < other);
}

static void fill_spans(const sxi_h5_mappings *mappings, int d, span *spans) {
    for (size_t i = 0; i < mappings->count; i++) {
        const sxi_h5_axis axis = reach(&mappings->mapping[i], d);
        const bool endless = axis.length >= SXI_H5_ENDLESS;
        spans[i] = (span){axis.start,
                          endless            ? SXI_H5_ENDLESS
                          : axis.length == 0 ? axis.start - 1
                                             : sxi_h5_axis_at(&axis, axis.length - 1),
                          i};
    }
}

/* Part of the whole that a mapping spans along an axis, on average. */
static double crowding(const sxi_h5_mappings *mappings, const sx_hdf5_dataset *about, int d,
                       span *spans) {
    double sum = 0;
    fill_spans(mappings, d, spans);
    for (size_t i = 0; i < mappings->count; i++) {
        const double high = (double)spans[i].high;
        const double end = (double)about->shape[d];
        sum += (high < end ? high : end) - (double)spans[i].low + 1;
    }
    return sum / ((double)about->shape[d] + 1);
}

/* Where mappings meet each other the last one counts. That order is kept by HDF5 only. */
static sx_status judge_overlap(sxi_h5_mappings *mappings, const sx_hdf5_dataset *about) {
    if (mappings->count < 2) {
        return SX_OK;
    }
    span *spans = malloc(mappings->count * sizeof *spans);
    if (!spans) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for its mappings");
    }
    int axis = 0;
    for (int d = 1; d < about->rank; d++) {
        if (crowding(mappings, about, d, spans) < crowding(mappings, about, axis, spans)) {
            axis = d;
        }
    }
    fill_spans(mappings, axis, spans);
    qsort(spans, mappings->count, sizeof *spans, by_low);
    for (size_t i = 0; i < mappings->count && mappings->reason[0] == '\0'; i++) {
        for (size_t j = i + 1; j < mappings->count && spans[j].low <= spans[i].high; j++) {
            if (mappings_meet(&mappings->mapping[spans[i].i], &mappings->mapping[spans[j].i])) {
                refuse(mappings, "mappings of the virtual dataset overlap");
                break;
            }
        }
    }
    free(spans);
    return SX_OK;
}

/* How many sources of a numbered mapping there are, as HDF5 counts them when it opens the dataset:
 * up to the first that is not there. Where another mapping goes further, the rest is empty. */
static sx_status count_series(sx_hdf5 *file, const sxi_h5_entry *entry, sxi_h5_mapping *mapping) {
    int64_t first = 0;
    int64_t end = 0;
    const int64_t origin[SX_MAX_RANK] = {0};
    mapping->series = 0;
    sxi_h5_mapping_meets(mapping, origin, entry->about.shape, &first, &end);
    for (bool found = true; found && mapping->series < end;) {
        char *source = sxi_h5_numbered(mapping->file, mapping->series);
        char *name = sxi_h5_numbered(mapping->name, mapping->series);
        sx_status status = source && name ? SX_OK : SX_ERR_MEMORY;
        found = status == SX_OK && sxi_h5_source_exists(file, source, name);
        free(source);
        free(name);
        if (status != SX_OK) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for its mappings");
        }
        mapping->series += found;
    }
    return SX_OK;
}

static sx_status read_all(sx_hdf5 *file, const sxi_h5_entry *entry, hid_t created,
                          sxi_h5_mappings *mappings) {
    if (H5Pget_virtual_count(created, &mappings->count) < 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "its mappings cannot be read");
    }
    mappings->mapping = calloc(mappings->count + 1, sizeof *mappings->mapping);
    if (!mappings->mapping) {
        mappings->count = 0;
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for its mappings");
    }
    for (size_t i = 0; i < mappings->count; i++) {
        SXI_TRY(read_mapping(created, i, mappings));
        if (mappings->mapping[i].target.rank != entry->about.rank) {
            return SXI_FAIL(SX_ERR_FORMAT, "mapping %zu has %d axes, the dataset %d", i,
                            mappings->mapping[i].target.rank, entry->about.rank);
        }
        if (mappings->mapping[i].numbered) {
            SXI_TRY(count_series(file, entry, &mappings->mapping[i]));
        }
    }
    if (entry->about.rank == 0) {
        refuse(mappings, "the virtual dataset has no axes");
    }
    return judge_overlap(mappings, &entry->about);
}

sx_status sxi_h5_mappings_get(sx_hdf5 *file, sxi_h5_entry *entry, sxi_h5_mappings **mappings) {
    if (entry->mappings) {
        *mappings = entry->mappings;
        return SX_OK;
    }
    sxi_h5_mappings *read = calloc(1, sizeof *read);
    if (!read) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s:%s: no memory for its mappings", file->path,
                        entry->name);
    }
    hid_t created = H5Dget_create_plist(entry->id);
    sx_status status = read_all(file, entry, created, read);
    H5Pclose(created);
    if (status != SX_OK) {
        sxi_h5_mappings_free(&read);
        return sxi_fail_context(status, "%s:%s is a virtual dataset", file->path, entry->name);
    }
    entry->mappings = read;
    *mappings = read;
    return SX_OK;
}

sx_status sxi_h5_mappings_refresh(sx_hdf5 *file, sxi_h5_entry *entry) {
    for (size_t i = 0; i < entry->mappings->count; i++) {
        if (entry->mappings->mapping[i].numbered) {
            SXI_TRY(count_series(file, entry, &entry->mappings->mapping[i]));
        }
    }
    return SX_OK;
}

void sxi_h5_mappings_free(sxi_h5_mappings **mappings) {
    if (!*mappings) {
        return;
    }
    for (size_t i = 0; i < (*mappings)->count; i++) {
        free((*mappings)->mapping[i].file);
        free((*mappings)->mapping[i].name);
    }
    free((*mappings)->mapping);
    free(*mappings);
    *mappings = NULL;
}

bool sxi_h5_mapping_meets(const sxi_h5_mapping *mapping, const int64_t *start, const int64_t *count,
                          int64_t *first, int64_t *end) {
    *first = 0;
    *end = 1;
    for (int d = 0; d < mapping->target.rank; d++) {
        const sxi_h5_axis *axis = &mapping->target.axis[d];
        const int64_t low = start[d];
        const int64_t high = start[d] + count[d];
        if (mapping->numbered && d == mapping->endless) {
            /* Source j fills [axis->start + j * step, ... + length). */
            const int64_t tail = low - axis->start - axis->length;
            *first = tail < 0 ? 0 : tail / mapping->step + 1;
            *end = high <= axis->start ? 0 : (high - 1 - axis->start) / mapping->step + 1;
            if (*first >= *end) {
                return false;
            }
        } else if (sxi_h5_axis_below(axis, high) <= sxi_h5_axis_below(axis, low)) {
            return false;
        }
    }
    return true;
}
