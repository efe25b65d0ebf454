/* SPDX-License-Identifier: Apache-2.0
 * One rank of ranks_mpi.sh, which says what is expected. Prints a line for each thing that went
 * otherwise, and the end of it: "rank 1: done", or the sentence of a failure. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster.h"
#include "engine/ranks_cases.h"

static volatile sig_atomic_t asked;

static void on_signal(int number) {
    (void)number;
    asked = 1;
}

static bool stop(void *data) {
    (void)data;
    return asked != 0;
}

static void complain(void *data, sx_log_level level, const char *sentence) {
    (void)data;
    (void)level;
    printf("said: %s\n", sentence);
    fflush(stdout);
}

static sx_status try_cases(sx_cluster *cluster) {
    sx_status status = SX_OK;
#define TRY(name)                                                                                  \
    if (status == SX_OK && !ranks_case_##name(cluster)) {                                          \
        status = SXI_FAIL(SX_ERR_NUMERIC, "case " #name " does not hold");                         \
    }
    RANKS_CASE_LIST(TRY)
#undef TRY
    return status;
}

/* One rank does it, the others wait for a message of it that will not come. */
static sx_status wait_for(sx_cluster *cluster, int rank) {
    sxi_request request = {0};
    unsigned char byte;
    sxi_ranks_receive(cluster, rank, 1, &byte, 1, &request);
    return sxi_ranks_wait(cluster, &request);
}

static sx_status fail(sx_cluster *cluster, int rank) {
    return sx_cluster_rank(cluster) == rank ? SXI_FAIL(SX_ERR_IO, "disk %d is full", rank)
                                            : wait_for(cluster, rank);
}

static sx_status die(sx_cluster *cluster, int rank) {
    sx_status status = sxi_ranks_barrier(cluster);
    if (status == SX_OK && sx_cluster_rank(cluster) == rank) {
        raise(SIGKILL);
    }
    return status == SX_OK ? wait_for(cluster, rank) : status;
}

/* Computes until it is told to stop. */
static sx_status work(sx_cluster *cluster) {
    SXI_TRY(sxi_ranks_barrier(cluster));
    printf("rank %d: working\n", sx_cluster_rank(cluster));
    fflush(stdout);
    while (!sxi_ranks_stopped(cluster)) {
    }
    return SX_OK;
}

/* A message beyond what MPI counts, from the first rank to the last. */
static sx_status send_much(sx_cluster *cluster, long long bytes) {
    const size_t count = (size_t)bytes;
    const int last = sx_cluster_size(cluster) - 1, rank = sx_cluster_rank(cluster);
    sxi_request request = {0};
    if ((rank != 0 && rank != last) || count == 0) {
        return SX_OK;
    }
    unsigned char *all = malloc(count);
    if (!all) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %zu bytes", count);
    }
    if (rank == 0) {
        memset(all, 1, count);
        all[count - 1] = 2;
        sxi_ranks_send(cluster, last, 1, all, count, &request);
    } else {
        sxi_ranks_receive(cluster, 0, 1, all, count, &request);
    }
    sx_status status = sxi_ranks_wait(cluster, &request);
    if (status == SX_OK && (all[count / 2] != 1 || all[count - 1] != 2)) {
        status = SXI_FAIL(SX_ERR_NUMERIC, "not what was sent");
    }
    free(all);
    return status;
}

static sx_status run(sx_cluster *cluster, const char *what, int64_t number) {
    if (strcmp(what, "cases") == 0) {
        return try_cases(cluster);
    }
    if (strcmp(what, "fail") == 0) {
        return fail(cluster, (int)number);
    }
    if (strcmp(what, "die") == 0) {
        return die(cluster, (int)number);
    }
    if (strcmp(what, "work") == 0) {
        return work(cluster);
    }
    return send_much(cluster, number);
}

int main(int argc, char **argv) {
    /* Small pieces, so that long messages have many; a short life, so that death is soon noticed. */
    const sxi_cluster_options options = {.piece = 65536, .alive_s = 0.25, .lost_s = 4};
    const sx_context context = {.log = complain, .cancel = stop};
    const char *what = argc > 1 ? argv[1] : "cases";
    const bool much = strcmp(what, "much") == 0;
    sx_cluster *cluster = NULL;
    signal(SIGTERM, on_signal);
    if (sxi_cluster_open(&context, much ? NULL : &options, NULL, &cluster) != SX_OK) {
        if (sx_cluster_speaks(NULL)) {
            printf("not open: %s\n", sx_error_message());
        }
        return 1;
    }
    const int rank = sx_cluster_rank(cluster), size = sx_cluster_size(cluster);
    const sx_status status =
        sxi_ranks_agree(cluster, run(cluster, what, argc > 2 ? strtoll(argv[2], NULL, 10) : 0));
    printf("rank %d of %d: %s\n", rank, size, status == SX_OK ? "done" : sx_error_message());
    fflush(stdout);
    sx_cluster_close(&cluster);
    return status == SX_OK ? 0 : 1;
}
