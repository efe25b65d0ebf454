/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_C

#include "kern/dcos_kernels_tmpl.h"

const sxi_dcos_kernels sxi_dcos_kernels_c = {
    .name = "c",
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
