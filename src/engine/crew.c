/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/crew.h"

#include <stdio.h>

#include "base/fail.h"

void sxi_crew_create(sxi_crew *crew) {
    *crew = (sxi_crew){.left = 0};
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->changed, NULL);
}

void sxi_crew_destroy(sxi_crew *crew) {
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
}

/* Called and returns with the lock held, as those below. */
static void do_piece(sxi_crew *crew, int thread) {
    const int64_t i = crew->next++;
    pthread_mutex_unlock(&crew->lock);
    const sx_status status = crew->piece(crew->data, thread, i);
    pthread_mutex_lock(&crew->lock);
    if (status != SX_OK && crew->status == SX_OK) {
        crew->left -= crew->end - crew->next; /* nobody takes another one */
        crew->next = crew->end;
        crew->status = status;
        snprintf(crew->sentence, sizeof crew->sentence, "%s", sx_error_message());
    }
    if (--crew->left == 0) {
        pthread_cond_broadcast(&crew->changed);
    }
}

/* When it returns from reading there is nothing left to take, for others neither. */
static void help_reading(sxi_crew *crew) {
    sxi_band *band = crew->band;
    crew->helpers++;
    pthread_mutex_unlock(&crew->lock);
    sxi_band_work(band);
    pthread_mutex_lock(&crew->lock);
    crew->helpers--;
    crew->band = NULL;
    pthread_cond_broadcast(&crew->changed);
}

void sxi_crew_help(sxi_crew *crew, int thread) {
    pthread_mutex_lock(&crew->lock);
    while (!crew->over) {
        if (crew->next < crew->end) {
            do_piece(crew, thread);
        } else if (crew->band) {
            help_reading(crew);
        } else {
            pthread_cond_wait(&crew->changed, &crew->lock);
        }
    }
    pthread_mutex_unlock(&crew->lock);
}

void sxi_crew_end(sxi_crew *crew) {
    pthread_mutex_lock(&crew->lock);
    crew->over = true;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

sx_status sxi_crew_run(sxi_crew *crew, int64_t pieces, sxi_piece_fn piece, void *data,
                       sxi_band *band) {
    pthread_mutex_lock(&crew->lock);
    crew->piece = piece;
    crew->data = data;
    crew->next = 0;
    crew->end = crew->left = pieces;
    crew->band = band;
    pthread_cond_broadcast(&crew->changed);
    while (crew->next < crew->end) {
        do_piece(crew, 0);
    }
    if (crew->band) {
        help_reading(crew);
    }
    while (crew->left > 0) {
        pthread_cond_wait(&crew->changed, &crew->lock);
    }
    const sx_status status = crew->status;
    pthread_mutex_unlock(&crew->lock);
    return status == SX_OK ? SX_OK : SXI_FAIL(status, "%s", crew->sentence);
}

void sxi_crew_release(sxi_crew *crew) {
    pthread_mutex_lock(&crew->lock);
    crew->band = NULL;
    while (crew->helpers > 0) {
        pthread_cond_wait(&crew->changed, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}
