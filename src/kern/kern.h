/* SPDX-License-Identifier: Apache-2.0
 * Glue of the arithmetic kernels: how one plain body becomes several variants. */
#ifndef SXI_KERN_H
#define SXI_KERN_H

#include <stdint.h>

/* The compiler makes a copy of the function per instruction set and the loader picks one. Products
 * are never fused
 * (-ffp-contract=off) and sums run in fixed lanes, so every copy gives the same bits. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define SXI_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SXI_CLONES
#endif

/* Columns are padded to a multiple of this many doubles; the padding has weight 0. */
enum { SXI_LANES = 8 };

#endif
