/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <sextant/array.h>

#include "sx_check.h"

START_TEST(types_have_size_and_name) {
    ck_assert_uint_eq(sx_dtype_size(SX_U16), 2);
    ck_assert_uint_eq(sx_dtype_size(SX_F64), 8);
    ck_assert_str_eq(sx_dtype_name(SX_F32), "float32");
    ck_assert_uint_eq(sx_dtype_size((sx_dtype)99), 0);
    ck_assert_str_eq(sx_dtype_name((sx_dtype)99), "?");
}
END_TEST

START_TEST(create_is_zeroed_aligned_contiguous) {
    sx_array a;
    ck_ok(sx_array_create(SX_F32, 3, (int64_t[]){3, 5, 7}, &a));
    ck_assert_int_eq(sx_array_count(&a), 105);
    ck_assert_uint_eq((uintptr_t)a.data % 64, 0);
    ck_assert(sx_array_contiguous(&a));
    ck_assert_int_eq(a.stride[0], 35);
    for (int i = 0; i < 105; i++) {
        ck_near(((float *)a.data)[i], 0, 0, 0);
    }
    sx_array_destroy(&a);
    ck_assert_ptr_null(a.data);
    ck_assert_int_eq(sx_array_count(&a), 0);
    sx_array_destroy(&a);
    sx_array_destroy(NULL);
}
END_TEST

