/* SPDX-License-Identifier: Apache-2.0
 * Sums and the like along an axis.
 *
 * The result is cut into parts, the axis into runs of blocks. A part and a run are an item; ranks take
 * items from a shared counter, and rank 0 joins the runs of a part. */
#include "engine/reduce.h"

#include <stdlib.h>

#include "base/fail.h"
#include "engine/origin.h"
#include "engine/ranks.h"
#include "engine/state.h"

enum { RUNS_OF_RANK = 4 };

/* --- parts and regions --- */

sxi_region sxi_reduce_region(const sxi_reduction *r, const sxi_region *part, int64_t first,
                             int64_t rows) {
    sxi_region region = {{0}, {0}};
    for (int d = 0; d < r->array->rank; d++) {
        const int e = d < r->axis ? d : d - 1;
        region.start[d] = d == r->axis ? first : part->start[e];
        region.count[d] = d == r->axis ? rows : part->count[e];
    }
    return region;
}

int sxi_reduce_axis(const sxi_reduction *r, const sxi_region *part) {
    for (int e = 0; e < r->out->rank; e++) {
        if (part->count[e] > 1) {
            return e;
        }
    }
    return -1;
}

sxi_region sxi_reduce_strip(const sxi_reduction *r, const sxi_region *part, int axis, int64_t from,
                            int64_t count, int64_t *cell) {
    sxi_region strip = *part;
    *cell = 0;
    if (axis >= 0) {
        strip.start[axis] += from;
        strip.count[axis] = sxi_least(count, part->count[axis] - from);
        *cell = from;
        for (int d = axis + 1; d < r->out->rank; d++) {
            *cell *= strip.count[d];
        }
    }
    return strip;
}

static bool slowest(const sxi_reduction *r) {
    int64_t before = 1;
    for (int d = 0; d < r->axis; d++) {
        before *= r->array->shape[d];
    }
    return before == 1;
}

/* Along the slowest axis the file is passed once if all cells are folded side by side; else a part
 * is what can be read at once with all of its axis. */
static void plan_parts(sxi_reduction *r) {
    const int64_t rows = r->array->shape[r->axis], left = sxi_memory_left(r->cluster);
    const int64_t element = (int64_t)sx_dtype_size(r->array->dtype);
    const int64_t cell =
        sxi_fold_terms(r->fold) * (int64_t)sizeof(double) * (sxi_tree_levels(rows) + 2);
    int64_t start[SX_MAX_RANK] = {0}, chunk[SX_MAX_RANK] = {0};
    for (int d = 0; d < r->out->rank; d++) {
        chunk[d] = r->array->chunk[d < r->axis ? d : d + 1];
    }
    const bool one = slowest(r);
    const int64_t bytes = one ? cell : sxi_most(rows * element, cell);
    const int64_t room = sxi_most(left / 4, bytes);
    sxi_bands_plan(r->out->rank, start, r->out->shape, chunk, bytes,
                   one ? room : sxi_least(SXI_STEP_BYTES, room), room, &r->parts);
    sxi_bands count = r->parts;
    sxi_region part;
    while (sxi_bands_next(&count, part.start, part.count)) {
        r->part_count++;
    }
}

/* A power of two of blocks, so that a run is a branch of the tree. */
static void plan_runs(sxi_reduction *r) {
    const int64_t rows = r->array->shape[r->axis];
    const int64_t wanted = (int64_t)RUNS_OF_RANK * sx_cluster_size(r->cluster);
    r->run_rows = SXI_BLOCK_ROWS;
    const bool whole = sx_cluster_size(r->cluster) == 1 || r->part_count >= wanted;
    while (r->run_rows < rows &&
           (whole || sxi_divide_up(rows, 2 * r->run_rows) * r->part_count >= wanted)) {
        r->run_rows *= 2;
    }
    r->runs = sxi_most(sxi_divide_up(rows, r->run_rows), 1);
}

/* --- items --- */

void sxi_reduce_part(const sxi_reduction *r, int64_t number, sxi_region *part) {
    sxi_bands bands = r->parts;
    for (int64_t i = 0; i <= number; i++) {
        sxi_bands_next(&bands, part->start, part->count);
    }
}

static sx_status keep_item(sxi_reduction *r, int64_t number, sxi_branch *sums) {
    sxi_item *grown = realloc(r->item, (size_t)(r->item_count + 1) * sizeof *grown);
    if (!grown) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for sums");
    }
    r->item = grown;
    r->item[r->item_count++] = (sxi_item){number, sums};
    return SX_OK;
}

static sx_status run_item(sxi_reduction *r, int64_t number) {
    const int64_t rows = r->array->shape[r->axis];
    sxi_run run = {.begin = number % r->runs * r->run_rows};
    run.end = sxi_least(run.begin + r->run_rows, rows);
    sxi_branch *sums = NULL;
    sxi_reduce_part(r, number / r->runs, &run.part);
    const int64_t cells = sxi_region_count(&run.part, r->out->rank);
    sx_status status = sxi_branch_create(cells * sxi_fold_terms(r->fold), &sums);
    if (status == SX_OK) {
        const bool alone = slowest(r) && sxi_reduce_may_alone(r, &run);
        status = (alone ? sxi_reduce_alone : sxi_reduce_together)(r, &run, sums);
    }
    if (status == SX_OK) {
        status = keep_item(r, number, sums);
    }
    if (status != SX_OK) {
        sxi_branch_destroy(&sums);
    }
    return status;
}

