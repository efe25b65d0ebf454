/* SPDX-License-Identifier: Apache-2.0
 * One thing going wrong for each word, by any number of ranks.
 *   engine_fails make FILE            a cube of 2 GiB, of which few frames are not zero (holes on the disk)
 *   engine_fails WORD FILE OUTPUT     budget | memory | cut | disk | journal | tile */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sextant/engine.h>
#include <sextant/task.h>

#include "base/fail.h"
#include "engine/ranks.h"
#include "io/hdf5/h5file.h"

enum { FRAMES = 1024, SIDE = 1024, STRIP = 16, MB = 1 << 20 };

/* Frames 0, 700 and the last one hold 1, 2 and 3. */
static sx_status make(const char *path) {
    static const int64_t at[] = {0, 700, FRAMES - 1};
    const int64_t shape[] = {FRAMES, SIDE, SIDE}, one[] = {1, SIDE, SIDE};
    sxi_h5_writer *writer = NULL;
    sx_array frame = {0};
    sx_status status = SX_OK;
    SXI_GO(sx_array_create(SX_U16, 3, one, &frame));
    SXI_GO(sxi_h5_create(path, true, &writer));
    SXI_GO(sxi_h5_dataset_create(writer, "/frames", SX_U16, 3, shape, "", ""));
    for (int i = 0; i < 3; i++) {
        const int64_t start[] = {at[i], 0, 0};
        for (int64_t k = 0; k < SIDE * SIDE; k++) {
            ((uint16_t *)frame.data)[k] = (uint16_t)(i + 1);
        }
        SXI_GO(sxi_h5_write_box(writer, "/frames", start, &frame));
    }
    status = sxi_h5_commit(&writer);
out:
    sxi_h5_abandon(&writer);
    sx_array_destroy(&frame);
    return status;
}

static void limit(int what, int64_t bytes) {
    struct rlimit now;
    getrlimit(what, &now);
    now.rlim_cur = (rlim_t)bytes;
    setrlimit(what, &now);
}

/* The sum over all frames. Where there are data, tile 7 fails. */
static sx_status add_up(const sx_tile *tile) {
    const sx_array *frames = &tile->array[0];
    sx_array map = tile->array[1];
    if (tile->data && tile->number == 7) {
        return sx_tile_fail(tile, SX_ERR_IO, "its disk is on fire");
    }
    for (int64_t i = 0; i < tile->count[0]; i++) {
        for (int64_t j = 0; j < tile->count[1]; j++) {
            const uint16_t *at =
                (const uint16_t *)frames->data + i * frames->stride[1] + j * frames->stride[2];
            double sum = 0;
            for (int64_t t = 0; t < frames->shape[0]; t++) {
                sum += at[t * frames->stride[0]];
            }
            sx_array_set(&map, (const int64_t[]){i, j}, sum);
        }
    }
    return SX_OK;
}

/* What is done to the cube: a sum over frames, and one of some of its lines by tiles. */
typedef struct job {
    sx_darray *frames, *lines, *sum, *map;
} job;

static void begin(job *j, sx_cluster *cluster, const char *path) {
    const int64_t start[] = {0, 0, 0}, stop[] = {FRAMES, STRIP, SIDE}, shape[] = {STRIP, SIDE};
    j->frames = sx_darray_from_hdf5(cluster, path, "/frames");
    j->lines = sx_darray_view(j->frames, start, stop);
    j->map = sx_darray_create(cluster, SX_F64, 2, shape);
}

static void end(job *j) {
    sx_darray_destroy(&j->sum);
    sx_darray_destroy(&j->map);
    sx_darray_destroy(&j->lines);
    sx_darray_destroy(&j->frames);
}

static sx_status run_tiles(const job *j, sx_darray *in, const char *tiles, void *data,
                           const char *journal) {
    return sx_task_run(&(sx_task){.name = "add up",
                                  .tiles = tiles,
                                  .cpu = add_up,
                                  .data = data,
                                  .use = {{in, "- i j", SX_READ}, {j->map, "i j", SX_WRITE}},
                                  .journal = journal});
}

