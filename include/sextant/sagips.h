/* SPDX-License-Identifier: Apache-2.0
 * sagips: which parameters made these events? Inverse problems whose data are events, and whose
 * theory is a density of observables. */
#ifndef SEXTANT_SAGIPS_H
#define SEXTANT_SAGIPS_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>
#include <sextant/context.h>
#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SX_THEORY_PARAMETERS = 16, /* at most */
    SX_THEORY_CHANNELS = 4,
    SX_THEORY_DIMENSIONS = 2, /* of a channel */
    SX_THEORY_COLUMNS = 4     /* of an event: those of all channels */
};

/* A parameter and where it may lie. Normalised it is (p - least) / (most - least). */
typedef struct sx_parameter {
    const char *name, *unit, *sentence;
    double least, most;
    double truth; /* of simulated events, unless told otherwise */
} sx_parameter;

/* A number measured in every event, in the box in which its density is normalised. */
typedef struct sx_observable {
    const char *name, *unit;
    double low, high;
} sx_observable;

/* Observables with one density in common; channels are independent of each other. */
typedef struct sx_channel {
    int dimensions; /* so many of the theory's observables, one after the other */
} sx_channel;

/* sx_density_fn - the density of a channel, not normalised, at n points.
 *
 * in   p        [P] parameters in their units, within their ranges
 * in   x        [n][dimensions] inside the box
 * out  density  [n] 0 or above
 * out  gradient [n][P] derivatives of density by p; NULL: not wanted
 *
 * Called by several threads at once. */
typedef void (*sx_density_fn)(const double *p, int channel, int64_t n, const double *x,
                              double *density, double *gradient);

/* A theory is a row in the table of theories; docs/adding-a-theory.md. */
typedef struct sx_theory {
    const char *name, *sentence;
    int parameters;
    const sx_parameter *parameter;
    int observables; /* columns of an event */
    const sx_observable *observable;
    int channels;
    const sx_channel *channel;
    sx_density_fn density;
} sx_theory;

/* sx_theory_count, sx_theory_at - those that are built in. */
SX_API int sx_theory_count(void);
SX_API const sx_theory *sx_theory_at(int i);

/* sx_theory_find - by its name. SX_ERR_MISSING listing the names there are. */
SX_API sx_status sx_theory_find(const char *name, const sx_theory **theory);

/* sx_theory_norms - the integral of each channel's density over its box.
 *
 * in   p      [P]
 * out  norms  [channels]
 * out  slope  [channels][P] their derivatives by p; NULL allowed
 *
 * By Gauss-Legendre; relative error below 1e-10 where the density is smooth. SX_ERR_NUMERIC where an
 * integral is not finite and above 0. SX_ERR_MEMORY. */
SX_API sx_status sx_theory_norms(const sx_theory *theory, const double *p, double *norms,
                                 double *slope);

typedef struct sx_sagips_simulate_options {
    const char *theory; /* its name */
    int64_t events;     /* 0: 100,000 */
    const char *truth;  /* "p0=2.1,p3=0.9", in their units; NULL: the truth of the theory */
    uint64_t seed;      /* 0: 1. Event i is a function of seed and i */
    bool overwrite;
} sx_sagips_simulate_options;

/* sx_sagips_simulate - writes events.h5: /events [N, columns] F32 and /norms [channels], the truth
 * as attributes of /events.
 *
 * SX_ERR_ARGUMENT, SX_ERR_RANGE (a truth outside its range), SX_ERR_MISSING (no such theory or
 * parameter), SX_ERR_NUMERIC, SX_ERR_EXISTS, SX_ERR_IO. */
SX_API sx_status sx_sagips_simulate(const sx_sagips_simulate_options *options, const char *output,
                                    const sx_context *context);

/* How a solution ended. */
typedef enum sx_solution_state {
    SX_SOLUTION_OK,            /* errors hold */
    SX_SOLUTION_AT_BOUND,      /* a parameter lies at the end of its range: it has no error */
    SX_SOLUTION_NOT_CONVERGED, /* no minimum was reached: errors do not hold */
} sx_solution_state;

/* sx_solution_state_name - "ok" and so on. */
SX_API const char *sx_solution_state_name(sx_solution_state state);

/* Parameters with their errors. What is not known is NaN: the error of a parameter at the end of its
 * range, or of one that takes part in a null direction. */
typedef struct sx_solution {
    const sx_theory *theory;
    sx_solution_state state;
    double parameters[SX_THEORY_PARAMETERS];                        /* normalised, 0 to 1 */
    double errors[SX_THEORY_PARAMETERS];                            /* 1 sigma, normalised */
    double covariance[SX_THEORY_PARAMETERS * SX_THEORY_PARAMETERS]; /* [P][P], normalised */
    /* Unit vectors [null_count][P], normalised, along which parameters may move without a change of
     * any density's shape (and norms, where these are known). */
    int null_count;
    double null_directions[SX_THEORY_PARAMETERS * SX_THEORY_PARAMETERS];
    int64_t events,
        outside; /* events in all; points of channels out of their box, or NaN: left out */
    int iterations;
    double value;    /* minus log likelihood */
    double distance; /* estimated, to the minimum, in the same units: 0.5 is one sigma */
} sx_solution;

/* All zero, or NULL: defaults. */
typedef struct sx_likelihood_options {
    bool no_norms; /* learn from the shape of densities alone */
    const sx_context *context;
} sx_likelihood_options;

/* sx_sagips_likelihood - the parameters under which events are most likely (extended maximum
 * likelihood), with errors from the Fisher matrix.
 *
 * in   events  [N][columns] F32 in C order
 * in   norms   [channels] measured integrals of the densities; NULL with no_norms
 *
 * Each parameter is kept within its range. The bits do not depend on the number of threads.
 * SX_ERR_SHAPE, SX_ERR_TYPE, SX_ERR_RANGE (no event in the box), SX_ERR_MISSING (norms),
 * SX_ERR_NUMERIC, SX_ERR_MEMORY, SX_ERR_CANCELLED. Theory: docs/theory/likelihood.md. */
SX_API sx_status sx_sagips_likelihood(const sx_theory *theory, const sx_array *events,
                                      const double *norms, const sx_likelihood_options *options,
                                      sx_solution *solution);

typedef struct sx_sagips_solve_options {
    const char *theory; /* NULL: named in the file */
    bool no_norms;
    bool overwrite;
} sx_sagips_solve_options;

/* sx_sagips_solve - the same for a file of events of any size, which is read in shards; writes
 * solution.h5 (docs/man/sextant-solution.h5).
 *
 * out  solution  NULL allowed
 *
 * As sx_sagips_likelihood; SX_ERR_FORMAT, SX_ERR_EXISTS, SX_ERR_IO. */
SX_API sx_status sx_sagips_solve(const char *events, const sx_sagips_solve_options *options,
                                 const char *output, const sx_context *context,
                                 sx_solution *solution);

#ifdef __cplusplus
}
#endif
#endif
