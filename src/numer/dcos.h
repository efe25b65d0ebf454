/* SPDX-License-Identifier: Apache-2.0
 * Inside of the damped-cosine fit. Everything here is free of scale: time runs from 0 to 1 over the
 * used delays, a frequency counts cycles and a decay e-foldings over that span, traces are shifted
 * and scaled to unit size.
 *
 * The model is linear in background and (a, b) of each mode, y = ... + exp(-g x) (a cos 2 pi f x +
 * b sin 2 pi f x), so the minimiser only sees decays and frequencies (variable projection, Golub
 * and Pereyra 1973, in the form of Kaufman 1975). Theory: docs/theory/dcos.md. */
#ifndef SXI_DCOS_H
#define SXI_DCOS_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/dcos.h>

enum {
    SXI_DCOS_LINEAR = 2 + 2 * SX_DCOS_MAX_MODES, /* background, then (a, b) of each mode */
    SXI_DCOS_NONLINEAR =
        1 + 2 * SX_DCOS_MAX_MODES, /* (decay, frequency) of each mode, then the rate */
    SXI_DCOS_CANDIDATES = 6
};

/* The used delays, and the box the parameters live in. */
typedef struct sxi_dcos_grid {
    int64_t first;  /* index of the first used delay */
    int64_t n;      /* used delays */
    int64_t padded; /* n rounded up to whole lanes */
    double *x;      /* [padded] (t - t_first) / span */
    double dx;      /* step if uniform, else 0 */
    bool regular;   /* uniform to 1e-3 of a step: enough for linear prediction */
    double t_first, span;
    double frequency_least, frequency_most; /* searched: half a cycle to 0.5 / median step */
    double frequency_bound;                 /* reached by a fit: a little less */
    double decay_least, decay_most;
    double rate_least, rate_most; /* of the exponential background */
} sxi_dcos_grid;

/* A trace, ready to fit. */
typedef struct sxi_dcos_trace {
    const sxi_dcos_grid *grid;
    sx_dcos_background background;
    int64_t used;
    double *s; /* [padded] square root of the weight, mean square 1 over used samples; 0: missing */
    double *y; /* [padded] s (y - shift) / scale */
    double *one; /* [padded] s divided by its norm: the constant column, orthonormal */
    double one_norm;
    double bank_most; /* the bank takes no s above this; infinite: no bound */
    double yy;        /* sum of y^2 */
    double shift, scale;
    double weight; /* weight of a sample = (weight s)^2 in the units of 1 / sigma^2 */
} sxi_dcos_trace;

typedef struct sxi_dcos_seed {
    double decay, frequency;
    double gain; /* how much the sum of squares would fall */
} sxi_dcos_seed;

typedef enum sxi_dcos_end {
    SXI_END_CONVERGED,
    SXI_END_NOT_CONVERGED,
    SXI_END_SINGULAR
} sxi_dcos_end;

/* A set of nonlinear parameters, and what a minimisation from there gave. */
typedef struct sxi_dcos_model {
    double theta[SXI_DCOS_NONLINEAR];
    double coefficient[SXI_DCOS_LINEAR];
    double rss;
    int modes;
    sxi_dcos_end end;
    uint32_t frozen; /* bit j: theta[j] sits at its bound */
    int evaluations;
} sxi_dcos_model;

/* A symmetric matrix of the nonlinear parameters. */
typedef struct sxi_dcos_matrix {
    double at[SXI_DCOS_NONLINEAR][SXI_DCOS_NONLINEAR];
} sxi_dcos_matrix;

/* Scratch of one thread. */
typedef struct sxi_dcos_work {
    int64_t padded;
    double *memory;
    double *raw[SXI_DCOS_LINEAR];      /* columns as built */
    double *q[SXI_DCOS_LINEAR];        /* orthonormal columns */
    double *slope[SXI_DCOS_NONLINEAR]; /* Jacobian, projected off the columns */
    double *residual;
    double r[SXI_DCOS_LINEAR][SXI_DCOS_LINEAR];    /* raw = q r */
    double h[SXI_DCOS_LINEAR][SXI_DCOS_NONLINEAR]; /* q' slope, before projection */
    sxi_dcos_matrix normal;
    double gradient[SXI_DCOS_NONLINEAR]; /* slope' residual: downhill */
} sxi_dcos_work;

