/* SPDX-License-Identifier: Apache-2.0
 * Several ranks within one process. */
#include <pthread.h>
#include <string.h>

#include "engine/cluster.h"
#include "engine/fake_wire.h"
#include "engine/ranks_cases.h"
#include "sx_check.h"

enum { RANKS_MOST = 5 };

/* Short, so that what is told within them is told soon; death is not looked for unless a test is
 * about it, as a busy machine is slow. */
static const sxi_cluster_options patient = {.piece = 1000, .lost_s = 1000};

typedef struct rank {
    fake_net *net;
    int number;
    const sxi_cluster_options *options;
    bool (*run)(sx_cluster *cluster, struct rank *rank);
    ranks_case_fn *try;
    sx_context context;
    pthread_t thread;
    bool held;
    sx_status status;
    char sentence[512];
    bool speaks;
} rank;

static void *live(void *data) {
    rank *r = data;
    sx_cluster *cluster = NULL;
    const sxi_wire wire = fake_net_wire(r->net, r->number);
    if (sxi_cluster_open(&r->context, r->options, &wire, &cluster) == SX_OK) {
        r->held = r->try ? r->try(cluster) : r->run(cluster, r);
        r->speaks = sx_cluster_speaks(cluster);
        sx_cluster_close(&cluster);
    }
    return NULL;
}

/* Whether it held on all ranks. */
static bool live_together(rank *ranks, int size) {
    fake_net *net = fake_net_create(size);
    bool held = true;
    for (int i = 0; i < size; i++) {
        ranks[i].net = net;
        ranks[i].number = i;
        pthread_create(&ranks[i].thread, NULL, live, &ranks[i]);
    }
    for (int i = 0; i < size; i++) {
        pthread_join(ranks[i].thread, NULL);
        held = held && ranks[i].held;
    }
    fake_net_destroy(&net);
    return held;
}

START_TEST(what_holds_between_ranks) {
    static const struct {
        const char *name;
        ranks_case_fn *run;
    } cases[] = {
#define CASE(name) {#name, ranks_case_##name},
        RANKS_CASE_LIST(CASE)
#undef CASE
    };
    for (int size = 1; size <= RANKS_MOST; size++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            rank ranks[RANKS_MOST] = {{0}};
            for (int j = 0; j < size; j++) {
                ranks[j].options = &patient;
                ranks[j].try = cases[i].run;
            }
            ck_assert_msg(live_together(ranks, size), "%s, %d ranks", cases[i].name, size);
        }
    }
}
END_TEST

static void keep(rank *r, sx_status status) {
    r->status = status;
    snprintf(r->sentence, sizeof r->sentence, "%s", sx_error_message());
}

/* Rank 2 fails; rank 0 computes, rank 1 waits for a message, rank 3 for a long one to be taken. */
static bool fail_in_the_midst(sx_cluster *cluster, rank *r) {
    static const unsigned char bytes[10000];
    unsigned char byte;
    sxi_request request = {0};
    sx_status status = SX_OK;
    if (r->number == 2) {
        status = SXI_FAIL(SX_ERR_IO, "disk is full");
    } else if (r->number == 1) {
        sxi_ranks_receive(cluster, 2, 1, &byte, 1, &request);
        status = sxi_ranks_wait(cluster, &request);
    } else if (r->number == 3) {
        sxi_ranks_send(cluster, 1, 99, bytes, sizeof bytes, &request);
        status = sxi_ranks_wait(cluster, &request);
    } else {
        while (!sxi_ranks_stopped(cluster)) {
        }
    }
    keep(r, sxi_ranks_agree(cluster, status));
    return sxi_ranks_barrier(cluster) == r->status;
}

