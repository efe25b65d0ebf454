/* SPDX-License-Identifier: Apache-2.0
 *   seeds FOLDER: writes the corpus of the codec targets, one good stream per pipeline, into
 * FOLDER/FAMILY. Run once for every new pipeline; the output is committed. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../../src/io/codec/codec_pipelines.h"
#include "fuzz_codec.h"

enum { CHUNK = 240 };

static int put(const char *folder, const char *family, const char *name, const unsigned char *data,
               size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, family);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        perror(path);
        return 1;
    }
    snprintf(path, sizeof path, "%s/%s/%s", folder, family, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

static int put_pipeline(const char *folder, unsigned family, const char *word, unsigned element,
                        unsigned variant, unsigned flags, const unsigned char steps[4]) {
    static unsigned char data[SX_FILTERS_ROOM], values[CHUNK];
    const unsigned char header[SX_FUZZ_HEADER] = {CHUNK - 1, 0, (unsigned char)(element - 1),
                                                  (unsigned char)variant, (unsigned char)flags};
    sxi_codec codec;
    unsigned skip = 0;
    memcpy(data, header, sizeof header);
    memcpy(data + sizeof header, steps, 4);
    const size_t at = sx_fuzz_pipeline(family, data, sizeof header + 4, &codec, &skip);
    for (int i = 0; i < codec.steps; i++) {
        if (codec.step[i].filter == 32001) { /* the writer needs what the reader need not know */
            codec.step[i] =
                (sxi_codec_step){32001, 7, {2, 2, element, 0, 5, variant % 3, variant / 3}};
        }
    }
    sx_values(SX_COUNTS, values, CHUNK);
    size_t size = at + sx_filters(&codec, skip, values, data + at);
    if (family != 0 && flags & SX_FUZZ_SUM_IS_RIGHT) {
        size -= 4; /* the target adds the sum */
    }
    char name[64];
    snprintf(name, sizeof name, "element-%u-variant-%u-flags-%u-steps-%u%u%u%u", element, variant,
             flags, steps[0], steps[1], steps[2], steps[3]);
    return put(folder, word, name, data, size);
}

int main(int argc, char **argv) {
    static const unsigned char none[4] = {0};
    static const unsigned char any[][4] = {{1, 0}, {2, 1, 0}, {6, 2}, {1, 3},
                                           {4},    {5, 2},    {7, 7}, {1, 7, 2}};
    static const unsigned any_steps[] = {2, 3, 2, 2, 1, 2, 2, 3};
    if (argc != 2) {
        fprintf(stderr, "usage: seeds FOLDER\n");
        return 2;
    }
    int failed = 0;
#define FAMILY(word, filter)                                                                       \
    for (unsigned flags = 0; filter != 0 && flags < 16; flags++) {                                 \
        if (!(flags & SX_FUZZ_SUM_IS_RIGHT) || flags & SX_FUZZ_SUM_LAST) {                         \
            failed +=                                                                              \
                put_pipeline(argv[1], filter, #word, 1U << flags % 4, flags % 3, flags, none);     \
        }                                                                                          \
    }
    SX_FUZZ_FAMILIES(FAMILY)
#undef FAMILY
    for (unsigned compressor = 0; compressor < 3; compressor++) {
        static const unsigned elements[] = {1, 2, 3, 8, 20};
        for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
            failed += put_pipeline(argv[1], 32008, "bitshuffle", elements[i], compressor, 0, none);
            failed +=
                put_pipeline(argv[1], 32008, "bitshuffle", elements[i], compressor + 8, 0, none);
        }
    }
    for (unsigned variant = 0; variant < 18; variant++) { /* Snappy (3) is not in Debian's */
        if (variant / 3 != 3) {
            failed += put_pipeline(argv[1], 32001, "blosc", 4, variant, 0, none);
        }
    }
    for (size_t i = 0; i < sizeof any_steps / sizeof *any_steps; i++) {
        failed += put_pipeline(argv[1], 0, "any", 2, 1, any_steps[i] - 1, any[i]);
    }
    return failed != 0;
}
