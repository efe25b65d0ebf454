/* SPDX-License-Identifier: Apache-2.0
 * From sums to a cube. Letters as in docs/theory/reduce.md: x a pixel, w = I0 - offset. */
#include "xani/reduce/reducer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Sums of a pixel over the shots of a slot in which it has a value. */
typedef struct sums {
    double n, w, ww, x, xx, xw;
} sums;

static sums sums_of(const sx_reducer *r, const sxi_slot *slot, double offset, int64_t p) {
    const double s = r->scale;
    const double s0 = r->i0_scale;
    int64_t n = slot->n, i = slot->i, ii = slot->ii;
    if (slot->lost[0]) {
        n -= slot->lost[SXI_LOST_N][p];
        i -= slot->lost[SXI_LOST_I][p];
        ii -= slot->lost[SXI_LOST_II][p];
    }
    sums a = {.n = (double)n,
              .w = (double)i * SXI_QUANTUM_I0 * s0,
              .ww = (double)ii * SXI_QUANTUM_2 * s0 * s0,
              .x = (double)slot->sum[SXI_X][p] * SXI_QUANTUM_X * s,
              .xx = (double)slot->sum[SXI_XX][p] * SXI_QUANTUM_2 * s * s,
              .xw = (double)slot->sum[SXI_XI][p] * SXI_QUANTUM_2 * s * s0};
    a.ww += offset * (a.n * offset - 2 * a.w);
    a.w -= a.n * offset;
    a.xw -= offset * a.x;
    return a;
}

/* Sum of (x - R w)^2 with R = sum x / sum w. */
static double scatter(const sums *a) {
    const double ratio = a->x / a->w;
    const double s = a->xx - 2 * ratio * a->xw + ratio * ratio * a->ww;
    return s > 0 ? s : 0;
}

static bool has_ratio(const sums *a) { return a->n > 0 && a->w > 0; }

/* --- the offset of I0 --- */

/* The line of the total of a frame against I0, over all shots of the off side. */
static sx_status fit_offset(const sx_reducer *r, double *offset) {
    const double s0 = r->i0_scale;
    double n = 0, i = 0, ii = 0, x = 0, xi = 0;
    for (int64_t s = r->bins; s < r->slots; s++) {
        const sxi_slot *slot = &r->slot[s];
        n += (double)slot->n;
        i += (double)slot->i * SXI_QUANTUM_I0 * s0;
        ii += (double)slot->ii * SXI_QUANTUM_2 * s0 * s0;
        for (int64_t p = 0; p < r->pixels; p++) {
            x += (double)slot->sum[SXI_X][p] * SXI_QUANTUM_X * r->scale;
            xi += (double)slot->sum[SXI_XI][p] * SXI_QUANTUM_2 * r->scale * s0;
        }
    }
    const double spread = ii / n - i / n * (i / n);
    const double slope = (xi / n - x / n * (i / n)) / spread;
    const double found = i / n - x / n / slope;
    if (!(n >= 3 && spread > 1e-9 * ii / n && slope > 0 && isfinite(found))) {
        return SXI_FAIL(SX_ERR_NUMERIC,
                        "the offset of I0 cannot be found: over %.0f laser-off shots the frames do "
                        "not grow with I0; give --i0-offset, or choose another monitor",
                        n);
    }
    *offset = found;
    return SX_OK;
}

/* --- what is needed of the whole run --- */

static int64_t off_shots(const sx_reducer *r) {
    int64_t n = 0;
    for (int64_t s = r->bins; s < r->slots; s++) {
        n += r->slot[s].n;
    }
    return n;
}

/* The variance of one shot, from the scatter within every bin. */
static sx_status pool_variance(sxi_reduction *m) {
    const sx_reducer *r = m->reducer;
    m->variance = calloc((size_t)r->pixels, sizeof *m->variance);
    double *freedom = calloc((size_t)r->pixels, sizeof *freedom);
    if (!m->variance || !freedom) {
        free(freedom);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the noise of %lld pixels",
                        (long long)r->pixels);
    }
    for (int64_t b = 0; b < r->bins; b++) {
        for (int64_t p = 0; r->slot[b].n > 1 && p < r->pixels; p++) {
            const sums a = sums_of(r, &r->slot[b], m->offset, p);
            if (has_ratio(&a) && a.n > 1) {
                m->variance[p] += scatter(&a);
                freedom[p] += a.n - 1;
            }
        }
    }
    for (int64_t p = 0; p < r->pixels; p++) {
        m->variance[p] /= freedom[p]; /* NaN without shots */
    }
    free(freedom);
    return SX_OK;
}

sx_status sxi_reduction_open(const sx_reducer *reducer, const sx_cube_options *options,
                             sxi_reduction *reduction) {
    static const sx_cube_options defaults;
    const sx_cube_options *o = options ? options : &defaults;
    *reduction = (sxi_reduction){.reducer = reducer, .offset = o->i0_offset, .sigma = o->sigma};
    if (off_shots(reducer) == 0) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "there is no laser-off shot to compare with: check which of the shots are "
                        "taken for laser off");
    }
    if (!isfinite(o->i0_offset)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "the offset of I0 is not finite");
    }
    if (o->fit_i0_offset) {
        SXI_TRY(fit_offset(reducer, &reduction->offset));
    }
    return reduction->sigma == SX_REDUCE_SIGMA_POOLED ? pool_variance(reduction) : SX_OK;
}

void sxi_reduction_close(sxi_reduction *reduction) {
    free(reduction->variance);
    reduction->variance = NULL;
}

