/* SPDX-License-Identifier: Apache-2.0
 * What becomes of all ranks when something happens to one of them. */
#include <sextant/task.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sextant/engine.h>

#include "engine/cluster.h"
#include "engine/fake_wire.h"
#include "engine/plan.h"
#include "io/hdf5/h5file.h"
#include "sx_folder.h"
#include "sx_plain.h"

enum { RANKS_MOST = 4, H = 60, W = 44, TILES = 15 * 11 };

typedef struct shared shared;

static char journal[256]; /* sx_folder is for one thread */

/* One rank: what it does, and what came of it. */
typedef struct rank {
    fake_net *net;
    int number;
    shared *all;
    sx_cluster *cluster;
    sx_context context;
    pthread_t thread;
    sx_status status;
    char sentence[600];
    sx_task_report report;
    sx_array map; /* on rank 0 */
} rank;

struct shared {
    sx_status (*run)(sx_cluster *cluster, rank *r);
    int ranks;
    int guilty; /* the rank that something happens to */
    bool resume;
    atomic_int computed, stop_after;
    atomic_bool stop;
    rank rank[RANKS_MOST];
};

static bool asked(void *data) { return atomic_load(&((rank *)data)->all->stop); }

static void *live(void *data) {
    static const sxi_cluster_options patient = {.lost_s = 1000};
    rank *r = data;
    sx_cluster *cluster = NULL;
    const sxi_wire wire = fake_net_wire(r->net, r->number);
    ck_ok(sxi_cluster_open(&r->context, &patient, &wire, &cluster));
    r->cluster = cluster;
    r->status = r->all->run(cluster, r);
    snprintf(r->sentence, sizeof r->sentence, "%s", r->status == SX_OK ? "" : sx_error_message());
    sx_cluster_close(&cluster);
    return NULL;
}

static void live_together(shared *all, int ranks) {
    fake_net *net = fake_net_create(ranks);
    all->ranks = ranks;
    for (int i = 0; i < ranks; i++) {
        rank *r = &all->rank[i];
        *r = (rank){.net = net, .number = i, .all = all};
        r->context = (sx_context){.threads = 1 + i % 2, .cancel = asked, .data = r};
        ck_assert_int_eq(pthread_create(&r->thread, NULL, live, r), 0);
    }
    for (int i = 0; i < ranks; i++) {
        pthread_join(all->rank[i].thread, NULL);
    }
    fake_net_destroy(&net);
}

static void expect_all(const shared *all, sx_status status, const char *words) {
    for (int i = 0; i < all->ranks; i++) {
        const rank *r = &all->rank[i];
        ck_assert_msg(r->status == status && strstr(r->sentence, words), "rank %d says %s: '%s'", i,
                      sx_status_name(r->status), r->sentence);
    }
}

static void forget(shared *all) { sx_array_destroy(&all->rank[0].map); }

static double answer(int64_t i) { return sin((double)i); }

static sx_status compute(const sx_tile *tile) {
    rank *r = tile->data;
    sx_array map = tile->array[0];
    for (int64_t i = 0; i < tile->count[0]; i++) {
        for (int64_t j = 0; j < tile->count[1]; j++) {
            const int64_t at[] = {i, j};
            sx_array_set(&map, at, answer((tile->start[0] + i) * W + tile->start[1] + j));
        }
    }
    if (atomic_fetch_add(&r->all->computed, 1) + 1 == atomic_load(&r->all->stop_after)) {
        atomic_store(&r->all->stop, true);
    }
    while (atomic_load(&r->all->stop) && !sxi_ranks_stopped(r->cluster)) {
        sched_yield(); /* until the wish is heard: the rest is not computed before */
    }
    return SX_OK;
}

static sx_status run_tiles(sx_cluster *cluster, rank *r, sx_tile_fn fn, const char *kept) {
    const int64_t shape[] = {H, W};
    sx_darray *out = sx_darray_create(cluster, SX_F64, 2, shape);
    sx_status status = sx_task_run(&(sx_task){.name = "map",
                                              .tiles = "i=4 j=4",
                                              .cpu = fn,
                                              .data = r,
                                              .use = {{out, "i j", SX_WRITE}},
                                              .journal = kept,
                                              .resume = r->all->resume,
                                              .report = &r->report});
    if (status == SX_OK) {
        status = sx_gather(out, &r->map);
    }
    sx_darray_destroy(&out);
    return status;
}

/* --- a bad tile --- */

static sx_status some_fail(const sx_tile *tile) {
    return tile->number % 10 == 7 ? sx_tile_fail(tile, SX_ERR_NUMERIC, "seven") : compute(tile);
}

static sx_status run_some_fail(sx_cluster *cluster, rank *r) {
    return run_tiles(cluster, r, some_fail, NULL);
}

