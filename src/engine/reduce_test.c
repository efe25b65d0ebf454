/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tree.h"

#include <sextant/darray.h>
#include <sextant/engine.h>

#include "io/hdf5/h5file.h"
#include "sx_plain.h"

static sx_cluster *opened(int threads) {
    const sx_context context = {.threads = threads};
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(&context, &cluster));
    return cluster;
}

typedef sx_darray *(*reduce_fn)(sx_darray *array, int axis);
static const reduce_fn REDUCE[] = {sx_sum, sx_mean, sx_variance, sx_min, sx_max};

static void check_reduce(sx_darray *array, const plain *p, int axis, int what) {
    sx_darray *result = REDUCE[what](array, axis);
    const plain expected = plain_reduce(p, axis, what);
    plain_gathered(&expected, result);
    plain freed = expected;
    plain_free(&freed);
    sx_darray_destroy(&result);
}

START_TEST(all_axes_by_the_tree) {
    static const int64_t shapes[][4] = {{200, 7, 9},  {3, 700, 5},  {4, 5, 1000},
                                        {64, 2, 3},   {65, 2, 3},   {1, 1, 4097},
                                        {5000, 1, 1}, {128, 33, 1}, {1, 130, 600}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        plain p = plain_random(s, s % 2 ? SX_F32 : SX_F64, 3, shapes[s]);
        sx_array memory = plain_array(&p);
        for (int threads = 1; threads <= 3; threads++) {
            sx_cluster *cluster = opened(threads);
            sx_darray *array = sx_darray_from_memory(cluster, &memory);
            for (int i = 0; i < 15; i++) {
                check_reduce(array, &p, i % 3, i / 3);
            }
            sx_darray_destroy(&array);
            sx_cluster_close(&cluster);
        }
        sx_array_destroy(&memory);
        plain_free(&p);
    }
}
END_TEST

/* A source that knows how much was asked of it. */
typedef struct asked {
    const plain *p;
    int64_t most, calls;
} asked;

static sx_status read_rows(void *data, int64_t first, int64_t count, const sx_array *arrays) {
    asked *a = data;
    const int64_t row = plain_count(a->p) / a->p->shape[0];
    for (int64_t i = 0; i < count * row; i++) {
        ((double *)arrays[0].data)[i] = a->p->v[first * row + i];
    }
    a->most = count > a->most ? count : a->most;
    a->calls++;
    return SX_OK;
}

START_TEST(a_small_budget_gives_the_same_bits) {
    const int64_t shape[] = {1000, 30, 20};
    plain p = plain_random(3, SX_F64, 3, shape);
    for (int what = 0; what < 5; what++) {
        for (int axis = 0; axis < 3; axis++) {
            sx_cluster *cluster = opened(2);
            asked data = {.p = &p};
            const sx_darray_source source = {
                .arrays = 1,
                .array = {{.dtype = SX_F64, .rank = 3, .shape = {1000, 30, 20}}},
                .data = &data,
                .read = read_rows};
            sx_darray *array = NULL;
            ck_ok(sx_engine_memory(cluster, 600000)); /* of 4.8 MB */
            sx_darray_from_source(cluster, &source, &array);
            check_reduce(array, &p, axis, what);
            ck_assert_int_gt(data.calls, 7);
            ck_assert_int_le(data.most * 600 * 8, 600000 / 4);
            sx_darray_destroy(&array);
            sx_cluster_close(&cluster);
        }
    }
    plain_free(&p);
}
END_TEST

static void write_frames(const char *path, const plain *p) {
    sx_array all = plain_array(p);
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(path, true, &writer));
    ck_ok(sxi_h5_write(writer, "/frames", &all, "", ""));
    ck_ok(sxi_h5_commit(&writer));
    sx_array_destroy(&all);
}

static plain without(const plain *frames, double dark) {
    plain p = plain_copy(frames);
    for (int64_t i = 0; i < plain_count(&p); i++) {
        p.v[i] -= dark;
    }
    return p;
}

