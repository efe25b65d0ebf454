/* SPDX-License-Identifier: Apache-2.0
 * What the engine costs beside a loop that does the same, one JSON line per case: tiles that compute
 * 20 us a pixel against a plain OpenMP loop, tiles that do nothing, and a sum over the frames of a
 * file against the reader alone. Rounds of both in turn, so that a busy machine disturbs both; the
 * median of their ratios.
 *
 *   bench_engine [megabytes [CASE]]     of the file, 256 by default; 0: no file
 *
 * CASE: tiles, empty or sum alone. */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sextant/hdf5.h>
#include <sextant/task.h>

#include "base/clock.h"
#include "io/hdf5/h5file.h"
#include "line.h"

enum { ROUNDS = 7, TILE = 16, ACROSS = 20, DOWN = 38, EMPTY = 1000 };

/* --- tiles --- */

/* A chain of products that nobody can shorten: some 20 us of a core of 3 GHz. */
static double pixel(double x) {
    for (int i = 0; i < 7500; i++) {
        x = x * 0.999999 + 1e-7;
    }
    return x;
}

static sx_status compute(const sx_tile *tile) {
    double *out = tile->array[1].data;
    const double *in = tile->array[0].data;
    for (int64_t i = 0; i < tile->count[0]; i++) {
        for (int64_t j = 0; j < tile->count[1]; j++) {
            out[i * tile->array[1].stride[0] + j] = pixel(in[i * tile->array[0].stride[0] + j]);
        }
    }
    return SX_OK;
}

static sx_status nothing(const sx_tile *tile) {
    (void)tile;
    return SX_OK;
}

static sx_status run_task(sx_cluster *cluster, sx_tile_fn fn, const char *tiles, const double *in,
                          const int64_t *shape, double *seconds) {
    sx_array view;
    double *borrowed = (double *)(uintptr_t)in;
    sx_status status = sx_array_view(SX_F64, 2, shape, borrowed, &view);
    sx_darray *a = sx_darray_from_memory(cluster, &view);
    sx_darray *b = sx_darray_create(cluster, SX_F64, 2, shape);
    const double begin = sxi_now();
    if (status == SX_OK) {
        status = sx_task_run(&(sx_task){.name = "bench",
                                        .tiles = tiles,
                                        .cpu = fn,
                                        .use = {{a, "i j", SX_READ}, {b, "i j", SX_WRITE}}});
    }
    *seconds = sxi_now() - begin;
    sx_darray_destroy(&a);
    sx_darray_destroy(&b);
    return status;
}

/* Tile by tile, as anyone would write it. */
static double run_loop(const double *in, const int64_t *shape, double *out) {
    const double begin = sxi_now();
#pragma omp parallel for schedule(dynamic)
    for (int tile = 0; tile < ACROSS * DOWN; tile++) {
        const int64_t y = tile / ACROSS * TILE, x = tile % ACROSS * TILE;
        for (int64_t i = y; i < y + TILE; i++) {
            for (int64_t j = x; j < x + TILE; j++) {
                out[i * shape[1] + j] = pixel(in[i * shape[1] + j]);
            }
        }
    }
    return sxi_now() - begin;
}

static sx_status bench_tiles(sx_cluster *cluster) {
    const int64_t shape[] = {DOWN * TILE, ACROSS * TILE};
    double *in = calloc((size_t)(shape[0] * shape[1]), sizeof *in);
    double *out = calloc((size_t)(shape[0] * shape[1]), sizeof *out);
    double ratio[ROUNDS], loop[ROUNDS];
    sx_status status = in && out ? SX_OK : SX_ERR_MEMORY;
    for (int round = 0; status == SX_OK && round < ROUNDS; round++) {
        loop[round] = run_loop(in, shape, out);
        status = run_task(cluster, compute, "i=16 j=16", in, shape, &ratio[round]);
        ratio[round] /= loop[round];
    }
    if (status == SX_OK) {
        const double us = 1e6 * line_spread_of(ROUNDS, loop).median * omp_get_max_threads() /
                          (double)(shape[0] * shape[1]);
        const line_spread times = line_spread_of(ROUNDS, ratio);
        line_begin("engine", "tiles");
        printf(", \"tiles\": %d, \"threads\": %d, \"us_per_pixel\": %.2f, \"times_loop\": %.4f, "
               "\"least\": %.4f, \"most\": %.4f",
               ACROSS * DOWN, omp_get_max_threads(), us, times.median, times.least, times.most);
        line_end();
    }
    free(in);
    free(out);
    return status;
}

static sx_status bench_empty(sx_cluster *cluster) {
    const int64_t shape[] = {EMPTY, EMPTY};
    double *in = calloc((size_t)EMPTY * EMPTY, sizeof *in);
    double us[ROUNDS];
    sx_status status = in ? SX_OK : SX_ERR_MEMORY;
    for (int round = 0; status == SX_OK && round < ROUNDS; round++) {
        status = run_task(cluster, nothing, "i=2 j=2", in, shape, &us[round]);
        us[round] *= 1e6 / (EMPTY * EMPTY / 4);
    }
    if (status == SX_OK) {
        const line_spread took = line_spread_of(ROUNDS, us);
        line_begin("engine", "empty tiles");
        printf(", \"tiles\": %d, \"threads\": %d, \"us_per_tile\": %.3f, \"least\": %.3f, "
               "\"most\": %.3f",
               EMPTY * EMPTY / 4, sx_threads(NULL), took.median, took.least, took.most);
        line_end();
    }
    free(in);
    return status;
}