/* --- a bin, and the off image --- */

/* Variance of sum x / sum w. */
static double ratio_variance(const sxi_reduction *m, const sums *a, int64_t p, bool pooled) {
    const double shot = pooled && m->variance ? m->variance[p]
                        : a->n > 1            ? scatter(a) / (a->n - 1)
                                              : (double)NAN;
    return a->n * shot / (a->w * a->w);
}

void sxi_reduction_bin(const sxi_reduction *reduction, int64_t bin, float *signal, float *sigma) {
    const sx_reducer *r = reduction->reducer;
    const bool binned = r->off == SX_REDUCE_OFF_BINNED;
    const sxi_slot *off_slot = &r->slot[r->bins + (binned ? bin : 0)];
    for (int64_t p = 0; p < r->pixels; p++) {
        const sums on = sums_of(r, &r->slot[bin], reduction->offset, p);
        const sums off = sums_of(r, off_slot, reduction->offset, p);
        signal[p] = sigma[p] = NAN;
        if (r->mask[p] || !has_ratio(&on) || !has_ratio(&off) || !(off.x > 0)) {
            continue;
        }
        const double off_ratio = off.x / off.w;
        const double ratio = on.x / on.w / off_ratio;
        double variance = ratio_variance(reduction, &on, p, true) / (off_ratio * off_ratio);
        if (binned) {
            variance +=
                ratio * ratio * ratio_variance(reduction, &off, p, true) / (off_ratio * off_ratio);
        }
        signal[p] = (float)(ratio - 1);
        sigma[p] = variance > 0 ? (float)sqrt(variance) : NAN;
    }
}

/* Of a pixel, over all slots of the off side. */
static sums off_sums(const sxi_reduction *m, int64_t p) {
    const sx_reducer *r = m->reducer;
    sums all = {0};
    for (int64_t s = r->bins; s < r->slots; s++) {
        const sums a = sums_of(r, &r->slot[s], m->offset, p);
        all.n += a.n;
        all.w += a.w;
        all.ww += a.ww;
        all.x += a.x;
        all.xx += a.xx;
        all.xw += a.xw;
    }
    return all;
}

void sxi_reduction_off(const sxi_reduction *reduction, float *mean, float *error, uint8_t *mask) {
    const sx_reducer *r = reduction->reducer;
    for (int64_t p = 0; p < r->pixels; p++) {
        const sums a = off_sums(reduction, p);
        const bool good = !r->mask[p] && has_ratio(&a) && a.x > 0;
        mask[p] = !good;
        mean[p] = good ? (float)(a.x / a.n) : NAN;
        error[p] = good ? (float)(sqrt(ratio_variance(reduction, &a, p, false)) * a.w / a.n) : NAN;
    }
}

double sxi_reduction_delay(const sxi_reduction *reduction, int64_t bin) {
    const sx_reducer *r = reduction->reducer;
    const sxi_slot *slot = &r->slot[bin];
    return slot->n > 0 ? (double)slot->t * SXI_QUANTUM_T / (double)slot->n
                       : 0.5 * (r->edges[bin] + r->edges[bin + 1]);
}

/* --- all of it --- */

static sx_status create_cube(const sx_reducer *r, sx_cube *cube) {
    int64_t shape[SX_MAX_RANK] = {r->bins};
    memcpy(shape + 1, r->shape, (size_t)r->rank * sizeof *shape);
    SXI_TRY(sx_array_create(SX_F32, r->rank + 1, shape, &cube->signal));
    SXI_TRY(sx_array_create(SX_F32, r->rank + 1, shape, &cube->sigma));
    SXI_TRY(sx_array_create(SX_F64, 1, shape, &cube->delay));
    SXI_TRY(sx_array_create(SX_I64, 1, shape, &cube->count));
    SXI_TRY(sx_array_create(SX_F32, r->rank, r->shape, &cube->off_mean));
    SXI_TRY(sx_array_create(SX_F32, r->rank, r->shape, &cube->off_error));
    return sx_array_create(SX_U8, r->rank, r->shape, &cube->mask);
}

sx_status sx_reducer_cube(const sx_reducer *r, const sx_cube_options *options, sx_cube *cube) {
    sx_status status = SX_OK;
    sxi_reduction m = {0};
    *cube = (sx_cube){0};
    SXI_GO(sxi_reduction_open(r, options, &m));
    SXI_GO(create_cube(r, cube));
    for (int64_t b = 0; b < r->bins; b++) {
        sxi_reduction_bin(&m, b, (float *)cube->signal.data + b * r->pixels,
                          (float *)cube->sigma.data + b * r->pixels);
        ((double *)cube->delay.data)[b] = sxi_reduction_delay(&m, b);
        ((int64_t *)cube->count.data)[b] = r->slot[b].n;
    }
    sxi_reduction_off(&m, cube->off_mean.data, cube->off_error.data, cube->mask.data);
    cube->i0_offset = m.offset;
out:
    sxi_reduction_close(&m);
    if (status != SX_OK) {
        sx_cube_destroy(cube);
    }
    return status;
}

void sx_cube_destroy(sx_cube *cube) {
    if (!cube) {
        return;
    }
    sx_array_destroy(&cube->signal);
    sx_array_destroy(&cube->sigma);
    sx_array_destroy(&cube->delay);
    sx_array_destroy(&cube->count);
    sx_array_destroy(&cube->off_mean);
    sx_array_destroy(&cube->off_error);
    sx_array_destroy(&cube->mask);
}
