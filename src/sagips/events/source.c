/* SPDX-License-Identifier: Apache-2.0 */
#include "sagips/events/source.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "io/hdf5/h5file.h"
#include "sagips/theory/theory.h"

/* --- a file --- */

static sx_status read_file(const sxi_event_source *source, int64_t first, int64_t n, float *to,
                           const sx_context *context) {
    const int64_t start[2] = {first, 0}, count[2] = {n, source->theory->observables};
    sx_array array;
    SXI_TRY(sx_array_view(SX_F32, 2, count, to, &array));
    const sx_hdf5_box box = {source->data, "/events", start, count, &array};
    const sx_hdf5_options options = {.context = context};
    return sx_hdf5_read(1, &box, &options, NULL);
}

static sx_status find_theory(sx_hdf5 *file, const char *path, const sx_theory **theory) {
    char name[64];
    if (*theory) {
        return SX_OK;
    }
    if (sxi_h5_attribute_text(file, "/events", "problem", name, sizeof name) != SX_OK) {
        return SXI_FAIL(SX_ERR_MISSING, "%s:/events has no attribute 'problem': say --problem NAME",
                        path);
    }
    const sx_status status = sx_theory_find(name, theory);
    return status == SX_OK ? status : sxi_fail_context(status, "%s", path);
}

static sx_status read_norms(sx_hdf5 *file, const char *path, sxi_event_source *source) {
    const int channels = source->theory->channels;
    sx_array norms = {0};
    const sx_dtype real = SX_F64;
    sx_status status = SX_OK;
    if (!sxi_h5_exists(file, "/norms")) {
        return SX_OK;
    }
    SXI_TRY(sxi_h5_read(file, "/norms", &real, &norms));
    if (norms.rank != 1 || norms.shape[0] != channels) {
        status = SXI_FAIL(SX_ERR_SHAPE, "%s:/norms must hold %d numbers, one a channel of %s", path,
                          channels, source->theory->name);
        goto out;
    }
    memcpy(source->norms, norms.data, (size_t)channels * sizeof(double));
    for (int k = 0; k < channels; k++) {
        if (!(source->norms[k] > 0 && isfinite(source->norms[k]))) {
            status = SXI_FAIL(SX_ERR_RANGE, "%s:/norms[%d] is %g, expected a number above 0", path,
                              k, source->norms[k]);
            goto out;
        }
    }
    source->has_norms = true;
out:
    sx_array_destroy(&norms);
    return status;
}

sx_status sxi_events_open(const char *path, const sx_theory *theory, sxi_event_source *source) {
    sx_status status = SX_OK;
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    *source = (sxi_event_source){0};
    SXI_GO(sx_hdf5_open(path, &file));
    SXI_GO(sx_hdf5_describe(file, "/events", &about));
    SXI_GO(find_theory(file, path, &theory));
    if (!about.numeric || about.rank != 2 || about.shape[1] != theory->observables) {
        status = SXI_FAIL(SX_ERR_SHAPE, "%s:/events must be numbers [N, %d]: %s has %d observables",
                          path, theory->observables, theory->name, theory->observables);
        goto out;
    }
    source->theory = theory;
    source->count = about.shape[0];
    if (source->count < 1) {
        status = SXI_FAIL(SX_ERR_SHAPE, "%s:/events is empty", path);
        goto out;
    }
    SXI_GO(read_norms(file, path, source));
    source->has_truth = sxi_h5_attribute_reals(file, "/events", "truth", theory->parameters,
                                               source->truth) == SX_OK;
    source->read = read_file;
    source->data = file;
    file = NULL;
out:
    sx_hdf5_close(&file);
    if (status != SX_OK) {
        *source = (sxi_event_source){0};
    }
    return status;
}

/* --- memory --- */

static sx_status read_view(const sxi_event_source *source, int64_t first, int64_t n, float *to,
                           const sx_context *context) {
    (void)context;
    const int columns = source->theory->observables;
    memcpy(to, (const float *)source->data + first * columns,
           (size_t)(n * columns) * sizeof(float));
    return SX_OK;
}

sx_status sxi_events_view(const sx_array *events, const sx_theory *theory,
                          sxi_event_source *source) {
    *source = (sxi_event_source){0};
    if (events->rank != 2 || events->shape[0] < 1 || events->shape[1] != theory->observables ||
        !sx_array_contiguous(events)) {
        return SXI_FAIL(SX_ERR_SHAPE, "events must be an array [N, %d] in C order",
                        theory->observables);
    }
    if (events->dtype != SX_F32) {
        return SXI_FAIL(SX_ERR_TYPE, "events are %s, expected float32",
                        sx_dtype_name(events->dtype));
    }
    *source = (sxi_event_source){
        .theory = theory, .count = events->shape[0], .read = read_view, .data = events->data};
    return SX_OK;
}

void sxi_events_close(sxi_event_source *source) {
    if (source->read == read_file) {
        sx_hdf5 *file = source->data;
        sx_hdf5_close(&file);
    }
    *source = (sxi_event_source){0};
}
