/* SPDX-License-Identifier: Apache-2.0
 * Datasets that were only written in part. */
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"

static const hsize_t SHAPE[] = {4, 600}, CHUNK[] = {2, 600}, HALF[] = {2, 600}, ZERO[] = {0, 0};
static float values[4 * 600];

/* A dataset of which `rows` rows are written. */
static void make(hid_t file, const char *name, hid_t created, hsize_t rows) {
    hid_t space = H5Screate_simple(2, SHAPE, NULL);
    hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, created, H5P_DEFAULT);
    const hsize_t count[] = {rows, 600};
    if (rows > 0) {
        hid_t memory = H5Screate_simple(2, count, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, ZERO, NULL, count, NULL);
        ck_assert(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values) >= 0);
        H5Sclose(memory);
    }
    H5Dclose(dataset);
    H5Sclose(space);
}

static void make_virtual(hid_t file, const char *name, const hsize_t *count) {
    hid_t created = H5Pcreate(H5P_DATASET_CREATE), target = H5Screate_simple(2, SHAPE, NULL);
    hid_t source = H5Screate_simple(2, SHAPE, NULL);
    H5Sselect_hyperslab(target, H5S_SELECT_SET, ZERO, NULL, count, NULL);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, ZERO, NULL, count, NULL);
    H5Pset_virtual(created, target, ".", "/whole", source);
    make(file, name, created, 0);
    H5Sclose(source);
    H5Sclose(target);
    H5Pclose(created);
}

START_TEST(holes_are_told_from_values) {
    const char *path = sx_folder("holes.h5");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t chunked = H5Pcreate(H5P_DATASET_CREATE), with_nan = H5Pcreate(H5P_DATASET_CREATE);
    const float nan = NAN;
    H5Pset_chunk(chunked, 2, CHUNK);
    H5Pset_deflate(chunked, 4); /* packed chunks are smaller than their size: count, do not weigh */
    H5Pset_chunk(with_nan, 2, CHUNK);
    H5Pset_fill_value(with_nan, H5T_NATIVE_FLOAT, &nan);
    make(file, "whole", chunked, 4);
    make(file, "half", chunked, 2);
    make(file, "never", H5P_DEFAULT, 0);
    make(file, "plain", H5P_DEFAULT, 4);
    make(file, "marked", with_nan, 2);
    make_virtual(file, "mapped", SHAPE);
    make_virtual(file, "mapped_half", HALF);
    H5Pclose(chunked);
    H5Pclose(with_nan);
    H5Fclose(file);
    sx_hdf5 *read;
    ck_ok(sx_hdf5_open(path, &read));
    ck_ok(sxi_h5_check_written(read, "/whole"));
    ck_ok(sxi_h5_check_written(read, "/plain"));
    ck_ok(sxi_h5_check_written(read, "/marked"));
    ck_ok(sxi_h5_check_written(read, "/mapped"));
    ck_fails(sxi_h5_check_written(read, "/half"), SX_ERR_MISSING, "only written to 50 %");
    ck_fails(sxi_h5_check_written(read, "/never"), SX_ERR_MISSING, "only written to 0 %");
    ck_fails(sxi_h5_check_written(read, "/mapped_half"), SX_ERR_MISSING, "only written to 50 %");
    sx_hdf5_close(&read);
}
END_TEST

SX_TEST_MAIN("h5_written", holes_are_told_from_values)
