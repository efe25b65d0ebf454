/* SPDX-License-Identifier: Apache-2.0
 * What all ranks do together, made of messages. Tags below zero are its own: one for each call, so
 * that a fast rank's next call is not taken for this one. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster.h"

static int64_t next_tag(sx_cluster *cluster) {
    sxi_cluster_enter(cluster);
    const int64_t tag = -1 - cluster->turn++;
    sxi_cluster_leave(cluster);
    return tag;
}

static sx_status send(sx_cluster *cluster, int to, int64_t tag, const void *bytes, size_t count) {
    sxi_request request = {0};
    sxi_ranks_send(cluster, to, tag, bytes, count, &request);
    return sxi_ranks_wait(cluster, &request);
}

/* Exactly so many bytes: a shorter message comes of ranks that disagree. */
static sx_status receive(sx_cluster *cluster, int from, int64_t tag, void *bytes, size_t count) {
    sxi_request request = {0};
    sxi_ranks_receive(cluster, from, tag, bytes, count, &request);
    SXI_TRY(sxi_ranks_wait(cluster, &request));
    if (request.count != count) {
        return sxi_ranks_fail(cluster, SXI_FAIL(SX_ERR_SHAPE,
                                                "rank %d sent %zu bytes where %zu are expected",
                                                from, request.count, count));
    }
    return SX_OK;
}

/* Down a binomial tree: place 0 is root's; place p hears from p without its lowest bit and speaks to p
 * with each lower one. */
static sx_status spread(sx_cluster *cluster, int root, int64_t tag, void *bytes, size_t count) {
    const int size = cluster->size;
    const int place = (cluster->rank - root + size) % size;
    int bit = 1;
    while (bit < size && !(place & bit)) {
        bit *= 2;
    }
    if (place != 0) {
        SXI_TRY(receive(cluster, (place - bit + root) % size, tag, bytes, count));
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (place + bit < size) {
            SXI_TRY(send(cluster, (place + bit + root) % size, tag, bytes, count));
        }
    }
    return SX_OK;
}

/* And up the same tree, with nothing to say. */
static sx_status assemble(sx_cluster *cluster, int64_t tag) {
    const int size = cluster->size, place = cluster->rank;
    for (int bit = 1; bit < size; bit *= 2) {
        if (place & bit) {
            return send(cluster, place - bit, tag, NULL, 0);
        }
        if (place + bit < size) {
            SXI_TRY(receive(cluster, place + bit, tag, NULL, 0));
        }
    }
    return SX_OK;
}

sx_status sxi_ranks_barrier(sx_cluster *cluster) {
    const int64_t up = next_tag(cluster), down = next_tag(cluster);
    SXI_TRY(sxi_ranks_status(cluster));
    SXI_TRY(assemble(cluster, up));
    return spread(cluster, 0, down, NULL, 0);
}

sx_status sxi_ranks_broadcast(sx_cluster *cluster, int root, void *bytes, size_t count) {
    const int64_t tag = next_tag(cluster);
    SXI_TRY(sxi_ranks_status(cluster));
    return spread(cluster, root, tag, bytes, count);
}

sx_status sxi_ranks_gather(sx_cluster *cluster, int root, const void *bytes, size_t count,
                           const size_t *counts, void *all) {
    const int64_t tag = next_tag(cluster);
    SXI_TRY(sxi_ranks_status(cluster));
    if (cluster->rank != root) {
        return send(cluster, root, tag, bytes, count);
    }
    unsigned char *to = all;
    for (int rank = 0; rank < cluster->size; rank++) {
        const size_t part = counts ? counts[rank] : count;
        if (rank != root) {
            SXI_TRY(receive(cluster, rank, tag, to, part));
        } else if (part > 0) {
            assert(to);
            memcpy(to, bytes, part);
        }
        to += part;
    }
    return SX_OK;
}

sx_status sxi_ranks_reduce(sx_cluster *cluster, void *value, size_t count, sxi_add_fn add,
                           void *data) {
    sx_status status = SX_OK;
    const int size = cluster->size;
    unsigned char *all = NULL;
    if (cluster->rank == 0) {
        all = malloc((size_t)size * count + 1);
        if (!all) {
            SXI_GO(
                sxi_ranks_fail(cluster, SXI_FAIL(SX_ERR_MEMORY, "no memory for %d values", size)));
        }
    }
    SXI_GO(sxi_ranks_gather(cluster, 0, value, count, NULL, all));
    for (int rank = 1; all && rank < size; rank++) {
        add(data, all, all + (size_t)rank * count);
    }
    if (all) {
        memcpy(value, all, count);
    }
    SXI_GO(sxi_ranks_broadcast(cluster, 0, value, count));
out:
    free(all);
    return status;
}

sx_status sxi_ranks_once(sx_cluster *cluster, sx_status (*function)(void *data), void *data) {
    return sxi_ranks_agree(cluster, cluster->rank == 0 ? function(data) : SX_OK);
}