/* --- a sum over frames --- */

static sx_status make_file(const char *path, const int64_t *shape) {
    sx_array frames;
    sxi_h5_writer *writer = NULL;
    sx_status status = sx_array_create(SX_U16, 3, shape, &frames);
    const int64_t count = status == SX_OK ? sx_array_count(&frames) : 0;
    for (int64_t i = 0; i < count; i++) {
        ((uint16_t *)frames.data)[i] = (uint16_t)(i * 7919);
    }
    status = status == SX_OK ? sxi_h5_create(path, true, &writer) : status;
    status = status == SX_OK ? sxi_h5_write(writer, "/frames", &frames, "", "") : status;
    status = status == SX_OK ? sxi_h5_commit(&writer) : status;
    sxi_h5_abandon(&writer);
    sx_array_destroy(&frames);
    return status;
}

static void see_nothing(void *data, int i, const int64_t *start, const int64_t *count,
                        const int64_t *step) {
    (void)data;
    (void)i;
    (void)start;
    (void)count;
    (void)step;
}

/* Frames through a buffer of 32 MB, as sextant read does. */
static sx_status run_reader(const char *path, const int64_t *shape, sx_array *buffer,
                            double *seconds) {
    const sx_hdf5_options options = {.slab = see_nothing};
    sx_hdf5 *file = NULL;
    const double begin = sxi_now();
    sx_status status = sx_hdf5_open(path, &file);
    for (int64_t t = 0; status == SX_OK && t < shape[0]; t += buffer->shape[0]) {
        const int64_t left = shape[0] - t, n = left < buffer->shape[0] ? left : buffer->shape[0];
        const int64_t start[] = {t, 0, 0}, count[] = {n, shape[1], shape[2]};
        sx_array band;
        status = sx_array_view(SX_U16, 3, count, buffer->data, &band);
        const sx_hdf5_box box = {file, "/frames", start, count, &band};
        status = status == SX_OK ? sx_hdf5_read(1, &box, &options, NULL) : status;
    }
    sx_hdf5_close(&file);
    *seconds = sxi_now() - begin;
    return status;
}

static sx_status run_sum(sx_cluster *cluster, const char *path, double *seconds) {
    const double begin = sxi_now();
    sx_darray *frames = sx_darray_from_hdf5(cluster, path, "/frames");
    sx_darray *sum = sx_sum(frames, 0);
    const sx_status status = sx_wait(sum);
    *seconds = sxi_now() - begin;
    sx_darray_destroy(&sum);
    sx_darray_destroy(&frames);
    return status;
}

static sx_status bench_sum(sx_cluster *cluster, int64_t megabytes) {
    const char *path = "/tmp/bench_engine.h5";
    const int64_t shape[] = {megabytes * 2, 512, 512}, band[] = {64, 512, 512};
    double ratio[ROUNDS], reader[ROUNDS];
    sx_array buffer = {0};
    sx_status status = make_file(path, shape);
    status = status == SX_OK ? sx_array_create(SX_U16, 3, band, &buffer) : status;
    for (int round = -1; status == SX_OK && round < ROUNDS; round++) { /* once for the cache */
        const int at = round < 0 ? 0 : round;
        status = run_reader(path, shape, &buffer, &reader[at]);
        status = status == SX_OK ? run_sum(cluster, path, &ratio[at]) : status;
        ratio[at] /= reader[at];
    }
    unlink(path);
    sx_array_destroy(&buffer);
    if (status == SX_OK) {
        const line_spread times = line_spread_of(ROUNDS, ratio);
        line_begin("engine", "sum over frames");
        printf(", \"bytes\": %lld, \"threads\": %d, \"reader_gb_per_s\": %.2f, "
               "\"times_reader\": %.3f, \"least\": %.3f, \"most\": %.3f",
               (long long)(megabytes << 20), sx_threads(NULL),
               1e-9 * (double)(megabytes << 20) / line_spread_of(ROUNDS, reader).median,
               times.median, times.least, times.most);
        line_end();
    }
    return status;
}

static bool is_wanted(const char *only, const char *name) {
    return !only[0] || strcmp(only, name) == 0;
}

int main(int argc, char **argv) {
    const int64_t megabytes = argc > 1 ? strtoll(argv[1], NULL, 10) : 256;
    const char *only = argc > 2 ? argv[2] : "";
    sx_cluster *cluster = NULL;
    sx_status status = sx_cluster_open(NULL, &cluster);
    if (status == SX_OK && is_wanted(only, "tiles")) {
        status = bench_tiles(cluster);
    }
    if (status == SX_OK && is_wanted(only, "empty")) {
        status = bench_empty(cluster);
    }
    if (status == SX_OK && megabytes > 0 && is_wanted(only, "sum")) {
        status = bench_sum(cluster, megabytes);
    }
    if (status != SX_OK) {
        fprintf(stderr, "bench_engine: %s\n", sx_error_message());
    }
    sx_cluster_close(&cluster);
    return status != SX_OK;
}
