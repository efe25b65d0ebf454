/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/fail.h"
#include "base/text.h"
#include "engine/ranks.h"
#include "engine/state.h"

/* Of a band, about: enough for all threads, little enough to be used again while it is in the
 * cache of the processor or near it. */
static const int64_t BAND_BYTES = 32LL << 20;

/* Bands of a rank, at least, so that the last one to end is not alone for long. */
enum { BANDS_OF_RANK = 4, BANDS_WITHOUT_READING = 32 };

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* --- words against arrays --- */

static sx_status count_uses(sxi_plan *plan) {
    const sx_task *task = plan->task;
    while (plan->uses < SX_TASK_USES && task->use[plan->uses].axes) {
        plan->uses++;
    }
    if (plan->uses == 0 || !task->cpu) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "there are no arrays, or there is no function to call");
    }
    for (int u = 0; u < plan->uses; u++) {
        SXI_TRY(sxi_darray_check(task->use[u].array));
        plan->array[u] = sxi_darray_keep(task->use[u].array);
    }
    plan->cluster = plan->array[0]->cluster;
    return SX_OK;
}

static sx_status read_axes(sxi_plan *plan, int u) {
    const sx_darray *array = plan->array[u];
    const char *words = plan->task->use[u].axes;
    sxi_axes *axes = &plan->axes[u];
    SXI_TRY(sxi_axes_read(words, &plan->dimensions, axes));
    if (axes->n != array->rank) {
        return SXI_FAIL(SX_ERR_SHAPE, "'%s' stands for %d axes, the array has %d", words, axes->n,
                        array->rank);
    }
    for (int a = 0; a < axes->n; a++) {
        const int d = axes->dimension[a];
        if (d == SXI_AXIS_ALL) {
            continue;
        }
        if (plan->extent[d] >= 0 && plan->extent[d] != array->shape[a]) {
            return SXI_FAIL(SX_ERR_SHAPE,
                            "dimension %s has %lld elements in one array and %lld in that of '%s'",
                            plan->dimensions.name[d], (long long)plan->extent[d],
                            (long long)array->shape[a], words);
        }
        plan->extent[d] = array->shape[a];
        if (plan->dimensions.tile[d] == 0 && array->tile[a] > 0) {
            plan->tile[d] = plan->tile[d] == 0 ? array->tile[a] : plan->tile[d];
        }
        if (axes->halo[a] == 0 && plan->task->use[u].access == SX_READ) {
            axes->halo[a] = array->halo[a];
        }
    }
    return SX_OK;
}

static sx_status check_output(const sxi_plan *plan, int u) {
    const sx_use *use = &plan->task->use[u];
    bool cut[SX_TASK_DIMENSIONS] = {false};
    if (plan->array[u]->kind != SXI_NODE_MEMORY) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "the array of '%s' is written, so it must come from sx_darray_create or "
                        "sx_darray_from_memory",
                        use->axes);
    }
    for (int other = 0; other < plan->uses; other++) {
        if (other != u && plan->array[other] == plan->array[u]) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "the array of '%s' is written and also used as '%s'",
                            use->axes, plan->task->use[other].axes);
        }
    }
    for (int a = 0; a < plan->axes[u].n; a++) {
        if (plan->axes[u].halo[a] > 0) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "'%s': what is written has no halo", use->axes);
        }
        if (plan->axes[u].dimension[a] != SXI_AXIS_ALL) {
            cut[plan->axes[u].dimension[a]] = true;
        }
    }
    for (int d = 0; d < plan->dimensions.n; d++) {
        if (!cut[d]) {
            return SXI_FAIL(SX_ERR_ARGUMENT,
                            "'%s' is written but not cut along %s: tiles would overwrite each "
                            "other",
                            use->axes, plan->dimensions.name[d]);
        }
    }
    return SX_OK;
}

