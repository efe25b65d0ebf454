/* SPDX-License-Identifier: Apache-2.0
 * How many modes a trace has, and which of several minima is its best: decisions, without the means
 * by which minima are found. */
#ifndef SXI_DCOS_ORDER_H
#define SXI_DCOS_ORDER_H

#include "numer/dcos.h"

/* A filter of the bank keeps at least this part of the gain of the best mode near it. */
#define SXI_DCOS_FILTER_KEEPS 0.7
/* Chance moves the difference of two gains by this much, in units of the variance. */
#define SXI_DCOS_CHANCE 10

enum { SXI_DCOS_AGAIN = 4 };

/* The search on one trace. */
typedef struct sxi_dcos_seeker {
    const sxi_dcos_trace *trace; /* used, yy, scale, weight and background are read */
    bool absolute;
    bool demanded; /* the number of modes */
    bool stop;
    double penalty; /* variances by which a mode must lower the sum of squares, at least */
    int most;       /* modes the samples allow */
    int tried;      /* modes of the largest model so far */
    int accepted;   /* modes that are more than noise */
    int chosen;     /* modes of the answer: accepted, or those demanded */
    sxi_dcos_model model[SX_DCOS_MAX_MODES + 1];
    double other[SX_DCOS_MAX_MODES + 1][2]; /* best minimum of another basin: rss, frequency */
} sxi_dcos_seeker;

/* sxi_dcos_seeker_begin - nothing tried yet; the caller fills model[0], the background. */
void sxi_dcos_seeker_begin(const sx_dcos_options *options, const sxi_dcos_trace *trace,
                           bool absolute, sxi_dcos_seeker *s);

/* sxi_dcos_given_variance - of a sample of weight 1, from sigma, in units of the scaled trace.
 * sxi_dcos_residual_variance - the same from what a model leaves. */
double sxi_dcos_given_variance(const sxi_dcos_trace *trace);
double sxi_dcos_residual_variance(const sxi_dcos_trace *trace, const sxi_dcos_model *model);

/* sxi_dcos_noise - the variance that a drop to rss by a model of so many modes is held against. */
double sxi_dcos_noise(const sxi_dcos_seeker *s, double rss, int modes);

/* sxi_dcos_gain_least - what a start for one mode more must gain to be worth a fit; 0: anything.
 * keeps: the part of the best gain that a start has at least. best: its gain. */
double sxi_dcos_gain_least(const sxi_dcos_seeker *s, double best, double keeps);

/* sxi_dcos_worth - what a start for one mode more must gain to be worth a fit beside one that gains
 * best. Starts are judged by the best of their gains, and again by what a fit has gained: the gain of
 * a start is an estimate. */
double sxi_dcos_worth(const sxi_dcos_seeker *s, double best);

/* sxi_dcos_gain_floor - the best gain for which sxi_dcos_gain_least is no more than it.
 * sxi_dcos_rss_most - what a model of one mode more must leave less than, to count or to make a look
 * further promising; INFINITY: anything counts. */
double sxi_dcos_gain_floor(const sxi_dcos_seeker *s, double keeps);
double sxi_dcos_rss_most(const sxi_dcos_seeker *s);

/* sxi_dcos_grow_begin - forgets what is known about models of one mode more. */
void sxi_dcos_grow_begin(sxi_dcos_seeker *s);

/* sxi_dcos_rss_rival - what another minimum of so many modes must leave less than, to be as good as
 * the best one. */
double sxi_dcos_rss_rival(const sxi_dcos_seeker *s, int modes);

/* sxi_dcos_contends - whether a minimum, or a point near one, may still win or be as good.
 * sxi_dcos_keep - keeps the best minimum of a number of modes and the best one of another basin. */
bool sxi_dcos_contends(const sxi_dcos_seeker *s, const sxi_dcos_model *near);
void sxi_dcos_keep(sxi_dcos_seeker *s, const sxi_dcos_model *found);

/* sxi_dcos_judge - takes the model of one mode more, looks one further, or stops. */
void sxi_dcos_judge(sxi_dcos_seeker *s, const sx_dcos_options *options);

/* sxi_dcos_again - starts near a mode of the answer whose decay is hardly known: there the sum of squares
 * is no parabola, and may have another minimum as good that no peak of the gain speaks of. Returns how
 * many; 0 where the mode is well known or the state is not OK in any case.
 *
 * in   fit    the answer with its errors
 * in   mode   of fit
 * out  start  [SXI_DCOS_AGAIN] */
int sxi_dcos_again(const sxi_dcos_seeker *s, const sx_dcos_fit *fit, int mode,
                   sxi_dcos_model start[SXI_DCOS_AGAIN]);

/* sxi_dcos_news - whether what such a start led to is not the answer itself: keep it. */
bool sxi_dcos_news(const sxi_dcos_seeker *s, const sxi_dcos_model *found);

/* sxi_dcos_settle - the number of modes of the answer. */
void sxi_dcos_settle(sxi_dcos_seeker *s);

/* sxi_dcos_flag - the state of an answer: another minimum as good, or fewer modes than demanded
 * that are more than noise. fit->state is that of its numbers alone. */
void sxi_dcos_flag(const sxi_dcos_seeker *s, sx_dcos_fit *fit);

#endif
