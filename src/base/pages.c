/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"

enum { LARGE = 2 << 20 }; /* of x86; where they are larger some bytes stay in small ones */

void sxi_pages_large(void *bytes, size_t count) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t before = (page - (uintptr_t)bytes % page) % page; /* to the first whole page */
    if (count >= before + page) {
        madvise((char *)bytes + before, (count - before) / page * page, MADV_HUGEPAGE);
    }
#else
    (void)bytes;
    (void)count;
#endif
}

void *sxi_pages_take(size_t count) {
    void *taken = NULL;
    if (count < LARGE) {
        return malloc(count + 1);
    }
    if (posix_memalign(&taken, LARGE, count) != 0) {
        return NULL;
    }
    sxi_pages_large(taken, count);
    return taken;
}

sx_status sxi_pages_in_file(const char *folder, size_t count, void **bytes) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/.sextant-XXXXXX", folder);
    *bytes = NULL;
    const int fd = mkstemp(name);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        unlink(name);
        /* A hole that cannot be filled later would kill the process. */
        error = posix_fallocate(fd, 0, (off_t)count);
    }
    void *mapped = MAP_FAILED;
    if (error == 0) {
        mapped = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = mapped == MAP_FAILED ? errno : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (error != 0) {
        return SXI_FAIL(SX_ERR_IO, "%s has no room for %zu bytes that do not fit into memory: %s",
                        folder, count, strerror(error));
    }
    *bytes = mapped;
    return SX_OK;
}
