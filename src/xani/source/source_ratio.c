/* SPDX-License-Identifier: Apache-2.0
 * Laser-on over pooled laser-off:
 *
 *   y(t, p) = on(t, p) / (n(t) i(t)) / (sum off(., p) / sum n / i) - 1
 *
 * with n shots and i the mean of the monitor over them. Sums divide sums: the mean of ratios would
 * be biased by faint shots. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB_BYTES = 8 << 20 };

void sxi_side_free(sxi_side *side) {
    free(side->shots);
    free(side->monitor);
    free(side->monitor_shots);
    free(side->delay);
    *side = (sxi_side){0};
}

static bool usable(const sxi_side *side, int64_t t) {
    return side->shots[t] > 0 && isfinite(side->shots[t]) &&
           (!side->monitor ||
            (side->monitor[t] > 0 && isfinite(side->monitor[t]) && side->monitor_shots[t] > 0));
}

/* Frames and rows that are read at once: whole chunks of both. */
typedef struct slab {
    int64_t frames, rows;
} slab;

static slab slab_of(const sxi_source *source, const sxi_stack *frames) {
    const int64_t chunk = frames->about.chunk[0];
    const int64_t unit = source->info.chunk_rows;
    slab size = {.frames = chunk > 0 ? chunk : 1};
    size.frames = size.frames < frames->about.shape[0] ? size.frames : frames->about.shape[0];
    const int64_t row_bytes = size.frames * source->info.width * (int64_t)sizeof(double);
    size.rows = SLAB_BYTES / row_bytes / unit * unit;
    size.rows = size.rows > unit ? size.rows : unit;
    size.rows = size.rows < source->info.rows ? size.rows : source->info.rows;
    return size;
}

/* Adds the usable frames first .. first + n - 1 of some rows to sum and shots; NaN is left out. */
static void add_slab(const sxi_side *side, const sx_array *frames, int64_t first, double *sum,
                     double *shots) {
    const int64_t pixels = frames->shape[1] * frames->shape[2];
    for (int64_t i = 0; i < frames->shape[0]; i++) {
        if (!usable(side, first + i)) {
            continue;
        }
        const double *value = (const double *)frames->data + i * frames->stride[0];
        for (int64_t p = 0; p < pixels; p++) {
            if (!isnan(value[p])) {
                sum[p] += value[p];
                shots[p] += side->shots[first + i];
            }
        }
    }
}

/* Sum of all usable frames, and shots in it, per pixel. */
static sx_status pool(const sxi_source *source, const sxi_side *side, double *sum, double *shots) {
    const int64_t nt = side->frames.about.shape[0];
    const int64_t width = source->info.width;
    const slab size = slab_of(source, &side->frames);
    const int64_t shape[] = {size.frames, size.rows, width};
    sx_array buffer = {0};
    SXI_TRY(sx_array_create(SX_F64, 3, shape, &buffer));
    sx_status status = SX_OK;
    for (int64_t first = 0; first < nt; first += size.frames) {
        const int64_t n = nt - first < size.frames ? nt - first : size.frames;
        for (int64_t row = 0; row < source->info.rows; row += size.rows) {
            const int64_t rows =
                source->info.rows - row < size.rows ? source->info.rows - row : size.rows;
            const int64_t part[] = {n, rows, width};
            sx_array view;
            SXI_GO(sx_array_view(SX_F64, 3, part, buffer.data, &view));
            SXI_GO(sxi_stack_read(&side->frames, first, n, row, rows, &view));
            add_slab(side, &view, first, sum + row * width, shots + row * width);
        }
    }
out:
    sx_array_destroy(&buffer);
    return status;
}

/* Mean of the monitor per shot over usable bins; 1 without a monitor. */
static double pooled_monitor(const sxi_side *side, int64_t nt, double *shots, int64_t *bins) {
    double monitor = 0;
    double monitor_shots = 0;
    *shots = 0;
    *bins = 0;
    for (int64_t t = 0; t < nt; t++) {
        if (usable(side, t)) {
            *shots += side->shots[t];
            ++*bins;
            monitor += side->monitor ? side->monitor[t] : 0;
            monitor_shots += side->monitor ? side->monitor_shots[t] : 0;
        }
    }
    return side->monitor ? monitor / monitor_shots : 1;
}

