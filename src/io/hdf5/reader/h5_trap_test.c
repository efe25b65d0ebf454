/* SPDX-License-Identifier: Apache-2.0
 * Files in which a reader that asks for addresses goes astray. */
#include "io/hdf5/h5_locked.h"

#include <stdint.h>
#include <string.h>

#include <sx_check.h>
#include <sx_folder.h>

/* Chunks of 10 of 100 integers 0, 1, ...; fill value as HDF5 has it without one. */
static void make_chunks(const char *path, hid_t creation) {
    const hsize_t extent = 100;
    const hsize_t chunk = 10;
    int values[100];
    for (int i = 0; i < 100; i++) {
        values[i] = i;
    }
    H5Pset_chunk(creation, 1, &chunk);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
}

/* "TREE" and type 1 begin a node of the index of chunks. */
static int break_index(unsigned char *bytes, size_t count) {
    int broken = 0;
    for (size_t i = 0; i + 5 < count; i++) {
        if (memcmp(bytes + i, "TREE\1", 5) == 0) {
            bytes[i] = 'X';
            broken++;
        }
    }
    return broken;
}

/* To HDF5's look-up a damaged index and a chunk that was never written are the same failure. */
START_TEST(a_damaged_index_is_no_hole) {
    sx_folder_empty();
    const char *path = sx_folder("index.h5");
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    make_chunks(path, creation);
    H5Pclose(creation);
    static unsigned char bytes[65536];
    FILE *stream = fopen(path, "rb");
    const size_t count = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    ck_assert_int_gt(break_index(bytes, count), 0);
    sx_folder_write("index.h5", bytes, count);
    sx_hdf5 *file = NULL;
    int values[100];
    const int64_t shape = 100;
    sx_array array;
    ck_ok(sx_array_view(SX_I32, 1, &shape, values, &array));
    ck_ok(sx_hdf5_open(path, &file));
    const sx_hdf5_box box = {.file = file, .name = "x", .array = &array};
    const sx_hdf5_options fill = {.missing = SX_HDF5_MISSING_FILL};
    ck_fails(sx_hdf5_read(1, &box, &fill, NULL), SX_ERR_FORMAT, "index of chunks is damaged");
    sx_hdf5_close(&file);
}
END_TEST

/* One value written at the far end of a dataset of any layout. */
static void make_far(const char *path, hsize_t extent, hsize_t chunk, H5D_fill_time_t fill) {
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(creation, fill);
    if (chunk > 0) {
        H5Pset_chunk(creation, 1, &chunk);
    }
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t set = H5Dcreate2(file, "x", H5T_STD_I16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const hsize_t last = extent - 1;
    const hsize_t one = 1;
    const short value = 77;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &last, NULL, &one, NULL);
    ck_assert_int_ge(H5Dwrite(set, H5T_NATIVE_SHORT, memory, space, H5P_DEFAULT, &value), 0);
    H5Sclose(memory);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(creation);
}

/* The last count values. */
static sx_status read_end(const char *path, int64_t count, sx_hdf5_missing missing, short *values) {
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    sx_array array;
    memset(values, 0x55, (size_t)count * sizeof *values);
    ck_ok(sx_array_view(SX_I16, 1, &count, values, &array));
    ck_ok(sx_hdf5_open(path, &file));
    ck_ok(sx_hdf5_describe(file, "x", &about));
    ck_assert_int_eq(about.path, SX_HDF5_DIRECT);
    const int64_t start = about.shape[0] - count;
    const sx_hdf5_box box = {file, "x", &start, &count, &array};
    const sx_hdf5_options options = {.missing = missing};
    const sx_status status = sx_hdf5_read(1, &box, &options, NULL);
    sx_hdf5_close(&file);
    return status;
}

/* H5Dread leaves the memory as it was where nothing was written and nothing is to be filled in. */
START_TEST(what_is_never_filled_is_zero_or_an_error) {
    sx_folder_empty();
    const char *path = sx_folder("never.h5");
    short values[20];
    make_far(path, 100, 10, H5D_FILL_TIME_NEVER);
    ck_ok(read_end(path, 20, SX_HDF5_MISSING_FILL, values));
    ck_assert_int_eq(values[0], 0);
    ck_assert_int_eq(values[9], 0);
    ck_assert_int_eq(values[19], 77);
    ck_fails(read_end(path, 20, SX_HDF5_MISSING_ERROR, values), SX_ERR_MISSING,
             "nothing was ever written");
}
END_TEST

/* 6 GB of which nearly all is a hole of the file system. */
START_TEST(addresses_beyond_4_gigabytes) {
    sx_folder_empty();
    const char *path = sx_folder("far.h5");
    short values[1000];
    make_far(path, 3000000000u, 0, H5D_FILL_TIME_NEVER);
    ck_ok(read_end(path, 1000, SX_HDF5_MISSING_ERROR, values));
    ck_assert_int_eq(values[999], 77);
    ck_assert_int_eq(values[0], 0);
}
END_TEST

/* A member of a family has the first part of everything. */
START_TEST(a_part_of_a_family_is_refused) {
    sx_folder_empty();
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_family(access, 4096, H5P_DEFAULT);
    hid_t file = H5Fcreate(sx_folder("part%d.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    ck_assert_int_ge(file, 0);
    const hsize_t extent = 10000;
    hid_t space = H5Screate_simple(1, &extent, NULL);
    static int values[10000];
    hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    sx_hdf5 *opened = NULL;
    ck_fails(sx_hdf5_open(sx_folder("part0.h5"), &opened), SX_ERR_FORMAT, "is truncated");
    ck_assert_ptr_null(opened);
}
END_TEST

SX_TEST_MAIN("h5_trap", a_damaged_index_is_no_hole, what_is_never_filled_is_zero_or_an_error,
             addresses_beyond_4_gigabytes, a_part_of_a_family_is_refused)