START_TEST(bad_tiles_of_all_ranks_are_counted) {
    for (int ranks = 1; ranks <= RANKS_MOST; ranks++) {
        shared all = {.run = run_some_fail};
        live_together(&all, ranks);
        expect_all(&all, SX_OK, "");
        for (int i = 0; i < ranks; i++) {
            ck_assert_int_eq(all.rank[i].report.failed, 16);
            ck_assert_int_eq(all.rank[i].report.computed, TILES);
            ck_assert_ptr_nonnull(strstr(all.rank[i].report.first, "tile 7 (i 0, j 28), rank "));
        }
        const double *map = all.rank[0].map.data;
        ck_assert(isnan(map[28]) && map[27] == answer(27));
        forget(&all);
    }
}
END_TEST

/* --- one rank stops all --- */

static sx_status guilty_stops(const sx_tile *tile) {
    const rank *r = tile->data;
    while (r->number != r->all->guilty && !sxi_ranks_stopped(r->cluster)) {
        sched_yield(); /* so that the guilty one gets a tile */
    }
    if (r->number == r->all->guilty) {
        return sx_tile_fail(tile, SX_ERR_MEMORY, "no memory for a thing");
    }
    return SX_OK;
}

static sx_status run_guilty(sx_cluster *cluster, rank *r) {
    return run_tiles(cluster, r, guilty_stops, NULL);
}

static sx_status run_missing(sx_cluster *cluster, rank *r) {
    const int64_t shape[] = {H, W};
    sx_array memory;
    sx_status status = sx_array_create(SX_F64, 2, shape, &memory);
    sx_darray *in = r->number == r->all->guilty
                        ? sx_darray_from_hdf5(cluster, "/no/such/file.h5", "/x")
                        : sx_darray_from_memory(cluster, &memory);
    sx_darray *sum = sx_sum(in, 0);
    status = status == SX_OK ? sx_wait(sum) : status;
    sx_darray_destroy(&sum);
    sx_darray_destroy(&in);
    sx_array_destroy(&memory);
    return status;
}

START_TEST(one_rank_stops_all) {
    for (int ranks = 2; ranks <= RANKS_MOST; ranks++) {
        for (int guilty = 0; guilty < ranks; guilty++) {
            shared all = {.run = run_missing, .guilty = guilty};
            live_together(&all, ranks);
            expect_all(&all, SX_ERR_IO, "/no/such/file.h5");
        }
    }
}
END_TEST

START_TEST(out_of_memory_on_one_rank_stops_all) {
    for (int guilty = 0; guilty < 3; guilty++) {
        shared all = {.run = run_guilty, .guilty = guilty};
        live_together(&all, 3);
        char words[64];
        snprintf(words, sizeof words, "rank %d: no memory for a thing", guilty);
        expect_all(&all, SX_ERR_MEMORY, words);
    }
}
END_TEST

/* --- stopped and gone on with --- */

static sx_status run_journal(sx_cluster *cluster, rank *r) {
    return run_tiles(cluster, r, compute, journal);
}

START_TEST(a_stopped_run_goes_on_with_fewer_ranks) {
    snprintf(journal, sizeof journal, "%s", sx_folder("many.journal"));
    for (int ranks = 1; ranks <= RANKS_MOST; ranks++) {
        for (int later = 1; later <= ranks; later++) {
            shared first = {.run = run_journal, .stop_after = 40};
            live_together(&first, ranks);
            expect_all(&first, SX_ERR_CANCELLED, "go on with --resume");
            shared second = {.run = run_journal, .resume = true};
            live_together(&second, later);
            expect_all(&second, SX_OK, "");
            const sx_task_report *report = &second.rank[0].report;
            ck_assert_int_eq(report->resumed + report->computed, TILES);
            ck_assert_int_ge(report->resumed, 40);
            for (int i = 0; i < H * W; i++) {
                ck_assert(((double *)second.rank[0].map.data)[i] == answer(i));
            }
            forget(&second);
            sx_journal_remove(journal);
            ck_assert_int_eq(sx_folder_count(), 0);
        }
    }
}
END_TEST

/* --- whole frames, each one chunk --- */

static sx_status read_nothing(void *data, int64_t first, int64_t count, const sx_array *arrays) {
    (void)data, (void)first, (void)count, (void)arrays;
    return SX_OK;
}

static sx_status do_nothing(const sx_tile *tile) {
    (void)tile;
    return SX_OK;
}

