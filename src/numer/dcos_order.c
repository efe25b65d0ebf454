/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/dcos_order.h"

#include <math.h>

/* A mode must lower chi2 by this many log(samples): four parameters, and the search over frequency
 * and decay costs two more (theory/fit.md: right order in all cells but two close modes at SNR 5).
 */
static const double PENALTY = 6;
/* As many log(samples) even where there are fewer: twelve samples of noise reported a mode in 1 %. */
static const double LEAST_SAMPLES = 50;
/* One mode that fails may hide two that pass (equal modes in unknown noise): look further from this
 * part of the penalty on. */
static const double PROMISING = 0.6;
/* delta chi2 below which another minimum is as good. */
static const double AMBIGUOUS = 4;
/* Cycles over the span by which two minima differ. */
static const double OTHER_BASIN = 0.1;
/* Without noise the residual is rounding: no variance is smaller than this part of the trace. */
static const double ROUNDING = 1e-24;

/* A decay is hardly known if its error is more than this part of it and of half an e-folding, below
 * which a mode looks undamped. 6 % of modes of an amplitude of 2 to 50 errors of a sample, but all
 * that had a better minimum nearby. */
static const double HARDLY_KNOWN = 0.26, UNDAMPED = 0.5;
/* Two minima lead to the same model if their sums of squares agree so far. */
static const double SAME = 1e-6;

double sxi_dcos_given_variance(const sxi_dcos_trace *trace) {
    double unit = trace->scale * trace->weight;
    return 1 / (unit * unit);
}

double sxi_dcos_residual_variance(const sxi_dcos_trace *trace, const sxi_dcos_model *model) {
    int64_t freedom = trace->used - sxi_dcos_parameters(trace->background, model->modes);
    return model->rss / (double)(freedom > 0 ? freedom : 1);
}

/* The variance that a drop is held against: what the larger model leaves, and never less than what
 * was given. */
double sxi_dcos_noise(const sxi_dcos_seeker *s, double rss, int modes) {
    sxi_dcos_model model = {.modes = modes, .rss = rss};
    double variance = fmax(sxi_dcos_residual_variance(s->trace, &model), ROUNDING * s->trace->yy);
    return s->absolute ? fmax(variance, sxi_dcos_given_variance(s->trace)) : variance;
}

/* Fewer degrees of freedom make the variance itself uncertain: the penalty grows with 1 / freedom.
 */
static double penalty(const sxi_dcos_seeker *s, int modes) {
    double freedom = (double)s->trace->used - sxi_dcos_parameters(s->trace->background, modes);
    return s->absolute ? s->penalty : s->penalty * (1 + s->penalty / fmax(freedom, 1));
}

static bool significant(const sxi_dcos_seeker *s, int from, int to) {
    const sxi_dcos_model *small = &s->model[from], *large = &s->model[to];
    return large->end != SXI_END_SINGULAR &&
           small->rss - large->rss >
               (to - from) * penalty(s, to) * sxi_dcos_noise(s, large->rss, to);
}

/* How far the frequency of a that is farthest from all of b lies from them. */
static double farthest(const sxi_dcos_model *a, const sxi_dcos_model *b, double *frequency) {
    double most = -1;
    for (int i = 0; i < a->modes; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < b->modes; j++) {
            nearest = fmin(nearest, fabs(a->theta[2 * i + 1] - b->theta[2 * j + 1]));
        }
        if (nearest > most) {
            most = nearest;
            *frequency = a->theta[2 * i + 1];
        }
    }
    return most;
}

/* Keeps the best minimum of a number of modes and the best one of another basin: one with another
 * set of frequencies, whatever their order. */
void sxi_dcos_keep(sxi_dcos_seeker *s, const sxi_dcos_model *found) {
    sxi_dcos_model *best = &s->model[found->modes];
    double *other = s->other[found->modes];
    double new_frequency = 0, old_frequency = 0;
    if (!isfinite(found->rss)) {
        return;
    }
    if (!isfinite(best->rss)) {
        *best = *found;
        return;
    }
    bool better = found->rss < best->rss;
    double rss = better ? best->rss : found->rss;
    double apart =
        fmax(farthest(found, best, &new_frequency), farthest(best, found, &old_frequency));
    /* What stopped on its way may be on the way to the same minimum. */
    bool minimum = (better ? best : found)->end == SXI_END_CONVERGED;
    if (apart > OTHER_BASIN && rss < other[0] && minimum) {
        other[0] = rss;
        other[1] = better ? old_frequency : new_frequency;
    }
    if (better) {
        *best = *found;
    }
}

