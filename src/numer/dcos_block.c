/* SPDX-License-Identifier: Apache-2.0
 * The search of dcos_search.c for a block of traces at once: one mode more, as long as it counts; then the
 * other basins of earlier modes; then errors and states. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numer/dcos_tile.h"

/* A minimisation that stopped has come at least so far. */
static const double STOPPED_KEEPS = 0.7;

/* The trace itself, times its weights. */
static void residual_of_flat(const sxi_dcos_tile *t, const sxi_dcos_pixel *p, float *row) {
    const double shift = p->trace.shift, part = 1 / p->trace.scale, *s = p->trace.s;
    const int64_t n = t->plan->grid.n;
    for (int64_t i = 0; t->way == SXI_WAY_OWN && i < n; i++) {
        row[i] = s[i] > 0 ? (float)((p->y[i] - shift) * part * (s[i] * s[i])) : 0;
    }
    for (int64_t i = 0; t->way != SXI_WAY_OWN && i < n; i++) {
        row[i] = (float)((p->y[i] - shift) * part);
    }
}

/* --- one mode more --- */

/* Starts of trace i that are worth it beside one that gains best; each is started once. */
static int64_t add_jobs(sxi_dcos_tile *t, int64_t i, double best, int64_t jobs) {
    const sxi_dcos_seeker *s = &t->list[i]->seeker;
    sxi_dcos_seed *seed = t->seed[i];
    const double worth = sxi_dcos_worth(s, best);
    const int modes = s->tried + 1;
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        if (seed[c].gain > 0 && seed[c].gain >= worth) {
            sxi_dcos_job *job = &t->job[jobs++];
            job->pixel = t->list[i];
            job->worth = fmin(sxi_dcos_rss_most(s), sxi_dcos_rss_rival(s, modes));
            job->model = s->model[s->tried];
            job->model.evaluations = 0;
            job->model.modes = modes;
            job->model.theta[2 * modes - 2] = seed[c].decay;
            job->model.theta[2 * modes - 1] = seed[c].frequency;
            seed[c].gain = 0;
        }
    }
    return jobs;
}

static int64_t gather_jobs(sxi_dcos_tile *t, int64_t count) {
    int64_t jobs = 0;
    for (int64_t i = 0; i < count; i++) {
        sxi_dcos_seeker *s = &t->list[i]->seeker;
        const double best = t->seed[i][0].gain;
        if (!(best > sxi_dcos_gain_least(s, best, sxi_dcos_peak_keeps(t->plan->fast, s->tried)))) {
            s->stop = true;
            continue;
        }
        sxi_dcos_grow_begin(s);
        jobs = add_jobs(t, i, best, jobs);
    }
    return jobs;
}

/* Few samples count, or there is a gap: the lobe of a tone is broad or has side lobes, and may hide two
 * minima. Starts on both sides of the best peak take the place of the last two seeds. */
static void put_neighbours(const sxi_dcos_grid *grid, double gain,
                           sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    const double apart = 1; /* cycles; a start leads to minima within half of one */
    for (int side = 0; side < 2; side++) {
        const double moved = seed[0].frequency + (side ? apart : -apart);
        seed[SXI_DCOS_CANDIDATES - 1 - side] = (sxi_dcos_seed){
            .gain = gain,
            .decay = 0.5 * seed[0].decay,
            .frequency = fmin(fmax(moved, grid->frequency_least), grid->frequency_most)};
    }
}

/* Where fits gained less than their starts promised, others are worth it, too. */
static int64_t gather_more(sxi_dcos_tile *t, int64_t count) {
    int64_t jobs = 0;
    for (int64_t i = 0; i < count; i++) {
        const sxi_dcos_seeker *s = &t->list[i]->seeker;
        const double rss = s->model[s->tried + 1].rss;
        if (s->stop || !isfinite(rss)) {
            continue;
        }
        const double gain = s->model[s->tried].rss - rss;
        if (t->list[i]->scattered || sxi_dcos_aliased(t->plan->fast, t->seed[i][0].frequency)) {
            put_neighbours(&t->plan->grid, gain, t->seed[i]);
        }
        jobs = add_jobs(t, i, gain, jobs);
    }
    return jobs;
}

