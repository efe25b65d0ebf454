/* SPDX-License-Identifier: Apache-2.0
 * Counters as rank 0 keeps them. A claim may come before this rank has made the counter itself. */
#include <stdlib.h>
#include <string.h>

#include "engine/cluster.h"

sx_status sxi_counter_claim(sx_cluster *cluster, int64_t counter, int64_t units, int64_t *first) {
    if (counter >= cluster->counters_room) {
        const int64_t room = 2 * counter + 16;
        int64_t *grown = realloc(cluster->counters, (size_t)room * sizeof *grown);
        if (!grown) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld counters", (long long)room);
        }
        memset(grown + cluster->counters_room, 0,
               (size_t)(room - cluster->counters_room) * sizeof *grown);
        cluster->counters = grown;
        cluster->counters_room = room;
    }
    *first = cluster->counters[counter];
    cluster->counters[counter] += units;
    return SX_OK;
}
