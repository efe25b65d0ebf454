/* SPDX-License-Identifier: Apache-2.0
 * Reading into memory that the processor cannot write to. The device is a stand-in: shared memory
 * mapped twice, once without any rights, which is where the arrays lie, and once for the two
 * functions of the device. Whoever else touches an array dies of it. */
#include "io/hdf5/h5_locked.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"

#include <sx_check.h>
#include <sx_folder.h>

enum { KEY = 20261201, PAGE = 4096, ROUNDS = 3, T = 30, H = 72, W = 256 }; /* 1.1 MB: two slabs */

static uint64_t drawn;

/* 0 .. below - 1 */
static int64_t draw(int64_t below) {
    uint32_t bits[4];
    sxi_rng_bits(KEY, 0, drawn++, 0, bits);
    return (int64_t)(bits[0] % (uint64_t)below);
}

/* --- the device --- */

typedef enum habit {
    READS_ALL,
    READS_SHORT,   /* at most 1000 bytes at a time */
    READS_ALIGNED, /* whole pages at whole pages only, as files opened with O_DIRECT */
    READS_NOTHING, /* 0 */
    READS_FAIL,    /* -EIO */
    READS_LIE,     /* more than was asked for */
    HABITS
} habit;

typedef struct fake {
    sx_hdf5_device device;
    habit habit;
    size_t bytes;
    unsigned char *arrays; /* [bytes] no rights */
    unsigned char *memory; /* [bytes] the same */
    int64_t writes;        /* calls */
    int64_t written, read; /* bytes */
    int64_t broken;        /* from this write on all fail; 0: never */
} fake;

static unsigned char *memory_of(const fake *f, void *target, int64_t bytes) {
    const int64_t at = (unsigned char *)target - f->arrays;
    ck_assert_msg(at >= 0 && at + bytes <= (int64_t)f->bytes, "%lld bytes at %lld",
                  (long long)bytes, (long long)at);
    return f->memory + at;
}

static bool fake_write(void *data, const sx_hdf5_rows *rows) {
    fake *f = data;
    const int64_t number = __atomic_add_fetch(&f->writes, 1, __ATOMIC_RELAXED);
    if (f->broken > 0 && number >= f->broken) {
        return false;
    }
    for (int64_t i = 0; i < rows->rows; i++) {
        memcpy(memory_of(f, (char *)rows->target + i * rows->target_pitch, rows->bytes),
               (const char *)rows->source + i * rows->source_pitch, (size_t)rows->bytes);
    }
    __atomic_add_fetch(&f->written, rows->bytes * rows->rows, __ATOMIC_RELAXED);
    return true;
}

static int64_t fake_read(void *data, int fd, int64_t offset, void *target, int64_t bytes) {
    fake *f = data;
    if (f->habit == READS_FAIL || (f->habit == READS_ALIGNED && (offset | bytes) % PAGE != 0)) {
        return f->habit == READS_FAIL ? -EIO : -EINVAL;
    }
    if (f->habit == READS_NOTHING || f->habit == READS_LIE) {
        return f->habit == READS_NOTHING ? 0 : bytes + 1;
    }
    const int64_t asked = f->habit == READS_SHORT && bytes > 1000 ? 1000 : bytes;
    const ssize_t got = pread(fd, memory_of(f, target, asked), (size_t)asked, (off_t)offset);
    __atomic_add_fetch(&f->read, got > 0 ? (int64_t)got : 0, __ATOMIC_RELAXED);
    return got < 0 ? -errno : (int64_t)got;
}

static void fake_open(fake *f, size_t bytes) {
    *f = (fake){.bytes = bytes, .device = {.data = f, .write = fake_write, .read = fake_read}};
    char name[64];
    snprintf(name, sizeof name, "/sextant-device-%ld", (long)getpid());
    const int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    shm_unlink(name);
    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    f->arrays = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
    f->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert(f->arrays != MAP_FAILED && f->memory != MAP_FAILED);
    close(fd);
}

static void fake_close(fake *f) {
    munmap(f->arrays, f->bytes);
    munmap(f->memory, f->bytes);
}

/* --- files --- */

