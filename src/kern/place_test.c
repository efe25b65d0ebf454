/* SPDX-License-Identifier: Apache-2.0
 * Boxes against one value at a time. */
#include "kern/place.h"

#include <string.h>

#include "base/rng.h"
#include "sx_check.h"

enum { BYTES = 1 << 20, MIDDLE = BYTES / 2 };

static const sxi_place_type TYPES[] = {
    {SXI_PLACE_NUMBER, SX_U8, false, 1},  {SXI_PLACE_NUMBER, SX_U16, false, 2},
    {SXI_PLACE_NUMBER, SX_U16, true, 2},  {SXI_PLACE_NUMBER, SX_I32, false, 4},
    {SXI_PLACE_NUMBER, SX_F32, false, 4}, {SXI_PLACE_NUMBER, SX_F32, true, 4},
    {SXI_PLACE_NUMBER, SX_F64, false, 8}, {SXI_PLACE_NUMBER, SX_F64, true, 8},
    {SXI_PLACE_HALF, SX_F32, false, 2},   {SXI_PLACE_BYTES, SX_U8, false, 3},
    {SXI_PLACE_BYTES, SX_U8, false, 16},
};
enum { KINDS = sizeof TYPES / sizeof *TYPES };

/* Value by value: what sxi_place does for rank 0. */
static void place_slowly(const sxi_place_box *box, const char *source, const sxi_place_type *from,
                         char *target, const sxi_place_type *to) {
    int64_t total = 1;
    for (int d = 0; d < box->rank; d++) {
        total *= box->count[d];
    }
    for (int64_t i = 0; i < total; i++) {
        int64_t s = 0, t = 0, rest = i;
        for (int d = 0; d < box->rank; d++) {
            s += rest % box->count[d] * box->source_stride[d];
            t += rest % box->count[d] * box->target_stride[d];
            rest /= box->count[d];
        }
        sxi_place(&(sxi_place_box){.rank = 0}, source + s, from, target + t, to);
    }
}

static uint32_t below(uint64_t i, uint32_t stream, uint32_t n) {
    uint32_t bits[4];
    sxi_rng_bits(3, stream, i, 0, bits);
    return bits[0] % n;
}

/* A box of random shape whose axes lie in random orders on both sides, some with gaps, some
 * backwards; at most 20,000 values. The target reaches no place twice. */
static void random_box(uint64_t i, int64_t from, int64_t to, sxi_place_box *box) {
    static const int64_t LONG[] = {1, 2, 3, 4, 7, 8, 9, 16, 31, 33, 64, 65, 100, 130};
    int order[2][5];
    int64_t total = 1;
    box->rank = (int)below(i, 1, 6);
    for (int d = 0; d < box->rank; d++) {
        box->count[d] = LONG[below(i, 10 + (uint32_t)d, 14)];
        if (total * box->count[d] > 20000) {
            box->count[d] = 1 + (total < 10000);
        }
        total *= box->count[d];
        for (int side = 0; side < 2; side++) {
            const int at = (int)below(i, 20 + (uint32_t)(d + 5 * side), (uint32_t)d + 1);
            order[side][d] = order[side][at];
            order[side][at] = d;
        }
    }
    for (int side = 0; side < 2; side++) {
        int64_t stride = side ? to : from;
        for (int k = 0; k < box->rank; k++) {
            const int d = order[side][k];
            const uint32_t kind = below(i, 40 + (uint32_t)(d + 5 * side), 12);
            const int64_t gap = kind < 2 ? (side ? to : from) : kind == 2 ? 5 : 0;
            const int64_t step = stride + (stride > 20000 ? 0 : gap);
            (side ? box->target_stride : box->source_stride)[d] = kind == 3            ? -step
                                                                  : kind == 4 && !side ? 0
                                                                                       : step;
            stride = step * box->count[d];
        }
    }
}

/* Whether the box stays within so many bytes of its first value. */
static bool fits(int rank, const int64_t *count, const int64_t *stride, int64_t bytes) {
    int64_t extent = bytes;
    for (int d = 0; d < rank; d++) {
        extent += llabs(stride[d]) * (count[d] - 1);
    }
    return extent <= MIDDLE;
}

START_TEST(boxes_are_placed_value_by_value) {
    char *source = malloc(BYTES), *target = malloc(BYTES), *expected = malloc(BYTES);
    for (int i = 0; i < BYTES; i++) {
        source[i] = (char)below((uint64_t)i, 0, 256);
    }
    int placed = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        const sxi_place_type *from = &TYPES[below(i, 2, KINDS)], *to = &TYPES[below(i, 3, KINDS)];
        if (to->swapped || to->kind == SXI_PLACE_HALF || !sxi_place_known(from, to)) {
            continue;
        }
        sxi_place_box box;
        random_box(i, from->bytes, to->bytes, &box);
        if (!fits(box.rank, box.count, box.source_stride, from->bytes) ||
            !fits(box.rank, box.count, box.target_stride, to->bytes)) {
            continue;
        }
        placed++;
        memset(target, 0x55, BYTES);
        memset(expected, 0x55, BYTES);
        sxi_place(&box, source + MIDDLE, from, target + MIDDLE, to);
        place_slowly(&box, source + MIDDLE, from, expected + MIDDLE, to);
        ck_assert_msg(memcmp(target, expected, BYTES) == 0, "box %llu", (unsigned long long)i);
    }
    ck_assert_int_gt(placed, 500);
    free(source);
    free(target);
    free(expected);
}
END_TEST

START_TEST(known_conversions) {
    const sxi_place_type f32 = {SXI_PLACE_NUMBER, SX_F32, false, 4};
    const sxi_place_type i32 = {SXI_PLACE_NUMBER, SX_I32, false, 4};
    const sxi_place_type swapped = {SXI_PLACE_NUMBER, SX_I32, true, 4};
    const sxi_place_type half = {SXI_PLACE_HALF, SX_F32, false, 2};
    const sxi_place_type four = {SXI_PLACE_BYTES, SX_U8, false, 4};
    const sxi_place_type five = {SXI_PLACE_BYTES, SX_U8, false, 5};
    ck_assert(sxi_place_known(&f32, &f32));
    ck_assert(sxi_place_known(&i32, &f32));
    ck_assert(sxi_place_known(&swapped, &i32));
    ck_assert(sxi_place_known(&half, &f32));
    ck_assert(sxi_place_known(&four, &four));
    ck_assert(!sxi_place_known(&f32, &i32));
    ck_assert(!sxi_place_known(&half, &i32));
    ck_assert(!sxi_place_known(&i32, &swapped));
    ck_assert(!sxi_place_known(&f32, &half));
    ck_assert(!sxi_place_known(&four, &five));
    ck_assert(!sxi_place_known(&four, &i32));
}
END_TEST

SX_TEST_MAIN("place", boxes_are_placed_value_by_value, known_conversions)
