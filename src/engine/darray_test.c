/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/darray.h>

#include <sextant/engine.h>
#include <sextant/hdf5.h>

#include "io/hdf5/h5file.h"
#include "sx_folder.h"
#include "sx_plain.h"
#include "sx_put.h"

static sx_cluster *opened(int threads) {
    const sx_context context = {.threads = threads};
    sx_cluster *cluster = NULL;
    ck_ok(sx_cluster_open(&context, &cluster));
    return cluster;
}

static void half(void *data, int64_t n, const double *x, double *y) {
    for (int64_t i = 0; i < n; i++) {
        y[i] = *(const double *)data * x[i];
    }
}

START_TEST(arithmetic_broadcasts) {
    static const struct {
        int rank[2];
        int64_t shape[2][3];
    } cases[] = {
        {{3, 3}, {{4, 5, 6}, {4, 5, 6}}}, {{3, 2}, {{4, 5, 6}, {5, 6}}},
        {{3, 3}, {{4, 1, 6}, {1, 5, 1}}}, {{1, 3}, {{1}, {4, 5, 600}}},
        {{0, 2}, {{0}, {7, 700}}},        {{2, 2}, {{300, 1}, {300, 300}}},
        {{1, 1}, {{5000}, {5000}}},       {{2, 2}, {{0, 3}, {1, 3}}},
    };
    sx_darray *(*const op[])(sx_darray *, sx_darray *) = {sx_add, sx_subtract, sx_multiply,
                                                          sx_divide};
    sx_cluster *cluster = opened(2);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int types = 0; types < 4; types++) {
            plain p[2], out;
            sx_array memory[2];
            sx_darray *in[2];
            for (int k = 0; k < 2; k++) {
                p[k] = plain_random(c + (uint64_t)k, types >> k & 1 ? SX_F32 : SX_F64,
                                    cases[c].rank[k], cases[c].shape[k]);
                memory[k] = plain_array(&p[k]);
                in[k] = sx_darray_from_memory(cluster, &memory[k]);
            }
            for (int o = 0; o < 4; o++) {
                ck_assert(plain_broadcast(&p[0], &p[1], &out));
                for (int64_t i = 0; i < plain_count(&out); i++) {
                    int64_t index[SX_MAX_RANK];
                    plain_index(&out, i, index);
                    const double x = plain_at(&p[0], out.rank, index);
                    const double y = plain_at(&p[1], out.rank, index);
                    out.v[i] = o == 0 ? x + y : o == 1 ? x - y : o == 2 ? x * y : x / y;
                }
                plain_round(&out);
                sx_darray *result = op[o](in[0], in[1]);
                plain_gathered(&out, result);
                plain_gathered(&out, result); /* it is stored by now */
                sx_darray_destroy(&result);
                plain_free(&out);
            }
            for (int k = 0; k < 2; k++) {
                sx_darray_destroy(&in[k]);
                sx_array_destroy(&memory[k]);
                plain_free(&p[k]);
            }
        }
    }
    sx_cluster_close(&cluster);
}
END_TEST

START_TEST(views_maps_and_types) {
    const int64_t shape[] = {6, 7}, start[] = {1, 2}, stop[] = {5, 7}, start2[] = {1, 0},
                  stop2[] = {3, 4};
    double factor = 0.5;
    plain p = plain_random(1, SX_F32, 2, shape);
    sx_array memory = plain_array(&p);
    sx_cluster *cluster = opened(1);
    sx_darray *in = sx_darray_from_memory(cluster, &memory);
    sx_darray *view = sx_darray_view(in, start, stop), *inner = sx_darray_view(view, start2, stop2);
    sx_darray *mapped = sx_map(inner, half, &factor), *wide = sx_convert(mapped, SX_F64);
    sx_darray *bytes = sx_convert(view, SX_I8);
    plain one = plain_view(&p, start, stop), two = plain_view(&one, start2, stop2);
    plain_gathered(&two, inner);
    for (int64_t i = 0; i < plain_count(&two); i++) {
        two.v[i] *= 0.5;
    }
    plain_gathered(&two, mapped);
    two.dtype = SX_F64;
    plain_gathered(&two, wide);
    ck_assert_int_eq(sx_darray_dtype(bytes), SX_I8);
    ck_assert_int_eq(sx_darray_rank(bytes), 2);
    ck_assert_int_eq(sx_darray_shape(bytes)[1], 5);
    for (int64_t i = 0; i < plain_count(&one); i++) {
        one.v[i] = rint(one.v[i]) + 0.0; /* no minus zero */
    }
    one.dtype = SX_I8;
    plain_gathered(&one, bytes);
    sx_darray *all[] = {in, view, inner, mapped, wide, bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sx_darray_destroy(&all[i]);
    }
    sx_cluster_close(&cluster);
    sx_array_destroy(&memory);
    plain_free(&p);
    plain_free(&one);
    plain_free(&two);
}
END_TEST

