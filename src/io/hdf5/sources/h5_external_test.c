/* SPDX-License-Identifier: Apache-2.0
 * Raw files of externally stored datasets. */
#include "io/hdf5/sources/h5_external.h"
#include "sx_check.h"
#include "sx_folder.h"

#include <string.h>

enum { COUNT = 10 };

/* Ten numbers in raw files: name, offset and size of each; size 0 ends the list. */
static void make(const char *path, int segments, const char *const *name, const off_t *offset,
                 const hsize_t *size) {
    const hsize_t extent = COUNT;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    for (int i = 0; i < segments; i++) {
        ck_assert(H5Pset_external(created, name[i], offset[i], size[i]) >= 0);
    }
    hid_t set = H5Dcreate2(file, "x", H5T_STD_I32LE, space, H5P_DEFAULT, created, H5P_DEFAULT);
    ck_assert(set >= 0);
    H5Dclose(set);
    H5Pclose(created);
    H5Sclose(space);
    H5Fclose(file);
}

static sx_status segments_of(const char *path, sxi_h5_segments *segments) {
    sx_hdf5 *file = NULL;
    sxi_h5_entry *entry = NULL;
    ck_ok(sx_hdf5_open(path, &file));
    sxi_h5_enter();
    sx_status status = sxi_h5_entry_get(file, "x", &entry);
    if (status == SX_OK) {
        status = sxi_h5_external_get(file, entry, segments);
    }
    sxi_h5_leave();
    sx_hdf5_close(&file);
    return status;
}

static void read_numbers(const char *path, int32_t *value) {
    sx_hdf5 *file = NULL;
    sx_array array;
    const int64_t count = COUNT;
    ck_ok(sx_hdf5_open(path, &file));
    ck_ok(sx_array_view(SX_I32, 1, &count, value, &array));
    ck_ok(sx_hdf5_read(1, &(sx_hdf5_box){file, "x", NULL, NULL, &array}, NULL, NULL));
    sx_hdf5_close(&file);
}

static void put_raw(void) {
    int32_t value[40];
    for (int i = 0; i < 40; i++) {
        value[i] = 100 + i;
    }
    sx_folder_write("a.raw", value, sizeof value);
    sx_folder_write("b.raw", value + 20, 6 * sizeof *value);
}

START_TEST(segments_follow_each_other) {
    sx_folder_empty();
    put_raw();
    const char *path = sx_folder("e.h5"), *a = sx_folder("a.raw"), *b = sx_folder("b.raw");
    const char *const name[] = {a, b, a};
    make(path, 3, name, (off_t[]){8, 4, 40}, (hsize_t[]){10, 14, H5F_UNLIMITED});
    sxi_h5_segments segments;
    ck_ok(segments_of(path, &segments));
    ck_assert_int_eq(segments.count, 3);
    const int64_t offset[] = {8, 4, 40}, bytes[] = {10, 14, 16};
    unsigned char expected[COUNT * 4];
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(segments.segment[i].path, name[i]);
        ck_assert_int_eq(segments.segment[i].offset, offset[i]);
        ck_assert_int_eq(segments.segment[i].bytes, bytes[i]);
        size_t size = 0;
        char *raw = sx_folder_slurp(name[i], &size);
        memcpy(expected + used, raw + offset[i], (size_t)bytes[i]);
        used += (size_t)bytes[i];
        free(raw);
    }
    sxi_h5_external_free(&segments);
    int32_t value[COUNT];
    read_numbers(path, value);
    ck_assert_mem_eq(value, expected, sizeof expected);
}
END_TEST

/* What the dataset does not need may be missing: a list may allow it to grow. */
START_TEST(only_what_is_needed_must_be_there) {
    sx_folder_empty();
    put_raw();
    const char *path = sx_folder("e.h5"), *b = sx_folder("b.raw");
    const char *const name[] = {sx_folder("a.raw"), sx_folder("gone.raw")};
    sxi_h5_segments segments;
    make(path, 2, name, (off_t[]){0, 0}, (hsize_t[]){4000, 4000});
    ck_ok(segments_of(path, &segments));
    ck_assert_int_eq(segments.count, 1);
    ck_assert_int_eq(segments.segment[0].bytes, 40);
    sxi_h5_external_free(&segments);
    make(path, 1, &b, (off_t[]){0}, (hsize_t[]){40});
    ck_fails(segments_of(path, &segments), SX_ERR_FORMAT, "24 of 40 bytes");
    ck_assert_ptr_null(segments.segment);
    make(path, 1, &b, (off_t[]){400}, (hsize_t[]){40});
    ck_fails(segments_of(path, &segments), SX_ERR_FORMAT, "24 of 440 bytes");
    make(path, 1, &b, (off_t[]){0}, (hsize_t[]){H5F_UNLIMITED});
    ck_fails(segments_of(path, &segments), SX_ERR_FORMAT, "24 of 40 bytes");
    make(path, 1, name + 1, (off_t[]){0}, (hsize_t[]){40});
    ck_fails(segments_of(path, &segments), SX_ERR_MISSING, "gone.raw, which cannot be opened");
}
END_TEST

/* Names are looked for under the prefix. HDF5 asks for the prefix only when it starts. */
START_TEST(names_and_the_prefix) {
    sx_folder_empty();
    put_raw();
    const char *path = sx_folder("e.h5");
    const char *const relative = "a.raw";
    sxi_h5_segments segments;
    make(path, 1, &relative, (off_t[]){4}, (hsize_t[]){40});
    ck_fails(segments_of(path, &segments), SX_ERR_MISSING, "in the file a.raw");
    setenv("HDF5_EXTFILE_PREFIX", "${ORIGIN}", 1);
    ck_ok(segments_of(path, &segments));
    ck_assert_str_eq(segments.segment[0].path, sx_folder("a.raw"));
    sxi_h5_external_free(&segments);
    setenv("HDF5_EXTFILE_PREFIX", "${ORIGIN}/raw", 1);
    ck_fails(segments_of(path, &segments), SX_ERR_MISSING, sx_folder("raw/a.raw"));
    setenv("HDF5_EXTFILE_PREFIX", sx_folder_root, 1);
    ck_ok(segments_of(path, &segments));
    ck_assert_str_eq(segments.segment[0].path, sx_folder("a.raw"));
    sxi_h5_external_free(&segments);
    unsetenv("HDF5_EXTFILE_PREFIX");
}
END_TEST

SX_TEST_MAIN("h5_external", segments_follow_each_other, only_what_is_needed_must_be_there,
             names_and_the_prefix)
