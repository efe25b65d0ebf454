/* SPDX-License-Identifier: Apache-2.0
 * How many modes, and which: one more at a time, from the peaks of what the last fit left over, all
 * modes refitted together, as long as the sum of squares falls by more than chance explains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/bank.h"
#include "kern/column.h"
#include "numer/dcos.h"

/* A mode must lower chi2 by this many log(samples): four parameters, and the search over frequency
 * and decay costs two more (theory/fit.md: right order in all cells but two close modes at SNR 5).
 */
static const double PENALTY = 6;
/* As many log(samples) even where there are fewer: twelve samples of noise reported a mode in 1 %. */
static const double LEAST_SAMPLES = 50;
/* One mode that fails may hide two that pass (equal modes in unknown noise): look further from this
 * part of the penalty on. */
static const double PROMISING = 0.6;
/* A filter keeps at least this part of the gain of the best mode near it. */
static const double FILTER_KEEPS = 0.7;
/* Chance moves the difference of two gains by this much, in units of the variance. */
static const double CHANCE = 10;
/* delta chi2 below which another minimum is as good. */
static const double AMBIGUOUS = 4;
/* Cycles over the span by which two minima differ. */
static const double OTHER_BASIN = 0.1;
/* Without noise the residual is rounding: no variance is smaller than this part of the trace. */
static const double ROUNDING = 1e-24;

enum { WIDTH = SXI_BANK_WIDTH };

/* The search on one trace. */
typedef struct seeker {
    const sxi_dcos_trace *trace;
    bool absolute;
    bool demanded; /* the number of modes */
    bool stop;
    int most;     /* modes the samples allow */
    int tried;    /* modes of the largest model so far */
    int accepted; /* modes that are more than noise */
    int chosen;   /* modes of the answer: accepted, or those demanded */
    sxi_dcos_model model[SX_DCOS_MAX_MODES + 1];
    double other[SX_DCOS_MAX_MODES + 1][2]; /* best minimum of another basin: rss, frequency */
} seeker;

static double given_variance(const sxi_dcos_trace *trace) {
    double unit = trace->scale * trace->weight;
    return 1 / (unit * unit);
}

static double residual_variance(const sxi_dcos_trace *trace, const sxi_dcos_model *model) {
    int64_t freedom = trace->used - sxi_dcos_parameters(trace->background, model->modes);
    return model->rss / (double)(freedom > 0 ? freedom : 1);
}

/* The variance that a drop is held against: what the larger model leaves, and never less than what
 * was given. */
static double noise(const seeker *s, double rss, int modes) {
    sxi_dcos_model model = {.modes = modes, .rss = rss};
    double variance = fmax(residual_variance(s->trace, &model), ROUNDING * s->trace->yy);
    return s->absolute ? fmax(variance, given_variance(s->trace)) : variance;
}

/* Fewer degrees of freedom make the variance itself uncertain: the penalty grows with 1 / freedom.
 */
static double penalty(const seeker *s, int modes) {
    double n = (double)s->trace->used;
    double freedom = n - sxi_dcos_parameters(s->trace->background, modes);
    double single = PENALTY * log(fmax(n, LEAST_SAMPLES));
    return s->absolute ? single : single * (1 + single / fmax(freedom, 1));
}

