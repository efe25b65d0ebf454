/* SPDX-License-Identifier: Apache-2.0
 * The life of a reducer, its bins, and adding one to another. */
#include "xani/reduce/reducer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* A bit of room below 2^63 for the rounding of bounds, which are doubles. */
static const double FULL = 0x1p62;

static bool is_power_of_two(double value) {
    int exponent = 0;
    return value > 0 && isfinite(value) && frexp(value, &exponent) == 0.5;
}

static sx_status check_options(const sx_reducer_options *o) {
    if (o->rank < 1 || o->rank > 4) {
        return SXI_FAIL(SX_ERR_SHAPE, "a frame has 1 to 4 axes, not %d", o->rank);
    }
    int64_t pixels = 1;
    for (int d = 0; d < o->rank; d++) {
        if (o->shape[d] < 1 || o->shape[d] > ((int64_t)1 << 40) / pixels) {
            return SXI_FAIL(SX_ERR_SHAPE, "a frame cannot have %lld pixels along axis %d",
                            (long long)o->shape[d], d);
        }
        pixels *= o->shape[d];
    }
    if (o->bins < 1 || o->bins > 1 << 24 || !o->edges) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%lld delay bins; 1 to %d with their edges are needed",
                        (long long)o->bins, 1 << 24);
    }
    for (int64_t b = 0; b <= o->bins; b++) {
        if (!isfinite(o->edges[b]) || (b > 0 && !(o->edges[b] > o->edges[b - 1]))) {
            return SXI_FAIL(SX_ERR_ARGUMENT,
                            "the edges of the delay bins must increase: number %lld is %g ps",
                            (long long)b, o->edges[b]);
        }
    }
    if ((o->scale != 0 && !is_power_of_two(o->scale)) ||
        (o->i0_scale != 0 && !is_power_of_two(o->i0_scale))) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "the scales %g and %g must be powers of two", o->scale,
                        o->i0_scale);
    }
    return SX_OK;
}

/* Untouched memory costs nothing, so that bins without shots do not either. */
static sx_status create_slots(sx_reducer *r) {
    r->slot = calloc((size_t)r->slots, sizeof *r->slot);
    r->memory = calloc((size_t)r->slots * SXI_SUMS, (size_t)r->pixels * sizeof(int64_t));
    if (!r->slot || !r->memory) {
        return SXI_FAIL(SX_ERR_MEMORY,
                        "no memory for the sums of %lld delay bins of %lld pixels, %.1f GB; use "
                        "fewer bins or a part of the detector",
                        (long long)r->bins, (long long)r->pixels,
                        8e-9 * SXI_SUMS * (double)r->slots * (double)r->pixels);
    }
    for (int64_t s = 0; s < r->slots; s++) {
        for (int k = 0; k < SXI_SUMS; k++) {
            r->slot[s].sum[k] = r->memory + (s * SXI_SUMS + k) * r->pixels;
        }
    }
    return SX_OK;
}

sx_status sx_reducer_create(const sx_reducer_options *o, sx_reducer **reducer) {
    sx_status status = SX_OK;
    *reducer = NULL;
    SXI_TRY(check_options(o));
    sx_reducer *r = calloc(1, sizeof *r);
    if (!r) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a reducer");
    }
    r->rank = o->rank;
    r->pixels = 1;
    for (int d = 0; d < o->rank; d++) {
        r->shape[d] = o->shape[d];
        r->pixels *= o->shape[d];
    }
    r->bins = o->bins;
    r->off = o->off;
    r->slots = o->bins + (o->off == SX_REDUCE_OFF_BINNED ? o->bins : 1);
    r->scale = o->scale == 0 ? 1 : o->scale;
    r->i0_scale = o->i0_scale == 0 ? 1 : o->i0_scale;
    r->edges = malloc((size_t)(o->bins + 1) * sizeof *r->edges);
    r->mask = calloc((size_t)r->pixels, 1);
    if (!r->edges || !r->mask) {
        status =
            SXI_FAIL(SX_ERR_MEMORY, "no memory for a reducer of %lld pixels", (long long)r->pixels);
        goto out;
    }
    memcpy(r->edges, o->edges, (size_t)(o->bins + 1) * sizeof *r->edges);
    if (o->mask) {
        for (int64_t p = 0; p < r->pixels; p++) {
            r->mask[p] = o->mask[p] != 0;
        }
    }
    SXI_GO(create_slots(r));
    *reducer = r;
    r = NULL;
