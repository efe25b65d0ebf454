/* SPDX-License-Identifier: Apache-2.0
 * A page of HTML that carries everything it shows, so that it works from a disk: style, script (both
 * built from web/), blocks of numbers, and a description of them as JSON. */
#ifndef SXI_REPORT_PAGE_H
#define SXI_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <sextant/array.h>

typedef struct sxi_page sxi_page;

/* sxi_page_create - none of the files it is made of may be the output. SX_ERR_ARGUMENT, SX_ERR_EXISTS,
 * SX_ERR_IO, SX_ERR_MEMORY. */
sx_status sxi_page_create(const char *output, bool overwrite, int files, const char *const *paths,
                          sxi_page **page);

/* sxi_page_block - count numbers under a name. In the page: planes of bytes, the lowest of all
 * numbers first, compressed (zlib), in base64. A disk that cannot take it is told by commit. */
sx_status sxi_page_block(sxi_page *page, const char *name, sx_dtype dtype, int64_t count,
                         const void *data);

/* sxi_page_commit - writes the description and gives the page its name, or leaves nothing behind.
 * *page is NULL afterwards. */
sx_status sxi_page_commit(sxi_page **page, const json_t *description);
void sxi_page_abandon(sxi_page **page);

/* sxi_page_text - text as JSON; what is not UTF-8 in it becomes '?'. */
json_t *sxi_page_text(const char *text);

#endif
