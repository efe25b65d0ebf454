/* SPDX-License-Identifier: Apache-2.0
 * Damped cosines in many traces at once:
 *
 *   y(t) = background(t) + sum_k A_k exp(-g_k t') cos(2 pi f_k t' + p_k),   t' = t - t0
 *
 * with A >= 0, 0 < f, p in (-pi, pi]. Theory: docs/theory/dcos.md. */
#ifndef SEXTANT_DCOS_H
#define SEXTANT_DCOS_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/context.h>
#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SX_DCOS_MAX_MODES 4

/* What became of a trace: X(name, value, word, sentence). Only OK may be used without a second
 * look. */
#define SX_DCOS_STATE_LIST(X)                                                                      \
    X(OK, 0, "ok", "fitted, errors hold")                                                          \
    X(MASKED, 1, "masked", "no sample may be used")                                                \
    X(TOO_FEW, 2, "too_few_samples", "fewer usable samples than parameters need")                  \
    X(NO_SIGNAL, 3, "no_signal", "all usable samples are equal")                                   \
    X(NOT_CONVERGED, 4, "not_converged", "the minimiser did not reach a minimum")                  \
    X(SINGULAR, 5, "singular", "parameters cannot be told apart, no covariance")                   \
    X(AT_BOUND, 6, "at_bound", "a frequency, decay or time constant ended at its bound")           \
    X(DEGENERATE, 7, "degenerate",                                                                 \
      "near zero frequency or Nyquist, overdamped, amplitude below 3 sigma, or two modes closer "  \
      "than 0.5 / T: errors do not hold")                                                          \
    X(AMBIGUOUS, 8, "ambiguous", "another frequency fits as well (delta chi2 < 4)")                \
    X(INSIGNIFICANT, 9, "insignificant",                                                           \
      "the number of modes was demanded, noise explains as much")                                  \
    X(UNEXPLAINED, 10, "unexplained",                                                              \
      "what is left over is not the noise: neighbouring residuals are alike, or chi2 is above 4 "  \
      "where errors are absolute; errors do not hold")

typedef enum sx_dcos_state {
#define SX_DCOS_STATE_ENUM(name, value, word, sentence) SX_DCOS_##name = value,
    SX_DCOS_STATE_LIST(SX_DCOS_STATE_ENUM)
#undef SX_DCOS_STATE_ENUM
} sx_dcos_state;

/* sx_dcos_state_word, sx_dcos_state_sentence - of a state; NULL for a number that is none. */
SX_API const char *sx_dcos_state_word(int state);
SX_API const char *sx_dcos_state_sentence(int state);

typedef enum sx_dcos_background {
    SX_BACKGROUND_CONSTANT, /* c */
    SX_BACKGROUND_NONE,     /* 0 */
    SX_BACKGROUND_LINEAR,   /* c + slope t' */
    SX_BACKGROUND_EXP       /* c + amplitude exp(-t' / time) */
} sx_dcos_background;

typedef enum sx_dcos_init {
    SX_INIT_BANK,   /* damped matched filters; any delays */
    SX_INIT_ESPRIT, /* subspace rotation; uniform delays, traces with gaps take the bank */
    SX_INIT_LPSVD   /* backward linear prediction, truncated SVD; as ESPRIT */
} sx_dcos_init;

typedef enum sx_dcos_scale {
    SX_SCALE_AUTO,     /* absolute where sigma is given, else residual */
    SX_SCALE_ABSOLUTE, /* errors from sigma as it is */
    SX_SCALE_RESIDUAL  /* errors times sqrt(chi2 / degrees of freedom) */
} sx_dcos_scale;

/* Kernels that fit traces side by side. Results do not depend on them by more than rounding. */
typedef enum sx_dcos_backend {
    SX_BACKEND_AUTO,   /* what the environment variable SX_CPU names, else the best there is */
    SX_BACKEND_C,      /* plain C, any processor */
    SX_BACKEND_AVX2,   /* with FMA */
    SX_BACKEND_AVX512, /* f, bw, dq, vl */
    SX_BACKEND_CUDA    /* minima by a GPU, the rest, and uneven delays with equal weights, by the
                          processor */
} sx_dcos_backend;

typedef enum sx_dcos_precision {
    SX_PRECISION_DOUBLE,
    SX_PRECISION_MIXED /* sums in single precision on the way, double at the end */
} sx_dcos_precision;

