/* SPDX-License-Identifier: Apache-2.0
 * The fit of many traces side by side: the same search as dcos_search.c, with minima found by the
 * kernels of kern/dcos_kernels.h in bundles. What does not go that way, or ends in doubt, is left to
 * the exact core, so the answer does not depend on the way. */
#ifndef SXI_DCOS_FAST_H
#define SXI_DCOS_FAST_H

#include <pthread.h>

#include "kern/dcos_kernels.h"
#include "numer/dcos_cuda.h"
#include "numer/dcos_order.h"
#include "numer/dcos_spectrum.h"

/* Decays 0, 1, 2, 4, ..., 512 e-foldings. */
enum { SXI_DCOS_OWN_DECAYS = 11 };

/* What all traces of a plan share; part of it. */
typedef struct sxi_dcos_fast {
    const sxi_dcos_kernels *kernels;
    sxi_dcos_cuda cuda; /* takes minimisations but those of SHARED; create NULL: not in use */
    sxi_dcos_even even;
    sxi_dcos_delays delays;
    sxi_dcos_box box;
    bool single;                 /* first in single precision */
    sxi_dcos_box approach;       /* as far as that goes */
    sxi_dcos_shared *shared;     /* of uneven delays; NULL: even ones, or it does not pay */
    sxi_dcos_spectrum *spectrum; /* NULL: then all traces go their own way */
    double *own_square;          /* [SXI_DCOS_OWN_DECAYS][n] exp(-2 g x) */
    double own_total[SXI_DCOS_OWN_DECAYS];
    double *window; /* [windows] of uneven delays, see sxi_dcos_aliased; NULL: none */
    int64_t windows;
    pthread_mutex_t mutex;      /* guards: */
    struct sxi_dcos_tile *idle; /* scratch of calls that have ended */
} sxi_dcos_fast;

/* How the sums of a trace are made. */
typedef enum sxi_dcos_way {
    SXI_WAY_EVEN,   /* even delays, equal weights */
    SXI_WAY_SHARED, /* uneven delays, equal weights: spread to an even grid */
    SXI_WAY_OWN     /* weights of its own */
} sxi_dcos_way;

/* A trace on the fast way. */
typedef struct sxi_dcos_pixel {
    sxi_dcos_trace trace; /* s where it has weights of its own; no other columns */
    sxi_dcos_seeker seeker;
    const double *y; /* [n] as given */
    const double
        *spread;       /* [fast->shared->room] y about its mean and scaled, spread; SHARED only */
    double neighbours; /* sum of y_i y_{i+1} of the scaled trace */
    sx_dcos_fit *fit;
    int finished;   /* modes of the model that fit holds; -1: none */
    bool scattered; /* few of the samples count */
    bool doubtful;  /* to be fitted by the exact core */
} sxi_dcos_pixel;

/* A minimisation: from model to the minimum it leads to. */
typedef struct sxi_dcos_job {
    sxi_dcos_pixel *pixel;
    sxi_dcos_model model;
    double worth; /* a minimum that leaves more than this is of no use */
    bool useless; /* given up for that */
} sxi_dcos_job;

/* Bundles of one thread. */
typedef struct sxi_dcos_lanes sxi_dcos_lanes;
sx_status sxi_dcos_lanes_create(const sx_dcos_plan *plan, sxi_dcos_lanes **lanes);
void sxi_dcos_lanes_destroy(sxi_dcos_lanes **lanes);

/* sxi_dcos_lanes_turn - which way the traces to come go. */
void sxi_dcos_lanes_turn(sxi_dcos_lanes *lanes, sxi_dcos_way way);

/* sxi_dcos_lanes_minimise - runs jobs of models of so many modes, >= 1. A lane whose trace is done
 * takes the next. */
void sxi_dcos_lanes_minimise(sxi_dcos_lanes *lanes, int modes, int64_t count, sxi_dcos_job *job);

/* sxi_dcos_lanes_failure - SX_ERR_NUMERIC if a GPU failed since it was asked; what it left was done
 * here. */
sx_status sxi_dcos_lanes_failure(sxi_dcos_lanes *lanes);

/* sxi_dcos_lanes_finish - fit, errors and what is left of the traces, for their models of so many
 * modes, which are at their minima.
 *
 * in,out pixel     [count]  model[modes] gets coefficients and rss; doubtful where it is no
 *                  minimum after all
 * wanted           fills fit as well: numbers, errors, state
 * out    residual  [count][n]  NULL: not wanted; row stride is n
 * without          >= 0: residual leaves this mode in */
void sxi_dcos_lanes_finish(sxi_dcos_lanes *lanes, int modes, int64_t count,
                           sxi_dcos_pixel *const *pixel, bool wanted, int without, float *residual);

/* sxi_dcos_aliased - whether many of the delays see a tone of this frequency as they see a constant, or
 * its mirror image about here: as where half of them lie one period, or half of one, apart. */
bool sxi_dcos_aliased(const sxi_dcos_fast *fast, double frequency);

/* sxi_dcos_fast_create - NULL where the plan has no fast way. */
sx_status sxi_dcos_fast_create(const sx_dcos_plan *plan, sxi_dcos_fast **fast);
void sxi_dcos_fast_destroy(sxi_dcos_fast **fast);

/* sxi_dcos_fast_tile - as sx_dcos_fit_tile; what is left to the exact core is true in left [npix].
 */
sx_status sxi_dcos_fast_tile(const sx_dcos_plan *plan, int64_t npix, const double *y,
                             const double *sigma, const double *weight, bool absolute,
                             sx_dcos_fit *fit, bool *left);

#endif
