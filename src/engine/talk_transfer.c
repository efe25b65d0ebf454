/* SPDX-License-Identifier: Apache-2.0
 * Long messages: one end offers, the other accepts once it has room, and then pieces travel straight
 * from buffer to buffer, one at a time. Nothing is sent that is not waited for, so an end that gives
 * up never leaves the other in the midst of a piece. */
#include <stdlib.h>

#include "engine/talk.h"

/* MPI moves a little at each look, and this thread is about to let others run. */
enum { LOOKS = 64 };

/* Two messages of one rank to another share a tag only if a multiple of tag_most lies between. */
static int piece_tag(const sxi_talk *talk, int64_t id) {
    return 1 + (int)(id % talk->wire.tag_most);
}

static sxi_transfer *transfer_create(sxi_talk *talk, sxi_request *request, int64_t id) {
    sxi_transfer *made = calloc(1, sizeof *made);
    if (!made) {
        sxi_talk_report(talk, SXI_FAIL(SX_ERR_MEMORY, "no memory for a message"), request);
        return NULL;
    }
    made->request = request;
    made->peer = request->peer;
    made->id = id;
    sxi_transfer **at = &talk->transfers;
    while (*at) {
        at = &(*at)->next;
    }
    *at = made;
    return made;
}

static void transfer_end(sxi_talk *talk, sxi_transfer **at) {
    sxi_transfer *ended = *at;
    *at = ended->next;
    sxi_talk_end(talk, ended->request);
    free(ended);
}

static void next_piece(sxi_talk *talk, sxi_transfer *t) {
    char why[SXI_WIRE_WHY];
    const sxi_wire *wire = &talk->wire;
    const int tag = piece_tag(talk, t->id);
    const size_t rest = t->total - t->done;
    int code = 0;
    t->piece = rest < talk->options.piece ? rest : talk->options.piece;
    t->moving = true;
    if (t->sends) {
        code = wire->send(wire->data, t->peer, tag, t->from + t->done, t->piece, &t->op, why);
    } else {
        code = wire->receive(wire->data, t->peer, tag, t->to + t->done, t->piece, &t->op, why);
    }
    sxi_talk_broken(talk, code, why);
}

void sxi_transfer_offer(sxi_talk *talk, sxi_request *send) {
    const sxi_head head = {.word = SXI_WORD_OFFER,
                           .tag = send->tag,
                           .count = (int64_t)send->room,
                           .id = ++talk->last_id};
    sxi_transfer *made = transfer_create(talk, send, head.id);
    if (made) {
        made->sends = true;
        made->from = send->bytes.from;
        made->total = send->room;
        sxi_talk_say(talk, send->peer, &head, NULL, 0);
    }
}

void sxi_transfer_accept(sxi_talk *talk, sxi_request *receive) {
    const sxi_head head = {.word = SXI_WORD_ACCEPT, .id = receive->id};
    sxi_transfer *made = transfer_create(talk, receive, receive->id);
    if (made) {
        made->to = receive->bytes.to;
        made->total = receive->count;
        next_piece(talk, made);
        sxi_talk_say(talk, made->peer, &head, NULL, 0);
    }
}

static sxi_transfer **find(sxi_talk *talk, bool sends, int peer, int64_t id) {
    sxi_transfer **at = &talk->transfers;
    while (*at && ((*at)->sends != sends || (*at)->peer != peer || (*at)->id != id)) {
        at = &(*at)->next;
    }
    return at;
}

void sxi_transfer_accepted(sxi_talk *talk, int from, int64_t id) {
    sxi_transfer *t = *find(talk, true, from, id);
    if (t) {
        next_piece(talk, t);
    } else {
        const sxi_head head = {.word = SXI_WORD_REFUSE, .id = id};
        sxi_talk_say(talk, from, &head, NULL, 0);
    }
}

/* The other end withdrew because all has failed, which will be known here, too. */
void sxi_transfer_refused(sxi_talk *talk, int from, int64_t id) {
    char why[SXI_WIRE_WHY];
    sxi_transfer **at = find(talk, false, from, id);
    sxi_transfer *t = *at;
    if (!t || sxi_talk_broken(talk, talk->wire.cancel(talk->wire.data, &t->op, why), why)) {
        return;
    }
    sx_cluster *cluster = talk->cluster;
    *at = t->next;
    sxi_cluster_enter(cluster);
    if (cluster->failure.status != SX_OK) {
        sxi_cluster_end(cluster, t->request, (sx_status)cluster->failure.status);
    } else {
        sxi_request_append(&cluster->parked, t->request);
    }
    sxi_cluster_leave(cluster);
    free(t);
}

bool sxi_transfers_move(sxi_talk *talk) {
    char why[SXI_WIRE_WHY];
    bool moved = false;
    for (sxi_transfer **at = &talk->transfers; *at;) {
        sxi_transfer *t = *at;
        sxi_wire_end end = {0};
        for (int i = 0; t->moving && !end.ended && i < LOOKS; i++) {
            if (sxi_talk_broken(talk, talk->wire.test(talk->wire.data, &t->op, &end, why), why)) {
                return moved;
            }
        }
        if (end.ended) {
            moved = true;
            t->done += t->piece;
            if (t->done < t->total) {
                next_piece(talk, t);
            } else {
                transfer_end(talk, at);
                continue;
            }
        }
        at = &t->next;
    }
    return moved;
}

void sxi_transfers_withdraw(sxi_talk *talk, bool all) {
    for (sxi_transfer **at = &talk->transfers; *at;) {
        if (all || !(*at)->moving) {
            transfer_end(talk, at);
        } else {
            at = &(*at)->next;
        }
    }
}
