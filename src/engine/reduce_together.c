/* SPDX-License-Identifier: Apache-2.0
 * Sums of what is read by all threads together: some rows at a time, while those before are folded. */
#include "engine/reduce.h"

#include <omp.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/crew.h"
#include "engine/ranks.h"
#include "engine/state.h"
#include "engine/trace.h"

static const int64_t STRIP_CELLS = 4096; /* that a thread folds at a time */

/* Rows that are in memory, of one part. */
typedef struct step {
    sxi_region part;
    int64_t first, rows; /* of the array */
    int64_t run;         /* where the run begins */
    int held_count;
    const sxi_held *held;
    const sxi_reduction *reduction;
    sxi_tree *tree;
    int axis;      /* of the result, along which threads share a part; -1: none */
    int64_t strip; /* indices of it in a piece */
} step;

static sx_status fold_piece(void *data, int thread, int64_t piece) {
    const step *s = data;
    const sxi_reduction *r = s->reduction;
    sxi_arena *arena = &r->arena[thread];
    int64_t cell = 0;
    sx_array view;
    const sxi_region strip =
        sxi_reduce_strip(r, &s->part, s->axis, piece * s->strip, s->strip, &cell);
    const sxi_region region = sxi_reduce_region(r, &strip, s->first, s->rows);
    sxi_arena_reset(arena);
    SXI_TRY(sxi_region_view(r->array, &region, s->held_count, s->held, arena, &view));
    sxi_reduce_view(r, s->tree, &view, s->first - s->run, cell);
    return SX_OK;
}

/* next: what is read meanwhile, or NULL. */
static sx_status fold_step(const sxi_reduction *r, step *s, sxi_crew *crew, sxi_band *next) {
    const int64_t all = s->axis >= 0 ? s->part.count[s->axis] : 1;
    const int64_t count = sxi_region_count(&s->part, r->out->rank);
    s->strip = sxi_most(all * STRIP_CELLS / sxi_most(count, 1), 1);
    return sxi_crew_run(crew, sxi_divide_up(all, s->strip), fold_piece, s, next);
}

static int64_t step_rows(const sxi_reduction *r, const sxi_region *part) {
    const sxi_region one = sxi_reduce_region(r, part, 0, 1);
    const int64_t chunk = sxi_most(r->array->chunk[r->axis], 1);
    const int64_t row = sxi_most(sxi_region_count(&one, r->array->rank), 1) *
                        (int64_t)sx_dtype_size(r->array->dtype) * r->array->cost;
    const int64_t room = sxi_most(sxi_memory_left(r->cluster) / 4 / row, 1);
    const int64_t usual = sxi_most(SXI_STEP_BYTES / row, 1);
    const int64_t whole = sxi_divide_up(usual, chunk) * chunk;
    return whole <= room ? whole : sxi_least(usual, room);
}

static sx_status start_step(const sxi_reduction *r, sxi_band *band, const sxi_region *part,
                            int64_t first, int64_t rows, int threads) {
    sxi_needs needs = {0};
    const sxi_region region = sxi_reduce_region(r, part, first, rows);
    SXI_TRY(sxi_needs_add(&needs, r->array, &region));
    return sxi_band_start(band, &needs, threads);
}

/* What the first thread does: step after step. */
static sx_status fold_steps(sxi_reduction *r, step *s, int64_t end, sxi_crew *crew) {
    const int64_t rows = step_rows(r, &s->part);
    int now = 0;
    if (end > s->run) {
        SXI_TRY(start_step(r, r->band[0], &s->part, s->run, sxi_least(rows, end - s->run),
                           r->threads - 1));
    }
    for (s->first = s->run; s->first < end; s->first += s->rows, now = 1 - now) {
        s->rows = sxi_least(rows, end - s->first);
        if (sxi_ranks_stopped(r->cluster)) {
            return sxi_ranks_status(r->cluster);
        }
        sxi_crew_release(crew);
        SXI_TRY(sxi_band_wait(r->band[now], &s->held_count, &s->held));
        const int64_t next = s->first + s->rows;
        if (next < end) {
            /* Reading takes longer than folding, so all threads read when they have folded. */
            SXI_TRY(
                start_step(r, r->band[1 - now], &s->part, next, sxi_least(rows, end - next), 0));
        }
        const double started = sxi_now();
        SXI_TRY(fold_step(r, s, crew, next < end ? r->band[1 - now] : NULL));
        sxi_trace_add(r->cluster, "compute", "fold", 0, started, sxi_now(), s->first, s->rows);
        r->done += s->rows;
        sx_progress(r->context, "rows", r->done, r->part_count * r->array->shape[r->axis]);
    }
    return SX_OK;
}

static sx_status fold_run(sxi_reduction *r, const sxi_run *run, sxi_tree *tree) {
    step s = {.part = run->part, .run = run->begin, .reduction = r, .tree = tree};
    sx_status status = SX_OK;
    sxi_crew crew;
    s.axis = sxi_reduce_axis(r, &run->part);
    sxi_crew_create(&crew);
#pragma omp parallel num_threads(r->threads)
    {
        if (omp_get_thread_num() == 0) {
            status = fold_steps(r, &s, run->end, &crew);
            sxi_crew_release(&crew);
            sxi_crew_end(&crew);
        } else {
            sxi_crew_help(&crew, omp_get_thread_num());
        }
    }
    sxi_crew_destroy(&crew);
    return status;
}

sx_status sxi_reduce_together(sxi_reduction *r, const sxi_run *run, sxi_branch *sums) {
    const int64_t cells = sxi_region_count(&run->part, r->out->rank);
    sxi_tree tree;
    SXI_TRY(sxi_tree_create(r->fold, cells, run->end - run->begin, &tree));
    sxi_tree_begin(&tree, cells, sums->values);
    const sx_status status = fold_run(r, run, &tree);
    sxi_tree_finish(&tree, run->end - run->begin);
    sxi_tree_destroy(&tree);
    return status;
}
