/* SPDX-License-Identifier: Apache-2.0
 * Memory under Linux: the machine, and the control groups around this process. */
#ifndef SXI_MEMORY_LIMIT_H
#define SXI_MEMORY_LIMIT_H

#include <stdint.h>

/* sxi_memory_limit - bytes in all and bytes available; 0 where the system does not say. root stands
 * before /proc and /sys: "" but in tests. */
void sxi_memory_limit(const char *root, int64_t *total, int64_t *available);

#endif
