/* SPDX-License-Identifier: Apache-2.0 */
#include "io/facility/shots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/facility/facility.h"
#include "io/hdf5/h5file.h"

/* The first that knows a path takes it; smalldata takes what nobody else does. */
static const sxi_facility *const facilities[] = {&sxi_facility_euxfel, &sxi_facility_swissfel,
                                                 &sxi_facility_nexus, &sxi_facility_smalldata};
enum { COUNT = sizeof facilities / sizeof facilities[0] };

static const sxi_facility *facility_of(const char *path) {
    for (int i = 0; i < COUNT; i++) {
        if (facilities[i]->holds(path)) {
            return facilities[i];
        }
    }
    return NULL;
}

int sxi_shots_joined(int count, const char *const *paths) {
    const sxi_facility *facility = facility_of(paths[0]);
    int n = 1;
    while (n < count && facility && facility->joins && facility_of(paths[n]) == facility &&
           facility->joins(paths[0], paths[n])) {
        n++;
    }
    return n;
}

sx_status sxi_shots_open(int count, const char *const *paths, const sxi_shot_fields *fields,
                         const sx_context *context, sxi_shots *s) {
    const char *path = paths[0];
    sx_status status = SX_OK;
    *s = (sxi_shots){.together = 1};
    for (int i = 0; i < count; i++) {
        if (access(paths[i], F_OK) != 0) {
            return SXI_FAIL(SX_ERR_IO, "%s: no such file or folder", paths[i]);
        }
    }
    if (fields->laser_pattern) {
        SXI_TRY(sxi_shot_pattern_check(fields->laser_pattern));
    }
    s->facility = facility_of(path);
    if (!s->facility) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s is a folder without a run: files of European XFEL (RAW-R..., "
                        "CORR-R...) or of SwissFEL (NAME.BSREAD.h5, NAME.JF....h5) are looked for "
                        "there",
                        path);
    }
    s->path = strdup(path);
    if (!s->path) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", path);
    }
    SXI_GO(s->facility->open(count, paths, fields, context, s));
out:
    if (status != SX_OK) {
        sxi_shots_close(s);
    }
    return status;
}

void sxi_shots_close(sxi_shots *s) {
    double *const columns[] = {s->i0,         s->delay_ps, s->laser,
                               s->xray,       s->tool_ps,  s->tool_amplitude,
                               s->tool_width, s->time,     s->good};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        free(columns[i]);
    }
    if (s->facility && s->data) {
        s->facility->close(s->data);
    }
    free(s->mask);
    free(s->path);
    *s = (sxi_shots){0};
}

/* The values of an element of each row, or all of them. */
static void add_values(const sx_array *values, int64_t element, double *sum, int64_t *n) {
    const int64_t all = sx_array_count(values);
    const int64_t row = values->rank > 1 && values->shape[0] > 0 ? all / values->shape[0] : 1;
    for (int64_t k = 0; k < all; k++) {
        const double value = sxi_shot_value(((const double *)values->data)[k]);
        if (!isnan(value) && (element < 0 || k % row == element)) {
            *sum += value;
            ++*n;
        }
    }
}

sx_status sxi_shots_mean(const sxi_shots *s, const char *name, double *mean) {
    const sx_dtype real = SX_F64;
    char plain[SXI_SHOT_NAME], dataset[SXI_SHOT_NAME];
    int64_t element, n = 0;
    double sum = 0;
    sx_hdf5 *file;
    int turn = 0;
    SXI_TRY(sxi_shot_element(name, plain, &element));
    for (; s->facility->find(s, plain, turn, &file, dataset); turn++) {
        sx_array values = {0};
        SXI_TRY(sxi_h5_read(file, dataset, &real, &values));
        add_values(&values, element, &sum, &n);
        sx_array_destroy(&values);
    }
    if (turn == 0) {
        return SXI_FAIL(SX_ERR_MISSING, "%s holds no %s", s->path, plain);
    }
    *mean = sum / (double)n;
    return SX_OK;
}
