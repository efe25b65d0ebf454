/* SPDX-License-Identifier: Apache-2.0
 * The arithmetic of selections against the sets they stand for. */
#include "io/hdf5/sources/h5_mapping.h"
#include "sx_check.h"

#include <stdint.h>
#include <string.h>

enum { PLACES = 200 };

static uint64_t state = 1;

/* 0 .. n - 1, the same in every run. */
static int64_t pick(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % n;
}

static sxi_h5_axis any_axis(void) {
    const int64_t block = 1 + pick(4);
    return sxi_h5_axis_of(pick(20), block + pick(5), pick(8), block);
}

/* Marks the places of an axis, one by one. */
static int64_t mark(int64_t start, int64_t stride, int64_t count, int64_t block, bool *places) {
    int64_t marked = 0;
    memset(places, 0, PLACES * sizeof *places);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < block; j++) {
            places[start + i * stride + j] = true;
            marked++;
        }
    }
    return marked;
}

START_TEST(elements_lie_where_they_are_selected) {
    bool places[PLACES];
    for (int i = 0; i < 2000; i++) {
        const int64_t block = 1 + pick(4), start = pick(20), stride = block + pick(5);
        const int64_t count = pick(8);
        const sxi_h5_axis axis = sxi_h5_axis_of(start, stride, count, block);
        ck_assert_int_eq(axis.length, mark(start, stride, count, block, places));
        int64_t k = 0;
        bool same = true;
        for (int64_t at = 0; at < PLACES; at++) {
            same = same && sxi_h5_axis_below(&axis, at) == k;
            same = same && (!places[at] || sxi_h5_axis_at(&axis, k) == at);
            k += places[at];
        }
        ck_assert(same && k == axis.length);
    }
}
END_TEST

START_TEST(elements_of_any_shape) {
    const int64_t large = INT64_MAX / 2;
    ck_assert_int_eq(sxi_h5_elements(0, NULL), 1);
    ck_assert_int_eq(sxi_h5_elements(3, (int64_t[]){2, 3, 4}), 24);
    ck_assert(sxi_h5_elements(3, (int64_t[]){large, large, 2}) == SXI_H5_ENDLESS);
    ck_assert_int_eq(sxi_h5_elements(3, (int64_t[]){large, large, 0}), 0);
}
END_TEST

/* Marks the elements of a box in a cube of SIDE elements a side. */
enum { SIDE = 7, CUBE = SIDE * SIDE * SIDE };

static void mark_box(const sxi_h5_range *range, int *marks) {
    for (int i = 0; i < CUBE; i++) {
        const int64_t at[] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            inside =
                inside && at[d] >= range->start[d] && at[d] < range->start[d] + range->count[d];
        }
        marks[i] += inside;
    }
}

static sxi_h5_range any_box(void) {
    sxi_h5_range range = {.start = {0}};
    for (int d = 0; d < 3; d++) {
        range.start[d] = pick(SIDE);
        range.count[d] = 1 + pick(SIDE - range.start[d]);
    }
    return range;
}

START_TEST(the_rest_of_a_box) {
    enum { TAKEN = 5, MOST = 200 };
    for (int i = 0; i < 500; i++) {
        const sxi_h5_range whole = any_box();
        sxi_h5_range taken[TAKEN], rest[MOST];
        int in_whole[CUBE] = {0}, in_taken[CUBE] = {0}, in_rest[CUBE] = {0};
        mark_box(&whole, in_whole);
        for (int t = 0; t < TAKEN; t++) {
            taken[t] = any_box();
            mark_box(&taken[t], in_taken);
        }
        const int64_t count = sxi_h5_rest(3, &whole, TAKEN, taken, MOST, rest);
        ck_assert(count >= 0);
        for (int64_t r = 0; r < count; r++) {
            mark_box(&rest[r], in_rest);
        }
        bool same = true;
        for (int k = 0; k < CUBE; k++) {
            same = same && in_rest[k] == (in_whole[k] && !in_taken[k]);
        }
        ck_assert(same);
    }
    const sxi_h5_range whole = {{0}, {7, 7, 7}}, middle = {{3, 3, 3}, {1, 1, 1}};
    sxi_h5_range rest[6];
    ck_assert_int_eq(sxi_h5_rest(3, &whole, 1, &middle, 6, rest), 6);
    ck_assert_int_eq(sxi_h5_rest(3, &whole, 1, &middle, 5, rest), -1);
    ck_assert_int_eq(sxi_h5_rest(3, &whole, 1, &whole, 1, rest), 0);
}
END_TEST

START_TEST(an_axis_without_end) {
    const sxi_h5_axis single = sxi_h5_axis_of(3, 10, SXI_H5_ENDLESS, 2);
    const sxi_h5_axis dense = sxi_h5_axis_of(3, 1, SXI_H5_ENDLESS, 1);
    const sxi_h5_axis block = sxi_h5_axis_of(3, 1, 1, SXI_H5_ENDLESS);
    ck_assert_int_eq(single.length, SXI_H5_ENDLESS);
    ck_assert_int_eq(sxi_h5_axis_below(&single, 1000000), 2 * 100000);
    ck_assert_int_eq(sxi_h5_axis_at(&single, 2 * 100000), 1000003);
    ck_assert_int_eq(sxi_h5_axis_below(&dense, 1000003), 1000000);
    ck_assert_int_eq(dense.block, block.block);
    ck_assert(sxi_h5_axes_meet(&single, &dense));
    const sxi_h5_axis between = sxi_h5_axis_of(5, 10, SXI_H5_ENDLESS, 8);
    ck_assert(!sxi_h5_axes_meet(&single, &between));
}
END_TEST

