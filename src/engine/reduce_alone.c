/* SPDX-License-Identifier: Apache-2.0
 * Sums of what each thread reads for itself, a few rows of a few cells at a time, and folds while they
 * are in its cache. Threads share nothing but the joining of what they have folded, so none of them
 * waits for another. */
#include "engine/reduce.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/crew.h"
#include "engine/ranks.h"
#include "engine/state.h"
#include "engine/trace.h"

/* Bytes of a row that are read at once: a call of the system costs as much as some 40 kB. */
static const int64_t STRIP_BYTES = 512 << 10, LEAST_STRIP_BYTES = 64 << 10;
enum { UNITS_OF_THREAD = 4 };

/* What a run is cut into. A unit is some rows, which are a branch of the tree, of a strip of cells. */
typedef struct plan {
    int axis;               /* of the result, of which a strip has some indices; -1: none */
    int64_t strip, strips;  /* indices in one; how many */
    int64_t rows, branches; /* in a unit; how many on each other */
    int64_t step;           /* rows read at a time */
    int64_t bytes;          /* that a thread takes */
} plan;

typedef struct alone {
    const sxi_reduction *r;
    const sxi_run *run;
    plan plan;
    sxi_tree *tree;     /* [threads] */
    sxi_branches *sums; /* [strips] */
    atomic_llong rows;  /* folded, of all strips */
} alone;

/* --- the plan --- */

/* Bytes that are read for one row of a part; -1: they cannot be read part by part. */
static int64_t row_bytes(const sxi_reduction *r, const sxi_region *part) {
    const sxi_region one = sxi_reduce_region(r, part, 0, 1);
    sxi_needs needs = {0};
    if (sxi_needs_add(&needs, r->array, &one) != SX_OK) {
        return -1;
    }
    for (int i = 0; i < needs.leaves; i++) {
        if (!needs.leaf[i]->plain) {
            return -1;
        }
    }
    const int64_t own =
        sxi_region_count(&one, r->array->rank) * (int64_t)sx_dtype_size(r->array->dtype);
    return sxi_most(sxi_needs_bytes(&needs), own);
}

static plan plan_of(const sxi_reduction *r, const sxi_run *run, int64_t bytes) {
    plan p = {.axis = sxi_reduce_axis(r, &run->part)};
    const int64_t rows = run->end - run->begin, units = UNITS_OF_THREAD * r->threads;
    const int64_t all = p.axis >= 0 ? run->part.count[p.axis] : 1;
    const int64_t index = sxi_most(bytes / all, 1); /* bytes of one */
    const int64_t blocks = sxi_divide_up(rows, SXI_BLOCK_ROWS);
    const int64_t wanted = sxi_most(bytes * blocks / units, LEAST_STRIP_BYTES);
    p.strip = sxi_least(sxi_most(sxi_least(wanted, STRIP_BYTES) / index, 1), all);
    p.strips = sxi_divide_up(all, p.strip);
    const int64_t row = p.strip * index;
    p.step = sxi_most(SXI_STEP_BYTES / row, 1);
    p.rows = SXI_BLOCK_ROWS;
    while (p.rows < rows && p.rows * row < SXI_STEP_BYTES) {
        p.rows *= 2;
    }
    p.branches = sxi_divide_up(rows, p.rows);
    const int64_t cells = sxi_divide_up(sxi_region_count(&run->part, r->out->rank), p.strips);
    const int64_t arrays = sxi_fold_terms(r->fold) * (2 + sxi_tree_levels(p.rows));
    p.bytes = sxi_least(p.step, p.rows) * row + arrays * cells * (int64_t)sizeof(double);
    return p;
}

bool sxi_reduce_may_alone(const sxi_reduction *r, const sxi_run *run) {
    const int64_t bytes = row_bytes(r, &run->part);
    if (run->end == run->begin || bytes <= 0) {
        return false;
    }
    const plan p = plan_of(r, run, bytes);
    return p.bytes * r->threads <= sxi_memory_left(r->cluster) / 4;
}

/* --- units --- */

static sx_status fold_rows(const alone *a, int thread, const sxi_region *strip, int64_t first,
                           int64_t rows, int64_t row) {
    const sxi_reduction *r = a->r;
    const sxi_region region = sxi_reduce_region(r, strip, first, rows);
    sxi_needs needs = {0};
    const sxi_held *held = NULL;
    sx_array view;
    int n = 0;
    SXI_TRY(sxi_needs_add(&needs, r->array, &region));
    SXI_TRY(sxi_band_start(r->band[thread], &needs, 0));
    SXI_TRY(sxi_band_wait(r->band[thread], &n, &held));
    sxi_arena_reset(&r->arena[thread]);
    SXI_TRY(sxi_region_view(r->array, &region, n, held, &r->arena[thread], &view));
    sxi_reduce_view(r, &a->tree[thread], &view, row, 0);
    return SX_OK;
}

