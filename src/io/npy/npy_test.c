/* SPDX-License-Identifier: Apache-2.0 */
#include "io/npy/npy.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "sx_check.h"
#include "sx_folder.h"

static sx_status write_npy(const char *path, bool overwrite, sx_dtype dtype, int rank,
                           const int64_t *shape, const void *values, size_t bytes) {
    sxi_npy *npy = NULL;
    sx_status status = sxi_npy_create(path, overwrite, dtype, rank, shape, &npy);
    if (status == SX_OK) {
        status = sxi_npy_append(npy, values, bytes / 2);
    }
    if (status == SX_OK) {
        status = sxi_npy_append(npy, (const char *)values + bytes / 2, bytes - bytes / 2);
    }
    if (status != SX_OK) {
        sxi_npy_abandon(&npy);
        return status;
    }
    return sxi_npy_commit(&npy);
}

/* What numpy 1.24's save() writes for the same array, but for the blanks. */
START_TEST(headers_are_those_of_numpy) {
    const float values[6] = {0, 1, 2, 3, 4, 5};
    const struct {
        sx_dtype dtype;
        int rank;
        int64_t shape[3];
        const char *dict;
    } cases[] = {
        {SX_F32, 2, {2, 3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"},
        {SX_F32, 1, {6}, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }"},
        {SX_U8, 3, {2, 3, 4}, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4), }"},
        {SX_F64, 0, {0}, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"},
        {SX_I16, 2, {0, 3}, "{'descr': '<i2', 'fortran_order': False, 'shape': (0, 3), }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bytes = sx_dtype_size(cases[i].dtype), length = 0;
        for (int d = 0; d < cases[i].rank; d++) {
            bytes *= (size_t)cases[i].shape[d];
        }
        const char *path = sx_folder("a.npy");
        ck_ok(write_npy(path, true, cases[i].dtype, cases[i].rank, cases[i].shape, values, bytes));
        char *file = sx_folder_slurp(path, &length);
        ck_assert(memcmp(file, "\x93NUMPY\x01\x00", 8) == 0);
        const size_t header = (unsigned char)file[8] + 256U * (unsigned char)file[9];
        ck_assert_uint_eq((10 + header) % 64, 0);
        ck_assert(strncmp(file + 10, cases[i].dict, strlen(cases[i].dict)) == 0);
        ck_assert_int_eq(file[10 + header - 1], '\n');
        ck_assert_uint_eq(strspn(file + 10 + strlen(cases[i].dict), " "),
                          header - strlen(cases[i].dict) - 1);
        ck_assert_uint_eq(length, 10 + header + bytes);
        ck_assert(memcmp(file + 10 + header, values, bytes) == 0);
        free(file);
    }
    ck_assert_int_eq(sx_folder_count(), 1);
}
END_TEST

START_TEST(longest_header_fits) {
    const int64_t shape[SXI_NPY_RANK] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX,
                                         INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    sxi_npy *npy = NULL;
    ck_ok(sxi_npy_create(sx_folder("long.npy"), false, SX_U16, SXI_NPY_RANK, shape, &npy));
    ck_ok(sxi_npy_commit(&npy));
    size_t length = 0;
    char *file = sx_folder_slurp(sx_folder("long.npy"), &length);
    ck_assert_uint_eq(length, 256);
    ck_assert_ptr_nonnull(strstr(file + 10, "9223372036854775807), }"));
    free(file);
}
END_TEST

START_TEST(nothing_is_replaced_or_left) {
    const int64_t shape = 2;
    const float values[2] = {1, 2};
    sx_folder_empty();
    const char *path = sx_folder_write("kept.npy", "mine", 4);
    ck_fails(write_npy(path, false, SX_F32, 1, &shape, values, sizeof values), SX_ERR_EXISTS,
             "it is kept unless --overwrite is given");
    ck_fails(write_npy("/nowhere/a.npy", false, SX_F32, 1, &shape, values, sizeof values),
             SX_ERR_IO, "/nowhere/a.npy cannot be written: the folder /nowhere");
    sxi_npy *npy = NULL;
    ck_ok(sxi_npy_create(path, true, SX_F32, 1, &shape, &npy));
    ck_ok(sxi_npy_append(npy, values, sizeof values));
    sxi_npy_abandon(&npy);
    sxi_npy_abandon(&npy);
    size_t length = 0;
    char *file = sx_folder_slurp(path, &length);
    ck_assert_str_eq(file, "mine");
    free(file);
    ck_assert_int_eq(sx_folder_count(), 1);
}
END_TEST

START_TEST(a_full_disk_is_told) {
    const int64_t shape = 4096;
    static const float values[4096];
    struct rlimit before, small;
    sx_folder_empty();
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1024;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    sx_status status =
        write_npy(sx_folder("full.npy"), false, SX_F32, 1, &shape, values, sizeof values);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_fails(status, SX_ERR_IO, "full.npy cannot be written: File too large");
    ck_assert_int_eq(sx_folder_count(), 0);
}
END_TEST

SX_TEST_MAIN("npy", headers_are_those_of_numpy, longest_header_fits, nothing_is_replaced_or_left,
             a_full_disk_is_told)