out:
    sx_reducer_destroy(&r);
    return status;
}

void sx_reducer_destroy(sx_reducer **reducer) {
    sx_reducer *r = *reducer;
    if (!r) {
        return;
    }
    for (int64_t s = 0; r->slot && s < r->slots; s++) {
        free(r->slot[s].lost[0]);
    }
    free(r->slot);
    free(r->memory);
    free(r->edges);
    free(r->mask);
    free(r);
    *reducer = NULL;
}

/* The bin of a delay, -1 outside. */
static int64_t bin_of(const sx_reducer *r, double delay) {
    int64_t low = 0;
    int64_t high = r->bins;
    if (!(delay >= r->edges[0] && delay < r->edges[r->bins])) {
        return -1;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(delay < r->edges[middle] ? &high : &low) = middle;
    }
    return low;
}

int64_t sxi_reducer_slot(const sx_reducer *r, const sx_shot *shot) {
    if (!shot->on && r->off == SX_REDUCE_OFF_POOLED) {
        return r->bins;
    }
    const int64_t bin = bin_of(r, shot->delay_ps);
    return bin < 0 || shot->on ? bin : r->bins + bin;
}

sx_status sxi_slot_lose(const sx_reducer *r, sxi_slot *slot) {
    if (slot->lost[0]) {
        return SX_OK;
    }
    int64_t *memory = calloc(SXI_LOST, (size_t)r->pixels * sizeof *memory);
    if (!memory) {
        return SXI_FAIL(SX_ERR_MEMORY,
                        "no memory for the missing values of a bin of %lld pixels; mask those that "
                        "are always missing",
                        (long long)r->pixels);
    }
    for (int k = 0; k < SXI_LOST; k++) {
        slot->lost[k] = memory + k * r->pixels;
    }
    return SX_OK;
}

bool sxi_add_checked(int64_t *to, int64_t more) { return !__builtin_add_overflow(*to, more, to); }

static double largest(const int64_t *sum, int64_t count) {
    double most = 0;
    for (int64_t p = 0; p < count; p++) {
        const double size = fabs((double)sum[p]);
        most = size > most ? size : most;
    }
    return most;
}

bool sxi_slot_room(const sx_reducer *r, sxi_slot *slot, const double more[SXI_SUMS]) {
    for (int k = 0; k < SXI_SUMS; k++) {
        if (slot->bound[k] + more[k] > FULL) {
            slot->bound[k] = largest(slot->sum[k], r->pixels);
        }
        if (!(slot->bound[k] + more[k] <= FULL)) {
            return false;
        }
    }
    for (int k = 0; k < SXI_SUMS; k++) {
        slot->bound[k] += more[k];
    }
    return true;
}

/* --- merging --- */

static sx_status check_same(const sx_reducer *a, const sx_reducer *b) {
    if (a->rank != b->rank || memcmp(a->shape, b->shape, sizeof a->shape) != 0) {
        return SXI_FAIL(SX_ERR_SHAPE, "the frames differ: %lld and %lld pixels in %d and %d axes",
                        (long long)a->pixels, (long long)b->pixels, a->rank, b->rank);
    }
    if (a->bins != b->bins) {
        return SXI_FAIL(SX_ERR_SHAPE, "%lld and %lld delay bins do not fit: reduce with the same",
                        (long long)a->bins, (long long)b->bins);
    }
    for (int64_t e = 0; e <= a->bins; e++) {
        if (a->edges[e] != b->edges[e]) {
            return SXI_FAIL(SX_ERR_SHAPE,
                            "edge %lld of the delay bins is %.9g and %.9g ps: reduce with the same "
                            "edges",
                            (long long)e, a->edges[e], b->edges[e]);
        }
    }
    if (a->off != b->off) {
        return SXI_FAIL(SX_ERR_SHAPE, "laser-off shots are pooled in one, binned in the other");
    }
    if (a->scale != b->scale || a->i0_scale != b->i0_scale) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "sums are kept at scales %g and %g of pixels, %g and %g of I0: reduce with "
                        "the same scales",
                        a->scale, b->scale, a->i0_scale, b->i0_scale);
    }
    return SX_OK;
}

