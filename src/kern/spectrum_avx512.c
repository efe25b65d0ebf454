/* SPDX-License-Identifier: Apache-2.0 */
#if defined(__x86_64__)
#define PART 16
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define ZIP_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define KERNELS sxi_spectrum_kernels_avx512
#define KERNELS_NAME "avx512"
#include "kern/spectrum_tmpl.h"
#endif
