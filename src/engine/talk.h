/* SPDX-License-Identifier: Apache-2.0
 * The thread that talks to the other ranks. Only for the files of this folder.
 *
 * Everything here belongs to that thread alone, but for what is marked as of the lock, which is the
 * cluster's. The lock is never held while the wire is used. */
#ifndef SXI_TALK_H
#define SXI_TALK_H

#include "engine/cluster.h"
#include "engine/launcher.h"
#include "engine/wire.h"

/* What ranks say to each other: X(name, meaning). */
#define SXI_WORD_LIST(X)                                                                           \
    X(SEND, "tag, count: a short message, its bytes follow")                                       \
    X(OFFER, "tag, count, id: a long message waits here")                                          \
    X(ACCEPT, "id of an offer: there is room, send it")                                            \
    X(REFUSE, "id of an offer: it was withdrawn")                                                  \
    X(CLAIM, "tag: a counter, count: units, id")                                                   \
    X(CLAIMED, "id of a claim, count: the first unit")                                             \
    X(ALIVE, "to rank 0: what this rank waits for follows; from it: nothing more")                 \
    X(FAILED, "to rank 0: this rank's failure follows")                                            \
    X(STOP, "from rank 0: the failure of all follows")                                             \
    X(BYE, "to rank 0: this rank has closed; from it: all have")

typedef enum sxi_word {
#define SXI_WORD_ENUM(name, meaning) SXI_WORD_##name,
    SXI_WORD_LIST(SXI_WORD_ENUM)
#undef SXI_WORD_ENUM
} sxi_word;

/* A word is this, and bytes behind it. */
typedef struct sxi_head {
    int word;
    int padding;
    int64_t tag, count, id;
} sxi_head;

enum {
    SXI_WORD_BYTES = 4000, /* with its head; MPI sends so much at once, without asking first */
    SXI_SHORT_BYTES = SXI_WORD_BYTES - (int)sizeof(sxi_head)
};

/* What one rank waits for longest, and what has ended there since it began. */
typedef struct sxi_waiting {
    int kind; /* -1: it does not wait */
    int peer;
    int64_t tag;
    int64_t moves;
    double seconds;
} sxi_waiting;

/* A word on its way. One that is kept can be said without asking for memory, if it is not under way
 * already. */
typedef struct sxi_post {
    struct sxi_post *next;
    sxi_wire_op op;
    bool kept, under_way;
} sxi_post;

/* A long message, at either end: offered, or in pieces on its way. */
typedef struct sxi_transfer {
    struct sxi_transfer *next;
    sxi_request *request;
    bool sends, moving;
    int peer;
    int64_t id; /* the sender's */
    unsigned char *to;
    const unsigned char *from;
    size_t done, piece, total; /* bytes */
    sxi_wire_op op;
} sxi_transfer;

/* Another rank, as far as this one follows it: rank 0 follows all, the others rank 0. */
typedef struct sxi_peer {
    double heard; /* last */
    bool closed;
    sxi_post alive, stop; /* kept */
    sxi_waiting waiting;
} sxi_peer;

typedef struct sxi_talk_word {
    sxi_head head;
    unsigned char behind[SXI_SHORT_BYTES];
} sxi_talk_word;

/* How to get a wire: it is there, or MPI is started. */
typedef struct sxi_way {
    const sxi_wire *given; /* NULL: MPI */
    sxi_launcher launcher;
    sxi_mpi_open_fn *open;
    sxi_mpi_version_fn *version;
} sxi_way;

typedef struct sxi_talk {
    sx_cluster *cluster;
    sxi_wire wire;
    sxi_way way;
    sxi_cluster_options options;
    pthread_t thread;

    /* Of the lock, as is the queue of the cluster. */
    pthread_cond_t work; /* something was queued, or is to be told */
    sxi_failure failure; /* of this rank, for rank 0; or why it did not start */
    bool started;        /* or failed to */
    bool closing;

    sxi_post *posts;
    sxi_transfer *transfers;
    sxi_request *claims;
    sxi_peer *peers; /* [size] */
    int64_t last_id;
    bool told;     /* the failure of this rank */
    bool gave_up;  /* what waited for other ranks has ended */
    bool leaving;  /* the cluster is being closed here */
    bool said_bye; /* nothing will come from here */
    bool released; /* all ranks have closed */
    bool silent;   /* the wire is not used any more */
    double silent_at;
    double now, moved_at, alive_at, looked_at;
    int64_t moves; /* of all ranks, when they were last seen to change, at */
    double moves_at, patience;

    sxi_wire_op hearing;
    sxi_talk_word heard;       /* one that comes */
    sxi_talk_word alive, stop; /* what kept posts say; stop is FAILED on ranks but 0 */
} sxi_talk;

/* ---- talk.c ---- */

/* sxi_talk_open - starts the thread and meets the other ranks. kept: false if the thread hangs in a
 * start that was cancelled, and goes on using the cluster. */
sx_status sxi_talk_open(sx_cluster *cluster, const sxi_cluster_options *options, const sxi_way *way,
                        bool *kept);
/* sxi_talk_close - says goodbye, ends thread and wire. */
void sxi_talk_close(sx_cluster *cluster);
/* sxi_talk_wake - with the lock held: there is something to do. */
void sxi_talk_wake(sxi_talk *talk);
/* sxi_talk_end - a request of another rank's has ended; takes the lock. */
void sxi_talk_end(sxi_talk *talk, sxi_request *request);
/* sxi_talk_report - this rank has failed here; takes the lock. request: what cannot end by itself
 * then; may be NULL. */
void sxi_talk_report(sxi_talk *talk, sx_status status, sxi_request *request);

/* ---- talk_word.c: words on the wire. All return whether anything moved, or nothing. ---- */

void sxi_talk_say(sxi_talk *talk, int to, const sxi_head *head, const void *behind, size_t bytes);
/* sxi_talk_say_kept - what lies at word, and stays there; false: the last is still under way. */
bool sxi_talk_say_kept(sxi_talk *talk, int to, sxi_post *post, const sxi_talk_word *word,
                       size_t bytes);
bool sxi_talk_posts(sxi_talk *talk);
void sxi_talk_listen(sxi_talk *talk);
bool sxi_talk_hear(sxi_talk *talk);
/* sxi_talk_broken - whether the wire reported a failure; then everything ends. */
bool sxi_talk_broken(sxi_talk *talk, int code, const char *why);

/* ---- talk_do.c: what is asked for here, and what a word of another rank means. ---- */

void sxi_talk_order(sxi_talk *talk, sxi_request *request);
void sxi_talk_obey(sxi_talk *talk, int from, const sxi_talk_word *word, size_t bytes);

/* ---- talk_transfer.c: long messages. ---- */

void sxi_transfer_offer(sxi_talk *talk, sxi_request *send);
void sxi_transfer_accept(sxi_talk *talk, sxi_request *receive);
void sxi_transfer_accepted(sxi_talk *talk, int from, int64_t id);
void sxi_transfer_refused(sxi_talk *talk, int from, int64_t id);
bool sxi_transfers_move(sxi_talk *talk);
/* sxi_transfers_withdraw - ends those that do not move; all: also those that do. */
void sxi_transfers_withdraw(sxi_talk *talk, bool all);

/* ---- talk_life.c: who lives, who failed, who waits for whom. ---- */

void sxi_talk_live(sxi_talk *talk);
/* sxi_talk_fail - everything ends with this; rank 0 tells the others. */
void sxi_talk_fail(sxi_talk *talk, const sxi_failure *failure);

#endif