/* 6 everywhere, in 64 MB: with 0.5 GB there is no room for a quarter of the cube. */
static sx_status budget(job *j, sx_cluster *cluster, const char *output) {
    limit(RLIMIT_AS, 512LL * MB);
    SXI_TRY(sx_engine_memory(cluster, 64LL * MB));
    SXI_TRY(run_tiles(j, j->lines, "i=2 j=256", NULL, NULL));
    j->sum = sx_sum(j->frames, 0);
    SXI_TRY(sx_wait(j->sum));
    const sx_darray_dataset datasets[] = {{j->sum, "/sum", NULL, NULL},
                                          {j->map, "/map", NULL, NULL}};
    return sx_darray_to_hdf5(2, datasets, output, false);
}

/* A budget that promises more than there is. */
static sx_status memory(job *j, sx_cluster *cluster) {
    const int64_t shape[] = {SIDE, SIDE};
    SXI_TRY(sx_engine_memory(cluster, 8192LL * MB));
    sx_darray_destroy(&j->map);
    j->map = sx_darray_create(cluster, SX_F64, 2, shape);
    limit(RLIMIT_AS, 512LL * MB);
    return run_tiles(j, j->frames, "i j", NULL, NULL);
}

static sx_status cut(job *j, sx_cluster *cluster, const char *path) {
    SXI_TRY(sxi_ranks_barrier(cluster)); /* all have opened it */
    if (sx_cluster_rank(cluster) == 0 && truncate(path, 900LL * MB) != 0) {
        return SX_ERR_IO;
    }
    SXI_TRY(sxi_ranks_barrier(cluster));
    return run_tiles(j, j->lines, "i=2 j=256", NULL, NULL);
}

/* Files may not grow: the same to a program as a disk that is full. */
static sx_status disk(job *j, const char *output) {
    const sx_darray_dataset dataset = {j->map, "/map", NULL, NULL};
    limit(RLIMIT_FSIZE, 4096);
    return sx_darray_to_hdf5(1, &dataset, output, false);
}

static sx_status run(sx_cluster *cluster, const char *word, const char *path, const char *output) {
    job j = {.frames = NULL};
    sx_status status = SX_ERR_ARGUMENT;
    begin(&j, cluster, path);
    if (strcmp(word, "budget") == 0) {
        status = budget(&j, cluster, output);
    } else if (strcmp(word, "memory") == 0) {
        status = memory(&j, cluster);
    } else if (strcmp(word, "cut") == 0) {
        status = cut(&j, cluster, path);
    } else if (strcmp(word, "disk") == 0) {
        status = disk(&j, output);
    } else if (strcmp(word, "journal") == 0) {
        limit(RLIMIT_FSIZE, 4096);
        status = run_tiles(&j, j.lines, "i=2 j=256", NULL, output);
    } else if (strcmp(word, "tile") == 0) {
        status = run_tiles(&j, j.lines, "i=2 j=256", cluster, NULL);
    }
    if (status != SX_OK && sx_cluster_speaks(cluster)) {
        fprintf(stderr, "engine_fails: %s\n", sx_error_message());
    }
    end(&j);
    return status;
}

int main(int argc, char **argv) {
    sx_cluster *cluster = NULL;
    signal(SIGXFSZ, SIG_IGN);
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        return make(argv[2]) != SX_OK;
    }
    if (argc != 4) {
        fprintf(stderr, "usage: engine_fails WORD FILE OUTPUT\n");
        return 2;
    }
    sx_status status = sx_cluster_open(NULL, &cluster);
    if (status == SX_OK) {
        status = run(cluster, argv[1], argv[2], argv[3]);
    }
    sx_cluster_close(&cluster);
    return status != SX_OK;
}
