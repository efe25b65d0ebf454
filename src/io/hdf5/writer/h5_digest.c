/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5/writer/h5_digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/fail.h"

enum { PIECE = 1 << 20, SAMPLES = 64 };

/* What a file is read with. */
typedef struct reading {
    int fd;
    const char *path;
    const sx_context *context;
    char *buffer; /* [PIECE] */
    XXH64_state_t *state;
} reading;

/* Adds bytes [start, start + count) of a file. */
static sx_status add(const reading *r, int64_t start, int64_t count) {
    while (count > 0) {
        if (sx_cancelled(r->context)) {
            return SXI_FAIL(SX_ERR_CANCELLED, "%s: its digest was cancelled", r->path);
        }
        const size_t wanted = count < PIECE ? (size_t)count : (size_t)PIECE;
        const ssize_t got = pread(r->fd, r->buffer, wanted, (off_t)start);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return SXI_FAIL(SX_ERR_IO, "%s cannot be read for its digest: %s", r->path,
                            got < 0 ? strerror(errno) : "it became shorter");
        }
        XXH64_update(r->state, r->buffer, (size_t)got);
        start += got;
        count -= got;
    }
    return SX_OK;
}

/* Size, first and last MiB, and SAMPLES evenly spaced MiB of a large file. */
static sx_status add_sampled(const reading *r, int64_t bytes) {
    XXH64_update(r->state, &bytes, sizeof bytes);
    for (int i = 0; i < SAMPLES + 2; i++) {
        const int64_t room = bytes - PIECE;
        const int64_t start = room / (SAMPLES + 1) * i;
        SXI_TRY(add(r, i == SAMPLES + 1 ? room : start, PIECE));
    }
    return SX_OK;
}

/* Names and sizes of the files of a folder: a run may have hundreds of large ones. */
static sx_status add_folder(const reading *r, int64_t *bytes) {
    struct dirent **names = NULL;
    const int count = scandir(r->path, &names, NULL, alphasort);
    if (count < 0) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be listed for its digest: %s", r->path,
                        strerror(errno));
    }
    *bytes = 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat about;
        snprintf(path, sizeof path, "%.3000s/%.1000s", r->path, names[i]->d_name);
        if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
            const int64_t size = (int64_t)about.st_size;
            XXH64_update(r->state, names[i]->d_name, strlen(names[i]->d_name) + 1);
            XXH64_update(r->state, &size, sizeof size);
            *bytes += size;
        }
        free(names[i]);
    }
    free(names);
    return SX_OK;
}

sx_status sxi_digest_file(const char *path, int64_t whole, const sx_context *context,
                          int64_t *bytes, char *text, size_t size) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        const int error = errno;
        if (fd >= 0) {
            close(fd);
        }
        return SXI_FAIL(SX_ERR_IO, "%s cannot be read for its digest: %s", path, strerror(error));
    }
    sx_status status = SX_OK;
    const reading r = {fd, path, context, malloc(PIECE), XXH64_createState()};
    if (!r.state || !r.buffer) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its digest", path);
        goto out;
    }
    XXH64_reset(r.state, 0);
    const bool folder = S_ISDIR(about.st_mode);
    *bytes = folder ? 0 : (int64_t)about.st_size;
    const bool sampled = *bytes > whole && *bytes > PIECE;
    SXI_GO(folder ? add_folder(&r, bytes) : sampled ? add_sampled(&r, *bytes) : add(&r, 0, *bytes));
    snprintf(text, size, "%s:%016llx",
             folder    ? "xxh64-names"
             : sampled ? "xxh64-sampled"
                       : "xxh64",
             (unsigned long long)XXH64_digest(r.state));
out:
    free(r.buffer);
    XXH64_freeState(r.state);
    close(fd);
    return status;
}
