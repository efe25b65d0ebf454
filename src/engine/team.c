/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/team.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/ranks.h"
#include "engine/trace.h"

/* A thread takes tiles for so long at a time: much longer than the taking, much shorter than anyone
 * who waits would notice. */
static const double TAKE_SECONDS = 1e-3;
enum { TAKE_MOST = 1024, SLOTS = 2 };

typedef enum state { EMPTY, READING, READY } state;

/* A band on its way. */
typedef struct slot {
    state state;
    bool attended;           /* a thread waits for the reading to end */
    bool ending;             /* it needs no more help */
    int helpers;             /* threads that are lent to it */
    int64_t band, next, end; /* tiles next .. end - 1 are to be taken */
    int64_t first, left;     /* of its tiles so many are not finished */
    double begun;
    sxi_band *memory;
    int held;
    const sxi_held *part;
} slot;

typedef struct team {
    const sxi_plan *plan;
    sxi_journal *journal;
    sxi_team_result *result;
    const sx_context *context;
    int threads;
    int64_t counter;
    sxi_worker *worker; /* [threads] */
    int64_t bands_room;

    pthread_mutex_t lock; /* around all that follows */
    pthread_cond_t changed;
    slot slot[SLOTS];
    int current;   /* whose tiles are taken */
    bool claiming; /* a thread asks for the next band */
    bool all;      /* there are no more bands */
    int64_t done;  /* tiles, of this rank */
    int64_t told;  /* tiles of all ranks, as the progress says */
    sx_status status;
    char sentence[1024];

    pthread_mutex_t writing; /* around flushes of the journal and the progress */
} team;

/* A failure of the journal, with whose it is. */
static sx_status named(const team *t, sx_status status) {
    return status == SX_OK ? SX_OK
                           : sxi_fail_context(status, "task '%s', rank %d", t->plan->task->name,
                                              sx_cluster_rank(t->plan->cluster));
}

/* --- with the lock held --- */

static void stop(team *t, sx_status status) {
    if (t->status == SX_OK) {
        t->status = status;
        snprintf(t->sentence, sizeof t->sentence, "%s", sx_error_message());
        sxi_ranks_fail(t->plan->cluster, status);
    }
    pthread_cond_broadcast(&t->changed);
}

/* What went wrong with reading a band, with its name. */
static void stop_band(team *t, const slot *s, int64_t tiles, sx_status status) {
    sxi_fail_context(status, "task '%s', tiles %lld to %lld, rank %d", t->plan->task->name,
                     (long long)s->first, (long long)(s->first + tiles - 1),
                     sx_cluster_rank(t->plan->cluster));
    stop(t, status);
}

static bool hear_wish(team *t) {
    if (t->status == SX_OK && sxi_ranks_stopped(t->plan->cluster)) {
        stop(t, sxi_ranks_status(t->plan->cluster));
    }
    return t->status != SX_OK;
}

static bool finished(const team *t) {
    bool idle = true;
    for (int i = 0; i < SLOTS; i++) {
        idle = idle && t->slot[i].state == EMPTY;
    }
    return t->all && idle && !t->claiming;
}

/* --- bands --- */

static sx_status note_band(team *t, int64_t band) {
    sxi_team_result *r = t->result;
    if (r->bands == t->bands_room) {
        const int64_t room = 2 * t->bands_room + 16;
        int64_t *grown = realloc(r->band, (size_t)room * sizeof *grown);
        if (!grown) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for the list of bands");
        }
        r->band = grown;
        t->bands_room = room;
    }
    r->band[r->bands++] = band;
    return SX_OK;
}

/* Without the lock: the next band of this rank begins to be read. tiles 0: there is none. */
static sx_status claim(team *t, slot *s, int64_t *tiles) {
    const sxi_plan *plan = t->plan;
    sxi_request request = {0};
    sxi_needs needs = {0};
    *tiles = 0;
    sxi_ranks_claim(plan->cluster, t->counter, 1, &request);
    SXI_TRY(sxi_ranks_wait(plan->cluster, &request));
    if (request.first >= plan->bands) {
        return SX_OK;
    }
    s->band = request.first;
    sxi_plan_band(plan, s->band, &s->first, tiles);
    SXI_TRY(note_band(t, s->band));
    s->begun = sxi_now();
    if (plan->reads) {
        SXI_TRY(sxi_plan_needs(plan, s->first, *tiles, &needs));
        /* One thread waits for the disk beside those that compute; one alone reads when idle. */
        SXI_TRY(sxi_band_start(s->memory, &needs, t->threads > 1 ? 1 : 0));
    }
    return SX_OK;
}

