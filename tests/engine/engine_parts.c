/* SPDX-License-Identifier: Apache-2.0
 * Twice a dataset as a file of each rank.
 *   engine_parts INPUT DATASET OUTPUT */
#include <stdio.h>

#include <sextant/darray.h>

int main(int argc, char **argv) {
    double two = 2;
    sx_array scalar;
    sx_cluster *cluster = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: engine_parts INPUT DATASET OUTPUT\n");
        return 2;
    }
    sx_status status = sx_cluster_open(NULL, &cluster);
    if (status != SX_OK) {
        fprintf(stderr, "engine_parts: %s\n", sx_error_message());
        return 1;
    }
    sx_array_view(SX_F64, 0, NULL, &two, &scalar);
    sx_darray *x = sx_darray_from_hdf5(cluster, argv[1], argv[2]);
    sx_darray *factor = sx_darray_from_memory(cluster, &scalar);
    sx_darray *y = sx_multiply(x, factor);
    const sx_darray_dataset dataset = {y, "/volume/y", "ADU", "Twice what was read"};
    status = sx_darray_to_hdf5_parts(1, &dataset, argv[3], false);
    if (status != SX_OK && sx_cluster_speaks(cluster)) {
        fprintf(stderr, "engine_parts: %s\n", sx_error_message());
    }
    sx_darray_destroy(&y);
    sx_darray_destroy(&factor);
    sx_darray_destroy(&x);
    sx_cluster_close(&cluster);
    return status != SX_OK;
}
