/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"
#include "base/output.h"
#include "io/hdf5/h5file.h"
#include "io/hdf5/writer/h5_digest.h"
#include "sx_check.h"
#include "sx_folder.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t SHAPE[] = {3, 4};

/* 12 numbers, missing in one place. */
static sx_array numbers(void) {
    sx_array array;
    ck_ok(sx_array_create(SX_F32, 2, SHAPE, &array));
    for (int i = 0; i < 12; i++) {
        ((float *)array.data)[i] = i == 5 ? NAN : (float)i * 0.5f;
    }
    return array;
}

/* A file with everything the writer can do. */
static sx_status fill(sxi_h5_writer *writer, bool provenance) {
    static const char *const words[] = {"ok", "masked"};
    static const char *const inputs[] = {"/proc/self/cmdline"};
    const int64_t delays = 3;
    const double reals[] = {1.5, 2.5};
    const int64_t whole = 7;
    double delay[] = {0.1, 0.2, 0.3};
    sx_array view;
    sx_array signal = numbers();
    sx_status status = SX_OK;
    SXI_GO(sxi_h5_write(writer, "/cube/signal", &signal, "", "Relative change"));
    SXI_GO(sx_array_view(SX_F64, 1, &delays, delay, &view));
    SXI_GO(sxi_h5_write(writer, "/cube/delay", &view, "ps", "Mean delay of the bin"));
    SXI_GO(sxi_h5_attach_scale(writer, "/cube/signal", 0, "/cube/delay"));
    SXI_GO(sxi_h5_set_text(writer, "/cube", "NX_class", "NXdata"));
    SXI_GO(sxi_h5_set_text(writer, "/", "default", "cube"));
    SXI_GO(sxi_h5_set_texts(writer, "/cube/signal", "states", 2, words));
    SXI_GO(sxi_h5_set_reals(writer, "/cube/signal", "pair", 2, reals));
    SXI_GO(sxi_h5_set_ints(writer, "/cube/signal", "count", 1, &whole));
    SXI_GO(sxi_h5_write_text(writer, "/cube/title", "h\xc3\xa4lf"));
    SXI_GO(sxi_h5_dataset_create(writer, "/cube/empty", SX_F64, 2, SHAPE, "THz", ""));
    if (provenance) {
        SXI_GO(sxi_h5_provenance(writer, NULL, 1, inputs));
    }
out:
    sx_array_destroy(&signal);
    return status;
}

static void write_file(const char *path, bool provenance) {
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(path, false, &writer));
    ck_ok(fill(writer, provenance));
    ck_ok(sxi_h5_commit(&writer));
    ck_assert_ptr_null(writer);
}

START_TEST(what_is_written_is_read) {
    sx_folder_empty();
    const char *path = sx_folder("a.h5");
    write_file(path, false);
    ck_assert_int_eq(sx_folder_count(), 1);
    sx_hdf5 *file = NULL;
    ck_ok(sx_hdf5_open(path, &file));
    sx_hdf5_dataset about;
    ck_ok(sx_hdf5_describe(file, "/cube/delay", &about));
    ck_assert(about.numeric && about.dtype == SX_F64 && about.rank == 1 && about.shape[0] == 3);
    ck_assert_str_eq(about.unit, "ps");
    sx_array signal;
    ck_ok(sxi_h5_read(file, "/cube/signal", NULL, &signal));
    ck_assert_int_eq(signal.dtype, SX_F32);
    sx_array expected = numbers();
    ck_assert_mem_eq(signal.data, expected.data, 12 * sizeof(float));
    sx_array_destroy(&signal);
    sx_array_destroy(&expected);
    const sx_dtype real = SX_F64;
    ck_ok(sxi_h5_read(file, "cube/empty", &real, &signal));
    ck_assert(isnan(*(double *)signal.data)); /* never written: missing */
    sx_array_destroy(&signal);
    char text[40];
    ck_ok(sxi_h5_attribute_text(file, "/cube", "NX_class", text, sizeof text));
    ck_assert_str_eq(text, "NXdata");
    ck_ok(sxi_h5_attribute_text(file, "/cube/signal", "long_name", text, 9));
    ck_assert_str_eq(text, "Relative");
    double value = 0;
    ck_ok(sxi_h5_attribute_real(file, "/cube/signal", "count", &value));
    ck_assert(value == 7);
    double pair[2];
    ck_ok(sxi_h5_attribute_reals(file, "/cube/signal", "pair", 2, pair));
    ck_assert(pair[0] == 1.5 && pair[1] == 2.5);
    ck_fails(sxi_h5_attribute_real(file, "/cube/signal", "pair", &value), SX_ERR_TYPE,
             "one number");
    ck_ok(sxi_h5_read_text(file, "/cube/title", 0, text, sizeof text));
    ck_assert_str_eq(text, "h\xc3\xa4lf");
    ck_assert(sxi_h5_exists(file, "/cube/title") && !sxi_h5_exists(file, "/nothing/here"));
    ck_assert(sxi_h5_is_group(file, "/cube") && !sxi_h5_is_group(file, "/cube/title"));
    sx_hdf5_close(&file);
    ck_assert_ptr_null(file);
}
END_TEST

