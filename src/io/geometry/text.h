/* SPDX-License-Identifier: Apache-2.0
 * Text files of lines, as geometries are. */
#ifndef SXI_GEOMETRY_TEXT_H
#define SXI_GEOMETRY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <sextant/status.h>

/* Where in which file, for sentences. */
typedef struct sxi_line {
    const char *path;
    long number;
    char *next; /* what follows */
} sxi_line;

/* sxi_line_next - the next line, ended by \0, without blanks at its ends; NULL at the end. */
char *sxi_line_next(sxi_line *line);

/* sxi_trim - cuts blanks off both ends. */
char *sxi_trim(char *text);

/* sxi_field_next - the next field between blanks, ended by \0; NULL at the end. */
char *sxi_field_next(char **at);

/* sxi_line_real - the whole text is one finite number; SX_ERR_FORMAT naming line and
 * what. */
sx_status sxi_line_real(const sxi_line *line, const char *what, const char *text, double *value);

#endif
