/* SPDX-License-Identifier: Apache-2.0
 * The kernels of one instruction set, from bodies that know nothing of it. */
/* GCC 12 does not see that loops with a known end fill what they read. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "kern/lm_step.kern.h"
#include "kern/lm_sums.kern.h"
#include "kern/models/models.kern.h"

SX_FN int wanted(uint32_t lanes, int lane) {
    const uint32_t group = (UINT32_C(1) << SX_LANES) - 1;
    return (lanes >> lane & group) != 0;
}

#define SUMS(name, parameters, inputs, formula)                                                    \
    SX_TARGET static void sums_##name(int64_t n, const double *x, const double *y,                 \
                                      const double *w, sxi_lm_bundle *bundle) {                    \
        for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {                                  \
            if (wanted(bundle->running, lane)) {                                                   \
                sx_lm_sums(sx_model_##name, parameters, inputs, n, x, y, w, lane, bundle);         \
            }                                                                                      \
        }                                                                                          \
    }
SXI_MODEL_LIST(SUMS)

#define STEP(parameters)                                                                           \
    SX_TARGET static void step_##parameters(const sxi_lm_box *box, sxi_lm_bundle *bundle) {        \
        for (int lane = 0; lane < SXI_BUNDLE; lane += SX_LANES) {                                  \
            if (wanted(bundle->running, lane)) {                                                   \
                sx_lm_step(parameters, box, lane, bundle);                                         \
            }                                                                                      \
        }                                                                                          \
        bundle->fresh = 0;                                                                         \
    }
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)
STEP(7)
STEP(8)

#define SUMS_ENTRY(name, parameters, inputs, formula) sums_##name,
#define ALL_SUMS                                                                                   \
    { SXI_MODEL_LIST(SUMS_ENTRY) }
#define ALL_STEPS                                                                                  \
    { step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8 }
