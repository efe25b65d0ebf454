/* SPDX-License-Identifier: Apache-2.0 */
#include "io/read/bands.h"

#include <string.h>

#include "sx_check.h"

enum { USUAL = 1000, MOST = 4000 };

/* "0+4 4+4 8+2" along the axis that is cut, or the whole bands where others vary. Checks that bands
 * follow each other in C order and cover the box once. */
static const char *plan(int rank, const int64_t *start, const int64_t *count, const int64_t *chunk,
                        int64_t element, sxi_bands *bands) {
    static char text[1 << 16];
    int64_t from[SX_MAX_RANK], number[SX_MAX_RANK], next = 0, all = 1;
    size_t used = 0;
    sxi_bands_plan(rank, start, count, chunk, element, USUAL, MOST, bands);
    text[0] = '\0';
    while (sxi_bands_next(bands, from, number)) {
        int64_t at = 0, elements = 1;
        for (int d = 0; d < rank; d++) {
            ck_assert(from[d] >= start[d] && from[d] + number[d] <= start[d] + count[d]);
            at = at * count[d] + from[d] - start[d];
            elements *= number[d];
        }
        ck_assert_int_eq(at, next);
        ck_assert_int_gt(elements, 0);
        ck_assert_int_le(elements * element, bands->bytes);
        next += elements;
        if (rank > 0 && used < sizeof text - 64) {
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%lld+%lld", used ? " " : "",
                                 (long long)from[bands->axis], (long long)number[bands->axis]);
        }
    }
    for (int d = 0; d < rank; d++) {
        all *= count[d];
    }
    ck_assert_int_eq(next, all);
    return text;
}

#define A(...) ((const int64_t[SX_MAX_RANK]){__VA_ARGS__})

START_TEST(bands_follow_the_chunks) {
    sxi_bands bands;
    /* 10 rows of 200 bytes: five at a time, no chunks. */
    ck_assert_str_eq(plan(2, A(0, 0), A(10, 50), A(0, 0), 4, &bands), "0+5 5+5");
    /* Chunks of 2 rows: four at a time. Of 3 rows, from row 2: up to the border first. */
    ck_assert_str_eq(plan(2, A(0, 0), A(10, 50), A(2, 50), 4, &bands), "0+4 4+4 8+2");
    ck_assert_str_eq(plan(2, A(2, 0), A(8, 50), A(3, 50), 4, &bands), "2+1 3+3 6+3 9+1");
    ck_assert_str_eq(plan(2, A(1, 7), A(3, 50), A(3, 50), 4, &bands), "1+3");
    /* A row of chunks beyond the usual, within the most. */
    ck_assert_str_eq(plan(2, A(0, 0), A(40, 50), A(16, 25), 4, &bands), "0+16 16+16 32+8");
    ck_assert_int_eq(bands.bytes, 3200);
    /* All of the first axis in one chunk, but the box is small. */
    ck_assert_str_eq(plan(2, A(3, 0), A(20, 50), A(100, 5), 4, &bands), "3+20");
}
END_TEST

START_TEST(chunks_that_no_memory_holds) {
    sxi_bands bands;
    ck_assert_str_eq(plan(1, A(0), A(2500), A(2500), 4, &bands), "0+1000 1000+1000 2000+500");
    ck_assert_str_eq(plan(2, A(0, 0), A(30, 50), A(30, 2500), 4, &bands), "0+20 20+10");
    /* Not even one index of the first axis fits. */
    ck_assert_str_eq(plan(2, A(0, 0), A(2, 1500), A(100, 100), 4, &bands),
                     "0+200 200+200 400+200 600+200 800+200 1000+200 1200+200 1400+100 0+200 "
                     "200+200 400+200 600+200 800+200 1000+200 1200+200 1400+100");
    ck_assert_int_eq(bands.axis, 1);
    /* One element beyond everything is still read. */
    ck_assert_str_eq(plan(1, A(0), A(2), A(0), 9000, &bands), "0+1 1+1");
    ck_assert_int_eq(bands.bytes, 9000);
    /* More bytes than there are numbers for. */
    sxi_bands_plan(3, A(0, 0, 0), A(1LL << 40, 1LL << 40, 1LL << 40), A(0, 0, 0), 8, USUAL, MOST,
                   &bands);
    ck_assert_int_eq(bands.axis, 2);
    ck_assert_int_le(bands.bytes, MOST);
}
END_TEST

START_TEST(no_axes_and_no_elements) {
    sxi_bands bands;
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK];
    sxi_bands_plan(0, NULL, NULL, NULL, 8, USUAL, MOST, &bands);
    ck_assert_int_eq(bands.bytes, 8);
    ck_assert(sxi_bands_next(&bands, start, count));
    ck_assert(!sxi_bands_next(&bands, start, count));
    sxi_bands_plan(2, A(0, 0), A(3, 0), A(1, 1), 8, USUAL, MOST, &bands);
    ck_assert(!sxi_bands_next(&bands, start, count));
}
END_TEST

START_TEST(any_box_is_covered_once) {
    /* All boxes and chunks up to 5 in three axes, small enough to need all kinds of bands. */
    sxi_bands bands;
    for (int64_t i = 0; i < 5 * 5 * 5 * 64; i++) {
        const int64_t count[SX_MAX_RANK] = {1 + i % 5, 1 + i / 5 % 5, 1 + i / 25 % 5};
        const int64_t chunk[SX_MAX_RANK] = {i / 125 % 4, i / 500 % 4, i / 2000 % 4};
        plan(3, A(i % 3, i % 2, 1), count, chunk, 150, &bands);
    }
}
END_TEST

SX_TEST_MAIN("bands", bands_follow_the_chunks, chunks_that_no_memory_holds, no_axes_and_no_elements,
             any_box_is_covered_once)