/* Whether the exact core should look for the minimum that was not reached: it could be the answer,
 * or one as good. */
static bool matters(const sxi_dcos_seeker *s, const sxi_dcos_model *found) {
    const double drop = s->model[s->tried].rss - found->rss;
    const bool more = found->modes > s->tried; /* else an earlier mode is challenged */
    return !isfinite(found->rss) || (sxi_dcos_contends(s, found) &&
                                     !(more && drop < sxi_dcos_gain_least(s, drop, STOPPED_KEEPS)));
}

/* What jobs found, in the order in which they were given. */
static void take_jobs(const sxi_dcos_tile *t, int64_t jobs) {
    for (int64_t i = 0; i < jobs; i++) {
        const sxi_dcos_job *job = &t->job[i];
        sxi_dcos_seeker *s = &job->pixel->seeker;
        if (job->useless) {
            continue;
        }
        if (job->model.end != SXI_END_CONVERGED) {
            job->pixel->doubtful |= matters(s, &job->model);
        } else if (sxi_dcos_contends(s, &job->model)) {
            sxi_dcos_keep(s, &job->model);
        }
    }
}

static void fit_jobs(sxi_dcos_tile *t, int modes, int64_t jobs) {
    sxi_dcos_lanes_minimise(t->lanes, modes, jobs, t->job);
    take_jobs(t, jobs);
}

/* All traces that are not done, which have models of so many modes, get models of one more. */
static void grow(sxi_dcos_tile *t, int64_t pixels, int modes, int64_t *growing) {
    const int64_t n = t->plan->grid.n;
    int64_t count = 0;
    for (int64_t i = 0; i < pixels; i++) {
        if (!t->pixel[i].seeker.stop && !t->pixel[i].doubtful) {
            t->list[count++] = &t->pixel[i];
        }
    }
    *growing = count;
    if (!count) {
        return;
    }
    if (modes > 0) {
        sxi_dcos_lanes_finish(t->lanes, modes, count, t->list, true, -1, t->residual);
    } else {
        for (int64_t i = 0; i < count; i++) {
            residual_of_flat(t, t->list[i], t->residual + i * n);
        }
    }
    sxi_dcos_peaks(t, count, true);
    fit_jobs(t, modes + 1, gather_jobs(t, count));
    fit_jobs(t, modes + 1, gather_more(t, count));
    for (int64_t i = 0; i < count; i++) {
        sxi_dcos_seeker *s = &t->list[i]->seeker;
        if (s->stop) {
            continue;
        }
        if (isfinite(s->model[modes + 1].rss)) {
            sxi_dcos_judge(s, &t->plan->options);
        } else {
            s->stop = true;
        }
    }
}

/* --- the other basins of earlier modes --- */

static void challenge_one(sxi_dcos_tile *t, int64_t i, int mode, int64_t *jobs) {
    sxi_dcos_seeker *s = &t->list[i]->seeker;
    const sxi_dcos_model *from = &s->model[s->chosen];
    const sxi_dcos_seed *seed = t->seed[i];
    const double here = from->theta[2 * mode + 1];
    const double variance = sxi_dcos_noise(s, from->rss, s->chosen);
    double gain = seed[0].gain;
    for (int c = SXI_DCOS_CANDIDATES - 1; c >= 0; c--) {
        if (seed[c].gain > 0 && fabs(seed[c].frequency - here) < 0.75) {
            gain = seed[c].gain;
        }
    }
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        if (seed[c].gain > 0 && !(fabs(seed[c].frequency - here) < 0.75) &&
            seed[c].gain >= SXI_DCOS_FILTER_KEEPS * gain - SXI_DCOS_CHANCE * variance) {
            sxi_dcos_job *job = &t->job[(*jobs)++];
            job->pixel = t->list[i];
            job->worth = sxi_dcos_rss_rival(s, s->chosen);
            job->model = *from;
            job->model.evaluations = 0;
            job->model.theta[2 * mode] = seed[c].decay;
            job->model.theta[2 * mode + 1] = seed[c].frequency;
        }
    }
}

