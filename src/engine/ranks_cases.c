/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ranks_cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads and other processes are no place for the assertions of Check. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: rank %d of %d: %s (%s)\n", __FILE__, __LINE__,                          \
                   sx_cluster_rank(cluster), sx_cluster_size(cluster), #condition,                 \
                   sx_error_message());                                                            \
            return false;                                                                          \
        }                                                                                          \
    } while (0)
#define OK(call) EXPECT((call) == SX_OK)

static sx_status send(sx_cluster *cluster, int to, int64_t tag, const void *bytes, size_t count) {
    sxi_request request = {0};
    sxi_ranks_send(cluster, to, tag, bytes, count, &request);
    return sxi_ranks_wait(cluster, &request);
}

static void add_marks(void *data, void *sum, const void *value) {
    unsigned char *a = sum;
    const unsigned char *b = value;
    for (size_t i = 0; i < *(const size_t *)data; i++) {
        a[i] = (unsigned char)(a[i] + b[i]);
    }
}

enum { UNITS = 2000, CLAIMERS = 2 };

typedef struct claimer {
    sx_cluster *cluster;
    int64_t counter;
    sx_status status;
    unsigned char marks[UNITS];
} claimer;

/* Asks for the next piece before it has used the last, as tasks do. */
static void *claim_all(void *data) {
    claimer *c = data;
    sxi_request request[2] = {{0}, {0}};
    int now = 0;
    int64_t first = 0;
    sxi_ranks_claim(c->cluster, c->counter, 1, &request[0]);
    while (first < UNITS && c->status == SX_OK) {
        const int64_t units = 1 + now;
        sxi_ranks_claim(c->cluster, c->counter, 2 - now, &request[!now]);
        c->status = sxi_ranks_wait(c->cluster, &request[now]);
        first = request[now].first;
        for (int64_t i = first; i < first + units && i < UNITS; i++) {
            c->marks[i]++;
        }
        now = !now;
    }
    const sx_status last = sxi_ranks_wait(c->cluster, &request[now]);
    c->status = c->status == SX_OK ? last : c->status;
    return NULL;
}

bool ranks_case_claims(sx_cluster *cluster) {
    const int64_t other = sxi_ranks_counter(cluster);
    size_t count = UNITS;
    claimer claimers[CLAIMERS];
    pthread_t threads[CLAIMERS];
    const int64_t counter = sxi_ranks_counter(cluster);
    for (int i = 0; i < CLAIMERS; i++) {
        claimers[i] = (claimer){.cluster = cluster, .counter = counter};
        pthread_create(&threads[i], NULL, claim_all, &claimers[i]);
    }
    for (int i = 0; i < CLAIMERS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < CLAIMERS; i++) {
        OK(claimers[i].status);
        OK(sxi_ranks_reduce(cluster, claimers[i].marks, UNITS, add_marks, &count));
    }
    for (int i = 0; i < UNITS; i++) {
        EXPECT(claimers[0].marks[i] + claimers[1].marks[i] == 1);
    }
    sxi_request untouched = {0};
    sxi_ranks_claim(cluster, other, 1, &untouched);
    OK(sxi_ranks_wait(cluster, &untouched));
    EXPECT(untouched.first >= 0 && untouched.first < sx_cluster_size(cluster));
    return true;
}

/* What rank `from` sends to rank `to` as its number i. */
static unsigned char letter(int from, int to, int i, size_t at) {
    return (unsigned char)(from * 31 + to * 7 + i * 3 + (int)(at % 251));
}

static const size_t sizes[] = {0, 1, 100, 3968, 3969, 5000, 100001, 1234567};
enum { SIZES = sizeof sizes / sizeof *sizes };

