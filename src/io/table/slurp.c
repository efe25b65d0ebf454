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

sx_status sxi_slurp_if_text(const char *path, const char *what, char **text) {
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
    const size_t size = (size_t)about.st_size;
    char head[HEAD_BYTES];
    const size_t begun = fread(head, 1, sizeof head, file);
    if (memchr(head, '\0', begun)) {
        goto out;
    }
    if (size > MOST_BYTES) {
        status = SXI_FAIL(SX_ERR_FORMAT, "%s has %zu bytes, %s at most %d", path, size, what,
                          MOST_BYTES);
        goto out;
    }
    *text = calloc(size + 1, 1);
    if (!*text) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read %zu bytes", path, size);
        goto out;
    }
    rewind(file);
    if (fread(*text, 1, size, file) != size) {
        status = SXI_FAIL(SX_ERR_IO, "%s cannot be read: %s", path, strerror(errno));
        goto out;
    }
    if (memchr(*text, '\0', size)) { /* binary after all */
        free(*text);
        *text = NULL;
    }
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

sx_status sxi_slurp(const char *path, const char *what, char **text) {
    SXI_TRY(sxi_slurp_if_text(path, what, text));
    if (!*text) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s is not %s: it holds binary data", path, what);
    }
    return SX_OK;
}
