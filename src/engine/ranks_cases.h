/* SPDX-License-Identifier: Apache-2.0
 * What must hold between ranks, whatever joins them: tried over a wire within one process and over
 * MPI. Each is run by all ranks, and returns whether it held on this one. */
#ifndef SXI_RANKS_CASES_H
#define SXI_RANKS_CASES_H

#include "engine/ranks.h"

typedef bool ranks_case_fn(sx_cluster *cluster);
bool ranks_case_claims(sx_cluster *cluster);
bool ranks_case_messages(sx_cluster *cluster);
bool ranks_case_order(sx_cluster *cluster);
bool ranks_case_any(sx_cluster *cluster);
bool ranks_case_together(sx_cluster *cluster);
bool ranks_case_barrier(sx_cluster *cluster);
bool ranks_case_chain(sx_cluster *cluster);

#define RANKS_CASE_LIST(X) X(claims) X(messages) X(order) X(any) X(together) X(barrier) X(chain)

#endif
