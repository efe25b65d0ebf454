/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/task.h>

#include <stdatomic.h>

#include <sextant/engine.h>

#include "engine/state.h"
#include "io/hdf5/h5file.h"
#include "sx_folder.h"
#include "sx_plain.h"

static sx_cluster *opened(const sx_context *context) {
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(context, &cluster));
    return cluster;
}

enum { T = 5, H = 21, W = 34 };

static double value(const sx_array *array, int64_t i, int64_t j, int64_t k) {
    const int64_t index[] = {i, j, k};
    return sx_array_get(array, index);
}

static void set(const sx_array *array, int64_t i, int64_t j, double value_) {
    sx_array target = *array;
    const int64_t index[] = {i, j};
    sx_array_set(&target, index, value_);
}

/* Weighted sum of each trace, and beside it the mean of a neighbourhood of 2 pixels of the first
 * frame, cut off at the edges. Uses: frames "- i j", weight "-", frame "i+2 j+2", sum, mean. */
static sx_status weigh(const sx_tile *tile) {
    const sx_array *frames = &tile->array[0], *weight = &tile->array[1], *near = &tile->array[2];
    ck_assert_int_eq(frames->shape[0], T);
    const int64_t *first = tile->first[3], *count = tile->array[3].shape;
    ck_assert_int_eq(tile->first[0][1], first[0]);
    for (int64_t i = 0; i < count[0]; i++) {
        for (int64_t j = 0; j < count[1]; j++) {
            double sum = 0, mean = 0;
            int64_t n = 0;
            for (int64_t t = 0; t < T; t++) {
                sum += sx_array_get(weight, &t) * value(frames, t, i, j);
            }
            const int64_t y = first[0] + i, x = first[1] + j;
            for (int64_t v = y - 2; v <= y + 2; v++) {
                for (int64_t u = x - 2; u <= x + 2; u++) {
                    if (v >= 0 && v < H && u >= 0 && u < W) {
                        const int64_t index[] = {v - tile->first[2][0], u - tile->first[2][1]};
                        mean += sx_array_get(near, index);
                        n++;
                    }
                }
            }
            set(&tile->array[3], i, j, sum);
            set(&tile->array[4], i, j, mean / (double)n);
        }
    }
    return SX_OK;
}

/* The same in one go. */
static void weigh_plainly(const plain *frames, const plain *weight, plain *sum, plain *mean) {
    for (int64_t y = 0; y < H; y++) {
        for (int64_t x = 0; x < W; x++) {
            int64_t n = 0;
            for (int64_t t = 0; t < T; t++) {
                sum->v[y * W + x] += weight->v[t] * frames->v[(t * H + y) * W + x];
            }
            for (int64_t v = y - 2; v <= y + 2; v++) {
                for (int64_t u = x - 2; u <= x + 2; u++) {
                    if (v >= 0 && v < H && u >= 0 && u < W) {
                        mean->v[y * W + x] += frames->v[v * W + u];
                        n++;
                    }
                }
            }
            mean->v[y * W + x] /= (double)n;
        }
    }
}

typedef struct material {
    plain frames, weight, sum, mean;
    const char *path; /* an HDF5 file with /frames */
} material;

static material prepare(void) {
    const int64_t cube[] = {T, H, W}, line[] = {T}, map[] = {H, W};
    material m = {.frames = plain_random(1, SX_F32, 3, cube),
                  .weight = plain_random(2, SX_F64, 1, line),
                  .sum = plain_make(SX_F64, 2, map),
                  .mean = plain_make(SX_F64, 2, map),
                  .path = sx_folder("frames.h5")};
    sxi_h5_writer *writer = NULL;
    sx_array array = plain_array(&m.frames);
    weigh_plainly(&m.frames, &m.weight, &m.sum, &m.mean);
    ck_ok(sxi_h5_create(m.path, true, &writer));
    ck_ok(sxi_h5_write(writer, "/frames", &array, "", ""));
    ck_ok(sxi_h5_commit(&writer));
    sx_array_destroy(&array);
    return m;
}

static void discard(material *m) {
    plain_free(&m->frames);
    plain_free(&m->weight);
    plain_free(&m->sum);
    plain_free(&m->mean);
}

