/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_PAGES_H
#define SXI_PAGES_H

#include <stddef.h>

/* sxi_pages_large - asks for pages of the largest size: taking 50 MB in pages of 4 kB costs as much as
 * reading them. A wish. */
void sxi_pages_large(void *bytes, size_t count);

/* sxi_pages_take - memory of which large pages can be had from the first byte on; to be freed with
 * free. NULL without memory; 0 bytes are some, too. */
void *sxi_pages_take(size_t count);

#endif
