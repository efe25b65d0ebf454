/* SPDX-License-Identifier: Apache-2.0
 * The delays of a source: unit, sign and order. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* A scale that is given wins, but not silently: a file that says fs read as ps gives frequencies
 * that look well and are wrong. Its negative only turns the axis around. */
static void compare_scales(const sxi_axis *axis, double given, const sx_context *context) {
    double unit = 0;
    if (axis->unit[0] != '\0' && sxi_unit_time(axis->unit, &unit) == SX_OK &&
        !(fabs(fabs(given) - unit) <= 1e-9 * unit)) {
        sx_log(context, SX_LOG_WARNING, "%s says %s (%g ps), --delay-scale %g is used instead",
               axis->where, axis->unit, unit, given);
    }
}

static sx_status scale_of(const sxi_layout_request *request, const sxi_axis *axis, double *scale) {
    if (request->input->delay_scale != 0) {
        *scale = request->input->delay_scale;
        compare_scales(axis, *scale, request->context);
        return SX_OK;
    }
    if (axis->unit[0] != '\0') {
        if (sxi_unit_time(axis->unit, scale) != SX_OK) {
            return SXI_FAIL(SX_ERR_UNIT,
                            "the delays %s are in '%s', which is no unit of time known here; give "
                            "--delay-scale PS_PER_UNIT",
                            axis->where, axis->unit);
        }
        return SX_OK;
    }
    if (axis->default_scale == 0) {
        return SXI_FAIL(SX_ERR_UNIT,
                        "the delays %s carry no unit; give --delay-scale PS_PER_UNIT (1 for ps, "
                        "0.001 for fs, 1e12 for s; negative turns the axis around)",
                        axis->where);
    }
    *scale = axis->default_scale;
    return SX_OK;
}

typedef struct place {
    double delay;
    int64_t index;
} place;

static int by_delay(const void *a, const void *b) {
    const place *first = a;
    const place *second = b;
    if (first->delay != second->delay) {
        return first->delay < second->delay ? -1 : 1;
    }
    return first->index < second->index ? -1 : 1;
}

/* The first two neighbours out of order, as places in the file. */
static sx_status check_increasing(const sxi_axis *axis, int64_t nt, const place *places) {
    for (int64_t t = 1; t < nt; t++) {
        const place *a = &places[t - 1];
        const place *b = &places[t];
        if (b->delay > a->delay) {
            continue;
        }
        if (b->delay == a->delay) {
            return SXI_FAIL(
                SX_ERR_RANGE,
                "the delays %s must differ: index %lld and index %lld both hold %.9g ps",
                axis->where, (long long)a->index, (long long)b->index, b->delay);
        }
        return SXI_FAIL(SX_ERR_RANGE,
                        "the delays %s must increase: index %lld holds %.9g ps, index %lld %.9g ps "
                        "(sort the frames by delay)",
                        axis->where, (long long)a->index, a->delay, (long long)b->index, b->delay);
    }
    return SX_OK;
}

static sx_status arrange(sxi_source *source, const sxi_axis *axis, double scale,
                         const double *stored, place *places) {
    const int64_t nt = source->info.nt;
    bool falling = true;
    for (int64_t t = 0; t < nt; t++) {
        if (!isfinite(stored[t] * scale)) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "the delays %s must be finite: index %lld holds %g, in ps %g",
                            axis->where, (long long)t, stored[t], stored[t] * scale);
        }
        falling = falling && (t == 0 || stored[t] * scale < stored[t - 1] * scale);
    }
    for (int64_t t = 0; t < nt; t++) {
        const int64_t index = scale < 0 && falling ? nt - 1 - t : t;
        places[t] = (place){stored[index] * scale, index};
    }
    if (axis->sort) {
        qsort(places, (size_t)nt, sizeof *places, by_delay);
    }
    SXI_TRY(check_increasing(axis, nt, places));
    bool moved = false;
    for (int64_t t = 0; t < nt; t++) {
        source->delay[t] = places[t].delay;
        source->order[t] = places[t].index;
        moved = moved || places[t].index != t;
    }
    if (!moved) {
        free(source->order);
        source->order = NULL;
    }
    return SX_OK;
}

sx_status sxi_source_axis(sxi_source *source, const sxi_layout_request *request,
                          const sxi_axis *axis, const double *stored) {
    const int64_t nt = source->info.nt;
    double scale = 0;
    SXI_TRY(scale_of(request, axis, &scale));
    place *places = malloc((size_t)nt * sizeof *places);
    source->delay = malloc((size_t)nt * sizeof *source->delay);
    source->order = malloc((size_t)nt * sizeof *source->order);
    sx_status status = SX_OK;
    if (!places || !source->delay || !source->order) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)nt);
    } else {
        status = arrange(source, axis, scale, stored, places);
    }
    free(places);
    return status;
}

sx_status sxi_source_reorder(const sxi_source *source, double *values) {
    const size_t bytes = (size_t)source->info.nt * sizeof *values;
    if (!source->order) {
        return SX_OK;
    }
    double *stored = malloc(bytes);
    if (!stored) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)source->info.nt);
    }
    memcpy(stored, values, bytes);
    for (int64_t t = 0; t < source->info.nt; t++) {
        values[t] = stored[source->order[t]];
    }
    free(stored);
    return SX_OK;
}
