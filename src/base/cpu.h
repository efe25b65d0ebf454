/* SPDX-License-Identifier: Apache-2.0
 * What kernels ask of the machine. */
#ifndef SXI_CPU_H
#define SXI_CPU_H

#include <sextant/cpu.h>

/* sxi_cpu_features - flags of sx_cpu_feature that kernels may use: those of the machine, less what
 * the environment variable SX_CPU (c, avx2, avx512) rules out. Any other word rules out all. */
unsigned sxi_cpu_features(void);

#endif