/* Every rank gets a band; together these are all tiles. */
static sx_status plan_frames(sx_cluster *cluster, rank *r) {
    const sx_darray_source source = {
        .arrays = 1,
        .array[0] = {.dtype = SX_F32, .rank = 3, .shape = {9, H, W}, .axis = 1},
        .chunk_rows = H,
        .read = read_nothing};
    sx_darray *frames = NULL, *out = sx_darray_create(cluster, SX_F64, 2, (const int64_t[]){H, W});
    sxi_plan plan;
    int64_t tiles = 0;
    sx_darray_from_source(cluster, &source, &frames);
    const sx_task task = {.name = "plan",
                          .tiles = "i=4 j=4",
                          .cpu = do_nothing,
                          .use = {{frames, "- i j", SX_READ}, {out, "i j", SX_WRITE}}};
    const sx_status status = sxi_plan_make(&task, &plan);
    for (int64_t band = 0; band < plan.bands; band++) {
        int64_t first = 0, count = 0;
        sxi_plan_band(&plan, band, &first, &count);
        ck_assert_int_eq(first, tiles);
        tiles += count;
    }
    ck_assert_int_eq(tiles, TILES);
    ck_assert_int_ge(plan.bands, r->all->ranks);
    sxi_plan_free(&plan);
    sx_darray_destroy(&frames);
    sx_darray_destroy(&out);
    return status;
}

START_TEST(ranks_share_whole_frames) {
    for (int ranks = 1; ranks <= RANKS_MOST; ranks++) {
        shared all = {.run = plan_frames};
        live_together(&all, ranks);
        expect_all(&all, SX_OK, "");
    }
}
END_TEST

/* --- a file of each rank --- */

static char volume[256], frames_path[256];

/* 2 x + 1 of a file, and what is stored: in one file to look at. */
static sx_status run_parts(sx_cluster *cluster, rank *r) {
    double two = 2, map[3] = {4, 5, 6};
    const int64_t shape[] = {3};
    sx_array scalar, stored;
    (void)r;
    ck_ok(sx_array_view(SX_F64, 0, NULL, &two, &scalar));
    ck_ok(sx_array_view(SX_F64, 1, shape, map, &stored));
    sx_darray *x = sx_darray_from_hdf5(cluster, frames_path, "/x");
    sx_darray *factor = sx_darray_from_memory(cluster, &scalar);
    sx_darray *kept = sx_darray_from_memory(cluster, &stored);
    sx_darray *y = sx_multiply(x, factor);
    const sx_darray_dataset datasets[] = {{y, "/volume/y", "ADU", "Twice of it"},
                                          {kept, "/maps/kept", NULL, NULL}};
    const sx_status status = sx_darray_to_hdf5_parts(2, datasets, volume, true);
    sx_darray_destroy(&y);
    sx_darray_destroy(&kept);
    sx_darray_destroy(&factor);
    sx_darray_destroy(&x);
    return status;
}

static void expect_volume(const plain *x) {
    sx_cluster *cluster = NULL;
    plain y = plain_copy(x);
    for (int64_t i = 0; i < plain_count(&y); i++) {
        y.v[i] *= 2;
    }
    ck_ok(sx_cluster_open(NULL, &cluster));
    sx_darray *read = sx_darray_from_hdf5(cluster, volume, "/volume/y");
    sx_darray *kept = sx_darray_from_hdf5(cluster, volume, "/maps/kept");
    sx_array map;
    plain_gathered(&y, read);
    ck_ok(sx_gather(kept, &map));
    ck_assert(((double *)map.data)[2] == 6);
    sx_array_destroy(&map);
    sx_darray_destroy(&kept);
    sx_darray_destroy(&read);
    sx_cluster_close(&cluster);
    plain_free(&y);
}

START_TEST(files_of_ranks_are_seen_as_one) {
    const int64_t shape[] = {7, 11, 5};
    plain x = plain_random(4, SX_F64, 3, shape);
    sx_array values = plain_array(&x);
    sxi_h5_writer *writer = NULL;
    snprintf(volume, sizeof volume, "%s", sx_folder("volume.h5"));
    snprintf(frames_path, sizeof frames_path, "%s", sx_folder("x.h5"));
    ck_ok(sxi_h5_create(frames_path, true, &writer));
    ck_ok(sxi_h5_write(writer, "/x", &values, "", ""));
    ck_ok(sxi_h5_commit(&writer));
    for (int ranks = RANKS_MOST; ranks > 0; ranks--) { /* parts of more ranks go */
        shared all = {.run = run_parts};
        live_together(&all, ranks);
        expect_all(&all, SX_OK, "");
        expect_volume(&x);
        ck_assert_int_eq(sx_folder_count(), ranks > 1 ? 2 + ranks : 2);
    }
    /* A part that cannot be written: all fail, and what was there before is as it was. */
    char folder[300];
    snprintf(folder, sizeof folder, "%s.1", volume);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    shared all = {.run = run_parts};
    live_together(&all, 3);
    expect_all(&all, SX_ERR_IO, "volume.h5.1");
    expect_volume(&x);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(sx_folder_count(), 2);
    unlink(volume);
    unlink(frames_path);
    sx_array_destroy(&values);
    plain_free(&x);
}
END_TEST

SX_TEST_MAIN("many", files_of_ranks_are_seen_as_one, ranks_share_whole_frames,
             bad_tiles_of_all_ranks_are_counted, one_rank_stops_all,
             out_of_memory_on_one_rank_stops_all, a_stopped_run_goes_on_with_fewer_ranks)
