/* SPDX-License-Identifier: Apache-2.0
 * What threads did when. */
#ifndef SXI_TRACE_H
#define SXI_TRACE_H

#include <stdint.h>

#include "engine/state.h"

/* Threads of a rank are numbered from 0; reading has a line of its own below them. */
enum { SXI_TRACE_READING = -1 };

/* sxi_trace_add - one span; nothing without a trace. Any thread.
 *
 * in   name    not copied, must outlive the trace: a literal, or SXI_TRACE_NAME of a task
 * in   thread  or SXI_TRACE_READING
 * in   first, count  tiles */
void sxi_trace_add(sx_cluster *cluster, const char *what, const char *task, int thread,
                   double begin, double end, int64_t first, int64_t count);

void sxi_trace_free(struct sxi_trace **trace);

#endif
