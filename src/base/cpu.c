/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/cpu.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cpu.h"
#include "base/memory_limit.h"

static void read_name(char *name, size_t size) {
    char line[512];
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) {
        return;
    }
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    fclose(file);
}

static unsigned read_features(void) {
    unsigned features = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    features |= __builtin_cpu_supports("sse4.2") ? SX_CPU_SSE4_2 : 0;
    features |= __builtin_cpu_supports("avx") ? SX_CPU_AVX : 0;
    features |= __builtin_cpu_supports("avx2") ? SX_CPU_AVX2 : 0;
    features |= __builtin_cpu_supports("fma") ? SX_CPU_FMA : 0;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        features |= SX_CPU_AVX512;
    }
#endif
    return features;
}

/* What SX_CPU leaves of the features: kernels beyond it are not used, so that a slow way can be
 * tried on a fast machine. */
static unsigned allowed(void) {
    const char *name = getenv("SX_CPU");
    const unsigned all = ~0U, below_avx512 = all & ~(unsigned)SX_CPU_AVX512;
    return !name || !*name || strcmp(name, "avx512") == 0 ? all
           : strcmp(name, "avx2") == 0                    ? below_avx512
                                                          : 0;
}

unsigned sxi_cpu_features(void) { return read_features() & allowed(); }

void sx_cpu_get(sx_cpu *cpu) {
    struct utsname system;
    *cpu = (sx_cpu){0};
    read_name(cpu->name, sizeof cpu->name);
    snprintf(cpu->architecture, sizeof cpu->architecture, "%.31s",
             uname(&system) == 0 ? system.machine : "unknown");
    cpu->features = read_features();
    cpu->cores = omp_get_num_procs(); /* those of the affinity mask */
    sxi_memory_limit("", &cpu->memory, &cpu->memory_available);
}

void sx_cpu_features(const sx_cpu *cpu, char *text, size_t size) {
    static const struct {
        unsigned flag;
        const char *word;
    } features[] = {
#define FEATURE(name, bit, word) {SX_CPU_##name, word},
        SX_CPU_FEATURE_LIST(FEATURE)
#undef FEATURE
    };
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (cpu->features & features[i].flag && length < size) {
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? " " : "",
                                       features[i].word);
        }
    }
}

void sx_cpu_describe(const sx_cpu *cpu, char *text, size_t size) {
    snprintf(text, size, "%s, %s, %d core%s", cpu->architecture, cpu->name, cpu->cores,
             cpu->cores == 1 ? "" : "s");
}
