/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_C
#define KERNELS sxi_dcos_kernels_c
#define KERNELS_NAME "c"
#include "kern/dcos_kernels_tmpl.h"
