/* SPDX-License-Identifier: Apache-2.0
 * How many modes, and which: one more at a time, from the peaks of what the last fit left over, all
 * modes refitted together, as long as the sum of squares falls by more than chance explains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/bank.h"
#include "kern/column.h"
#include "numer/dcos_order.h"

enum { WIDTH = SXI_BANK_WIDTH };

/* The exponential background has one minimum per time scale of the data: a few rates are tried
 * beside the last. */
static int rates(const sxi_dcos_seeker *s, const sxi_dcos_model *from, double *rate) {
    if (s->trace->background != SX_BACKGROUND_EXP) {
        return 1;
    }
    rate[0] = from ? from->theta[2 * from->modes] : 0.7;
    rate[1] = 2.5;
    rate[2] = 10;
    return 3;
}

static void fit_background(sxi_dcos_work *work, sxi_dcos_seeker *s) {
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

/* From a start down to its minimum, which is kept; given up on the way if it does not contend. */
static void try_start(sxi_dcos_work *work, sxi_dcos_seeker *s, sxi_dcos_model *model) {
    model->evaluations = 0;
    sxi_dcos_approach(work, s->trace, model);
    if (isfinite(model->rss) && sxi_dcos_contends(s, model)) {
        sxi_dcos_minimise(work, s->trace, model);
        sxi_dcos_keep(s, model);
    }
}

static void try_seed(sxi_dcos_work *work, sxi_dcos_seeker *s, const sxi_dcos_model *from,
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

/* The seeds that are worth it beside one that gains best; each is tried once. */
static void try_seeds(sxi_dcos_work *work, sxi_dcos_seeker *s, double best,
                      sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    const double worth = sxi_dcos_worth(s, best);
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        if (seed[c].gain > 0 && seed[c].gain >= worth) {
            try_seed(work, s, &s->model[s->tried], &seed[c]);
            seed[c].gain = 0;
        }
    }
}

/* One more mode; false if nothing was left to find. */
static bool grow(sxi_dcos_work *work, sxi_dcos_seeker *s, sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    const sxi_dcos_model *found = &s->model[s->tried + 1];
    if (!(seed[0].gain > sxi_dcos_gain_least(s, seed[0].gain, SXI_DCOS_FILTER_KEEPS))) {
        return false;
    }
    sxi_dcos_grow_begin(s);
    try_seeds(work, s, seed[0].gain, seed);
    if (isfinite(found->rss)) {
        try_seeds(work, s, s->model[s->tried].rss - found->rss, seed);
    }
    return isfinite(found->rss);
}

/* What the model of a sxi_dcos_seeker leaves over; add >= 0: with that mode put back. */
static void leave(sxi_dcos_work *work, const sxi_dcos_seeker *s, int add, double *residual) {
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
static sx_status seeds_from_bank(const sx_dcos_plan *plan, sxi_dcos_work *work,
                                 sxi_dcos_seeker *const *list, int count, int add, double *memory,
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
static sx_status seeds_from_poles(const sx_dcos_plan *plan, sxi_dcos_work *work,
                                  const sxi_dcos_seeker *s, double *memory,
                                  sxi_dcos_seed seed[SXI_DCOS_CANDIDATES], bool *done) {
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

static void extend(const sx_dcos_plan *plan, sxi_dcos_work *work, sxi_dcos_seeker *s,
                   sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    if (grow(work, s, seed)) {
        sxi_dcos_judge(s, &plan->options);
    } else {
        s->stop = true;
    }
}

static sx_status grow_all(const sx_dcos_plan *plan, sxi_dcos_work *work, sxi_dcos_seeker *seekers,
                          int count, double *memory) {
    for (;;) {
        sxi_dcos_seeker *list[WIDTH];
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
static void challenge(sxi_dcos_work *work, sxi_dcos_seeker *s, int mode,
                      const sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    sxi_dcos_model from = s->model[s->chosen];
    double here = from.theta[2 * mode + 1], gain = seed[0].gain;
    double variance = sxi_dcos_noise(s, from.rss, s->chosen);
    for (int c = SXI_DCOS_CANDIDATES - 1; c >= 0; c--) {
        if (seed[c].gain > 0 && fabs(seed[c].frequency - here) < 0.75) {
            gain = seed[c].gain;
        }
    }
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        bool near_here = fabs(seed[c].frequency - here) < 0.75;
        if (seed[c].gain > 0 && !near_here &&
            seed[c].gain >= SXI_DCOS_FILTER_KEEPS * gain - SXI_DCOS_CHANCE * variance) {
            sxi_dcos_model model = from;
            model.theta[2 * mode] = seed[c].decay;
            model.theta[2 * mode + 1] = seed[c].frequency;
            try_start(work, s, &model);
        }
    }
}

/* The last mode was chosen among the peaks of a residual; the earlier ones are challenged now that
 * all are known. Poles are no peaks: there a single mode is challenged too. */
static sx_status challenge_all(const sx_dcos_plan *plan, sxi_dcos_work *work,
                               sxi_dcos_seeker *seekers, int count, double *memory) {
    int least = plan->options.init == SX_INIT_BANK ? 2 : 1;
    for (int mode = 0; mode < SX_DCOS_MAX_MODES; mode++) {
        sxi_dcos_seeker *list[WIDTH];
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
    double variance =
        absolute ? sxi_dcos_given_variance(trace) : sxi_dcos_residual_variance(trace, model);
    int evaluations = model->evaluations;
    fit->modes = (uint8_t)model->modes;
    if (!sxi_dcos_evaluate(work, trace, model)) {
        fit->state = SX_DCOS_SINGULAR;
        return;
    }
    model->evaluations = evaluations;
    fit->chi2 = sxi_dcos_residual_variance(trace, model) * unit * unit;
    fit->state = (uint8_t)sxi_dcos_result(work, trace, model, variance, plan->options.t0, fit);
}

/* A second look at an answer that is hardly known. */
static void look_again(const sx_dcos_plan *plan, sxi_dcos_work *work, bool absolute,
                       sxi_dcos_seeker *s, sx_dcos_fit *fit) {
    sxi_dcos_model start[SX_DCOS_MAX_MODES * SXI_DCOS_AGAIN];
    int count = 0;
    for (int mode = 0; mode < fit->modes; mode++) {
        count += sxi_dcos_again(s, fit, mode, start + count);
    }
    for (int i = 0; i < count; i++) {
        sxi_dcos_approach(work, s->trace, &start[i]);
        if (isfinite(start[i].rss) && sxi_dcos_contends(s, &start[i])) {
            sxi_dcos_minimise(work, s->trace, &start[i]);
            if (sxi_dcos_news(s, &start[i])) {
                sxi_dcos_keep(s, &start[i]);
            }
        }
    }
    if (count > 0) {
        sxi_dcos_finish(plan, work, s->trace, absolute, &s->model[s->chosen], fit);
    }
}

static void begin(const sx_dcos_plan *plan, sxi_dcos_work *work, const sxi_dcos_trace *trace,
                  bool absolute, sxi_dcos_seeker *s) {
    sxi_dcos_seeker_begin(&plan->options, trace, absolute, s);
    fit_background(work, s);
}

sx_status sxi_dcos_search_block(const sx_dcos_plan *plan, sxi_dcos_work *work, int count,
                                const sxi_dcos_trace *const *traces, bool absolute,
                                sx_dcos_fit *const *fit) {
    sx_status status = SX_OK;
    sxi_dcos_seeker *seekers = malloc((size_t)count * sizeof *seekers);
    double *memory = aligned_alloc(64, (size_t)count * (size_t)plan->grid.padded * sizeof *memory);
    if (!seekers || !memory) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to search the modes of %d traces", count);
        goto out;
    }
    for (int i = 0; i < count; i++) {
        begin(plan, work, traces[i], absolute, &seekers[i]);
    }
    SXI_GO(grow_all(plan, work, seekers, count, memory));
    for (int i = 0; i < count; i++) {
        sxi_dcos_settle(&seekers[i]);
    }
    SXI_GO(challenge_all(plan, work, seekers, count, memory));
    for (int i = 0; i < count; i++) {
        sxi_dcos_seeker *s = &seekers[i];
        sxi_dcos_finish(plan, work, s->trace, absolute, &s->model[s->chosen], fit[i]);
        look_again(plan, work, absolute, s, fit[i]);
        sxi_dcos_flag(s, fit[i]);
        sxi_dcos_doubt(s->trace, s->model[s->chosen].rss, sxi_dcos_neighbours(work, s->trace),
                       absolute, fit[i]);
    }
out:
    free(memory);
    free(seekers);
    return status;
}
