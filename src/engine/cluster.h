/* SPDX-License-Identifier: Apache-2.0
 * What a cluster is made of. Only for the files of this folder. */
#ifndef SXI_CLUSTER_H
#define SXI_CLUSTER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fail.h"
#include "engine/ranks.h"
#include "engine/state.h"
#include "engine/wire.h"

enum { SXI_SENTENCE = 2048 };

/* A failure; SX_OK: none. */
typedef struct sxi_failure {
    int status; /* sx_status */
    int rank;
    int lost; /* the rank that died; SXI_NOBODY; SXI_WIRE if the wire itself fails */
    char sentence[SXI_SENTENCE];
} sxi_failure;

enum { SXI_NOBODY = -1, SXI_WIRE = -2 };

/* A message to this rank that nobody has asked for yet. */
typedef struct sxi_message {
    struct sxi_message *next;
    int from;
    int64_t tag;
    size_t count;
    int64_t id;            /* long, of another rank: it waits there under this name; else 0 */
    sxi_request *sender;   /* of this rank: whose bytes it is; else NULL */
    unsigned char bytes[]; /* short, of another rank */
} sxi_message;

struct sxi_talk;

struct sx_cluster {
    int rank, size;
    sx_context caller;      /* as given */
    sx_context context;     /* as handed on */
    pthread_mutex_t speech; /* around log and progress of the caller */
    atomic_bool stopped;
    atomic_int lost;       /* as in sxi_failure */
    struct sxi_talk *talk; /* NULL with one rank */
    sxi_engine engine;

    pthread_mutex_t lock; /* around all that follows */
    pthread_cond_t ended; /* some request, or everything */
    sxi_failure failure;
    sxi_request *posted;   /* receives without a message, oldest first */
    sxi_message *arrived;  /* messages without a receive, oldest first */
    sxi_request *queued;   /* for the talking thread, oldest first */
    sxi_request *parked;   /* what can only end with everything */
    sxi_request *finished; /* whose done is still to be called, oldest first */
    int64_t *counters;     /* [counters_room] what was taken; at rank 0 */
    int64_t counters_room;
    int64_t counters_made;
    int64_t turn;  /* of the calls that all ranks make together */
    int64_t moves; /* requests that have ended */
};

/* Zero means default. */
typedef struct sxi_cluster_options {
    size_t piece;      /* bytes of a long message that travel at once; 64 MiB */
    double alive_s;    /* between signs of life; 1 s */
    double lost_s;     /* without one, after which a rank is taken for dead; 8 s */
    double patience_s; /* without anything moving, after which that is said; 30 s */
} sxi_cluster_options;

/* sxi_cluster_open - sx_cluster_open for tests: with options (NULL: defaults) and a wire (NULL: by
 * the launcher). */
sx_status sxi_cluster_open(const sx_context *context, const sxi_cluster_options *options,
                           const sxi_wire *wire, sx_cluster **cluster);

/* sxi_cluster_adopt - which rank this is; the context that is handed on follows from it. */
void sxi_cluster_adopt(sx_cluster *cluster, int rank, int size);

/* sxi_cluster_enter, sxi_cluster_leave - takes and gives back the lock; the latter then calls the
 * done of all requests that have finished meanwhile. */
void sxi_cluster_enter(sx_cluster *cluster);
void sxi_cluster_leave(sx_cluster *cluster);

/* ---- With the lock held. ---- */

/* sxi_cluster_wait - gives the lock back until the condition is signalled or some seconds are over. */
void sxi_cluster_wait(sx_cluster *cluster, pthread_cond_t *condition, double seconds);

/* sxi_cluster_end - the request has ended. */
void sxi_cluster_end(sx_cluster *cluster, sxi_request *request, sx_status status);

/* sxi_cluster_report - this rank has failed, with the last sentence of this thread. */
void sxi_cluster_report(sx_cluster *cluster, sx_status status);

/* sxi_cluster_fail - the failure of the cluster, unless it has one: ends what waits. With several
 * ranks rank 0 decides which failure it is, so only the talking thread calls this. */
void sxi_cluster_fail(sx_cluster *cluster, const sxi_failure *failure);

/* sxi_cluster_tell - makes the failure the last of this thread and returns its status. Without the
 * lock, too: once it is there it does not change. */
sx_status sxi_cluster_tell(const sx_cluster *cluster);

/* sxi_request_append, sxi_request_take - at the end of a list, from its beginning (NULL: empty). */
void sxi_request_append(sxi_request **list, sxi_request *request);
sxi_request *sxi_request_take(sxi_request **list);

/* sxi_match_posted - takes the oldest receive that accepts this message; sxi_match_arrived - takes
 * the oldest message that this receive accepts. NULL: none. */
sxi_request *sxi_match_posted(sx_cluster *cluster, int from, int64_t tag);
sxi_message *sxi_match_arrived(sx_cluster *cluster, const sxi_request *receive);

/* sxi_match_arrive - puts a message at the end of its list. */
void sxi_match_arrive(sx_cluster *cluster, sxi_message *message);

/* sxi_match_fits - whether the receive has room for it; if not, the cluster fails, and the request
 * is parked. */
bool sxi_match_fits(sx_cluster *cluster, sxi_request *receive, int from, size_t count);

/* sxi_counter_claim - takes units of a counter kept here. SX_ERR_MEMORY. */
sx_status sxi_counter_claim(sx_cluster *cluster, int64_t counter, int64_t units, int64_t *first);

#endif