static bool send_all(sx_cluster *cluster, sxi_request *requests, unsigned char **bytes) {
    const int rank = sx_cluster_rank(cluster), size = sx_cluster_size(cluster);
    for (int to = 0; to < size; to++) {
        for (int i = 0; i < SIZES; i++) {
            const int n = to * SIZES + i;
            bytes[n] = malloc(sizes[i] + 1);
            EXPECT(bytes[n]);
            for (size_t at = 0; at < sizes[i]; at++) {
                bytes[n][at] = letter(rank, to, i, at);
            }
            sxi_ranks_send(cluster, to, i, bytes[n], sizes[i], &requests[n]);
        }
    }
    return true;
}

/* The last tags first, so that most messages come before they are asked for. */
static bool receive_all(sx_cluster *cluster) {
    const int rank = sx_cluster_rank(cluster), size = sx_cluster_size(cluster);
    unsigned char *bytes = malloc(sizes[SIZES - 1]);
    EXPECT(bytes);
    for (int i = SIZES - 1; i >= 0; i--) {
        for (int from = 0; from < size; from++) {
            sxi_request request = {0};
            sxi_ranks_receive(cluster, from, i, bytes, sizes[SIZES - 1], &request);
            OK(sxi_ranks_wait(cluster, &request));
            EXPECT(request.count == sizes[i] && request.peer == from);
            for (size_t at = 0; at < sizes[i]; at++) {
                EXPECT(bytes[at] == letter(from, rank, i, at));
            }
        }
    }
    free(bytes);
    return true;
}

static bool exchange(sx_cluster *cluster, sxi_request *requests, unsigned char **bytes) {
    EXPECT(requests && bytes);
    EXPECT(send_all(cluster, requests, bytes));
    EXPECT(receive_all(cluster));
    for (int i = 0; i < sx_cluster_size(cluster) * SIZES; i++) {
        OK(sxi_ranks_wait(cluster, &requests[i]));
    }
    return true;
}

bool ranks_case_messages(sx_cluster *cluster) {
    const int count = sx_cluster_size(cluster) * SIZES;
    sxi_request *requests = calloc((size_t)count, sizeof *requests);
    unsigned char **bytes = calloc((size_t)count, sizeof *bytes);
    const bool held = exchange(cluster, requests, bytes);
    for (int i = 0; held && i < count; i++) {
        free(bytes[i]);
    }
    free(bytes);
    free(requests);
    return held;
}

