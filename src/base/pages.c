/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

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
