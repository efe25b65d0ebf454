/* SPDX-License-Identifier: Apache-2.0
 * From the sums of runs, wherever they were folded, to the result at rank 0. */
#include "engine/reduce.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "engine/ranks.h"

/* A part of which all rows are folded. */
static sx_status store_part(sxi_reduction *r, const sxi_region *part, double *values) {
    const int64_t cells = sxi_region_count(part, r->out->rank);
    const double rows = (double)r->array->shape[r->axis];
    int64_t stop[SX_MAX_RANK];
    sx_array target, source;
    for (int64_t i = 0; i < cells; i++) {
        if (r->fold == SXI_FOLD_MEAN) {
            values[i] /= rows;
        } else if (r->fold == SXI_FOLD_VARIANCE) {
            values[i] = rows > 1 ? values[cells + i] / (rows - 1) : (double)NAN;
        }
    }
    for (int d = 0; d < r->out->rank; d++) {
        stop[d] = part->start[d] + part->count[d];
    }
    SXI_TRY(sx_array_slice(&r->out->values, part->start, stop, &target));
    SXI_TRY(sx_array_view(SX_F64, r->out->rank, part->count, values, &source));
    return sx_array_copy(&source, &target);
}

/* Sums of an item at rank 0, which takes them from where they were folded. */
static sx_status fetch(sxi_reduction *r, int64_t tag, int64_t number, int64_t count,
                       sxi_branch **sums) {
    sxi_request request = {0};
    for (int64_t i = 0; i < r->item_count; i++) {
        if (r->item[i].number == number) {
            *sums = r->item[i].sums;
            r->item[i].sums = NULL;
            return SX_OK;
        }
    }
    SXI_TRY(sxi_branch_create(count, sums));
    sxi_ranks_receive(r->cluster, SXI_RANK_ANY, tag + number, (*sums)->values,
                      (size_t)count * sizeof(double), &request);
    return sxi_ranks_wait(r->cluster, &request);
}

static sx_status join_runs(sxi_reduction *r, int64_t tag, int64_t number, const sxi_region *part) {
    const int64_t cells = sxi_region_count(part, r->out->rank);
    const int64_t rows = r->array->shape[r->axis], count = cells * sxi_fold_terms(r->fold);
    sxi_branches branches;
    sxi_branch *sums = NULL;
    sx_status status = SX_OK;
    sxi_branches_create(r->fold, cells, sxi_most(rows, 1), r->run_rows, &branches);
    for (int64_t i = 0; i < r->runs; i++) {
        SXI_GO(fetch(r, tag, number * r->runs + i, count, &sums));
        sxi_branches_add(&branches, i, sums);
        sums = NULL;
    }
    status = store_part(r, part, branches.root->values);
out:
    sxi_branch_destroy(&sums);
    sxi_branches_destroy(&branches);
    return status;
}

static sx_status send_items(const sxi_reduction *r, int64_t tag) {
    for (int64_t i = 0; i < r->item_count; i++) {
        sxi_request request = {0};
        sxi_region part;
        sxi_reduce_part(r, r->item[i].number / r->runs, &part);
        const int64_t count = sxi_region_count(&part, r->out->rank) * sxi_fold_terms(r->fold);
        sxi_ranks_send(r->cluster, 0, tag + r->item[i].number, r->item[i].sums->values,
                       (size_t)count * sizeof(double), &request);
        SXI_TRY(sxi_ranks_wait(r->cluster, &request));
    }
    return SX_OK;
}

static int by_number(const void *a, const void *b) {
    const sxi_item *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

sx_status sxi_reduce_join(sxi_reduction *r) {
    /* One for every item, far from those of tasks. */
    const int64_t tag = (sxi_ranks_counter(r->cluster) + 1) << 40;
    sxi_bands bands = r->parts;
    sxi_region part;
    if (sx_cluster_rank(r->cluster) != 0) {
        if (r->item_count > 0) {
            qsort(r->item, (size_t)r->item_count, sizeof *r->item, by_number);
        }
        return send_items(r, tag);
    }
    for (int64_t i = 0; sxi_bands_next(&bands, part.start, part.count); i++) {
        SXI_TRY(join_runs(r, tag, i, &part));
    }
    return SX_OK;
}
