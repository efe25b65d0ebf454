/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_AVX2
#if defined(__x86_64__)
#include "kern/lm_kernels_tmpl.h"

const sxi_lm_kernels sxi_lm_kernels_avx2 = {.name = "avx2", .sums = ALL_SUMS, .step = ALL_STEPS};
#endif
