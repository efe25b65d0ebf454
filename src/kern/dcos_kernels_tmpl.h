/* SPDX-License-Identifier: Apache-2.0
 * The kernels of one instruction set, from bodies that know nothing of it: the table KERNELS, called
 * KERNELS_NAME. */
/* GCC 12 does not see that loops with a known end fill what they read. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(__clang__)
#define SX_UNROLL _Pragma("unroll")
#define SX_UNROLL_TWICE _Pragma("unroll 2")
#else
#define SX_UNROLL _Pragma("GCC unroll 8")
#define SX_UNROLL_TWICE _Pragma("GCC unroll 2")
#endif

#include "kern/dcos_direct.kern.h"
#include "kern/dcos_errors.kern.h"
#include "kern/dcos_even.kern.h"
#include "kern/dcos_fill.kern.h"
#include "kern/dcos_kernels.h"
#include "kern/dcos_shared.kern.h"

#include "kern/lanes_double.h"
#define SPREAD_BLOCK 8
#define SPREAD_WINDOW SXI_DCOS_WINDOW
#include "kern/dcos_divide_tmpl.h"
#include "kern/dcos_spread_tmpl.h"
#undef SPREAD_BLOCK
#undef SPREAD_WINDOW
#undef NAME
#undef SCALAR
#undef VECTOR
#undef WIDTH
#undef V_SET
#undef V_LOAD
#undef V_STORE
#undef V_KEEP
#undef V_FMA
#undef V_FNMA

#define NAME(x) x##_single
#define SCALAR float
#if defined(SX_LANES_AVX512)
#define VECTOR __m512
#define WIDTH 16
#define V_SET(x) _mm512_set1_ps(x)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_KEEP(p, v) _mm512_storeu_ps(p, v)
#define V_STORE(p, v)                                                                              \
    do {                                                                                           \
        _mm512_storeu_pd(p, _mm512_cvtps_pd(_mm512_castps512_ps256(v)));                           \
        _mm512_storeu_pd((p) + 8, _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));                  \
    } while (0)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#elif defined(SX_LANES_AVX2)
#define VECTOR __m256
#define WIDTH 8
#define V_SET(x) _mm256_set1_ps(x)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_KEEP(p, v) _mm256_storeu_ps(p, v)
#define V_STORE(p, v)                                                                              \
    do {                                                                                           \
        _mm256_storeu_pd(p, _mm256_cvtps_pd(_mm256_castps256_ps128(v)));                           \
        _mm256_storeu_pd((p) + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));                   \
    } while (0)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#else
#define VECTOR float
#define WIDTH 1
#define V_SET(x) ((float)(x))
#define V_LOAD(p) (*(p))
#define V_KEEP(p, v) (*(p) = (v))
#define V_STORE(p, v) (*(p) = (double)(v))
#define V_FMA(a, b, c) ((a) * (b) + (c))
#define V_FNMA(a, b, c) ((c) - (a) * (b))
#endif
#define SPREAD_BLOCK 16
#define SPREAD_WINDOW SXI_DCOS_WINDOW_SINGLE
#include "kern/dcos_divide_tmpl.h"
#include "kern/dcos_spread_tmpl.h"

SX_FN void factors(const int modes, double dx, const sxi_dcos_bundle *bundle,
                   double (*middle)[SXI_BUNDLE], double (*square)[SXI_BUNDLE]) {
    for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {
        sx_divide_factors(modes, dx, bundle, lane, middle, square);
    }
}

/* The same rounded to single precision. */
SX_FN void factors_single(const int modes, double dx, const sxi_dcos_bundle *bundle,
                          float (*r)[SXI_BUNDLE], float (*q)[SXI_BUNDLE]) {
    double middle[SXI_DCOS_MOST_MODES][SXI_BUNDLE], square[SXI_DCOS_MOST_MODES][SXI_BUNDLE];
    factors(modes, dx, bundle, middle, square);
    for (int k = 0; k < modes; k++) {
        for (int l = 0; l < SXI_BUNDLE; l++) {
            r[k][l] = (float)middle[k][l];
            q[k][l] = (float)square[k][l];
        }
    }
}

SX_FN int wanted(uint32_t lanes, int lane) {
    const uint32_t group = (UINT32_C(1) << SX_LANES) - 1;
    return (lanes >> lane & group) != 0;
}