static void begin_band(team *t, slot *s) {
    int64_t tiles = 0;
    t->claiming = true;
    pthread_mutex_unlock(&t->lock);
    const sx_status status = claim(t, s, &tiles);
    pthread_mutex_lock(&t->lock);
    t->claiming = false;
    if (status != SX_OK && tiles > 0) {
        stop_band(t, s, tiles, status);
    } else if (status != SX_OK) {
        stop(t, status);
    } else if (tiles == 0) {
        t->all = true;
    } else {
        s->next = s->first;
        s->end = s->first + tiles;
        s->left = tiles;
        s->state = t->plan->reads ? READING : READY;
        s->held = 0;
    }
    pthread_cond_broadcast(&t->changed);
}

/* The calling thread reads until nothing of the band is left to take; one of those that do waits for
 * the rest. */
static void attend(team *t, slot *s) {
    const bool waits = !s->attended;
    s->attended = true;
    if (!s->ending) {
        s->helpers++;
        pthread_mutex_unlock(&t->lock);
        sxi_band_work(s->memory);
        pthread_mutex_lock(&t->lock);
        s->helpers--;
        pthread_cond_broadcast(&t->changed);
    }
    if (!waits) {
        while (s->attended) {
            pthread_cond_wait(&t->changed, &t->lock);
        }
        return;
    }
    s->ending = true; /* who helps holds on to what wait frees */
    while (s->helpers > 0) {
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    const sx_status status = sxi_band_wait(s->memory, &s->held, &s->part);
    const double now = sxi_now();
    sxi_trace_add(t->plan->cluster, "read", t->plan->task->name, SXI_TRACE_READING, s->begun, now,
                  s->first, s->end - s->first);
    pthread_mutex_lock(&t->lock);
    t->result->reading += now - s->begun;
    s->attended = s->ending = false;
    s->state = READY;
    if (status != SX_OK) {
        stop_band(t, s, s->end - s->first, status);
    }
    pthread_cond_broadcast(&t->changed);
}

/* --- tiles --- */

/* So many that they last a while, and that those that are left go round. */
static int64_t share(const team *t, const sxi_worker *w, int64_t left) {
    const double wanted = w->seconds > 0 ? TAKE_SECONDS / w->seconds : 1;
    const int64_t fair = left / (2 * t->threads);
    int64_t count = wanted < TAKE_MOST ? (int64_t)wanted : TAKE_MOST;
    count = count < fair ? count : fair;
    return count < 1 ? 1 : count;
}

static sx_status run_tiles(team *t, const slot *s, sxi_worker *w, int64_t first, int64_t count) {
    int64_t ran = 0;
    const double begin = sxi_now();
    for (int64_t i = first; i < first + count; i++) {
        bool done = false;
        if (sxi_journal_has(t->journal, i)) {
            continue;
        }
        if (sxi_ranks_stopped(t->plan->cluster)) {
            return sxi_ranks_status(t->plan->cluster);
        }
        SXI_TRY(sxi_tile_run(t->plan, i, s->held, s->part, w, &done));
        ran++;
        if (t->journal && done) {
            SXI_TRY(named(t, sxi_journal_add(t->journal, i)));
        }
    }
    const double end = sxi_now();
    w->busy += end - begin;
    w->seconds = ran > 0 ? (end - begin) / (double)ran : w->seconds;
    sxi_trace_add(t->plan->cluster, "compute", t->plan->task->name, w->thread, begin, end, first,
                  count);
    return SX_OK;
}

static sx_status report(team *t, int64_t done) {
    sx_status status = SX_OK;
    if (pthread_mutex_trylock(&t->writing) == 0) { /* who finds another one at it goes on */
        status = t->journal ? named(t, sxi_journal_flush(t->journal, false)) : SX_OK;
        sx_progress(t->context, t->plan->task->name, done, t->plan->tiles);
        pthread_mutex_unlock(&t->writing);
    }
    return status;
}

/* Of all ranks, with the lock held: bands are claimed in order, so what lies before the one at hand is
 * done or nearly so. */
static int64_t progress_of(team *t, const slot *s) {
    const bool alone = sx_cluster_size(t->plan->cluster) == 1;
    const int64_t done = alone ? t->done : s->end - s->left;
    t->told = done > t->told ? done : t->told;
    return t->told;
}

/* Called and returns with the lock held. */
static void work_on(team *t, slot *s, sxi_worker *w) {
    const int64_t first = s->next, count = share(t, w, s->end - s->next);
    s->next += count;
    pthread_mutex_unlock(&t->lock);
    sx_status status = run_tiles(t, s, w, first, count);
    pthread_mutex_lock(&t->lock);
    t->done += count;
    s->left -= count;
    const int64_t done = progress_of(t, s);
    if (status == SX_OK && s->left == 0) {
        s->state = EMPTY;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    status = status == SX_OK ? report(t, done) : status;
    pthread_mutex_lock(&t->lock);
    if (status != SX_OK) {
        stop(t, status);
    }
}

/* What a thread can do now, with the lock held; false: nothing but wait. */
static bool find_work(team *t, sxi_worker *w) {
    slot *now = &t->slot[t->current];
    slot *other = &t->slot[1 - t->current];
    const bool taken = now->state == EMPTY || (now->state == READY && now->next == now->end);
    slot *empty = now->state == EMPTY ? now : other->state == EMPTY ? other : NULL;
    if (empty && !t->all && !t->claiming) {
        begin_band(t, empty);
        return true;
    }
    if (taken && other->state != EMPTY && !(other->state == READY && other->next == other->end)) {
        t->current = 1 - t->current;
        return true;
    }
    if (now->state == READY && now->next < now->end) {
        work_on(t, now, w);
        return true;
    }
    if (now->state == READING) {
        attend(t, now);
        return true;
    }
    return false;
}

static void work(team *t, sxi_worker *w) {
    pthread_mutex_lock(&t->lock);
    while (!hear_wish(t) && !finished(t)) {
        const double begin = sxi_now();
        const double busy = w->busy;
        if (!find_work(t, w)) {
            pthread_cond_wait(&t->changed, &t->lock);
        }
        w->waiting += sxi_now() - begin - (w->busy - busy);
    }
    pthread_mutex_unlock(&t->lock);
}

/* --- the whole --- */

static sx_status begin(team *t) {
    t->worker = calloc((size_t)t->threads, sizeof *t->worker);
    if (!t->worker) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d threads", t->threads);
    }
    for (int i = 0; i < t->threads; i++) {
        t->worker[i].thread = i;
        t->worker[i].first_failed = INT64_MAX;
    }
    for (int i = 0; i < SLOTS && t->plan->reads; i++) {
        SXI_TRY(sxi_band_create(t->plan->cluster, &t->slot[i].memory));
    }
    return SX_OK;
}

static void add_up(team *t) {
    sxi_team_result *r = t->result;
    r->first_failed = INT64_MAX;
    for (int i = 0; t->worker && i < t->threads; i++) {
        const sxi_worker *w = &t->worker[i];
        r->computed += w->computed;
        r->failed += w->failed;
        r->busy += w->busy;
        r->waiting += w->waiting;
        if (w->first_failed < r->first_failed) {
            r->first_failed = w->first_failed;
            memcpy(r->sentence, w->sentence, sizeof r->sentence);
        }
    }
}

static void end(team *t) {
    for (int i = 0; i < SLOTS; i++) {
        sxi_band_destroy(&t->slot[i].memory);
    }
    for (int i = 0; t->worker && i < t->threads; i++) {
        sxi_arena_free(&t->worker[i].arena);
    }
    free(t->worker);
    pthread_mutex_destroy(&t->writing);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
}

sx_status sxi_team_run(const sxi_plan *plan, sxi_journal *journal, sxi_team_result *result) {
    team t = {.plan = plan,
              .journal = journal,
              .result = result,
              .context = sxi_ranks_context(plan->cluster),
              .counter = sxi_ranks_counter(plan->cluster)};
    t.threads = sx_threads(t.context);
    *result = (sxi_team_result){.first_failed = INT64_MAX};
    pthread_mutex_init(&t.lock, NULL);
    pthread_mutex_init(&t.writing, NULL);
    pthread_cond_init(&t.changed, NULL);
    sx_status status = begin(&t);
    if (status == SX_OK) {
#pragma omp parallel num_threads(t.threads)
        work(&t, &t.worker[omp_get_thread_num()]);
        /* Whatever happened: what is finished need not be computed again. */
        const sx_status kept = journal ? named(&t, sxi_journal_flush(journal, true)) : SX_OK;
        status = t.status == SX_OK ? kept : SXI_FAIL(t.status, "%s", t.sentence);
    }
    add_up(&t);
    end(&t);
    return status;
}
