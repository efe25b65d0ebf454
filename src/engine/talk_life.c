/* SPDX-License-Identifier: Apache-2.0
 * Who lives, who failed, and who waits for whom. Rank 0 follows all, and decides which failure was
 * the first; the others follow rank 0, and can end without it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/talk.h"

static const double look_s = 0.01;  /* between two looks at the clock's affairs */
static const double asleep_s = 4.0; /* nobody looked here for so long: it was us who slept */

static size_t sentence_bytes(const sxi_failure *failure) {
    return offsetof(sxi_failure, sentence) + strlen(failure->sentence) + 1;
}

static void tell(sxi_talk *talk, int to, sxi_word word, const sxi_failure *failure) {
    const size_t bytes = sentence_bytes(failure);
    if (!talk->peers[to].stop.kept) {
        talk->stop.head = (sxi_head){.word = (int)word};
        memcpy(talk->stop.behind, failure, bytes);
        sxi_talk_say_kept(talk, to, &talk->peers[to].stop, &talk->stop, bytes);
    } else { /* a second time: a rank died after a failure */
        const sxi_head head = {.word = (int)word};
        sxi_talk_say(talk, to, &head, failure, bytes);
    }
}

void sxi_talk_fail(sxi_talk *talk, const sxi_failure *failure) {
    sx_cluster *cluster = talk->cluster;
    const bool dead = failure->lost != SXI_NOBODY;
    if (talk->silent_at < HUGE_VAL || (cluster->failure.status != SX_OK && !dead)) {
        return;
    }
    if (dead) {
        /* Time to tell the others; 1 s by default. */
        talk->silent_at = talk->now + talk->options.lost_s / 8;
        atomic_store(&cluster->lost, failure->lost);
    }
    sxi_cluster_enter(cluster);
    sxi_cluster_fail(cluster, failure);
    sxi_cluster_leave(cluster);
    for (int to = 1; cluster->rank == 0 && to < cluster->size; to++) {
        if (to != failure->lost) {
            tell(talk, to, SXI_WORD_STOP, failure);
        }
    }
    if (cluster->rank != 0 && failure->lost == SXI_WIRE && failure->rank == cluster->rank) {
        tell(talk, 0, SXI_WORD_FAILED, failure);
    }
}

/* What this rank has failed with. */
static void tell_own(sxi_talk *talk) {
    sxi_cluster_enter(talk->cluster);
    const sxi_failure own = talk->failure;
    sxi_cluster_leave(talk->cluster);
    if (own.status == SX_OK || talk->told) {
        return;
    }
    talk->told = true;
    if (talk->cluster->rank == 0) {
        sxi_talk_fail(talk, &own);
    } else {
        tell(talk, 0, SXI_WORD_FAILED, &own);
    }
}

/* The request that waits longest for another rank. */
static void look_at_waiting(const sxi_talk *talk, sxi_waiting *waiting) {
    sx_cluster *cluster = talk->cluster;
    const sxi_request *oldest = NULL;
    sxi_cluster_enter(cluster);
    for (const sxi_request *r = cluster->posted; r; r = r->next) {
        oldest = oldest && oldest->since <= r->since ? oldest : r;
    }
    for (const sxi_request *r = talk->claims; r; r = r->next) {
        oldest = oldest && oldest->since <= r->since ? oldest : r;
    }
    for (const sxi_transfer *t = talk->transfers; t; t = t->next) {
        oldest = oldest && oldest->since <= t->request->since ? oldest : t->request;
    }
    *waiting = (sxi_waiting){.kind = -1, .moves = cluster->moves};
    if (oldest) {
        waiting->kind = (int)oldest->kind;
        waiting->peer = oldest->peer;
        waiting->tag = oldest->tag;
        waiting->seconds = talk->now - oldest->since;
    }
    sxi_cluster_leave(cluster);
}

static void show_life(sxi_talk *talk) {
    const int rank = talk->cluster->rank;
    sxi_waiting *waiting = &talk->peers[rank].waiting;
    look_at_waiting(talk, waiting);
    if (rank == 0) {
        talk->alive.head = (sxi_head){.word = SXI_WORD_ALIVE};
        for (int to = 1; to < talk->cluster->size; to++) {
            sxi_talk_say_kept(talk, to, &talk->peers[to].alive, &talk->alive, 0);
        }
    } else if (!talk->peers[0].alive.under_way) {
        talk->alive.head = (sxi_head){.word = SXI_WORD_ALIVE};
        memcpy(talk->alive.behind, waiting, sizeof *waiting);
        sxi_talk_say_kept(talk, 0, &talk->peers[0].alive, &talk->alive, sizeof *waiting);
    }
}

