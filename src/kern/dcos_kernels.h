/* SPDX-License-Identifier: Apache-2.0
 * Kernels of the damped-cosine fit for bundles of traces, lanes = traces. Coordinates are those of
 * numer/dcos.h: x from 0 to 1 over the used delays, frequencies f in cycles, decays g in e-foldings
 * over that span.
 *
 *   y(x) ~ c + sum_j a_j u_j + b_j v_j,   z_j = u_j + i v_j = exp(s_j x),   s_j = -g_j + 2 pi i f_j
 *
 * For given (g, f) the rest is linear least squares, and the sum of squares that is left, its
 * gradient and its second derivatives follow from a few sums over the samples. Kernels that make the
 * sums know about delays and weights; kernels that use them do not. Theory: docs/theory/dcos.md. */
#ifndef SXI_DCOS_KERNELS_H
#define SXI_DCOS_KERNELS_H

#include <stdint.h>

#include "kern/lanes.h"

enum {
    SXI_DCOS_MOST_MODES = 4,
    SXI_DCOS_MOST_THETA = 2 * SXI_DCOS_MOST_MODES,
    SXI_DCOS_MOST_COLUMNS = 1 + 2 * SXI_DCOS_MOST_MODES,
    SXI_DCOS_PAIRS = SXI_DCOS_MOST_MODES * (SXI_DCOS_MOST_MODES + 1) / 2,
    SXI_DCOS_TRIANGLE = SXI_DCOS_MOST_THETA * (SXI_DCOS_MOST_THETA + 1) / 2
};

/* As the sum of weights of a constant it leaves nothing of it: its coefficient comes out as 0. */
#define SXI_DCOS_NO_CONSTANT 1e300

/* Sums with powers x^m, m = 0, 1, 2, real and imaginary part, of each trace. w: the weights of the
 * samples. Pair j <= k is number k (k + 1) / 2 + j. */
typedef double sxi_dcos_sum[3][2][SXI_BUNDLE];
typedef struct sxi_dcos_sums {
    sxi_dcos_sum z[SXI_DCOS_MOST_MODES];   /* w y x^m z_j */
    sxi_dcos_sum one[SXI_DCOS_MOST_MODES]; /* w x^m z_j */
    sxi_dcos_sum plus[SXI_DCOS_PAIRS];     /* w x^m z_j z_k */
    sxi_dcos_sum minus[SXI_DCOS_PAIRS];    /* w x^m z_j conj(z_k) */
} sxi_dcos_sums;

SX_FN int sxi_dcos_pair(int j, int k) { return k * (k + 1) / 2 + j; }

/* The box of the parameters and the end of a minimisation. */
typedef struct sxi_dcos_box {
    double decay_least, decay_most;
    double frequency_least, frequency_most;
    double tolerance; /* standard deviations from the minimum that are near enough */
    double blind;     /* sums of squares that differ by this part of the trace are equal */
} sxi_dcos_box;

/* The traces of a bundle and where their minimisations stand. */
typedef struct sxi_dcos_bundle {
    double theta[SXI_DCOS_MOST_THETA][SXI_BUNDLE]; /* to be evaluated: g_0, f_0, g_1, ... */
    double yy[SXI_BUNDLE];                         /* sum of w y^2; sum of w y is 0 */
    double total[SXI_BUNDLE];   /* sum of w; SXI_DCOS_NO_CONSTANT: none is fitted */
    double freedom[SXI_BUNDLE]; /* samples less parameters */
    double worth[SXI_BUNDLE];   /* a minimum whose rss is above this is of no use */
    /* the best point so far: */
    double best[SXI_DCOS_MOST_THETA][SXI_BUNDLE];
    double coefficient[SXI_DCOS_MOST_COLUMNS][SXI_BUNDLE]; /* c, a_0, b_0, a_1, ... */
    double rss[SXI_BUNDLE];
    double downhill[SXI_DCOS_MOST_THETA][SXI_BUNDLE]; /* - gradient of rss / 2 */
    double matrix[SXI_DCOS_TRIANGLE][SXI_BUNDLE];     /* second derivatives of rss / 2, by rows */
    double lambda[SXI_BUNDLE];
    double decrement[SXI_BUNDLE]; /* what the last step would still take off rss / 2, times 2 */
    double evaluations[SXI_BUNDLE];
    uint32_t fresh;   /* lanes whose theta is a start */
    uint32_t running; /* lanes that are not done */
    uint32_t failed;  /* lanes that are done without a minimum */
    uint32_t frozen;  /* lanes with a parameter at its bound */
    uint32_t useless; /* lanes that failed because they will not come below worth */
} sxi_dcos_bundle;

