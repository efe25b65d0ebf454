/* SPDX-License-Identifier: Apache-2.0
 * Enough of cuFile for tests: reads of at most 300,000 bytes, at any offset, of files opened with
 * O_DIRECT or without. */
#include "io/device/fake.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct result {
    int cufile, cuda;
} result;

typedef struct descriptor {
    int type;
    union {
        int fd;
        void *other;
    } handle;
    const void *operations;
} descriptor;

result cuFileDriverOpen(void);
result cuFileHandleRegister(void **handle, descriptor *file);
void cuFileHandleDeregister(void *handle);
ssize_t cuFileRead(void *handle, void *target, size_t bytes, off_t offset, off_t target_offset);

enum { NOT_INITIALIZED = 5001, INVALID_VALUE = 5008, NOT_SUPPORTED = 5027, MOST = 300000 };
enum { PAGE = 4096 };

static bool is_open;
static int held;

int fake_cufile_held(void) { return __atomic_load_n(&held, __ATOMIC_RELAXED); }

result cuFileDriverOpen(void) {
    is_open = true;
    return (result){0, 0};
}

result cuFileHandleRegister(void **handle, descriptor *file) {
    if (!is_open || file->type != 1 || file->operations) {
        return (result){is_open ? INVALID_VALUE : NOT_INITIALIZED, 0};
    }
    if (getenv("FAKE_REFUSE")) {
        return (result){NOT_SUPPORTED, 0};
    }
    int *made = malloc(sizeof *made);
    *made = file->handle.fd;
    *handle = made;
    __atomic_add_fetch(&held, 1, __ATOMIC_RELAXED);
    return (result){0, 0};
}

void cuFileHandleDeregister(void *handle) {
    free(handle);
    __atomic_sub_fetch(&held, 1, __ATOMIC_RELAXED);
}

/* Whole pages into a page of our own, as O_DIRECT wants it. */
ssize_t cuFileRead(void *handle, void *target, size_t bytes, off_t offset, off_t target_offset) {
    const off_t skip = offset % PAGE;
    bytes = bytes < MOST ? bytes : MOST;
    const size_t wide = ((size_t)skip + bytes + PAGE - 1) / PAGE * PAGE;
    unsigned char *pages = aligned_alloc(PAGE, wide);
    ssize_t got = pread(*(int *)handle, pages, wide, offset - skip) - (ssize_t)skip;
    got = got < 0 ? -1 : got < (ssize_t)bytes ? got : (ssize_t)bytes;
    if (got > 0) {
        memcpy((char *)((size_t)target - (size_t)FAKE_DEVICE) + target_offset, pages + skip,
               (size_t)got);
    }
    free(pages);
    return got;
}
