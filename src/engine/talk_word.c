/* SPDX-License-Identifier: Apache-2.0
 * Words on the wire: all go with tag 0, so those of one rank to another keep their order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/talk.h"

enum {
    TAG = 0,
    AT_A_TIME = 64 /* words heard before what waits here has its turn */
};

/* A post that brings its word along. */
typedef struct letter {
    sxi_post post;
    sxi_head head;
    unsigned char behind[];
} letter;

bool sxi_talk_broken(sxi_talk *talk, int code, const char *why) {
    if (code == 0) {
        return false;
    }
    sxi_failure failure = {.status = SX_ERR_IO, .rank = talk->cluster->rank, .lost = SXI_WIRE};
    snprintf(failure.sentence, sizeof failure.sentence, "%s", why);
    sxi_talk_fail(talk, &failure);
    return true;
}

static bool launch(sxi_talk *talk, int to, sxi_post *post, const void *word, size_t bytes) {
    char why[SXI_WIRE_WHY];
    const sxi_wire *wire = &talk->wire;
    const int code =
        wire->send(wire->data, to, TAG, word, sizeof(sxi_head) + bytes, &post->op, why);
    if (sxi_talk_broken(talk, code, why)) {
        return false;
    }
    post->next = talk->posts;
    talk->posts = post;
    return true;
}

void sxi_talk_say(sxi_talk *talk, int to, const sxi_head *head, const void *behind, size_t bytes) {
    letter *made = malloc(sizeof *made + bytes);
    if (!made) {
        sxi_talk_report(talk, SXI_FAIL(SX_ERR_MEMORY, "no memory for a message"), NULL);
        return;
    }
    made->post = (sxi_post){0};
    made->head = *head;
    if (bytes > 0) {
        memcpy(made->behind, behind, bytes);
    }
    if (!launch(talk, to, &made->post, &made->head, bytes)) {
        free(made);
    }
}

bool sxi_talk_say_kept(sxi_talk *talk, int to, sxi_post *post, const sxi_talk_word *word,
                       size_t bytes) {
    if (post->under_way) {
        return false;
    }
    post->kept = post->under_way = true;
    if (!launch(talk, to, post, word, bytes)) {
        post->under_way = false;
    }
    return true;
}

bool sxi_talk_posts(sxi_talk *talk) {
    char why[SXI_WIRE_WHY];
    const sxi_wire *wire = &talk->wire;
    bool moved = false;
    for (sxi_post **at = &talk->posts; *at;) {
        sxi_post *post = *at;
        sxi_wire_end end = {0};
        if (sxi_talk_broken(talk, wire->test(wire->data, &post->op, &end, why), why)) {
            return moved;
        }
        if (!end.ended) {
            at = &post->next;
            continue;
        }
        *at = post->next;
        moved = true;
        post->under_way = false;
        if (!post->kept) {
            free(post);
        }
    }
    return moved;
}

void sxi_talk_listen(sxi_talk *talk) {
    char why[SXI_WIRE_WHY];
    sxi_talk_broken(talk,
                    talk->wire.receive(talk->wire.data, SXI_WIRE_ANY, TAG, &talk->heard,
                                       sizeof talk->heard, &talk->hearing, why),
                    why);
}

bool sxi_talk_hear(sxi_talk *talk) {
    char why[SXI_WIRE_WHY];
    for (int i = 0; i < AT_A_TIME; i++) {
        sxi_wire_end end = {0};
        if (sxi_talk_broken(talk, talk->wire.test(talk->wire.data, &talk->hearing, &end, why),
                            why) ||
            !end.ended) {
            return i > 0;
        }
        talk->peers[end.from].heard = talk->now;
        sxi_talk_obey(talk, end.from, &talk->heard, end.count - sizeof(sxi_head));
        sxi_talk_listen(talk);
    }
    return true;
}