/* What the divisions of all modes leave. */
SX_FN void divisions(const int modes, double dx, int64_t n, const double *y, uint32_t lanes,
                     const sxi_dcos_bundle *bundle, sxi_dcos_remainder *rest) {
    double middle[SXI_DCOS_MOST_MODES][SXI_BUNDLE], square[SXI_DCOS_MOST_MODES][SXI_BUNDLE];
    factors(modes, dx, bundle, middle, square);
    divide_double(modes, n, y, middle, square, lanes, rest);
}

SX_FN void divisions_single(const int modes, double dx, int64_t n, const float *y, uint32_t lanes,
                            const sxi_dcos_bundle *bundle, sxi_dcos_remainder *rest) {
    float r[SXI_DCOS_MOST_MODES][SXI_BUNDLE], q[SXI_DCOS_MOST_MODES][SXI_BUNDLE];
    factors_single(modes, dx, bundle, r, q);
    divide_single(modes, n, y, r, q, lanes, rest);
}

SX_FN void even_sums(const int modes, const sxi_dcos_even *grid, sxi_dcos_remainder *rest,
                     uint32_t lanes, const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {
        if (wanted(lanes, lane)) {
            sx_even_sums(modes, grid, rest, bundle, lane, sums);
        }
    }
}

SX_FN void shared_sums(const int modes, const sxi_dcos_shared *grid, sxi_dcos_remainder *rest,
                       uint32_t lanes, const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {
        if (wanted(lanes, lane)) {
            sx_shared_sums(modes, grid, rest, bundle, lane, sums);
        }
    }
}

SX_FN void even_modes(const int modes, const sxi_dcos_even *grid, const double *y, uint32_t lanes,
                      const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    sxi_dcos_remainder rest[SXI_DCOS_MOST_MODES];
    divisions(modes, grid->dx, grid->n, y, lanes, bundle, rest);
    even_sums(modes, grid, rest, lanes, bundle, sums);
}

SX_FN void even_single_modes(const int modes, const sxi_dcos_even *grid, const float *y,
                             uint32_t lanes, const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    sxi_dcos_remainder rest[SXI_DCOS_MOST_MODES];
    divisions_single(modes, grid->dx, grid->n, y, lanes, bundle, rest);
    even_sums(modes, grid, rest, lanes, bundle, sums);
}

SX_FN void shared_modes(const int modes, const sxi_dcos_shared *grid, const double *y,
                        uint32_t lanes, const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    sxi_dcos_remainder rest[SXI_DCOS_MOST_MODES];
    divisions(modes, grid->dx, grid->samples, y, lanes, bundle, rest);
    shared_sums(modes, grid, rest, lanes, bundle, sums);
}

SX_FN void shared_single_modes(const int modes, const sxi_dcos_shared *grid, const float *y,
                               uint32_t lanes, const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    sxi_dcos_remainder rest[SXI_DCOS_MOST_MODES];
    divisions_single(modes, grid->dx, grid->samples, y, lanes, bundle, rest);
    shared_sums(modes, grid, rest, lanes, bundle, sums);
}

SX_FN void step_modes(const int modes, const sxi_dcos_box *box, const sxi_dcos_sums *sums,
                      sxi_dcos_bundle *bundle) {
    for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {
        if (wanted(bundle->running, lane)) {
            sx_step(modes, box, sums, lane, bundle);
        }
    }
    bundle->fresh = 0;
}

SX_FN void errors_modes(const int modes, const sxi_dcos_sums *sums, uint32_t lanes,
                        sxi_dcos_bundle *bundle, sxi_dcos_errors *errors) {
    for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {
        if (wanted(lanes, lane)) {
            sx_errors(modes, sums, lane, bundle, errors);
        }
    }
}

/* One function per number of modes, so that loops over modes have a known end. */
#define PER_MODES(function, parameters, ...)                                                       \
    SX_TARGET static void function##_1 parameters { function##_modes(1, __VA_ARGS__); }            \
    SX_TARGET static void function##_2 parameters { function##_modes(2, __VA_ARGS__); }            \
    SX_TARGET static void function##_3 parameters { function##_modes(3, __VA_ARGS__); }            \
    SX_TARGET static void function##_4 parameters { function##_modes(4, __VA_ARGS__); }
#define CHOOSE(function, modes, ...)                                                               \
    switch (modes) {                                                                               \
    case 1:                                                                                        \
        function##_1(__VA_ARGS__);                                                                 \
        break;                                                                                     \
    case 2:                                                                                        \
        function##_2(__VA_ARGS__);                                                                 \
        break;                                                                                     \
    case 3:                                                                                        \
        function##_3(__VA_ARGS__);                                                                 \
        break;                                                                                     \
    default:                                                                                       \
        function##_4(__VA_ARGS__);                                                                 \
    }

