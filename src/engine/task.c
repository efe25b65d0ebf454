/* SPDX-License-Identifier: Apache-2.0
 * A tiled task from its words to its report. */
#include <sextant/task.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/origin.h"
#include "engine/ranks.h"
#include "engine/state.h"
#include "engine/team.h"

/* --- results to rank 0 --- */

static size_t bytes_of_band(const sxi_plan *plan, int64_t first, int64_t tiles) {
    size_t bytes = 0;
    for (int64_t i = first; i < first + tiles; i++) {
        bytes += (size_t)sxi_tile_bytes(plan, i);
    }
    return bytes;
}

/* All tiles of a band as one message. */
static sx_status pack_band(const sxi_plan *plan, int64_t first, int64_t tiles, char *bytes) {
    for (int64_t i = first; i < first + tiles; i++) {
        SXI_TRY(sxi_tile_pack(plan, i, bytes));
        bytes += sxi_tile_bytes(plan, i);
    }
    return SX_OK;
}

/* But for those of the journal, which are here already: the sender left them out. */
static sx_status unpack_band(const sxi_plan *plan, const sxi_journal *journal, int64_t first,
                             int64_t tiles, char *bytes) {
    for (int64_t i = first; i < first + tiles; i++) {
        if (!sxi_journal_has(journal, i)) {
            SXI_TRY(sxi_tile_unpack(plan, i, bytes));
        }
        bytes += sxi_tile_bytes(plan, i);
    }
    return SX_OK;
}

/* One band from or to rank `peer`. */
static sx_status pass_band(const sxi_plan *plan, const sxi_journal *journal, int64_t tag,
                           int64_t band, int peer, bool send) {
    int64_t first, tiles;
    sxi_request request = {0};
    sx_status status = SX_OK;
    sxi_plan_band(plan, band, &first, &tiles);
    const size_t bytes = bytes_of_band(plan, first, tiles);
    char *message = malloc(bytes + 1);
    if (!message) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to gather %zu bytes", bytes);
    }
    if (send) {
        SXI_GO(pack_band(plan, first, tiles, message));
        sxi_ranks_send(plan->cluster, peer, tag, message, bytes, &request);
        SXI_GO(sxi_ranks_wait(plan->cluster, &request));
    } else {
        sxi_ranks_receive(plan->cluster, peer, tag, message, bytes, &request);
        SXI_GO(sxi_ranks_wait(plan->cluster, &request));
        SXI_GO(unpack_band(plan, journal, first, tiles, message));
    }
out:
    free(message);
    return status;
}

static sx_status send_bands(const sxi_plan *plan, int64_t tag, const sxi_team_result *result) {
    for (int64_t i = 0; i < result->bands; i++) {
        SXI_TRY(pass_band(plan, NULL, tag, result->band[i], 0, true));
    }
    return SX_OK;
}

/* Rank after rank, each first with the list of its bands. */
static sx_status receive_bands(const sxi_plan *plan, const sxi_journal *journal, int64_t tag,
                               const int64_t *bands) {
    for (int rank = 1; rank < sx_cluster_size(plan->cluster); rank++) {
        sxi_request request = {0};
        sx_status status = SX_OK;
        const size_t bytes = (size_t)bands[rank] * sizeof(int64_t);
        int64_t *band = malloc(bytes + 1);
        if (!band) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory to gather results");
        }
        sxi_ranks_receive(plan->cluster, rank, tag, band, bytes, &request);
        status = sxi_ranks_wait(plan->cluster, &request);
        for (int64_t i = 0; status == SX_OK && i < bands[rank]; i++) {
            status = pass_band(plan, journal, tag, band[i], rank, false);
        }
        free(band);
        SXI_TRY(status);
    }
    return SX_OK;
}

static sx_status gather(const sxi_plan *plan, const sxi_journal *journal,
                        const sxi_team_result *result) {
    const int size = sx_cluster_size(plan->cluster);
    const int64_t tag = sxi_ranks_counter(plan->cluster);
    int64_t *bands = calloc((size_t)size, sizeof *bands);
    sx_status status = bands ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory to gather results");
    SXI_GO(status);
    SXI_GO(sxi_ranks_gather(plan->cluster, 0, &result->bands, sizeof *bands, NULL, bands));
    if (sx_cluster_rank(plan->cluster) == 0) {
        SXI_GO(receive_bands(plan, journal, tag, bands));
    } else {
        sxi_request request = {0};
        sxi_ranks_send(plan->cluster, 0, tag, result->band,
                       (size_t)result->bands * sizeof *result->band, &request);
        SXI_GO(sxi_ranks_wait(plan->cluster, &request));
        SXI_GO(send_bands(plan, tag, result));
    }
out:
    free(bands);
    return status;
}

