/* SPDX-License-Identifier: Apache-2.0
 * Which receive gets which message. Both lists are short: what is under way at one rank. */
#include "engine/cluster.h"

static bool accepts(const sxi_request *receive, int from, int64_t tag) {
    return receive->tag == tag && (receive->peer == SXI_RANK_ANY || receive->peer == from);
}

sxi_request *sxi_match_posted(sx_cluster *cluster, int from, int64_t tag) {
    for (sxi_request **at = &cluster->posted; *at; at = &(*at)->next) {
        sxi_request *receive = *at;
        if (accepts(receive, from, tag)) {
            *at = receive->next;
            return receive;
        }
    }
    return NULL;
}

sxi_message *sxi_match_arrived(sx_cluster *cluster, const sxi_request *receive) {
    for (sxi_message **at = &cluster->arrived; *at; at = &(*at)->next) {
        sxi_message *message = *at;
        if (accepts(receive, message->from, message->tag)) {
            *at = message->next;
            return message;
        }
    }
    return NULL;
}

void sxi_match_post(sx_cluster *cluster, sxi_request *receive) {
    sxi_request **at = &cluster->posted;
    while (*at) {
        at = &(*at)->next;
    }
    receive->next = NULL;
    *at = receive;
}

void sxi_match_arrive(sx_cluster *cluster, sxi_message *message) {
    sxi_message **at = &cluster->arrived;
    while (*at) {
        at = &(*at)->next;
    }
    message->next = NULL;
    *at = message;
}
