/* SPDX-License-Identifier: Apache-2.0
 * The quantities of shots beside their frames: read, looked up by key, and filled in for readers whose
 * facility gives them by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "io/facility/facility.h"
#include "io/hdf5/h5file.h"

/* Of a table: 2 GB as F64. A week at 120 shots a second has 7e7. */
static const int64_t VALUES_MOST = (int64_t)1 << 28;

sx_status sxi_shot_values(sx_hdf5 *file, const char *name, int64_t element, sx_dtype as,
                          sx_array *values) {
    sx_hdf5_dataset about;
    int64_t count = 1;
    *values = (sx_array){0};
    SXI_TRY(sx_hdf5_describe(file, name, &about));
    const bool one = element >= 0;
    if (one && (about.rank != 2 || element >= about.shape[1])) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has no element %lld in each row: it has %d axes%s",
                        sx_hdf5_path_of(file), name, (long long)element, about.rank,
                        about.rank == 2 ? ", of which the second is shorter" : "");
    }
    for (int d = 0; d < (one ? 1 : about.rank); d++) {
        if (about.shape[d] > 0 && count > VALUES_MOST / about.shape[d]) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "%s:%s claims more than %lld values, too many for quantities of shots: "
                            "is the file damaged, or is it an image?",
                            sx_hdf5_path_of(file), name, (long long)VALUES_MOST);
        }
        count *= about.shape[d];
    }
    SXI_TRY(sxi_h5_check_written(file, name));
    if (!one) {
        return sxi_h5_read(file, name, &as, values);
    }
    const int64_t start[] = {0, element}, size[] = {about.shape[0], 1};
    SXI_TRY(sx_array_create(as, 2, size, values));
    const sx_status status = sxi_h5_read_box(file, name, start, size, values);
    if (status != SX_OK) {
        sx_array_destroy(values);
    }
    return status;
}

/* --- keys --- */

static int by_key(const void *a, const void *b) {
    const sxi_keyed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key ? 1 : -1) : (x->at > y->at) - (x->at < y->at);
}

void sxi_keyed_sort(sxi_keyed *list, int64_t count) {
    int64_t k = 1;
    while (k < count && by_key(list + k - 1, list + k) <= 0) {
        k++;
    }
    if (k < count) {
        qsort(list, (size_t)count, sizeof *list, by_key);
    }
}

const sxi_keyed *sxi_keyed_find(const sxi_keyed *list, int64_t count, uint64_t key) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t half = low + (high - low) / 2;
        if (list[half].key < key) {
            low = half + 1;
        } else {
            high = half;
        }
    }
    return low < count && list[low].key == key ? list + low : NULL;
}

/* --- what is asked for by name --- */

static sx_status need(const sxi_shots *s, const sxi_shot_table *t, const char *what,
                      const char *option, const char *name, double **column) {
    if (!name) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: the %s has no usual name there, so say which it is: %s %s", s->path,
                        what, option, t->naming);
    }
    return t->column(s, name, column);
}

static sx_status fill_laser(sxi_shots *s, const sxi_shot_fields *f, const sxi_shot_table *t) {
    if (!f->laser_pattern) {
        return need(s, t, "laser code", "--laser-pattern 10 or --laser", f->laser, &s->laser);
    }
    SXI_TRY(sxi_shot_column(s, &s->laser));
    for (int64_t k = 0; k < s->count; k++) {
        s->laser[k] = sxi_shot_pattern(f->laser_pattern, t->train ? t->train[k] : 0,
                                       t->order ? t->order[k] : k);
    }
    return SX_OK;
}

static sx_status fill_delay(sxi_shots *s, const sxi_shot_fields *f, const sxi_shot_table *t) {
    char name[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME];
    int64_t element;
    sx_hdf5 *file;
    double scale = f->delay_scale;
    SXI_TRY(need(s, t, "delay", "--delay", f->delay, &s->delay_ps));
    SXI_TRY(sxi_shot_element(f->delay, name, &element));
    if (s->facility->find(s, name, 0, &file, dataset)) {
        SXI_TRY(sxi_shot_delay_unit(f, file, dataset, &scale));
    }
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

static sx_status fill_tool(sxi_shots *s, const sxi_shot_fields *f, const sxi_shot_table *t) {
    if (f->no_time_tool) {
        return SX_OK;
    }
    if (f->time_tool) {
        SXI_TRY(t->column(s, f->time_tool, &s->tool_ps));
        snprintf(s->tool_name, sizeof s->tool_name, "%s", f->time_tool);
    }
    if (f->time_tool_amplitude) {
        SXI_TRY(t->column(s, f->time_tool_amplitude, &s->tool_amplitude));
    }
    return f->time_tool_width ? t->column(s, f->time_tool_width, &s->tool_width) : SX_OK;
}

sx_status sxi_shot_fill(sxi_shots *s, const sxi_shot_fields *f, const sxi_shot_table *t) {
    const char *i0 = f->i0 ? f->i0 : t->i0;
    SXI_TRY(sxi_shot_some(s));
    SXI_TRY(need(s, t, "intensity monitor", "--i0", i0, &s->i0));
    snprintf(s->i0_name, sizeof s->i0_name, "%s", i0);
    SXI_TRY(fill_laser(s, f, t));
    if (f->xray) {
        SXI_TRY(t->column(s, f->xray, &s->xray));
    }
    SXI_TRY(fill_delay(s, f, t));
    SXI_TRY(fill_tool(s, f, t));
    return f->time ? t->column(s, f->time, &s->time) : SX_OK;
}
