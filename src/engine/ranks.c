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
#include "engine/talk.h"

static const double look_up_s = 0.02;

void sxi_cluster_enter(sx_cluster *cluster) { pthread_mutex_lock(&cluster->lock); }

void sxi_cluster_leave(sx_cluster *cluster) {
    sxi_request *finished = cluster->finished;
    const bool failed = cluster->failure.status != SX_OK;
    cluster->finished = NULL;
    pthread_mutex_unlock(&cluster->lock);
    if (finished && failed) {
        sxi_cluster_tell(cluster);
    }
    while (finished) {
        sxi_request *next = finished->next;
        finished->done(finished->data, finished->status);
        finished = next;
    }
}

void sxi_cluster_wait(sx_cluster *cluster, pthread_cond_t *condition, double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const long ns = until.tv_nsec + (long)(1e9 * seconds);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(condition, &cluster->lock, &until);
}

void sxi_request_append(sxi_request **list, sxi_request *request) {
    while (*list) {
        list = &(*list)->next;
    }
    request->next = NULL;
    *list = request;
}

sxi_request *sxi_request_take(sxi_request **list) {
    sxi_request *taken = *list;
    if (taken) {
        *list = taken->next;
    }
    return taken;
}

void sxi_cluster_end(sx_cluster *cluster, sxi_request *request, sx_status status) {
    request->status = status;
    request->state = SXI_REQUEST_ENDED;
    cluster->moves++;
    if (request->done) {
        sxi_request_append(&cluster->finished, request);
    } else {
        pthread_cond_broadcast(&cluster->ended);
    }
}

static void end_all(sx_cluster *cluster, sxi_request **list) {
    sxi_request *request = NULL;
    while ((request = sxi_request_take(list))) {
        sxi_cluster_end(cluster, request, (sx_status)cluster->failure.status);
    }
}

void sxi_cluster_fail(sx_cluster *cluster, const sxi_failure *failure) {
    atomic_store(&cluster->stopped, true);
    if (cluster->failure.status != SX_OK) {
        end_all(cluster, &cluster->parked);
        return;
    }
    cluster->failure = *failure;
    atomic_store(&cluster->lost, failure->lost);
    while (cluster->arrived) {
        sxi_message *message = cluster->arrived;
        cluster->arrived = message->next;
        if (message->sender) {
            sxi_request_append(&cluster->parked, message->sender);
        }
        free(message);
    }
    end_all(cluster, &cluster->posted);
    end_all(cluster, &cluster->queued);
    end_all(cluster, &cluster->parked);
    pthread_cond_broadcast(&cluster->ended);
}

void sxi_cluster_report(sx_cluster *cluster, sx_status status) {
    sxi_talk *talk = cluster->talk;
    sxi_failure failure = {.status = status, .rank = cluster->rank, .lost = SXI_NOBODY};
    snprintf(failure.sentence, sizeof failure.sentence, "%s", sx_error_message());
    atomic_store(&cluster->stopped, true);
    if (!talk || cluster->failure.status != SX_OK) {
        sxi_cluster_fail(cluster, &failure);
    } else if (talk->failure.status == SX_OK) {
        talk->failure = failure;
        sxi_talk_wake(talk);
    }
}

/* With one rank nobody else looks at the caller's wish to stop. */
static void look_up(sx_cluster *cluster) {
    if (!cluster->talk && cluster->failure.status == SX_OK && sx_cancelled(&cluster->caller)) {
        sxi_cluster_report(cluster, SXI_FAIL(SX_ERR_CANCELLED, "cancelled"));
    }
}

/* Until something ended, or it is time to look up. */
static void wait_a_while(sx_cluster *cluster) {
    if (cluster->talk) {
        pthread_cond_wait(&cluster->ended, &cluster->lock);
        return;
    }
    sxi_cluster_wait(cluster, &cluster->ended, look_up_s);
    look_up(cluster);
}

sx_status sxi_ranks_wait(sx_cluster *cluster, sxi_request *request) {
    sxi_cluster_enter(cluster);
    assert(!request->done && request->state != SXI_REQUEST_NONE);
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
        sxi_cluster_end(cluster, request, (sx_status)cluster->failure.status);
        return false;
    }
    return true;
}

/* Leaves it to the talking thread. */
static void queue(sx_cluster *cluster, sxi_request *request) {
    sxi_request_append(&cluster->queued, request);
    sxi_talk_wake(cluster->talk);
}