/* Frames so large that threads share each of them, and so many that none takes them all. */
START_TEST(a_file_is_folded_as_memory_is) {
    const char *path = "reduce_test.h5";
    const int64_t shape[] = {330, 37, 600};
    double dark = 0.5;
    sx_array scalar;
    ck_ok(sx_array_view(SX_F64, 0, NULL, &dark, &scalar));
    for (int type = SX_F32; type <= SX_F64; type++) {
        plain p = plain_random(11, (sx_dtype)type, 3, shape);
        plain clean = without(&p, dark);
        clean.dtype = SX_F64;
        write_frames(path, &p);
        for (int threads = 1; threads <= 3; threads++) {
            sx_cluster *cluster = opened(threads);
            sx_darray *frames = sx_darray_from_hdf5(cluster, path, "/frames");
            sx_darray *d = sx_darray_from_memory(cluster, &scalar);
            sx_darray *difference = sx_subtract(frames, d);
            check_reduce(frames, &p, 0, threads - 1);
            check_reduce(difference, &clean, 0, threads + 1);
            sx_darray_destroy(&difference);
            sx_darray_destroy(&d);
            sx_darray_destroy(&frames);
            sx_cluster_close(&cluster);
        }
        plain_free(&clean);
        plain_free(&p);
    }
    remove(path);
}
END_TEST

START_TEST(nan_is_seen) {
    const int64_t shape[] = {100, 2};
    plain p = plain_random(1, SX_F64, 2, shape);
    p.v[2 * 70] = (double)NAN;
    p.v[0] = (double)INFINITY;
    sx_array memory = plain_array(&p);
    sx_cluster *cluster = opened(1);
    sx_darray *array = sx_darray_from_memory(cluster, &memory);
    for (int what = 0; what < 5; what++) {
        sx_darray *result = REDUCE[what](array, 0);
        sx_array all;
        ck_ok(sx_gather(result, &all));
        ck_assert(isnan(((double *)all.data)[0]));
        ck_assert(!isnan(((double *)all.data)[1]));
        sx_array_destroy(&all);
        sx_darray_destroy(&result);
    }
    sx_darray_destroy(&array);
    sx_array_destroy(&memory);
    sx_cluster_close(&cluster);
    plain_free(&p);
}
END_TEST

START_TEST(known_answers) {
    const int16_t values[] = {1, 2, 3, 4, 5, 6};
    int16_t copy[6];
    memcpy(copy, values, sizeof copy);
    const int64_t shape[] = {2, 3};
    sx_array memory;
    ck_ok(sx_array_view(SX_I16, 2, shape, copy, &memory));
    sx_cluster *cluster = opened(1);
    sx_darray *array = sx_darray_from_memory(cluster, &memory);
    static const double expected[5][3] = {
        {5, 7, 9}, {2.5, 3.5, 4.5}, {4.5, 4.5, 4.5}, {1, 2, 3}, {4, 5, 6}};
    for (int what = 0; what < 5; what++) {
        sx_darray *result = REDUCE[what](array, 0);
        sx_array all;
        ck_ok(sx_gather(result, &all));
        ck_assert_int_eq(all.dtype, what > 2 ? SX_I16 : SX_F64);
        for (int64_t i = 0; i < 3; i++) {
            ck_assert(sx_array_get(&all, &i) == expected[what][i]);
        }
        sx_array_destroy(&all);
        sx_darray_destroy(&result);
    }
    sx_darray_destroy(&array);
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(nothing_and_wrong_axes) {
    const int64_t shape[] = {0, 3}, empty[] = {3, 0};
    sx_cluster *cluster = opened(1);
    sx_darray *none = sx_darray_create(cluster, SX_F64, 2, shape);
    sx_darray *sum = sx_sum(none, 0), *mean = sx_mean(none, 0), *least = sx_min(none, 0);
    sx_darray *axis = sx_sum(none, 2), *other = sx_darray_create(cluster, SX_F64, 2, empty);
    sx_darray *no_cells = sx_sum(other, 0);
    sx_array all;
    ck_ok(sx_gather(sum, &all));
    ck_assert_int_eq(sx_array_count(&all), 3);
    ck_assert(((double *)all.data)[2] == 0.0);
    sx_array_destroy(&all);
    ck_ok(sx_gather(mean, &all));
    ck_assert(isnan(((double *)all.data)[2]));
    sx_array_destroy(&all);
    ck_ok(sx_gather(no_cells, &all));
    ck_assert_int_eq(sx_array_count(&all), 0);
    sx_array_destroy(&all);
    ck_fails(sx_wait(least), SX_ERR_SHAPE, "none is the least");
    ck_fails(sx_wait(axis), SX_ERR_RANGE, "axis 2 was asked for, the array has 2 axes");
    sx_darray *arrays[] = {none, sum, mean, least, axis, other, no_cells};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        sx_darray_destroy(&arrays[i]);
    }
    sx_cluster_close(&cluster);
}
END_TEST

SX_TEST_MAIN("reduce", known_answers, all_axes_by_the_tree, a_small_budget_gives_the_same_bits,
             a_file_is_folded_as_memory_is, nan_is_seen, nothing_and_wrong_axes)
