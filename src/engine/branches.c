/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/branches.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/pages.h"

sx_status sxi_branch_create(int64_t count, sxi_branch **branch) {
    *branch = calloc(1, sizeof **branch);
    if (*branch) {
        (*branch)->values = sxi_pages_take((size_t)count * sizeof(double));
    }
    if (!*branch || !(*branch)->values) {
        sxi_branch_destroy(branch);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld sums", (long long)count);
    }
    return SX_OK;
}

void sxi_branch_destroy(sxi_branch **branch) {
    if (*branch) {
        free((*branch)->values);
        free(*branch);
        *branch = NULL;
    }
}

void sxi_branches_create(sxi_fold fold, int64_t cells, int64_t rows, int64_t run_rows,
                         sxi_branches *branches) {
    *branches = (sxi_branches){.fold = fold, .cells = cells, .rows = rows, .run_rows = run_rows};
    pthread_mutex_init(&branches->lock, NULL);
}

static void destroy_list(sxi_branch *list) {
    while (list) {
        sxi_branch *next = list->next;
        sxi_branch_destroy(&list);
        list = next;
    }
}

void sxi_branches_destroy(sxi_branches *branches) {
    destroy_list(branches->parked);
    destroy_list(branches->spare);
    sxi_branch_destroy(&branches->root);
    pthread_mutex_destroy(&branches->lock);
}

sx_status sxi_branches_take(sxi_branches *branches, sxi_branch **branch) {
    pthread_mutex_lock(&branches->lock);
    *branch = branches->spare;
    if (*branch) {
        branches->spare = (*branch)->next;
    }
    pthread_mutex_unlock(&branches->lock);
    return *branch ? SX_OK
                   : sxi_branch_create(branches->cells * sxi_fold_terms(branches->fold), branch);
}

/* The other half of the node above, taken off the list; NULL: parks this one until it comes. */
static sxi_branch *sibling_or_park(sxi_branches *branches, sxi_branch *branch) {
    pthread_mutex_lock(&branches->lock);
    sxi_branch **at = &branches->parked;
    while (*at && ((*at)->level != branch->level || (*at)->index != (branch->index ^ 1))) {
        at = &(*at)->next;
    }
    sxi_branch *found = *at;
    if (found) {
        *at = found->next;
    } else {
        branch->next = branches->parked;
        branches->parked = branch;
    }
    pthread_mutex_unlock(&branches->lock);
    return found;
}

static void put_back(sxi_branches *branches, sxi_branch *branch) {
    pthread_mutex_lock(&branches->lock);
    branch->next = branches->spare;
    branches->spare = branch;
    pthread_mutex_unlock(&branches->lock);
}

/* The first row of node `index` of a level; beyond the last one: of nothing. */
static int64_t row_of(const sxi_branches *branches, int level, int64_t index) {
    const int64_t row = (index << level) * branches->run_rows;
    return row < branches->rows ? row : branches->rows;
}

static sxi_branch *join(sxi_branches *branches, sxi_branch *left, sxi_branch *right) {
    const int64_t begin = row_of(branches, left->level, left->index);
    const int64_t middle = row_of(branches, right->level, right->index);
    const int64_t end = row_of(branches, right->level, right->index + 1);
    sxi_tree_join(branches->fold, branches->cells, (double)(middle - begin), left->values,
                  (double)(end - middle), right->values);
    put_back(branches, left);
    return right;
}

void sxi_branches_add(sxi_branches *branches, int64_t run, sxi_branch *branch) {
    branch->level = 0;
    branch->index = run;
    for (;;) {
        const bool left = branch->index % 2 == 0;
        if (row_of(branches, branch->level, branch->index + 1) == branches->rows && left) {
            if (branch->index == 0) {
                branches->root = branch; /* nobody else is left */
                return;
            }
            /* It has no sibling, and is the node above by itself. */
        } else {
            sxi_branch *other = sibling_or_park(branches, branch);
            if (!other) {
                return;
            }
            branch = left ? join(branches, branch, other) : join(branches, other, branch);
        }
        branch->level++;
        branch->index /= 2;
    }
}