static bool significant(const seeker *s, int from, int to) {
    const sxi_dcos_model *small = &s->model[from], *large = &s->model[to];
    return large->end != SXI_END_SINGULAR &&
           small->rss - large->rss > (to - from) * penalty(s, to) * noise(s, large->rss, to);
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
static void keep(seeker *s, const sxi_dcos_model *found) {
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
    if (apart > OTHER_BASIN && rss < other[0]) {
        other[0] = rss;
        other[1] = better ? old_frequency : new_frequency;
    }
    if (better) {
        *best = *found;
    }
}

/* The exponential background has one minimum per time scale of the data: a few rates are tried
 * beside the last. */
static int rates(const seeker *s, const sxi_dcos_model *from, double *rate) {
    if (s->trace->background != SX_BACKGROUND_EXP) {
        return 1;
    }
    rate[0] = from ? from->theta[2 * from->modes] : 0.7;
    rate[1] = 2.5;
    rate[2] = 10;
    return 3;
}

static void fit_background(sxi_dcos_work *work, seeker *s) {
    double rate[3] = {0};
    int count = rates(s, NULL, rate);
    for (int i = 0; i < count; i++) {
        sxi_dcos_model model = {.modes = 0};
        model.theta[0] = rate[i];
        sxi_dcos_approach(work, s->trace, &model);
        if (i == 0 || model.rss < s->model[0].rss) {
            s->model[0] = model;
        }
    }
    sxi_dcos_minimise(work, s->trace, &s->model[0]);
}

static int modes_at_bound(const sxi_dcos_model *model) {
    int count = 0;
    for (int k = 0; k < model->modes; k++) {
        count += (model->frozen >> (2 * k) & 3u) != 0;
    }
    return count;
}

/* Near its minimum: may it still win or be as good elsewhere? Not if it is clearly worse, or on its
 * way to the minimum that is known. A drift takes one mode at its bound, which says so; a second
 * one would stand in the way of a true mode. */
static bool contends(const seeker *s, const sxi_dcos_model *near) {
    const sxi_dcos_model *best = &s->model[near->modes];
    double ignored;
    if (!s->demanded && modes_at_bound(near) > 1) {
        return false;
    }
    if (!isfinite(best->rss) || near->rss < best->rss) {
        return true;
    }
    return near->rss - best->rss < CHANCE * noise(s, best->rss, best->modes) &&
           fmax(farthest(near, best, &ignored), farthest(best, near, &ignored)) > OTHER_BASIN;
}

/* From a start down to its minimum, which is kept; given up on the way if it does not contend. */
static void try_start(sxi_dcos_work *work, seeker *s, sxi_dcos_model *model) {
    model->evaluations = 0;
    sxi_dcos_approach(work, s->trace, model);
    if (isfinite(model->rss) && contends(s, model)) {
        sxi_dcos_minimise(work, s->trace, model);
        keep(s, model);
    }
}

static void try_seed(sxi_dcos_work *work, seeker *s, const sxi_dcos_model *from,
                     const sxi_dcos_seed *seed) {
    double rate[3] = {0};
    int count = rates(s, from, rate);
    for (int i = 0; i < count; i++) {
        sxi_dcos_model model = *from;
        model.modes = from->modes + 1;
        model.theta[2 * from->modes] = seed->decay;
        model.theta[2 * from->modes + 1] = seed->frequency;
        model.theta[2 * model.modes] = rate[i]; /* not read without an exponential */
        try_start(work, s, &model);
    }
}

/* One more mode; false if nothing was left to find. */
static bool grow(sxi_dcos_work *work, seeker *s, const sxi_dcos_seed seed[SXI_DCOS_CANDIDATES],
                 bool demanded) {
    const sxi_dcos_model *from = &s->model[s->tried];
    int modes = s->tried + 1;
    double variance = noise(s, fmax(from->rss - seed[0].gain, 0), modes);
    /* Of bounded weights the gain is another than that of the fit, which alone can judge. */
    bool bounded = isfinite(s->trace->bank_most);
    double least =
        demanded || bounded ? 0 : PROMISING * penalty(s, modes) * variance * FILTER_KEEPS;
    if (!(seed[0].gain > least)) {
        return false;
    }
    s->model[modes].rss = s->other[modes][0] = (double)INFINITY;
    double worth = FILTER_KEEPS * seed[0].gain - CHANCE * variance;
    for (int c = 0; c < SXI_DCOS_CANDIDATES && seed[c].gain > 0 && seed[c].gain >= worth; c++) {
        try_seed(work, s, from, &seed[c]);
    }
    return isfinite(s->model[modes].rss);
}

/* Takes the new model, looks one further, or stops. */
static void judge(seeker *s, const sx_dcos_options *options) {
    int modes = ++s->tried;
    if (significant(s, s->accepted, modes)) {
        s->accepted = modes;
    } else if (!options->fixed_modes) {
        double drop = s->model[s->accepted].rss - s->model[modes].rss;
        bool promising =
            drop > PROMISING * penalty(s, modes) * noise(s, s->model[modes].rss, modes);
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

/* What the model of a seeker leaves over; add >= 0: with that mode put back. */
static void leave(sxi_dcos_work *work, const seeker *s, int add, double *residual) {
    sxi_dcos_model model = s->model[add < 0 ? s->tried : s->chosen];
    int64_t n = s->trace->grid->padded;
    sxi_dcos_evaluate(work, s->trace, &model);
    memcpy(residual, work->residual, (size_t)n * sizeof(double));
    if (add >= 0) {
        int j = sxi_dcos_linear(s->trace->background, add);
        for (int64_t k = 0; k < n; k++) {
            residual[k] += model.coefficient[j] * work->raw[j][k] +
                           model.coefficient[j + 1] * work->raw[j + 1][k];
        }
    }
}

/* Seeds of the listed seekers from the filter bank; residuals go to memory. */
static sx_status seeds_from_bank(const sx_dcos_plan *plan, sxi_dcos_work *work, seeker *const *list,
                                 int count, int add, double *memory,
                                 sxi_dcos_seed seed[][SXI_DCOS_CANDIDATES]) {
    const sxi_dcos_trace *traces[WIDTH];
    const double *residual[WIDTH];
    for (int i = 0; i < count; i++) {
        double *target = memory + i * plan->grid.padded;
        leave(work, list[i], add, target);
        traces[i] = list[i]->trace;
        residual[i] = target;
    }
    return sxi_dcos_bank_search(plan->bank, count, traces, residual, seed);
}

/* Linear prediction where it was asked for; *done is false where the bank has to help out: the
 * trace has gaps, or no poles were found. */
static sx_status seeds_from_poles(const sx_dcos_plan *plan, sxi_dcos_work *work, const seeker *s,
                                  double *memory, sxi_dcos_seed seed[SXI_DCOS_CANDIDATES],
                                  bool *done) {
    *done = plan->options.init != SX_INIT_BANK && sxi_dcos_poles_usable(s->trace);
    if (!*done) {
        return SX_OK;
    }
    leave(work, s, -1, memory);
    sx_status status =
        sxi_dcos_poles_search(plan->options.init, s->most - s->tried, work, s->trace, memory, seed);
    /* One trace without eigenvalues does not stop the others. */
    *done = status != SX_ERR_NUMERIC && (status != SX_OK || seed[0].gain > 0);
    return *done ? status : SX_OK;
}

static void extend(const sx_dcos_plan *plan, sxi_dcos_work *work, seeker *s,
                   const sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    if (grow(work, s, seed, plan->options.fixed_modes)) {
        judge(s, &plan->options);
    } else {
        s->stop = true;
    }
}

static sx_status grow_all(const sx_dcos_plan *plan, sxi_dcos_work *work, seeker *seekers, int count,
                          double *memory) {
    for (;;) {
        seeker *list[WIDTH];
        sxi_dcos_seed seed[WIDTH][SXI_DCOS_CANDIDATES];
        int active = 0, left = 0;
        for (int i = 0; i < count; i++) {
            bool done = false;
            if (seekers[i].stop) {
                continue;
            }
            left++;
            SXI_TRY(seeds_from_poles(plan, work, &seekers[i], memory, seed[0], &done));
            if (done) {
                extend(plan, work, &seekers[i], seed[0]);
            } else {
                list[active++] = &seekers[i];
            }
        }
        if (!left) {
            return SX_OK;
        }
        if (active > 0) {
            SXI_TRY(seeds_from_bank(plan, work, list, active, -1, memory, seed));
        }
        for (int i = 0; i < active; i++) {
            extend(plan, work, list[i], seed[i]);
        }
    }
}

/* Puts mode `mode` back into the residual and asks whether it fits as well elsewhere. */
static void challenge(sxi_dcos_work *work, seeker *s, int mode,
                      const sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    sxi_dcos_model from = s->model[s->chosen];
    double here = from.theta[2 * mode + 1], gain = seed[0].gain;
    double variance = noise(s, from.rss, s->chosen);
    for (int c = SXI_DCOS_CANDIDATES - 1; c >= 0; c--) {
        if (seed[c].gain > 0 && fabs(seed[c].frequency - here) < 0.75) {
            gain = seed[c].gain;
        }
    }
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        bool near_here = fabs(seed[c].frequency - here) < 0.75;
        if (seed[c].gain > 0 && !near_here &&
            seed[c].gain >= FILTER_KEEPS * gain - CHANCE * variance) {
            sxi_dcos_model model = from;
            model.theta[2 * mode] = seed[c].decay;
            model.theta[2 * mode + 1] = seed[c].frequency;
            try_start(work, s, &model);
        }
    }
}

/* The last mode was chosen among the peaks of a residual; the earlier ones are challenged now that
 * all are known. Poles are no peaks: there a single mode is challenged too. */
static sx_status challenge_all(const sx_dcos_plan *plan, sxi_dcos_work *work, seeker *seekers,
                               int count, double *memory) {
    int least = plan->options.init == SX_INIT_BANK ? 2 : 1;
    for (int mode = 0; mode < SX_DCOS_MAX_MODES; mode++) {
        seeker *list[WIDTH];
        sxi_dcos_seed seed[WIDTH][SXI_DCOS_CANDIDATES];
        int active = 0;
        for (int i = 0; i < count; i++) {
            if (seekers[i].chosen >= least && mode < seekers[i].chosen) {
                list[active++] = &seekers[i];
            }
        }
        if (!active) {
            return SX_OK;
        }
        SXI_TRY(seeds_from_bank(plan, work, list, active, mode, memory, seed));
        for (int i = 0; i < active; i++) {
            challenge(work, list[i], mode, seed[i]);
        }
    }
    return SX_OK;
}

void sxi_dcos_finish(const sx_dcos_plan *plan, sxi_dcos_work *work, const sxi_dcos_trace *trace,
                     bool absolute, sxi_dcos_model *model, sx_dcos_fit *fit) {
    double unit = trace->scale * trace->weight;
    double variance = absolute ? given_variance(trace) : residual_variance(trace, model);
    int evaluations = model->evaluations;
    fit->modes = (uint8_t)model->modes;
    if (!sxi_dcos_evaluate(work, trace, model)) {
        fit->state = SX_DCOS_SINGULAR;
        return;
    }
    model->evaluations = evaluations;
    fit->chi2 = residual_variance(trace, model) * unit * unit;
    fit->state = (uint8_t)sxi_dcos_result(work, trace, model, variance, plan->options.t0, fit);
}

/* Another minimum as good, or fewer modes than demanded that are more than noise. */
static void flag(const sxi_dcos_work *work, const seeker *s, sx_dcos_fit *fit) {
    int modes = s->chosen;
    const sxi_dcos_trace *trace = s->trace;
    const sxi_dcos_model *model = &s->model[modes];
    double variance = s->absolute ? given_variance(trace) : residual_variance(trace, model);
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
    sxi_dcos_doubt(work, trace, s->absolute, fit);
}

static void seeker_start(const sx_dcos_plan *plan, sxi_dcos_work *work, const sxi_dcos_trace *trace,
                         bool absolute, seeker *s) {
    memset(s, 0, sizeof *s);
    s->trace = trace;
    s->absolute = absolute;
    s->demanded = plan->options.fixed_modes;
    s->most = modes_possible(trace, modes_wanted(&plan->options));
    s->stop = s->most == 0;
    fit_background(work, s);
}

sx_status sxi_dcos_search_block(const sx_dcos_plan *plan, sxi_dcos_work *work, int count,
                                const sxi_dcos_trace *const *traces, bool absolute,
                                sx_dcos_fit *const *fit) {
    sx_status status = SX_OK;
    seeker *seekers = malloc((size_t)count * sizeof *seekers);
    double *memory = aligned_alloc(64, (size_t)count * (size_t)plan->grid.padded * sizeof *memory);
    if (!seekers || !memory) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to search the modes of %d traces", count);
        goto out;
    }
    for (int i = 0; i < count; i++) {
        seeker_start(plan, work, traces[i], absolute, &seekers[i]);
    }
    SXI_GO(grow_all(plan, work, seekers, count, memory));
    for (int i = 0; i < count; i++) {
        seekers[i].chosen = plan->options.fixed_modes ? seekers[i].tried : seekers[i].accepted;
    }
    SXI_GO(challenge_all(plan, work, seekers, count, memory));
    for (int i = 0; i < count; i++) {
        seeker *s = &seekers[i];
        sxi_dcos_finish(plan, work, s->trace, absolute, &s->model[s->chosen], fit[i]);
        flag(work, s, fit[i]);
    }
out:
    free(memory);
    free(seekers);
    return status;
}
