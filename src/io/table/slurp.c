/* SPDX-License-Identifier: Apache-2.0
 * Binary files and folders are told before they are read whole. */
#include "io/table/slurp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

enum { MOST_BYTES = 64 << 20, HEAD_BYTES = 4096 };

sx_status sxi_slurp(const char *path, const char *what, char **text) {
    sx_status status = SX_OK;
    struct stat about;
    *text = NULL;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0) {
        status = errno == ENOENT
                     ? SXI_FAIL(SX_ERR_IO, "%s: no such file", path)
                     : SXI_FAIL(SX_ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
        goto out;
    }
    if (!S_ISREG(about.st_mode)) {
        status = SXI_FAIL(SX_ERR_IO, "%s is not a regular file", path);
        goto out;
    }
    if (about.st_size > MOST_BYTES) {
        status = SXI_FAIL(SX_ERR_FORMAT, "%s has %lld bytes, %s at most %d", path,
                          (long long)about.st_size, what, MOST_BYTES);
        goto out;
    }
    const size_t size = (size_t)about.st_size;
    *text = malloc(size + 1);
    if (!*text) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read %zu bytes", path, size);
        goto out;
    }
    const size_t head = size < HEAD_BYTES ? size : HEAD_BYTES;
    if (fread(*text, 1, head, file) != head ||
        (!memchr(*text, '\0', head) && fread(*text + head, 1, size - head, file) != size - head)) {
        status = SXI_FAIL(SX_ERR_IO, "%s cannot be read: %s", path, strerror(errno));
        goto out;
    }
    if (memchr(*text, '\0', head) || memchr(*text, '\0', size)) {
        status = SXI_FAIL(SX_ERR_FORMAT, "%s is not %s: it holds binary data", path, what);
        goto out;
    }
    (*text)[size] = '\0';
out:
    if (file) {
        fclose(file);
    }
    if (status != SX_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}
