/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SXI_PAGES_H
#define SXI_PAGES_H

#include <stddef.h>

/* sxi_pages_large - asks for pages of the largest size: taking 50 MB in pages of 4 kB costs as much as
 * reading them. A wish. */
void sxi_pages_large(void *bytes, size_t count);

#endif