/* --- the report --- */

typedef struct counts {
    int64_t computed, failed, first_failed;
    char sentence[SXI_REASON];
} counts;

static void add_counts(void *data, void *sum, const void *value) {
    counts all, one;
    (void)data;
    memcpy(&all, sum, sizeof all);
    memcpy(&one, value, sizeof one);
    all.computed += one.computed;
    all.failed += one.failed;
    if (one.first_failed < all.first_failed) {
        all.first_failed = one.first_failed;
        memcpy(all.sentence, one.sentence, sizeof all.sentence);
    }
    memcpy(sum, &all, sizeof all);
}

static sx_status report(const sxi_plan *plan, const sxi_team_result *result, int64_t resumed,
                        double seconds) {
    counts c = {result->computed, result->failed, result->first_failed, ""};
    memcpy(c.sentence, result->sentence, sizeof c.sentence);
    SXI_TRY(sxi_ranks_reduce(plan->cluster, &c, sizeof c, add_counts, NULL));
    if (c.failed > 0) {
        sx_log(sxi_ranks_context(plan->cluster), SX_LOG_WARNING,
               "%lld of %lld tiles failed, their results are missing; the first: %s",
               (long long)c.failed, (long long)plan->tiles, c.sentence);
    }
    if (plan->task->report) {
        sx_task_report *r = plan->task->report;
        *r = (sx_task_report){.tiles = plan->tiles,
                              .computed = c.computed,
                              .resumed = resumed,
                              .failed = c.failed,
                              .seconds = seconds,
                              .busy = result->busy,
                              .waiting = result->waiting,
                              .reading = result->reading};
        memcpy(r->first, c.sentence, sizeof r->first);
    }
    return SX_OK;
}

/* --- the task --- */

static sx_status run(const sxi_plan *plan) {
    sxi_team_result result = {0};
    sxi_journal *journal = NULL;
    sx_status status = SX_OK;
    const double begin = sxi_now();
    if (plan->task->journal && plan->tiles > 0) {
        status = sxi_journal_open(plan, &journal);
    }
    if (status == SX_OK) {
        status = sxi_ranks_agree(plan->cluster, sxi_team_run(plan, journal, &result));
    }
    if (status == SX_ERR_CANCELLED && plan->task->journal) {
        status = SXI_FAIL(status, "cancelled; what is finished is kept in %s: go on with --resume",
                          plan->task->journal);
    }
    SXI_GO(status);
    if (sx_cluster_size(plan->cluster) > 1) {
        SXI_GO(sxi_ranks_agree(plan->cluster, gather(plan, journal, &result)));
    }
    sx_progress(sxi_ranks_context(plan->cluster), plan->task->name, plan->tiles, plan->tiles);
    status = report(plan, &result, sxi_journal_resumed(journal), sxi_now() - begin);
out:
    sxi_journal_close(&journal);
    free(result.band);
    return status;
}

/* Rank 0 has all of the outputs, others what they computed. */
static void settle_outputs(const sx_task *task, sx_status status) {
    sxi_origins origins = {0};
    for (int u = 0; u < SX_TASK_USES && task->use[u].axes && status == SX_OK; u++) {
        if (task->use[u].access == SX_READ) {
            sxi_origins_add(&origins, task->use[u].array);
        }
    }
    for (int u = 0; u < SX_TASK_USES && task->use[u].axes; u++) {
        sx_darray *array = task->use[u].array;
        if (task->use[u].access != SX_WRITE || !array || array->kind == SXI_NODE_FAILED) {
            continue;
        }
        if (status != SX_OK) {
            sxi_darray_fail(array, status);
        } else {
            array->complete = sx_cluster_size(array->cluster) == 1;
            sxi_origins_keep(&origins, array);
        }
    }
}

sx_status sx_task_run(const sx_task *task) {
    sxi_plan plan;
    sx_task named = *task;
    named.name = task->name ? task->name : "task";
    sx_status status = sxi_plan_make(&named, &plan);
    if (status != SX_OK) {
        sxi_fail_context(status, "task '%s'", named.name);
        sxi_engine_lost(plan.cluster, status);
    } else {
        status = run(&plan);
    }
    settle_outputs(task, status);
    sxi_plan_free(&plan);
    return status;
}