static sx_status pooled_off(sxi_source *source, const sxi_side *side, const sx_context *context) {
    const int64_t pixels = source->info.rows * source->info.width;
    const int64_t nt = side->frames.about.shape[0];
    double total = 0;
    int64_t bins = 0;
    const double monitor = pooled_monitor(side, nt, &total, &bins);
    if (bins == 0) {
        return SXI_FAIL(SX_ERR_RANGE, "%s:%s: no laser-off bin has shots and I0",
                        sx_hdf5_path_of(side->frames.file), side->frames.name);
    }
    double *shots = calloc((size_t)pixels, sizeof *shots);
    source->off = calloc((size_t)pixels, sizeof *source->off);
    if (!source->mask) {
        source->mask = calloc((size_t)pixels, sizeof *source->mask);
    }
    sx_status status = SX_OK;
    if (!shots || !source->off || !source->mask) {
        status =
            SXI_FAIL(SX_ERR_MEMORY, "no memory for an off image of %lld pixels", (long long)pixels);
        goto out;
    }
    SXI_GO(pool(source, side, source->off, shots));
    int64_t dark = 0;
    for (int64_t p = 0; p < pixels; p++) {
        source->off[p] = source->off[p] / shots[p] / monitor;
        if (!(source->off[p] > 0) || !isfinite(source->off[p])) {
            dark += source->mask[p] == 0;
            source->mask[p] |= 1;
        }
    }
    sx_log(context, SX_LOG_INFO,
           "off image pooled over %lld of %lld bins, %.0f shots; %lld pixels without off "
           "intensity are masked",
           (long long)bins, (long long)nt, total, (long long)dark);
out:
    free(shots);
    return status;
}

sx_status sxi_source_sides(sxi_source *source, const sxi_layout_request *request,
                           sxi_sides_fn open) {
    sxi_side on = {0};
    sxi_side off = {0};
    sx_status status = open(source, request, &on, &off);
    sxi_side_free(&on);
    sxi_side_free(&off);
    return status;
}

sx_status sxi_source_ratio(sxi_source *source, const sxi_side *on, const sxi_side *off,
                           const sx_context *context) {
    const int64_t nt = source->info.nt;
    source->scale = malloc((size_t)nt * sizeof *source->scale);
    source->weight = malloc((size_t)nt * sizeof *source->weight);
    source->empty = malloc((size_t)nt * sizeof *source->empty);
    if (!source->scale || !source->weight || !source->empty) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)nt);
    }
    int64_t empty = 0;
    for (int64_t t = 0; t < nt; t++) {
        const int64_t bin = source->order ? source->order[t] : t;
        const bool used = usable(on, bin);
        const double monitor = used && on->monitor ? on->monitor[bin] / on->monitor_shots[bin] : 1;
        source->empty[t] = !used;
        source->weight[t] = used ? on->shots[bin] : 0;
        source->scale[t] = used ? 1 / (on->shots[bin] * monitor) : 0;
        empty += !used;
    }
    if (empty == nt) {
        return SXI_FAIL(SX_ERR_RANGE, "%s:%s: no laser-on bin has shots and I0",
                        sx_hdf5_path_of(on->frames.file), on->frames.name);
    }
    if (empty > 0) {
        sx_log(context, SX_LOG_INFO, "%lld of %lld laser-on bins have no shots and are left out",
               (long long)empty, (long long)nt);
    }
    return pooled_off(source, off, context);
}

/* Equal but for the last digits of a float, or a thousandth of the spacing. */
static bool same_delay(double a, double b, double spacing) {
    const double digits = 4 * 1.2e-7 * fabs(b);
    const double part = 1e-3 * spacing;
    return fabs(a - b) <= (digits > part ? digits : part);
}

sx_status sxi_source_same_shape(const sxi_side *on, const sxi_side *off, bool bins) {
    const sx_hdf5_dataset *a = &on->frames.about;
    const sx_hdf5_dataset *b = &off->frames.about;
    char first[80];
    char second[80];
    bool same = a->rank == b->rank;
    for (int d = bins ? 0 : 1; same && d < a->rank; d++) {
        same = a->shape[d] == b->shape[d];
    }
    if (!same) {
        return SXI_FAIL(SX_ERR_SHAPE, "on and off differ in shape: %s:%s is %s, %s:%s is %s",
                        sx_hdf5_path_of(on->frames.file), on->frames.name,
                        sxi_shape_text(a->rank, a->shape, first, sizeof first),
                        sx_hdf5_path_of(off->frames.file), off->frames.name,
                        sxi_shape_text(b->rank, b->shape, second, sizeof second));
    }
    const int64_t nt = a->shape[0];
    const double spacing =
        on->delay && nt > 1 ? fabs(on->delay[nt - 1] - on->delay[0]) / (double)(nt - 1) : 0;
    for (int64_t t = 0; bins && on->delay && off->delay && t < nt; t++) {
        if (!same_delay(on->delay[t], off->delay[t], spacing)) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "on and off have other delays: at index %lld %s holds %.9g, %s %.9g",
                            (long long)t, sx_hdf5_path_of(on->frames.file), on->delay[t],
                            sx_hdf5_path_of(off->frames.file), off->delay[t]);
        }
    }
    return SX_OK;
}
