/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5/info/h5_advice.h"

#include <string.h>

#include "sx_check.h"

static char text[1024];

static const char *advice(const char *filters, int64_t element, int rank, const int64_t *shape,
                          const int64_t *chunk) {
    sx_hdf5_dataset about = {.layout = SX_HDF5_CHUNKED, .rank = rank, .element_bytes = element};
    snprintf(about.filters, sizeof about.filters, "%s", filters);
    memcpy(about.shape, shape, (size_t)rank * sizeof *shape);
    memcpy(about.chunk, chunk, (size_t)rank * sizeof *chunk);
    sxi_h5_advice("run.h5", "/data", &about, text, sizeof text);
    return text;
}

#define A(...) ((const int64_t[]){__VA_ARGS__})

START_TEST(what_is_well_gets_no_advice) {
    ck_assert_str_eq(advice("", 2, 3, A(200, 704, 768), A(1, 704, 768)), "");
    ck_assert_str_eq(advice("gzip", 2, 3, A(200, 704, 768), A(32, 128, 128)), "");
    ck_assert_str_eq(advice("gzip", 2, 3, A(10, 100, 100), A(1, 100, 100)), "");    /* 200 kB */
    ck_assert_str_eq(advice("gzip", 2, 3, A(8, 4000, 4000), A(1, 4000, 4000)), ""); /* 8 frames */
    ck_assert_str_eq(advice("gzip", 4, 1, A(50000000), A(1000000)), "");
    ck_assert_str_eq(advice("gzip", 4, 2, A(0, 5), A(1, 5)), "");
}
END_TEST

START_TEST(one_frame_a_chunk) {
    ck_assert_str_eq(advice("shuffle, gzip", 2, 3, A(200, 704, 768), A(1, 704, 768)),
                     "slow for traces: one pixel through all 200 frames decodes 216 of 216 MB\n"
                     "h5repack -l '/data:CHUNK=25x176x96' 'run.h5' NEW.h5\n");
}
END_TEST

START_TEST(all_frames_a_chunk) {
    ck_assert_str_eq(advice("gzip", 2, 3, A(200, 704, 768), A(200, 16, 16)),
                     "slow for frames: one of them decodes 216 of 216 MB\n"
                     "h5repack -l '/data:CHUNK=25x176x96' 'run.h5' NEW.h5\n");
    ck_assert_str_eq(advice("", 2, 3, A(200, 704, 768), A(200, 16, 16)),
                     "slow for frames: one of them lies in 33792 runs of 32 bytes\n"
                     "h5repack -l '/data:CHUNK=25x176x96' 'run.h5' NEW.h5\n");
}
END_TEST

/* The chunks of the command, if there is one. */
static bool commanded(int rank, int64_t *chunk) {
    const char *at = strstr(text, "CHUNK=");
    for (int d = 0; at && d < rank; d++) {
        at += strcspn(at, "0123456789");
        chunk[d] = strtoll(at, NULL, 10);
        at += strspn(at, "0123456789");
    }
    return at != NULL;
}

START_TEST(the_command_mends_it) {
    const int64_t shapes[][3] = {{16, 700, 800},    {64, 256, 700},  {200, 704, 768},
                                 {9000, 40, 50},    {4000000, 2, 2}, {100000, 1, 128},
                                 {300, 4096, 4096}, {17, 5000, 3},   {50, 1, 1000000}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *n = shapes[i];
        const int64_t chunks[][3] = {
            {1, n[1], n[2]}, {n[0], 1, 1}, {n[0], 16, 16}, {1, 1, 8}, {n[0], n[1], n[2]}};
        for (size_t k = 0; k < 2 * sizeof chunks / sizeof *chunks; k++) {
            const char *filters = k % 2 ? "gzip" : "";
            int64_t chunk[3];
            advice(filters, 2, 3, n, chunks[k / 2]);
            if (commanded(3, chunk)) {
                ck_assert_str_eq(advice(filters, 2, 3, n, chunk), "");
            }
        }
    }
}
END_TEST

START_TEST(chunks_too_small_or_large) {
    ck_assert_str_eq(advice("", 4, 2, A(100000, 1024), A(1, 1024)),
                     "slow altogether: 100000 chunks of 4096 bytes; finding one takes as long as "
                     "reading it\nh5repack -l '/data:CHUNK=256x1024' 'run.h5' NEW.h5\n");
    ck_assert_str_eq(advice("gzip", 4, 1, A(100000000), A(25000000)),
                     "slow altogether: chunks of 100 MB, each decoded by one thread\n"
                     "h5repack -l '/data:CHUNK=195313' 'run.h5' NEW.h5\n");
}
END_TEST

START_TEST(names_that_a_shell_would_take_apart) {
    sx_hdf5_dataset about = {.layout = SX_HDF5_CHUNKED, .rank = 1, .element_bytes = 1};
    about.shape[0] = 1 << 30;
    about.chunk[0] = 8;
    sxi_h5_advice("run.h5", "/it's", &about, text, sizeof text);
    ck_assert_ptr_null(strstr(text, "h5repack"));
    /* Extents of a damaged file */
    about.rank = 3;
    for (int d = 0; d < 3; d++) {
        about.shape[d] = about.chunk[d] = INT64_MAX;
    }
    strcpy(about.filters, "gzip");
    sxi_h5_advice("run.h5", "/data", &about, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "h5repack"));
    char little[20];
    sxi_h5_advice("run.h5", "/data", &about, little, sizeof little);
    ck_assert_uint_eq(strlen(little), sizeof little - 1);
}
END_TEST

SX_TEST_MAIN("h5_advice", what_is_well_gets_no_advice, one_frame_a_chunk, all_frames_a_chunk,
             the_command_mends_it, chunks_too_small_or_large, names_that_a_shell_would_take_apart)
