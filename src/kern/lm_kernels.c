/* SPDX-License-Identifier: Apache-2.0
 * Which variants of the kernels this machine can run. */
#include "kern/lm_kernels.h"

#include "base/cpu.h"

extern const sxi_lm_kernels sxi_lm_kernels_c, sxi_lm_kernels_avx2, sxi_lm_kernels_avx512;

const sxi_lm_kernels *sxi_lm_kernels_variant(int number) {
    const sxi_lm_kernels *list[3] = {&sxi_lm_kernels_c};
    int count = 1;
#if defined(__x86_64__)
    const unsigned wide = SX_CPU_AVX2 | SX_CPU_FMA;
    unsigned features = sxi_cpu_features();
    if ((features & wide) == wide) {
        list[count++] = &sxi_lm_kernels_avx2;
    }
    if (features & SX_CPU_AVX512) {
        list[count++] = &sxi_lm_kernels_avx512;
    }
#endif
    return number < count ? list[number] : NULL;
}
