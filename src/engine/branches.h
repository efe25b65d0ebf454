/* SPDX-License-Identifier: Apache-2.0
 * The upper part of a tree of sums: its leaves are runs of equally many rows (the last one may have
 * fewer), folded by anyone in any order. Two branches are joined by whoever brings the second one. */
#ifndef SXI_BRANCHES_H
#define SXI_BRANCHES_H

#include <pthread.h>

#include "engine/tree.h"

/* What was folded, of runs index * 2^level and on. */
typedef struct sxi_branch {
    struct sxi_branch *next;
    int level;
    int64_t index;
    double *values; /* [terms][cells] */
} sxi_branch;

/* sxi_branch_create - with room for so many doubles. SX_ERR_MEMORY. */
sx_status sxi_branch_create(int64_t count, sxi_branch **branch);

/* sxi_branch_destroy - NULL allowed. */
void sxi_branch_destroy(sxi_branch **branch);

typedef struct sxi_branches {
    sxi_fold fold;
    int64_t cells, rows, run_rows;
    sxi_branch *root;     /* once all runs were added */
    pthread_mutex_t lock; /* around what follows */
    sxi_branch *parked, *spare;
} sxi_branches;

/* sxi_branches_create - rows > 0; run_rows: blocks in a power of two. */
void sxi_branches_create(sxi_fold fold, int64_t cells, int64_t rows, int64_t run_rows,
                         sxi_branches *branches);
void sxi_branches_destroy(sxi_branches *branches);

/* sxi_branches_take - memory for a run, to be given to add. Any thread. SX_ERR_MEMORY. */
sx_status sxi_branches_take(sxi_branches *branches, sxi_branch **branch);

/* sxi_branches_add - the run of this number is folded. Any thread. Takes ownership. */
void sxi_branches_add(sxi_branches *branches, int64_t run, sxi_branch *branch);

#endif