/* A fit at its minimum, with the covariance of its parameters: the linear ones, then theta. Not
 * scaled by the variance of a sample. */
enum { SXI_DCOS_PARAMETERS = SXI_DCOS_MOST_COLUMNS + SXI_DCOS_MOST_THETA };
typedef struct sxi_dcos_errors {
    double covariance[SXI_DCOS_PARAMETERS * (SXI_DCOS_PARAMETERS + 1) / 2][SXI_BUNDLE];
    uint32_t singular; /* lanes without a covariance */
} sxi_dcos_errors;

/* Even delays x_i = i dx. */
enum { SXI_DCOS_MOMENTS = 17 };
typedef struct sxi_dcos_even {
    int64_t n; /* at least 8 */
    double dx;
    double moment[SXI_DCOS_MOMENTS]; /* sums of x^m */
} sxi_dcos_even;

/* sxi_dcos_even_make - fills the moments. */
void sxi_dcos_even_make(int64_t n, double dx, sxi_dcos_even *even);

/* Any delays. */
typedef struct sxi_dcos_delays {
    int64_t n;
    const double *x; /* [n] */
    double dx;       /* x_i = i dx; 0: not even */
} sxi_dcos_delays;

/* Delays, of any spacing, and weights that all traces share (numer/dcos_shared.h makes it).
 *
 * Sums with y: a trace is spread once from its delays to an even grid, and the sums over that grid
 * are turned into those over the delays. Sums without y are one function of a complex s for all
 * traces,
 *
 *   G(s) = sum w exp(s x),  its derivatives are the sums with x^m,   s = -g + 2 pi i f,
 *
 * which is tabulated by its Taylor series about points of the (g, f) plane. */
enum { SXI_DCOS_TERMS = 20, SXI_DCOS_ROW = 2 * SXI_DCOS_TERMS, SXI_DCOS_MOST_LEVELS = 32 };
enum { SXI_DCOS_TAPS = 16, SXI_DCOS_WINDOW = 24, SXI_DCOS_WINDOW_SINGLE = 32 };

/* Points of one decay: series about frequencies 0, step, 2 step, ..., negative ones by symmetry. */
typedef struct sxi_dcos_level {
    double edge;  /* serves decays from here to the edge of the next level */
    double decay; /* of its points */
    double step, per_step;
    double middle;      /* the series is one of exp(-s middle) G(s): 0.5 or 0 */
    double first, last; /* rows of frequency 0 and of the highest */
} sxi_dcos_level;

typedef struct sxi_dcos_shared {
    int64_t n;                             /* delays */
    int64_t samples, room;                 /* of the grid; rounded up to whole windows */
    double first, dx;                      /* grid: x = first + i dx */
    double sharpness, reach;               /* of the kernel, Kaiser-Bessel; 0: nothing to spread */
    double frequency_most, decay_most;     /* what it serves */
    int64_t used;                          /* delays whose weight is not 0: */
    const int32_t *sample;                 /* [used] */
    const int32_t *window, *window_single; /* [room / 8 or 16 + 1] samples up to each block */
    const double *tap;                     /* [used][SXI_DCOS_WINDOW], times the weight */
    const float *tap_single;               /* [used][SXI_DCOS_WINDOW_SINGLE] */
    int levels;
    sxi_dcos_level level[SXI_DCOS_MOST_LEVELS];
    const double *rows; /* [..][SXI_DCOS_ROW] real, then imaginary parts of the coefficients */
} sxi_dcos_shared;

