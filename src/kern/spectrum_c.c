/* SPDX-License-Identifier: Apache-2.0 */
#define PART 4
#define TARGET
#define ZIP_LOW 0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#include "kern/spectrum_tmpl.h"

const sxi_spectrum_kernels sxi_spectrum_kernels_c = {
    .name = "c",
    .block = block,
    .transform = transform,
    .gain = gain,
    .bins = bins,
    .own_gain = own_gain,
    .most = most,
    .crowd = crowd,
    .peaks = peaks,
};