static bool merge_fits(sx_reducer *r, const sx_reducer *other, sxi_slot *into,
                       const sxi_slot *from) {
    double more[SXI_SUMS];
    for (int k = 0; k < SXI_SUMS; k++) {
        more[k] = from->bound[k];
        if (into->bound[k] + more[k] > FULL) {
            more[k] = largest(from->sum[k], other->pixels);
        }
    }
    const sxi_slot a = *into;
    sxi_slot sum = *into;
    if (!sxi_add_checked(&sum.n, from->n) || !sxi_add_checked(&sum.i, from->i) ||
        !sxi_add_checked(&sum.ii, from->ii) || !sxi_add_checked(&sum.t, from->t)) {
        return false;
    }
    const bool fits = sxi_slot_room(r, into, more);
    memcpy(into->bound, a.bound, sizeof a.bound); /* nothing is added yet */
    return fits;
}

static void merge_slot(const sx_reducer *r, sxi_slot *into, const sxi_slot *from) {
    into->n += from->n;
    into->i += from->i;
    into->ii += from->ii;
    into->t += from->t;
    for (int k = 0; k < SXI_SUMS; k++) {
        for (int64_t p = 0; p < r->pixels; p++) {
            into->sum[k][p] += from->sum[k][p];
        }
        into->bound[k] = largest(into->sum[k], r->pixels);
    }
    for (int k = 0; from->lost[0] && k < SXI_LOST; k++) {
        for (int64_t p = 0; p < r->pixels; p++) {
            into->lost[k][p] += from->lost[k][p];
        }
    }
}

sx_status sx_reducer_merge(sx_reducer *r, const sx_reducer *other) {
    SXI_TRY(check_same(r, other));
    for (int64_t s = 0; s < r->slots; s++) {
        if (!merge_fits(r, other, &r->slot[s], &other->slot[s])) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "the sums of delay bin %lld would overflow; reduce both with a larger "
                            "scale",
                            (long long)(s % r->bins));
        }
        if (other->slot[s].lost[0]) {
            SXI_TRY(sxi_slot_lose(r, &r->slot[s]));
        }
    }
    for (int64_t s = 0; s < r->slots; s++) {
        merge_slot(r, &r->slot[s], &other->slot[s]);
    }
    for (int64_t p = 0; p < r->pixels; p++) {
        r->mask[p] |= other->mask[p];
    }
    /* A pixel that is masked here holds no sums, so that the halves give what the whole gives. */
    for (int64_t s = 0; s < r->slots; s++) {
        for (int64_t p = 0; p < r->pixels; p++) {
            for (int k = 0; k < SXI_SUMS; k++) {
                r->slot[s].sum[k][p] = r->mask[p] ? 0 : r->slot[s].sum[k][p];
            }
            for (int k = 0; r->slot[s].lost[0] && k < SXI_LOST; k++) {
                r->slot[s].lost[k][p] = r->mask[p] ? 0 : r->slot[s].lost[k][p];
            }
        }
    }
    r->outside += other->outside;
    r->not_known += other->not_known;
    r->missing += other->missing;
    return SX_OK;
}

sx_reducer_counts sx_reducer_count(const sx_reducer *r) {
    sx_reducer_counts counts = {
        .outside = r->outside, .not_known = r->not_known, .missing = r->missing};
    for (int64_t s = 0; s < r->slots; s++) {
        *(s < r->bins ? &counts.on : &counts.off) += r->slot[s].n;
    }
    return counts;
}
