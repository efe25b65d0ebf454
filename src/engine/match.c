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

void sxi_match_arrive(sx_cluster *cluster, sxi_message *message) {
    sxi_message **at = &cluster->arrived;
    while (*at) {
        at = &(*at)->next;
    }
    message->next = NULL;
    *at = message;
}

bool sxi_match_fits(sx_cluster *cluster, sxi_request *receive, int from, size_t count) {
    if (count <= receive->room) {
        receive->count = count;
        receive->peer = from;
        return true;
    }
    sxi_request_append(&cluster->parked, receive);
    sxi_cluster_report(cluster,
                       SXI_FAIL(SX_ERR_SHAPE,
                                "a message of %zu bytes from rank %d, tag %lld, has room for %zu",
                                count, from, (long long)receive->tag, receive->room));
    return false;
}
