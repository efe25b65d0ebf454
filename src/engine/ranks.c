/* SPDX-License-Identifier: Apache-2.0
 * Requests: what is asked for, how it ends, and waiting for it. */
#include "engine/ranks.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/cluster.h"

/* With one rank nobody else looks at the caller's wish to stop while all wait. */
enum { LOOK_UP_NS = 20000000 };

void sxi_cluster_enter(sx_cluster *cluster) { pthread_mutex_lock(&cluster->lock); }

void sxi_cluster_leave(sx_cluster *cluster) {
    sxi_request *finished = cluster->finished;
    const sx_status status = cluster->failure.status;
    cluster->finished = NULL;
    pthread_mutex_unlock(&cluster->lock);
    if (finished && status != SX_OK) {
        sxi_cluster_tell(cluster);
    }
    while (finished) {
        sxi_request *next = finished->next;
        finished->done(finished->data, finished->status);
        finished = next;
    }
}

void sxi_cluster_end(sx_cluster *cluster, sxi_request *request, sx_status status) {
    request->status = status;
    request->state = SXI_REQUEST_ENDED;
    if (request->done) {
        request->next = cluster->finished;
        cluster->finished = request;
    } else {
        pthread_cond_broadcast(&cluster->ended);
    }
}

void sxi_cluster_fail(sx_cluster *cluster, sx_status status, int rank, const char *sentence) {
    sxi_failure *failure = &cluster->failure;
    atomic_store(&cluster->stopped, true);
    if (failure->status != SX_OK) {
        return;
    }
    failure->status = status;
    failure->rank = rank;
    snprintf(failure->sentence, sizeof failure->sentence, "%s", sentence);
    while (cluster->posted) {
        sxi_request *receive = cluster->posted;
        cluster->posted = receive->next;
        sxi_cluster_end(cluster, receive, status);
    }
    while (cluster->arrived) {
        sxi_message *message = cluster->arrived;
        cluster->arrived = message->next;
        if (message->sender) {
            sxi_cluster_end(cluster, message->sender, status);
        }
        free(message);
    }
    pthread_cond_broadcast(&cluster->ended);
}

/* It was kept by then, and is not changed any more. */
sx_status sxi_cluster_tell(const sx_cluster *cluster) {
    const sxi_failure *failure = &cluster->failure;
    /* Whoever asked to stop need not be told which rank heard it first. */
    if (cluster->size == 1 || failure->status == SX_ERR_CANCELLED) {
        return SXI_FAIL(failure->status, "%s", failure->sentence);
    }
    return SXI_FAIL(failure->status, "rank %d: %s", failure->rank, failure->sentence);
}

static void look_up(sx_cluster *cluster) {
    if (cluster->size == 1 && cluster->failure.status == SX_OK && sx_cancelled(&cluster->caller)) {
        sxi_cluster_fail(cluster, SX_ERR_CANCELLED, cluster->rank, "cancelled");
    }
}

/* Until something ended, or a while. */
static void wait_a_while(sx_cluster *cluster) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_UP_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&cluster->ended, &cluster->lock, &until);
    look_up(cluster);
}

sx_status sxi_ranks_wait(sx_cluster *cluster, sxi_request *request) {
    assert(!request->done && request->state != SXI_REQUEST_NONE);
    sxi_cluster_enter(cluster);
    while (request->state != SXI_REQUEST_ENDED) {
        wait_a_while(cluster);
    }
    const sx_status status = request->status;
    request->state = SXI_REQUEST_NONE;
    sxi_cluster_leave(cluster);
    return status == SX_OK ? SX_OK : sxi_cluster_tell(cluster);
}

/* Takes the lock. false: all has failed, and so has the request. */
static bool begin(sx_cluster *cluster, sxi_request *request) {
    sxi_cluster_enter(cluster);
    request->state = SXI_REQUEST_UNDER_WAY;
    request->since = sxi_now();
    if (cluster->failure.status != SX_OK) {
        sxi_cluster_end(cluster, request, cluster->failure.status);
        return false;
    }
    return true;
}

