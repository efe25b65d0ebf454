/* SPDX-License-Identifier: Apache-2.0
 * What is settled once for all arrays and tasks of a cluster. */
#ifndef SEXTANT_ENGINE_H
#define SEXTANT_ENGINE_H

#include <stdint.h>

#include <sextant/cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sx_engine_memory - bytes that arrays and reading may take on each rank; 0: three quarters of what
 * is free. What does not fit at once is read in smaller parts; what cannot be cut is an error. */
SX_API sx_status sx_engine_memory(sx_cluster *cluster, int64_t bytes);

/* sx_engine_trace - from now on what each thread of each rank does is kept, and written to path by
 * sx_engine_trace_end as Chrome-trace JSON, which chrome://tracing and ui.perfetto.dev show. A
 * sentence that sums it up goes to the log. Before sx_cluster_close; all ranks call both.
 * SX_ERR_EXISTS: a file that is no trace has this name; it is kept. */
SX_API sx_status sx_engine_trace(sx_cluster *cluster, const char *path);
SX_API sx_status sx_engine_trace_end(sx_cluster *cluster);

/* sx_cancel - ends what runs on all ranks, soon, with SX_ERR_CANCELLED; as the cancel function of the
 * context does. Any thread. The cluster can only be closed afterwards. */
SX_API void sx_cancel(sx_cluster *cluster);

#ifdef __cplusplus
}
#endif
#endif
