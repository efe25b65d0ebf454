/* SPDX-License-Identifier: Apache-2.0
 * cuFile: from files straight to the memory of a GPU. */
#ifndef SXI_CUFILE_H
#define SXI_CUFILE_H

#include <stdint.h>

#include "base/fail.h"

typedef struct sxi_cufile sxi_cufile;

/* sxi_cufile_open - loads cuFile and starts its driver; a CUDA context is current. SX_ERR_UNSUPPORTED
 * with the reason. */
sx_status sxi_cufile_open(sxi_cufile **files);
void sxi_cufile_close(sxi_cufile **files);

/* sxi_cufile_read - bytes read to the GPU whose context is current; none or negative: not these.
 * Threads: yes. */
int64_t sxi_cufile_read(sxi_cufile *files, int fd, int64_t offset, void *target, int64_t bytes);

#endif
