/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <stdlib.h>
#include <string.h>

static char *add(char *to, const char *word) {
    const size_t n = strlen(word);
    memcpy(to, word, n);
    return to + n;
}

static char *add_quoted(char *to, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:,=+%@";
    if (*word && word[strspn(word, plain)] == '\0') {
        return add(to, word);
    }
    to = add(to, "'");
    for (; *word; word++) {
        if (*word == '\'') {
            to = add(to, "'\\''");
        } else {
            *to++ = *word;
        }
    }
    return add(to, "'");
}

char *cli_line(const char *name, int argc, char **argv) {
    size_t room = strlen(name) + 1;
    for (int i = 1; i < argc; i++) {
        room += 4 * strlen(argv[i]) + 3; /* all quotes, the two around, the blank */
    }
    char *line = malloc(room);
    if (!line) {
        return NULL;
    }
    char *to = add(line, name);
    for (int i = 1; i < argc; i++) {
        *to++ = ' ';
        to = add_quoted(to, argv[i]);
    }
    *to = '\0';
    return line;
}