static hid_t file_create(const char *name) {
    hid_t file = H5Fcreate(sx_folder(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    return file;
}

/* Writes the middle third of the first axis if holes, else all. Closes creation. */
static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *shape,
                hid_t creation, bool holes) {
    hsize_t start[3] = {0}, count[3];
    size_t bytes = H5Tget_size(type);
    for (int d = 0; d < rank; d++) {
        start[d] = holes && d == 0 ? shape[d] / 3 : 0;
        count[d] = holes && d == 0 ? shape[d] / 3 : shape[d];
        bytes *= count[d];
    }
    unsigned char *values = malloc(bytes);
    const uint32_t seed = (uint32_t)draw(1000);
    for (size_t i = 0; i < bytes; i++) {
        values[i] = (unsigned char)((((uint32_t)i + seed) * 2654435761u >> 16) % 100);
    }
    hid_t space = H5Screate_simple(rank, shape, NULL);
    hid_t memory = H5Screate_simple(rank, count, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ck_assert_int_ge(set, 0);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    ck_assert_int_ge(H5Dwrite(set, type, memory, space, H5P_DEFAULT, values), 0);
    free(values);
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(creation);
}

static hid_t chunks(int rank, const hsize_t *chunk) {
    const short fill = 7;
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, rank, chunk);
    H5Pset_fill_value(creation, H5T_NATIVE_SHORT, &fill);
    return creation;
}

static hid_t plain(void) { return H5Pcreate(H5P_DATASET_CREATE); }

/* Frames t of "frames" and of "frames.big" in turn, and a third that nobody has. */
static void put_virtual(hid_t file, const hsize_t *shape) {
    const hsize_t whole[] = {3 * shape[0], shape[1], shape[2]};
    const hsize_t stride[] = {3, 1, 1}, one[] = {1, 1, 1};
    const hsize_t count[] = {shape[0], shape[1], shape[2]};
    hid_t creation = plain();
    hid_t space = H5Screate_simple(3, whole, NULL);
    hid_t source = H5Screate_simple(3, shape, NULL);
    const short fill = 9;
    H5Pset_fill_value(creation, H5T_NATIVE_SHORT, &fill);
    for (hsize_t i = 0; i < 2; i++) {
        const hsize_t start[] = {i, 0, 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, one);
        ck_assert_int_ge(H5Pset_virtual(creation, space, ".", i ? "frames.big" : "frames", source),
                         0);
    }
    H5Sselect_all(space);
    hid_t set =
        H5Dcreate2(file, "virtual", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ck_assert_int_ge(set, 0);
    H5Dclose(set);
    H5Sclose(source);
    H5Sclose(space);
    H5Pclose(creation);
}

static void put_external(hid_t file, const hsize_t *shape) {
    hid_t creation = plain();
    char first[300], second[300];
    snprintf(first, sizeof first, "%s", sx_folder("first.raw"));
    snprintf(second, sizeof second, "%s", sx_folder("second.raw"));
    H5Pset_external(creation, first, 10, 100001); /* cut inside an element */
    H5Pset_external(creation, second, 0, H5F_UNLIMITED);
    put(file, "external", H5T_STD_U16LE, 3, shape, creation, false);
}

/* Every way that values take. */
static void make_all(const char *name) {
    static const hsize_t shape[] = {T, H, W}, less[] = {10, H, W};
    static const hsize_t tile[] = {8, 30, 64}, frame[] = {1, H, W}, few[] = {20};
    hid_t file = file_create(name);
    put(file, "frames", H5T_STD_U16LE, 3, shape, plain(), false);
    put(file, "frames.big", H5T_STD_U16BE, 3, shape, plain(), false);
    put(file, "chunk.frame", H5T_STD_U16LE, 3, shape, chunks(3, frame), false);
    put(file, "chunk.tile", H5T_STD_U16LE, 3, shape, chunks(3, tile), false);
    put(file, "chunk.holes", H5T_STD_U16LE, 3, shape, chunks(3, frame), true);
    hid_t gzip[] = {chunks(3, frame), chunks(3, tile), chunks(3, tile), chunks(3, tile)};
    for (int i = 0; i < 4; i++) {
        H5Pset_shuffle(gzip[i]);
        H5Pset_deflate(gzip[i], 1);
    }
    put(file, "gzip.frame", H5T_STD_U16LE, 3, shape, gzip[0], false);
    put(file, "gzip.tile", H5T_STD_U16LE, 3, shape, gzip[1], false);
    put(file, "gzip.holes", H5T_STD_I16BE, 3, shape, gzip[2], true);
    put(file, "gzip.double", H5T_IEEE_F64LE, 3, less, gzip[3], false);
    hid_t compact = plain();
    H5Pset_layout(compact, H5D_COMPACT);
    put(file, "compact", H5T_STD_I32LE, 1, few, compact, false);
    hid_t offset = chunks(3, tile); /* a filter that is left to the library */
    H5Pset_scaleoffset(offset, H5Z_SO_INT, 0);
    put(file, "scale-offset", H5T_STD_U16LE, 3, shape, offset, false);
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 11);
    put(file, "text", text, 1, few, plain(), false);
    H5Tclose(text);
    put_virtual(file, shape);
    put_external(file, shape);
    H5Fclose(file);
}

/* Those that a device can read by itself come first. */
enum { STRAIGHT = 6, ALL = 14 };
static const char *const names[ALL] = {"frames",    "chunk.frame", "chunk.tile",  "chunk.holes",
                                       "virtual",   "external",    "frames.big",  "gzip.frame",
                                       "gzip.tile", "gzip.holes",  "gzip.double", "compact",
                                       "text",      "scale-offset"};

/* --- reading --- */

/* Random box of a dataset, or all of it; the array on the device and one of the host. */
static void compare(fake *f, sx_hdf5 *file, const char *name, bool whole, bool library) {
    sx_hdf5_dataset about;
    int64_t start[SX_MAX_RANK] = {0}, count[SX_MAX_RANK];
    ck_ok(sx_hdf5_describe(file, name, &about));
    for (int d = 0; d < about.rank; d++) {
        start[d] = whole ? 0 : draw(about.shape[d]);
        count[d] = whole ? about.shape[d] : 1 + draw(about.shape[d] - start[d]);
    }
    const int rank = about.rank + !about.numeric;
    count[about.rank] = about.numeric ? 1 : about.element_bytes;
    const sx_dtype dtype = !about.numeric ? SX_U8 : draw(2) ? about.dtype : SX_F64;
    sx_array expected, found;
    ck_ok(sx_array_create(dtype, rank, count, &expected));
    const int64_t bytes = sx_array_count(&expected) * (int64_t)sx_dtype_size(dtype);
    const int64_t offset = draw(PAGE); /* what lies around an array stays as it was */
    ck_assert_int_le(offset + bytes + PAGE, (int64_t)f->bytes);
    ck_ok(sx_array_view(dtype, rank, count, f->arrays + offset, &found));
    memset(f->memory, 0xee, (size_t)(offset + bytes + PAGE));
    f->written = f->read = 0;
    const sx_context context = {.threads = (int)draw(3) + 1};
    sx_hdf5_options options = {
        .missing = SX_HDF5_MISSING_FILL, .context = &context, .library = library};
    sx_hdf5_box box = {file, name, start, count, &expected};
    ck_ok(sx_hdf5_read(1, &box, &options, NULL));
    sx_hdf5_statistics did;
    box.array = &found;
    options.device = &f->device;
    ck_ok(sx_hdf5_read(1, &box, &options, &did));
    ck_assert_msg(memcmp(f->memory + offset, expected.data, (size_t)bytes) == 0,
                  "%s as %s differs, habit %d", name, sx_dtype_name(dtype), f->habit);
    for (int64_t i = 0; i < offset + PAGE; i++) {
        ck_assert_int_eq(f->memory[i < offset ? i : i + bytes], 0xee);
    }
    ck_assert_int_eq(did.device, f->read);
    ck_assert_int_ge(f->read + f->written, bytes); /* more: fill values under sources */
    sx_array_destroy(&expected);
}

/* Those in the list, all of each and some boxes. */
static void compare_all(fake *f, sx_hdf5 *file, int count, const char *const *list) {
    for (int i = 0; i < count; i++) {
        compare(f, file, list[i], true, false);
        for (int round = 0; round < ROUNDS; round++) {
            compare(f, file, list[i], false, round == 0);
        }
    }
}

static sx_hdf5 *open_all(fake *f) {
    sx_hdf5 *file = NULL;
    sx_folder_empty();
    make_all("all.h5");
    ck_ok(sx_hdf5_open(sx_folder("all.h5"), &file));
    fake_open(f, 3 * T * H * W * sizeof(double) + 3 * PAGE);
    return file;
}

START_TEST(a_device_that_only_writes_gets_everything_by_way_of_the_host) {
    fake f;
    sx_hdf5 *file = open_all(&f);
    f.device.read = NULL;
    compare_all(&f, file, ALL, names);
    ck_assert_int_eq(f.read, 0);
    fake_close(&f);
    sx_hdf5_close(&file);
}
END_TEST

START_TEST(however_a_device_reads_the_values_are_right) {
    fake f;
    sx_hdf5 *file = open_all(&f);
    for (f.habit = 0; f.habit < HABITS; f.habit++) {
        compare_all(&f, file, STRAIGHT, names);
    }
    fake_close(&f);
    sx_hdf5_close(&file);
}
END_TEST

/* Reads all of a dataset of u16 to the device. */
static sx_status read_whole(fake *f, sx_hdf5 *file, const char *name, sx_dtype dtype,
                            sx_hdf5_statistics *did) {
    sx_hdf5_dataset about;
    sx_array array;
    ck_ok(sx_hdf5_describe(file, name, &about));
    ck_ok(sx_array_view(dtype, about.rank, about.shape, f->arrays, &array));
    const sx_context three = {.threads = 3};
    const sx_hdf5_options options = {
        .missing = SX_HDF5_MISSING_FILL, .context = &three, .device = &f->device};
    const sx_hdf5_box box = {.file = file, .name = name, .array = &array};
    f->writes = 0;
    return sx_hdf5_read(1, &box, &options, did);
}

/* Bytes that are neither filtered nor converted, and only those, go straight to the device. */
START_TEST(the_statistics_tell_what_went_straight) {
    enum { BYTES = T * H * W * 2 };
    static const struct {
        const char *name;
        sx_dtype dtype;
        int64_t straight;
    } cases[] = {{"frames", SX_U16, BYTES},          {"frames", SX_F32, 0},
                 {"frames.big", SX_U16, 0},          {"chunk.frame", SX_U16, BYTES},
                 {"chunk.tile", SX_U16, 0}, /* rows of 128 bytes */
                 {"chunk.holes", SX_U16, BYTES / 3}, {"gzip.frame", SX_U16, 0},
                 {"virtual", SX_U16, BYTES},         {"external", SX_U16, BYTES}};
    fake f;
    sx_hdf5 *file = open_all(&f);
    sx_hdf5_statistics did;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_ok(read_whole(&f, file, cases[i].name, cases[i].dtype, &did));
        ck_assert_msg(did.device == cases[i].straight, "%s: %lld bytes", cases[i].name,
                      (long long)did.device);
        ck_assert_int_eq(did.library, 0);
    }
    /* of a tile a row is a run, of a run of frames a frame: 8 x 3 x 4 tiles, at most 8 writes each */
    ck_ok(read_whole(&f, file, "gzip.tile", SX_U16, &did));
    ck_assert_int_le(f.writes, 4 * 3 * 4 * 8);
    fake_close(&f);
    sx_hdf5_close(&file);
}
END_TEST

