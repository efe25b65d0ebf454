/* SPDX-License-Identifier: Apache-2.0
 * One model fitted to many traces at once, several to a vector register. What comes out is what
 * sx_lm_run of sextant/lm.h finds trace by trace. */
#ifndef SEXTANT_LM_BATCH_H
#define SEXTANT_LM_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SX_LM_MAX_PARAMETERS 8

typedef struct sx_lm_model {
    const char *name;    /* "decay" */
    const char *formula; /* "b1 exp(-b2 x) + b3" */
    int parameters;      /* b1, b2, ...; at most SX_LM_MAX_PARAMETERS */
    int inputs;          /* numbers that make an x */
} sx_lm_model;

/* sx_lm_model_get - the models there are, from number 0 on; NULL after the last. */
SX_API const sx_lm_model *sx_lm_model_get(int number);

/* What became of a trace: X(name, value, word, sentence). Only OK may be used without a second
 * look. */
#define SX_LM_TRACE_LIST(X)                                                                        \
    X(OK, 0, "ok", "fitted, errors hold")                                                          \
    X(MASKED, 1, "masked", "no sample may be used")                                                \
    X(TOO_FEW, 2, "too_few_samples", "fewer usable samples than parameters")                       \
    X(NO_SIGNAL, 3, "no_signal", "all usable samples are equal")                                   \
    X(UNDEFINED, 4, "undefined", "the start, or the model there, is not finite")                   \
    X(NOT_CONVERGED, 5, "not_converged", "no minimum was reached")                                 \
    X(SINGULAR, 6, "singular", "parameters cannot be told apart, no covariance")                   \
    X(AT_BOUND, 7, "at_bound", "a parameter ended at a bound, the others are fitted")

typedef enum sx_lm_trace {
#define SX_LM_TRACE_ENUM(name, value, word, sentence) SX_LM_TRACE_##name = value,
    SX_LM_TRACE_LIST(SX_LM_TRACE_ENUM)
#undef SX_LM_TRACE_ENUM
} sx_lm_trace;

/* What to fit. */
typedef struct sx_lm_batch {
    const char *model;   /* its name */
    int64_t n;           /* samples of a trace, 1 .. 2^20 */
    const double *x;     /* [n][inputs] finite, shared by all traces */
    int64_t traces;      /* >= 0 */
    const double *y;     /* [traces][n]; NaN or infinite: missing */
    const double *sigma; /* [traces][n] 1-sigma errors; NaN, infinite or <= 0: missing. NULL: 1 */
    const double *start; /* [traces][parameters], moved to the nearest bound if outside */
    bool one_start;      /* start is [parameters], the same for every trace */
    bool absolute_sigma; /* errors from sigma as it is; false: times sqrt(chi2 / (used - fitted)) */
    const double *lower; /* [parameters] bounds; NULL: none. Equal bounds hold a parameter */
    const double *upper; /* [parameters] */
    double tolerance;    /* longest undamped step, in standard deviations; 0: 1e-9 */
} sx_lm_batch;

/* The fit of one trace. What was not determined is NaN; so are parameters the model does not have.
 */
typedef struct sx_lm_fit {
    double b[SX_LM_MAX_PARAMETERS];
    double error[SX_LM_MAX_PARAMETERS]; /* 1 sigma; 0 at a bound */
    double chi2;                        /* sum of ((y - model) / sigma)^2 */
    int32_t used;                       /* samples that entered */
    uint16_t evaluations;               /* of the model */
    uint8_t state;                      /* sx_lm_trace */
    bool exact;                         /* sx_lm_run had to decide */
} sx_lm_fit;

/* sx_lm_batch_run - fits every trace.
 *
 * in   batch
 * out  fit         [traces]
 * out  covariance  [traces][parameters][parameters], scaled as the errors; NULL: not wanted
 *
 * Traces are fitted by normal equations. One that is not plainly at a minimum after that, whose
 * parameters nearly depend on each other, or that leaves no residual, is fitted again by sx_lm_run.
 * Neither units, nor the place of a trace among others, nor the instruction set change a result by
 * more than rounding. Where chi2 has several minima, which one is reached from a start that is far
 * from all is not promised.
 *
 * SX_ERR_ARGUMENT, SX_ERR_RANGE: outputs are as before. SX_ERR_MEMORY: they mean nothing. One
 * thread; call it from several on distinct outputs.
 * Theory: docs/theory/lm.md. */
SX_API sx_status sx_lm_batch_run(const sx_lm_batch *batch, sx_lm_fit *fit, double *covariance);

#ifdef __cplusplus
}
#endif
#endif
