/* SPDX-License-Identifier: Apache-2.0
 * Sums and the like along an axis.
 *
 * The result is cut into parts, the axis into runs of blocks. A part and a run are an item; ranks take
 * items from a shared counter, and rank 0 joins the runs of a part. Within an item some rows at a
 * time are read while the rows before are folded, by all threads, each of which has cells of its own. */
#include "engine/darray.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/band.h"
#include "engine/crew.h"
#include "engine/origin.h"
#include "engine/ranks.h"
#include "engine/state.h"
#include "engine/trace.h"
#include "engine/tree.h"
#include "io/read/bands.h"

/* Rows read at a time, few enough to be folded out of the cache, and what a thread folds at a time. */
static const int64_t STEP_BYTES = 4LL << 20;
static const int64_t STRIP_CELLS = 4096;
enum { PIECE = 512, RUNS_OF_RANK = 4 };

typedef struct item {
    int64_t number;
    double *values; /* [terms][cells] */
} item;

typedef struct reduction {
    sx_darray *array, *out;
    sx_cluster *cluster;
    const sx_context *context;
    sxi_fold fold;
    int axis;
    int threads;
    sxi_bands parts; /* of the result */
    int64_t part_count;
    int64_t runs, run_rows; /* of the axis */
    sxi_arena *arena;       /* [threads] */
    sxi_band *band[2];
    item *items;
    int64_t item_count;
    int64_t done; /* rows, to be told */
} reduction;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* --- parts and regions --- */

/* The region of the array that belongs to a part of the result and some rows. */
static sxi_region region_of(const reduction *r, const sxi_region *part, int64_t first,
                            int64_t rows) {
    sxi_region region = {{0}, {0}};
    for (int d = 0; d < r->array->rank; d++) {
        const int e = d < r->axis ? d : d - 1;
        region.start[d] = d == r->axis ? first : part->start[e];
        region.count[d] = d == r->axis ? rows : part->count[e];
    }
    return region;
}

static bool slowest(const reduction *r) {
    int64_t before = 1;
    for (int d = 0; d < r->axis; d++) {
        before *= r->array->shape[d];
    }
    return before == 1;
}

/* Along the slowest axis the file is passed once if all cells are folded side by side; else a part
 * is what can be read at once with all of its axis. */
static void plan_parts(reduction *r) {
    const int64_t rows = r->array->shape[r->axis], left = sxi_memory_left(r->cluster);
    const int64_t element = (int64_t)sx_dtype_size(r->array->dtype);
    const int64_t cell =
        sxi_fold_terms(r->fold) * (int64_t)sizeof(double) * (sxi_tree_levels(rows) + 2);
    int64_t start[SX_MAX_RANK] = {0}, chunk[SX_MAX_RANK] = {0};
    for (int d = 0; d < r->out->rank; d++) {
        chunk[d] = r->array->chunk[d < r->axis ? d : d + 1];
    }
    const bool one = slowest(r);
    const int64_t bytes = one ? cell : most(rows * element, cell);
    const int64_t room = most(left / 4, bytes);
    sxi_bands_plan(r->out->rank, start, r->out->shape, chunk, bytes,
                   one ? room : least(STEP_BYTES, room), room, &r->parts);
    sxi_bands count = r->parts;
    sxi_region part;
    while (sxi_bands_next(&count, part.start, part.count)) {
        r->part_count++;
    }
}

/* A power of two of blocks, so that a run is a branch of the tree. */
static void plan_runs(reduction *r) {
    const int64_t rows = r->array->shape[r->axis];
    const int64_t wanted = (int64_t)RUNS_OF_RANK * sx_cluster_size(r->cluster);
    r->run_rows = SXI_BLOCK_ROWS;
    const bool whole = sx_cluster_size(r->cluster) == 1 || r->part_count >= wanted;
    while (r->run_rows < rows &&
           (whole || divide_up(rows, 2 * r->run_rows) * r->part_count >= wanted)) {
        r->run_rows *= 2;
    }
    r->runs = most(divide_up(rows, r->run_rows), 1);
}

/* --- folding --- */

/* Rows of one line of cells, `stride` elements apart. at: its first element, in the first row. */
typedef struct line {
    const char *at;
    int64_t row_bytes, stride;
    int64_t cell, cells;
} line;