/* HDF5 puts data wherever; with H5Pset_alignment they begin at whole pages. */
START_TEST(aligned_files_go_straight_where_others_cannot) {
    static const hsize_t shape[] = {16, 64, 1024}; /* 2 MB */
    sx_folder_empty();
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_alignment(access, 1, PAGE);
    hid_t made = H5Fcreate(sx_folder("aligned.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    put(made, "x", H5T_STD_U16LE, 3, shape, plain(), false);
    H5Fclose(made);
    H5Pclose(access);
    made = file_create("plain.h5");
    put(made, "x", H5T_STD_U16LE, 3, shape, plain(), false);
    H5Fclose(made);
    fake f;
    fake_open(&f, 16 * 64 * 1024 * 2);
    f.habit = READS_ALIGNED;
    for (int aligned = 0; aligned < 2; aligned++) {
        sx_hdf5 *file = NULL;
        sx_hdf5_statistics did;
        ck_ok(sx_hdf5_open(sx_folder(aligned ? "aligned.h5" : "plain.h5"), &file));
        ck_ok(read_whole(&f, file, "x", SX_U16, &did));
        ck_assert_int_eq(did.device, aligned ? 16 * 64 * 1024 * 2 : 0);
        sx_hdf5_close(&file);
    }
    fake_close(&f);
}
END_TEST

START_TEST(a_device_that_fails_is_an_error) {
    static const char *const ways[] = {"frames",  "chunk.tile",   "chunk.holes", "gzip.frame",
                                       "virtual", "scale-offset", "frames.big"};
    fake f;
    sx_hdf5 *file = open_all(&f);
    f.habit = READS_FAIL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        for (f.broken = 1; f.broken < 4; f.broken += 2) {
            sx_hdf5_statistics did;
            const sx_status status = read_whole(&f, file, ways[i], SX_U16, &did);
            if (status == SX_OK) { /* it took fewer writes */
                ck_assert_int_lt(f.writes, f.broken);
                continue;
            }
            ck_assert_int_eq(status, SX_ERR_IO);
            ck_assert_msg(strstr(sx_error_message(), "the device did not take") != NULL, "%s",
                          sx_error_message());
            ck_assert_ptr_nonnull(strstr(sx_error_message(), "all.h5:"));
        }
    }
    fake_close(&f);
    sx_hdf5_close(&file);
}
END_TEST

/* What the device does not read the host tries too, and says what is wrong with the file. */
START_TEST(a_file_that_was_cut_is_an_error) {
    fake f;
    sx_hdf5_statistics did;
    sx_hdf5 *file = open_all(&f);
    ck_assert_int_eq(truncate(sx_folder("first.raw"), 70000), 0);
    ck_fails(read_whole(&f, file, "external", SX_U16, &did), SX_ERR_FORMAT, "has 70000 of");
    ck_assert_int_eq(truncate(sx_folder("all.h5"), 1000000), 0);
    ck_fails(read_whole(&f, file, "frames", SX_U16, &did), SX_ERR_IO, "the file ends at 1000000");
    fake_close(&f);
    sx_hdf5_close(&file);
}
END_TEST

START_TEST(arrays_in_another_order_are_refused) {
    fake f;
    sx_hdf5 *file = open_all(&f);
    sx_array array = {
        .dtype = SX_U16, .rank = 3, .shape = {T, H, W}, .stride = {1, T * W, T}, .data = f.arrays};
    const sx_hdf5_options options = {.device = &f.device};
    const sx_hdf5_box box = {.file = file, .name = "frames", .array = &array};
    ck_fails(sx_hdf5_read(1, &box, &options, NULL), SX_ERR_UNSUPPORTED,
             "all.h5:frames: an array on a device is filled in C order");
    ck_assert_int_eq(f.writes, 0);
    fake_close(&f);
    sx_hdf5_close(&file);
}
END_TEST

static void count_elements(void *data, int i, const int64_t *start, const int64_t *count,
                           const int64_t *step) {
    (void)i;
    (void)start;
    (void)step;
    __atomic_add_fetch((int64_t *)data, count[0] * count[1] * count[2], __ATOMIC_RELAXED);
}

START_TEST(slabs_are_told_when_they_are_on_the_device) {
    fake f;
    sx_hdf5 *file = open_all(&f);
    sx_array array;
    int64_t told = 0;
    const int64_t shape[] = {T, H, W};
    ck_ok(sx_array_view(SX_U16, 3, shape, f.arrays, &array));
    const sx_hdf5_options options = {
        .device = &f.device, .slab = count_elements, .slab_data = &told};
    const sx_hdf5_box box = {.file = file, .name = "gzip.frame", .array = &array};
    ck_ok(sx_hdf5_read(1, &box, &options, NULL));
    ck_assert_int_eq(told, T * H * W);
    fake_close(&f);
    sx_hdf5_close(&file);
}
END_TEST

SX_TEST_MAIN("h5_device", a_device_that_only_writes_gets_everything_by_way_of_the_host,
             however_a_device_reads_the_values_are_right, the_statistics_tell_what_went_straight,
             aligned_files_go_straight_where_others_cannot, a_device_that_fails_is_an_error,
             a_file_that_was_cut_is_an_error, arrays_in_another_order_are_refused,
             slabs_are_told_when_they_are_on_the_device)