/* All zero, or NULL: every default. */
typedef struct sx_dcos_options {
    bool fixed_modes;              /* true: exactly `modes`; false: as many as are significant */
    int modes;                     /* with fixed_modes: 0 .. SX_DCOS_MAX_MODES */
    int max_modes;                 /* without: at most this many; 0: SX_DCOS_MAX_MODES */
    sx_dcos_background background; /* constant */
    sx_dcos_init init;             /* bank */
    sx_dcos_scale scale;           /* auto */
    sx_dcos_backend backend;       /* auto */
    sx_dcos_precision precision;   /* double */
    double t0;                     /* time zero: phases and amplitudes refer to it; 0 */
    double t_start;                /* samples before it are left out; if has_t_start, else t0 */
    bool has_t_start;
} sx_dcos_options;

/* One mode, value and 1-sigma error. Units follow those of t: t in ps gives f in THz. */
typedef struct sx_dcos_mode {
    double frequency, amplitude, decay, phase;
    double frequency_error, amplitude_error, decay_error, phase_error;
} sx_dcos_mode;

/* The fit of one trace. What was not determined is NaN. */
typedef struct sx_dcos_fit {
    sx_dcos_mode mode[SX_DCOS_MAX_MODES]; /* by increasing frequency; the rest NaN */
    double offset, offset_error;
    double background_slope, background_slope_error;
    double background_amplitude, background_amplitude_error;
    double background_time, background_time_error;
    double chi2; /* sum of squares over degrees of freedom, each over sigma^2 if given; NaN, and the
                    state is SINGULAR, where squares overflow */
    double frequency_other; /* of the second minimum of an ambiguous trace */
    int32_t used;           /* samples that entered */
    uint16_t iterations;    /* evaluations of the model in the final fit */
    uint8_t modes;
    uint8_t state; /* sx_dcos_state */
} sx_dcos_fit;

/* What is the same for every trace of a call: tables of start values, options checked. Read-only
 * after creation, shared by threads. */
typedef struct sx_dcos_plan sx_dcos_plan;

/* sx_dcos_plan_create - prepares to fit traces on the delays t.
 *
 * in   nt       number of delays, 1 .. 2^20
 * in   t        [nt]  increasing, finite
 * in   options  NULL: defaults
 * out  plan     NULL on failure
 *
 * SX_ERR_ARGUMENT (options), SX_ERR_RANGE (delays), SX_ERR_UNSUPPORTED (backend), SX_ERR_MEMORY. */
SX_API sx_status sx_dcos_plan_create(int64_t nt, const double *t, const sx_dcos_options *options,
                                     sx_dcos_plan **plan);
SX_API void sx_dcos_plan_destroy(sx_dcos_plan **plan);

/* sx_dcos_plan_backend - word of the kernels in use, "avx512"; "none" where every trace goes through
 * the exact core: backgrounds linear and exp, start values of linear prediction, few delays. */
SX_API const char *sx_dcos_plan_backend(const sx_dcos_plan *plan);

/* sx_dcos_plan_used - number of delays at or after t_start. sx_dcos_plan_window - lowest and
 * highest frequency that is searched: 0.5 / span and 0.5 / median spacing of those delays. */
SX_API int64_t sx_dcos_plan_used(const sx_dcos_plan *plan);
SX_API void sx_dcos_plan_window(const sx_dcos_plan *plan, double *lowest, double *highest);

/* sx_dcos_fit_tile - fits every trace of a tile.
 *
 * in   plan
 * in   npix      number of traces
 * in   y         [npix][nt]  NaN: missing
 * in   sigma     [npix][nt]  1-sigma errors; NaN, infinite or <= 0: missing. NULL: unknown
 * in   weight    [nt]  relative weights shared by all traces (used only if sigma is NULL); NULL: 1
 * in   start     [npix]  NULL, or fits: each trace goes straight from these modes to the nearest
 *                minimum, without a search. Fast, and wrong where the start is in another basin
 * out  fit       [npix]
 *
 * SX_ERR_MEMORY. One thread; call it from several on distinct outputs. The result of a trace does
 * not depend on its neighbours in the tile. */
SX_API sx_status sx_dcos_fit_tile(const sx_dcos_plan *plan, int64_t npix, const double *y,
                                  const double *sigma, const double *weight,
                                  const sx_dcos_fit *start, sx_dcos_fit *fit);

/* sx_dcos_model - the fitted curve at nt times: y [nt]. */
SX_API void sx_dcos_model(const sx_dcos_fit *fit, double t0, int64_t nt, const double *t,
                          double *y);

#ifdef __cplusplus
}
#endif
#endif