START_TEST(a_failure_reaches_all) {
    rank ranks[4] = {{0}};
    for (int i = 0; i < 4; i++) {
        ranks[i].options = &patient;
        ranks[i].run = fail_in_the_midst;
    }
    ck_assert(live_together(ranks, 4));
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(ranks[i].status, SX_ERR_IO);
        ck_assert_str_eq(ranks[i].sentence, "rank 2: disk is full");
        ck_assert_int_eq(ranks[i].speaks, i == 0);
    }
}
END_TEST

static bool fail_everywhere(sx_cluster *cluster, rank *r) {
    keep(r, sxi_ranks_agree(cluster, SXI_FAIL(SX_ERR_NUMERIC, "reason %d", r->number)));
    return true;
}

START_TEST(of_many_failures_all_tell_the_same) {
    rank ranks[4] = {{0}};
    for (int i = 0; i < 4; i++) {
        ranks[i].options = &patient;
        ranks[i].run = fail_everywhere;
    }
    ck_assert(live_together(ranks, 4));
    ck_assert_ptr_nonnull(strstr(ranks[0].sentence, ": reason "));
    for (int i = 1; i < 4; i++) {
        ck_assert_int_eq(ranks[i].status, SX_ERR_NUMERIC);
        ck_assert_str_eq(ranks[i].sentence, ranks[0].sentence);
    }
}
END_TEST

/* A long message for which there is no room. */
static bool send_too_much(sx_cluster *cluster, rank *r) {
    static const unsigned char bytes[10000];
    unsigned char small[10];
    sxi_request request = {0};
    if (r->number == 0) {
        sxi_ranks_send(cluster, 1, 4, bytes, sizeof bytes, &request);
    } else {
        sxi_ranks_receive(cluster, 0, 4, small, sizeof small, &request);
    }
    keep(r, sxi_ranks_wait(cluster, &request));
    return true;
}

START_TEST(a_message_too_long_stops_all) {
    rank ranks[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        ranks[i].options = &patient;
        ranks[i].run = send_too_much;
    }
    ck_assert(live_together(ranks, 2));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ranks[i].status, SX_ERR_SHAPE);
        ck_assert_ptr_nonnull(strstr(ranks[i].sentence, "rank 1: a message of 10000 bytes"));
    }
}
END_TEST

static bool stop(void *data) { return atomic_load((const atomic_bool *)data); }

/* Only rank 1 is asked to stop, while it waits. */
static bool be_asked_to_stop(sx_cluster *cluster, rank *r) {
    sxi_request request = {0};
    unsigned char byte;
    if (r->number == 1) {
        atomic_store((atomic_bool *)r->context.data, true);
    }
    sxi_ranks_receive(cluster, r->number, 0, &byte, 1, &request);
    keep(r, sxi_ranks_wait(cluster, &request));
    return sxi_ranks_stopped(cluster) && sx_cancelled(sxi_ranks_context(cluster));
}

START_TEST(a_wish_to_stop_reaches_all) {
    rank ranks[3] = {{0}};
    atomic_bool wish;
    atomic_init(&wish, false);
    for (int i = 0; i < 3; i++) {
        ranks[i].options = &patient;
        ranks[i].run = be_asked_to_stop;
    }
    ranks[1].context = (sx_context){.cancel = stop, .data = &wish};
    ck_assert(live_together(ranks, 3));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ranks[i].status, SX_ERR_CANCELLED);
        ck_assert_str_eq(ranks[i].sentence, "cancelled");
    }
}
END_TEST

/* One rank dies; the others wait for it, and for each other. */
static bool lose(sx_cluster *cluster, rank *r, int dead) {
    if (r->number == dead) {
        fake_net_kill(r->net, dead);
        while (!sxi_ranks_stopped(cluster)) {
        }
        return true;
    }
    keep(r, sxi_ranks_barrier(cluster));
    return true;
}

static bool lose_two(sx_cluster *cluster, rank *r) { return lose(cluster, r, 2); }
static bool lose_zero(sx_cluster *cluster, rank *r) { return lose(cluster, r, 0); }

