/* SPDX-License-Identifier: Apache-2.0
 * What is asked for here, and what a word of another rank means. */
#include <stdlib.h>
#include <string.h>

#include "engine/talk.h"

static void order_send(sxi_talk *talk, sxi_request *send) {
    if (send->room > SXI_SHORT_BYTES) {
        sxi_transfer_offer(talk, send);
        return;
    }
    const sxi_head head = {.word = SXI_WORD_SEND, .tag = send->tag, .count = (int64_t)send->room};
    sxi_talk_say(talk, send->peer, &head, send->bytes.from, send->room);
    sxi_talk_end(talk, send);
}

static void order_claim(sxi_talk *talk, sxi_request *claim) {
    claim->id = ++talk->last_id;
    const sxi_head head = {
        .word = SXI_WORD_CLAIM, .tag = claim->tag, .count = claim->units, .id = claim->id};
    sxi_request_append(&talk->claims, claim);
    sxi_talk_say(talk, 0, &head, NULL, 0);
}

void sxi_talk_order(sxi_talk *talk, sxi_request *request) {
    if (talk->gave_up || talk->silent) {
        sxi_talk_end(talk, request);
    } else if (request->kind == SXI_REQUEST_SEND) {
        order_send(talk, request);
    } else if (request->kind == SXI_REQUEST_RECEIVE) {
        sxi_transfer_accept(talk, request);
    } else {
        order_claim(talk, request);
    }
}

/* Keeps a message until it is asked for; false without memory. With the lock held. */
static bool keep(sx_cluster *cluster, int from, const sxi_talk_word *word, size_t bytes) {
    sxi_message *message = malloc(sizeof *message + bytes);
    if (!message) {
        return false;
    }
    *message = (sxi_message){.from = from,
                             .tag = word->head.tag,
                             .count = (size_t)word->head.count,
                             .id = word->head.id};
    memcpy(message->bytes, word->behind, bytes);
    sxi_match_arrive(cluster, message);
    return true;
}

/* A short message, or the offer of a long one. */
static void obey_message(sxi_talk *talk, int from, const sxi_talk_word *word, size_t bytes) {
    sx_cluster *cluster = talk->cluster;
    sxi_request *accepted = NULL;
    bool kept = true;
    sxi_cluster_enter(cluster);
    if (cluster->failure.status == SX_OK) {
        sxi_request *receive = sxi_match_posted(cluster, from, word->head.tag);
        if (!receive) {
            kept = keep(cluster, from, word, bytes);
        } else if (sxi_match_fits(cluster, receive, from, (size_t)word->head.count)) {
            if (word->head.word == SXI_WORD_OFFER) {
                receive->id = word->head.id;
                accepted = receive;
            } else {
                if (bytes > 0) {
                    memcpy(receive->bytes.to, word->behind, bytes);
                }
                sxi_cluster_end(cluster, receive, SX_OK);
            }
        }
    }
    sxi_cluster_leave(cluster);
    if (accepted) {
        sxi_transfer_accept(talk, accepted);
    }
    if (!kept) {
        sxi_talk_report(talk, SXI_FAIL(SX_ERR_MEMORY, "no memory for a message of rank %d", from),
                        NULL);
    }
}

static void obey_claim(sxi_talk *talk, int from, const sxi_head *claim) {
    sxi_head answer = {.word = SXI_WORD_CLAIMED, .id = claim->id};
    sxi_cluster_enter(talk->cluster);
    const sx_status status =
        sxi_counter_claim(talk->cluster, claim->tag, claim->count, &answer.count);
    sxi_cluster_leave(talk->cluster);
    if (status == SX_OK) {
        sxi_talk_say(talk, from, &answer, NULL, 0);
    } else {
        sxi_talk_report(talk, status, NULL);
    }
}

/* One that was given up meanwhile is not there. */
static void obey_claimed(sxi_talk *talk, const sxi_head *answer) {
    for (sxi_request **at = &talk->claims; *at; at = &(*at)->next) {
        sxi_request *claim = *at;
        if (claim->id == answer->id) {
            *at = claim->next;
            claim->first = answer->count;
            sxi_talk_end(talk, claim);
            return;
        }
    }
}

static void obey_failure(sxi_talk *talk, const sxi_talk_word *word, size_t bytes) {
    sxi_failure failure = {0};
    memcpy(&failure, word->behind, bytes < sizeof failure ? bytes : sizeof failure);
    sxi_talk_fail(talk, &failure);
}

void sxi_talk_obey(sxi_talk *talk, int from, const sxi_talk_word *word, size_t bytes) {
    const sxi_head *head = &word->head;
    switch ((sxi_word)head->word) {
    case SXI_WORD_SEND:
    case SXI_WORD_OFFER:
        obey_message(talk, from, word, bytes);
        break;
    case SXI_WORD_ACCEPT:
        sxi_transfer_accepted(talk, from, head->id);
        break;
    case SXI_WORD_REFUSE:
        sxi_transfer_refused(talk, from, head->id);
        break;
    case SXI_WORD_CLAIM:
        obey_claim(talk, from, head);
        break;
    case SXI_WORD_CLAIMED:
        obey_claimed(talk, head);
        break;
    case SXI_WORD_ALIVE:
        if (bytes == sizeof(sxi_waiting)) {
            memcpy(&talk->peers[from].waiting, word->behind, bytes);
        }
        break;
    case SXI_WORD_FAILED:
    case SXI_WORD_STOP:
        obey_failure(talk, word, bytes);
        break;
    case SXI_WORD_BYE:
        talk->peers[from].closed = true;
        break;
    }
}