static void challenge(sxi_dcos_tile *t, int64_t pixels, int modes) {
    for (int mode = 0; mode < modes; mode++) {
        int64_t count = 0, jobs = 0;
        for (int64_t i = 0; i < pixels; i++) {
            if (t->pixel[i].seeker.chosen == modes && !t->pixel[i].doubtful) {
                t->list[count++] = &t->pixel[i];
            }
        }
        sxi_dcos_lanes_finish(t->lanes, modes, count, t->list, false, mode, t->residual);
        sxi_dcos_peaks(t, count, false);
        for (int64_t i = 0; i < count; i++) {
            challenge_one(t, i, mode, &jobs);
        }
        sxi_dcos_lanes_minimise(t->lanes, modes, jobs, t->job);
        for (int64_t i = 0; i < jobs; i++) { /* a better minimum is not the one that fit holds */
            t->job[i].pixel->finished = -1;
        }
        take_jobs(t, jobs);
    }
}

/* --- the end --- */

/* The background alone. */
static void finish_flat(const sxi_dcos_tile *t, sxi_dcos_pixel *p) {
    const sxi_dcos_trace *trace = &p->trace;
    const double unit = trace->scale * trace->weight;
    sxi_dcos_model *model = &p->seeker.model[0];
    const double variance =
        t->absolute ? sxi_dcos_given_variance(trace) : sxi_dcos_residual_variance(trace, model);
    const int linear = sxi_dcos_linear(trace->background, 0);
    sxi_dcos_covariance cov = {.linear = linear, .count = linear};
    cov.c[0][0] = 1 / (double)trace->used;
    p->fit->chi2 = sxi_dcos_residual_variance(trace, model) * unit * unit;
    p->fit->state =
        (uint8_t)sxi_dcos_report(&cov, true, trace, model, variance, t->plan->options.t0, p->fit);
}

/* Sums of squares are differences of sums over the trace: a smaller part of them has less than seven
 * digits. */
static const double LEAST_REST = 1e-9;

/* Errors of the answers that have none yet. */
static void finish_models(sxi_dcos_tile *t, int64_t pixels) {
    for (int modes = 1; modes <= SX_DCOS_MAX_MODES; modes++) {
        int64_t count = 0;
        for (int64_t i = 0; i < pixels; i++) {
            sxi_dcos_pixel *p = &t->pixel[i];
            if (p->seeker.chosen == modes && p->finished != modes && !p->doubtful) {
                t->list[count++] = p;
            }
        }
        sxi_dcos_lanes_finish(t->lanes, modes, count, t->list, true, -1, NULL);
    }
}

static void finish(sxi_dcos_tile *t, int64_t pixels) {
    finish_models(t, pixels);
    sxi_dcos_look_again(t, pixels);
    finish_models(t, pixels);
    for (int64_t i = 0; i < pixels; i++) {
        sxi_dcos_pixel *p = &t->pixel[i];
        sxi_dcos_model *model = &p->seeker.model[p->seeker.chosen];
        p->doubtful |= model->frozen != 0 || model->end != SXI_END_CONVERGED ||
                       !(model->rss > LEAST_REST * p->trace.yy);
        if (p->doubtful) {
            continue;
        }
        if (p->seeker.chosen == 0) {
            finish_flat(t, p);
        }
        sxi_dcos_flag(&p->seeker, p->fit);
        sxi_dcos_doubt(&p->trace, model->rss, p->neighbours, t->absolute, p->fit);
    }
}

void sxi_dcos_block_run(sxi_dcos_tile *t, int64_t pixels) {
    int64_t growing = pixels;
    for (int modes = 0; growing > 0 && modes < SX_DCOS_MAX_MODES; modes++) {
        grow(t, pixels, modes, &growing);
    }
    for (int64_t i = 0; i < pixels; i++) {
        sxi_dcos_settle(&t->pixel[i].seeker);
    }
    for (int modes = 2; modes <= SX_DCOS_MAX_MODES; modes++) {
        challenge(t, pixels, modes);
    }
    finish(t, pixels);
}
