/* SPDX-License-Identifier: Apache-2.0
 * Transpositions against one value at a time. */
#include "kern/transpose.h"

#include <string.h>

#include "base/rng.h"
#include "sx_check.h"

enum { MOST = 1100 * 40 * 8, ROOM = 4 * MOST };

static char source[ROOM], target[ROOM], expected[ROOM];

static void transpose_slowly(int64_t bytes, int64_t rows, int64_t columns, const char *from,
                             int64_t from_stride, char *to, int64_t to_stride) {
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            memcpy(to + c * to_stride + r * bytes, from + r * from_stride + c * bytes,
                   (size_t)bytes);
        }
    }
}

/* The gaps of the target keep what they hold. Neither side is aligned. */
static void check(int64_t bytes, int64_t rows, int64_t columns, int64_t source_gap,
                  int64_t target_gap, int sign) {
    const int64_t from = sign * (columns * bytes + source_gap);
    const int64_t to = sign * (rows * bytes + target_gap);
    const int64_t start = sign < 0 ? ROOM - 10000 : 1;
    memset(target, 0x55, sizeof target);
    memset(expected, 0x55, sizeof expected);
    sxi_transpose(bytes, rows, columns, source + start, from, target + start, to);
    transpose_slowly(bytes, rows, columns, source + start, from, expected + start, to);
    ck_assert_msg(memcmp(target, expected, sizeof target) == 0, "%d x %d x %d bytes, gaps %d, %d",
                  (int)rows, (int)columns, (int)bytes, (int)source_gap, (int)target_gap);
}

START_TEST(rows_become_columns) {
    for (size_t i = 0; i < sizeof source; i += 16) {
        uint32_t bits[4];
        sxi_rng_bits(5, 0, i, 0, bits);
        memcpy(source + i, bits, sizeof bits);
    }
    static const int64_t SHORT[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33};
    for (int64_t bytes = 1; bytes <= 8; bytes *= 2) {
        for (size_t i = 0; i < 11 * 11; i++) {
            check(bytes, SHORT[i / 11], SHORT[i % 11], i % 3 ? 0 : 5, i % 4 ? 0 : 3, 1);
        }
        check(bytes, 21, 1100, 0, 0, 1);
        check(bytes, 1100, 21, 0, 0, 1);
        check(bytes, 21, 1100, 1, 3, -1);
        check(bytes, 1100, 21, 5, 7, -1);
    }
}
END_TEST

SX_TEST_MAIN("transpose", rows_become_columns)
