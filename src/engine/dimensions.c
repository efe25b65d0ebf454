/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/dimensions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* The next word, without its blanks; false: there is none. */
static bool next_word(const char **at, const char **word, size_t *length) {
    *at += strspn(*at, " ");
    *word = *at;
    *length = strcspn(*at, " ");
    *at += *length;
    return *length > 0;
}

/* A name, and behind it a mark with a number; nothing behind it: number stays. */
static sx_status read_word(const char *words, const char *word, size_t length, char mark,
                           int64_t least, char name[SXI_NAME], int64_t *number) {
    size_t letters = 0;
    while (letters < length && (isalnum((unsigned char)word[letters]) || word[letters] == '_')) {
        letters++;
    }
    bool good = letters > 0 && letters < SXI_NAME && !isdigit((unsigned char)word[0]);
    if (good && letters < length) {
        char *end = NULL;
        good = word[letters] == mark && isdigit((unsigned char)word[letters + 1]);
        const long long read = good ? strtoll(word + letters + 1, &end, 10) : 0;
        good = good && end == word + length && read >= least && read < INT64_MAX / 4;
        *number = read;
    }
    if (!good) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "'%.*s' in '%s' is not understood: a name is expected, with or without "
                        "%cNUMBER behind it",
                        (int)length, word, words, mark);
    }
    memcpy(name, word, letters);
    name[letters] = '\0';
    return SX_OK;
}

static int find(const sxi_dimensions *dimensions, const char *name) {
    for (int d = 0; d < dimensions->n; d++) {
        if (strcmp(dimensions->name[d], name) == 0) {
            return d;
        }
    }
    return SXI_AXIS_ALL;
}

sx_status sxi_dimensions_read(const char *words, sxi_dimensions *dimensions) {
    const char *at = words ? words : "", *word = NULL;
    size_t length = 0;
    *dimensions = (sxi_dimensions){0};
    while (next_word(&at, &word, &length)) {
        char name[SXI_NAME];
        int64_t tile = 0;
        SXI_TRY(read_word(words, word, length, '=', 1, name, &tile));
        if (dimensions->n == SX_TASK_DIMENSIONS) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "'%s' has more than %d dimensions", words,
                            SX_TASK_DIMENSIONS);
        }
        if (find(dimensions, name) != SXI_AXIS_ALL) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "dimension %s stands twice in '%s'", name, words);
        }
        memcpy(dimensions->name[dimensions->n], name, sizeof name);
        dimensions->tile[dimensions->n++] = tile;
    }
    return dimensions->n > 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_ARGUMENT, "a task has no dimensions; \"i=16 j=16\" would be two");
}

sx_status sxi_axes_read(const char *words, const sxi_dimensions *dimensions, sxi_axes *axes) {
    const char *at = words ? words : "", *word = NULL;
    size_t length = 0;
    bool seen[SX_TASK_DIMENSIONS] = {false};
    *axes = (sxi_axes){0};
    while (next_word(&at, &word, &length)) {
        if (axes->n == SX_MAX_RANK) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "'%s' has more than %d axes", words, SX_MAX_RANK);
        }
        const int axis = axes->n++;
        axes->dimension[axis] = SXI_AXIS_ALL;
        if (length == 1 && word[0] == '-') {
            continue;
        }
        char name[SXI_NAME];
        SXI_TRY(read_word(words, word, length, '+', 0, name, &axes->halo[axis]));
        const int d = find(dimensions, name);
        if (d == SXI_AXIS_ALL) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "'%s' names %s, which is no dimension of the task",
                            words, name);
        }
        if (seen[d]) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "dimension %s stands twice in '%s'", name, words);
        }
        seen[d] = true;
        axes->dimension[axis] = d;
    }
    return SX_OK;
}