static void fold_line(const reduction *r, sxi_tree *tree, const sx_array *view, const line *l,
                      int64_t first) {
    const int64_t size = (int64_t)sx_dtype_size(view->dtype);
    double room[PIECE];
    for (int64_t c = 0; c < l->cells; c += PIECE) {
        const int64_t n = least(l->cells - c, PIECE);
        for (int64_t k = 0; k < view->shape[r->axis]; k++) {
            const int64_t row = first + k;
            const char *from = l->at + c * l->stride * size + k * l->row_bytes;
            sxi_tree_add(tree, row, l->cell + c, n, sxi_doubles(view, from, l->stride, n, room));
            if (row % SXI_BLOCK_ROWS == SXI_BLOCK_ROWS - 1) {
                sxi_tree_block_ends(tree, row, l->cell + c, n);
            }
        }
    }
}

/* The same for sums of cells side by side. */
static void sum_line(const reduction *r, sxi_tree *tree, const sx_array *view, const line *l,
                     int64_t first) {
    const int64_t rows = view->shape[r->axis];
    for (int64_t k = 0, n; k < rows; k += n) {
        const int64_t row = first + k;
        n = least(rows - k, SXI_BLOCK_ROWS - row % SXI_BLOCK_ROWS);
        sxi_tree_add_rows(tree, row, n, l->cell, l->cells, view->dtype, l->at + k * l->row_bytes,
                          l->row_bytes);
        if ((row + n) % SXI_BLOCK_ROWS == 0) {
            sxi_tree_block_ends(tree, row, l->cell, l->cells);
        }
    }
}

/* The axes of cells, with the last ones as a single one where they are one run of elements. */
typedef struct cell_axes {
    int axes;
    int64_t shape[SX_MAX_RANK], stride[SX_MAX_RANK];
} cell_axes;

static cell_axes cells_of(const reduction *r, const sx_array *view) {
    cell_axes c = {.axes = 0};
    for (int d = 0; d < view->rank; d++) {
        if (d != r->axis) {
            c.shape[c.axes] = view->shape[d];
            c.stride[c.axes++] = view->stride[d];
        }
    }
    if (c.axes == 0) {
        c = (cell_axes){1, {1}, {1}};
    }
    for (int e = c.axes - 1; e > 0 && c.stride[e - 1] == c.shape[e] * c.stride[e]; e--) {
        c.stride[e - 1] = c.stride[e];
        c.shape[e - 1] *= c.shape[e];
        c.axes = e;
    }
    return c;
}

/* All cells of a view, line by line; the first of them is number `cell`. first: row in the run. */
static void fold_view(const reduction *r, sxi_tree *tree, const sx_array *view, int64_t first,
                      int64_t cell) {
    const int64_t size = (int64_t)sx_dtype_size(view->dtype);
    const cell_axes c = cells_of(r, view);
    const int last = c.axes - 1;
    const bool sums = r->fold == SXI_FOLD_SUM || r->fold == SXI_FOLD_MEAN;
    int64_t index[SX_MAX_RANK] = {0}, lines = 1;
    for (int e = 0; e < last; e++) {
        lines *= c.shape[e];
    }
    line l = {.row_bytes = view->stride[r->axis] * size,
              .stride = c.stride[last],
              .cell = cell,
              .cells = c.shape[last]};
    for (int64_t i = 0; i < lines; i++, l.cell += l.cells) {
        int64_t offset = 0;
        for (int e = 0; e < last; e++) {
            offset += index[e] * c.stride[e];
        }
        l.at = (const char *)view->data + offset * size;
        if (sums && l.stride == 1) {
            sum_line(r, tree, view, &l, first);
        } else {
            fold_line(r, tree, view, &l, first);
        }
        for (int e = last - 1; e >= 0 && ++index[e] == c.shape[e]; e--) {
            index[e] = 0;
        }
    }
}

/* Rows that are in memory, of one part. */
typedef struct step {
    sxi_region part;
    int64_t first, rows; /* of the array */
    int64_t run;         /* where the run begins */
    int held_count;
    const sxi_held *held;
    const reduction *reduction;
    sxi_tree *tree;
    int axis;      /* of the result, along which threads share a part; -1: none */
    int64_t strip; /* indices of it in a piece */
} step;

