/* SPDX-License-Identifier: Apache-2.0
 * Threads that help one of them: with pieces of work, and then to read what comes next. Nobody waits
 * for a thread that has taken nothing, as a barrier would, so that threads for which a busy machine has
 * no processor hold up nothing. */
#ifndef SXI_CREW_H
#define SXI_CREW_H

#include <pthread.h>

#include "engine/band.h"

typedef sx_status (*sxi_piece_fn)(void *data, int thread, int64_t piece);

typedef struct sxi_crew {
    pthread_mutex_t lock; /* around all that follows */
    pthread_cond_t changed;
    sxi_piece_fn piece;
    void *data;
    int64_t next, end, left; /* pieces next .. end - 1 are to be taken; so many are not finished */
    sxi_band *band;          /* that may be helped with */
    int helpers;             /* threads that do */
    bool over;
    sx_status status;
    char sentence[512];
} sxi_crew;

void sxi_crew_create(sxi_crew *crew);
void sxi_crew_destroy(sxi_crew *crew);

/* sxi_crew_help - what all threads but the first do until sxi_crew_end. */
void sxi_crew_help(sxi_crew *crew, int thread);
void sxi_crew_end(sxi_crew *crew);

/* sxi_crew_run - pieces 0 .. pieces - 1, by thread 0 and those that help; then all of them read
 * `band`, if it is not NULL, while the last pieces are finished. */
sx_status sxi_crew_run(sxi_crew *crew, int64_t pieces, sxi_piece_fn piece, void *data,
                       sxi_band *band);

/* sxi_crew_release - nobody holds on to the band any more, so that it can be waited for. */
void sxi_crew_release(sxi_crew *crew);

#endif
