/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ranks.h"

#include <stdatomic.h>
#include <string.h>

#include "base/fail.h"
#include "sx_check.h"

static sx_cluster *opened(const sx_context *context) {
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(context, &cluster));
    ck_assert_int_eq(sx_cluster_rank(cluster), 0);
    ck_assert_int_eq(sx_cluster_size(cluster), 1);
    ck_assert(sx_cluster_speaks(cluster));
    return cluster;
}

static int64_t claimed(sx_cluster *cluster, int64_t counter, int64_t units) {
    sxi_request request = {0};
    sxi_ranks_claim(cluster, counter, units, &request);
    ck_ok(sxi_ranks_wait(cluster, &request));
    return request.first;
}

START_TEST(claims_leave_out_nothing) {
    sx_cluster *cluster = opened(NULL);
    const int64_t a = sxi_ranks_counter(cluster), b = sxi_ranks_counter(cluster);
    ck_assert_int_eq(claimed(cluster, a, 5), 0);
    ck_assert_int_eq(claimed(cluster, a, 1), 5);
    ck_assert_int_eq(claimed(cluster, b, 2), 0);
    ck_assert_int_eq(claimed(cluster, a, 7), 6);
    ck_assert_int_eq(claimed(cluster, b, 1), 2);
    for (int i = 0; i < 1000; i++) { /* more than the first table of counters holds */
        ck_assert_int_eq(claimed(cluster, sxi_ranks_counter(cluster), 3), 0);
    }
    ck_assert_int_eq(claimed(cluster, a, 1), 13);
    sx_cluster_close(&cluster);
    ck_assert_ptr_null(cluster);
}
END_TEST

