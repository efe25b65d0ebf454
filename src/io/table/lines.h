/* SPDX-License-Identifier: Apache-2.0
 * A text file line by line, each split at blanks. */
#ifndef SXI_LINES_H
#define SXI_LINES_H

#include <stdbool.h>

#include <sextant/status.h>

enum { SXI_LINES_WORDS = 64 };

typedef struct sxi_lines {
    const char *path;
    char *text; /* owned */
    char *next;
    int number; /* of the current line, from 1 */
    int words;
    char *word[SXI_LINES_WORDS]; /* of the current line; more than these are not seen */
} sxi_lines;

/* sxi_lines_open - reads the whole file; what as for sxi_slurp. SX_ERR_IO, SX_ERR_FORMAT,
 * SX_ERR_MEMORY. */
sx_status sxi_lines_open(const char *path, const char *what, sxi_lines *lines);
void sxi_lines_close(sxi_lines *lines);

/* sxi_lines_next - goes to the next line; false at the end. */
bool sxi_lines_next(sxi_lines *lines);

/* sxi_lines_numbers - the first count words of the next line as numbers. SX_ERR_FORMAT with a
 * sentence that says what they should be: "three numbers, the first lattice vector". */
sx_status sxi_lines_numbers(sxi_lines *lines, int count, const char *what, double *value);

/* return SXI_LINES_FAIL(lines, "abc", "a number"): SX_ERR_FORMAT with "FILE line 3: 'abc' found,
 * expected a number"; found may be NULL. The status stands outside the call, so that analysers see
 * that it is not SX_OK. */
#define SXI_LINES_FAIL(lines, found, what) (sxi_lines_fail((lines), (found), (what)), SX_ERR_FORMAT)
void sxi_lines_fail(const sxi_lines *lines, const char *found, const char *what);

#endif
