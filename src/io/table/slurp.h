/* SPDX-License-Identifier: Apache-2.0
 * A small text file as one string. */
#ifndef SXI_SLURP_H
#define SXI_SLURP_H

#include <sextant/status.h>

/* sxi_slurp - reads a text file, to be freed by the caller.
 *
 * in   what  what it should be, for the sentence: "a table of text"
 *
 * SX_ERR_IO, SX_ERR_FORMAT (binary, or above 64 MiB), SX_ERR_MEMORY. */
sx_status sxi_slurp(const char *path, const char *what, char **text);

/* sxi_slurp_if_text - the same, but *text is NULL, without a failure, if the file is binary. */
sx_status sxi_slurp_if_text(const char *path, const char *what, char **text);

#endif