START_TEST(boxes_of_any_strides_are_written_and_read) {
    sx_folder_empty();
    const char *path = sx_folder("box.h5");
    const int64_t shape[] = {4, 5, 6};
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(path, false, &writer));
    ck_ok(sxi_h5_dataset_create(writer, "x", SX_I32, 3, shape, "", ""));
    int16_t values[4 * 6 * 5]; /* [4][6][5], written as [4][5][6] */
    for (int i = 0; i < 120; i++) {
        values[i] = (int16_t)i;
    }
    const int64_t origin[] = {0, 0, 0};
    sx_array turned = {
        .dtype = SX_I16, .rank = 3, .shape = {4, 5, 6}, .stride = {30, 1, 5}, .data = values};
    ck_ok(sxi_h5_write_box(writer, "x", origin, &turned));
    const int64_t outside[] = {1, 0, 0};
    ck_fails(sxi_h5_write_box(writer, "x", outside, &turned), SX_ERR_RANGE, "1 to 5");
    ck_ok(sxi_h5_commit(&writer));

    sx_hdf5 *file = NULL;
    ck_ok(sx_hdf5_open(path, &file));
    double back[4 * 6 * 5] = {0};
    sx_array target = {
        .dtype = SX_F64, .rank = 3, .shape = {4, 5, 6}, .stride = {30, 1, 5}, .data = back};
    ck_ok(sxi_h5_read_box(file, "x", origin, shape, &target));
    for (int i = 0; i < 120; i++) {
        ck_assert(back[i] == i);
    }
    const int64_t count[] = {4, 5, 7};
    target.shape[2] = 7;
    ck_fails(sxi_h5_read_box(file, "x", origin, count, &target), SX_ERR_RANGE,
             "7 elements from 0 of axis 2 are asked for, it has 6");
    sx_hdf5_close(&file);
}
END_TEST

START_TEST(equal_content_gives_equal_bytes) {
    sx_folder_empty();
    const char *one = sx_folder("one.h5");
    const char *two = sx_folder("two.h5");
    write_file(one, false);
    write_file(two, false);
    size_t sizes[2];
    char *first = sx_folder_slurp(one, &sizes[0]);
    char *second = sx_folder_slurp(two, &sizes[1]);
    ck_assert_uint_eq(sizes[0], sizes[1]);
    ck_assert_mem_eq(first, second, sizes[0]);
    free(first);
    free(second);
}
END_TEST

