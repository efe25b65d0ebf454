/* SPDX-License-Identifier: Apache-2.0
 * A text that grows. All zero is an empty one; lack of memory is remembered until it is taken. */
#ifndef SXI_TEXT_H
#define SXI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sxi_text {
    char *bytes;
    size_t length, room;
    bool failed;
} sxi_text;

/* sxi_text_add - appends as printf does. sxi_text_add_bytes - appends n bytes. */
void sxi_text_add(sxi_text *text, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void sxi_text_add_bytes(sxi_text *text, const char *bytes, size_t n);

/* sxi_text_take - hands over the text, to be freed by the caller; NULL without memory. */
char *sxi_text_take(sxi_text *text);

#endif
