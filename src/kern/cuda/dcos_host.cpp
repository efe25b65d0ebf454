/* SPDX-License-Identifier: Apache-2.0
 * dcos.cu for the host, which stands in for libsextant_cuda.so in tests. */
/* GCC 12 does not see that loops with a known end fill what they read. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "kern/cuda/host.h"

#include "kern/cuda/dcos.cu"