static int modes_at_bound(const sxi_dcos_model *model) {
    int count = 0;
    for (int k = 0; k < model->modes; k++) {
        count += (model->frozen >> (2 * k) & 3u) != 0;
    }
    return count;
}

double sxi_dcos_rss_rival(const sxi_dcos_seeker *s, int modes) {
    const double rss = s->model[modes].rss;
    return rss + SXI_DCOS_CHANCE * sxi_dcos_noise(s, rss, modes);
}

/* Near its minimum: may it still win or be as good elsewhere? Not if it is clearly worse, or on its
 * way to the minimum that is known. A drift takes one mode at its bound, which says so; a second
 * one would stand in the way of a true mode. */
bool sxi_dcos_contends(const sxi_dcos_seeker *s, const sxi_dcos_model *near) {
    const sxi_dcos_model *best = &s->model[near->modes];
    double ignored;
    if (!s->demanded && modes_at_bound(near) > 1) {
        return false;
    }
    if (!isfinite(best->rss) || near->rss < best->rss) {
        return true;
    }
    return near->rss < sxi_dcos_rss_rival(s, best->modes) &&
           fmax(farthest(near, best, &ignored), farthest(best, near, &ignored)) > OTHER_BASIN;
}

/* Takes the new model, looks one further, or stops. */
void sxi_dcos_judge(sxi_dcos_seeker *s, const sx_dcos_options *options) {
    int modes = ++s->tried;
    if (significant(s, s->accepted, modes)) {
        s->accepted = modes;
    } else if (!options->fixed_modes) {
        double drop = s->model[s->accepted].rss - s->model[modes].rss;
        bool promising =
            drop > PROMISING * penalty(s, modes) * sxi_dcos_noise(s, s->model[modes].rss, modes);
        s->stop = modes - s->accepted > 1 || !promising;
    }
    s->stop = s->stop || modes >= s->most;
}

static int modes_wanted(const sx_dcos_options *options) {
    return options->fixed_modes ? options->modes : options->max_modes;
}

/* The modes that leave at least one degree of freedom. */
static int modes_possible(const sxi_dcos_trace *trace, int wanted) {
    int modes = wanted;
    while (modes > 0 && trace->used <= sxi_dcos_parameters(trace->background, modes)) {
        modes--;
    }
    return modes;
}

void sxi_dcos_seeker_begin(const sx_dcos_options *options, const sxi_dcos_trace *trace,
                           bool absolute, sxi_dcos_seeker *s) {
    s->trace = trace;
    s->absolute = absolute;
    s->demanded = options->fixed_modes;
    s->penalty = PENALTY * log(fmax((double)trace->used, LEAST_SAMPLES));
    s->most = modes_possible(trace, modes_wanted(options));
    s->stop = s->most == 0;
    s->tried = s->accepted = s->chosen = 0;
}

/* Of bounded weights the gain is another than that of the fit, which alone can judge. */
static bool any_counts(const sxi_dcos_seeker *s) {
    return s->demanded || isfinite(s->trace->bank_most);
}

double sxi_dcos_gain_least(const sxi_dcos_seeker *s, double best, double keeps) {
    const int modes = s->tried + 1;
    double variance = sxi_dcos_noise(s, fmax(s->model[s->tried].rss - best, 0), modes);
    return any_counts(s) ? 0 : PROMISING * penalty(s, modes) * variance * keeps;
}

/* The drop from rss to x with x = rss - factor noise(x). */
static double drop_of(const sxi_dcos_seeker *s, double rss, double factor, int modes) {
    const int64_t free = s->trace->used - sxi_dcos_parameters(s->trace->background, modes);
    const double freedom = (double)(free > 0 ? free : 1);
    const double drop = factor * rss / (freedom + factor);
    return s->absolute ? fmax(drop, factor * sxi_dcos_given_variance(s->trace)) : drop;
}

double sxi_dcos_gain_floor(const sxi_dcos_seeker *s, double keeps) {
    const int modes = s->tried + 1;
    const double factor = PROMISING * penalty(s, modes) * keeps;
    return any_counts(s) ? 0 : drop_of(s, s->model[s->tried].rss, factor, modes);
}

