/* SPDX-License-Identifier: Apache-2.0
 * Files are made with plain HDF5 calls: what others write, and what breaks on the way. */
#include <hdf5.h>

#include "base/fail.h"
#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static hid_t make(const char *path) {
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(file >= 0);
    return file;
}

/* A dataset of count elements 1, 2, 3 ... of any numeric type. */
static void put(hid_t file, const char *name, hid_t type, hsize_t count, hid_t created) {
    int values[1000];
    for (int i = 0; i < 1000; i++) {
        values[i] = i + 1;
    }
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(set >= 0);
    ck_assert(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

/* Reads [start, start + count) of a dataset of one axis. */
static sx_status take(const char *path, const char *name, int64_t start, int64_t count,
                      double *values) {
    sx_hdf5 *file = NULL;
    sx_array view;
    sx_status status = SX_OK;
    SXI_TRY(sx_hdf5_open(path, &file));
    SXI_GO(sx_array_view(SX_F64, 1, &count, values, &view));
    status = sxi_h5_read_box(file, name, &start, &count, &view);
out:
    sx_hdf5_close(&file);
    return status;
}

START_TEST(what_is_not_hdf5_is_named) {
    static const struct {
        const char *bytes;
        size_t count;
        const char *words;
    } cases[] = {{"SIMPLE  =                    T", 30, "a FITS file"},
                 {"PK\x03\x04....", 8, "zip"},
                 {"t, y\n1, 2\n", 10, "text"},
                 {"", 0, "empty"},
                 {"\0\0\0\0\0\0\0\0", 8, "zero bytes"},
                 {"version https://git-lfs.github.com/spec/v1\n", 43, "git lfs pull"},
                 {"\x01\x02\x03\x04", 4, "no format known"}};
    sx_folder_empty();
    sx_hdf5 *file = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = sx_folder_write("x.h5", cases[i].bytes, cases[i].count);
        ck_fails(sx_hdf5_open(path, &file), SX_ERR_FORMAT, cases[i].words);
        ck_assert_ptr_nonnull(strstr(sx_error_message(), path));
        ck_assert_ptr_null(file);
    }
    ck_fails(sx_hdf5_open(sx_folder("none.h5"), &file), SX_ERR_IO, "no such file");
    ck_fails(sx_hdf5_open("/tmp", &file), SX_ERR_IO, "is a folder");
    ck_fails(sx_hdf5_open("/dev/null", &file), SX_ERR_IO, "not a regular file");
}
END_TEST

START_TEST(a_cut_file_is_told_by_its_bytes) {
    sx_folder_empty();
    const char *path = sx_folder("cut.h5");
    hid_t file = make(path);
    put(file, "x", H5T_NATIVE_INT, 1000, H5P_DEFAULT);
    H5Fclose(file);
    size_t count = 0;
    char *bytes = sx_folder_slurp(path, &count);
    sx_folder_write("cut.h5", bytes, count - 1000);
    sx_hdf5 *opened = NULL;
    char words[100];
    snprintf(words, sizeof words, "truncated: %zu bytes on disk, HDF5 expects %zu", count - 1000,
             count);
    ck_fails(sx_hdf5_open(path, &opened), SX_ERR_FORMAT, words);
    sx_folder_write("cut.h5", bytes, 40);
    ck_fails(sx_hdf5_open(path, &opened), SX_ERR_FORMAT, "40 bytes");
    /* A user block in front is allowed. */
    char *moved = calloc(1, count + 512);
    memcpy(moved + 512, bytes, count);
    sx_folder_write("cut.h5", moved, count + 512);
    double values[2];
    ck_ok(take(path, "x", 998, 2, values));
    ck_assert(values[1] == 1000);
    free(moved);
    free(bytes);
}
END_TEST

/* A float of two bytes, as NumPy writes it. */
static hid_t half(void) {
    hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_fields(type, 15, 10, 5, 0, 10);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, 15);
    return type;
}

static hid_t bool_type(void) {
    hid_t type = H5Tenum_create(H5T_STD_I8LE);
    H5Tenum_insert(type, "FALSE", (signed char[]){0});
    H5Tenum_insert(type, "TRUE", (signed char[]){1});
    return type;
}