/* The axis along which threads share a part: the first that has something to share. */
static int shared_axis(const reduction *r, const sxi_region *part) {
    for (int e = 0; e < r->out->rank; e++) {
        if (part->count[e] > 1) {
            return e;
        }
    }
    return -1;
}

static sx_status fold_strip(const reduction *r, const step *s, int thread, int e, int64_t from,
                            int64_t count) {
    sxi_region strip = s->part;
    sxi_arena *arena = &r->arena[thread];
    sx_array view;
    int64_t cell = 0;
    if (e >= 0) {
        strip.start[e] += from;
        strip.count[e] = count;
        cell = from;
        for (int d = e + 1; d < r->out->rank; d++) {
            cell *= strip.count[d];
        }
    }
    const sxi_region region = region_of(r, &strip, s->first, s->rows);
    sxi_arena_reset(arena);
    SXI_TRY(sxi_region_view(r->array, &region, s->held_count, s->held, arena, &view));
    fold_view(r, s->tree, &view, s->first - s->run, cell);
    return SX_OK;
}

static sx_status fold_piece(void *data, int thread, int64_t piece) {
    const step *s = data;
    const int64_t from = piece * s->strip;
    const int64_t left = s->axis >= 0 ? s->part.count[s->axis] - from : 1;
    return fold_strip(s->reduction, s, thread, s->axis, from, least(s->strip, left));
}

/* next: what is read meanwhile, or NULL. */
static sx_status fold_step(const reduction *r, step *s, sxi_crew *crew, sxi_band *next) {
    const int64_t all = s->axis >= 0 ? s->part.count[s->axis] : 1;
    const int64_t count = sxi_region_count(&s->part, r->out->rank);
    s->strip = most(all * STRIP_CELLS / most(count, 1), 1);
    return sxi_crew_run(crew, divide_up(all, s->strip), fold_piece, s, next);
}

/* --- items --- */

static int64_t step_rows(const reduction *r, const sxi_region *part) {
    const sxi_region one = region_of(r, part, 0, 1);
    const int64_t chunk = most(r->array->chunk[r->axis], 1);
    const int64_t row = most(sxi_region_count(&one, r->array->rank), 1) *
                        (int64_t)sx_dtype_size(r->array->dtype) * r->array->cost;
    const int64_t room = most(sxi_memory_left(r->cluster) / 4 / row, 1);
    const int64_t usual = most(STEP_BYTES / row, 1);
    const int64_t whole = divide_up(usual, chunk) * chunk;
    return whole <= room ? whole : least(usual, room);
}

static sx_status start_step(const reduction *r, sxi_band *band, const sxi_region *part,
                            int64_t first, int64_t rows, int threads) {
    sxi_needs needs = {0};
    const sxi_region region = region_of(r, part, first, rows);
    SXI_TRY(sxi_needs_add(&needs, r->array, &region));
    return sxi_band_start(band, &needs, threads);
}

/* What the first thread does: step after step. */
static sx_status fold_steps(reduction *r, step *s, int64_t end, sxi_crew *crew) {
    const int64_t rows = step_rows(r, &s->part);
    int now = 0;
    if (end > s->run) {
        SXI_TRY(
            start_step(r, r->band[0], &s->part, s->run, least(rows, end - s->run), r->threads - 1));
    }
    for (s->first = s->run; s->first < end; s->first += s->rows, now = 1 - now) {
        s->rows = least(rows, end - s->first);
        if (sxi_ranks_stopped(r->cluster)) {
            return sxi_ranks_status(r->cluster);
        }
        sxi_crew_release(crew);
        SXI_TRY(sxi_band_wait(r->band[now], &s->held_count, &s->held));
        const int64_t next = s->first + s->rows;
        if (next < end) {
            /* Reading takes longer than folding, so all threads read when they have folded. */
            SXI_TRY(start_step(r, r->band[1 - now], &s->part, next, least(rows, end - next), 0));
        }
        const double started = sxi_now();
        SXI_TRY(fold_step(r, s, crew, next < end ? r->band[1 - now] : NULL));
        sxi_trace_add(r->cluster, "compute", "fold", 0, started, sxi_now(), s->first, s->rows);
        r->done += s->rows;
        sx_progress(r->context, "rows", r->done, r->part_count * r->array->shape[r->axis]);
    }
    return SX_OK;
}