static sx_status run_items(sxi_reduction *r) {
    const int64_t counter = sxi_ranks_counter(r->cluster);
    for (;;) {
        sxi_request request = {0};
        sxi_ranks_claim(r->cluster, counter, 1, &request);
        SXI_TRY(sxi_ranks_wait(r->cluster, &request));
        if (request.first >= r->part_count * r->runs) {
            return SX_OK;
        }
        SXI_TRY(run_item(r, request.first));
    }
}

/* --- the whole --- */

static int bands_of(const sxi_reduction *r) { return r->threads > 2 ? r->threads : 2; }

static sx_status prepare(sxi_reduction *r) {
    SXI_TRY(sxi_darray_complete(r->array));
    plan_parts(r);
    plan_runs(r);
    r->arena = calloc((size_t)r->threads, sizeof *r->arena);
    r->band = calloc((size_t)bands_of(r), sizeof(sxi_band *));
    if (!r->arena || !r->band) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for sums");
    }
    for (int i = 0; i < bands_of(r); i++) {
        SXI_TRY(sxi_band_create(r->cluster, &r->band[i]));
    }
    return SX_OK;
}

static void end(sxi_reduction *r) {
    for (int i = 0; r->band && i < bands_of(r); i++) {
        sxi_band_destroy(&r->band[i]);
    }
    for (int i = 0; r->arena && i < r->threads; i++) {
        sxi_arena_free(&r->arena[i]);
    }
    free(r->arena);
    free(r->band);
    for (int64_t i = 0; i < r->item_count; i++) {
        sxi_branch_destroy(&r->item[i].sums);
    }
    free(r->item);
}

static sx_status fold_array(sx_darray *array, sxi_fold fold, int axis, sx_darray *out) {
    sxi_reduction r = {.array = array,
                       .out = out,
                       .cluster = array->cluster,
                       .context = sxi_ranks_context(array->cluster),
                       .fold = fold,
                       .axis = axis};
    r.threads = sx_threads(r.context);
    sx_status status = prepare(&r);
    if (status == SX_OK) {
        status = run_items(&r);
    }
    status = sxi_ranks_agree(r.cluster, status);
    if (status == SX_OK) {
        status = sxi_ranks_agree(r.cluster, sxi_reduce_join(&r));
    }
    end(&r);
    return status;
}

static sx_status check(const sx_darray *array, sxi_fold fold, int axis) {
    SXI_TRY(sxi_darray_check(array));
    if (axis < 0 || axis >= array->rank) {
        return SXI_FAIL(SX_ERR_RANGE, "axis %d was asked for, the array has %d axes", axis,
                        array->rank);
    }
    if (array->shape[axis] == 0 && (fold == SXI_FOLD_MIN || fold == SXI_FOLD_MAX)) {
        return SXI_FAIL(SX_ERR_SHAPE, "axis %d has no elements, of which none is the %s", axis,
                        fold == SXI_FOLD_MIN ? "least" : "largest");
    }
    return SX_OK;
}

static sx_darray *reduce(sx_darray *array, sxi_fold fold, int axis) {
    sx_status status = check(array, fold, axis);
    if (status != SX_OK) {
        return sxi_darray_failed(array ? array->cluster : NULL, status);
    }
    int64_t shape[SX_MAX_RANK] = {0};
    for (int d = 0, e = 0; d < array->rank; d++) {
        if (d != axis) {
            shape[e++] = array->shape[d];
        }
    }
    const bool keeps = fold == SXI_FOLD_MIN || fold == SXI_FOLD_MAX;
    sx_darray *out =
        sx_darray_create(array->cluster, keeps ? array->dtype : SX_F64, array->rank - 1, shape);
    if (out->kind == SXI_NODE_FAILED) {
        return out;
    }
    status = fold_array(array, fold, axis, out);
    out->complete = sx_cluster_size(array->cluster) == 1;
    sxi_origins origins = {0};
    sxi_origins_add(&origins, array);
    sxi_origins_keep(&origins, out);
    if (status != SX_OK) {
        sxi_darray_fail(out, status);
    }
    return out;
}

sx_darray *sx_sum(sx_darray *array, int axis) { return reduce(array, SXI_FOLD_SUM, axis); }
sx_darray *sx_mean(sx_darray *array, int axis) { return reduce(array, SXI_FOLD_MEAN, axis); }
sx_darray *sx_variance(sx_darray *array, int axis) {
    return reduce(array, SXI_FOLD_VARIANCE, axis);
}
sx_darray *sx_min(sx_darray *array, int axis) { return reduce(array, SXI_FOLD_MIN, axis); }
sx_darray *sx_max(sx_darray *array, int axis) { return reduce(array, SXI_FOLD_MAX, axis); }