START_TEST(a_dead_rank_is_missed) {
    static const sxi_cluster_options hasty = {.alive_s = 0.02, .lost_s = 0.5};
    for (int dead = 0; dead <= 2; dead += 2) {
        rank ranks[4] = {{0}};
        char words[64];
        for (int i = 0; i < 4; i++) {
            ranks[i].options = &hasty;
            ranks[i].run = dead ? lose_two : lose_zero;
        }
        ck_assert(live_together(ranks, 4));
        snprintf(words, sizeof words, "rank %d has given no sign of life", dead);
        for (int i = 0; i < 4; i++) {
            if (i != dead) {
                ck_assert_int_eq(ranks[i].status, SX_ERR_IO);
                ck_assert_msg(strstr(ranks[i].sentence, words) != NULL, "%s", ranks[i].sentence);
                ck_assert_int_eq(ranks[i].speaks, i == (dead ? 0 : 1));
            }
        }
    }
}
END_TEST

static bool cut_the_cable(sx_cluster *cluster, rank *r) {
    if (r->number == 1) {
        fake_net_break(r->net, 1);
    }
    keep(r, sxi_ranks_barrier(cluster));
    return true;
}

START_TEST(a_broken_wire_ends_all) {
    static const sxi_cluster_options hasty = {.alive_s = 0.02, .lost_s = 0.5};
    rank ranks[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        ranks[i].options = &hasty;
        ranks[i].run = cut_the_cable;
    }
    ck_assert(live_together(ranks, 2));
    ck_assert_str_eq(ranks[1].sentence, "rank 1: the cable was cut");
    ck_assert_int_eq(ranks[0].status, SX_ERR_IO);
}
END_TEST

typedef struct witness {
    sx_cluster *cluster;
    atomic_int count;
    char sentence[512];
} witness;

static void hear(void *data, sx_log_level level, const char *sentence) {
    witness *w = data;
    if (level == SX_LOG_WARNING && atomic_fetch_add(&w->count, 1) == 0) {
        snprintf(w->sentence, sizeof w->sentence, "%s", sentence);
    }
}

static bool heard(void *data) { return atomic_load(&((witness *)data)->count) > 0; }

/* Ranks 0 and 1 wait for each other until somebody notices. */
static bool wait_for_each_other(sx_cluster *cluster, rank *r) {
    sxi_request request = {0};
    unsigned char byte;
    if (r->number < 2) {
        sxi_ranks_receive(cluster, 1 - r->number, 5 + r->number, &byte, 1, &request);
        keep(r, sxi_ranks_wait(cluster, &request));
    } else {
        while (!sxi_ranks_stopped(cluster)) {
        }
    }
    return true;
}

START_TEST(who_waits_for_whom_is_said) {
    static const sxi_cluster_options watchful = {
        .alive_s = 0.01, .lost_s = 1000, .patience_s = 0.1};
    rank ranks[3] = {{0}};
    witness w = {0};
    for (int i = 0; i < 3; i++) {
        ranks[i].options = &watchful;
        ranks[i].run = wait_for_each_other;
    }
    ranks[0].context = (sx_context){.log = hear, .cancel = heard, .data = &w};
    ck_assert(live_together(ranks, 3));
    printf("%s\n", w.sentence);
    ck_assert_ptr_nonnull(strstr(w.sentence, "rank 0 waits for a message of rank 1, tag 5"));
    ck_assert_ptr_nonnull(strstr(w.sentence, "rank 1 waits for a message of rank 0, tag 6"));
    ck_assert_ptr_nonnull(strstr(w.sentence, "1 of 3 ranks work on"));
}
END_TEST

SX_TEST_MAIN("ranks_many", what_holds_between_ranks, a_failure_reaches_all,
             of_many_failures_all_tell_the_same, a_message_too_long_stops_all,
             a_wish_to_stop_reaches_all, a_dead_rank_is_missed, a_broken_wire_ends_all,
             who_waits_for_whom_is_said)