/* Where it says that two axes do not meet they do not, and it is exact for equal strides that go
 * on as long as each other, and for single blocks. */
START_TEST(axes_that_meet) {
    int met = 0;
    for (int i = 0; i < 4000; i++) {
        const sxi_h5_axis a = any_axis(), b = any_axis();
        bool meet = false;
        for (int64_t at = 0; at < PLACES && !meet; at++) {
            meet = sxi_h5_axis_below(&a, at + 1) > sxi_h5_axis_below(&a, at) &&
                   sxi_h5_axis_below(&b, at + 1) > sxi_h5_axis_below(&b, at);
        }
        const bool said = sxi_h5_axes_meet(&a, &b);
        ck_assert(said || !meet);
        ck_assert(said == meet || (a.block < a.length && b.block < b.length));
        met += meet;
    }
    ck_assert(met > 500 && met < 3500);
}
END_TEST

static sxi_h5_selection of_shape(int rank, const int64_t *shape) {
    sxi_h5_selection selection = {.rank = rank};
    for (int d = 0; d < rank; d++) {
        selection.axis[d] = sxi_h5_axis_of(0, 1, 1, shape[d]);
    }
    return selection;
}

static int pairs(int rank_of_target, const int64_t *target, int rank_of_source,
                 const int64_t *source, sxi_h5_pair *pair) {
    const sxi_h5_selection a = of_shape(rank_of_target, target);
    const sxi_h5_selection b = of_shape(rank_of_source, source);
    return sxi_h5_pair_axes(&a, &b, pair);
}

START_TEST(axes_are_tied_in_order) {
    sxi_h5_pair pair[2 * SX_MAX_RANK];
    ck_assert_int_eq(pairs(3, (int64_t[]){1, 4, 5}, 2, (int64_t[]){4, 5}, pair), 3);
    ck_assert(pair[0].target == 0 && pair[0].source == -1);
    ck_assert(pair[2].target == 2 && pair[2].source == 1);
    ck_assert_int_eq(pairs(2, (int64_t[]){4, 5}, 4, (int64_t[]){4, 1, 5, 1}, pair), 4);
    ck_assert(pair[1].target == -1 && pair[1].source == 1);
    ck_assert(pair[2].target == 1 && pair[2].source == 2);
    ck_assert_int_eq(pairs(2, (int64_t[]){1, 1}, 0, NULL, pair), 2);
    ck_assert_int_eq(pairs(2, (int64_t[]){4, 5}, 2, (int64_t[]){5, 4}, pair), -1);
    ck_assert_int_eq(pairs(2, (int64_t[]){4, 5}, 1, (int64_t[]){20}, pair), -1);
    ck_assert_int_eq(pairs(1, (int64_t[]){4}, 2, (int64_t[]){4, 2}, pair), -1);
}
END_TEST

START_TEST(runs_cover_all_and_are_even) {
    for (int i = 0; i < 4000; i++) {
        const sxi_h5_axis target = any_axis(), source = any_axis();
        const int64_t length = target.length < source.length ? target.length : source.length;
        int64_t count = 0;
        for (int64_t k = 0; k < length;) {
            const int64_t end = sxi_h5_run_end(&target, &source, k, length);
            const int64_t step =
                end - k > 1 ? sxi_h5_axis_at(&target, k + 1) - sxi_h5_axis_at(&target, k) : 1;
            bool even = end > k && end <= length;
            for (int64_t j = k; j < end; j++) {
                even = even && sxi_h5_axis_at(&source, j) - sxi_h5_axis_at(&source, k) == j - k &&
                       sxi_h5_axis_at(&target, j) - sxi_h5_axis_at(&target, k) == (j - k) * step;
            }
            ck_assert(even);
            k = end;
            count++;
        }
        ck_assert_int_eq(sxi_h5_runs(&target, &source, 0, length, 1000), count);
        ck_assert_int_eq(sxi_h5_runs(&target, &source, 0, length, 2), count < 2 ? count : 2);
    }
    /* Every other element of the target is one run, not one each. */
    const sxi_h5_axis target = sxi_h5_axis_of(0, 2, 50, 1), source = sxi_h5_axis_of(7, 1, 1, 50);
    ck_assert_int_eq(sxi_h5_run_end(&target, &source, 0, 50), 50);
}
END_TEST

SX_TEST_MAIN("h5_mapping", elements_lie_where_they_are_selected, elements_of_any_shape,
             the_rest_of_a_box, an_axis_without_end, axes_that_meet, axes_are_tied_in_order,
             runs_cover_all_and_are_even)
