/* SPDX-License-Identifier: Apache-2.0
 * The life of the talking thread: it takes what was queued, hears what came, moves what is on its
 * way, and rests the longer the less there is to do. */
#define _GNU_SOURCE /* NOLINT(cert-dcl37-c,cert-dcl51-cpp): the name is glibc's; pthread_setname_np */
#include "engine/talk.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"

enum {
    REST_LEAST_US = 20,
    REST_AWAITED_US = 200, /* at most, while somebody here waits for another rank */
    REST_MOST_US = 1000,   /* a look costs 5 to 25 us, so this is 0.5 to 2.5 % of a core */
    AWAKE_US = 50          /* an answer often comes so soon */
};

/* What is still on the wire when all have closed has so long to leave. */
static const double farewell_s = 2;

void sxi_talk_wake(sxi_talk *talk) { pthread_cond_signal(&talk->work); }

void sxi_talk_end(sxi_talk *talk, sxi_request *request) {
    sx_cluster *cluster = talk->cluster;
    sxi_cluster_enter(cluster);
    sxi_cluster_end(cluster, request, (sx_status)cluster->failure.status);
    sxi_cluster_leave(cluster);
}

void sxi_talk_report(sxi_talk *talk, sx_status status, sxi_request *request) {
    sxi_cluster_enter(talk->cluster);
    if (request) {
        sxi_request_append(&talk->cluster->parked, request);
    }
    sxi_cluster_report(talk->cluster, status);
    sxi_cluster_leave(talk->cluster);
}

static bool take_orders(sxi_talk *talk) {
    sx_cluster *cluster = talk->cluster;
    sxi_cluster_enter(cluster);
    sxi_request *orders = cluster->queued;
    cluster->queued = NULL;
    talk->leaving = talk->closing;
    sxi_cluster_leave(cluster);
    const bool any = orders != NULL;
    sxi_request *order = NULL;
    while ((order = sxi_request_take(&orders))) {
        sxi_talk_order(talk, order);
    }
    return any;
}

/* What waits for other ranks will wait in vain. */
static void give_up(sxi_talk *talk) {
    sxi_request *claim = NULL;
    while ((claim = sxi_request_take(&talk->claims))) {
        sxi_talk_end(talk, claim);
    }
    sxi_transfers_withdraw(talk, false);
    talk->gave_up = true;
}

/* The wire is left to itself: nothing of it may end any more. */
static void fall_silent(sxi_talk *talk) {
    sxi_transfers_withdraw(talk, true);
    talk->silent = true;
}

static void rest(sxi_talk *talk, bool moved) {
    sx_cluster *cluster = talk->cluster;
    const double idle_us = 1e6 * (talk->now - talk->moved_at);
    if (moved) {
        talk->moved_at = talk->now;
        return;
    }
    if (!talk->silent && (talk->transfers || idle_us < AWAKE_US)) {
        sched_yield();
        return;
    }
    sxi_cluster_enter(cluster);
    const double most_us = cluster->posted || talk->claims ? REST_AWAITED_US : REST_MOST_US;
    if (!cluster->queued && talk->closing == talk->leaving &&
        (talk->told || talk->failure.status == SX_OK)) {
        sxi_cluster_wait(cluster, &talk->work,
                         1e-6 * fmin(fmax(idle_us / 4, REST_LEAST_US), most_us));
    }
    sxi_cluster_leave(cluster);
}

static bool over(const sxi_talk *talk) {
    if (talk->silent) {
        return talk->leaving;
    }
    return talk->released && (!talk->posts || talk->now > talk->moved_at + farewell_s);
}

static void *run(void *data) {
    sxi_talk *talk = data;
    pthread_setname_np(pthread_self(), "sextant-ranks");
    /* The system rounds a rest up by 50 us otherwise. */
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    sxi_talk_listen(talk);
    while (!over(talk)) {
        bool moved = take_orders(talk);
        if (!talk->silent) {
            moved = sxi_talk_hear(talk) || moved;
            moved = sxi_talk_posts(talk) || moved;
            moved = sxi_transfers_move(talk) || moved;
            talk->now = sxi_now();
            sxi_talk_live(talk);
            if (!talk->gave_up && (talk->leaving || talk->cluster->failure.status != SX_OK)) {
                give_up(talk);
            }
            if (talk->now >= talk->silent_at) {
                fall_silent(talk);
            }
        }
        talk->now = sxi_now();
        rest(talk, moved);
    }
    return NULL;
}

static void talk_destroy(sxi_talk *talk) {
    while (talk->posts) {
        sxi_post *post = talk->posts;
        talk->posts = post->next;
        if (!post->kept) {
            free(post);
        }
    }
    free(talk->peers);
    pthread_cond_destroy(&talk->work);
    free(talk);
}

/* Signals are for the threads of the caller. */
static int start_quietly(sxi_talk *talk) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&talk->thread, NULL, run, talk);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static double given(double value, double otherwise) { return value > 0 ? value : otherwise; }

sx_status sxi_talk_open(sx_cluster *cluster, const sxi_cluster_options *options,
                        const sxi_wire *wire) {
    const size_t size = (size_t)cluster->size;
    sxi_talk *talk = calloc(1, sizeof *talk);
    sxi_peer *peers = calloc(size, sizeof *peers);
    if (!talk || !peers) {
        free(talk);
        free(peers);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to speak to %zu ranks", size);
    }
    talk->cluster = cluster;
    talk->wire = *wire;
    talk->peers = peers;
    if (options) {
        talk->options = *options;
    }
    sxi_cluster_options *o = &talk->options;
    o->piece = o->piece > 0 ? o->piece : (size_t)64 << 20;
    o->alive_s = given(o->alive_s, 1);
    o->lost_s = given(o->lost_s, 8);
    o->patience_s = given(o->patience_s, 30);
    talk->patience = o->patience_s;
    talk->silent_at = HUGE_VAL;
    talk->now = talk->moved_at = talk->moves_at = talk->looked_at = sxi_now();
    for (size_t i = 0; i < size; i++) {
        peers[i].heard = talk->now;
        peers[i].waiting.kind = -1;
    }
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&talk->work, &clock);
    pthread_condattr_destroy(&clock);
    cluster->talk = talk;
    if (start_quietly(talk) != 0) {
        cluster->talk = NULL;
        talk_destroy(talk);
        return SXI_FAIL(SX_ERR_MEMORY, "no thread to speak to other ranks");
    }
    return SX_OK;
}

void sxi_talk_close(sx_cluster *cluster) {
    sxi_talk *talk = cluster->talk;
    sxi_cluster_enter(cluster);
    talk->closing = true;
    sxi_talk_wake(talk);
    sxi_cluster_leave(cluster);
    pthread_join(talk->thread, NULL);
    if (!talk->silent) {
        char why[SXI_WIRE_WHY];
        talk->wire.cancel(talk->wire.data, &talk->hearing, why);
        talk->wire.close(talk->wire.data);
    }
    cluster->talk = NULL;
    talk_destroy(talk);
}