/* Of one rank to itself: from buffer to buffer. */
static void hand_over(sx_cluster *cluster, sxi_request *send, sxi_request *receive) {
    if (send->room > receive->room) {
        const sx_status status = SXI_FAIL(
            SX_ERR_SHAPE, "a message of %zu bytes from rank %d, tag %lld, has room for %zu",
            send->room, cluster->rank, (long long)send->tag, receive->room);
        sxi_cluster_end(cluster, send, status);
        sxi_cluster_end(cluster, receive, status);
        sxi_cluster_fail(cluster, status, cluster->rank, sx_error_message());
        return;
    }
    if (send->room > 0) {
        memcpy(receive->bytes.to, send->bytes.from, send->room);
    }
    receive->count = send->room;
    receive->peer = cluster->rank;
    sxi_cluster_end(cluster, send, SX_OK);
    sxi_cluster_end(cluster, receive, SX_OK);
}

static void send_to_oneself(sx_cluster *cluster, sxi_request *send) {
    sxi_request *receive = sxi_match_posted(cluster, cluster->rank, send->tag);
    if (receive) {
        hand_over(cluster, send, receive);
        return;
    }
    sxi_message *message = calloc(1, sizeof *message);
    if (!message) {
        const sx_status status = SXI_FAIL(SX_ERR_MEMORY, "no memory for a message");
        sxi_cluster_end(cluster, send, status);
        sxi_cluster_fail(cluster, status, cluster->rank, sx_error_message());
        return;
    }
    message->from = cluster->rank;
    message->tag = send->tag;
    message->count = send->room;
    message->sender = send;
    sxi_match_arrive(cluster, message);
}

void sxi_ranks_send(sx_cluster *cluster, int to, int64_t tag, const void *bytes, size_t count,
                    sxi_request *request) {
    assert(to >= 0 && to < cluster->size);
    request->kind = SXI_REQUEST_SEND;
    request->peer = to;
    request->tag = tag;
    request->bytes.from = bytes;
    request->room = count;
    if (begin(cluster, request)) {
        send_to_oneself(cluster, request);
    }
    sxi_cluster_leave(cluster);
}

void sxi_ranks_receive(sx_cluster *cluster, int from, int64_t tag, void *bytes, size_t room,
                       sxi_request *request) {
    assert(from >= SXI_RANK_ANY && from < cluster->size);
    request->kind = SXI_REQUEST_RECEIVE;
    request->peer = from;
    request->tag = tag;
    request->bytes.to = bytes;
    request->room = room;
    if (begin(cluster, request)) {
        sxi_message *message = sxi_match_arrived(cluster, request);
        if (message) {
            hand_over(cluster, message->sender, request);
            free(message);
        } else {
            sxi_match_post(cluster, request);
        }
    }
    sxi_cluster_leave(cluster);
}

int64_t sxi_ranks_counter(sx_cluster *cluster) {
    sxi_cluster_enter(cluster);
    const int64_t made = cluster->counters_made++;
    sxi_cluster_leave(cluster);
    return made;
}

void sxi_ranks_claim(sx_cluster *cluster, int64_t counter, int64_t units, sxi_request *request) {
    assert(counter >= 0 && units > 0);
    request->kind = SXI_REQUEST_CLAIM;
    request->tag = counter;
    request->units = units;
    if (begin(cluster, request)) {
        const sx_status status = sxi_counter_claim(cluster, counter, units, &request->first);
        sxi_cluster_end(cluster, request, status);
        if (status != SX_OK) {
            sxi_cluster_fail(cluster, status, cluster->rank, sx_error_message());
        }
    }
    sxi_cluster_leave(cluster);
}

sx_status sxi_ranks_fail(sx_cluster *cluster, sx_status status) {
    if (status != SX_OK) {
        sxi_cluster_enter(cluster);
        sxi_cluster_fail(cluster, status, cluster->rank, sx_error_message());
        sxi_cluster_leave(cluster);
    }
    return status;
}

bool sxi_ranks_stopped(const sx_cluster *cluster) {
    return atomic_load_explicit(&cluster->stopped, memory_order_relaxed) ||
           (cluster->size == 1 && sx_cancelled(&cluster->caller));
}

sx_status sxi_ranks_status(sx_cluster *cluster) {
    sxi_cluster_enter(cluster);
    look_up(cluster);
    const sx_status status = cluster->failure.status;
    sxi_cluster_leave(cluster);
    return status == SX_OK ? SX_OK : sxi_cluster_tell(cluster);
}
