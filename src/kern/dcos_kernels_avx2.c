/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_AVX2
#if defined(__x86_64__)
#define KERNELS sxi_dcos_kernels_avx2
#define KERNELS_NAME "avx2"
#include "kern/dcos_kernels_tmpl.h"
#endif
