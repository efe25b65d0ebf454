/* SPDX-License-Identifier: Apache-2.0
 * What ranks say to each other: messages, shared counters, and that one of them failed.
 *
 * A thread of its own, one per rank, does the talking, so that whoever computes neither polls nor
 * is held up. With one rank there is no such thread, and all of this works the same.
 *
 * A failure is for good: once a rank failed, every call on every rank, also one that is waiting,
 * ends with the status and the sentence of the first that failed ("rank 3: ..."). So a chain of
 * calls is checked where it ends. Theory: docs/theory/engine.md. */
#ifndef SXI_RANKS_H
#define SXI_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sextant/cluster.h>

/* Called once when a request has ended, from the talking thread or from within the call that made
 * the request. It is short, and does not wait for another; it may make other requests. The sentence
 * of a failure is sx_error_message() within it. The request is the caller's again. */
typedef void (*sxi_done_fn)(void *data, sx_status status);

/* Something under way. It and its bytes stay where they are, untouched, until done was called or
 * sxi_ranks_wait returned. Zero it, and set the first two if they are wanted. */
typedef struct sxi_request {
    sxi_done_fn done; /* NULL: sxi_ranks_wait is called */
    void *data;       /* handed to done */

    /* Set in the end. */
    int64_t first; /* claim: the first of the units */
    size_t count;  /* receive: bytes that came */
    int peer;      /* receive: the rank they came from */
    sx_status status;

    /* Private. */
    struct sxi_request *next;
    enum { SXI_REQUEST_NONE, SXI_REQUEST_UNDER_WAY, SXI_REQUEST_ENDED } state;
    enum { SXI_REQUEST_SEND, SXI_REQUEST_RECEIVE, SXI_REQUEST_CLAIM } kind;
    int64_t tag; /* claim: the counter */
    union {
        const void *from;
        void *to;
    } bytes;
    size_t room;   /* send: bytes */
    int64_t units; /* claim */
    int64_t id;    /* what it is called between ranks */
    double since;
} sxi_request;

/* sxi_ranks_wait - until the request has ended; it has no done. Returns its status, and the
 * sentence goes to this thread. Any thread but the talking one. */
sx_status sxi_ranks_wait(sx_cluster *cluster, sxi_request *request);

/* ---- One rank to another. Any thread, at any time. ---- */

enum { SXI_RANK_ANY = -1 };

/* sxi_ranks_send, sxi_ranks_receive - `count` bytes, 0 and 2^31 and more allowed, with a tag >= 0 of
 * the caller's choice, also to oneself. Messages of one rank to another with one tag arrive in the
 * order sent. A send ends when its bytes may be changed, maybe before they are received, so do not
 * rely on either. A receive takes a message of at most `room` bytes, from `from` or SXI_RANK_ANY;
 * a longer one is a failure (SX_ERR_SHAPE). Long messages wait at the sender until they are asked
 * for, so they take no memory beyond the two buffers. */
void sxi_ranks_send(sx_cluster *cluster, int to, int64_t tag, const void *bytes, size_t count,
                    sxi_request *request);
void sxi_ranks_receive(sx_cluster *cluster, int from, int64_t tag, void *bytes, size_t room,
                       sxi_request *request);

/* ---- Counters that all ranks share: who comes first takes the next piece of the work. ---- */

/* sxi_ranks_counter - a new one, at 0. All ranks call it in the same order; it does not wait. */
int64_t sxi_ranks_counter(sx_cluster *cluster);

/* sxi_ranks_claim - takes `units` > 0 of them: request->first .. request->first + units - 1 are
 * this claim's alone, and no unit is left out between claims. Who claims past the end of his work
 * is told a `first` beyond it. Any thread, at any time. */
void sxi_ranks_claim(sx_cluster *cluster, int64_t counter, int64_t units, sxi_request *request);

/* ---- All ranks together. They wait. All ranks call them in the same order, one thread each. ---- */

sx_status sxi_ranks_barrier(sx_cluster *cluster);

/* sxi_ranks_broadcast - bytes of root to all. */
sx_status sxi_ranks_broadcast(sx_cluster *cluster, int root, void *bytes, size_t count);

/* sxi_ranks_gather - `count` bytes of each rank to root, one after the other in the order of ranks.
 *
 * in   count   bytes of this rank; may differ between ranks
 * in   counts  [size] those of every rank, at root; NULL: all as count
 * out  all     at root; elsewhere ignored, may be NULL */
sx_status sxi_ranks_gather(sx_cluster *cluster, int root, const void *bytes, size_t count,
                           const size_t *counts, void *all);

/* sxi_ranks_reduce - the values of all ranks folded into one in the order of ranks, the same bits on
 * all: add(add(rank 0, rank 1), rank 2) ... Small values: rank 0 sees each of them.
 * What must not depend on the number of ranks needs an `add` that is exact. */
typedef void (*sxi_add_fn)(void *data, void *sum, const void *value);
sx_status sxi_ranks_reduce(sx_cluster *cluster, void *value, size_t count, sxi_add_fn add,
                           void *data);

/* sxi_ranks_agree - each rank says how it went; all return SX_OK, or all the first failure. A
 * failure's sentence is the last of this thread. This is the end of each chain of calls. */
sx_status sxi_ranks_agree(sx_cluster *cluster, sx_status status);

/* sxi_ranks_once - rank 0 calls the function; all return what came of it. */
sx_status sxi_ranks_once(sx_cluster *cluster, sx_status (*function)(void *data), void *data);

/* ---- Failure ---- */

/* sxi_ranks_fail - this rank failed; all will stop. The sentence is the last of this thread. It does
 * not wait, and returns status. SX_OK does nothing. Any thread; the first failure counts. */
sx_status sxi_ranks_fail(sx_cluster *cluster, sx_status status);

/* sxi_ranks_stopped - whether some rank failed or died, or the context asks to stop: give up soon.
 * Cheap, for inner loops. Any thread. */
bool sxi_ranks_stopped(const sx_cluster *cluster);

/* sxi_ranks_status - SX_OK, or the failure of the cluster with its sentence for this thread.
 * Any thread; does not wait. */
sx_status sxi_ranks_status(sx_cluster *cluster);

/* ---- The caller's context ---- */

/* sxi_ranks_context - that of sx_cluster_open for all calls that work for this cluster, until it is
 * closed. Its log and progress are silent but on rank 0, and one thread at a time, as the talking
 * thread may have something to say, too. Its cancel is sxi_ranks_stopped. */
const sx_context *sxi_ranks_context(const sx_cluster *cluster);

#endif
