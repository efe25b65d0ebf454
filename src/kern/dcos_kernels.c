/* SPDX-License-Identifier: Apache-2.0
 * Which variants of the kernels this machine can run. */
#include "kern/dcos_kernels.h"

#include <string.h>

#include "base/cpu.h"

extern const sxi_dcos_kernels sxi_dcos_kernels_c, sxi_dcos_kernels_avx2, sxi_dcos_kernels_avx512;

const sxi_dcos_kernels *sxi_dcos_kernels_variant(int number) {
    const sxi_dcos_kernels *list[3] = {&sxi_dcos_kernels_c};
    int count = 1;
#if defined(__x86_64__)
    const unsigned wide = SX_CPU_AVX2 | SX_CPU_FMA;
    unsigned features = sxi_cpu_features();
    if ((features & wide) == wide) {
        list[count++] = &sxi_dcos_kernels_avx2;
    }
    if (features & SX_CPU_AVX512) {
        list[count++] = &sxi_dcos_kernels_avx512;
    }
#endif
    return number < count ? list[number] : NULL;
}

const sxi_dcos_kernels *sxi_dcos_kernels_find(const char *name) {
    for (int i = 0; sxi_dcos_kernels_variant(i); i++) {
        if (strcmp(sxi_dcos_kernels_variant(i)->name, name) == 0) {
            return sxi_dcos_kernels_variant(i);
        }
    }
    return NULL;
}

void sxi_dcos_even_make(int64_t n, double dx, sxi_dcos_even *even) {
    *even = (sxi_dcos_even){.n = n, .dx = dx};
    for (int64_t i = 0; i < n; i++) {
        double power = 1;
        for (int m = 0; m < SXI_DCOS_MOMENTS; m++, power *= (double)i * dx) {
            even->moment[m] += power;
        }
    }
}