START_TEST(provenance_names_inputs_and_digests) {
    sx_folder_empty();
    const char *input = sx_folder_write("in.txt", "abc", 3);
    const char *path = sx_folder("out.h5");
    const sx_context context = {.command = "sextant xani fit in.txt"};
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(path, false, &writer));
    ck_ok(sxi_h5_provenance(writer, &context, 1, &input));
    ck_ok(sxi_h5_commit(&writer));
    sx_hdf5 *file = NULL;
    ck_ok(sx_hdf5_open(path, &file));
    char text[300];
    ck_ok(sxi_h5_read_text(file, "/provenance/inputs/digest", 0, text, sizeof text));
    ck_assert_str_eq(text, "xxh64:44bc2cf5ad770999"); /* published value of xxh64("abc") */
    ck_ok(sxi_h5_read_text(file, "/provenance/inputs/path", 0, text, sizeof text));
    ck_assert_str_eq(text, input);
    ck_ok(sxi_h5_read_text(file, "/provenance/command", 0, text, sizeof text));
    ck_assert_str_eq(text, "sextant xani fit in.txt");
    ck_ok(sxi_h5_read_text(file, "/provenance/date", 0, text, sizeof text));
    ck_assert_uint_eq(strlen(text), strlen("2026-01-01T00:00:00Z"));
    sx_array bytes;
    ck_ok(sxi_h5_read(file, "/provenance/inputs/bytes", NULL, &bytes));
    ck_assert(*(int64_t *)bytes.data == 3);
    sx_array_destroy(&bytes);
    sx_hdf5_close(&file);
}
END_TEST

static bool always(void *data) {
    (void)data;
    return true;
}

START_TEST(large_files_are_sampled_under_another_name) {
    sx_folder_empty();
    const size_t size = 70 << 20;
    char *bytes = calloc(1, size);
    const char *path = sx_folder_write("large", bytes, size);
    char before[40], after[40], whole[40];
    int64_t count = 0;
    ck_ok(sxi_digest_file(path, 1 << 20, NULL, &count, before, sizeof before));
    ck_assert(strncmp(before, "xxh64-sampled:", 14) == 0 && count == (int64_t)size);
    ck_ok(sxi_digest_file(path, (int64_t)size, NULL, &count, whole, sizeof whole));
    ck_assert(strncmp(whole, "xxh64:", 6) == 0);
    bytes[size - 1] = 1; /* the last byte counts */
    sx_folder_write("large", bytes, size);
    ck_ok(sxi_digest_file(path, 1 << 20, NULL, &count, after, sizeof after));
    ck_assert_str_ne(before, after);
    const sx_context context = {.cancel = always};
    ck_fails(sxi_digest_file(path, (int64_t)size, &context, &count, after, sizeof after),
             SX_ERR_CANCELLED, "its digest was cancelled");
    free(bytes);
}
END_TEST

START_TEST(outputs_that_cannot_be_are_refused) {
    sx_folder_empty();
    sxi_h5_writer *writer = NULL;
    ck_fails(sxi_h5_create(sx_folder("no/such/out.h5"), false, &writer), SX_ERR_IO,
             "No such file or directory");
    ck_fails(sxi_h5_create("/tmp", true, &writer), SX_ERR_IO, "is a folder");
    ck_fails(sxi_h5_create("/dev/full", true, &writer), SX_ERR_IO, "not a regular file");
    ck_fails(sxi_h5_create("", true, &writer), SX_ERR_ARGUMENT, "not the name");
    ck_fails(sxi_h5_create("/proc/out.h5", true, &writer), SX_ERR_IO, "/proc");
    const char *path = sx_folder_write("here.h5", "old", 3);
    ck_fails(sxi_h5_create(path, false, &writer), SX_ERR_EXISTS, "--overwrite");
    ck_fails(sxi_h5_create(sx_folder("here.h5/out.h5"), false, &writer), SX_ERR_IO, "folder");
    const char *other = sx_folder("link.h5");
    ck_assert_int_eq(symlink(path, other), 0);
    ck_fails(sxi_output_check(path, true, 1, &other), SX_ERR_ARGUMENT, "is the input");
    ck_ok(sxi_output_check(path, true, 0, NULL));
    ck_assert_ptr_null(writer);
    ck_assert_int_eq(sx_folder_count(), 2);
}
END_TEST

