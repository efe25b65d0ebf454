/* SPDX-License-Identifier: Apache-2.0
 * The ranks of a job: processes that a launcher (mpirun, srun) started together. */
#ifndef SEXTANT_CLUSTER_H
#define SEXTANT_CLUSTER_H

#include <stdbool.h>

#include <sextant/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_cluster sx_cluster;

/* sx_cluster_open - meets the other ranks. All of them call it, once in the life of a process.
 *
 * Without a launcher, or with one that started a single process, it is one rank, and MPI is not
 * loaded. context may be NULL; its functions are called until the cluster is closed.
 *
 * SX_ERR_MISSING: a launcher started several processes, but MPI is not there or not of its kind.
 * SX_ERR_UNSUPPORTED: this process has used MPI already. SX_ERR_MEMORY. The other ranks fail, too. */
SX_API sx_status sx_cluster_open(const sx_context *context, sx_cluster **cluster);

/* Once something has failed on several ranks (a file, memory, a tile that stops its task, a wish to
 * stop), that is for good and the same on all of them: every later call fails with the first sentence, and the
 * cluster can only be closed. */

/* sx_cluster_close - waits for the other ranks to close, too, unless one of them failed or died.
 * NULL allowed. */
SX_API void sx_cluster_close(sx_cluster **cluster);

/* sx_cluster_rank, sx_cluster_size - 0 <= rank < size. */
SX_API int sx_cluster_rank(const sx_cluster *cluster);
SX_API int sx_cluster_size(const sx_cluster *cluster);

/* sx_cluster_speaks - whether this rank is the one that says what concerns all: rank 0, or rank 1
 * once rank 0 is dead. NULL before or after the cluster's life: then the launcher is asked. */
SX_API bool sx_cluster_speaks(const sx_cluster *cluster);

#ifdef __cplusplus
}
#endif
#endif