double sxi_dcos_rss_most(const sxi_dcos_seeker *s) {
    const int modes = s->tried + 1, more = modes - s->accepted;
    const double rss = s->model[s->accepted].rss;
    const double factor = (more > 1 ? more : PROMISING) * penalty(s, modes);
    return any_counts(s) ? (double)INFINITY : rss - drop_of(s, rss, factor, modes);
}

double sxi_dcos_worth(const sxi_dcos_seeker *s, double best) {
    const double left = fmax(s->model[s->tried].rss - best, 0);
    return SXI_DCOS_FILTER_KEEPS * best - SXI_DCOS_CHANCE * sxi_dcos_noise(s, left, s->tried + 1);
}

void sxi_dcos_grow_begin(sxi_dcos_seeker *s) {
    s->model[s->tried + 1].rss = s->other[s->tried + 1][0] = (double)INFINITY;
}

int sxi_dcos_again(const sxi_dcos_seeker *s, const sx_dcos_fit *fit, int mode,
                   sxi_dcos_model start[SXI_DCOS_AGAIN]) {
    /* Errors of the frequency and factors of the decay: of 28 fits among 800,000 that were wrong these
     * lead all to the better minimum, the first three all but one. */
    static const double step[SXI_DCOS_AGAIN][2] = {{0, 5}, {-2, 1.0 / 3}, {2, 1.0 / 3}, {0, 0.25}};
    const sxi_dcos_grid *grid = s->trace->grid;
    const sxi_dcos_model *answer = &s->model[s->chosen];
    sx_dcos_fit flagged = *fit;
    sxi_dcos_flag(s, &flagged);
    if (flagged.state != SX_DCOS_OK || mode >= fit->modes) {
        return 0;
    }
    const sx_dcos_mode *m = &fit->mode[mode];
    const double g = fmax(m->decay * grid->span, UNDAMPED), f = m->frequency * grid->span;
    if (!(m->decay_error * grid->span > HARDLY_KNOWN * (fabs(m->decay) * grid->span + UNDAMPED))) {
        return 0;
    }
    int k = 0; /* modes of a fit are sorted, those of a model are not */
    for (int j = 1; j < answer->modes; j++) {
        const double here = fabs(answer->theta[2 * j + 1] - f);
        k = here < fabs(answer->theta[2 * k + 1] - f) ? j : k;
    }
    for (int i = 0; i < SXI_DCOS_AGAIN; i++) {
        const double moved = f + step[i][0] * m->frequency_error * grid->span;
        start[i] = *answer;
        start[i].evaluations = 0;
        start[i].theta[2 * k] = fmin(step[i][1] * g, grid->decay_most);
        start[i].theta[2 * k + 1] = fmin(fmax(moved, grid->frequency_least), grid->frequency_bound);
    }
    return SXI_DCOS_AGAIN;
}

bool sxi_dcos_news(const sxi_dcos_seeker *s, const sxi_dcos_model *found) {
    const sxi_dcos_model *answer = &s->model[s->chosen];
    double ignored;
    return sxi_dcos_contends(s, found) && (found->rss < (1 - SAME) * answer->rss ||
                                           fmax(farthest(found, answer, &ignored),
                                                farthest(answer, found, &ignored)) > OTHER_BASIN);
}

void sxi_dcos_settle(sxi_dcos_seeker *s) { s->chosen = s->demanded ? s->tried : s->accepted; }

void sxi_dcos_flag(const sxi_dcos_seeker *s, sx_dcos_fit *fit) {
    const int modes = s->chosen;
    const sxi_dcos_trace *trace = s->trace;
    const sxi_dcos_model *model = &s->model[modes];
    double variance =
        s->absolute ? sxi_dcos_given_variance(trace) : sxi_dcos_residual_variance(trace, model);
    bool ambiguous = modes > 0 && s->other[modes][0] - model->rss < AMBIGUOUS * variance;
    if (ambiguous) {
        fit->frequency_other = s->other[modes][1] / trace->grid->span;
    }
    if (fit->state == SX_DCOS_OK && ambiguous) {
        fit->state = SX_DCOS_AMBIGUOUS;
    }
    if (fit->state == SX_DCOS_OK && s->demanded && s->accepted < s->chosen) {
        fit->state = SX_DCOS_INSIGNIFICANT;
    }
}
