/* SPDX-License-Identifier: Apache-2.0
 * The memory of a GPU, where there is none: the stand-ins that ctest puts in the way of the two
 * libraries have it in the memory of the host. SEXTANT_FAKES names them: "", "cuda", "cuda cufile". */
#include <sextant/device.h>

#include <dlfcn.h>
#include <hdf5.h>
#include <string.h>

#include "base/load.h"
#include "io/device/fake.h"

#include <sx_check.h>
#include <sx_folder.h>

enum { FILES = 80, T = 20, H = 60, W = 300 };

static bool has(const char *fake) {
    const char *fakes = getenv("SEXTANT_FAKES");
    return fakes && strstr(fakes, fake) != NULL;
}

/* Handles or contexts that are held of a stand-in. */
static int held(const char *library, const char *function) {
    fake_held_fn *count = NULL;
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    ck_assert(loaded && SXI_LOAD(loaded, function, count));
    const int found = count();
    dlclose(loaded);
    return found;
}

static void put(hid_t file, const char *name, int seed, const hsize_t *chunk) {
    static unsigned short values[T * H * W];
    static const hsize_t shape[] = {T, H, W};
    for (int i = 0; i < T * H * W; i++) {
        values[i] = (unsigned short)(i * 7 + seed);
    }
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk) {
        H5Pset_chunk(creation, 3, chunk);
        H5Pset_deflate(creation, 1);
    }
    hid_t space = H5Screate_simple(3, shape, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(set, H5T_NATIVE_USHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(creation);
}

static const char *make(const char *name, int seed) {
    static const hsize_t tile[] = {T, 16, 16};
    const char *path = sx_folder(name);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    put(file, "plain", seed, NULL);
    put(file, "gzip", seed + 1, tile);
    H5Fclose(file);
    return path;
}

/* Reads a dataset of a file that make made. Returns how many bytes went straight. */
static int64_t read_one(sx_hdf5_device *device, const char *path, const char *name, int seed) {
    sx_hdf5 *file = NULL;
    sx_array array;
    sx_hdf5_statistics did;
    const int64_t shape[] = {T, H, W};
    ck_ok(sx_hdf5_open(path, &file));
    ck_ok(sx_array_create(SX_U16, 3, shape, &array));
    const uint16_t *values = array.data;
    array.data = (void *)((size_t)array.data + (size_t)FAKE_DEVICE);
    const sx_hdf5_options options = {.device = device};
    const sx_hdf5_box box = {.file = file, .name = name, .array = &array};
    ck_ok(sx_hdf5_read(1, &box, &options, &did));
    int64_t wrong = 0;
    for (int64_t i = 0; i < T * H * W; i++) {
        wrong += values[i] != (uint16_t)(i * 7 + seed);
    }
    ck_assert_int_eq(wrong, 0);
    sx_array_destroy(&array);
    sx_hdf5_close(&file);
    return did.device;
}

static sx_hdf5_device *open_device(const char *words) {
    sx_hdf5_device *device = NULL;
    char reason[200] = "?";
    ck_ok(sx_device_open(&device, reason, sizeof reason));
    ck_assert_str_eq(reason, words);
    return device;
}

START_TEST(without_a_driver_there_is_a_reason) {
    sx_hdf5_device *device = NULL;
    if (has("cuda")) {
        setenv("FAKE_GPUS", "0", 1);
        ck_fails(sx_device_open(&device, NULL, 0), SX_ERR_UNSUPPORTED,
                 "a CUDA driver, but no GPU that it can use (error 100)");
        unsetenv("FAKE_GPUS");
    } else if (sx_device_open(&device, NULL, 0) == SX_OK) {
        printf("there is a GPU here, so its absence is not tested\n");
    } else {
        ck_assert_int_eq(sx_error_status(), SX_ERR_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(sx_error_message(), "CUDA driver"));
        ck_assert_ptr_null(device);
    }
    sx_device_close(&device);
}
END_TEST

START_TEST(values_arrive_straight_or_by_way_of_the_host) {
    if (!has("cuda")) {
        return;
    }
    const bool straight = has("cufile");
    sx_hdf5_device *device = open_device(straight ? "" : "no cuFile (libcufile.so.0)");
    const char *path = make("a.h5", 3);
    ck_assert_int_eq(read_one(device, path, "plain", 3), straight ? T * H * W * 2 : 0);
    ck_assert_int_eq(read_one(device, path, "gzip", 4), 0);
    ck_assert_int_eq(held("libcuda.so.1", "fake_cuda_held"), 1);
    sx_device_close(&device);
    ck_assert_ptr_null(device);
    ck_assert_int_eq(held("libcuda.so.1", "fake_cuda_held"), 0);
}
END_TEST

START_TEST(a_file_that_cufile_does_not_want_goes_by_way_of_the_host) {
    if (!has("cufile")) {
        return;
    }
    setenv("FAKE_REFUSE", "1", 1);
    sx_hdf5_device *device = open_device("");
    ck_assert_int_eq(read_one(device, make("a.h5", 3), "plain", 3), 0);
    sx_device_close(&device);
    unsetenv("FAKE_REFUSE");
}
END_TEST

/* Descriptors of files come again: every file here has the same number. */
START_TEST(many_files_are_told_apart_and_let_go) {
    if (!has("cufile")) {
        return;
    }
    sx_hdf5_device *device = open_device("");
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.h5", i % 70);
        const char *path = i < 70 ? make(name, i) : sx_folder(name);
        ck_assert_int_eq(read_one(device, path, "plain", i % 70), T * H * W * 2);
    }
    ck_assert_int_eq(held("libcufile.so.0", "fake_cufile_held"), 64);
    sx_device_close(&device);
    ck_assert_int_eq(held("libcufile.so.0", "fake_cufile_held"), 0);
}
END_TEST