static void run_weigh(const material *m, sx_cluster *cluster, sx_darray *frames, const char *tiles,
                      sx_task_report *report) {
    const int64_t map[] = {H, W}, start[] = {0, 0, 0}, stop[] = {1, H, W};
    sx_array weights = plain_array(&m->weight);
    sx_darray *weight = sx_darray_from_memory(cluster, &weights);
    sx_darray *sum = sx_darray_create(cluster, SX_F64, 2, map);
    sx_darray *mean = sx_darray_create(cluster, SX_F64, 2, map);
    sx_darray *first = sx_darray_view(frames, start, stop);
    sx_darray *near = sx_sum(first, 0);
    ck_ok(sx_task_run(&(sx_task){.name = "weigh",
                                 .tiles = tiles,
                                 .cpu = weigh,
                                 .use = {{frames, "- i j", SX_READ},
                                         {weight, "-", SX_READ},
                                         {near, "i+2 j+2", SX_READ},
                                         {sum, "i j", SX_WRITE},
                                         {mean, "i j", SX_WRITE}},
                                 .report = report}));
    plain_gathered(&m->sum, sum);
    plain_gathered(&m->mean, mean);
    sx_darray *all[] = {weight, sum, mean, first, near};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sx_darray_destroy(&all[i]);
    }
    sx_array_destroy(&weights);
}

START_TEST(tiles_and_threads_do_not_change_bytes) {
    static const char *const tiles[] = {"i=1 j=1", "i=16 j=16", "j=5 i=4", "i=21 j=34",
                                        "i j",     "i=2 j=100", "j=3 i"};
    material m = prepare();
    sx_array memory = plain_array(&m.frames);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        for (int threads = 1; threads <= 3; threads++) {
            const sx_context context = {.threads = threads};
            sx_cluster *cluster = opened(&context);
            sx_task_report report;
            sx_darray *frames = sx_darray_from_memory(cluster, &memory);
            run_weigh(&m, cluster, frames, tiles[i], &report);
            ck_assert_int_eq(report.computed, report.tiles);
            ck_assert_int_eq(report.failed, 0);
            sx_darray *file = sx_darray_from_hdf5(cluster, m.path, "/frames");
            run_weigh(&m, cluster, file, tiles[i], &report);
            sx_darray_destroy(&file);
            sx_darray_destroy(&frames);
            sx_cluster_close(&cluster);
        }
    }
    sx_array_destroy(&memory);
    discard(&m);
}
END_TEST

START_TEST(a_small_budget_only_reads_less_at_once) {
    material m = prepare();
    sx_cluster *cluster = opened(NULL);
    sx_darray *file = sx_darray_from_hdf5(cluster, m.path, "/frames");
    /* The maps take 2 x 5712 and as much for the neighbours; two bands of T x 1 x W floats. */
    ck_ok(sx_engine_memory(cluster, 3 * 5712 + 2 * 4 * T * W));
    run_weigh(&m, cluster, file, "i=1 j=16", NULL);
    ck_ok(sx_engine_memory(cluster, 3 * 5712 + 2 * 4 * T * 2));
    run_weigh(&m, cluster, file, "i=1 j=2", NULL);
    sx_darray_destroy(&file);
    sx_cluster_close(&cluster);
    discard(&m);
}
END_TEST

static sx_status copy(const sx_tile *tile) {
    sx_array out = tile->array[1];
    return sx_array_copy(&tile->array[0], &out);
}

static sx_status write_numbers(const sx_tile *tile) {
    sx_array out = tile->array[0];
    for (int64_t i = 0; i < tile->count[0]; i++) {
        sx_array_set(&out, &i, (double)(tile->start[0] + i));
    }
    return SX_OK;
}