static sx_status fold_item(reduction *r, const sxi_region *part, int64_t begin, int64_t end,
                           sxi_tree *tree) {
    step s = {.part = *part, .run = begin, .reduction = r, .tree = tree};
    sx_status status = SX_OK;
    sxi_crew crew;
    s.axis = shared_axis(r, part);
    sxi_crew_create(&crew);
#pragma omp parallel num_threads(r->threads)
    {
        if (omp_get_thread_num() == 0) {
            status = fold_steps(r, &s, end, &crew);
            sxi_crew_release(&crew);
            sxi_crew_end(&crew);
        } else {
            sxi_crew_help(&crew, omp_get_thread_num());
        }
    }
    sxi_crew_destroy(&crew);
    sxi_tree_finish(tree, end - begin);
    return status;
}

static sx_status keep_item(reduction *r, int64_t number, sxi_tree *tree) {
    item *grown = realloc(r->items, (size_t)(r->item_count + 1) * sizeof *grown);
    if (!grown) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for sums");
    }
    r->items = grown;
    r->items[r->item_count++] = (item){number, tree->block};
    tree->block = NULL;
    return SX_OK;
}

static void part_of(const reduction *r, int64_t number, sxi_region *part) {
    sxi_bands bands = r->parts;
    for (int64_t i = 0; i <= number; i++) {
        sxi_bands_next(&bands, part->start, part->count);
    }
}

static sx_status run_item(reduction *r, int64_t number) {
    const int64_t rows = r->array->shape[r->axis], begin = number % r->runs * r->run_rows;
    const int64_t end = least(begin + r->run_rows, rows);
    sxi_region part;
    sxi_tree tree;
    sx_status status = SX_OK;
    part_of(r, number / r->runs, &part);
    SXI_TRY(sxi_tree_create(r->fold, sxi_region_count(&part, r->out->rank), end - begin, &tree));
    SXI_GO(fold_item(r, &part, begin, end, &tree));
    status = keep_item(r, number, &tree);
out:
    sxi_tree_destroy(&tree);
    return status;
}

