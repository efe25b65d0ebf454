/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_AVX2
#if defined(__x86_64__)
#include "kern/dcos_kernels_tmpl.h"

const sxi_dcos_kernels sxi_dcos_kernels_avx2 = {
    .name = "avx2",
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
#endif