/* Short and long ones, with one tag. */
bool ranks_case_order(sx_cluster *cluster) {
    enum { MESSAGES = 20, LONG = 6000 };
    const int rank = sx_cluster_rank(cluster), size = sx_cluster_size(cluster);
    static _Thread_local unsigned char out[MESSAGES][LONG], in[LONG];
    sxi_request requests[MESSAGES] = {{0}};
    for (int i = 0; i < MESSAGES; i++) {
        out[i][0] = (unsigned char)i;
        sxi_ranks_send(cluster, (rank + 1) % size, (int64_t)1 << 40, out[i], i % 3 == 0 ? LONG : 1,
                       &requests[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        sxi_request request = {0};
        sxi_ranks_receive(cluster, (rank + size - 1) % size, (int64_t)1 << 40, in, LONG, &request);
        OK(sxi_ranks_wait(cluster, &request));
        EXPECT(in[0] == i && request.count == (i % 3 == 0 ? LONG : 1));
    }
    for (int i = 0; i < MESSAGES; i++) {
        OK(sxi_ranks_wait(cluster, &requests[i]));
    }
    return true;
}

bool ranks_case_any(sx_cluster *cluster) {
    const int rank = sx_cluster_rank(cluster), size = sx_cluster_size(cluster);
    if (rank != 0) {
        OK(send(cluster, 0, 9, &rank, sizeof rank));
        return true;
    }
    bool seen[64] = {false};
    for (int i = 1; i < size; i++) {
        int from = -1;
        sxi_request request = {0};
        sxi_ranks_receive(cluster, SXI_RANK_ANY, 9, &from, sizeof from, &request);
        OK(sxi_ranks_wait(cluster, &request));
        EXPECT(request.peer == from && from > 0 && from < size && !seen[from]);
        seen[from] = true;
    }
    return true;
}

/* Neither commutes nor associates, so it shows the order. */
static void add_digit(void *data, void *sum, const void *value) {
    int64_t a, b;
    (void)data;
    memcpy(&a, sum, sizeof a);
    memcpy(&b, value, sizeof b);
    a = 10 * a + b;
    memcpy(sum, &a, sizeof a);
}

bool ranks_case_together(sx_cluster *cluster) {
    const int rank = sx_cluster_rank(cluster), size = sx_cluster_size(cluster);
    int64_t value = rank + 1, expected = 0;
    for (int i = 1; i <= size; i++) {
        expected = 10 * expected + i;
    }
    OK(sxi_ranks_reduce(cluster, &value, sizeof value, add_digit, NULL));
    EXPECT(value == expected);
    for (int root = 0; root < size; root++) {
        int64_t told[1000] = {0};
        char all[64] = "", mine[8];
        size_t counts[8] = {0}, used = 0;
        told[999] = rank == root ? root + 5 : -1;
        OK(sxi_ranks_broadcast(cluster, root, told, sizeof told));
        EXPECT(told[999] == root + 5);
        memset(mine, 'a' + rank, sizeof mine);
        for (int i = 0; i < size; i++) {
            counts[i] = (size_t)(i % 3);
        }
        OK(sxi_ranks_gather(cluster, root, mine, counts[rank], counts, all));
        for (int i = 0; i < size && rank == root; i++) {
            for (size_t j = 0; j < counts[i]; j++) {
                EXPECT(all[used++] == 'a' + i);
            }
        }
    }
    OK(sxi_ranks_agree(cluster, SX_OK));
    return true;
}

bool ranks_case_barrier(sx_cluster *cluster) {
    const int64_t counter = sxi_ranks_counter(cluster);
    for (int round = 1; round <= 20; round++) {
        sxi_request before = {0}, after = {0};
        sxi_ranks_claim(cluster, counter, 1, &before);
        OK(sxi_ranks_wait(cluster, &before));
        OK(sxi_ranks_barrier(cluster));
        sxi_ranks_claim(cluster, counter, 1, &after);
        OK(sxi_ranks_wait(cluster, &after));
        EXPECT(after.first >= (2 * round - 1) * sx_cluster_size(cluster));
        OK(sxi_ranks_barrier(cluster));
    }
    return true;
}

typedef struct chain {
    sx_cluster *cluster;
    sxi_request claim;
    int64_t counter, last;
    atomic_int left; /* -1: failed */
} chain;

static void claim_next(void *data, sx_status status) {
    chain *c = data;
    if (status != SX_OK || c->claim.first <= c->last) {
        atomic_store(&c->left, -1);
        return;
    }
    c->last = c->claim.first;
    if (atomic_fetch_sub(&c->left, 1) > 1) {
        sxi_ranks_claim(c->cluster, c->counter, 1, &c->claim);
    }
}

/* Each answer asks the next question from within. */
bool ranks_case_chain(sx_cluster *cluster) {
    chain c = {.cluster = cluster, .counter = sxi_ranks_counter(cluster), .last = -1};
    c.claim.done = claim_next;
    c.claim.data = &c;
    atomic_init(&c.left, 100);
    sxi_ranks_claim(cluster, c.counter, 1, &c.claim);
    for (int most = 1; most > 0;) { /* something to wait with, as often as it takes */
        const int left = atomic_load(&c.left) > 0 ? 1 : 0;
        most = 0;
        for (int root = 0; root < sx_cluster_size(cluster); root++) {
            int theirs = left;
            OK(sxi_ranks_broadcast(cluster, root, &theirs, sizeof theirs));
            most = theirs > most ? theirs : most;
        }
    }
    EXPECT(atomic_load(&c.left) == 0);
    return true;
}
