/* SPDX-License-Identifier: Apache-2.0
 * Reads boxes of one file by requests on stdin, for a referee that knows the right values.
 *
 *   read_boxes FILE
 *
 * A request is a line "N\n" and N bytes, the name of a dataset, then a line: the type to convert to
 * (float32, ... or "-"), the number of axes (-1: all of the dataset), start and count of each. The
 * answer is a line of words with tabs between: "ok", the path taken, the layout, whether it is
 * numeric, the type, the bytes that follow, why not direct; or "no" and the sentence. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/hdf5.h>

typedef struct request {
    char name[4096], type[16];
    int axes;
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK];
} request;

static bool next_request(request *r) {
    int length = 0;
    if (scanf("%d", &length) != 1 || getchar() != '\n' || length >= (int)sizeof r->name ||
        fread(r->name, 1, (size_t)length, stdin) != (size_t)length) {
        return false;
    }
    r->name[length] = '\0';
    if (scanf("%15s %d", r->type, &r->axes) != 2 || r->axes > SX_MAX_RANK) {
        return false;
    }
    for (int i = 0; i < 2 * r->axes; i++) {
        int64_t *to = i < r->axes ? &r->start[i] : &r->count[i - r->axes];
        if (scanf("%" SCNd64, to) != 1) {
            return false;
        }
    }
    return true;
}

static sx_dtype type_of(const char *word, sx_dtype otherwise) {
    for (int t = 0; t <= SX_F64; t++) {
        if (strcmp(sx_dtype_name((sx_dtype)t), word) == 0) {
            return (sx_dtype)t;
        }
    }
    return otherwise;
}

static sx_status answer(sx_hdf5 *file, const request *r) {
    static const char *const layouts[] = {"compact", "contiguous", "chunked", "external",
                                          "virtual"};
    sx_hdf5_dataset about;
    sx_hdf5_statistics statistics = {0};
    const sx_hdf5_options options = {.missing = SX_HDF5_MISSING_FILL};
    sx_array array = {0};
    int64_t shape[SX_MAX_RANK + 1] = {0}, start[SX_MAX_RANK] = {0};
    sx_status status = sx_hdf5_describe(file, r->name, &about);
    if (status != SX_OK) {
        return status;
    }
    const int rank = r->axes < 0 ? about.rank : r->axes;
    memcpy(shape, r->axes < 0 ? about.shape : r->count, sizeof about.shape);
    memcpy(start, r->start, r->axes < 0 ? 0 : sizeof start);
    shape[rank] = about.element_bytes;
    const sx_hdf5_box box = {file, r->name, start, shape, &array};
    status = sx_array_create(about.numeric ? type_of(r->type, about.dtype) : SX_U8,
                             rank + !about.numeric, shape, &array);
    if (status == SX_OK) {
        status = sx_hdf5_read(1, &box, &options, &statistics);
    }
    if (status == SX_OK) {
        const size_t bytes = (size_t)sx_array_count(&array) * sx_dtype_size(array.dtype);
        const bool direct = about.path == SX_HDF5_DIRECT && statistics.library == 0;
        printf("ok\t%s\t%s\t%d\t%s\t%zu\t%s\n", direct ? "direct" : "library",
               layouts[about.layout], about.numeric, sx_dtype_name(array.dtype), bytes,
               about.reason);
        fwrite(array.data, 1, bytes, stdout);
    }
    sx_array_destroy(&array);
    return status;
}

/* A sentence is one line, whatever names it quotes. */
static void refuse(void) {
    printf("no\t");
    for (const char *c = sx_error_message(); *c; c++) {
        putchar(*c == '\n' || *c == '\t' ? ' ' : *c);
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    sx_hdf5 *file = NULL;
    if (argc != 2) {
        return 2;
    }
    const bool open = sx_hdf5_open(argv[1], &file) == SX_OK;
    static request r;
    while (next_request(&r)) {
        if (!open || answer(file, &r) != SX_OK) {
            refuse();
        }
        fflush(stdout);
    }
    sx_hdf5_close(&file);
    return 0;
}
