/* SPDX-License-Identifier: Apache-2.0
 *   replay FILE...: the fuzz target on each file, without a fuzzer. Every file is also tried cut in
 * half and with one byte changed, so that a corpus of good streams meets the bad ways as well. */
#include "fuzz.h"

static int replay(const char *path) {
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    LLVMFuzzerTestOneInput(data, size / 2);
    if (size > 0) {
        data[size * 3 / 4] ^= 0x10;
        LLVMFuzzerTestOneInput(data, size);
    }
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        failed += replay(argv[i]);
    }
    printf("%d inputs\n", argc - 1);
    return failed != 0 || argc < 2;
}