/* A path that leads to another file than before. */
START_TEST(a_file_that_was_replaced_is_read_anew) {
    if (!has("cufile")) {
        return;
    }
    sx_hdf5_device *device = open_device("");
    for (int i = 0; i < 3; i++) {
        remove(sx_folder("same.h5"));
        ck_assert_int_gt(read_one(device, make("same.h5", 10 * i), "plain", 10 * i), 0);
    }
    sx_device_close(&device);
}
END_TEST

typedef int context_fn(void *);

START_TEST(the_context_of_the_caller_is_used_and_left_as_it_was) {
    if (!has("cuda")) {
        return;
    }
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    int (*push)(void *) = NULL;
    int (*current)(void **) = NULL;
    int (*pop)(void **) = NULL;
    int mine = 0;
    void *found = NULL;
    ck_assert(SXI_LOAD(library, "cuCtxPushCurrent_v2", push) &&
              SXI_LOAD(library, "cuCtxGetCurrent", current) &&
              SXI_LOAD(library, "cuCtxPopCurrent_v2", pop));
    ck_assert_int_eq(push(&mine), 0);
    sx_hdf5_device *device = open_device(has("cufile") ? "" : "no cuFile (libcufile.so.0)");
    ck_assert_int_eq(held("libcuda.so.1", "fake_cuda_held"), 0);
    read_one(device, make("a.h5", 5), "plain", 5);
    sx_device_close(&device);
    ck_assert_int_eq(current(&found), 0);
    ck_assert_ptr_eq(found, &mine);
    pop(&found);
    current(&found);
    ck_assert_ptr_null(found);
    dlclose(library);
}
END_TEST

START_TEST(it_is_compiled_not_run) {
    const char *fakes = getenv("SEXTANT_FAKES");
    printf("CUDA and cuFile: compiled, not run; stand-ins here: %s\n",
           fakes && *fakes ? fakes : "none");
}
END_TEST

SX_TEST_MAIN("device", it_is_compiled_not_run, without_a_driver_there_is_a_reason,
             values_arrive_straight_or_by_way_of_the_host,
             a_file_that_cufile_does_not_want_goes_by_way_of_the_host,
             many_files_are_told_apart_and_let_go, a_file_that_was_replaced_is_read_anew,
             the_context_of_the_caller_is_used_and_left_as_it_was)
