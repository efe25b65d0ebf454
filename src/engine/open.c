/* SPDX-License-Identifier: Apache-2.0
 * The life of a cluster. */
#include <stdlib.h>
#include <time.h>

#include "engine/cluster.h"

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

static void adopt(sx_cluster *cluster, const sx_context *context) {
    if (context) {
        cluster->caller = *context;
    }
    const sx_context *caller = &cluster->caller;
    const bool speaks = cluster->rank == 0;
    cluster->context = (sx_context){
        .log = speaks && caller->log ? log_in_turn : NULL,
        .progress = speaks && caller->progress ? progress_in_turn : NULL,
        .cancel = cancelled,
        .data = cluster,
        .threads = caller->threads,
        .command = caller->command,
    };
}

sx_status sx_cluster_open(const sx_context *context, sx_cluster **cluster) {
    *cluster = NULL;
    sx_cluster *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a cluster");
    }
    opened->size = 1;
    adopt(opened, context);
    atomic_init(&opened->stopped, false);
    pthread_mutex_init(&opened->speech, NULL);
    pthread_mutex_init(&opened->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&opened->ended, &clock);
    pthread_condattr_destroy(&clock);
    *cluster = opened;
    return SX_OK;
}

void sx_cluster_close(sx_cluster **cluster) {
    sx_cluster *closed = *cluster;
    if (!closed) {
        return;
    }
    sxi_cluster_enter(closed);
    sxi_cluster_fail(closed, SX_ERR_CANCELLED, closed->rank, "the cluster was closed");
    sxi_cluster_leave(closed);
    pthread_cond_destroy(&closed->ended);
    pthread_mutex_destroy(&closed->lock);
    pthread_mutex_destroy(&closed->speech);
    free(closed->counters);
    free(closed);
    *cluster = NULL;
}

int sx_cluster_rank(const sx_cluster *cluster) { return cluster->rank; }

int sx_cluster_size(const sx_cluster *cluster) { return cluster->size; }

bool sx_cluster_speaks(const sx_cluster *cluster) { return !cluster || cluster->rank == 0; }

const sx_context *sxi_ranks_context(const sx_cluster *cluster) { return &cluster->context; }
