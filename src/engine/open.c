/* SPDX-License-Identifier: Apache-2.0
 * The life of a cluster. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/talk.h"

static void log_in_turn(void *data, sx_log_level level, const char *sentence) {
    sx_cluster *cluster = data;
    pthread_mutex_lock(&cluster->speech);
    cluster->caller.log(cluster->caller.data, level, sentence);
    pthread_mutex_unlock(&cluster->speech);
}

static void progress_in_turn(void *data, const char *what, int64_t done, int64_t total) {
    sx_cluster *cluster = data;
    pthread_mutex_lock(&cluster->speech);
    cluster->caller.progress(cluster->caller.data, what, done, total);
    pthread_mutex_unlock(&cluster->speech);
}

static bool cancelled(void *data) {
    const sx_cluster *cluster = data;
    return sxi_ranks_stopped(cluster);
}

void sxi_cluster_adopt(sx_cluster *cluster, int rank, int size) {
    const sx_context *caller = &cluster->caller;
    const bool speaks = rank == 0;
    cluster->rank = rank;
    cluster->size = size;
    cluster->context = (sx_context){
        .log = speaks && caller->log ? log_in_turn : NULL,
        .progress = speaks && caller->progress ? progress_in_turn : NULL,
        .cancel = cancelled,
        .data = cluster,
        .threads = caller->threads,
        .command = caller->command,
    };
}

static sx_cluster *cluster_create(const sx_context *context) {
    sx_cluster *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    if (context) {
        made->caller = *context;
    }
    sxi_cluster_adopt(made, 0, 1);
    atomic_init(&made->stopped, false);
    atomic_init(&made->lost, SXI_NOBODY);
    pthread_mutex_init(&made->speech, NULL);
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&made->ended, &clock);
    pthread_condattr_destroy(&clock);
    return made;
}

static void cluster_destroy(sx_cluster **cluster) {
    sx_cluster *gone = *cluster;
    pthread_cond_destroy(&gone->ended);
    pthread_mutex_destroy(&gone->lock);
    pthread_mutex_destroy(&gone->speech);
    sxi_engine_free(&gone->engine);
    free(gone->counters);
    free(gone);
    *cluster = NULL;
}

/* Several processes were started: they find each other through MPI, or none of them goes on, as each
 * would write the same output. */
static sx_status find_way(sxi_way *way) {
    char why[SXI_WIRE_WHY] = "";
    if (way->launcher.mute) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "Slurm started %d processes that cannot find each other: use srun "
                        "--mpi=pmix (srun --mpi=list says what there is), or mpirun",
                        way->launcher.size);
    }
    if (!sxi_wire_load(&way->open, &way->version, why)) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s started several processes, but this build cannot join them: %s; "
                        "install libopenmpi-dev and build again, or start a single process",
                        way->launcher.name, why);
    }
    return SX_OK;
}

sx_status sxi_cluster_open(const sx_context *context, const sxi_cluster_options *options,
                           const sxi_wire *wire, sx_cluster **cluster) {
    sxi_way way = {.given = wire};
    *cluster = NULL;
    sxi_launcher_get(&way.launcher);
    const bool alone = !wire && way.launcher.size == 1;
    if (!wire && !alone) {
        SXI_TRY(find_way(&way));
    }
    sx_cluster *opened = cluster_create(context);
    if (!opened) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a cluster");
    }
    bool kept = true;
    const sx_status status = alone ? SX_OK : sxi_talk_open(opened, options, &way, &kept);
    if (status == SX_OK) {
        *cluster = opened;
    } else if (kept) {
        cluster_destroy(&opened);
    }
    return status;
}

sx_status sx_cluster_open(const sx_context *context, sx_cluster **cluster) {
    return sxi_cluster_open(context, NULL, NULL, cluster);
}

void sx_cluster_close(sx_cluster **cluster) {
    sx_cluster *closed = *cluster;
    if (!closed) {
        return;
    }
    if (closed->talk) {
        sxi_talk_close(closed);
    }
    const sxi_failure late = {SX_ERR_CANCELLED, closed->rank, SXI_NOBODY, "the cluster was closed"};
    sxi_cluster_enter(closed);
    sxi_cluster_fail(closed, &late);
    sxi_cluster_leave(closed);
    cluster_destroy(cluster);
}

int sx_cluster_rank(const sx_cluster *cluster) { return cluster->rank; }

int sx_cluster_size(const sx_cluster *cluster) { return cluster->size; }

bool sx_cluster_speaks(const sx_cluster *cluster) {
    if (!cluster) {
        sxi_launcher launcher;
        sxi_launcher_get(&launcher);
        return launcher.rank == 0;
    }
    return cluster->rank == 0 || (cluster->rank == 1 && atomic_load(&cluster->lost) == 0);
}

sxi_engine *sxi_engine_of(sx_cluster *cluster) { return &cluster->engine; }

const sx_context *sxi_ranks_context(const sx_cluster *cluster) { return &cluster->context; }