START_TEST(one_check_for_a_chain) {
    const int64_t shape[] = {6, 7}, other[] = {6, 5}, start[] = {0, 0}, stop[] = {6, 8};
    sx_cluster *cluster = opened(1);
    sx_darray *a = sx_darray_create(cluster, SX_F64, 2, shape);
    sx_darray *b = sx_darray_create(cluster, SX_F32, 2, other);
    sx_darray *bad = sx_add(a, b), *sum = sx_sum(bad, 0), *more = sx_multiply(a, sum);
    sx_darray *view = sx_darray_view(a, start, stop), *map = sx_map(view, half, NULL);
    sx_darray *missing = sx_darray_from_hdf5(cluster, "/no/such.h5", "/x"),
              *tiled = sx_darray_retile(missing, start, NULL), *wide = sx_convert(tiled, SX_F64);
    sx_array all;
    ck_fails(sx_wait(more), SX_ERR_SHAPE, "shapes [6, 7] and [6, 5] do not go together");
    ck_fails(sx_gather(map, &all), SX_ERR_RANGE, "0:8 was asked for of axis 1, which has 7");
    ck_fails(sx_wait(wide), SX_ERR_IO, "/no/such.h5");
    ck_fails(sx_wait(NULL), SX_ERR_ARGUMENT, "NULL");
    ck_fails(sx_darray_to_hdf5(1, &(sx_darray_dataset){.array = sum, .name = "/s"},
                               sx_folder("none.h5"), false),
             SX_ERR_SHAPE, "/s cannot be written: arrays of shapes");
    sx_darray *made[] = {a, b, bad, sum, more, view, map, missing, tiled, wide};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        sx_darray_destroy(&made[i]);
    }
    sx_darray_destroy(NULL);
    sx_cluster_close(&cluster);
}
END_TEST

static double number(int64_t i) { return (double)(i * 7919 % 65536); }

static const char *frames_file(const char *name, int64_t t, int64_t h, int64_t w) {
    const char *path = sx_folder(name);
    const int64_t shape[] = {t, h, w};
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(path, true, &writer));
    sx_put(writer, "/frames", SX_U16, 3, shape, "1", number);
    ck_ok(sxi_h5_commit(&writer));
    return path;
}

START_TEST(a_file_is_read_and_written_in_parts) {
    const char *path = frames_file("in.h5", 100, 40, 50), *out = sx_folder("out.h5");
    const int64_t shape[] = {100, 40, 50};
    plain p = plain_make(SX_F64, 3, shape);
    for (int64_t i = 0; i < plain_count(&p); i++) {
        p.v[i] = number(i);
    }
    sx_cluster *cluster = opened(2);
    sx_darray *frames = sx_darray_from_hdf5(cluster, path, "/frames");
    sx_darray *dark = sx_mean(frames, 0), *clean = sx_subtract(frames, dark);
    /* 1.6 MB do not fit, but are written all the same. */
    ck_ok(sx_engine_memory(cluster, 500000));
    const sx_darray_dataset sets[] = {{clean, "/data/clean", "1", "frames without their mean"},
                                      {dark, "/data/dark", NULL, NULL}};
    ck_ok(sx_darray_to_hdf5(2, sets, out, false));
    ck_fails(sx_darray_to_hdf5(2, sets, out, false), SX_ERR_EXISTS, "out.h5 exists");
    ck_fails(sx_wait(clean), SX_ERR_MEMORY, "1600000 bytes is to be stored");
    sx_darray_destroy(&clean);
    sx_darray_destroy(&frames);
    sx_darray_destroy(&dark);
    sx_cluster_close(&cluster);

    plain mean = plain_reduce(&p, 0, 1);
    for (int64_t i = 0; i < plain_count(&p); i++) {
        p.v[i] -= mean.v[i % 2000];
    }
    cluster = opened(1);
    /* A sum has forgotten the file, but not its name. */
    const char *again = sx_folder("again.h5");
    sx_hdf5 *file = NULL;
    char text[300];
    sx_darray *read = sx_darray_from_hdf5(cluster, out, "/data/clean");
    sx_darray *read_mean = sx_darray_from_hdf5(cluster, out, "/data/dark");
    plain_gathered(&p, read);
    plain_gathered(&mean, read_mean);
    ck_ok(sx_wait(read)); /* leaves it in the file */
    sx_darray *sum = sx_sum(read, 0), *twice = sx_add(sum, sum);
    ck_ok(sx_wait(twice));
    ck_ok(sx_darray_to_hdf5(1, &(sx_darray_dataset){.array = twice, .name = "/x"}, again, false));
    ck_ok(sx_hdf5_open(again, &file));
    ck_ok(sxi_h5_read_text(file, "/provenance/inputs/path", 0, text, sizeof text));
    ck_assert_str_eq(text, out);
    sx_hdf5_close(&file);
    ck_fails(sx_darray_to_hdf5(1, &(sx_darray_dataset){.array = twice, .name = "/x"}, out, true),
             SX_ERR_ARGUMENT, "is the input");
    sx_darray_destroy(&sum);
    sx_darray_destroy(&twice);
    sx_darray_destroy(&read);
    sx_darray_destroy(&read_mean);
    sx_cluster_close(&cluster);
    plain_free(&p);
    plain_free(&mean);
}
END_TEST