/* One instruction set. lanes: bits of the traces to work on; others may be computed too, their
 * results mean nothing. */
typedef struct sxi_dcos_kernels {
    const char *name; /* "c", "avx2", "avx512" */

    /* Rows [SXI_BUNDLE] of [n] into the lanes that are set: y [n][SXI_BUNDLE] = (row - shift) *
     * part, shift and part [SXI_BUNDLE]. Other rows may be NULL, other lanes keep what they have. */
    void (*fill)(int64_t n, const double *const *row, const double *shift, const double *part,
                 uint32_t lanes, double *y);
    void (*fill_single)(int64_t n, const double *const *row, const double *shift,
                        const double *part, uint32_t lanes, float *y);

    /* All sums of traces on even delays with weights 1, from y [n][SXI_BUNDLE]. Frequencies must
     * keep away from 0 and 0.5 / dx by 0.05 cycles. `single` takes y in single precision and sums z
     * in it. */
    void (*even)(int modes, const sxi_dcos_even *grid, const double *y, uint32_t lanes,
                 const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums);
    void (*even_single)(int modes, const sxi_dcos_even *grid, const float *y, uint32_t lanes,
                        const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums);

    /* All sums of traces with weights w of their own, w and y [n][SXI_BUNDLE]. A sample with weight 0
     * is missing, its y any finite number. Frequencies may be anywhere. */
    void (*direct)(int modes, const sxi_dcos_delays *delays, const double *w, const double *y,
                   uint32_t lanes, const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums);

    /* From theta and coefficients: r [n][SXI_BUNDLE] = w (y - model), what a search takes, and
     * neighbour [SXI_BUNDLE], the sum of (s_i r_i) (s_{i+1} r_{i+1}) with r = y - model and s the
     * root of w, in single precision. w, in [0, 1e38], may be NULL for 1. modes may be 0. */
    void (*residual)(int modes, const sxi_dcos_delays *delays, const double *w, const double *y,
                     uint32_t lanes, const sxi_dcos_bundle *bundle, float *r, double *neighbour);

    /* Spreads traces of [n] samples, less their mean, to rows of [room], of which [samples] are the
     * grid's. Samples of weight 0 are not read. */
    void (*spread)(const sxi_dcos_shared *shared, int64_t count, const double *const *y,
                   double *const *grid);
    void (*spread_single)(const sxi_dcos_shared *shared, int64_t count, const float *const *y,
                          float *const *grid);

    /* All sums of traces that share delays and weights, from the spread y [samples][SXI_BUNDLE].
     * Frequencies lie in 0.05 .. shared->frequency_most, decays up to shared->decay_most. */
    void (*shared)(int modes, const sxi_dcos_shared *shared, const double *y, uint32_t lanes,
                   const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums);
    void (*shared_single)(int modes, const sxi_dcos_shared *shared, const float *y, uint32_t lanes,
                          const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums);

    /* Takes the sums at theta, keeps the better point, and sets theta to the next; what is within
     * tolerance of its minimum, or will not get there, leaves running. best + the last step is then
     * in theta. */
    void (*step)(int modes, const sxi_dcos_box *box, const sxi_dcos_sums *sums,
                 sxi_dcos_bundle *bundle);

    /* From the sums at theta: coefficients, rss, downhill, the Gauss-Newton matrix (into matrix),
     * and the covariance. */
    void (*errors)(int modes, const sxi_dcos_sums *sums, uint32_t lanes, sxi_dcos_bundle *bundle,
                   sxi_dcos_errors *errors);
} sxi_dcos_kernels;

/* sxi_dcos_kernels_find - by name; NULL: this machine, or this build, has none of it.
 * sxi_dcos_kernels_variant - number 0 is plain C; NULL from the first number on that is none. What
 * this machine cannot run is left out, and later is faster. */
const sxi_dcos_kernels *sxi_dcos_kernels_find(const char *name);
const sxi_dcos_kernels *sxi_dcos_kernels_variant(int number);

#endif
