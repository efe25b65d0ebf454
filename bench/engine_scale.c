/* SPDX-License-Identifier: Apache-2.0
 * What a task costs on many ranks: measured on a few, computed for up to 4,096. Driven by
 * engine_scale.sh, which starts it under mpirun.
 *
 *   bench_engine_scale costs         by two ranks: "scale_costs" in the order of its members
 *   bench_engine_scale job           760 tiles that sleep: ranks, seconds, seconds of a tile
 *   bench_engine_scale model COSTS   with the lines of jobs as input: JSON lines; 1 if they do not agree
 *
 * Tiles sleep instead of computing, so that more ranks than cores can be measured: what is compared
 * is all but the competition for cores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sextant/task.h>

#include "base/clock.h"
#include "engine/ranks.h"
#include "line.h"
#include "scale_model.h"

enum { TILES = 760, PIXELS = 256, ROUNDS = 101, BURST = 200, EMPTY = 100000, COSTS = 7 };
static const double SLEEP_S = 4e-3;
static const double AGREE = 0.1; /* a clock that wakes late, and a talking thread that rests */

static void sleep_for(double seconds) {
    const struct timespec t = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&t, NULL);
}

/* --- costs --- */

static sx_status nothing(const sx_tile *tile) {
    (void)tile;
    return SX_OK;
}

static sx_status sleeping(const sx_tile *tile) {
    (void)tile;
    sleep_for(SLEEP_S);
    return SX_OK;
}

/* Tiles of PIXELS doubles. */
static sx_status run_task(sx_cluster *cluster, int64_t tiles, sx_tile_fn fn,
                          sx_task_report *report) {
    const int64_t shape[] = {tiles, PIXELS};
    sx_darray *map = sx_darray_create(cluster, SX_F64, 2, shape);
    const sx_status status = sx_task_run(&(sx_task){.name = "scale",
                                                    .tiles = "i=1",
                                                    .cpu = fn,
                                                    .use = {{map, "i -", SX_WRITE}},
                                                    .report = report});
    sx_darray_destroy(&map);
    return status;
}

/* Rank 1 asks, some times with a pause in which rank 0 comes to rest. */
static sx_status time_claims(sx_cluster *cluster, double pause, double *median) {
    const int64_t counter = sxi_ranks_counter(cluster);
    double took[ROUNDS] = {0};
    for (int i = 0; i < ROUNDS && sx_cluster_rank(cluster) == 1; i++) {
        sxi_request request = {0};
        if (pause > 0) {
            sleep_for(pause);
        }
        const double begin = sxi_now();
        sxi_ranks_claim(cluster, counter, 1, &request);
        const sx_status status = sxi_ranks_wait(cluster, &request);
        took[i] = sxi_now() - begin;
        if (status != SX_OK) {
            return status;
        }
    }
    *median = line_spread_of(ROUNDS, took).median;
    return sxi_ranks_barrier(cluster);
}

/* Many at once: what one of them costs rank 0. */
static sx_status time_burst(sx_cluster *cluster, double *each) {
    static sxi_request request[BURST];
    const int64_t counter = sxi_ranks_counter(cluster);
    const double begin = sxi_now();
    sx_status status = SX_OK;
    for (int i = 0; i < BURST && sx_cluster_rank(cluster) == 1; i++) {
        sxi_ranks_claim(cluster, counter, 1, &request[i]);
    }
    for (int i = 0; i < BURST && status == SX_OK && sx_cluster_rank(cluster) == 1; i++) {
        status = sxi_ranks_wait(cluster, &request[i]);
    }
    *each = (sxi_now() - begin) / BURST;
    return status == SX_OK ? sxi_ranks_barrier(cluster) : status;
}

/* Messages of rank 1, each sent when the one before is gone, as those of bands are. */
static sx_status time_messages(sx_cluster *cluster, int count, size_t bytes, double *each) {
    const int64_t tag = sxi_ranks_counter(cluster);
    char *from = calloc(1, bytes), *to = calloc(1, bytes);
    sx_status status = from && to ? SX_OK : SX_ERR_MEMORY;
    double begin = 0;
    for (int i = -1; i < count && status == SX_OK; i++) { /* once for the pages */
        sxi_request request = {0};
        begin = i == 0 ? sxi_now() : begin;
        if (sx_cluster_rank(cluster) == 1) {
            memcpy(to, from, bytes);
            sxi_ranks_send(cluster, 0, tag, to, bytes, &request);
        } else {
            sxi_ranks_receive(cluster, 1, tag, to, bytes, &request);
        }
        status = sxi_ranks_wait(cluster, &request);
        if (sx_cluster_rank(cluster) == 0) {
            memcpy(from, to, bytes);
        }
    }
    *each = (sxi_now() - begin) / count;
    free(from);
    free(to);
    return status == SX_OK ? sxi_ranks_barrier(cluster) : status;
}

static sx_status time_empty(sx_cluster *cluster, double *each) {
    sx_task_report report = {0};
    const sx_status status = run_task(cluster, EMPTY, nothing, &report);
    *each = report.busy / (double)(report.tiles / sx_cluster_size(cluster));
    return status;
}