static sx_status read_words(sxi_plan *plan) {
    sxi_dimensions *dimensions = &plan->dimensions;
    SXI_TRY(sxi_dimensions_read(plan->task->tiles, dimensions));
    for (int d = 0; d < dimensions->n; d++) {
        plan->extent[d] = -1;
        plan->tile[d] = dimensions->tile[d];
    }
    for (int u = 0; u < plan->uses; u++) {
        SXI_TRY(read_axes(plan, u));
    }
    plan->tiles = 1;
    for (int d = 0; d < dimensions->n; d++) {
        if (plan->extent[d] < 0) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "no array has dimension %s", dimensions->name[d]);
        }
        if (plan->tile[d] == 0 || plan->tile[d] > plan->extent[d]) {
            plan->tile[d] = most(plan->extent[d], 1);
        }
        plan->grid[d] = divide_up(plan->extent[d], plan->tile[d]);
        plan->tiles *= plan->grid[d]; /* an array of that many elements exists */
    }
    for (int u = 0; u < plan->uses; u++) {
        if (plan->task->use[u].access == SX_WRITE) {
            SXI_TRY(check_output(plan, u));
        }
    }
    return SX_OK;
}

/* --- bands --- */

/* Elements of the largest chunk along an axis of what an array is computed from. */
static int64_t chunk_of(const sx_darray *array, int axis) {
    int64_t chunk = array->chunk[axis];
    for (int k = 0; k < 2 && array->input[k]; k++) {
        const int its = axis - (array->rank - array->input[k]->rank);
        if (its >= 0) {
            chunk = most(chunk, chunk_of(array->input[k], its));
        }
    }
    return chunk;
}

/* Tiles along a dimension that hold whole chunks. */
static int64_t unit_of(const sxi_plan *plan, int d) {
    int64_t unit = 1;
    for (int u = 0; u < plan->uses; u++) {
        for (int a = 0; a < plan->axes[u].n; a++) {
            if (plan->axes[u].dimension[a] == d) {
                unit = most(unit, divide_up(chunk_of(plan->array[u], a), plan->tile[d]));
            }
        }
    }
    return least(unit, plan->grid[d]);
}

static int64_t tiles_behind(const sxi_plan *plan, int d) {
    int64_t tiles = 1;
    for (int e = d + 1; e < plan->dimensions.n; e++) {
        tiles *= plan->grid[e];
    }
    return tiles;
}

/* Bytes that are read for some tiles along dimension d and all of those after it. */
static sx_status bytes_of(const sxi_plan *plan, int d, int64_t step, int64_t *bytes) {
    sxi_needs needs = {0};
    SXI_TRY(sxi_plan_needs(plan, 0, step * tiles_behind(plan, d), &needs));
    *bytes = sxi_needs_bytes(&needs);
    return SX_OK;
}

/* So many tiles that every rank gets several bands, in whole units where there are enough. Where there
 * are fewer units than ranks, as in files of compressed frames, ranks share one: to decompress it twice
 * is better than to leave one idle. */
static int64_t shared(const sxi_plan *plan, int d, int64_t step, int64_t unit, int64_t bands) {
    int64_t before = 1;
    for (int e = 0; e < d; e++) {
        before *= plan->grid[e];
    }
    const int64_t grid = plan->grid[d], ranks = sx_cluster_size(plan->cluster);
    if (divide_up(grid, unit) * before < ranks) {
        return least(step, divide_up(grid, divide_up(ranks, before)));
    }
    const int64_t fair = most(grid / divide_up(bands, before), 1);
    return least(step, divide_up(fair, unit) * unit);
}

static sx_status cut_reading(sxi_plan *plan, int64_t room) {
    const int ranks = sx_cluster_size(plan->cluster);
    const int64_t bands = ranks > 1 ? (int64_t)ranks * BANDS_OF_RANK : 1;
    int64_t one = 0;
    for (int d = 0; d < plan->dimensions.n; d++) {
        int64_t whole = 0;
        int64_t unit = unit_of(plan, d);
        SXI_TRY(bytes_of(plan, d, 1, &one));
        SXI_TRY(bytes_of(plan, d, unit, &whole));
        if (one > room) {
            continue;
        }
        int64_t step =
            whole <= room ? divide_up(most(BAND_BYTES, whole), whole) * unit : room / one;
        while (whole <= room && step > unit && step / unit * whole > room) {
            step -= unit;
        }
        unit = whole <= room ? unit : 1;
        plan->cut = d;
        plan->step = least(shared(plan, d, step, unit, bands), plan->grid[d]);
        return SX_OK;
    }
    return SXI_FAIL(SX_ERR_MEMORY,
                    "one tile is computed from %lld bytes, and %lld of the memory budget of %lld "
                    "are left to read; cut smaller tiles, or raise the budget (--memory)",
                    (long long)one, (long long)room, (long long)sxi_memory_budget(plan->cluster));
}

