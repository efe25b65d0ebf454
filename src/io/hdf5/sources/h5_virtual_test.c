/* SPDX-License-Identifier: Apache-2.0
 * Virtual datasets cut into boxes of their sources give what H5Dread gives. */
#include "io/hdf5/reader/h5_job.h"
#include "io/hdf5/sources/h5_sources.h"
#include "sx_check.h"
#include "sx_folder.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RANK = 4, BOXES = 25 };

static uint64_t state = 1;

/* 0 .. n - 1, the same in every run. */
static int64_t pick(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % n;
}

/* --- making files --- */

static hid_t make(const char *name) {
    hid_t file = H5Fcreate(sx_folder(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(file >= 0);
    return file;
}

/* A dataset of values that differ, and differ from those of other seeds. */
static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *extent,
                int seed) {
    hid_t space = rank ? H5Screate_simple(rank, extent, NULL) : H5Screate(H5S_SCALAR);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    int *values = malloc(((size_t)count + 1) * sizeof *values);
    for (hssize_t i = 0; i < count; i++) {
        values[i] = (int)((seed * 1009 + i) % 30011);
    }
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(set >= 0);
    ck_assert(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    free(values);
}

static void put_file(const char *path, hid_t type, int rank, const hsize_t *extent, int seed) {
    hid_t file = make(path);
    put(file, "x", type, rank, extent, seed);
    H5Fclose(file);
}

/* One side of a mapping. All of it where count[0] is 0. */
typedef struct side {
    int rank;
    hsize_t extent[RANK], start[RANK], stride[RANK], count[RANK], block[RANK];
} side;

static hid_t space_of(const side *one) {
    hsize_t extent[RANK];
    hsize_t most[RANK];
    hsize_t stride[RANK];
    hsize_t block[RANK];
    for (int d = 0; d < one->rank; d++) {
        const bool endless = one->count[d] == H5S_UNLIMITED || one->block[d] == H5S_UNLIMITED;
        extent[d] = one->extent[d];
        most[d] = endless ? H5S_UNLIMITED : extent[d];
        block[d] = one->block[d] ? one->block[d] : 1;
        stride[d] = one->stride[d] ? one->stride[d] : block[d];
    }
    hid_t space = one->rank ? H5Screate_simple(one->rank, extent, most) : H5Screate(H5S_SCALAR);
    if (one->rank && one->count[0]) {
        ck_assert(
            H5Sselect_hyperslab(space, H5S_SELECT_SET, one->start, stride, one->count, block) >= 0);
    }
    return space;
}

static void map(hid_t created, const side *target, const char *file, const char *name,
                const side *source) {
    hid_t virtual_space = space_of(target);
    hid_t source_space = space_of(source);
    ck_assert(H5Pset_virtual(created, virtual_space, file, name, source_space) >= 0);
    H5Sclose(virtual_space);
    H5Sclose(source_space);
}

/* Creates dataset v of a file from its mappings, which are closed. */
static void put_virtual(hid_t file, hid_t type, const side *whole, hid_t created) {
    hid_t space = space_of(whole);
    H5Sselect_all(space);
    hid_t set = H5Dcreate2(file, "v", type, space, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(created);
}

static hid_t mappings(void) { return H5Pcreate(H5P_DATASET_CREATE); }

/* --- reading --- */

/* Reads a box of v; what went through the HDF5 library is counted. */
static sx_status read_box(sx_hdf5 *file, const int64_t *start, sx_array *array,
                          sx_hdf5_missing missing, bool library, int64_t *bytes) {
    const sx_hdf5_box box = {file, "v", start, array->shape, array};
    const sx_hdf5_options options = {.missing = missing, .library = library};
    sx_hdf5_statistics did = {0};
    const sx_status status = sx_hdf5_read(1, &box, &options, &did);
    *bytes = did.library;
    return status;
}

/* The same, not to go through the library. */
static sx_status read_direct(sx_hdf5 *file, const int64_t *start, sx_array *array,
                             sx_hdf5_missing missing) {
    int64_t library = 0;
    const sx_status status = read_box(file, start, array, missing, false, &library);
    ck_assert_int_eq(library, 0);
    return status;
}

static void reference(const char *path, hid_t type, const int64_t *start, sx_array *array) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "v", H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    hsize_t first[RANK] = {0};
    hsize_t count[RANK] = {0};
    for (int d = 0; d < array->rank; d++) {
        first[d] = (hsize_t)start[d];
        count[d] = (hsize_t)array->shape[d];
    }
    hid_t memory = H5Screate_simple(array->rank, count, NULL);
    ck_assert(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL) >= 0);
    ck_assert(H5Dread(set, type, memory, space, H5P_DEFAULT, array->data) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

static void compare_box(sx_hdf5 *file, sx_dtype dtype, const int64_t *start, const int64_t *count,
                        int rank, bool direct) {
    sx_array ours, theirs;
    int64_t library = 0;
    ck_ok(sx_array_create(dtype, rank, count, &ours));
    ck_ok(sx_array_create(dtype, rank, count, &theirs));
    const size_t bytes = (size_t)sx_array_count(&ours) * sx_dtype_size(dtype);
    memset(ours.data, 0x5a, bytes);
    reference(sx_hdf5_path_of(file), sxi_h5_native(dtype), start, &theirs);
    ck_ok(read_box(file, start, &ours, SX_HDF5_MISSING_FILL, false, &library));
    ck_assert_int_eq(library, direct ? 0 : (int64_t)bytes);
    ck_assert_mem_eq(ours.data, theirs.data, bytes);
    memset(ours.data, 0x5a, bytes);
    ck_ok(read_box(file, start, &ours, SX_HDF5_MISSING_FILL, true, &library));
    ck_assert_mem_eq(ours.data, theirs.data, bytes);
    sx_array_destroy(&ours);
    sx_array_destroy(&theirs);
}

/* Dataset v of a file on its full extent, as it is stored and as float, and on boxes of any place and
 * size, by our threads and through the library with its check of sources. reason: part of why it is
 * left to the library, "" where that shows only once a source is opened; NULL where it is not. */
static void compare(const char *name, const char *reason) {
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    const int64_t origin[RANK] = {0};
    ck_ok(sx_hdf5_open(sx_folder(name), &file));
    ck_ok(sx_hdf5_describe(file, "v", &about));
    ck_assert_int_eq(about.layout, SX_HDF5_VIRTUAL);
    ck_assert_int_eq(about.path, reason && reason[0] ? SX_HDF5_LIBRARY : SX_HDF5_DIRECT);
    ck_assert_ptr_nonnull(strstr(about.reason, reason ? reason : ""));
    compare_box(file, about.dtype, origin, about.shape, about.rank, !reason);
    compare_box(file, SX_F32, origin, about.shape, about.rank, !reason);
    for (int i = 0; i < BOXES; i++) {
        int64_t start[RANK];
        int64_t count[RANK];
        for (int d = 0; d < about.rank; d++) {
            start[d] = pick(about.shape[d]);
            count[d] = 1 + pick(about.shape[d] - start[d]);
        }
        compare_box(file, about.dtype, start, count, about.rank, !reason);
    }
    sx_hdf5_close(&file);
}

/* Reads all of v of a file, as double, by our threads and through the library: both alike. */
static sx_status read_all(const char *name, sx_hdf5_missing missing) {
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    sx_array array = {0};
    const int64_t origin[RANK] = {0};
    int64_t library = 0;
    sx_status status = sx_hdf5_open(sx_folder(name), &file);
    SXI_TRY(status);
    SXI_GO(sx_hdf5_describe(file, "v", &about));
    SXI_GO(sx_array_create(SX_F64, about.rank, about.shape, &array));
    const sx_status other = read_box(file, origin, &array, missing, true, &library);
    status = read_direct(file, origin, &array, missing);
    ck_assert_int_eq(other, status);
out:
    sx_array_destroy(&array);
    sx_hdf5_close(&file);
    return status;
}

/* Reads a box of v where missing values are an error. */
static sx_status read_part(const char *name, const int64_t *start, const int64_t *count) {
    sx_hdf5 *file = NULL;
    sx_array array = {0};
    int64_t library = 0;
    sx_status status = sx_hdf5_open(sx_folder(name), &file);
    SXI_TRY(status);
    SXI_GO(sx_array_create(SX_F64, 2, count, &array));
    status = read_box(file, start, &array, SX_HDF5_MISSING_ERROR, false, &library);
out:
    sx_array_destroy(&array);
    sx_hdf5_close(&file);
    return status;
}

/* --- tests --- */

START_TEST(interleaved_sources) {
    sx_folder_empty();
    hid_t created = mappings();
    const side whole = {2, {12, 5}, {0}, {0}, {0}, {0}};
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d.h5", i);
        put_file(name, H5T_STD_I32LE, 2, (hsize_t[]){4, 5}, i);
        const side target = {2, {12, 5}, {(hsize_t)i, 0}, {3, 1}, {4, 5}, {1, 1}};
        const side source = {2, {4, 5}, {0}, {0}, {0}, {0}};
        map(created, &target, name, "x", &source);
    }
    hid_t file = make("v.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("v.h5", NULL);
}
END_TEST

START_TEST(strides_and_blocks_on_both_sides) {
    sx_folder_empty();
    put_file("s.h5", H5T_STD_I32LE, 2, (hsize_t[]){40, 30}, 1);
    hid_t created = mappings();
    const side whole = {2, {30, 20}, {0}, {0}, {0}, {0}};
    const side target = {2, {30, 20}, {1, 2}, {5, 3}, {4, 5}, {3, 2}};
    const side source = {2, {40, 30}, {3, 1}, {4, 2}, {6, 10}, {2, 1}};
    const side target_too = {2, {30, 20}, {29, 0}, {1, 2}, {1, 10}, {1, 1}};
    const side source_too = {2, {40, 30}, {39, 5}, {1, 1}, {1, 10}, {1, 1}};
    map(created, &target, "s.h5", "/x", &source);
    map(created, &target_too, "s.h5", "/x", &source_too);
    hid_t file = make("v.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("v.h5", NULL);
}
END_TEST

/* Half of v from a source, of the type and with the fill value given. */
static void half(const char *path, hid_t type, const double *fill) {
    put_file("s.h5", H5T_STD_I32LE, 2, (hsize_t[]){4, 3}, 1);
    hid_t created = mappings();
    const side whole = {2, {8, 3}, {0}, {0}, {0}, {0}};
    const side target = {2, {8, 3}, {1, 0}, {2, 1}, {4, 3}, {1, 1}};
    const side source = {2, {4, 3}, {0}, {0}, {0}, {0}};
    if (fill) {
        H5Pset_fill_value(created, H5T_NATIVE_DOUBLE, fill);
    }
    map(created, &target, "s.h5", "x", &source);
    hid_t file = make(path);
    put_virtual(file, type, &whole, created);
    H5Fclose(file);
}

START_TEST(what_no_mapping_reaches) {
    sx_folder_empty();
    const double seven = 7.25, none = NAN;
    half("zero.h5", H5T_STD_I32LE, NULL);
    half("seven.h5", H5T_IEEE_F32BE, &seven);
    half("short.h5", H5T_STD_U8LE, &seven);
    half("nan.h5", H5T_IEEE_F64LE, &none);
    compare("zero.h5", NULL);
    compare("seven.h5", NULL);
    compare("short.h5", NULL);
    compare("nan.h5", NULL);
    ck_fails(read_all("zero.h5", SX_HDF5_MISSING_ERROR), SX_ERR_MISSING, "12 of the elements");
    ck_fails(read_all("seven.h5", SX_HDF5_MISSING_ERROR), SX_ERR_MISSING, "have no source");
    ck_ok(read_all("nan.h5", SX_HDF5_MISSING_ERROR));
    /* What is asked for has a source. */
    sx_hdf5 *file = NULL;
    sx_array row;
    ck_ok(sx_hdf5_open(sx_folder("zero.h5"), &file));
    ck_ok(sx_array_create(SX_I32, 2, (int64_t[]){1, 3}, &row));
    ck_ok(read_direct(file, (int64_t[]){3, 0}, &row, SX_HDF5_MISSING_ERROR));
    ck_assert_int_eq(((int32_t *)row.data)[0], 1009 + 3);
    sx_array_destroy(&row);
    sx_hdf5_close(&file);
}
END_TEST

/* Modules with gaps between them, one of them missing. */
START_TEST(gaps_between_modules) {
    sx_folder_empty();
    put_file("s.h5", H5T_STD_U16LE, 2, (hsize_t[]){5, 6}, 1);
    hid_t created = mappings();
    const double fill = 65535;
    const side whole = {2, {20, 23}, {0}, {0}, {0}, {0}};
    const side source = {2, {5, 6}, {0}, {0}, {0}, {0}};
    H5Pset_fill_value(created, H5T_NATIVE_DOUBLE, &fill);
    for (hsize_t i = 0; i < 8; i++) {
        const side target = {2,      {20, 23}, {1 + i / 3 * 7 - i / 6, 1 + i % 3 * 8 - i % 3 / 2},
                             {1, 1}, {5, 6},   {1, 1}};
        map(created, &target, "s.h5", "x", &source);
    }
    hid_t file = make("v.h5");
    put_virtual(file, H5T_STD_U16LE, &whole, created);
    H5Fclose(file);
    compare("v.h5", NULL);
}
END_TEST

START_TEST(nested_three_deep) {
    sx_folder_empty();
    put_file("0.h5", H5T_STD_I32LE, 2, (hsize_t[]){6, 4}, 1);
    for (int i = 1; i <= 3; i++) {
        char name[16], inner[16];
        snprintf(name, sizeof name, "%d.h5", i);
        snprintf(inner, sizeof inner, "%d.h5", i - 1);
        hid_t created = mappings();
        const side whole = {2, {6, 4}, {0}, {0}, {0}, {0}};
        /* The upper half comes second. */
        const side low = {2, {6, 4}, {0, 0}, {1, 1}, {3, 4}, {1, 1}};
        const side high = {2, {6, 4}, {3, 0}, {1, 1}, {3, 4}, {1, 1}};
        map(created, &low, inner, i == 1 ? "x" : "v", &high);
        map(created, &high, inner, i == 1 ? "x" : "v", &low);
        hid_t file = make(name);
        put_virtual(file, H5T_STD_I32LE, &whole, created);
        H5Fclose(file);
    }
    compare("3.h5", NULL);
    remove(sx_folder("0.h5"));
    ck_fails(read_all("3.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING, "source file 0.h5");
}
END_TEST

START_TEST(the_file_itself_and_a_ring) {
    sx_folder_empty();
    hid_t file = make("v.h5");
    put(file, "x", H5T_STD_I32LE, 1, (hsize_t[]){10}, 1);
    hid_t created = mappings();
    const side whole = {1, {10}, {0}, {0}, {0}, {0}};
    map(created, &whole, ".", "/x", &whole);
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("v.h5", NULL);
    file = make("ring.h5");
    created = mappings();
    map(created, &whole, ".", "/v", &whole);
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    ck_fails(read_all("ring.h5", SX_HDF5_MISSING_FILL), SX_ERR_UNSUPPORTED, "nested more than 9");
}
END_TEST

/* v of blocks of two rows each from part0.h5, part1.h5, ..., at every other of two places. */
static void numbered(const char *path, int series) {
    hid_t created = mappings();
    const side whole = {2, {0, 3}, {0}, {0}, {H5S_UNLIMITED}, {0}};
    for (int i = 0; i < series; i++) {
        char name[32];
        snprintf(name, sizeof name, "%c%%%%-part%%b.h5", 'a' + i);
        const side target = {
            2, {2, 3}, {2 * (hsize_t)i, 0}, {2 * (hsize_t)series, 3}, {H5S_UNLIMITED, 1}, {2, 3}};
        const side source = {2, {2, 3}, {0}, {0}, {0}, {0}};
        map(created, &target, name, "x", &source);
    }
    hid_t file = make(path);
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
}

static void put_parts(char letter, int count) {
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%c%%-part%d.h5", letter, i);
        put_file(name, H5T_STD_U16BE, 2, (hsize_t[]){2, 3}, 10 * letter + i);
    }
}

START_TEST(numbered_sources) {
    sx_folder_empty();
    put_parts('a', 12);
    numbered("v.h5", 1);
    compare("v.h5", NULL);
    /* Of two detectors that take turns one has fewer: the end of the other stands alone. */
    put_parts('b', 9);
    numbered("w.h5", 2);
    compare("w.h5", NULL);
    ck_fails(read_all("w.h5", SX_HDF5_MISSING_ERROR), SX_ERR_MISSING, "12 of the elements");
    /* Datasets of one file. */
    hid_t file = make("d.h5");
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        put(file, name, H5T_STD_I32LE, 2, (hsize_t[]){2, 3}, i);
    }
    hid_t created = mappings();
    const side whole = {2, {0, 3}, {0}, {0}, {H5S_UNLIMITED}, {0}};
    const side target = {2, {2, 3}, {0, 0}, {2, 3}, {H5S_UNLIMITED, 1}, {2, 3}};
    const side source = {2, {2, 3}, {0, 0}, {1, 1}, {2, 3}, {1, 1}};
    map(created, &target, ".", "x%b", &source);
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("d.h5", NULL);
    /* One that goes later is missed. */
    sx_hdf5 *opened = NULL;
    sx_hdf5_dataset about;
    sx_array array;
    const int64_t origin[RANK] = {0};
    ck_ok(sx_hdf5_open(sx_folder("v.h5"), &opened));
    ck_ok(sx_hdf5_describe(opened, "v", &about));
    ck_ok(sx_array_create(SX_I32, 2, about.shape, &array));
    remove(sx_folder("a%-part7.h5"));
    ck_fails(read_direct(opened, origin, &array, SX_HDF5_MISSING_FILL), SX_ERR_MISSING,
             "a%-part7.h5");
    sx_array_destroy(&array);
    sx_hdf5_close(&opened);
}
END_TEST

/* A dataset that may grow along its first axis. */
static void put_growing(const char *name, hsize_t rows, int seed) {
    hid_t file = make(name);
    const hsize_t extent[] = {rows, 3}, most[] = {H5S_UNLIMITED, 3}, chunk[] = {2, 3};
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(2, extent, most);
    H5Pset_chunk(created, 2, chunk);
    hid_t set = H5Dcreate2(file, "x", H5T_STD_I32LE, space, H5P_DEFAULT, created, H5P_DEFAULT);
    int values[300];
    for (int i = 0; i < 300; i++) {
        values[i] = seed * 1009 + i;
    }
    ck_assert(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(created);
    H5Fclose(file);
}

START_TEST(sources_without_end) {
    sx_folder_empty();
    put_growing("a.h5", 9, 1);
    put_growing("b.h5", 6, 2);
    const hsize_t all = H5S_UNLIMITED;
    const side whole = {2, {0, 3}, {0}, {0}, {all}, {0}};
    const side source = {2, {0, 3}, {0, 0}, {1, 1}, {all, 3}, {1, 1}};
    const side odd = {2, {0, 3}, {1, 0}, {2, 1}, {all, 3}, {1, 1}};
    const side pairs = {2, {0, 3}, {0, 0}, {3, 1}, {all, 3}, {2, 1}};
    const side even = {2, {0, 3}, {0, 0}, {2, 1}, {all, 3}, {1, 1}};
    const side third = {2, {0, 3}, {2, 0}, {3, 1}, {all, 3}, {1, 1}};
    hid_t created = mappings();
    map(created, &source, "a.h5", "x", &source);
    hid_t file = make("one.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("one.h5", NULL);
    created = mappings(); /* interleaved, one ends before the other */
    map(created, &even, "a.h5", "x", &source);
    map(created, &odd, "b.h5", "x", &source);
    file = make("two.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("two.h5", NULL);
    created = mappings(); /* blocks that end within, gaps on both sides */
    map(created, &pairs, "b.h5", "x", &odd);
    map(created, &third, "a.h5", "x", &pairs);
    file = make("blocks.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("blocks.h5", NULL);
    remove(sx_folder("b.h5"));
    ck_fails(read_all("two.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING, "source file b.h5");
}
END_TEST

START_TEST(sources_of_another_rank) {
    sx_folder_empty();
    hid_t file = make("s.h5");
    put(file, "plane", H5T_STD_I32LE, 2, (hsize_t[]){4, 5}, 1);
    put(file, "thick", H5T_STD_I32LE, 4, (hsize_t[]){4, 1, 5, 1}, 2);
    put(file, "line", H5T_STD_I32LE, 1, (hsize_t[]){5}, 3);
    put(file, "one", H5T_STD_I32LE, 0, NULL, 4);
    put(file, "stack", H5T_STD_I32LE, 3, (hsize_t[]){3, 4, 5}, 5);
    H5Fclose(file);
    const side whole = {3, {6, 4, 5}, {0}, {0}, {0}, {0}};
    const side image = {3, {6, 4, 5}, {0, 0, 0}, {1, 1, 1}, {1, 4, 5}, {1, 1, 1}};
    side second = image, third = image, row = image, one = image;
    second.start[0] = 1;
    third.start[0] = 2;
    row.start[0] = one.start[0] = 3;
    row.count[1] = one.count[1] = one.count[2] = 1;
    one.start[1] = one.start[2] = 3;
    const side column = {3, {6, 4, 5}, {4, 0, 2}, {1, 1, 1}, {1, 4, 1}, {1, 1, 1}};
    const side plane = {2, {4, 5}, {0}, {0}, {0}, {0}};
    const side thick = {4, {4, 1, 5, 1}, {0}, {0}, {0}, {0}};
    const side of_stack = {3, {3, 4, 5}, {2, 0, 0}, {1, 1, 1}, {1, 4, 5}, {1, 1, 1}};
    const side line = {1, {5}, {0}, {0}, {0}, {0}};
    const side four = {1, {5}, {1}, {1}, {4}, {1}};
    const side scalar = {0, {0}, {0}, {0}, {0}, {0}};
    hid_t created = mappings();
    map(created, &image, "s.h5", "plane", &plane);
    map(created, &second, "s.h5", "thick", &thick);
    map(created, &third, "s.h5", "stack", &of_stack);
    map(created, &row, "s.h5", "line", &line);
    map(created, &one, "s.h5", "one", &scalar);
    map(created, &column, "s.h5", "line", &four);
    file = make("v.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("v.h5", NULL);
}
END_TEST

START_TEST(sources_of_another_type) {
    sx_folder_empty();
    hid_t file = make("s.h5");
    put(file, "u16", H5T_STD_U16LE, 1, (hsize_t[]){10}, 1);
    put(file, "big", H5T_STD_I32BE, 1, (hsize_t[]){10}, 2);
    put(file, "real", H5T_IEEE_F64BE, 1, (hsize_t[]){10}, 3);
    H5Fclose(file);
    const char *const names[] = {"u16", "big", "real"};
    const side whole = {1, {30}, {0}, {0}, {0}, {0}};
    const side source = {1, {10}, {0}, {0}, {0}, {0}};
    hid_t created = mappings();
    for (int i = 0; i < 3; i++) {
        const side target = {1, {30}, {10 * (hsize_t)i}, {1}, {10}, {1}};
        map(created, &target, "s.h5", names[i], &source);
    }
    file = make("v.h5");
    put_virtual(file, H5T_IEEE_F32LE, &whole, created);
    H5Fclose(file);
    compare("v.h5", NULL);
}
END_TEST

/* Any regular selection of length elements of an axis. */
static void any_axis(side *side_of, int d, int64_t length, hsize_t start) {
    static const int64_t divisors[] = {1, 2, 3, 4, 6, 12};
    int64_t block = length + 1;
    while (length % block != 0) {
        block = divisors[pick(6)];
    }
    side_of->block[d] = (hsize_t)block;
    side_of->count[d] = (hsize_t)(length / block);
    side_of->stride[d] = (hsize_t)(block + pick(4));
    side_of->start[d] = start + (hsize_t)pick(3);
}

static hsize_t end_of(const side *one, int d) {
    return one->start[d] + (one->count[d] - 1) * one->stride[d] + one->block[d];
}

/* Bands of a dataset of two axes or three, each with a source whose axes are selected in another
 * way, and one axis of one element more. */
START_TEST(any_selections) {
    static const int64_t lengths[] = {1, 2, 3, 4, 6, 12};
    enum { BANDS = 4, TIMES = 12 };
    for (int time = 0; time < TIMES; time++) {
        sx_folder_empty();
        const int rank = 2 + (int)pick(2);
        side whole = {.rank = rank}, target[BANDS], source[BANDS];
        hid_t made = make("s.h5");
        for (int i = 0; i < BANDS; i++) {
            const int extra = (int)pick(rank + 1);
            char name[16];
            target[i] = (side){.rank = rank};
            source[i] = (side){.rank = rank + 1};
            for (int d = 0; d < rank; d++) {
                const int64_t length = lengths[pick(6)];
                any_axis(&target[i], d, length, d == 0 ? whole.extent[0] : 0);
                any_axis(&source[i], d + (d >= extra), length, 0);
                const hsize_t end = end_of(&target[i], d);
                whole.extent[d] = end > whole.extent[d] ? end : whole.extent[d];
            }
            any_axis(&source[i], extra, 1, 0);
            for (int d = 0; d <= rank; d++) {
                source[i].extent[d] = end_of(&source[i], d) + (hsize_t)pick(2);
            }
            snprintf(name, sizeof name, "x%d", i);
            put(made, name, H5T_STD_I32BE, rank + 1, source[i].extent, i);
        }
        H5Fclose(made);
        hid_t created = mappings();
        for (int i = 0; i < BANDS; i++) {
            char name[16];
            snprintf(name, sizeof name, "x%d", i);
            memcpy(target[i].extent, whole.extent, sizeof whole.extent);
            map(created, &target[i], "s.h5", name, &source[i]);
        }
        made = make("v.h5");
        put_virtual(made, H5T_STD_I32LE, &whole, created);
        H5Fclose(made);
        compare("v.h5", NULL);
    }
}
END_TEST

/* Those are left to H5Dread, which goes by the order of elements and of mappings. */
START_TEST(what_is_left_to_the_library) {
    sx_folder_empty();
    put_file("s.h5", H5T_STD_I32LE, 2, (hsize_t[]){4, 6}, 1);
    put_file("t.h5", H5T_STD_I32LE, 2, (hsize_t[]){4, 6}, 2);
    const side whole = {2, {4, 6}, {0}, {0}, {0}, {0}};
    const side most = {2, {4, 6}, {1, 2}, {1, 1}, {3, 4}, {1, 1}};
    const side turned = {2, {6, 4}, {0}, {0}, {0}, {0}};
    hid_t created = mappings();
    map(created, &whole, "s.h5", "x", &whole);
    map(created, &most, "t.h5", "x", &most);
    hid_t file = make("overlap.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("overlap.h5", "overlap");
    created = mappings();
    map(created, &turned, "s.h5", "x", &whole);
    file = make("shape.h5");
    put_virtual(file, H5T_STD_I32LE, &turned, created);
    H5Fclose(file);
    compare("shape.h5", ""); /* all of a source has no shape before it is opened */
    created = mappings();
    const side box = {2, {4, 6}, {0, 0}, {1, 1}, {4, 6}, {1, 1}};
    map(created, &turned, "s.h5", "x", &box);
    file = make("box.h5");
    put_virtual(file, H5T_STD_I32LE, &turned, created);
    H5Fclose(file);
    compare("box.h5", "shape");
    created = mappings();
    hid_t corners = space_of(&most);
    const hsize_t zero[] = {0, 0}, one[] = {1, 1};
    H5Sselect_hyperslab(corners, H5S_SELECT_OR, zero, NULL, one, NULL);
    ck_assert(H5Pset_virtual(created, corners, "s.h5", "x", corners) >= 0);
    H5Sclose(corners);
    file = make("corner.h5");
    put_virtual(file, H5T_STD_I32LE, &whole, created);
    H5Fclose(file);
    compare("corner.h5", "no regular box");
    /* What has no source there is missing all the same. */
    ck_ok(read_part("corner.h5", (int64_t[]){1, 2}, (int64_t[]){3, 4}));
    ck_ok(read_part("corner.h5", (int64_t[]){0, 0}, (int64_t[]){1, 1}));
    ck_fails(read_part("corner.h5", (int64_t[]){0, 0}, (int64_t[]){4, 6}), SX_ERR_MISSING,
             "11 of the elements");
    ck_ok(read_part("overlap.h5", (int64_t[]){0, 0}, (int64_t[]){4, 6}));
}
END_TEST

/* v[0:20] of which the second half is of source file, name. */
static void one_bad(const char *file, const char *name, const side *source) {
    hid_t created = mappings();
    const side whole = {1, {20}, {0}, {0}, {0}, {0}};
    const side first = {1, {20}, {0}, {1}, {10}, {1}};
    const side second = {1, {20}, {10}, {1}, {10}, {1}};
    const side ten = {1, {10}, {0}, {0}, {0}, {0}};
    map(created, &first, "s.h5", "x", &ten);
    map(created, &second, file, name, source);
    hid_t made = make("v.h5");
    put_virtual(made, H5T_STD_I32LE, &whole, created);
    H5Fclose(made);
}

START_TEST(what_is_not_there) {
    sx_folder_empty();
    put_file("s.h5", H5T_STD_I32LE, 1, (hsize_t[]){10}, 1);
    put_file("short.h5", H5T_STD_I32LE, 1, (hsize_t[]){7}, 1);
    sx_folder_write("text.h5", "t, y\n1, 2\n", 10);
    const side all = {1, {10}, {0}, {0}, {0}, {0}};
    const side ten = {1, {10}, {0}, {1}, {10}, {1}};
    one_bad("gone.h5", "x", &ten);
    ck_fails(read_all("v.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING, "source file gone.h5");
    sx_hdf5 *file = NULL;
    sx_array part;
    ck_ok(sx_hdf5_open(sx_folder("v.h5"), &file));
    ck_ok(sx_array_create(SX_I32, 1, (int64_t[]){10}, &part));
    ck_ok(read_direct(file, (int64_t[]){0}, &part, SX_HDF5_MISSING_ERROR));
    ck_assert_int_eq(((int32_t *)part.data)[9], 1009 + 9);
    sx_array_destroy(&part);
    sx_hdf5_close(&file);
    one_bad("text.h5", "x", &ten);
    ck_fails(read_all("v.h5", SX_HDF5_MISSING_FILL), SX_ERR_FORMAT,
             "text.h5 is not an HDF5 file: it looks like text");
    one_bad("s.h5", "deep/y", &all);
    ck_fails(read_all("v.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING,
             "dataset deep/y in the file s.h5");
    one_bad("short.h5", "x", &ten);
    ck_fails(read_all("v.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING,
             "short.h5:x ends at 7 of axis 0, 10 is needed");
    one_bad("short.h5", "x", &all);
    ck_fails(read_all("v.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING,
             "short.h5:x has 7 elements, 10 are needed");
}
END_TEST

/* v of ten from x of a file named so. */
static void of_source(const char *path, const char *source) {
    hid_t created = mappings();
    const side ten = {1, {10}, {0}, {0}, {0}, {0}};
    map(created, &ten, source, "x", &ten);
    hid_t file = make(path);
    put_virtual(file, H5T_STD_I32LE, &ten, created);
    H5Fclose(file);
}

START_TEST(where_sources_are_looked_for) {
    sx_folder_empty();
    char here[4096], path[256];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(mkdir(sx_folder("sub"), 0700), 0);
    put_file("sub/s.h5", H5T_STD_I32LE, 1, (hsize_t[]){10}, 1);
    of_source("v.h5", "s.h5");
    of_source("sub/w.h5", "s.h5");
    of_source("absolute.h5", "/nowhere/at/all/s.h5");
    ck_assert_int_eq(symlink("sub/w.h5", sx_folder("link.h5")), 0);
    compare("sub/w.h5", NULL); /* beside the file */
    compare("link.h5", NULL);  /* beside what a link points to */
    ck_fails(read_all("v.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING, "source file s.h5");
    ck_assert_int_eq(chdir(sx_folder("sub")), 0);
    compare("v.h5", NULL); /* in the current folder */
    compare("absolute.h5", NULL);
    ck_assert_int_eq(chdir(here), 0);
    snprintf(path, sizeof path, "/nowhere::%s", sx_folder("sub"));
    setenv("HDF5_VDS_PREFIX", path, 1);
    compare("v.h5", NULL); /* under a prefix */
    compare("absolute.h5", NULL);
    setenv("HDF5_VDS_PREFIX", "${ORIGIN}/sub", 1);
    ck_ok(read_all("v.h5", SX_HDF5_MISSING_FILL)); /* HDF5 asks for it only when it starts */
    unsetenv("HDF5_VDS_PREFIX");
    ck_fails(read_all("v.h5", SX_HDF5_MISSING_FILL), SX_ERR_MISSING, "source file s.h5");
    remove(sx_folder("sub/s.h5"));
    remove(sx_folder("sub/w.h5"));
    remove(sx_folder("sub"));
}
END_TEST

static int open_sources(const sx_hdf5 *file) {
    int count = 0;
    for (const sx_hdf5 *each = file->sources; each; each = each->next) {
        count++;
    }
    return count;
}

static double seconds_since(const struct timespec *begun) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + 1e-9 * (double)(now.tv_nsec - begun->tv_nsec);
}

START_TEST(many_sources) {
    enum { FILES = 500 };
    sx_folder_empty();
    hid_t created = mappings();
    const side whole = {2, {FILES, 100}, {0}, {0}, {0}, {0}};
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d.h5", i);
        put_file(name, H5T_STD_U16LE, 1, (hsize_t[]){100}, i);
        const side target = {2, {FILES, 100}, {(hsize_t)i, 0}, {1, 1}, {1, 100}, {1, 1}};
        const side source = {1, {100}, {0}, {0}, {0}, {0}};
        map(created, &target, name, "x", &source);
    }
    hid_t made = make("v.h5");
    put_virtual(made, H5T_STD_U16LE, &whole, created);
    H5Fclose(made);
    struct timespec begun;
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    sx_array array;
    const int64_t origin[RANK] = {0};
    clock_gettime(CLOCK_MONOTONIC, &begun);
    ck_ok(sx_hdf5_open(sx_folder("v.h5"), &file));
    ck_ok(sx_hdf5_describe(file, "v", &about));
    printf("a virtual dataset of %d files: opened after %.3f s, ", FILES, seconds_since(&begun));
    ck_assert_int_eq(open_sources(file), 0);
    ck_ok(sx_array_create(SX_U16, 2, (int64_t[]){1, 100}, &array));
    ck_ok(read_direct(file, (int64_t[]){77, 0}, &array, SX_HDF5_MISSING_ERROR));
    ck_assert_int_eq(open_sources(file), 1); /* a small box opens what it needs */
    sx_array_destroy(&array);
    ck_ok(sx_array_create(SX_U16, 2, about.shape, &array));
    ck_ok(read_direct(file, origin, &array, SX_HDF5_MISSING_ERROR));
    printf("read after %.3f s\n", seconds_since(&begun));
    ck_assert_int_eq(open_sources(file), SXI_H5_SOURCES);
    for (int i = 0; i < FILES; i++) {
        ck_assert_int_eq(((uint16_t *)array.data)[100 * i + 99], (i * 1009 + 99) % 30011);
    }
    sx_array_destroy(&array);
    compare_box(file, SX_F32, (int64_t[]){60, 3}, (int64_t[]){200, 90}, 2, true);
    sx_hdf5_close(&file);
}
END_TEST

/* Fewer files may be open than there are sources, and than are kept open for later. */
START_TEST(few_files_may_be_open) {
    enum { FILES = 60, MORE = 10 };
    sx_folder_empty();
    hid_t created = mappings();
    const side whole = {1, {FILES}, {0}, {0}, {0}, {0}};
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d.h5", i);
        put_file(name, H5T_STD_I32LE, 1, (hsize_t[]){1}, i);
        const side target = {1, {FILES}, {(hsize_t)i}, {1}, {1}, {1}};
        const side source = {1, {1}, {0}, {0}, {0}, {0}};
        map(created, &target, name, "x", &source);
    }
    hid_t made = make("v.h5");
    put_virtual(made, H5T_STD_I32LE, &whole, created);
    H5Fclose(made);
    struct rlimit before, few;
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    const int next = dup(0);
    few.rlim_cur = (rlim_t)next + MORE;
    close(next);
    setrlimit(RLIMIT_NOFILE, &few);
    const sx_status status = read_all("v.h5", SX_HDF5_MISSING_ERROR);
    setrlimit(RLIMIT_NOFILE, &before);
    ck_ok(status);
}
END_TEST

START_TEST(a_box_of_nothing) {
    sx_folder_empty();
    of_source("v.h5", "gone.h5");
    sx_hdf5 *file = NULL;
    sx_array none;
    ck_ok(sx_hdf5_open(sx_folder("v.h5"), &file));
    ck_ok(sx_array_create(SX_I32, 1, (int64_t[]){0}, &none));
    ck_ok(read_direct(file, (int64_t[]){5}, &none, SX_HDF5_MISSING_ERROR));
    sx_array_destroy(&none);
    sx_hdf5_close(&file);
}
END_TEST

SX_TEST_MAIN("h5_virtual", interleaved_sources, strides_and_blocks_on_both_sides,
             what_no_mapping_reaches, gaps_between_modules, nested_three_deep,
             the_file_itself_and_a_ring, numbered_sources, sources_without_end,
             sources_of_another_rank, sources_of_another_type, any_selections,
             what_is_left_to_the_library, what_is_not_there, where_sources_are_looked_for,
             many_sources, few_files_may_be_open, a_box_of_nothing)
