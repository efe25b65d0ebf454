/* SPDX-License-Identifier: Apache-2.0
 * Two maps of a run of any size: the mean of all frames, and by how much each pixel exceeds what its
 * time series scatters around, the first by an operation on arrays, the second by a tiled task.
 *   cc engine.c $(pkg-config --cflags --libs sextant) -o engine
 *   ./engine run.h5 /entry/data/data maps.h5              one process, all its cores
 *   mpirun -n 4 ./engine run.h5 /entry/data/data maps.h5  four processes; the same bytes */
#include <stdio.h>

#include <sextant/task.h>

/* For each pixel of a tile the largest value of its time series over the mean.
 * use  frames "- i j", mean "i j", peak "i j" */
static sx_status find_peaks(const sx_tile *tile) {
    const sx_array *frames = &tile->array[0], *mean = &tile->array[1];
    sx_array peak = tile->array[2];
    for (int64_t i = 0; i < tile->count[0]; i++) {
        for (int64_t j = 0; j < tile->count[1]; j++) {
            double most = 0;
            const int64_t pixel[] = {i, j};
            for (int64_t t = 0; t < frames->shape[0]; t++) {
                const int64_t at[] = {t, i, j};
                const double value = sx_array_get(frames, at);
                most = value > most ? value : most;
            }
            sx_array_set(&peak, pixel, most / sx_array_get(mean, pixel));
        }
    }
    return SX_OK;
}

int main(int argc, char **argv) {
    sx_cluster *cluster = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: engine FILE DATASET OUTPUT\n");
        return 2;
    }
    sx_status status = sx_cluster_open(NULL, &cluster);
    if (status != SX_OK) {
        fprintf(stderr, "engine: %s\n", sx_error_message());
        return 1;
    }
    /* Whatever fails on the way, the last call says it. */
    sx_darray *frames = sx_darray_from_hdf5(cluster, argv[1], argv[2]);
    sx_darray *mean = sx_mean(frames, 0);
    sx_darray *peak =
        sx_darray_create(cluster, SX_F64, sx_darray_rank(mean), sx_darray_shape(mean));
    status = sx_task_run(&(sx_task){
        .name = "peaks",
        .tiles = "i=16 j=16",
        .cpu = find_peaks,
        .use = {{frames, "- i j", SX_READ}, {mean, "i j", SX_READ}, {peak, "i j", SX_WRITE}}});
    if (status == SX_OK) {
        const sx_darray_dataset maps[] = {{mean, "/maps/mean", NULL, "mean of all frames"},
                                          {peak, "/maps/peak", "1", "largest value over the mean"}};
        status = sx_darray_to_hdf5(2, maps, argv[3], true);
    }
    if (status != SX_OK && sx_cluster_speaks(cluster)) {
        fprintf(stderr, "engine: %s\n", sx_error_message());
    }
    sx_darray_destroy(&frames);
    sx_darray_destroy(&mean);
    sx_darray_destroy(&peak);
    sx_cluster_close(&cluster);
    return status != SX_OK;
}
