/* SPDX-License-Identifier: Apache-2.0
 * A task of some seconds with a journal, to be killed.
 *   engine_long OUTPUT [resume]     the journal is OUTPUT.journal */
#include <stdio.h>
#include <string.h>

#include <sextant/task.h>

enum { H = 160, W = 160 };

static sx_status iterate(const sx_tile *tile) {
    sx_array map = tile->array[0];
    for (int64_t i = 0; i < tile->count[0]; i++) {
        for (int64_t j = 0; j < tile->count[1]; j++) {
            const int64_t at[] = {i, j};
            double x = 1e-3 * (double)((tile->start[0] + i) * W + tile->start[1] + j);
            for (int k = 0; k < 40000; k++) {
                x = x * 0.999 + 1e-3 / (1 + x);
            }
            sx_array_set(&map, at, x);
        }
    }
    return SX_OK;
}

int main(int argc, char **argv) {
    const int64_t shape[] = {H, W};
    char journal[4096];
    sx_cluster *cluster = NULL;
    sx_task_report report = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: engine_long OUTPUT [resume]\n");
        return 2;
    }
    snprintf(journal, sizeof journal, "%s.journal", argv[1]);
    sx_status status = sx_cluster_open(NULL, &cluster);
    if (status != SX_OK) {
        fprintf(stderr, "engine_long: %s\n", sx_error_message());
        return 1;
    }
    sx_darray *map = sx_darray_create(cluster, SX_F64, 2, shape);
    status = sx_task_run(&(sx_task){.name = "iterate",
                                    .tiles = "i=8 j=8",
                                    .cpu = iterate,
                                    .use = {{map, "i j", SX_WRITE}},
                                    .journal = journal,
                                    .resume = argc > 2 && strcmp(argv[2], "resume") == 0,
                                    .report = &report});
    if (status == SX_OK) {
        const sx_darray_dataset dataset = {map, "/map", NULL, NULL};
        status = sx_darray_to_hdf5(1, &dataset, argv[1], true);
    }
    if (sx_cluster_speaks(cluster) && status != SX_OK) {
        fprintf(stderr, "engine_long: %s\n", sx_error_message());
    } else if (sx_cluster_speaks(cluster)) {
        sx_journal_remove(journal);
        printf("%lld resumed, %lld computed\n", (long long)report.resumed,
               (long long)report.computed);
    }
    sx_darray_destroy(&map);
    sx_cluster_close(&cluster);
    return status != SX_OK;
}
