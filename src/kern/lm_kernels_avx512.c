/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_AVX512
#if defined(__x86_64__)
#include "kern/lm_kernels_tmpl.h"

const sxi_lm_kernels sxi_lm_kernels_avx512 = {
    .name = "avx512", .sums = ALL_SUMS, .step = ALL_STEPS};
#endif
