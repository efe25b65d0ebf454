/* SPDX-License-Identifier: Apache-2.0 */
#define PART 4
#define TARGET
#define ZIP_LOW 0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#define KERNELS sxi_spectrum_kernels_c
#define KERNELS_NAME "c"
#include "kern/spectrum_tmpl.h"
