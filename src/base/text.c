/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for n more bytes and the final zero. */
static bool grow(sxi_text *text, size_t n) {
    if (text->failed) {
        return false;
    }
    if (text->length + n + 1 > text->room) {
        const size_t room = 2 * (text->length + n + 1);
        char *bytes = realloc(text->bytes, room);
        if (!bytes) {
            text->failed = true;
            return false;
        }
        text->bytes = bytes;
        text->room = room;
    }
    return true;
}

void sxi_text_add_bytes(sxi_text *text, const char *bytes, size_t n) {
    if (grow(text, n)) {
        memcpy(text->bytes + text->length, bytes, n);
        text->length += n;
        text->bytes[text->length] = '\0';
    }
}

void sxi_text_add(sxi_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int n = vsnprintf(NULL, 0, format, arguments);
    if (n < 0) {
        text->failed = true;
    } else if (grow(text, (size_t)n)) {
        vsnprintf(text->bytes + text->length, (size_t)n + 1, format, again);
        text->length += (size_t)n;
    }
    va_end(again);
    va_end(arguments);
}

char *sxi_text_take(sxi_text *text) {
    char *bytes = NULL;
    if (grow(text, 0)) {
        bytes = text->bytes;
        bytes[text->length] = '\0';
    } else {
        free(text->bytes);
    }
    *text = (sxi_text){0};
    return bytes;
}