/* HDF5 itself hands out zeros. */
START_TEST(a_file_cut_while_open_is_told) {
    sx_folder_empty();
    const char *path = sx_folder("shrinks.h5");
    hid_t file = make(path);
    put(file, "x", H5T_NATIVE_INT, 1000, H5P_DEFAULT);
    H5Fclose(file);
    sx_hdf5 *opened = NULL;
    sx_array array = {0};
    ck_ok(sx_hdf5_open(path, &opened));
    ck_assert_int_eq(truncate(path, 3000), 0);
    ck_fails(sxi_h5_read(opened, "x", NULL, &array), SX_ERR_IO, "the file ends at 3000");
    ck_assert_ptr_null(array.data);
    sx_hdf5_close(&opened);
}
END_TEST

START_TEST(any_numeric_type_is_read) {
    sx_folder_empty();
    const char *path = sx_folder("types.h5");
    hid_t file = make(path);
    hid_t small = half();
    hid_t odd = H5Tcopy(H5T_STD_U32BE);
    H5Tset_precision(odd, 20);
    const struct {
        hid_t type;
        sx_dtype dtype;
    } cases[] = {{H5T_STD_I8LE, SX_I8},
                 {H5T_STD_U8BE, SX_U8},
                 {H5T_STD_I16BE, SX_I16},
                 {H5T_STD_U16LE, SX_U16},
                 {H5T_STD_I32BE, SX_I32},
                 {H5T_STD_U32LE, SX_U32},
                 {H5T_STD_I64BE, SX_I64},
                 {H5T_STD_U64LE, SX_U64},
                 {H5T_IEEE_F32BE, SX_F32},
                 {H5T_IEEE_F64BE, SX_F64},
                 {H5T_VAX_F32, SX_F32},
                 {small, SX_F32},
                 {odd, SX_U32}};
    enum { CASES = sizeof cases / sizeof *cases };
    char name[8];
    for (int i = 0; i < CASES; i++) {
        snprintf(name, sizeof name, "t%d", i);
        put(file, name, cases[i].type, 100, H5P_DEFAULT);
    }
    H5Tclose(small);
    H5Tclose(odd);
    H5Fclose(file);
    sx_hdf5 *opened = NULL;
    ck_ok(sx_hdf5_open(path, &opened));
    for (int i = 0; i < CASES; i++) {
        snprintf(name, sizeof name, "t%d", i);
        sx_hdf5_dataset about;
        ck_ok(sx_hdf5_describe(opened, name, &about));
        ck_assert(about.numeric);
        ck_assert_int_eq(about.dtype, cases[i].dtype);
        sx_array array;
        ck_ok(sxi_h5_read(opened, name, NULL, &array));
        for (int64_t j = 0; j < 100; j++) {
            ck_assert(sx_array_get(&array, &j) == (double)(j + 1));
        }
        sx_array_destroy(&array);
    }
    sx_hdf5_close(&opened);
}
END_TEST