static sx_status run_items(reduction *r) {
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

/* --- the result --- */

/* A part of which all rows are folded. */
static sx_status store_part(reduction *r, const sxi_region *part, double *values) {
    const int64_t cells = sxi_region_count(part, r->out->rank);
    const double rows = (double)r->array->shape[r->axis];
    int64_t stop[SX_MAX_RANK];
    sx_array target, source;
    for (int64_t i = 0; i < cells; i++) {
        if (r->fold == SXI_FOLD_MEAN) {
            values[i] /= rows;
        } else if (r->fold == SXI_FOLD_VARIANCE) {
            values[i] = rows > 1 ? values[cells + i] / (rows - 1) : (double)NAN;
        }
    }
    for (int d = 0; d < r->out->rank; d++) {
        stop[d] = part->start[d] + part->count[d];
    }
    SXI_TRY(sx_array_slice(&r->out->values, part->start, stop, &target));
    SXI_TRY(sx_array_view(SX_F64, r->out->rank, part->count, values, &source));
    return sx_array_copy(&source, &target);
}

static double *values_of(const reduction *r, int64_t number) {
    for (int64_t i = 0; i < r->item_count; i++) {
        if (r->items[i].number == number) {
            return r->items[i].values;
        }
    }
    return NULL;
}

/* Values of an item at rank 0, wherever it was folded. */
static sx_status fetch(reduction *r, int64_t tag, int64_t number, int64_t count, double *values) {
    const double *mine = values_of(r, number);
    sxi_request request = {0};
    if (mine) {
        memcpy(values, mine, (size_t)count * sizeof *values);
        return SX_OK;
    }
    sxi_ranks_receive(r->cluster, SXI_RANK_ANY, tag + number, values,
                      (size_t)count * sizeof *values, &request);
    return sxi_ranks_wait(r->cluster, &request);
}

/* Runs of a part are the leaves of the upper end of the tree, joined as blocks are. */
static sx_status join_runs(reduction *r, int64_t tag, int64_t number, const sxi_region *part) {
    const int64_t cells = sxi_region_count(part, r->out->rank);
    const int64_t rows = r->array->shape[r->axis], count = cells * sxi_fold_terms(r->fold);
    double *level[SXI_TREE_LEVELS] = {NULL}, *values = NULL;
    sx_status status = SX_OK;
    double nr = 0;
    for (int64_t i = 0; i < r->runs; i++) {
        double nl = (double)r->run_rows;
        int k = 0;
        values = malloc((size_t)count * sizeof *values + 1);
        status = values ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory to join sums");
        SXI_GO(status);
        SXI_GO(fetch(r, tag, number * r->runs + i, count, values));
        nr = (double)least(r->run_rows, rows - i * r->run_rows);
        for (int64_t left = i; left & 1; left /= 2, k++, nl *= 2) {
            sxi_tree_join(r->fold, cells, nl, level[k], nr, values);
            nr += nl;
            free(level[k]);
            level[k] = NULL;
        }
        level[k] = values;
        values = NULL;
    }
    /* What is left are branches of falling size; the last of them is that of nr rows. */
    double nl = (double)r->run_rows;
    for (int k = 0; k < SXI_TREE_LEVELS; k++, nl *= 2) {
        if (level[k] && values) {
            sxi_tree_join(r->fold, cells, nl, level[k], nr, values);
            nr += nl;
            free(level[k]);
        } else if (level[k]) {
            values = level[k];
        }
        level[k] = NULL;
    }
    status = store_part(r, part, values);
out:
    free(values);
    for (int k = 0; k < SXI_TREE_LEVELS; k++) {
        free(level[k]);
    }
    return status;
}

static sx_status send_items(reduction *r, int64_t tag) {
    for (int64_t i = 0; i < r->item_count; i++) {
        sxi_request request = {0};
        sxi_region part;
        part_of(r, r->items[i].number / r->runs, &part);
        const int64_t count = sxi_region_count(&part, r->out->rank) * sxi_fold_terms(r->fold);
        sxi_ranks_send(r->cluster, 0, tag + r->items[i].number, r->items[i].values,
                       (size_t)count * sizeof(double), &request);
        SXI_TRY(sxi_ranks_wait(r->cluster, &request));
    }
    return SX_OK;
}

static int by_number(const void *a, const void *b) {
    const item *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static sx_status join_all(reduction *r) {
    /* One for every item, far from those of tasks. */
    const int64_t tag = (sxi_ranks_counter(r->cluster) + 1) << 40;
    sxi_bands bands = r->parts;
    sxi_region part;
    if (sx_cluster_rank(r->cluster) != 0) {
        if (r->item_count > 0) {
            qsort(r->items, (size_t)r->item_count, sizeof *r->items, by_number);
        }
        return send_items(r, tag);
    }
    for (int64_t i = 0; sxi_bands_next(&bands, part.start, part.count); i++) {
        SXI_TRY(join_runs(r, tag, i, &part));
    }
    return SX_OK;
}

/* --- the whole --- */

static sx_status prepare(reduction *r) {
    SXI_TRY(sxi_darray_complete(r->array));
    plan_parts(r);
    plan_runs(r);
    r->arena = calloc((size_t)r->threads, sizeof *r->arena);
    if (!r->arena) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for sums");
    }
    SXI_TRY(sxi_band_create(r->cluster, &r->band[0]));
    return sxi_band_create(r->cluster, &r->band[1]);
}

static void end(reduction *r) {
    sxi_band_destroy(&r->band[0]);
    sxi_band_destroy(&r->band[1]);
    for (int i = 0; r->arena && i < r->threads; i++) {
        sxi_arena_free(&r->arena[i]);
    }
    free(r->arena);
    for (int64_t i = 0; i < r->item_count; i++) {
        free(r->items[i].values);
    }
    free(r->items);
}

static sx_status fold_array(sx_darray *array, sxi_fold fold, int axis, sx_darray *out) {
    reduction r = {.array = array,
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
        status = sxi_ranks_agree(r.cluster, join_all(&r));
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