static void cut_memory(sxi_plan *plan) {
    const int64_t bands = (int64_t)BANDS_WITHOUT_READING * sx_cluster_size(plan->cluster);
    const int64_t wanted = most(plan->tiles / bands, 1);
    int d = 0;
    while (d < plan->dimensions.n - 1 && tiles_behind(plan, d) > wanted) {
        d++;
    }
    plan->cut = d;
    plan->step = least(most(wanted / tiles_behind(plan, d), 1), plan->grid[d]);
}

/* --- what all ranks must see alike --- */

sx_status sxi_plan_identify(const sxi_plan *plan, uint64_t *run) {
    const sx_task *task = plan->task;
    sxi_text text = {0};
    sxi_text_add(&text, "%s\n%s\n", task->name, task->key ? task->key : "");
    for (int d = 0; d < plan->dimensions.n; d++) {
        sxi_text_add(&text, "%s=%lld:%lld\n", plan->dimensions.name[d], (long long)plan->tile[d],
                     (long long)plan->extent[d]);
    }
    for (int u = 0; u < plan->uses; u++) {
        sxi_text_add(&text, "%s %d %d", task->use[u].axes, (int)task->use[u].access,
                     (int)plan->array[u]->dtype);
        for (int a = 0; a < plan->array[u]->rank; a++) {
            sxi_text_add(&text, " %lld", (long long)plan->array[u]->shape[a]);
        }
        sxi_text_add(&text, "\n");
    }
    const size_t length = text.length;
    char *words = sxi_text_take(&text);
    if (!words) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the words of a task");
    }
    *run = XXH64(words, length, 0);
    free(words);
    return SX_OK;
}

/* Of one rank, then of all. */
typedef struct agreement {
    uint64_t run;
    int64_t room, differs; /* bytes to read into; the first rank with another task, or -1 */
} agreement;

static void add_agreement(void *data, void *sum, const void *value) {
    agreement *all = sum;
    const agreement *one = value;
    int64_t *rank = data;
    ++*rank;
    all->room = least(all->room, one->room);
    all->differs = all->differs < 0 && one->run != all->run ? *rank : all->differs;
}

/* A band has the same tiles everywhere only if all cut alike, though some have less memory. */
static sx_status agree(const sxi_plan *plan, int64_t *room) {
    agreement a = {.room = sxi_memory_left(plan->cluster) / 2, .differs = -1};
    int64_t rank = 0;
    if (sx_cluster_size(plan->cluster) > 1) {
        SXI_TRY(sxi_plan_identify(plan, &a.run));
        SXI_TRY(sxi_ranks_reduce(plan->cluster, &a, sizeof a, add_agreement, &rank));
    }
    *room = a.room;
    return a.differs < 0 ? SX_OK
                         : SXI_FAIL(SX_ERR_ARGUMENT,
                                    "rank %lld has other inputs or options than rank 0: all must "
                                    "see the same files, with the same names, sizes and times",
                                    (long long)a.differs);
}

static sx_status cut_bands(sxi_plan *plan) {
    int64_t bytes = 0, room = 0;
    SXI_TRY(agree(plan, &room));
    if (plan->tiles == 0) {
        return SX_OK;
    }
    SXI_TRY(bytes_of(plan, plan->dimensions.n - 1, 1, &bytes));
    plan->reads = bytes > 0;
    if (plan->reads) { /* one band is read while another is computed */
        SXI_TRY(cut_reading(plan, room));
    } else {
        cut_memory(plan);
    }
    const int64_t rows = divide_up(plan->grid[plan->cut], plan->step);
    plan->bands = plan->tiles / tiles_behind(plan, plan->cut) / plan->grid[plan->cut] * rows;
    return SX_OK;
}