/* What cannot go on: it ends with everything. */
static void park(sx_cluster *cluster, sxi_request *request, sx_status status) {
    sxi_request_append(&cluster->parked, request);
    sxi_cluster_report(cluster, status);
}

/* Of one rank to itself: from buffer to buffer. */
static void hand_over(sx_cluster *cluster, sxi_request *send, sxi_request *receive) {
    if (!sxi_match_fits(cluster, receive, cluster->rank, send->room)) {
        park(cluster, send, SX_ERR_SHAPE);
        return;
    }
    if (send->room > 0) {
        memcpy(receive->bytes.to, send->bytes.from, send->room);
    }
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
        park(cluster, send, SXI_FAIL(SX_ERR_MEMORY, "no memory for a message"));
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
        if (to == cluster->rank) {
            send_to_oneself(cluster, request);
        } else {
            queue(cluster, request);
        }
    }
    sxi_cluster_leave(cluster);
}

/* A message that was here first. */
static void receive_arrived(sx_cluster *cluster, sxi_message *message, sxi_request *receive) {
    if (message->sender) {
        hand_over(cluster, message->sender, receive);
    } else if (sxi_match_fits(cluster, receive, message->from, message->count)) {
        if (message->id) {
            receive->id = message->id;
            queue(cluster, receive);
        } else {
            if (message->count > 0) {
                memcpy(receive->bytes.to, message->bytes, message->count);
            }
            sxi_cluster_end(cluster, receive, SX_OK);
        }
    }
    free(message);
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
            receive_arrived(cluster, message, request);
        } else {
            sxi_request_append(&cluster->posted, request);
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
    request->peer = 0;
    request->tag = counter;
    request->units = units;
    if (begin(cluster, request)) {
        if (cluster->rank != 0) {
            queue(cluster, request);
        } else {
            const sx_status status = sxi_counter_claim(cluster, counter, units, &request->first);
            if (status == SX_OK) {
                sxi_cluster_end(cluster, request, status);
            } else {
                park(cluster, request, status);
            }
        }
    }
    sxi_cluster_leave(cluster);
}

sx_status sxi_ranks_fail(sx_cluster *cluster, sx_status status) {
    if (status != SX_OK) {
        sxi_cluster_enter(cluster);
        sxi_cluster_report(cluster, status);
        sxi_cluster_leave(cluster);
    }
    return status;
}

bool sxi_ranks_stopped(const sx_cluster *cluster) {
    return atomic_load_explicit(&cluster->stopped, memory_order_relaxed) ||
           (!cluster->talk && sx_cancelled(&cluster->caller));
}

/* Whoever asked to stop need not be told which rank heard it first. */
static sx_status tell(const sxi_failure *failure, bool named) {
    const sx_status status = (sx_status)failure->status;
    return named && status != SX_ERR_CANCELLED
               ? SXI_FAIL(status, "rank %d: %s", failure->rank, failure->sentence)
               : SXI_FAIL(status, "%s", failure->sentence);
}

sx_status sxi_cluster_tell(const sx_cluster *cluster) {
    return tell(&cluster->failure, cluster->size > 1);
}

/* Whether this rank has failed, but rank 0 has not decided yet. With the lock held. */
static bool undecided(const sx_cluster *cluster) {
    return cluster->failure.status == SX_OK && cluster->talk &&
           cluster->talk->failure.status != SX_OK;
}

/* What this rank has failed with is told at once, although rank 0 may yet choose another's. */
sx_status sxi_ranks_status(sx_cluster *cluster) {
    sxi_cluster_enter(cluster);
    look_up(cluster);
    sx_status status = (sx_status)cluster->failure.status;
    if (undecided(cluster)) {
        status = tell(&cluster->talk->failure, true);
    }
    const bool decided = cluster->failure.status != SX_OK;
    sxi_cluster_leave(cluster);
    return decided ? sxi_cluster_tell(cluster) : status;
}

sx_status sxi_ranks_agree(sx_cluster *cluster, sx_status status) {
    sxi_cluster_enter(cluster);
    if (status != SX_OK) {
        sxi_cluster_report(cluster, status);
    }
    while (undecided(cluster)) {
        wait_a_while(cluster);
    }
    const bool failed = cluster->failure.status != SX_OK;
    sxi_cluster_leave(cluster);
    return failed ? sxi_cluster_tell(cluster) : sxi_ranks_barrier(cluster);
}