START_TEST(threads_claim_each_unit_once) {
    enum { UNITS = 10000 };
    static atomic_int taken[UNITS];
    sx_cluster *cluster = opened(NULL);
    const int64_t counter = sxi_ranks_counter(cluster);
#pragma omp parallel num_threads(4)
    for (int64_t first = 0; first < UNITS;) {
        first = claimed(cluster, counter, 3);
        for (int64_t i = first; i < first + 3 && i < UNITS; i++) {
            atomic_fetch_add(&taken[i], 1);
        }
    }
    for (int i = 0; i < UNITS; i++) {
        ck_assert_int_eq(atomic_load(&taken[i]), 1);
    }
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(messages_keep_their_order_and_tag) {
    sx_cluster *cluster = opened(NULL);
    const char *const text[] = {"one", "two", "three"};
    const int64_t tag[] = {7, (int64_t)1 << 40, 7};
    sxi_request send[3] = {{0}}, receive[3] = {{0}}, none = {0};
    char got[3][8] = {""};
    for (int i = 0; i < 3; i++) {
        sxi_ranks_send(cluster, 0, tag[i], text[i], strlen(text[i]), &send[i]);
    }
    sxi_ranks_receive(cluster, SXI_RANK_ANY, tag[1], got[0], 8, &receive[0]);
    sxi_ranks_receive(cluster, 0, 7, got[1], 8, &receive[1]);
    sxi_ranks_receive(cluster, 0, 7, got[2], 8, &receive[2]);
    for (int i = 0; i < 3; i++) {
        ck_ok(sxi_ranks_wait(cluster, &send[i]));
        ck_ok(sxi_ranks_wait(cluster, &receive[i]));
        ck_assert_int_eq(receive[i].peer, 0);
    }
    ck_assert_str_eq(got[0], "two");
    ck_assert_str_eq(got[1], "one");
    ck_assert_str_eq(got[2], "three");
    ck_assert_uint_eq(receive[2].count, 5);
    /* A receive before its message, of nothing. */
    sxi_ranks_receive(cluster, 0, 1, NULL, 0, &none);
    sxi_ranks_send(cluster, 0, 1, NULL, 0, &send[0]);
    ck_ok(sxi_ranks_wait(cluster, &none));
    ck_ok(sxi_ranks_wait(cluster, &send[0]));
    ck_assert_uint_eq(none.count, 0);
    sx_cluster_close(&cluster);
}
END_TEST

typedef struct seen {
    int calls;
    sx_status status;
    char sentence[64];
} seen;

static void note(void *data, sx_status status) {
    seen *s = data;
    s->calls++;
    s->status = status;
    snprintf(s->sentence, sizeof s->sentence, "%s", status == SX_OK ? "" : sx_error_message());
}

START_TEST(what_ends_is_called_back_once) {
    sx_cluster *cluster = opened(NULL);
    seen sent = {0}, received = {0}, waiting = {0};
    char bytes[4] = "";
    sxi_request send = {.done = note, .data = &sent};
    sxi_request receive = {.done = note, .data = &received};
    sxi_request never = {.done = note, .data = &waiting};
    sxi_ranks_send(cluster, 0, 0, "abc", 3, &send);
    ck_assert_int_eq(sent.calls, 0);
    sxi_ranks_receive(cluster, 0, 0, bytes, sizeof bytes, &receive);
    ck_assert_int_eq(sent.calls, 1);
    ck_assert_int_eq(received.calls, 1);
    ck_assert_str_eq(bytes, "abc");
    sxi_ranks_receive(cluster, 0, 1, bytes, sizeof bytes, &never);
    ck_assert_int_eq(waiting.calls, 0);
    sxi_ranks_fail(cluster, SXI_FAIL(SX_ERR_IO, "disk is full"));
    ck_assert_int_eq(waiting.calls, 1);
    ck_assert_int_eq(waiting.status, SX_ERR_IO);
    ck_assert_str_eq(waiting.sentence, "disk is full");
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(a_failure_is_for_good) {
    sx_cluster *cluster = opened(NULL);
    sxi_request waiting = {0}, late = {0};
    char byte;
    ck_assert(!sxi_ranks_stopped(cluster));
    ck_ok(sxi_ranks_agree(cluster, SX_OK));
    ck_ok(sxi_ranks_fail(cluster, SX_OK));
    ck_ok(sxi_ranks_status(cluster));
    sxi_ranks_receive(cluster, 0, 0, &byte, 1, &waiting);
    ck_fails(sxi_ranks_agree(cluster, SXI_FAIL(SX_ERR_IO, "disk is full")), SX_ERR_IO, "disk");
    ck_assert(sxi_ranks_stopped(cluster));
    sxi_ranks_fail(cluster, SXI_FAIL(SX_ERR_MEMORY, "something later"));
    ck_fails(sxi_ranks_status(cluster), SX_ERR_IO, "disk is full");
    ck_fails(sxi_ranks_wait(cluster, &waiting), SX_ERR_IO, "disk is full");
    sxi_ranks_claim(cluster, 0, 1, &late);
    ck_fails(sxi_ranks_wait(cluster, &late), SX_ERR_IO, "disk is full");
    ck_fails(sxi_ranks_barrier(cluster), SX_ERR_IO, "disk is full");
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(a_message_too_long_is_a_failure) {
    sx_cluster *cluster = opened(NULL);
    sxi_request send = {0}, receive = {0};
    char bytes[8] = "";
    sxi_ranks_send(cluster, 0, 3, "123456789", 9, &send);
    sxi_ranks_receive(cluster, 0, 3, bytes, sizeof bytes, &receive);
    ck_fails(sxi_ranks_wait(cluster, &receive), SX_ERR_SHAPE, "9 bytes");
    ck_fails(sxi_ranks_wait(cluster, &send), SX_ERR_SHAPE, "room for 8");
    ck_assert_int_eq(bytes[0], '\0');
    sx_cluster_close(&cluster);
}
END_TEST

static void add(void *data, void *sum, const void *value) {
    int64_t a, b;
    memcpy(&a, sum, sizeof a);
    memcpy(&b, value, sizeof b);
    a = 10 * a + b;
    memcpy(sum, &a, sizeof a);
    ++*(int *)data;
}

START_TEST(one_rank_together_is_itself) {
    sx_cluster *cluster = opened(NULL);
    const size_t counts[1] = {3};
    char all[4] = "";
    int64_t value = 4;
    int calls = 0;
    ck_ok(sxi_ranks_barrier(cluster));
    ck_ok(sxi_ranks_broadcast(cluster, 0, &value, sizeof value));
    ck_ok(sxi_ranks_gather(cluster, 0, "abc", 3, counts, all));
    ck_assert_str_eq(all, "abc");
    ck_ok(sxi_ranks_reduce(cluster, &value, sizeof value, add, &calls));
    ck_assert_int_eq(value, 4);
    ck_assert_int_eq(calls, 0);
    sx_cluster_close(&cluster);
}
END_TEST

static bool stop(void *data) { return *(const bool *)data; }

static void count(void *data, sx_log_level level, const char *sentence) {
    (void)level;
    (void)sentence;
    ++*(int *)data;
}

START_TEST(the_context_is_passed_on) {
    int sentences = 0;
    const sx_context context = {.log = count, .data = &sentences, .threads = 3, .command = "x"};
    sx_cluster *cluster = opened(&context);
    const sx_context *inner = sxi_ranks_context(cluster);
    sx_log(inner, SX_LOG_INFO, "hello");
    sx_progress(inner, "nobody listens", 0, 1);
    ck_assert_int_eq(sentences, 1);
    ck_assert_int_eq(sx_threads(inner), 3);
    ck_assert_str_eq(inner->command, "x");
    ck_assert(!sx_cancelled(inner));
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(who_waits_hears_the_wish_to_stop) {
    bool wish = false;
    const sx_context context = {.cancel = stop, .data = &wish};
    sx_cluster *cluster = opened(&context);
    sxi_request receive = {0};
    char byte;
    sxi_ranks_receive(cluster, 0, 0, &byte, 1, &receive);
    wish = true;
    ck_assert(sxi_ranks_stopped(cluster));
    ck_assert(sx_cancelled(sxi_ranks_context(cluster)));
    ck_fails(sxi_ranks_wait(cluster, &receive), SX_ERR_CANCELLED, "cancelled");
    ck_fails(sxi_ranks_status(cluster), SX_ERR_CANCELLED, "cancelled");
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(a_cluster_closes_in_the_midst) {
    sx_cluster *cluster = opened(NULL);
    seen left = {0};
    sxi_request send = {.done = note, .data = &left};
    sxi_ranks_send(cluster, 0, 0, "abc", 3, &send);
    sx_cluster_close(&cluster);
    ck_assert_int_eq(left.calls, 1);
    ck_assert_int_eq(left.status, SX_ERR_CANCELLED);
    sx_cluster_close(&cluster);
    ck_assert(sx_cluster_speaks(NULL));
}
END_TEST

/* Without a launcher MPI would cost more than most commands. */
START_TEST(one_rank_loads_no_mpi) {
    sx_cluster *cluster = opened(NULL);
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        ck_assert_msg(!strstr(line, "libmpi") && !strstr(line, "sextant_mpi"), "%s", line);
    }
    if (maps) {
        fclose(maps);
    }
    sx_cluster_close(&cluster);
}
END_TEST

SX_TEST_MAIN("ranks", claims_leave_out_nothing, threads_claim_each_unit_once,
             messages_keep_their_order_and_tag, what_ends_is_called_back_once,
             a_failure_is_for_good, a_message_too_long_is_a_failure, one_rank_together_is_itself,
             the_context_is_passed_on, who_waits_hears_the_wish_to_stop,
             a_cluster_closes_in_the_midst, one_rank_loads_no_mpi)