START_TEST(overwrite_replaces_only_on_commit) {
    sx_folder_empty();
    const char *path = sx_folder_write("here.h5", "old", 3);
    const char *link_path = sx_folder("link.h5");
    ck_assert_int_eq(symlink(path, link_path), 0);
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(link_path, true, &writer));
    ck_ok(fill(writer, false));
    struct stat about;
    ck_assert(stat(path, &about) == 0 && about.st_size == 3);
    sxi_h5_abandon(&writer);
    ck_assert_ptr_null(writer);
    ck_assert(stat(path, &about) == 0 && about.st_size == 3);
    ck_assert_int_eq(sx_folder_count(), 2);
    ck_ok(sxi_h5_create(link_path, true, &writer));
    ck_ok(fill(writer, false));
    ck_ok(sxi_h5_commit(&writer));
    ck_assert(stat(path, &about) == 0 && about.st_size > 3); /* where the link points to */
    ck_assert(lstat(link_path, &about) == 0 && S_ISLNK(about.st_mode));
}
END_TEST

START_TEST(a_file_that_appears_meanwhile_is_kept) {
    sx_folder_empty();
    const char *path = sx_folder("new.h5");
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(path, false, &writer));
    ck_ok(fill(writer, false));
    sx_folder_write("new.h5", "theirs", 6);
    ck_fails(sxi_h5_commit(&writer), SX_ERR_EXISTS, "appeared");
    size_t size = 0;
    char *bytes = sx_folder_slurp(path, &size);
    ck_assert_str_eq(bytes, "theirs");
    free(bytes);
    ck_assert_int_eq(sx_folder_count(), 1);
}
END_TEST

START_TEST(two_writers_of_one_name_do_not_meet) {
    sx_folder_empty();
    sxi_h5_writer *one = NULL, *two = NULL;
    ck_ok(sxi_h5_create(sx_folder("x.h5"), true, &one));
    ck_ok(sxi_h5_create(sx_folder("x.h5"), true, &two));
    ck_ok(fill(one, false));
    ck_ok(fill(two, false));
    ck_ok(sxi_h5_commit(&one));
    ck_ok(sxi_h5_commit(&two));
    ck_assert_int_eq(sx_folder_count(), 1);
}
END_TEST

/* A limit on the size of files stands for a full disk: write() fails in the same place. */
START_TEST(a_full_disk_leaves_nothing) {
    sx_folder_empty();
    sx_folder("x");
    const int64_t shape[] = {1 << 20};
    sx_array large;
    ck_ok(sx_array_create(SX_F64, 1, shape, &large));
    struct rlimit before, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    /* At the first dataset, in the middle, and only when metadata are flushed at the end. */
    const rlim_t limits[] = {100, 1 << 20, (8 << 20) + 100};
    for (int i = 0; i < 3; i++) {
        small = before;
        small.rlim_cur = limits[i];
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        sxi_h5_writer *writer = NULL;
        sx_status status = sxi_h5_create(sx_folder("full.h5"), false, &writer);
        if (status == SX_OK) {
            status = sxi_h5_write(writer, "/a/large", &large, "", "");
            sx_status later = sxi_h5_write(writer, "/a/more", &large, "", "");
            ck_assert_int_eq(later, SX_ERR_IO);
            ck_assert_ptr_nonnull(strstr(sx_error_message(), "File too large"));
            ck_fails(sxi_h5_commit(&writer), SX_ERR_IO, "full.h5 cannot be written");
        }
        ck_assert_ptr_null(writer);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert_int_eq(sx_folder_count(), 0);
    }
    signal(SIGXFSZ, handler);
    sx_array_destroy(&large);
}
END_TEST

SX_TEST_MAIN("h5_write", what_is_written_is_read, boxes_of_any_strides_are_written_and_read,
             equal_content_gives_equal_bytes, provenance_names_inputs_and_digests,
             large_files_are_sampled_under_another_name, outputs_that_cannot_be_are_refused,
             overwrite_replaces_only_on_commit, a_file_that_appears_meanwhile_is_kept,
             two_writers_of_one_name_do_not_meet, a_full_disk_leaves_nothing)
