/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/journal.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "sx_folder.h"
#include "sx_plain.h"

enum { H = 50, W = 37, TILES = 7 * 5 };

/* What a run is told: the tile after which it stops, and how many it computed. */
typedef struct told {
    atomic_int stop_after, computed;
    atomic_bool stop;
} told;

static bool asked(void *data) { return atomic_load(&((told *)data)->stop); }

static double answer(int64_t i, int64_t j) { return sin((double)(i * W + j)); }

static sx_status compute(const sx_tile *tile) {
    told *t = tile->data;
    sx_array map = tile->array[0], byte = tile->array[1];
    for (int64_t i = 0; i < tile->count[0]; i++) {
        for (int64_t j = 0; j < tile->count[1]; j++) {
            const int64_t at[] = {i, j}, pair[] = {0, i, j}, second[] = {1, i, j};
            const double x = answer(tile->start[0] + i, tile->start[1] + j);
            sx_array_set(&map, at, x);
            sx_array_set(&byte, pair, (double)(tile->number % 256));
            sx_array_set(&byte, second, 100 * fabs(x));
        }
    }
    if (atomic_fetch_add(&t->computed, 1) + 1 == atomic_load(&t->stop_after)) {
        atomic_store(&t->stop, true);
    }
    return SX_OK;
}

/* One run; what it gives is compared with `expected`, if it ends. */
static sx_status run(told *t, int threads, bool resume, const char *key, const char *tiles,
                     sx_task_report *report, const sx_array *expected) {
    const int64_t map[] = {H, W}, pair[] = {2, H, W};
    const sx_context context = {.threads = threads, .cancel = asked, .data = t};
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(&context, &cluster));
    sx_darray *a = sx_darray_create(cluster, SX_F64, 2, map);
    sx_darray *b = sx_darray_create(cluster, SX_U8, 3, pair);
    const sx_status status =
        sx_task_run(&(sx_task){.name = "slow",
                               .tiles = tiles,
                               .cpu = compute,
                               .data = t,
                               .use = {{a, "i j", SX_WRITE}, {b, "- i j", SX_WRITE}},
                               .journal = sx_folder("out.h5.journal"),
                               .key = key,
                               .resume = resume,
                               .report = report});
    for (int k = 0; k < 2 && status == SX_OK && expected; k++) {
        sx_array got;
        ck_ok(sx_gather(k ? b : a, &got));
        ck_assert_mem_eq(got.data, expected[k].data,
                         (size_t)sx_array_count(&got) * sx_dtype_size(got.dtype));
        sx_array_destroy(&got);
    }
    sx_darray_destroy(&a);
    sx_darray_destroy(&b);
    sx_cluster_close(&cluster);
    return status;
}

static void expect(sx_array expected[2]) {
    const int64_t map[] = {H, W}, pair[] = {2, H, W};
    ck_ok(sx_array_create(SX_F64, 2, map, &expected[0]));
    ck_ok(sx_array_create(SX_U8, 3, pair, &expected[1]));
    for (int64_t i = 0; i < H * W; i++) {
        const int64_t at[] = {i / W, i % W}, one[] = {0, i / W, i % W}, two[] = {1, i / W, i % W};
        const double x = answer(i / W, i % W);
        sx_array_set(&expected[0], at, x);
        sx_array_set(&expected[1], one, (double)(i / W / 8 * 5 + i % W / 8));
        sx_array_set(&expected[1], two, 100 * fabs(x));
    }
}

static const char *journal(void) { return sx_folder("out.h5.journal"); }

static const char TILE[] = "i=8 j=8";

START_TEST(a_stopped_run_goes_on) {
    sx_array expected[2];
    expect(expected);
    for (int threads = 1; threads <= 3; threads++) {
        told first = {.stop_after = 12}, second = {0};
        sx_task_report report;
        ck_fails(run(&first, threads, false, "k", TILE, NULL, NULL), SX_ERR_CANCELLED,
                 "go on with --resume");
        ck_ok(run(&second, 4 - threads, true, "k", TILE, &report, expected));
        ck_assert_int_eq(report.tiles, TILES);
        ck_assert_int_eq(report.resumed + report.computed, TILES);
        ck_assert_int_ge(report.resumed, 12);
        ck_assert_int_eq(atomic_load(&second.computed), report.computed);
        /* And again: nothing is left to do. */
        told third = {0};
        ck_ok(run(&third, threads, true, "k", TILE, &report, expected));
        ck_assert_int_eq(report.computed, 0);
        sx_journal_remove(journal());
        ck_assert_int_ne(access(journal(), F_OK), 0);
    }
    sx_array_destroy(&expected[0]);
    sx_array_destroy(&expected[1]);
}
END_TEST

/* The whole journal of a run that ended. */
static char *whole_journal(size_t *count) {
    told t = {0};
    sx_journal_remove(journal());
    ck_ok(run(&t, 2, false, "k", TILE, NULL, NULL));
    return sx_folder_slurp(journal(), count);
}

START_TEST(cut_anywhere_it_goes_on) {
    sx_array expected[2];
    size_t count;
    expect(expected);
    char *bytes = whole_journal(&count);
    for (uint64_t i = 0; i < 60; i++) {
        size_t left = i < 40 ? (size_t)i : (size_t)(sxi_rng_uniform(9, 1, i) * (double)count);
        told t = {0};
        sx_task_report report;
        sx_folder_write("out.h5.journal", bytes, left);
        ck_ok(run(&t, 2, true, "k", TILE, &report, expected));
        ck_assert_int_eq(report.resumed + report.computed, TILES);
        /* What was cut off has been written again. */
        told again = {0};
        ck_ok(run(&again, 1, true, "k", TILE, &report, expected));
        ck_assert_int_eq(report.computed, 0);
    }
    free(bytes);
    sx_journal_remove(journal());
    sx_array_destroy(&expected[0]);
    sx_array_destroy(&expected[1]);
}
END_TEST

