/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
