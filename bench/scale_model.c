/* SPDX-License-Identifier: Apache-2.0 */
#include "scale_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* After so long without work the talking thread of rank 0 rests: its longest rest is 1 ms. */
static const double RESTS_AFTER = 0.5e-3;

/* A rank asks for its next band, has up to two, and computes one before it asks again. */
typedef struct rank {
    double asks; /* when its next claim is made */
    int64_t held[2];
    int holds;
    int64_t bands; /* that it has computed */
} rank;

typedef struct sim {
    const scale_costs *costs;
    const scale_task *task;
    int ranks, waiting; /* in the heap */
    int *heap;          /* ranks by the time of their claim, the earliest on top */
    rank *rank;
    int64_t step, bands, taken;
    double free_at; /* when rank 0 can answer again */
    scale_result result;
} sim;

/* --- the heap --- */

static void swap(int *a, int *b) {
    const int kept = *a;
    *a = *b;
    *b = kept;
}

static bool is_before(const sim *s, int a, int b) { return s->rank[a].asks < s->rank[b].asks; }

static void push(sim *s, int r) {
    int at = s->waiting++;
    s->heap[at] = r;
    while (at > 0 && is_before(s, s->heap[at], s->heap[(at - 1) / 2])) {
        swap(&s->heap[at], &s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static int pop(sim *s) {
    const int top = s->heap[0];
    s->heap[0] = s->heap[--s->waiting];
    for (int at = 0, child; (child = 2 * at + 1) < s->waiting; at = child) {
        if (child + 1 < s->waiting && is_before(s, s->heap[child + 1], s->heap[child])) {
            child++;
        }
        if (!is_before(s, s->heap[child], s->heap[at])) {
            break;
        }
        swap(&s->heap[child], &s->heap[at]);
    }
    return top;
}

/* --- what happens --- */

static int64_t tiles_of(const sim *s, int64_t band) {
    const int64_t left = s->task->tiles - band * s->step;
    return left < s->step ? left : s->step;
}

static double compute(sim *s, rank *r, double at) {
    const int64_t band = r->held[0];
    r->held[0] = r->held[1];
    r->holds--;
    r->bands++;
    return at + (double)tiles_of(s, band) * (s->task->tile + s->costs->tile);
}

/* The answer to a claim, seconds after it was made; rank 0 asks itself for nothing. */
static double answer(sim *s, int number, double at) {
    const double begins = at > s->free_at ? at : s->free_at;
    const bool rested = at > s->free_at + RESTS_AFTER;
    if (number == 0) {
        return at;
    }
    s->free_at = begins + s->costs->service;
    return begins + (rested ? s->costs->claim_rested : s->costs->claim_quick);
}

static void claim(sim *s, int number) {
    rank *r = &s->rank[number];
    double now = answer(s, number, r->asks);
    s->result.claiming += now - r->asks;
    if (s->taken < s->bands) {
        r->held[r->holds++] = s->taken++;
        if (r->holds == 2) {
            now = compute(s, r, now);
        }
        r->asks = now;
        push(s, number);
        return;
    }
    while (r->holds > 0) {
        now = compute(s, r, now);
    }
    s->result.computing = now > s->result.computing ? now : s->result.computing;
}

/* Of all ranks to rank 0, which takes them one by one. */
static double gather_small(const sim *s) {
    return s->ranks > 1 ? (double)(s->ranks - 1) * s->costs->message : 0;
}

/* Down a binomial tree. */
static double spread(const sim *s) { return ceil(log2((double)s->ranks)) * s->costs->message; }

static double gather_bands(const sim *s) {
    const scale_costs *c = s->costs;
    const double band = (double)(s->step * s->task->tile_bytes);
    double seconds = 0;
    for (int i = 1; i < s->ranks; i++) {
        seconds += c->message + (double)s->rank[i].bands * (c->long_message + band * c->byte);
    }
    return seconds;
}

/* All agree that they are done, say how many bands they have, send them, agree, and report. */
static double after(const sim *s) { return 4 * gather_small(s) + 3 * spread(s) + gather_bands(s); }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

scale_result scale_run(const scale_costs *costs, const scale_task *task, int ranks) {
    sim s = {.costs = costs, .task = task, .ranks = ranks};
    s.step = most(task->tiles / most(task->bands_of_rank * ranks, 1), 1);
    s.bands = s.result.bands = (task->tiles + s.step - 1) / s.step;
    s.heap = calloc((size_t)ranks, sizeof *s.heap);
    s.rank = calloc((size_t)ranks, sizeof *s.rank);
    s.result.seconds = (double)NAN;
    if (s.heap && s.rank) {
        for (int i = 0; i < ranks; i++) {
            push(&s, i);
        }
        while (s.waiting > 0) {
            claim(&s, pop(&s));
        }
        s.result.gathering = after(&s);
        s.result.seconds = s.result.computing + s.result.gathering;
    }
    free(s.heap);
    free(s.rank);
    return s.result;
}