START_TEST(a_foreign_or_damaged_journal_is_refused) {
    size_t count;
    told t = {0};
    char *bytes = whole_journal(&count);
    ck_fails(run(&t, 1, false, "k", TILE, NULL, NULL), SX_ERR_EXISTS, "go on with --resume");
    ck_fails(run(&t, 1, true, "other", TILE, NULL, NULL), SX_ERR_ARGUMENT, "another run");
    ck_fails(run(&t, 1, true, "k", "i=4 j=8", NULL, NULL), SX_ERR_ARGUMENT, "another run");
    sx_folder_write("out.h5.journal", "hello, I am a text", 18);
    ck_fails(run(&t, 1, true, "k", TILE, NULL, NULL), SX_ERR_ARGUMENT, "is not a journal");
    /* Two records, the first of them changed. */
    char *twice = malloc(2 * count);
    memcpy(twice, bytes, count);
    memcpy(twice + count, bytes + 16, count - 16);
    twice[100] ^= 1;
    sx_folder_write("out.h5.journal", twice, 2 * count - 16);
    ck_fails(run(&t, 1, true, "k", TILE, NULL, NULL), SX_ERR_FORMAT, "damaged at byte 16");
    ck_assert_int_eq(atomic_load(&t.computed), 0);
    /* The last one changed may have been torn by a power cut: computed again. */
    sx_folder_write("out.h5.journal", twice, count);
    sx_task_report report;
    ck_ok(run(&t, 1, true, "k", TILE, &report, NULL));
    ck_assert_int_eq(report.computed, TILES);
    free(twice);
    free(bytes);
    sx_journal_remove(journal());
    told missing = {0}; /* to resume without a journal is to begin */
    ck_ok(run(&missing, 1, true, "k", TILE, &report, NULL));
    ck_assert_int_eq(report.resumed, 0);
    sx_journal_remove(journal());
}
END_TEST

static sx_status fail_some(const sx_tile *tile) {
    told *t = tile->data;
    atomic_fetch_add(&t->computed, 1);
    return tile->number % 5 == 0 ? sx_tile_fail(tile, SX_ERR_NUMERIC, "no") : SX_OK;
}

START_TEST(failed_tiles_are_tried_again) {
    const int64_t map[] = {H, W};
    sx_task_report report[2];
    for (int i = 0; i < 2; i++) {
        told t = {0};
        sx_cluster *cluster = NULL;
        ck_ok(sx_cluster_open(NULL, &cluster));
        sx_darray *a = sx_darray_create(cluster, SX_F64, 2, map);
        ck_ok(sx_task_run(&(sx_task){.tiles = TILE,
                                     .cpu = fail_some,
                                     .data = &t,
                                     .use = {{a, "i j", SX_WRITE}},
                                     .journal = journal(),
                                     .resume = i > 0,
                                     .report = &report[i]}));
        sx_array got;
        ck_ok(sx_gather(a, &got));
        ck_assert(isnan(((double *)got.data)[0]));
        sx_array_destroy(&got);
        sx_darray_destroy(&a);
        sx_cluster_close(&cluster);
    }
    ck_assert_int_eq(report[0].failed, 7);
    ck_assert_int_eq(report[1].failed, 7);
    ck_assert_int_eq(report[1].computed, 7);
    ck_assert_str_eq(report[0].first, report[1].first);
    sx_journal_remove(journal());
}
END_TEST

START_TEST(two_runs_do_not_share_a_journal) {
    told t = {0};
    sx_task_report report;
    atomic_store(&t.stop_after, 9);
    ck_assert_int_eq(run(&t, 1, false, "a", "i=8 j=8", &report, NULL), SX_ERR_CANCELLED);
    const int held = open(sx_folder("out.h5.journal"), O_RDWR);
    ck_assert(held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0);
    told again = {0};
    ck_fails(run(&again, 1, true, "a", "i=8 j=8", &report, NULL), SX_ERR_EXISTS,
             "written by another run");
    close(held);
    sx_array expected[2];
    expect(expected);
    ck_ok(run(&again, 1, true, "a", "i=8 j=8", &report, expected));
    sx_array_destroy(&expected[0]);
    sx_array_destroy(&expected[1]);
    sx_journal_remove(sx_folder("out.h5.journal"));
    ck_assert(access(sx_folder("out.h5.journal"), F_OK) != 0);
}
END_TEST

START_TEST(a_place_that_cannot_be_written_is_told) {
    const int64_t map[] = {H, W};
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(NULL, &cluster));
    sx_darray *a = sx_darray_create(cluster, SX_F64, 2, map);
    ck_fails(sx_task_run(&(sx_task){.tiles = TILE,
                                    .cpu = fail_some,
                                    .data = &(told){0},
                                    .use = {{a, "i j", SX_WRITE}},
                                    .journal = "/no/such/folder/out.journal"}),
             SX_ERR_IO, "/no/such/folder/out.journal cannot be written: No such file");
    sx_darray_destroy(&a);
    sx_cluster_close(&cluster);
}
END_TEST

SX_TEST_MAIN("journal", a_stopped_run_goes_on, cut_anywhere_it_goes_on,
             a_foreign_or_damaged_journal_is_refused, failed_tiles_are_tried_again,
             two_runs_do_not_share_a_journal, a_place_that_cannot_be_written_is_told)
