/* SPDX-License-Identifier: Apache-2.0
 * What every fuzz target shares: libFuzzer's entry, or replay.c's. */
#ifndef SX_FUZZ_H
#define SX_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding, as a crash that the fuzzer keeps the input of. */
static inline void sx_fuzz_must(bool holds, const char *otherwise) {
    if (!holds) {
        fprintf(stderr, "finding: %s\n", otherwise);
        abort();
    }
}

#endif