static sx_status fold_unit(const alone *a, int thread, const sxi_region *strip, int64_t begin,
                           int64_t end) {
    for (int64_t first = begin, rows; first < end; first += rows) {
        rows = sxi_least(a->plan.step, end - first);
        if (sxi_ranks_stopped(a->r->cluster)) {
            return sxi_ranks_status(a->r->cluster);
        }
        SXI_TRY(fold_rows(a, thread, strip, first, rows, first - begin));
    }
    sxi_tree_finish(&a->tree[thread], end - begin);
    return SX_OK;
}

/* The first thread is the one that may call the caller. */
static void tell(alone *a, int thread, int64_t rows) {
    const sxi_reduction *r = a->r;
    const long long done = atomic_fetch_add(&a->rows, rows) + rows;
    if (thread == 0) {
        sx_progress(r->context, "rows", r->done + done / a->plan.strips,
                    r->part_count * r->array->shape[r->axis]);
    }
}

static sx_status do_unit(void *data, int thread, int64_t unit) {
    alone *a = data;
    const sxi_reduction *r = a->r;
    const int64_t number = unit / a->plan.strips, strip = unit % a->plan.strips;
    const int64_t begin = a->run->begin + number * a->plan.rows;
    const int64_t end = sxi_least(begin + a->plan.rows, a->run->end);
    sxi_branches *sums = &a->sums[strip];
    sxi_branch *branch = NULL;
    int64_t cell;
    const double started = sxi_now();
    const sxi_region region = sxi_reduce_strip(r, &a->run->part, a->plan.axis,
                                               strip * a->plan.strip, a->plan.strip, &cell);
    SXI_TRY(sxi_branches_take(sums, &branch));
    sxi_tree_begin(&a->tree[thread], sums->cells, branch->values);
    const sx_status status = fold_unit(a, thread, &region, begin, end);
    if (status != SX_OK) {
        sxi_branch_destroy(&branch);
        return status;
    }
    sxi_branches_add(sums, number, branch);
    sxi_trace_add(r->cluster, "compute", "fold", thread, started, sxi_now(), begin, end - begin);
    tell(a, thread, end - begin);
    return SX_OK;
}

/* --- all of a run --- */

static sx_status prepare(alone *a) {
    const sxi_reduction *r = a->r;
    const int64_t rows = a->run->end - a->run->begin;
    int64_t cell;
    a->tree = calloc((size_t)r->threads, sizeof *a->tree);
    a->sums = calloc((size_t)a->plan.strips, sizeof *a->sums);
    if (!a->tree || !a->sums) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for sums");
    }
    for (int64_t i = 0; i < a->plan.strips; i++) {
        const sxi_region strip = sxi_reduce_strip(r, &a->run->part, a->plan.axis, i * a->plan.strip,
                                                  a->plan.strip, &cell);
        sxi_branches_create(r->fold, sxi_region_count(&strip, r->out->rank), rows, a->plan.rows,
                            &a->sums[i]);
    }
    for (int i = 0; i < r->threads; i++) {
        SXI_TRY(
            sxi_tree_create(r->fold, a->sums[0].cells, sxi_least(rows, a->plan.rows), &a->tree[i]));
    }
    return SX_OK;
}

static sx_status do_units(alone *a) {
    const int64_t units = a->plan.branches * a->plan.strips;
    sx_status status = SX_OK;
    sxi_crew crew;
    sxi_crew_create(&crew);
#pragma omp parallel num_threads(a->r->threads)
    {
        if (omp_get_thread_num() == 0) {
            status = sxi_crew_run(&crew, units, do_unit, a, NULL);
            sxi_crew_end(&crew);
        } else {
            sxi_crew_help(&crew, omp_get_thread_num());
        }
    }
    sxi_crew_destroy(&crew);
    return status;
}

/* Strips side by side. */
static void collect(const alone *a, sxi_branch *sums) {
    const sxi_reduction *r = a->r;
    const int64_t all = sxi_region_count(&a->run->part, r->out->rank);
    int64_t cell = 0;
    if (a->plan.strips == 1) {
        double *values = sums->values;
        sums->values = a->sums[0].root->values;
        a->sums[0].root->values = values;
        return;
    }
    for (int64_t i = 0; i < a->plan.strips; i++) {
        const sxi_branches *strip = &a->sums[i];
        for (int t = 0; t < sxi_fold_terms(r->fold); t++) {
            memcpy(sums->values + t * all + cell, strip->root->values + t * strip->cells,
                   (size_t)strip->cells * sizeof(double));
        }
        cell += strip->cells;
    }
}

sx_status sxi_reduce_alone(sxi_reduction *r, const sxi_run *run, sxi_branch *sums) {
    alone a = {.r = r, .run = run};
    a.plan = plan_of(r, run, row_bytes(r, &run->part));
    sx_status status = prepare(&a);
    if (status == SX_OK) {
        status = do_units(&a);
    }
    if (status == SX_OK) {
        collect(&a, sums);
    }
    r->done += run->end - run->begin;
    for (int i = 0; a.tree && i < r->threads; i++) {
        sxi_tree_destroy(&a.tree[i]);
    }
    for (int64_t i = 0; a.sums && i < a.plan.strips; i++) {
        sxi_branches_destroy(&a.sums[i]);
    }
    free(a.tree);
    free(a.sums);
    return status;
}
