/* SPDX-License-Identifier: Apache-2.0
 * What readers of facilities share. Runs themselves are tried in tests/xani/facility.py. */
#include "io/facility/facility.h"

#include <stdlib.h>
#include <string.h>

#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"

START_TEST(elements_of_names) {
    char name[SXI_SHOT_NAME], longer[400];
    int64_t element = 0;
    ck_ok(sxi_shot_element("ipm2/channels[3]", name, &element));
    ck_assert_str_eq(name, "ipm2/channels");
    ck_assert_int_eq(element, 3);
    ck_ok(sxi_shot_element("LAS:A[1]:B", name, &element));
    ck_assert_str_eq(name, "LAS:A[1]:B");
    ck_assert_int_eq(element, -1);
    ck_fails(sxi_shot_element("a[x]", name, &element), SX_ERR_ARGUMENT, "'x' is not the number");
    ck_fails(sxi_shot_element("a[-1]", name, &element), SX_ERR_ARGUMENT, "from 0");
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    ck_fails(sxi_shot_element(longer, name, &element), SX_ERR_ARGUMENT, "399 characters");
}
END_TEST

START_TEST(patterns) {
    ck_assert(sxi_shot_pattern("10", 0, 0) == 1 && sxi_shot_pattern("10", 7, 3) == 0);
    ck_assert(sxi_shot_pattern("11,0", 4, 1) == 1 && sxi_shot_pattern("11,0", 5, 1) == 0);
    ck_ok(sxi_shot_pattern_check("1101,0"));
    ck_fails(sxi_shot_pattern_check(""), SX_ERR_ARGUMENT, "0 and 1");
    ck_fails(sxi_shot_pattern_check("1,,0"), SX_ERR_ARGUMENT, "0 and 1");
    ck_fails(sxi_shot_pattern_check("102"), SX_ERR_ARGUMENT, "'102'");
}
END_TEST

START_TEST(keys) {
    sxi_keyed list[] = {{9, 0}, {3, 1}, {9, 2}, {UINT64_MAX, 3}, {3, 4}, {5, 5}};
    const int64_t n = sizeof list / sizeof *list;
    sxi_keyed_sort(list, n);
    for (int64_t i = 1; i < n; i++) {
        ck_assert(list[i - 1].key < list[i].key ||
                  (list[i - 1].key == list[i].key && list[i - 1].at < list[i].at));
    }
    ck_assert_int_eq(sxi_keyed_find(list, n, 9)->at, 0);
    ck_assert_int_eq(sxi_keyed_find(list, n, UINT64_MAX)->at, 3);
    ck_assert_ptr_null(sxi_keyed_find(list, n, 4));
    ck_assert_ptr_null(sxi_keyed_find(list, 0, 4));
}
END_TEST

static void touch(const char *name) { sx_folder_write(name, "", 0); }

START_TEST(files_of_a_run) {
    touch("RAW-R0012-DA01-S00000.h5");
    touch("RAW-R0012-JNGFR01-S00001.h5");
    touch("RAW-R0013-DA01-S00000.h5");
    touch("run_1.BSREAD.h5");
    touch("run_1.JF01.h5");
    touch("run_2.JF01.h5");
    const char *paths[] = {sx_folder("RAW-R0012-DA01-S00000.h5"),
                           sx_folder("RAW-R0012-JNGFR01-S00001.h5"),
                           sx_folder("RAW-R0013-DA01-S00000.h5"),
                           sx_folder("run_1.BSREAD.h5"),
                           sx_folder("run_1.JF01.h5"),
                           sx_folder("run_2.JF01.h5")};
    ck_assert_int_eq(sxi_shots_joined(6, paths), 2);
    ck_assert_int_eq(sxi_shots_joined(4, paths + 2), 1);
    ck_assert_int_eq(sxi_shots_joined(3, paths + 3), 2);
    ck_assert_int_eq(sxi_shots_joined(1, paths + 3), 1);
}
END_TEST

/* Tables of a size that no run has, and what was never written, are refused before memory is asked for. */
START_TEST(values) {
    const double rows[] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {3, 2}, image[] = {1 << 15, 1 << 15};
    sxi_h5_writer *w = NULL;
    sx_hdf5 *file = NULL;
    sx_array array;
    ck_ok(sxi_h5_create(sx_folder("values.h5"), true, &w));
    ck_ok(sx_array_create(SX_F64, 2, shape, &array));
    memcpy(array.data, rows, sizeof rows);
    ck_ok(sxi_h5_write(w, "/rows", &array, "", ""));
    sx_array_destroy(&array);
    ck_ok(sxi_h5_dataset_create(w, "/image", SX_U8, 2, image, "", ""));
    ck_ok(sxi_h5_dataset_create(w, "/never", SX_I32, 2, shape, "", ""));
    ck_ok(sxi_h5_commit(&w));
    ck_ok(sx_hdf5_open(sx_folder("values.h5"), &file));
    ck_ok(sxi_shot_values(file, "rows", 1, SX_F64, &array));
    ck_assert_int_eq(sx_array_count(&array), 3);
    ck_assert(((double *)array.data)[0] == 2 && ((double *)array.data)[2] == 6);
    sx_array_destroy(&array);
    ck_fails(sxi_shot_values(file, "rows", 2, SX_F64, &array), SX_ERR_SHAPE, "no element 2");
    ck_fails(sxi_shot_values(file, "image", -1, SX_F64, &array), SX_ERR_RANGE, "too many");
    ck_fails(sxi_shot_values(file, "never", -1, SX_U64, &array), SX_ERR_MISSING, "only written");
    ck_fails(sxi_shot_values(file, "nothing", -1, SX_U64, &array), SX_ERR_MISSING, "nothing");
    ck_assert_ptr_null(array.data);
    sx_hdf5_close(&file);
}
END_TEST

SX_TEST_MAIN("facility", elements_of_names, patterns, keys, files_of_a_run, values)