sx_status sxi_dcos_work_create(int64_t padded, sxi_dcos_work *work);
void sxi_dcos_work_destroy(sxi_dcos_work *work);

int sxi_dcos_linear(sx_dcos_background background, int modes);
int sxi_dcos_nonlinear(sx_dcos_background background, int modes);

/* Parameters of the whole model, linear and not. */
static inline int sxi_dcos_parameters(sx_dcos_background background, int modes) {
    return sxi_dcos_linear(background, modes) + sxi_dcos_nonlinear(background, modes);
}

/* Cholesky factor of a matrix of nonlinear parameters, scaled to a unit diagonal; what is frozen
 * stays out. */
typedef struct sxi_dcos_factor {
    int n;
    uint32_t frozen;
    double d[SXI_DCOS_NONLINEAR];
    double l[SXI_DCOS_NONLINEAR][SXI_DCOS_NONLINEAR];
} sxi_dcos_factor;

/* sxi_dcos_factorise - of matrix + lambda diag(matrix); false where it is not positive definite.
 * sxi_dcos_solve - x = matrix^-1 right, 0 for what is frozen; returns right' x. */
bool sxi_dcos_factorise(const sxi_dcos_matrix *matrix, int n, uint32_t frozen, double lambda,
                        sxi_dcos_factor *factor);
double sxi_dcos_solve(const sxi_dcos_factor *factor, const double *right, double *x);

/* sxi_dcos_approach - from model->theta down to a tenth of a standard deviation from the nearest
 * minimum. sxi_dcos_minimise - to that minimum. Evaluations are added to those that model holds.
 * Afterwards work holds columns, residual and normal matrix at the result. */
void sxi_dcos_approach(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model);
void sxi_dcos_minimise(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model);

/* sxi_dcos_evaluate - columns, residual and normal matrix at model->theta, without moving; false if
 * singular. */
bool sxi_dcos_evaluate(sxi_dcos_work *work, const sxi_dcos_trace *trace, sxi_dcos_model *model);

/* sxi_dcos_result - a minimum with its covariance in the caller's units. variance: of a sample of
 * weight 1 in units of the scaled trace; work must hold the evaluation of the model. Returns the
 * state these numbers alone give. */
sx_dcos_state sxi_dcos_result(const sxi_dcos_work *work, const sxi_dcos_trace *trace,
                              const sxi_dcos_model *model, double variance, double t0,
                              sx_dcos_fit *fit);

/* Of all parameters, linear ones first; not scaled by the variance of a sample. */
enum { SXI_DCOS_PARAMETERS_MOST = SXI_DCOS_LINEAR + SXI_DCOS_NONLINEAR };
typedef struct sxi_dcos_covariance {
    int linear, slopes, count; /* count = linear + slopes */
    double c[SXI_DCOS_PARAMETERS_MOST][SXI_DCOS_PARAMETERS_MOST];
} sxi_dcos_covariance;

/* sxi_dcos_report - as sxi_dcos_result, from a covariance. known: false where it could not be made
 * (cov->c is 0): values are still the minimum, errors are not known. */
sx_dcos_state sxi_dcos_report(const sxi_dcos_covariance *cov, bool known,
                              const sxi_dcos_trace *trace, const sxi_dcos_model *model,
                              double variance, double t0, sx_dcos_fit *fit);

/* sxi_dcos_doubt - a last look at a fit that is OK otherwise: faint modes, residuals that are not
 * the noise. rss: sum of r^2 of the weighted residuals; neighbours: sum of r_i r_{i+1}, as
 * sxi_dcos_neighbours finds in work. */
void sxi_dcos_doubt(const sxi_dcos_trace *trace, double rss, double neighbours, bool absolute,
                    sx_dcos_fit *fit);
double sxi_dcos_neighbours(const sxi_dcos_work *work, const sxi_dcos_trace *trace);

