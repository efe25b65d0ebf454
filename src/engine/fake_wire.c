/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fake_wire.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 8 };

typedef struct parcel {
    struct parcel *next;
    int from, tag;
    size_t count;
    unsigned char bytes[];
} parcel;

typedef struct endpoint {
    struct fake_net *net;
    int rank;
    bool dead, broken;
    parcel *here;            /* oldest first */
    struct pending *pending; /* receives that have not ended; of the rank's thread */
} endpoint;

struct fake_net {
    pthread_mutex_t lock;
    int size;
    endpoint ends[RANKS_MOST];
};

/* A receive; a send has ended when it is made, and its op is NULL. */
typedef struct pending {
    struct pending *next;
    int from, tag;
    void *bytes;
    size_t room;
} pending;

static void forget(endpoint *self, pending *gone) {
    pending **at = &self->pending;
    while (*at && *at != gone) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = gone->next;
    }
    free(gone);
}

fake_net *fake_net_create(int size) {
    fake_net *net = calloc(1, sizeof *net);
    pthread_mutex_init(&net->lock, NULL);
    net->size = size;
    for (int i = 0; i < size; i++) {
        net->ends[i] = (endpoint){.net = net, .rank = i};
    }
    return net;
}

void fake_net_destroy(fake_net **net) {
    for (int i = 0; i < (*net)->size; i++) {
        while ((*net)->ends[i].pending) { /* of a wire that was left */
            forget(&(*net)->ends[i], (*net)->ends[i].pending);
        }
        while ((*net)->ends[i].here) {
            parcel *next = (*net)->ends[i].here->next;
            free((*net)->ends[i].here);
            (*net)->ends[i].here = next;
        }
    }
    pthread_mutex_destroy(&(*net)->lock);
    free(*net);
    *net = NULL;
}

void fake_net_kill(fake_net *net, int rank) {
    pthread_mutex_lock(&net->lock);
    net->ends[rank].dead = true;
    pthread_mutex_unlock(&net->lock);
}

void fake_net_break(fake_net *net, int rank) {
    pthread_mutex_lock(&net->lock);
    net->ends[rank].broken = true;
    pthread_mutex_unlock(&net->lock);
}

static void put(sxi_wire_op *op, pending *p) { memcpy(op->handle, &p, sizeof p); }

static pending *get(const sxi_wire_op *op) {
    pending *p;
    memcpy(&p, op->handle, sizeof p);
    return p;
}

static int outcome(bool broken, char *why) {
    if (broken) {
        snprintf(why, SXI_WIRE_WHY, "the cable was cut");
    }
    return broken;
}

static int fake_send(void *data, int to, int tag, const void *bytes, size_t count, sxi_wire_op *op,
                     char *why) {
    endpoint *self = data, *target = &self->net->ends[to];
    parcel *sent = malloc(sizeof *sent + count);
    *sent = (parcel){.from = self->rank, .tag = tag, .count = count};
    if (count > 0) {
        memcpy(sent->bytes, bytes, count);
    }
    put(op, NULL);
    pthread_mutex_lock(&self->net->lock);
    const bool broken = self->broken;
    if (self->dead || target->dead || broken) {
        free(sent);
    } else {
        parcel **at = &target->here;
        while (*at) {
            at = &(*at)->next;
        }
        *at = sent;
    }
    pthread_mutex_unlock(&self->net->lock);
    return outcome(broken, why);
}

static int fake_receive(void *data, int from, int tag, void *bytes, size_t room, sxi_wire_op *op,
                        char *why) {
    endpoint *self = data;
    (void)why;
    pending *made = malloc(sizeof *made);
    *made = (pending){self->pending, from, tag, bytes, room};
    self->pending = made;
    put(op, made);
    return 0;
}

static int fake_test(void *data, sxi_wire_op *op, sxi_wire_end *end, char *why) {
    endpoint *self = data;
    pending *p = get(op);
    if (!p) {
        end->ended = true;
        return 0;
    }
    pthread_mutex_lock(&self->net->lock);
    const bool broken = self->broken;
    for (parcel **at = &self->here; *at && !self->dead && !broken; at = &(*at)->next) {
        parcel *came = *at;
        if (came->tag == p->tag && (p->from == SXI_WIRE_ANY || p->from == came->from) &&
            came->count <= p->room) {
            *at = came->next;
            if (came->count > 0) {
                memcpy(p->bytes, came->bytes, came->count);
            }
            *end = (sxi_wire_end){true, came->from, came->count};
            free(came);
            forget(self, p);
            put(op, NULL);
            break;
        }
    }
    pthread_mutex_unlock(&self->net->lock);
    return outcome(broken, why);
}

static int fake_cancel(void *data, sxi_wire_op *op, char *why) {
    (void)why;
    if (get(op)) {
        forget(data, get(op));
    }
    put(op, NULL);
    return 0;
}

static void fake_close(void *data) { (void)data; }

sxi_wire fake_net_wire(fake_net *net, int rank) {
    return (sxi_wire){
        .rank = rank,
        .size = net->size,
        .tag_most = 32767,
        .data = &net->ends[rank],
        .send = fake_send,
        .receive = fake_receive,
        .test = fake_test,
        .cancel = fake_cancel,
        .close = fake_close,
    };
}