static void put_bool(hid_t file) {
    const signed char flags[] = {1, 0, 1};
    const hsize_t count = 3;
    hid_t type = bool_type();
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(file, "flag", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flags) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

static void put_bits(hid_t file) {
    const unsigned short bits[] = {1, 512, 65535};
    const hsize_t count = 3;
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set =
        H5Dcreate2(file, "bits", H5T_STD_B16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(H5Dwrite(set, H5T_NATIVE_B16, H5S_ALL, H5S_ALL, H5P_DEFAULT, bits) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void put_empty(hid_t file, const char *name, hid_t type, hid_t space) {
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(set >= 0);
    H5Dclose(set);
}

START_TEST(what_holds_no_plain_numbers) {
    sx_folder_empty();
    const char *path = sx_folder("odd.h5");
    hid_t file = make(path);
    put_bool(file);
    put_bits(file);
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t null = H5Screate(H5S_NULL);
    hid_t text = H5Tcopy(H5T_C_S1);
    hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(pair, "r", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(pair, "i", 8, H5T_NATIVE_DOUBLE);
    put_empty(file, "text", text, scalar);
    put_empty(file, "pair", pair, scalar);
    put_empty(file, "ref", H5T_STD_REF_OBJ, scalar);
    put_empty(file, "long", H5T_NATIVE_LDOUBLE, scalar);
    put_empty(file, "null", H5T_NATIVE_INT, null);
    put_empty(file, "one", H5T_NATIVE_INT, scalar);
    H5Tclose(text);
    H5Tclose(pair);
    H5Sclose(scalar);
    H5Sclose(null);
    H5Fclose(file);
    sx_hdf5 *opened = NULL;
    sx_array array;
    ck_ok(sx_hdf5_open(path, &opened));
    ck_fails(sxi_h5_read(opened, "text", NULL, &array), SX_ERR_TYPE, "holds text");
    ck_fails(sxi_h5_read(opened, "pair", NULL, &array), SX_ERR_TYPE, "records (compound) of r, i");
    ck_fails(sxi_h5_read(opened, "ref", NULL, &array), SX_ERR_TYPE, "references");
    ck_fails(sxi_h5_read(opened, "long", NULL, &array), SX_ERR_TYPE, "16 bytes");
    ck_fails(sxi_h5_read(opened, "null", NULL, &array), SX_ERR_SHAPE, "is empty");
    ck_ok(sxi_h5_read(opened, "one", NULL, &array));
    ck_assert_int_eq(array.rank, 0);
    sx_array_destroy(&array);
    ck_ok(sxi_h5_read(opened, "flag", NULL, &array));
    ck_assert_int_eq(array.dtype, SX_U8);
    ck_assert_mem_eq(array.data, ((const unsigned char[]){1, 0, 1}), 3);
    sx_array_destroy(&array);
    const sx_dtype real = SX_F64;
    ck_ok(sxi_h5_read(opened, "bits", &real, &array));
    ck_assert_mem_eq(array.data, ((const double[]){1, 512, 65535}), 3 * sizeof(double));
    sx_array_destroy(&array);
    sx_hdf5_close(&opened);
}
END_TEST

START_TEST(a_missing_dataset_is_answered_with_what_there_is) {
    sx_folder_empty();
    const char *path = sx_folder("names.h5");
    hid_t file = make(path);
    hid_t group = H5Gcreate2(file, "cube", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "cube/signal", H5T_NATIVE_INT, 4, H5P_DEFAULT);
    put(file, "other", H5T_NATIVE_INT, 4, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("gone.h5", "/x", file, "external", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    H5Fclose(file);
    double value;
    ck_fails(take(path, "/cube/signl", 0, 1, &value), SX_ERR_MISSING, "nearest is /cube/signal");
    ck_fails(take(path, "signal", 0, 1, &value), SX_ERR_MISSING, "nearest is /cube/signal");
    ck_fails(take(path, "/zzzzzzzz", 0, 1, &value), SX_ERR_MISSING,
             "holds /cube/signal, /other (2 in all)");
    ck_fails(take(path, "/cube", 0, 1, &value), SX_ERR_MISSING, "is a group");
    ck_fails(take(path, "/soft", 0, 1, &value), SX_ERR_MISSING, "link to /nowhere");
    ck_fails(take(path, "/external", 0, 1, &value), SX_ERR_MISSING, "/x in the file gone.h5");
    ck_fails(take(path, "/external/deep", 0, 1, &value), SX_ERR_MISSING, "in the file gone.h5");
}
END_TEST

START_TEST(a_missing_filter_is_named) {
    sx_folder_empty();
    const char *path = sx_folder("filter.h5");
    const hsize_t chunk = 10;
    hid_t file = make(path);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(created, 1, &chunk);
    /* Optional, so HDF5 writes the chunk raw; its mask is then set as if it had been filtered. */
    H5Pset_filter(created, 305, H5Z_FLAG_OPTIONAL, 0, NULL);
    put(file, "raw", H5T_NATIVE_INT, 10, created);
    const int values[10] = {0};
    const hsize_t origin = 0;
    hid_t space = H5Screate_simple(1, &chunk, NULL);
    hid_t set = H5Dcreate2(file, "lzo", H5T_NATIVE_INT, space, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(H5Dwrite_chunk(set, H5P_DEFAULT, 0, &origin, sizeof values, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(created);
    H5Fclose(file);
    double value[10];
    ck_fails(take(path, "lzo", 0, 10, value), SX_ERR_UNSUPPORTED, "LZO (filter 305)");
    ck_ok(take(path, "raw", 0, 10, value)); /* not applied, so not needed */
    ck_assert(value[9] == 10);
}
END_TEST

START_TEST(a_chunk_that_was_not_written_in_full) {
    sx_folder_empty();
    const char *path = sx_folder("short.h5");
    const hsize_t chunk = 10;
    const hsize_t origin = 0;
    const int values[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    hid_t file = make(path);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(created, 1, &chunk);
    hid_t space = H5Screate_simple(1, &chunk, NULL);
    hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(H5Dwrite_chunk(set, H5P_DEFAULT, 0, &origin, 6 * sizeof *values, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(created);
    H5Fclose(file);
    double value[10];
    ck_fails(take(path, "x", 0, 10, value), SX_ERR_FORMAT,
             "a chunk of 40 bytes is stored in 24: it was not written in full");
}
END_TEST

START_TEST(boxes_of_any_numbers) {
    sx_folder_empty();
    const char *path = sx_folder("boxes.h5");
    hid_t made = make(path);
    put(made, "x", H5T_NATIVE_INT, 10, H5P_DEFAULT);
    H5Fclose(made);
    const int64_t wrong[][2] = {{INT64_MAX, 1}, {INT64_MAX, INT64_MAX}, {-1, 1},
                                {INT64_MIN, 1}, {0, INT64_MAX},         {11, 0}};
    sx_hdf5 *file = NULL;
    ck_ok(sx_hdf5_open(path, &file));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int value = 0;
        sx_array array = {SX_I32, 1, {wrong[i][1]}, {1}, &value, NULL};
        const sx_hdf5_box box = {file, "x", &wrong[i][0], &wrong[i][1], &array};
        ck_fails(sx_hdf5_read(1, &box, NULL, NULL), SX_ERR_RANGE,
                 "of axis 0 are asked for, it has 10");
    }
    sx_hdf5_close(&file);
}
END_TEST

/* /v in path: source[0:10] of the datasets named, one after the other. */
static void virtual_of(const char *path, int count, const char *const *files,
                       const char *const *names) {
    hid_t file = make(path);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t extent = 10 * (hsize_t)count;
    const hsize_t part = 10;
    hid_t whole = H5Screate_simple(1, &extent, NULL);
    hid_t source = H5Screate_simple(1, &part, NULL);
    for (int i = 0; i < count; i++) {
        const hsize_t start = 10 * (hsize_t)i;
        H5Sselect_hyperslab(whole, H5S_SELECT_SET, &start, NULL, &part, NULL);
        H5Pset_virtual(created, whole, files[i], names[i], source);
    }
    H5Sselect_all(whole);
    hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_INT, whole, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(set >= 0);
    H5Dclose(set);
    put(file, "here", H5T_NATIVE_INT, 10, H5P_DEFAULT);
    H5Sclose(whole);
    H5Sclose(source);
    H5Pclose(created);
    H5Fclose(file);
}

START_TEST(a_virtual_dataset_never_reads_as_fill_values) {
    sx_folder_empty();
    const char *source = sx_folder("source.h5");
    const char *path = sx_folder("v.h5");
    hid_t file = make(source);
    put(file, "x", H5T_NATIVE_INT, 10, H5P_DEFAULT);
    put(file, "short", H5T_NATIVE_INT, 5, H5P_DEFAULT);
    H5Fclose(file);
    const char *const files[] = {"source.h5", ".", "gone.h5", "source.h5", ".", "source.h5"};
    const char *const names[] = {"x", "here", "x", "y", "there", "short"};
    virtual_of(path, 6, files, names);
    double value[60];
    ck_ok(take(path, "v", 0, 20, value));
    ck_assert(value[0] == 1 && value[9] == 10 && value[10] == 1);
    ck_fails(take(path, "v", 15, 10, value), SX_ERR_MISSING, "source file gone.h5 is missing");
    ck_fails(take(path, "v", 30, 1, value), SX_ERR_MISSING,
             "source dataset y in the file source.h5 is missing");
    ck_fails(take(path, "v", 40, 1, value), SX_ERR_MISSING, "source dataset there in the file");
    ck_fails(take(path, "v", 50, 10, value), SX_ERR_MISSING, "source.h5:short has 5 elements, 10");
    ck_fails(take(path, "v", 0, 60, value), SX_ERR_MISSING, "gone.h5");
    /* A virtual dataset of a virtual dataset. */
    const char *outer = sx_folder("outer.h5");
    const char *const inner_file[] = {"w.h5"};
    const char *const inner_name[] = {"v"};
    virtual_of(sx_folder("w.h5"), 1, files + 2, names + 2);
    virtual_of(outer, 1, inner_file, inner_name);
    ck_fails(take(outer, "v", 0, 10, value), SX_ERR_MISSING, "gone.h5");
}
END_TEST

START_TEST(numbered_sources_of_a_virtual_dataset) {
    sx_folder_empty();
    const char *path = sx_folder("p.h5");
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "part%d.h5", i);
        hid_t part = make(sx_folder(name));
        put(part, "x", H5T_NATIVE_INT, 10, H5P_DEFAULT);
        H5Fclose(part);
    }
    hid_t file = make(path);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t extent = 10, most = H5S_UNLIMITED, start = 0, block = 10, one = 1;
    hid_t whole = H5Screate_simple(1, &extent, &most);
    hid_t source = H5Screate_simple(1, &block, NULL);
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, &start, &block, &most, &block);
    ck_assert(H5Pset_virtual(created, whole, "part%b.h5", "x", source) >= 0);
    H5Sselect_all(whole);
    hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_INT, whole, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(set >= 0 && one == 1);
    H5Dclose(set);
    H5Sclose(whole);
    H5Sclose(source);
    H5Pclose(created);
    H5Fclose(file);
    double value[30];
    ck_ok(take(path, "v", 0, 30, value));
    ck_assert(value[29] == 10 && value[10] == 1);
    /* The extent is fixed when the dataset is opened: a part that goes later must not read as 0. */
    sx_hdf5 *opened = NULL;
    ck_ok(sx_hdf5_open(path, &opened));
    sx_hdf5_dataset about;
    ck_ok(sx_hdf5_describe(opened, "v", &about));
    ck_assert_int_eq(about.shape[0], 30);
    remove(sx_folder("part1.h5"));
    const int64_t from = 0, to = 30, tail = 20, ten = 10;
    sx_array view;
    ck_ok(sx_array_view(SX_F64, 1, &to, value, &view));
    ck_fails(sxi_h5_read_box(opened, "v", &from, &to, &view), SX_ERR_MISSING, "part1.h5");
    ck_ok(sx_array_view(SX_F64, 1, &ten, value, &view));
    ck_ok(sxi_h5_read_box(opened, "v", &tail, &ten, &view));
    sx_hdf5_close(&opened);
}
END_TEST

START_TEST(raw_data_in_other_files_must_be_there) {
    sx_folder_empty();
    const char *path = sx_folder("e.h5");
    const char *raw = sx_folder("e.raw");
    hid_t file = make(path);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(created, raw, 0, 40);
    put(file, "x", H5T_NATIVE_INT, 10, created);
    H5Pclose(created);
    H5Fclose(file);
    double value[10];
    ck_ok(take(path, "x", 0, 10, value));
    ck_assert(value[9] == 10);
    sx_folder_write("e.raw", "123", 3);
    ck_fails(take(path, "x", 0, 10, value), SX_ERR_FORMAT, "3 of 40 bytes");
    remove(raw);
    ck_fails(take(path, "x", 0, 10, value), SX_ERR_MISSING, "e.raw");
}
END_TEST

/* Bands of a chunked, compressed dataset, in type and shape converted, equal the whole. */
START_TEST(bands_equal_the_whole) {
    sx_folder_empty();
    const char *path = sx_folder("bands.h5");
    enum { T = 7, H = 23, W = 11 };
    hid_t file = make(path);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t extent[] = {T, H, W}, chunk[] = {2, 5, 4};
    H5Pset_chunk(created, 3, chunk);
    H5Pset_deflate(created, 1);
    static uint16_t values[T * H * W];
    for (int i = 0; i < T * H * W; i++) {
        values[i] = (uint16_t)(i * 37);
    }
    hid_t space = H5Screate_simple(3, extent, NULL);
    hid_t set = H5Dcreate2(file, "x", H5T_STD_U16BE, space, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(H5Dwrite(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(created);
    H5Fclose(file);
    sx_hdf5 *opened = NULL;
    ck_ok(sx_hdf5_open(path, &opened));
    sx_hdf5_dataset about;
    ck_ok(sx_hdf5_describe(opened, "x", &about));
    ck_assert(about.chunk[0] == 2 && about.chunk[1] == 5 && about.chunk[2] == 4);
    for (int64_t height = 1; height <= H; height += 5) {
        for (int64_t row = 0; row < H; row += height) {
            const int64_t start[] = {0, row, 0};
            const int64_t count[] = {T, row + height < H ? height : H - row, W};
            sx_array band;
            ck_ok(sx_array_create(SX_F32, 3, count, &band));
            ck_ok(sxi_h5_read_box(opened, "x", start, count, &band));
            for (int64_t t = 0; t < T; t++) {
                for (int64_t i = 0; i < count[1] * W; i++) {
                    ck_assert(((float *)band.data)[t * count[1] * W + i] ==
                              (float)values[(t * H + row) * W + i]);
                }
            }
            sx_array_destroy(&band);
        }
    }
    sx_hdf5_close(&opened);
}
END_TEST

typedef struct members {
    char text[100];
    sx_hdf5 *file;
} members;

static bool note_member(void *data, const char *name, bool is_group) {
    members *seen = data;
    snprintf(seen->text + strlen(seen->text), sizeof seen->text - strlen(seen->text), "%s%s ", name,
             is_group ? "/" : "");
    return sxi_h5_exists(seen->file, name); /* a call from within is allowed; "a" is the last */
}

START_TEST(members_in_order_of_names) {
    sx_folder_empty();
    const char *path = sx_folder("m.h5");
    hid_t file = make(path);
    put(file, "b", H5T_NATIVE_INT, 4, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_soft("/nowhere", file, "c", H5P_DEFAULT, H5P_DEFAULT);
    put(file, "d", H5T_NATIVE_INT, 4, H5P_DEFAULT);
    H5Fclose(file);
    members seen = {.text = ""};
    ck_ok(sx_hdf5_open(path, &seen.file));
    ck_ok(sxi_h5_members(seen.file, "/", note_member, &seen));
    ck_assert_str_eq(seen.text, "a/ b c ");
    ck_fails(sxi_h5_members(seen.file, "/zz", note_member, &seen), SX_ERR_MISSING, "no group /zz");
    sx_hdf5_close(&seen.file);
}
END_TEST

START_TEST(a_source_that_is_missing_in_a_real_file) {
    const char *path = sx_data("facility/Therm_6_2.nxs");
    if (!path) {
        return;
    }
    sx_hdf5 *file = NULL;
    ck_ok(sx_hdf5_open(path, &file));
    sx_hdf5_dataset about;
    ck_ok(sx_hdf5_describe(file, "/entry/data/data", &about));
    ck_assert(about.rank == 3 && about.shape[0] == 488);
    const int64_t start[] = {0, 0, 0};
    const int64_t count[] = {1, 10, 10};
    sx_array box;
    ck_ok(sx_array_create(SX_F32, 3, count, &box));
    ck_fails(sxi_h5_read_box(file, "/entry/data/data", start, count, &box), SX_ERR_MISSING,
             "Therm_6_2_000001.h5, which is not there");
    sx_array_destroy(&box);
    sx_hdf5_close(&file);
}
END_TEST

static void *read_often(void *data) {
    bool *good = data;
    *good = true;
    for (int i = 0; i < 50; i++) {
        double value[10];
        *good = *good && take(sx_folder_root, "x", 0, 1, value) == SX_ERR_IO;
        char path[100];
        snprintf(path, sizeof path, "%s/t.h5", sx_folder_root);
        *good = *good && take(path, "x", i, 10, value) == SX_OK && value[0] == i + 1;
    }
    return NULL;
}

START_TEST(threads_may_read_at_once) {
    sx_folder_empty();
    hid_t file = make(sx_folder("t.h5"));
    put(file, "x", H5T_NATIVE_INT, 100, H5P_DEFAULT);
    H5Fclose(file);
    pthread_t thread[4];
    bool good[4] = {false};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_often, &good[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        ck_assert(good[i]);
    }
}
END_TEST

static herr_t printer(hid_t stack, void *data) {
    (void)stack;
    ++*(int *)data;
    return 0;
}

START_TEST(the_callers_error_printing_is_left_as_it_was) {
    sx_folder_empty();
    int printed = 0;
    double value;
    H5Eset_auto2(H5E_DEFAULT, printer, &printed);
    hid_t file = make(sx_folder("q.h5"));
    H5Fclose(file);
    take(sx_folder("q.h5"), "x", 0, 1, &value);
    ck_assert_int_eq(printed, 0);
    H5Fopen("/nonexistent", H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_int_eq(printed, 1);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}
END_TEST

SX_TEST_MAIN("h5_read", what_is_not_hdf5_is_named, a_cut_file_is_told_by_its_bytes,
             a_file_cut_while_open_is_told, any_numeric_type_is_read, what_holds_no_plain_numbers,
             a_missing_dataset_is_answered_with_what_there_is, a_missing_filter_is_named,
             a_chunk_that_was_not_written_in_full, boxes_of_any_numbers,
             a_virtual_dataset_never_reads_as_fill_values, numbered_sources_of_a_virtual_dataset,
             raw_data_in_other_files_must_be_there, bands_equal_the_whole,
             members_in_order_of_names, a_source_that_is_missing_in_a_real_file,
             threads_may_read_at_once, the_callers_error_printing_is_left_as_it_was)