static void look_for_dead(sxi_talk *talk) {
    const int rank = talk->cluster->rank;
    for (int from = rank == 0; from < (rank == 0 ? talk->cluster->size : 1); from++) {
        const double silence = talk->now - talk->peers[from].heard;
        if (silence > talk->options.lost_s) {
            sxi_failure failure = {.status = SX_ERR_IO, .rank = rank, .lost = from};
            snprintf(failure.sentence, sizeof failure.sentence,
                     "rank %d has given no sign of life for %.0f s: it died, or was stopped", from,
                     silence);
            sxi_talk_fail(talk, &failure);
            return;
        }
    }
}

static int describe(const sxi_waiting *w, int rank, char *text, size_t size) {
    char peer[32] = "any rank", tag[64] = "in a call of all ranks";
    if (w->peer >= 0) {
        snprintf(peer, sizeof peer, "rank %d", w->peer);
    }
    if (w->tag >= 0) {
        snprintf(tag, sizeof tag, "tag %lld", (long long)w->tag);
    }
    switch (w->kind) {
    case SXI_REQUEST_SEND:
        return snprintf(text, size, "rank %d waits until %s takes a message, %s", rank, peer, tag);
    case SXI_REQUEST_RECEIVE:
        return snprintf(text, size, "rank %d waits for a message of %s, %s", rank, peer, tag);
    default:
        return snprintf(text, size, "rank %d waits for counter %lld", rank, (long long)w->tag);
    }
}

/* Says who waits for what; the ranks that are not named compute, or read. */
static void complain(const sxi_talk *talk, double seconds) {
    char words[1536];
    size_t used = 0;
    int waiting = 0, named = 0;
    const int size = talk->cluster->size;
    for (int rank = 0; rank < size; rank++) {
        const sxi_waiting *w = &talk->peers[rank].waiting;
        if (w->kind < 0 || w->seconds < seconds / 2) {
            continue;
        }
        waiting++;
        if (used < sizeof words - 128) {
            used += (size_t)snprintf(words + used, sizeof words - used, named++ ? "; " : "");
            used += (size_t)describe(w, rank, words + used, sizeof words - used);
        }
    }
    if (waiting > 0) {
        sx_log(&talk->cluster->context, SX_LOG_WARNING,
               "nothing has moved between the ranks for %.0f s: %s%s; %d of %d ranks work on",
               seconds, words, named < waiting ? "; ..." : "", size - waiting, size);
    }
}

/* Nothing is wrong with a rank that computes for long, so it is only said. */
static void watch(sxi_talk *talk) {
    int64_t moves = 0;
    for (int rank = 0; rank < talk->cluster->size; rank++) {
        moves += talk->peers[rank].waiting.moves;
    }
    if (moves != talk->moves) {
        talk->moves = moves;
        talk->moves_at = talk->now;
        talk->patience = talk->options.patience_s;
    } else if (talk->now - talk->moves_at > talk->patience) {
        complain(talk, talk->now - talk->moves_at);
        talk->patience *= 2;
    }
}

/* Rank 0 lets all go once all have closed. */
static void say_goodbye(sxi_talk *talk) {
    const sxi_head bye = {.word = SXI_WORD_BYE};
    sx_cluster *cluster = talk->cluster;
    if (!talk->leaving || talk->transfers || talk->released) {
        return;
    }
    if (cluster->rank != 0) {
        if (!talk->said_bye) {
            talk->said_bye = true;
            sxi_talk_say(talk, 0, &bye, NULL, 0);
        }
        talk->released = talk->peers[0].closed;
        return;
    }
    for (int from = 1; from < cluster->size; from++) {
        if (!talk->peers[from].closed) {
            return;
        }
    }
    for (int to = 1; to < cluster->size; to++) {
        sxi_talk_say(talk, to, &bye, NULL, 0);
    }
    talk->released = true;
}

void sxi_talk_live(sxi_talk *talk) {
    sx_cluster *cluster = talk->cluster;
    tell_own(talk);
    say_goodbye(talk);
    if (talk->now - talk->looked_at < look_s) {
        return;
    }
    if (talk->now - talk->looked_at > asleep_s) {
        for (int i = 0; i < cluster->size; i++) {
            talk->peers[i].heard = talk->now;
        }
    }
    talk->looked_at = talk->now;
    if (!atomic_load(&cluster->stopped) && sx_cancelled(&cluster->caller)) {
        sxi_talk_report(talk, SXI_FAIL(SX_ERR_CANCELLED, "cancelled"), NULL);
    }
    if (talk->now - talk->alive_at >= talk->options.alive_s) {
        talk->alive_at = talk->now;
        show_life(talk);
        look_for_dead(talk);
        if (cluster->rank == 0) {
            watch(talk);
        }
    }
}