/* 1 MB with a budget of 64 kB. */
START_TEST(what_memory_does_not_hold_lies_in_a_nameless_file) {
    const int64_t n = 1 << 17;
    const int files = sx_folder_count();
    sx_cluster *cluster = opened(NULL);
    sx_array all;
    ck_ok(sx_engine_memory(cluster, 64 << 10));
    ck_ok(sxi_engine_scratch(cluster, sx_folder("")));
    sx_darray *out = sx_darray_create(cluster, SX_F64, 1, &n);
    ck_ok(sx_task_run(
        &(sx_task){.tiles = "i=1000", .cpu = write_numbers, .use = {{out, "i", SX_WRITE}}}));
    ck_assert_int_eq(sxi_memory_left(cluster), 64 << 10);
    ck_assert_int_eq(sx_folder_count(), files);
    ck_ok(sx_gather(out, &all));
    for (int64_t i = 0; i < n; i++) {
        ck_assert(((double *)all.data)[i] == (double)i);
    }
    sx_array_destroy(&all);
    sx_darray_destroy(&out);
    ck_ok(sxi_engine_scratch(cluster, "/no/such/folder"));
    out = sx_darray_create(cluster, SX_F64, 1, &n);
    ck_fails(sx_wait(out), SX_ERR_IO, "/no/such/folder has no room for 1048576 bytes");
    sx_darray_destroy(&out);
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(too_small_a_budget_is_told) {
    material m = prepare();
    const int64_t cube[] = {T, H, W};
    sx_cluster *cluster = opened(NULL);
    sx_darray *file = sx_darray_from_hdf5(cluster, m.path, "/frames");
    sx_darray *out = sx_darray_create(cluster, SX_F32, 3, cube);
    ck_ok(sx_engine_memory(cluster, 4 * T * H * W + 100));
    sx_darray *large = sx_darray_create(cluster, SX_F32, 3, cube);
    ck_fails(sx_wait(large), SX_ERR_MEMORY, "14280 bytes is to be stored");
    sx_darray_destroy(&large);
    ck_fails(sx_task_run(&(sx_task){.name = "copy",
                                    .tiles = "i=16 j=16",
                                    .cpu = copy,
                                    .use = {{file, "- i j", SX_READ}, {out, "- i j", SX_WRITE}}}),
             SX_ERR_MEMORY, "task 'copy': one tile is computed from 5120 bytes, and 50");
    sx_darray_destroy(&out);
    sx_darray_destroy(&file);
    sx_cluster_close(&cluster);
    discard(&m);
}
END_TEST

START_TEST(a_retiled_array_says_how_to_cut) {
    material m = prepare();
    const int64_t tile[] = {0, 8, 4}, map[] = {H, W}, halo[] = {0, 0, 1};
    sx_cluster *cluster = opened(NULL);
    sx_task_report report;
    sx_darray *file = sx_darray_from_hdf5(cluster, m.path, "/frames");
    sx_darray *frames = sx_darray_retile(file, tile, NULL);
    run_weigh(&m, cluster, frames, "i j", &report);
    ck_assert_int_eq(report.tiles, 3 * 9);
    run_weigh(&m, cluster, frames, "i=7 j", &report);
    ck_assert_int_eq(report.tiles, 3 * 9);
    sx_darray *wide = sx_darray_retile(file, tile, halo);
    sx_darray *out = sx_darray_create(cluster, SX_F32, 2, map);
    ck_fails(sx_task_run(&(sx_task){.name = "copy",
                                    .tiles = "i j",
                                    .cpu = copy, /* another shape: tiles are wider than results */
                                    .use = {{wide, "- i j", SX_READ}, {out, "i j", SX_WRITE}},
                                    .report = &report}),
             SX_OK, "");
    ck_assert_int_eq(report.failed, 3 * 9);
    sx_darray_destroy(&out);
    sx_darray_destroy(&wide);
    sx_darray_destroy(&frames);
    sx_darray_destroy(&file);
    sx_cluster_close(&cluster);
    discard(&m);
}
END_TEST

/* --- failures --- */

/* "copy", but tiles whose first column is 16 or 32 fail. */
static sx_status copy_or_fail(const sx_tile *tile) {
    sx_array out = tile->array[1];
    const sx_status status = sx_array_copy(&tile->array[0], &out);
    return status == SX_OK && tile->start[1] >= 16
               ? sx_tile_fail(tile, SX_ERR_NUMERIC, "column %lld is singular",
                              (long long)tile->start[1])
               : status;
}

typedef struct heard {
    int warnings;
    char sentence[1024];
} heard;

static void hear(void *data, sx_log_level level, const char *sentence) {
    heard *h = data;
    h->warnings += level == SX_LOG_WARNING;
    snprintf(h->sentence, sizeof h->sentence, "%s", sentence);
}

START_TEST(one_bad_tile_is_missing_and_counted) {
    heard h = {0};
    const int64_t map[] = {H, W};
    plain p = plain_random(5, SX_F64, 2, map);
    sx_array memory = plain_array(&p);
    const sx_context context = {.threads = 2, .log = hear, .data = &h};
    sx_cluster *cluster = opened(&context);
    sx_darray *in = sx_darray_from_memory(cluster, &memory);
    sx_darray *out = sx_darray_create(cluster, SX_F64, 2, map);
    sx_task_report report;
    ck_ok(sx_task_run(&(sx_task){.name = "shaky",
                                 .tiles = "i=16 j=16",
                                 .cpu = copy_or_fail,
                                 .use = {{in, "i j", SX_READ}, {out, "i j", SX_WRITE}},
                                 .report = &report}));
    ck_assert_int_eq(report.tiles, 6);
    ck_assert_int_eq(report.failed, 4);
    ck_assert_str_eq(report.first,
                     "task 'shaky', tile 1 (i 0, j 16), rank 0: column 16 is singular");
    ck_assert_int_eq(h.warnings, 1);
    ck_assert_ptr_nonnull(strstr(h.sentence, "4 of 6 tiles failed"));
    for (int64_t i = 0; i < H * W; i++) {
        p.v[i] = i % W < 16 ? p.v[i] : (double)NAN;
    }
    plain_gathered(&p, out);
    sx_darray_destroy(&in);
    sx_darray_destroy(&out);
    sx_cluster_close(&cluster);
    sx_array_destroy(&memory);
    plain_free(&p);
}
END_TEST

static sx_status no_memory(const sx_tile *tile) {
    return tile->number == 3 ? sx_tile_fail(tile, SX_ERR_MEMORY, "no memory for 3 bytes") : SX_OK;
}

static sx_status disk_fails(void *data, int64_t first, int64_t count, const sx_array *arrays) {
    (void)data;
    (void)arrays;
    return first + count > 12 ? sx_hdf5_open("/no/such/file.h5", &(sx_hdf5 *){NULL}) : SX_OK;
}

START_TEST(what_stops_all_is_one_sentence) {
    const int64_t map[] = {H, W};
    for (int threads = 1; threads <= 3; threads++) {
        const sx_context context = {.threads = threads};
        sx_cluster *cluster = opened(&context);
        sx_darray *out = sx_darray_create(cluster, SX_F64, 2, map);
        sx_darray *more = sx_add(out, out);
        const sx_task task = {.name = "greedy",
                              .tiles = "i=4 j=4",
                              .cpu = no_memory,
                              .use = {{out, "i j", SX_WRITE}}};
        ck_fails(sx_task_run(&task), SX_ERR_MEMORY,
                 "task 'greedy', tile 3 (i 0, j 12), rank 0: no memory for 3 bytes");
        /* What is made of it has failed as well, and so has the cluster. */
        ck_fails(sx_wait(out), SX_ERR_MEMORY, "tile 3 (i 0, j 12)");
        sx_darray *sum = sx_sum(out, 0);
        ck_fails(sx_wait(sum), SX_ERR_MEMORY, "tile 3 (i 0, j 12)");
        ck_fails(sx_wait(more), SX_ERR_MEMORY, "no memory for 3 bytes");
        sx_darray_destroy(&sum);
        sx_darray_destroy(&more);
        sx_darray_destroy(&out);
        sx_cluster_close(&cluster);
        /* A source that fails on its way. */
        cluster = opened(&context);
        const sx_darray_source source = {.arrays = 1,
                                         .array = {{.dtype = SX_F64, .rank = 2, .shape = {H, W}}},
                                         .read = disk_fails};
        sx_darray *in = NULL;
        ck_ok(sx_engine_memory(cluster, 2 * 4 * W * 8 + 8 * H * W));
        sx_darray_from_source(cluster, &source, &in);
        out = sx_darray_create(cluster, SX_F64, 2, map);
        ck_fails(sx_task_run(&(sx_task){.name = "copy",
                                        .tiles = "i=4 j=4",
                                        .cpu = copy,
                                        .use = {{in, "i j", SX_READ}, {out, "i j", SX_WRITE}}}),
                 SX_ERR_IO, "/no/such/file.h5");
        sx_darray_destroy(&in);
        sx_darray_destroy(&out);
        sx_cluster_close(&cluster);
    }
}
END_TEST

typedef struct wish {
    atomic_int tiles;
    atomic_bool stop;
} wish;

static bool asked(void *data) { return atomic_load(&((wish *)data)->stop); }

static sx_status count_tiles(const sx_tile *tile) {
    wish *w = tile->data;
    if (atomic_fetch_add(&w->tiles, 1) == 10) {
        atomic_store(&w->stop, true);
    }
    return SX_OK;
}

START_TEST(a_wish_to_stop_is_heard) {
    const int64_t map[] = {1000, 1000};
    for (int threads = 1; threads <= 3; threads++) {
        wish w = {0};
        const sx_context context = {.threads = threads, .cancel = asked, .data = &w};
        sx_cluster *cluster = opened(&context);
        sx_darray *out = sx_darray_create(cluster, SX_U8, 2, map);
        ck_fails(sx_task_run(&(sx_task){.name = "long",
                                        .tiles = "i=1 j=1",
                                        .cpu = count_tiles,
                                        .data = &w,
                                        .use = {{out, "i j", SX_WRITE}}}),
                 SX_ERR_CANCELLED, "cancelled");
        ck_assert_int_lt(atomic_load(&w.tiles), 10 + 2 * threads);
        sx_darray_destroy(&out);
        sx_cluster_close(&cluster);
        cluster = opened(NULL);
        out = sx_darray_create(cluster, SX_U8, 2, map);
        sx_cancel(cluster);
        ck_fails(sx_task_run(&(sx_task){.name = "never",
                                        .tiles = "i=1 j=1",
                                        .cpu = count_tiles,
                                        .data = &w,
                                        .use = {{out, "i j", SX_WRITE}}}),
                 SX_ERR_CANCELLED, "cancelled");
        sx_darray_destroy(&out);
        sx_cluster_close(&cluster);
    }
}
END_TEST

START_TEST(wrong_words_are_told) {
    const int64_t map[] = {4, 6}, other[] = {6, 4};
    sx_cluster *cluster = opened(NULL);
    sx_darray *a = sx_darray_create(cluster, SX_F64, 2, map);
    sx_darray *b = sx_darray_create(cluster, SX_F64, 2, other);
    sx_darray *c = sx_add(a, a);
    static const struct {
        const char *tiles, *in, *out, *words;
        sx_status status;
    } cases[] = {
        {"i=2 j=2", "i j", "j", "'j' stands for 1 axes, the array has 2", SX_ERR_SHAPE},
        {"i=2 j=2", "i j", "i j", "dimension i has 4 elements in one array and 6", SX_ERR_SHAPE},
        {"i=2 j=2", "i j", "j -", "not cut along i", SX_ERR_ARGUMENT},
        {"i=2 j=2", "i j", "j+1 i", "what is written has no halo", SX_ERR_ARGUMENT},
        {"i=2 j=2 k=1", "i j", "j i", "no array has dimension k", SX_ERR_ARGUMENT},
        {"i=2 j=2", "i k", "j i", "no dimension of the task", SX_ERR_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_darray *out = sx_darray_create(cluster, SX_F64, 2, other);
        ck_fails(sx_task_run(
                     &(sx_task){.name = "words",
                                .tiles = cases[i].tiles,
                                .cpu = copy,
                                .use = {{a, cases[i].in, SX_READ}, {out, cases[i].out, SX_WRITE}}}),
                 cases[i].status, cases[i].words);
        sx_darray_destroy(&out);
    }
    ck_fails(sx_task_run(&(sx_task){.tiles = "i j", .cpu = copy, .use = {{c, "i j", SX_WRITE}}}),
             SX_ERR_ARGUMENT, "must come from sx_darray_create");
    sx_darray_destroy(&c);
    c = sx_add(a, a);
    ck_fails(sx_task_run(&(sx_task){
                 .tiles = "i j", .cpu = copy, .use = {{b, "j i", SX_READ}, {b, "j i", SX_WRITE}}}),
             SX_ERR_ARGUMENT, "is written and also used");
    ck_fails(sx_task_run(&(sx_task){.tiles = "i j", .cpu = copy}), SX_ERR_ARGUMENT,
             "there are no arrays");
    sx_darray_destroy(&a);
    sx_darray_destroy(&b);
    sx_darray_destroy(&c);
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(nothing_to_do) {
    const int64_t map[] = {0, 6};
    sx_cluster *cluster = opened(NULL);
    sx_darray *out = sx_darray_create(cluster, SX_F64, 2, map);
    sx_task_report report;
    ck_ok(sx_task_run(&(sx_task){
        .tiles = "i=2 j=2", .cpu = copy, .use = {{out, "i j", SX_WRITE}}, .report = &report}));
    ck_assert_int_eq(report.tiles, 0);
    sx_darray_destroy(&out);
    sx_cluster_close(&cluster);
}
END_TEST

SX_TEST_MAIN("task", tiles_and_threads_do_not_change_bytes, a_small_budget_only_reads_less_at_once,
             what_memory_does_not_hold_lies_in_a_nameless_file, too_small_a_budget_is_told,
             a_retiled_array_says_how_to_cut, one_bad_tile_is_missing_and_counted,
             what_stops_all_is_one_sentence, a_wish_to_stop_is_heard, wrong_words_are_told,
             nothing_to_do)
