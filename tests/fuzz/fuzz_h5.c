/* SPDX-License-Identifier: Apache-2.0
 * A damaged file, opened, described and read: what threads of ours read must be what H5Dread reads,
 * wherever both say that all is well. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sextant/hdf5.h>

#include "fuzz.h"
#include "io/hdf5/h5file.h"

enum { DATASETS = 24, NAME = 200, ELEMENTS = 1 << 14, BYTES = 1 << 19 };

typedef struct names {
    int count;
    char name[DATASETS][NAME];
} names;

static bool take_name(void *data, const char *name, bool is_group) {
    names *found = data;
    if (!is_group && strlen(name) < NAME) {
        snprintf(found->name[found->count++], NAME, "%s", name);
    }
    return found->count < DATASETS;
}

/* As much of an axis as keeps the whole small. */
static void choose(const sx_hdf5_dataset *about, bool inner, int64_t *start, int64_t *count) {
    int64_t elements = 1;
    for (int d = 0; d < about->rank; d++) {
        start[d] = inner ? about->shape[d] / 3 : 0;
        count[d] = inner ? about->shape[d] / 2 - start[d] : about->shape[d];
        if (count[d] > ELEMENTS / elements) {
            count[d] = ELEMENTS / elements > 0 ? ELEMENTS / elements : 1;
        }
        elements *= count[d] > 0 ? count[d] : 1;
    }
}

/* One box, through threads or library; array is destroyed by the caller. */
static sx_status read_box(sx_hdf5 *file, const char *name, const sx_hdf5_dataset *about, bool inner,
                          bool library, sx_array *array) {
    static const sx_context context = {.threads = 1};
    int64_t start[SX_MAX_RANK + 1], count[SX_MAX_RANK + 1];
    choose(about, inner, start, count);
    int rank = about->rank;
    if (!about->numeric) {
        if (rank == SX_MAX_RANK || about->element_bytes > BYTES / ELEMENTS) {
            return SX_ERR_UNSUPPORTED;
        }
        count[rank++] = about->element_bytes;
    }
    const sx_dtype dtype = !about->numeric ? SX_U8 : inner ? SX_F64 : about->dtype;
    const sx_status status = sx_array_create(dtype, rank, count, array);
    if (status != SX_OK) {
        return status;
    }
    const sx_hdf5_box box = {file, name, start, count, array};
    const sx_hdf5_options options = {
        .context = &context, .missing = SX_HDF5_MISSING_FILL, .library = library};
    return sx_hdf5_read(1, &box, &options, NULL);
}

static void try_dataset(sx_hdf5 *file, const char *name) {
    sx_hdf5_dataset about;
    if (sx_hdf5_describe(file, name, &about) != SX_OK) {
        sx_fuzz_must(*sx_error_message(), "no sentence");
        return;
    }
    sx_fuzz_must(about.rank >= 0 && about.rank <= SX_MAX_RANK, "rank");
    if (about.element_bytes == 0) {
        return;
    }
    for (int inner = 0; inner < 2; inner++) {
        sx_array ours = {0}, library = {0};
        const sx_status one = read_box(file, name, &about, inner, false, &ours);
        const sx_status two = about.path == SX_HDF5_DIRECT && !inner
                                  ? read_box(file, name, &about, inner, true, &library)
                                  : SX_ERR_UNSUPPORTED;
        if (one == SX_OK && two == SX_OK) {
            const size_t bytes = (size_t)sx_array_count(&ours) * sx_dtype_size(ours.dtype);
            sx_fuzz_must(bytes == 0 || memcmp(ours.data, library.data, bytes) == 0,
                         "other values than H5Dread");
        }
        sx_array_destroy(&ours);
        sx_array_destroy(&library);
    }
}

/* A new file every time, in memory: HDF5 takes what it failed to close for the same file. */
static void put(const char *path, const uint8_t *data, size_t size) {
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0) {
        perror(path);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/sextant-fuzz-%d.h5", (int)getpid());
    put(path, data, size);
    sx_hdf5 *file = NULL;
    if (sx_hdf5_open(path, &file) == SX_OK) {
        names found = {0};
        if (sxi_h5_members(file, "/", take_name, &found) == SX_OK) {
            for (int i = 0; i < found.count; i++) {
                try_dataset(file, found.name[i]);
            }
        }
        sx_hdf5_close(&file);
    } else {
        sx_fuzz_must(*sx_error_message(), "no sentence");
    }
    unlink(path);
    return 0;
}
