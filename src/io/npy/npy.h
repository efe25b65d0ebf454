/* SPDX-License-Identifier: Apache-2.0
 * Writes a NumPy .npy file (format 1.0) piece after piece. */
#ifndef SXI_NPY_H
#define SXI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sextant/array.h>

enum { SXI_NPY_RANK = SX_MAX_RANK + 1 };

typedef struct sxi_npy sxi_npy;

/* sxi_npy_create - begins a file of that shape in C order, under a temporary name beside path.
 * SX_ERR_EXISTS, SX_ERR_IO, SX_ERR_MEMORY; *npy is NULL on failure. */
sx_status sxi_npy_create(const char *path, bool overwrite, sx_dtype dtype, int rank,
                         const int64_t *shape, sxi_npy **npy);

/* sxi_npy_append - the next bytes of the values. SX_ERR_IO. */
sx_status sxi_npy_append(sxi_npy *npy, const void *values, size_t bytes);

/* sxi_npy_commit - closes and renames; after a failure nothing is left behind. *npy is NULL
 * afterwards. sxi_npy_abandon - removes what was written; NULL allowed. */
sx_status sxi_npy_commit(sxi_npy **npy);
void sxi_npy_abandon(sxi_npy **npy);

#endif
