/* SPDX-License-Identifier: Apache-2.0 */
#if defined(__x86_64__)
#define PART 8
#define TARGET __attribute__((target("avx2")))
#define ZIP_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define KERNELS sxi_spectrum_kernels_avx2
#define KERNELS_NAME "avx2"
#include "kern/spectrum_tmpl.h"
#endif
