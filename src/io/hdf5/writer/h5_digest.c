/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5/writer/h5_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/fail.h"

enum { PIECE = 1 << 20, SAMPLES = 64 };

/* Adds bytes [start, start + count) of a file. */
static sx_status add(int fd, const char *path, int64_t start, int64_t count, char *buffer,
                     XXH64_state_t *state) {
    while (count > 0) {
        const size_t wanted = count < PIECE ? (size_t)count : (size_t)PIECE;
        const ssize_t got = pread(fd, buffer, wanted, (off_t)start);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return SXI_FAIL(SX_ERR_IO, "%s cannot be read for its digest: %s", path,
                            got < 0 ? strerror(errno) : "it became shorter");
        }
        XXH64_update(state, buffer, (size_t)got);
        start += got;
        count -= got;
    }
    return SX_OK;
}

/* Size, first and last MiB, and SAMPLES evenly spaced MiB of a large file. */
static sx_status add_sampled(int fd, const char *path, int64_t bytes, char *buffer,
                             XXH64_state_t *state) {
    XXH64_update(state, &bytes, sizeof bytes);
    for (int i = 0; i < SAMPLES + 2; i++) {
        const int64_t room = bytes - PIECE;
        const int64_t start = room / (SAMPLES + 1) * i;
        SXI_TRY(add(fd, path, i == SAMPLES + 1 ? room : start, PIECE, buffer, state));
    }
    return SX_OK;
}

sx_status sxi_digest_file(const char *path, int64_t whole, int64_t *bytes, char *text,
                          size_t size) {
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
    XXH64_state_t *state = XXH64_createState();
    char *buffer = malloc(PIECE);
    if (!state || !buffer) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its digest", path);
        goto out;
    }
    XXH64_reset(state, 0);
    *bytes = (int64_t)about.st_size;
    const bool sampled = *bytes > whole && *bytes > PIECE;
    SXI_GO(sampled ? add_sampled(fd, path, *bytes, buffer, state)
                   : add(fd, path, 0, *bytes, buffer, state));
    snprintf(text, size, "%s:%016llx", sampled ? "xxh64-sampled" : "xxh64",
             (unsigned long long)XXH64_digest(state));
out:
    free(buffer);
    XXH64_freeState(state);
    close(fd);
    return status;
}