static sx_status costs(sx_cluster *cluster) {
    enum { SMALL = 64, LONG = 8192, LARGE = 8 << 20 };
    double tile, small, long_one, large, answers[3];
    sx_status status = time_empty(cluster, &tile);
    status = status == SX_OK ? time_claims(cluster, 3e-3, &answers[0]) : status;
    status = status == SX_OK ? time_claims(cluster, 0, &answers[1]) : status;
    status = status == SX_OK ? time_burst(cluster, &answers[2]) : status;
    status = status == SX_OK ? time_messages(cluster, ROUNDS, SMALL, &small) : status;
    status = status == SX_OK ? time_messages(cluster, ROUNDS, LONG, &long_one) : status;
    status = status == SX_OK ? time_messages(cluster, 9, LARGE, &large) : status;
    /* Only rank 1 has timed its claims. */
    status = status == SX_OK ? sxi_ranks_broadcast(cluster, 1, answers, sizeof answers) : status;
    if (status == SX_OK && sx_cluster_speaks(cluster)) {
        printf("%.3g %.3g %.3g %.3g %.3g %.3g %.3g\n", tile, answers[0], answers[1], answers[2],
               small, long_one, (large - long_one) / LARGE);
    }
    return status;
}

static sx_status job(sx_cluster *cluster) {
    sx_task_report report = {0};
    const sx_status status = run_task(cluster, TILES, sleeping, &report);
    double each = 0; /* as long as a tile really takes */
    if (status == SX_OK && sx_cluster_speaks(cluster)) {
        for (int i = 0; i < ROUNDS; i++) {
            const double begin = sxi_now();
            sleep_for(SLEEP_S);
            each += (sxi_now() - begin) / ROUNDS;
        }
        printf("%d %.6g %.6g\n", sx_cluster_size(cluster), report.seconds, each);
    }
    return status;
}

/* --- the model --- */

static void print_costs(const double *c) {
    line_begin("engine", "scale costs");
    printf(", \"us_tile\": %.3f, \"us_claim_rested\": %.1f, \"us_claim_quick\": %.1f, "
           "\"us_service\": %.2f, \"us_message\": %.1f, \"us_long_message\": %.1f, "
           "\"ns_byte\": %.4f",
           1e6 * c[0], 1e6 * c[1], 1e6 * c[2], 1e6 * c[3], 1e6 * c[4], 1e6 * c[5], 1e9 * c[6]);
    line_end();
}

/* Each job that was measured against what the model says. */
static bool compare(const scale_costs *costs) {
    bool agree = true;
    int ranks;
    double seconds, tile;
    while (scanf("%d %lf %lf", &ranks, &seconds, &tile) == 3) {
        const scale_task task = {TILES, tile, PIXELS * (int64_t)sizeof(double), 32};
        const scale_result r = scale_run(costs, &task, ranks);
        line_begin("engine", "scale measured");
        printf(", \"tiles\": %d, \"ms_tile\": %.3f, \"ranks\": %d, \"seconds\": %.4f, "
               "\"predicted\": %.4f, \"times\": %.4f",
               TILES, 1e3 * tile, ranks, seconds, r.seconds, r.seconds / seconds);
        line_end();
        agree = agree && fabs(r.seconds / seconds - 1) <= AGREE;
    }
    return agree;
}

/* A fit of 20 us a pixel that writes 20 maps of doubles. */
static void predict(const scale_costs *costs, const char *name, int64_t tiles) {
    const scale_task task = {tiles, 20e-6 * PIXELS, 20 * PIXELS * (int64_t)sizeof(double), 4};
    const double alone = scale_run(costs, &task, 1).seconds;
    for (int ranks = 1; ranks <= 4096; ranks *= 2) {
        const scale_result r = scale_run(costs, &task, ranks);
        line_begin("engine", name);
        printf(", \"tiles\": %lld, \"ms_tile\": %.2f, \"ranks\": %d, \"bands\": %lld, "
               "\"seconds\": %.4f, \"times_faster\": %.1f, \"computing_s\": %.4f, "
               "\"gathering_s\": %.4f, \"claiming_s\": %.4f",
               (long long)tiles, 1e3 * task.tile, ranks, (long long)r.bands, r.seconds,
               alone / r.seconds, r.computing, r.gathering, r.claiming);
        line_end();
    }
}

static int model(char **argv) {
    double c[COSTS];
    for (int i = 0; i < COSTS; i++) {
        c[i] = strtod(argv[i], NULL);
    }
    const scale_costs costs = {c[0], c[1], c[2], c[3], c[4], c[5], c[6]};
    print_costs(c);
    const bool agree = compare(&costs);
    predict(&costs, "scale 760 tiles", TILES);
    predict(&costs, "scale 35 megapixels", 35000000 / PIXELS);
    return !agree;
}

int main(int argc, char **argv) {
    if (argc == 2 + COSTS && strcmp(argv[1], "model") == 0) {
        return model(argv + 2);
    }
    if (argc != 2) {
        fprintf(stderr,
                "usage: bench_engine_scale costs | job | model COSTS; see engine_scale.sh\n");
        return 2;
    }
    sx_cluster *cluster = NULL;
    sx_status status = sx_cluster_open(NULL, &cluster);
    if (status == SX_OK) {
        status = strcmp(argv[1], "costs") == 0 ? costs(cluster) : job(cluster);
    }
    if (status != SX_OK && sx_cluster_speaks(cluster)) {
        fprintf(stderr, "bench_engine_scale: %s\n", sx_error_message());
    }
    sx_cluster_close(&cluster);
    return status != SX_OK;
}
