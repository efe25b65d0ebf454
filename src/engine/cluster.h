/* SPDX-License-Identifier: Apache-2.0
 * What a cluster is made of. Only for the files of this folder. */
#ifndef SXI_CLUSTER_H
#define SXI_CLUSTER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fail.h"
#include "engine/ranks.h"

enum { SXI_SENTENCE = 2048 };

/* The failure of a cluster; SX_OK: none. */
typedef struct sxi_failure {
    sx_status status;
    int rank;
    char sentence[SXI_SENTENCE];
} sxi_failure;

/* A message to this rank that nobody has asked for yet. */
typedef struct sxi_message {
    struct sxi_message *next;
    int from;
    int64_t tag;
    size_t count;
    sxi_request *sender; /* of this rank, whose bytes it is; else NULL */
} sxi_message;

struct sx_cluster {
    int rank, size;
    sx_context caller;      /* as given */
    sx_context context;     /* as handed on */
    pthread_mutex_t speech; /* around log and progress of the caller */
    atomic_bool stopped;

    pthread_mutex_t lock; /* around all that follows */
    pthread_cond_t ended; /* some request, or everything */
    sxi_failure failure;
    sxi_request *posted;   /* receives without a message, oldest first */
    sxi_message *arrived;  /* messages without a receive, oldest first */
    sxi_request *finished; /* whose done is still to be called, newest first */
    int64_t *counters;     /* [counters_room] what was taken; at rank 0 */
    int64_t counters_room;
    int64_t counters_made;
    int64_t turn; /* of the calls that all ranks make together */
};

/* sxi_cluster_enter, sxi_cluster_leave - takes and gives back the lock; the latter then calls the
 * done of all requests that have finished meanwhile. */
void sxi_cluster_enter(sx_cluster *cluster);
void sxi_cluster_leave(sx_cluster *cluster);

/* ---- With the lock held. ---- */

/* sxi_cluster_end - the request has ended. */
void sxi_cluster_end(sx_cluster *cluster, sxi_request *request, sx_status status);

/* sxi_cluster_fail - the failure of the cluster, unless it has one: ends what waits. */
void sxi_cluster_fail(sx_cluster *cluster, sx_status status, int rank, const char *sentence);

/* sxi_cluster_tell - makes the failure the last of this thread and returns its status. */
sx_status sxi_cluster_tell(const sx_cluster *cluster);

/* sxi_match_posted - takes the oldest receive that accepts this message; sxi_match_arrived - takes
 * the oldest message that this receive accepts. NULL: none. */
sxi_request *sxi_match_posted(sx_cluster *cluster, int from, int64_t tag);
sxi_message *sxi_match_arrived(sx_cluster *cluster, const sxi_request *receive);

/* sxi_match_post, sxi_match_arrive - puts one at the end of its list. */
void sxi_match_post(sx_cluster *cluster, sxi_request *receive);
void sxi_match_arrive(sx_cluster *cluster, sxi_message *message);

/* sxi_counter_claim - takes units of a counter kept here. SX_ERR_MEMORY. */
sx_status sxi_counter_claim(sx_cluster *cluster, int64_t counter, int64_t units, int64_t *first);

#endif