START_TEST(impossible_shapes_are_refused) {
    sx_array a;
    memset(&a, 7, sizeof a);
    const int64_t big[] = {1LL << 31, 1LL << 31, 1LL << 3};
    ck_fails(sx_array_create(SX_U8, 3, big, &a), SX_ERR_SHAPE, "does not fit");
    ck_assert_ptr_null(a.data);
    ck_assert_ptr_null(a.owned);
    ck_fails(sx_array_create(SX_F64, 2, (int64_t[]){1LL << 31, 1LL << 30}, &a), SX_ERR_SHAPE,
             "does not fit");
    ck_fails(sx_array_create(SX_U8, 1, (int64_t[]){-1}, &a), SX_ERR_SHAPE, "negative extent -1");
    ck_fails(sx_array_create(SX_U8, 9, big, &a), SX_ERR_SHAPE, "9 axes");
    ck_fails(sx_array_create((sx_dtype)99, 1, (int64_t[]){1}, &a), SX_ERR_TYPE, "99");
    /* Zero times huge is zero, not an overflow. */
    ck_ok(sx_array_create(SX_F64, 3, (int64_t[]){INT64_MAX, INT64_MAX, 0}, &a));
    ck_assert_int_eq(sx_array_count(&a), 0);
    sx_array_destroy(&a);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
START_TEST(lack_of_memory_is_an_error) {
    sx_array a;
    ck_fails(sx_array_create(SX_F64, 1, (int64_t[]){1LL << 59}, &a), SX_ERR_MEMORY, "no memory");
    ck_assert_ptr_null(a.data);
}
END_TEST
#else /* the sanitizer ends the program instead of returning NULL */
START_TEST(lack_of_memory_is_an_error) {}
END_TEST
#endif

START_TEST(slice_is_a_view_of_the_box) {
    int16_t data[4][6];
    for (int i = 0; i < 24; i++) {
        data[i / 6][i % 6] = (int16_t)i;
    }
    sx_array a, b;
    ck_ok(sx_array_view(SX_I16, 2, (int64_t[]){4, 6}, data, &a));
    ck_ok(sx_array_slice(&a, (int64_t[]){1, 2}, (int64_t[]){3, 5}, &b));
    ck_assert_int_eq(sx_array_count(&b), 6);
    ck_assert(!sx_array_contiguous(&b));
    ck_near(sx_array_get(&b, (int64_t[]){1, 2}), data[2][4], 0, 0);
    sx_array_set(&b, (int64_t[]){0, 0}, -5.0);
    ck_assert_int_eq(data[1][2], -5);
    ck_ok(sx_array_slice(&a, (int64_t[]){2, 0}, (int64_t[]){4, 6}, &b));
    ck_assert(sx_array_contiguous(&b));
    ck_ok(sx_array_slice(&a, (int64_t[]){4, 0}, (int64_t[]){4, 6}, &b));
    ck_assert_int_eq(sx_array_count(&b), 0);
    ck_fails(sx_array_slice(&a, (int64_t[]){0, 2}, (int64_t[]){4, 7}, &b), SX_ERR_RANGE,
             "2:7 was asked for of axis 1, which has 6");
    ck_fails(sx_array_slice(&a, (int64_t[]){3, 0}, (int64_t[]){2, 6}, &b), SX_ERR_RANGE, "3:2");
}
END_TEST

START_TEST(set_rounds_and_clamps) {
    const struct {
        sx_dtype dtype;
        double in, out;
    } cases[] = {{SX_U8, 300, 255},
                 {SX_U8, -1, 0},
                 {SX_U8, 256, 255},
                 {SX_U8, (double)NAN, 0},
                 {SX_I8, -128.6, -128},
                 {SX_I8, (double)NAN, 0},
                 {SX_I16, 2.5, 2},
                 {SX_I16, 3.5, 4},
                 {SX_I16, -1.6, -2},
                 {SX_U32, 4294967295.0, 4294967295.0},
                 {SX_U32, 4294967295.5, 4294967295.0},
                 {SX_I32, -(double)INFINITY, -2147483648.0},
                 {SX_I64, (double)INFINITY, 9223372036854775807.0},
                 {SX_I64, -1e19, -9223372036854775808.0},
                 {SX_U64, 1e20, 18446744073709551615.0},
                 {SX_F32, 0.5, 0.5},
                 {SX_F64, -1e300, -1e300}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_array a;
        ck_ok(sx_array_create(cases[i].dtype, 0, NULL, &a));
        ck_assert_int_eq(sx_array_count(&a), 1);
        sx_array_set(&a, NULL, cases[i].in);
        ck_near(sx_array_get(&a, NULL), cases[i].out, 0, 0);
        sx_array_destroy(&a);
    }
}
END_TEST

/* Every pair of types, with more elements than one piece, through a transposed view. */
START_TEST(copy_converts_any_type_and_strides) {
    enum { H = 3, W = 700 };
    for (int from = SX_I8; from <= SX_F64; from++) {
        for (int to = SX_I8; to <= SX_F64; to++) {
            sx_array a, b, t;
            ck_ok(sx_array_create((sx_dtype)from, 2, (int64_t[]){H, W}, &a));
            ck_ok(sx_array_create((sx_dtype)to, 2, (int64_t[]){W, H}, &b));
            t = b;
            t.shape[0] = H;
            t.shape[1] = W;
            t.stride[0] = 1;
            t.stride[1] = H;
            for (int64_t i = 0; i < H * W; i++) {
                sx_array_set(&a, (int64_t[]){i / W, i % W}, (double)(i % 101));
            }
            ck_ok(sx_array_copy(&a, &t));
            for (int64_t i = 0; i < H * W; i++) {
                ck_near(sx_array_get(&b, (int64_t[]){i % W, i / W}), (double)(i % 101), 0, 0);
            }
            sx_array_destroy(&a);
            sx_array_destroy(&b);
        }
    }
}
END_TEST

START_TEST(copy_keeps_all_bits_of_integers) {
    int64_t large[] = {(1LL << 60) + 1, -3, INT64_MIN};
    uint64_t wide[] = {(1ULL << 63) + 5, 7, UINT64_MAX}, target[3];
    sx_array a, b, c;
    ck_ok(sx_array_view(SX_I64, 1, (int64_t[]){3}, large, &a));
    ck_ok(sx_array_view(SX_U64, 1, (int64_t[]){3}, target, &b));
    ck_ok(sx_array_view(SX_U64, 1, (int64_t[]){3}, wide, &c));
    ck_ok(sx_array_copy(&a, &b));
    ck_assert(target[0] == (1ULL << 60) + 1 && target[1] == 0 && target[2] == 0);
    ck_ok(sx_array_copy(&c, &b));
    ck_assert(memcmp(wide, target, sizeof wide) == 0);
    ck_ok(sx_array_copy(&c, &a));
    ck_assert(large[0] == INT64_MAX && large[1] == 7 && large[2] == INT64_MAX);
    ck_fails(sx_array_copy(&(sx_array){.rank = 2, .shape = {1, 3}}, &a), SX_ERR_SHAPE,
             "must be equal");
}
END_TEST

SX_TEST_MAIN("array", types_have_size_and_name, create_is_zeroed_aligned_contiguous,
             impossible_shapes_are_refused, lack_of_memory_is_an_error, slice_is_a_view_of_the_box,
             set_rounds_and_clamps, copy_converts_any_type_and_strides,
             copy_keeps_all_bits_of_integers)
