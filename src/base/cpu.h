/* SPDX-License-Identifier: Apache-2.0
 * What kernels ask of the machine. */
#ifndef SXI_CPU_H
#define SXI_CPU_H

#include <sextant/cpu.h>

/* sxi_cpu_features - flags of sx_cpu_feature, without the rest of sx_cpu_get. */
unsigned sxi_cpu_features(void);

#endif
