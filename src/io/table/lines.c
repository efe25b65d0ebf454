/* SPDX-License-Identifier: Apache-2.0 */
#include "io/table/lines.h"

#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "io/table/slurp.h"

sx_status sxi_lines_open(const char *path, const char *what, sxi_lines *lines) {
    *lines = (sxi_lines){.path = path};
    SXI_TRY(sxi_slurp(path, what, &lines->text));
    lines->next = lines->text;
    return SX_OK;
}

void sxi_lines_close(sxi_lines *lines) {
    free(lines->text);
    lines->text = NULL;
}

bool sxi_lines_next(sxi_lines *lines) {
    char *line = lines->next;
    lines->words = 0;
    if (!*line) {
        return false;
    }
    lines->number++;
    const size_t length = strcspn(line, "\n");
    lines->next = line + length + (line[length] == '\n');
    line[length] = '\0';
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\r", &rest); word && lines->words < SXI_LINES_WORDS;
         word = strtok_r(NULL, " \t\r", &rest)) {
        lines->word[lines->words++] = word;
    }
    return true;
}

void sxi_lines_fail(const sxi_lines *lines, const char *found, const char *what) {
    if (found) {
        sxi_fail(SX_ERR_FORMAT, __FILE__, __LINE__, "%s line %d: '%.40s' found, expected %s",
                 lines->path, lines->number, found, what);
    } else {
        sxi_fail(SX_ERR_FORMAT, __FILE__, __LINE__, "%s line %d: nothing more found, expected %s",
                 lines->path, lines->number, what);
    }
}

sx_status sxi_lines_numbers(sxi_lines *lines, int count, const char *what, double *value) {
    if (!sxi_lines_next(lines) || lines->words < count) {
        return SXI_LINES_FAIL(lines, NULL, what);
    }
    for (int k = 0; k < count; k++) {
        if (sx_parse_real(lines->word[k], value + k) != SX_OK) {
            return SXI_LINES_FAIL(lines, lines->word[k], what);
        }
    }
    return SX_OK;
}
