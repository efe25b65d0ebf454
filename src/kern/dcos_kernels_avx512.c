/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_AVX512
#if defined(__x86_64__)
#define KERNELS sxi_dcos_kernels_avx512
#define KERNELS_NAME "avx512"
#include "kern/dcos_kernels_tmpl.h"
#endif
