/* SPDX-License-Identifier: Apache-2.0
 * Every variant of the shuffles against the definition. */
#include "kern/shuffle.h"

#include <string.h>

#include "base/rng.h"
#include "sx_check.h"

enum { SEED = 11, MOST = 1200, PLANES = 20 };

static void noise(unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits[4];
        sxi_rng_bits(SEED, 1, i, 0, bits);
        bytes[i] = (unsigned char)bits[0];
    }
}

/* Counts with and without a rest for every width of vector. */
static const size_t counts[] = {0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 100, 149};

START_TEST(planes_interleave_alike_in_every_variant) {
    static const size_t sizes[][2] = {{1, 1}, {2, 2}, {4, 4}, {8, 8},  {3, 3},
                                      {5, 5}, {7, 8}, {2, 4}, {8, 20}, {16, 16}};
    static unsigned char plane[PLANES * 150], expected[150 * PLANES], found[150 * PLANES];
    noise(plane, sizeof plane);
    for (int number = 0; sxi_shuffle_variant(number); number++) {
        const sxi_shuffle *shuffle = sxi_shuffle_variant(number);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                const size_t count = counts[c], pitch = count + 1;
                const size_t planes = sizes[s][0], stride = sizes[s][1];
                memset(expected, 0x5a, sizeof expected);
                memset(found, 0x5a, sizeof found);
                for (size_t i = 0; i < count * planes; i++) {
                    expected[i / planes * stride + i % planes] =
                        plane[i % planes * pitch + i / planes];
                }
                shuffle->bytes(plane, pitch, count, planes, found, stride);
                ck_assert_msg(memcmp(expected, found, sizeof found) == 0,
                              "%s: %zu of %zu bytes, %zu elements", shuffle->name, planes, stride,
                              count);
            }
        }
    }
}
END_TEST

START_TEST(rows_of_bits_become_bytes_alike_in_every_variant) {
    static unsigned char row[MOST], expected[MOST], found[MOST];
    noise(row, sizeof row);
    for (int number = 0; sxi_shuffle_variant(number); number++) {
        const sxi_shuffle *shuffle = sxi_shuffle_variant(number);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            const size_t count = counts[c], pitch = count + 1;
            memset(expected, 0, sizeof expected);
            memset(found, 0, sizeof found);
            for (size_t bit = 0; bit < 64 * count; bit++) {
                const size_t i = bit / 64, k = bit / 8 % 8, b = bit % 8;
                expected[8 * i + b] |= (unsigned char)((row[k * pitch + i] >> b & 1) << k);
            }
            shuffle->bits(row, pitch, count, found);
            ck_assert_msg(memcmp(expected, found, sizeof found) == 0, "%s: %zu groups",
                          shuffle->name, count);
        }
    }
}
END_TEST

START_TEST(the_best_variant_is_one_of_them) {
    int number = 0;
    while (sxi_shuffle_variant(number)) {
        number++;
    }
    ck_assert_int_ge(number, 1);
    ck_assert_ptr_eq(sxi_shuffle_best(), sxi_shuffle_variant(number - 1));
    ck_assert_ptr_null(sxi_shuffle_variant(-1));
}
END_TEST

SX_TEST_MAIN("shuffle", planes_interleave_alike_in_every_variant,
             rows_of_bits_become_bytes_alike_in_every_variant, the_best_variant_is_one_of_them)
