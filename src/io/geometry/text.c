/* SPDX-License-Identifier: Apache-2.0 */
#include "io/geometry/text.h"

#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"

static const char BLANKS[] = " \t\r\v\f";

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