/* --- what every tile sees --- */

static sx_status settle_inputs(sxi_plan *plan) {
    for (int u = 0; u < plan->uses; u++) {
        bool cut = false;
        if (plan->task->use[u].access == SX_WRITE) {
            continue;
        }
        for (int a = 0; a < plan->axes[u].n; a++) {
            cut = cut || plan->axes[u].dimension[a] != SXI_AXIS_ALL;
        }
        if (!cut && plan->array[u]->kind != SXI_NODE_MEMORY) {
            sx_darray *loaded = NULL;
            SXI_TRY(sxi_darray_load(plan->array[u], &loaded));
            sx_darray_destroy(&plan->array[u]);
            plan->array[u] = loaded;
        }
        SXI_TRY(sxi_darray_complete(plan->array[u]));
    }
    return SX_OK;
}

sx_status sxi_plan_make(const sx_task *task, sxi_plan *plan) {
    *plan = (sxi_plan){.task = task};
    SXI_TRY(count_uses(plan));
    SXI_TRY(read_words(plan));
    SXI_TRY(settle_inputs(plan));
    return cut_bands(plan);
}

void sxi_plan_free(sxi_plan *plan) {
    for (int u = 0; u < plan->uses; u++) {
        sx_darray_destroy(&plan->array[u]);
    }
}

/* --- what lies where --- */

void sxi_plan_band(const sxi_plan *plan, int64_t band, int64_t *first, int64_t *tiles) {
    const int64_t grid = plan->grid[plan->cut], behind = tiles_behind(plan, plan->cut);
    const int64_t rows = divide_up(grid, plan->step);
    const int64_t at = band % rows * plan->step;
    *first = (band / rows * grid + at) * behind;
    *tiles = least(plan->step, grid - at) * behind;
}

void sxi_plan_tile(const sxi_plan *plan, int64_t tile, int64_t *start, int64_t *count) {
    for (int d = plan->dimensions.n - 1; d >= 0; d--) {
        start[d] = tile % plan->grid[d] * plan->tile[d];
        count[d] = least(plan->tile[d], plan->extent[d] - start[d]);
        tile /= plan->grid[d];
    }
}

sxi_region sxi_plan_region(const sxi_plan *plan, int use, const int64_t *start,
                           const int64_t *count) {
    const sxi_axes *axes = &plan->axes[use];
    const int64_t *shape = plan->array[use]->shape;
    sxi_region region = {{0}, {0}};
    for (int a = 0; a < axes->n; a++) {
        const int d = axes->dimension[a];
        if (d == SXI_AXIS_ALL) {
            region.start[a] = 0;
            region.count[a] = shape[a];
        } else {
            const int64_t end = least(start[d] + count[d] + axes->halo[a], shape[a]);
            region.start[a] = most(start[d] - axes->halo[a], 0);
            region.count[a] = end - region.start[a];
        }
    }
    return region;
}

/* The tiles are those of a band, or some of its last cut dimension: their box is that of the first
 * and the last one. */
sx_status sxi_plan_needs(const sxi_plan *plan, int64_t first, int64_t tiles, sxi_needs *needs) {
    int64_t start[SX_TASK_DIMENSIONS], count[SX_TASK_DIMENSIONS];
    int64_t last[SX_TASK_DIMENSIONS], end[SX_TASK_DIMENSIONS];
    sxi_plan_tile(plan, first, start, count);
    sxi_plan_tile(plan, first + tiles - 1, last, end);
    for (int d = 0; d < plan->dimensions.n; d++) {
        count[d] = last[d] + end[d] - start[d];
    }
    for (int u = 0; u < plan->uses; u++) {
        if (plan->task->use[u].access == SX_READ) {
            const sxi_region region = sxi_plan_region(plan, u, start, count);
            SXI_TRY(sxi_needs_add(needs, plan->array[u], &region));
        }
    }
    return SX_OK;
}
