/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE_BYTES = 2048, PLACE_BYTES = 128 };

/* The only state the library keeps: the last failure of each thread. */
static _Thread_local struct {
    sx_status status;
    char sentence[SENTENCE_BYTES];
    char place[PLACE_BYTES];
} last;

const char *sx_status_name(sx_status status) {
    switch (status) {
#define NAME(name, value, words)                                                                   \
    case SX_##name:                                                                                \
        return "SX_" #name;
        SX_STATUS_LIST(NAME)
#undef NAME
    }
    return "SX_ERR_?";
}

const char *sx_status_text(sx_status status) {
    switch (status) {
#define TEXT(name, value, words)                                                                   \
    case SX_##name:                                                                                \
        return words;
        SX_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}

const char *sx_error_message(void) { return last.sentence; }

sx_status sx_error_status(void) { return last.status; }

const char *sx_error_place(void) { return last.place; }

void sx_error_clear(void) {
    last.status = SX_OK;
    last.sentence[0] = '\0';
    last.place[0] = '\0';
}

sx_status sxi_fail(sx_status status, const char *file, int line, const char *format, ...) {
    char sentence[SENTENCE_BYTES]; /* the arguments may point into the last sentence */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    memcpy(last.sentence, sentence, sizeof sentence);
    const char *name = strrchr(file, '/');
    snprintf(last.place, sizeof last.place, "%s:%d", name ? name + 1 : file, line);
    last.status = status;
    return status;
}

sx_status sxi_fail_context(sx_status status, const char *format, ...) {
    char words[SENTENCE_BYTES];
    char sentence[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    /* A long sentence is better cut than lost. */
    int room = (int)sizeof sentence - 1;
    int front = (int)strlen(words) < room - 2 ? (int)strlen(words) : room - 2;
    snprintf(sentence, sizeof sentence, "%.*s: %.*s", front, words, room - 2 - front,
             last.sentence);
    memcpy(last.sentence, sentence, sizeof sentence);
    last.status = status;
    return status;
}
