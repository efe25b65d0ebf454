/* SPDX-License-Identifier: Apache-2.0
 * Frames of an HDF5 file as traces: [T,H,W] of any type and filter to [H,W,T] of float, on all cores.
 *   cc traces.c $(pkg-config --cflags --libs sextant) -o traces && ./traces run.h5 /entry/data/data */
#include <stdio.h>

#include <sextant/hdf5.h>

static int fail(void) {
    fprintf(stderr, "traces: %s\n", sx_error_message());
    return 1;
}

int main(int argc, char **argv) {
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    if (argc != 3) {
        fprintf(stderr, "usage: traces FILE DATASET\n");
        return 2;
    }
    if (sx_hdf5_open(argv[1], &file) != SX_OK || sx_hdf5_describe(file, argv[2], &about) != SX_OK) {
        return fail();
    }
    if (about.rank != 3) {
        fprintf(stderr, "traces: %s has %d axes, 3 are needed\n", argv[2], about.rank);
        return 1;
    }
    const int64_t t = about.shape[0], h = about.shape[1], w = about.shape[2];
    const int64_t shape[] = {h, w, t};
    sx_array traces = {0};
    if (sx_array_create(SX_F32, 3, shape, &traces) != SX_OK) {
        return fail();
    }
    /* The same memory with the axes of the file: strides are all that a transposition takes. */
    sx_array view = {.dtype = SX_F32,
                     .rank = 3,
                     .shape = {t, h, w},
                     .stride = {1, w * t, t},
                     .data = traces.data};
    const sx_hdf5_box box = {.file = file, .name = argv[2], .array = &view};
    sx_hdf5_statistics did;
    if (sx_hdf5_read(1, &box, NULL, &did) != SX_OK) {
        return fail();
    }
    const float *first = traces.data;
    printf("%lld traces in %.3f s; the first begins with %g\n", (long long)(h * w), did.seconds,
           sx_array_count(&traces) > 0 ? (double)first[0] : 0.0);
    sx_array_destroy(&traces);
    sx_hdf5_close(&file);
    return 0;
}
