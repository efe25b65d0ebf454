/* SPDX-License-Identifier: Apache-2.0 */
#include "io/geometry/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sextant/options.h>

#include "base/fail.h"

/* A detector of a thousand panels has some 200 kB. */
enum { MOST_BYTES = 16 << 20 };

static const char BLANKS[] = " \t\r\v\f";

sx_status sxi_text_read(const char *path, char **text) {
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
    char head[256] = {0};
    if (memchr(head, '\0', fread(head, 1, sizeof head, file))) {
        goto out;
    }
    if (size > MOST_BYTES) {
        status = SXI_FAIL(SX_ERR_FORMAT, "%s has %zu bytes, a geometry in text at most %d", path,
                          size, MOST_BYTES);
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

char *sxi_trim(char *text) {
    text += strspn(text, BLANKS);
    size_t length = strlen(text);
    while (length > 0 && strchr(BLANKS, text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

char *sxi_line_next(sxi_line *line) {
    char *here = line->next;
    if (*here == '\0') {
        return NULL;
    }
    char *end = here + strcspn(here, "\n");
    line->next = *end ? end + 1 : end;
    *end = '\0';
    line->number++;
    return sxi_trim(here);
}

char *sxi_field_next(char **at) {
    char *here = *at + strspn(*at, BLANKS);
    if (*here == '\0') {
        return NULL;
    }
    char *end = here + strcspn(here, BLANKS);
    *at = *end ? end + 1 : end;
    *end = '\0';
    return here;
}

sx_status sxi_line_real(const sxi_line *line, const char *what, const char *text, double *value) {
    if (sx_parse_real(text, value) != SX_OK) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: %s is '%.60s', which is not a number",
                        line->path, line->number, what, text);
    }
    return SX_OK;
}
