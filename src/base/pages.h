/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_PAGES_H
#define SXI_PAGES_H

#include <stddef.h>

#include <sextant/status.h>

/* sxi_pages_large - asks for pages of the largest size: taking 50 MB in pages of 4 kB costs as much as
 * reading them. A wish. */
void sxi_pages_large(void *bytes, size_t count);

/* sxi_pages_take - memory of which large pages can be had from the first byte on; to be freed with
 * free. NULL without memory; 0 bytes are some, too. */
void *sxi_pages_take(size_t count);

/* sxi_pages_in_file - zeros in a file of a folder, which has no name and is gone with the process: memory
 * that the system can take back. For munmap. count > 0. SX_ERR_IO, such as a full disk. */
sx_status sxi_pages_in_file(const char *folder, size_t count, void **bytes);

#endif
