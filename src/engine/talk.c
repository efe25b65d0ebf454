/* SPDX-License-Identifier: Apache-2.0
 * The life of the talking thread: it takes what was queued, hears what came, moves what is on its
 * way, and rests the longer the less there is to do. */
#define _GNU_SOURCE /* NOLINT(cert-dcl37-c,cert-dcl51-cpp): the name is glibc's; pthread_setname_np */
#include "engine/talk.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
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

/* Between two looks at whether the start was cancelled. */
static const double look_up_s = 0.02;

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

static void converse(sxi_talk *talk) {
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
    if (!talk->silent) {
        char why[SXI_WIRE_WHY];
        talk->wire.cancel(talk->wire.data, &talk->hearing, why);
        talk->wire.close(talk->wire.data);
    }
}

static sx_status start_mpi(sxi_talk *talk) {
    const sxi_launcher *launcher = &talk->way.launcher;
    char text[SXI_WIRE_WHY] = "";
    const int code = talk->way.open(&talk->wire, text);
    if (code != 0) {
        return SXI_FAIL(code < 0 ? SX_ERR_UNSUPPORTED : SX_ERR_MISSING, "%s", text);
    }
    if (launcher->size > 0 && launcher->size != talk->wire.size) {
        const int size = talk->wire.size;
        talk->way.version(text, sizeof text);
        talk->wire.close(talk->wire.data);
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s started %d processes, but MPI sees %d of them: it is not the launcher "
                        "of %s, with which this was built",
                        launcher->name, launcher->size, size, text);
    }
    return SX_OK;
}

/* Whoever failed here ends, and with it the launcher ends the others. */
static sx_status start(sxi_talk *talk) {
    if (talk->way.given) {
        talk->wire = *talk->way.given;
    } else {
        SXI_TRY(start_mpi(talk));
    }
    const size_t size = (size_t)talk->wire.size;
    talk->peers = calloc(size, sizeof *talk->peers);
    if (!talk->peers) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to speak to %zu ranks", size);
    }
    talk->now = talk->moved_at = talk->moves_at = talk->looked_at = sxi_now();
    for (size_t i = 0; i < size; i++) {
        talk->peers[i].heard = talk->now;
        talk->peers[i].waiting.kind = -1;
    }
    return SX_OK;
}

static void *run(void *data) {
    sxi_talk *talk = data;
    sx_cluster *cluster = talk->cluster;
    pthread_setname_np(pthread_self(), "sextant-ranks");
    /* The system rounds a rest up by 50 us otherwise. */
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    const sx_status status = start(talk);
    sxi_cluster_enter(cluster);
    if (status == SX_OK) {
        sxi_cluster_adopt(cluster, talk->wire.rank, talk->wire.size);
        cluster->talk = talk;
    } else {
        talk->failure.status = status;
        snprintf(talk->failure.sentence, sizeof talk->failure.sentence, "%s", sx_error_message());
    }
    talk->started = true;
    pthread_cond_broadcast(&cluster->ended);
    const bool wanted = !talk->closing;
    sxi_cluster_leave(cluster);
    if (status == SX_OK && wanted) {
        converse(talk);
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

static sxi_talk *talk_create(sx_cluster *cluster, const sxi_cluster_options *options,
                             const sxi_way *way) {
    sxi_talk *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    made->cluster = cluster;
    made->way = *way;
    if (options) {
        made->options = *options;
    }
    sxi_cluster_options *o = &made->options;
    o->piece = o->piece > 0 ? o->piece : (size_t)64 << 20;
    o->alive_s = given(o->alive_s, 1);
    o->lost_s = given(o->lost_s, 8);
    o->patience_s = given(o->patience_s, 30);
    made->patience = o->patience_s;
    made->silent_at = HUGE_VAL;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&made->work, &clock);
    pthread_condattr_destroy(&clock);
    return made;
}

/* MPI waits without end for a rank that died while it started, or for a host that cannot be reached. With
 * the lock held; false: the caller has had enough. */
static bool wait_for_start(sxi_talk *talk) {
    sx_cluster *cluster = talk->cluster;
    const double begin = sxi_now();
    double patience = talk->options.patience_s;
    while (!talk->started && !sx_cancelled(&cluster->caller)) {
        sxi_cluster_wait(cluster, &cluster->ended, look_up_s);
        const double waited = sxi_now() - begin;
        if (!talk->started && waited > patience) {
            patience *= 2;
            if (talk->way.launcher.rank == 0) {
                sx_log(&cluster->caller, SX_LOG_WARNING,
                       "MPI has not started for %.0f s: some rank of %s died or does not start, or "
                       "its host cannot be reached",
                       waited, talk->way.launcher.name);
            }
        }
    }
    return talk->started;
}

sx_status sxi_talk_open(sx_cluster *cluster, const sxi_cluster_options *options, const sxi_way *way,
                        bool *kept) {
    sxi_talk *made = talk_create(cluster, options, way);
    *kept = true;
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to speak to other ranks");
    }
    if (start_quietly(made) != 0) {
        talk_destroy(made);
        return SXI_FAIL(SX_ERR_MEMORY, "no thread to speak to other ranks");
    }
    sxi_cluster_enter(cluster);
    *kept = wait_for_start(made);
    made->closing = !*kept;
    const sx_status status = (sx_status)made->failure.status;
    sxi_cluster_leave(cluster);
    if (!*kept) {
        pthread_detach(made->thread);
        return SXI_FAIL(SX_ERR_CANCELLED, "cancelled while MPI started");
    }
    if (cluster->talk) {
        return SX_OK;
    }
    pthread_join(made->thread, NULL);
    const sx_status failed = SXI_FAIL(status, "%s", made->failure.sentence);
    talk_destroy(made);
    return failed;
}

void sxi_talk_close(sx_cluster *cluster) {
    sxi_talk *talk = cluster->talk;
    sxi_cluster_enter(cluster);
    talk->closing = true;
    sxi_talk_wake(talk);
    sxi_cluster_leave(cluster);
    pthread_join(talk->thread, NULL);
    cluster->talk = NULL;
    talk_destroy(talk);
}
