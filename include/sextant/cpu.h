/* SPDX-License-Identifier: Apache-2.0
 * What the machine offers to this process. */
#ifndef SEXTANT_CPU_H
#define SEXTANT_CPU_H

#include <stddef.h>
#include <stdint.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Instruction sets that kernels may have variants for: X(name, bit, word). All are of x86-64;
 * avx512 stands for its parts f, bw, dq and vl together. */
#define SX_CPU_FEATURE_LIST(X)                                                                     \
    X(SSE4_2, 0, "sse4.2")                                                                         \
    X(AVX, 1, "avx")                                                                               \
    X(AVX2, 2, "avx2")                                                                             \
    X(FMA, 3, "fma")                                                                               \
    X(AVX512, 4, "avx512")

typedef enum sx_cpu_feature {
#define SX_CPU_FEATURE_ENUM(name, bit, word) SX_CPU_##name = 1 << bit,
    SX_CPU_FEATURE_LIST(SX_CPU_FEATURE_ENUM)
#undef SX_CPU_FEATURE_ENUM
} sx_cpu_feature;

typedef struct sx_cpu {
    char name[64];         /* as the system says; "unknown" */
    char architecture[32]; /* "x86_64" */
    unsigned features;     /* of sx_cpu_feature, which CPU and system both support */
    int cores;             /* that this process may run on */
    int64_t memory;        /* bytes of the machine, or of the control group if less; 0: unknown */
    int64_t memory_available; /* bytes that can be taken without swapping; 0: unknown */
} sx_cpu;

/* sx_cpu_get - looks at the machine now. */
SX_API void sx_cpu_get(sx_cpu *cpu);

/* sx_cpu_features - the words of its features with blanks between them; "" if it has none.
 * sx_cpu_describe - one line for provenance: architecture, name, cores; no name of the host.
 * Both are cut to size. */
SX_API void sx_cpu_features(const sx_cpu *cpu, char *text, size_t size);
SX_API void sx_cpu_describe(const sx_cpu *cpu, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