/* Two arrays of one source: rows of a cube [3][rows][4] and of a mask [rows][4]. */
typedef struct both {
    int64_t calls;
    bool not_wanted; /* one of them, in some call */
} both;

static sx_status read_both(void *data, int64_t first, int64_t count, const sx_array *arrays) {
    both *b = data;
    b->calls++;
    b->not_wanted = b->not_wanted || !arrays[0].data || !arrays[1].data;
    for (int64_t i = 0; i < count * 4; i++) {
        for (int64_t t = 0; t < 3 && arrays[0].data; t++) {
            ((float *)arrays[0].data)[t * count * 4 + i] = (float)(1000 * t + first * 4 + i);
        }
        if (arrays[1].data) {
            ((uint8_t *)arrays[1].data)[i] = (uint8_t)((first * 4 + i) % 2);
        }
    }
    return SX_OK;
}

START_TEST(a_source_fills_rows) {
    enum { ROWS = 50 };
    const int64_t shape[] = {3, ROWS, 4}, flat[] = {ROWS, 4};
    both data = {0};
    const sx_darray_source source = {
        .arrays = 2,
        .array = {{SX_F32, 3, {3, ROWS, 4}, 1}, {SX_U8, 2, {ROWS, 4}, 0}},
        .data = &data,
        .read = read_both};
    plain p = plain_make(SX_F32, 3, shape), good = plain_make(SX_F64, 3, shape);
    plain mask = plain_make(SX_U8, 2, flat);
    for (int64_t i = 0; i < 3 * ROWS * 4; i++) {
        p.v[i] = (double)(1000 * (i / (ROWS * 4)) + i % (ROWS * 4));
        good.v[i] = p.v[i] * (double)(i % 2);
        mask.v[i % (ROWS * 4)] = (double)(i % 2);
    }
    sx_cluster *cluster = opened(2);
    sx_darray *arrays[2];
    sx_darray_from_source(cluster, &source, arrays);
    plain_gathered(&p, arrays[0]);
    plain_gathered(&mask, arrays[1]);
    ck_assert(data.not_wanted);
    data = (both){0};
    sx_darray *product = sx_multiply(arrays[0], arrays[1]);
    plain_gathered(&good, product);
    ck_assert(!data.not_wanted); /* both at once */
    sx_darray_source wrong = source;
    wrong.array[1].shape[0] = 49;
    sx_darray *none[2];
    sx_darray_from_source(cluster, &wrong, none);
    ck_fails(sx_wait(none[1]), SX_ERR_SHAPE, "have 50 and 49 rows");
    sx_darray *all[] = {arrays[0], arrays[1], product, none[0], none[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sx_darray_destroy(&all[i]);
    }
    sx_cluster_close(&cluster);
    plain_free(&p);
    plain_free(&good);
    plain_free(&mask);
}
END_TEST

START_TEST(long_chains_are_cut) {
    const int64_t shape[] = {10, 10};
    double factor = 0.5;
    plain p = plain_random(1, SX_F64, 2, shape);
    sx_array memory = plain_array(&p);
    sx_cluster *cluster = opened(1);
    sx_darray *x = sx_darray_from_memory(cluster, &memory);
    for (int i = 0; i < 200; i++) { /* doubling and halving */
        sx_darray *sum = sx_add(x, x);
        sx_darray_destroy(&x);
        x = sx_map(sum, half, &factor);
        sx_darray_destroy(&sum);
    }
    plain_gathered(&p, x);
    sx_darray_destroy(&x);
    sx_cluster_close(&cluster);
    sx_array_destroy(&memory);
    plain_free(&p);
}
END_TEST

SX_TEST_MAIN("darray", arithmetic_broadcasts, views_maps_and_types, one_check_for_a_chain,
             a_file_is_read_and_written_in_parts, a_source_fills_rows, long_chains_are_cut)