/* --- start values --- */

/* Filters: damped cosines and sines on a lattice of frequencies and decays. */
typedef struct sxi_dcos_bank sxi_dcos_bank;

sx_status sxi_dcos_bank_create(const sxi_dcos_grid *grid, sxi_dcos_bank **bank);
void sxi_dcos_bank_destroy(sxi_dcos_bank **bank);

/* sxi_dcos_bank_search - the peaks of the gain over frequency, best first, of up to SXI_BANK_WIDTH
 * residuals.
 *
 * in   traces, residual  [count]  residual[i] is [padded], weighted as trace->y
 * out  seed              [count][SXI_DCOS_CANDIDATES]  gain 0: none
 * SX_ERR_MEMORY. */
sx_status sxi_dcos_bank_search(const sxi_dcos_bank *bank, int count,
                               const sxi_dcos_trace *const *traces, const double *const *residual,
                               sxi_dcos_seed seed[][SXI_DCOS_CANDIDATES]);

/* sxi_dcos_seed_insert - keeps the seeds ordered, best gain first; the worst falls out. */
void sxi_dcos_seed_insert(sxi_dcos_seed seed[SXI_DCOS_CANDIDATES], sxi_dcos_seed candidate);

/* sxi_dcos_seeds_choose - of the peaks that filters of some decays see, each once, best first: those
 * that gain at least keep times the best less chance. A broad resonance covers narrow ones of lower
 * gain, which can be the better fit, so a peak is left out only where a filter of the same decay or
 * a neighbouring one sees a higher one about as near as the narrower of the two is wide. Returns how
 * many.
 *
 * in   found   [count]  its gains are changed, and put back
 * out  picked  [SXI_DCOS_CANDIDATES]  places in found */
int sxi_dcos_seeds_choose(int count, sxi_dcos_seed *found, double keep, double chance,
                          int picked[SXI_DCOS_CANDIDATES]);

/* sxi_dcos_poles_usable - linear prediction needs equal steps and every sample.
 * sxi_dcos_poles_search - the poles of a residual as seeds, best gain first. modes: how many to
 * look for. Overwrites the Jacobian in work. SX_ERR_MEMORY, SX_ERR_NUMERIC. */
bool sxi_dcos_poles_usable(const sxi_dcos_trace *trace);
sx_status sxi_dcos_poles_search(sx_dcos_init init, int modes, sxi_dcos_work *work,
                                const sxi_dcos_trace *trace, const double *residual,
                                sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]);

/* --- the plan --- */

struct sx_dcos_plan {
    sx_dcos_options options; /* resolved: max_modes and t_start are set */
    int64_t nt;
    sxi_dcos_grid grid;
    sxi_dcos_bank *bank;
    struct sxi_dcos_fast *fast; /* NULL: every trace goes through the exact core */
};

/* sxi_dcos_load - makes a trace ready; a state other than OK says why it cannot be fitted.
 *
 * in      y, sigma, weight  [nt]  as sx_dcos_fit_tile
 * in,out  trace  s, y, one: memory [padded] each
 * out     fit    used; with NO_SIGNAL the offset */
sx_dcos_state sxi_dcos_load(const sx_dcos_plan *plan, const double *y, const double *sigma,
                            const double *weight, sxi_dcos_trace *trace, sx_dcos_fit *fit);

/* sxi_dcos_search_tile - finds the modes of every trace of a block of at most SXI_BANK_WIDTH.
 *
 * in,out fit  [count]  traces with used samples; state is filled for all */
sx_status sxi_dcos_search_block(const sx_dcos_plan *plan, sxi_dcos_work *work, int count,
                                const sxi_dcos_trace *const *traces, bool absolute,
                                sx_dcos_fit *const *fit);

/* sxi_dcos_finish - fills fit from a minimum: noise scale, errors, state, chi2. */
void sxi_dcos_finish(const sx_dcos_plan *plan, sxi_dcos_work *work, const sxi_dcos_trace *trace,
                     bool absolute, sxi_dcos_model *model, sx_dcos_fit *fit);

#endif