PER_MODES(even,
          (const sxi_dcos_even *grid, const double *y, uint32_t lanes,
           const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums),
          grid, y, lanes, bundle, sums)
PER_MODES(even_single,
          (const sxi_dcos_even *grid, const float *y, uint32_t lanes, const sxi_dcos_bundle *bundle,
           sxi_dcos_sums *sums),
          grid, y, lanes, bundle, sums)
PER_MODES(shared,
          (const sxi_dcos_shared *grid, const double *y, uint32_t lanes,
           const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums),
          grid, y, lanes, bundle, sums)
PER_MODES(shared_single,
          (const sxi_dcos_shared *grid, const float *y, uint32_t lanes,
           const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums),
          grid, y, lanes, bundle, sums)
PER_MODES(step, (const sxi_dcos_box *box, const sxi_dcos_sums *sums, sxi_dcos_bundle *bundle), box,
          sums, bundle)
PER_MODES(errors,
          (const sxi_dcos_sums *sums, uint32_t lanes, sxi_dcos_bundle *bundle,
           sxi_dcos_errors *errors),
          sums, lanes, bundle, errors)

static void even(int modes, const sxi_dcos_even *grid, const double *y, uint32_t lanes,
                 const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    CHOOSE(even, modes, grid, y, lanes, bundle, sums)
}

static void even_single(int modes, const sxi_dcos_even *grid, const float *y, uint32_t lanes,
                        const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    CHOOSE(even_single, modes, grid, y, lanes, bundle, sums)
}

static void spread(const sxi_dcos_shared *grid, int64_t count, const double *const *y,
                   double *const *out) {
    spread_all_double(grid->room / 8, grid->window, grid->sample, grid->tap, count, y, out);
}

static void spread_single(const sxi_dcos_shared *grid, int64_t count, const float *const *y,
                          float *const *out) {
    spread_all_single(grid->room / 16, grid->window_single, grid->sample, grid->tap_single, count,
                      y, out);
}

static void shared(int modes, const sxi_dcos_shared *grid, const double *y, uint32_t lanes,
                   const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    CHOOSE(shared, modes, grid, y, lanes, bundle, sums)
}

static void shared_single(int modes, const sxi_dcos_shared *grid, const float *y, uint32_t lanes,
                          const sxi_dcos_bundle *bundle, sxi_dcos_sums *sums) {
    CHOOSE(shared_single, modes, grid, y, lanes, bundle, sums)
}

static void step(int modes, const sxi_dcos_box *box, const sxi_dcos_sums *sums,
                 sxi_dcos_bundle *bundle) {
    CHOOSE(step, modes, box, sums, bundle)
}

static void errors(int modes, const sxi_dcos_sums *sums, uint32_t lanes, sxi_dcos_bundle *bundle,
                   sxi_dcos_errors *out) {
    CHOOSE(errors, modes, sums, lanes, bundle, out)
}

static SX_TARGET void direct(int modes, const sxi_dcos_delays *delays, const double *w,
                             const double *y, uint32_t lanes, const sxi_dcos_bundle *bundle,
                             sxi_dcos_sums *sums) {
    for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {
        if (wanted(lanes, lane)) {
            sx_direct_sums(modes, delays, w, y, lane, bundle, sums);
        }
    }
}

static SX_TARGET void residual(int modes, const sxi_dcos_delays *delays, const double *w,
                               const double *y, uint32_t lanes, const sxi_dcos_bundle *bundle,
                               float *r, double *neighbour) {
    for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {
        if (wanted(lanes, lane)) {
            sx_direct_residual(modes, delays, w, y, lane, bundle, r, neighbour);
        }
    }
}

static SX_TARGET void fill(int64_t n, const double *const *row, const double *shift,
                           const double *part, uint32_t lanes, double *y) {
    const SX_ROWS rows = {n, row, shift, part};
    sx_fill(&rows, lanes, y);
}

static SX_TARGET void fill_single(int64_t n, const double *const *row, const double *shift,
                                  const double *part, uint32_t lanes, float *y) {
    const SX_ROWS rows = {n, row, shift, part};
    sx_fill_single(&rows, lanes, y);
}

const sxi_dcos_kernels KERNELS = {
    .name = KERNELS_NAME,
    .fill = fill,
    .fill_single = fill_single,
    .even = even,
    .even_single = even_single,
    .direct = direct,
    .residual = residual,
    .spread = spread,
    .spread_single = spread_single,
    .shared = shared,
    .shared_single = shared_single,
    .step = step,
    .errors = errors,
};
