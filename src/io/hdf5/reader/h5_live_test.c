/* SPDX-License-Identifier: Apache-2.0
 * Files that another process is writing while they are read. */
#include <hdf5.h>

#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { H = 24, W = 40, PIXELS = H * W, CHUNK = 4, BATCH = 8, STEPS = 96, READS = 200, MOST = 1200 };

/* --- the writer --- */

typedef struct writer {
    pid_t pid;
    int told;  /* it writes a byte when it is ready */
    int order; /* it reads one before it goes on */
} writer;

/* Pixel i of frame t; the later frames of a chunk are less and less compressible, so that the chunk
 * outgrows its place in the file. */
static uint16_t value_at(int64_t t, int64_t i) {
    return (uint16_t)(t % CHUNK == 0 ? t : (t * 7919 + i * i * 31 + i) * (t % CHUNK));
}

static hid_t create(const char *path, hid_t *set) {
    const hsize_t extent[] = {0, H, W}, most[] = {H5S_UNLIMITED, H, W}, chunk[] = {CHUNK, H, W};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(3, extent, most);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pset_chunk(created, 3, chunk);
    H5Pset_deflate(created, 1);
    *set = H5Dcreate2(file, "x", H5T_STD_U16LE, space, H5P_DEFAULT, created, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(created);
    H5Pclose(access);
    return file;
}

static bool append(hid_t set, int64_t t) {
    const hsize_t extent[] = {(hsize_t)t + 1, H, W}, start[] = {(hsize_t)t, 0, 0};
    const hsize_t count[] = {1, H, W};
    uint16_t values[PIXELS];
    for (int64_t i = 0; i < PIXELS; i++) {
        values[i] = value_at(t, i);
    }
    bool good = H5Dset_extent(set, extent) >= 0;
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Screate_simple(3, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    good = good && H5Dwrite(set, H5T_NATIVE_UINT16, memory, space, H5P_DEFAULT, values) >= 0 &&
           H5Dflush(set) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good;
}

/* What a writer does. It tells and is told by bytes through pipes. */
typedef bool (*writer_fn)(hid_t file, hid_t set, int told, int order);

static bool tell(int told) { return write(told, "t", 1) == 1; }

static bool wait_for(int order) {
    char byte = 0;
    return read(order, &byte, 1) == 1;
}

/* Appends STEPS frames in batches, each on an order; then, on another, as many as it can until the
 * last order. */
static bool write_frames(hid_t file, hid_t set, int told, int order) {
    bool good = H5Fstart_swmr_write(file) >= 0 && tell(told);
    int64_t t = 0;
    for (; good && t < STEPS; t++) {
        good = (t % BATCH != 0 || wait_for(order)) && append(set, t) &&
               (t % BATCH != BATCH - 1 || tell(told));
    }
    good = good && wait_for(order);
    struct pollfd next = {.fd = order, .events = POLLIN};
    for (; good && t < MOST && poll(&next, 1, 0) == 0; t++) {
        good = append(set, t);
    }
    return good && wait_for(order);
}

/* The first frame of a chunk, and on an order the rest of it. */
static bool write_chunk(hid_t file, hid_t set, int told, int order) {
    return H5Fstart_swmr_write(file) >= 0 && append(set, 0) && tell(told) && wait_for(order) &&
           append(set, 1) && append(set, 2) && append(set, 3) && tell(told) && wait_for(order);
}

/* Not as SWMR. */
static bool write_alone(hid_t file, hid_t set, int told, int order) {
    return file >= 0 && append(set, 0) && tell(told) && wait_for(order);
}

/* Ends when the reader does, at the latest, as its pipes are closed then. */
static writer writer_start(const char *path, writer_fn fn) {
    int told[2], order[2];
    ck_assert(pipe(told) == 0 && pipe(order) == 0);
    writer started = {.pid = fork(), .told = told[0], .order = order[1]};
    ck_assert(started.pid >= 0);
    if (started.pid == 0) {
        close(told[0]);
        close(order[1]);
        hid_t set = -1;
        hid_t file = create(path, &set);
        const bool good = file >= 0 && set >= 0 && fn(file, set, told[1], order[0]);
        H5Dclose(set);
        H5Fclose(file);
        _exit(good ? 0 : 1);
    }
    close(told[1]);
    close(order[0]);
    ck_assert(wait_for(started.told)); /* the file is there */
    return started;
}

static void writer_step(const writer *other, bool wait) {
    ck_assert(tell(other->order));
    ck_assert(!wait || wait_for(other->told));
}

/* The status of its end. */
static int writer_end(writer *other) {
    int status = 0;
    ck_assert(waitpid(other->pid, &status, 0) == other->pid);
    close(other->told);
    close(other->order);
    return status;
}

/* --- reading --- */

/* Reads the first count frames, each as it was written. */
static void check_frames(sx_hdf5 *file, int64_t count) {
    sx_array array;
    const int64_t start[] = {0, 0, 0}, shape[] = {count, H, W};
    const sx_context threads = {.threads = 2};
    const sx_hdf5_options options = {.context = &threads};
    sx_hdf5_statistics did;
    ck_ok(sx_array_create(SX_U16, 3, shape, &array));
    ck_ok(sx_hdf5_read(1, &(sx_hdf5_box){file, "x", start, shape, &array}, &options, &did));
    ck_assert_int_eq(did.library, 0);
    const uint16_t *values = array.data;
    for (int64_t t = 0; t < count; t++) {
        bool same = true;
        for (int64_t i = 0; i < PIXELS; i++) {
            same = same && values[t * PIXELS + i] == value_at(t, i);
        }
        ck_assert_msg(same, "frame %d of %d is not as it was written", (int)t, (int)count);
    }
    sx_array_destroy(&array);
}

START_TEST(a_live_file_grows) {
    sx_folder_empty();
    const char *path = sx_folder("live.h5");
    writer other = writer_start(path, write_frames);
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    ck_ok(sx_hdf5_open(path, &file));
    ck_assert(sx_hdf5_is_live(file));
    ck_ok(sx_hdf5_describe(file, "x", &about));
    ck_assert_int_eq(about.shape[0], 0);
    ck_assert_int_eq(about.path, SX_HDF5_DIRECT);
    int64_t frames = 0;
    while (frames < STEPS) { /* the writer waits while this reads */
        writer_step(&other, true);
        ck_ok(sx_hdf5_describe(file, "x", &about));
        ck_assert_int_eq(about.shape[0], frames);
        frames += BATCH;
        ck_ok(sx_hdf5_refresh(file, "x", &about));
        ck_assert_int_eq(about.shape[0], frames);
        check_frames(file, frames);
    }
    writer_step(&other, false);
    int grown = 0;
    for (int i = 0; i < READS; i++) { /* both at once */
        ck_ok(sx_hdf5_refresh(file, "x", &about));
        ck_assert(about.shape[0] >= frames);
        grown += about.shape[0] > frames;
        frames = about.shape[0];
        check_frames(file, frames);
    }
    writer_step(&other, false);
    ck_assert_int_eq(writer_end(&other), 0);
    ck_ok(sx_hdf5_refresh(file, "x", &about));
    printf("%d frames, grown in %d of %d reads\n", (int)about.shape[0], grown, READS);
    ck_assert(grown > 0);
    check_frames(file, about.shape[0]);
    sx_hdf5_close(&file);
    ck_ok(sx_hdf5_open(path, &file));
    ck_assert(!sx_hdf5_is_live(file));
    sx_hdf5_close(&file);
}
END_TEST

START_TEST(a_writer_that_is_killed) {
    sx_folder_empty();
    const char *path = sx_folder("killed.h5");
    writer other = writer_start(path, write_frames);
    sx_hdf5 *file = NULL, *anew = NULL;
    sx_hdf5_dataset about;
    ck_ok(sx_hdf5_open(path, &file));
    for (int i = 0; i < STEPS / BATCH; i++) {
        writer_step(&other, true);
    }
    writer_step(&other, false);
    do { /* it is in the midst of writing */
        ck_ok(sx_hdf5_refresh(file, "x", &about));
    } while (about.shape[0] < STEPS + 5);
    kill(other.pid, SIGKILL);
    ck_assert(WIFSIGNALED(writer_end(&other)));
    ck_ok(sx_hdf5_refresh(file, "x", &about));
    check_frames(file, about.shape[0]);
    ck_ok(sx_hdf5_open(path, &anew));
    ck_assert(sx_hdf5_is_live(anew)); /* for all that can be seen */
    ck_ok(sx_hdf5_describe(anew, "x", &about));
    check_frames(anew, about.shape[0]);
    sx_hdf5_close(&file);
    sx_hdf5_close(&anew);
}
END_TEST

START_TEST(a_writer_that_lets_nobody_read) {
    sx_folder_empty();
    const char *path = sx_folder("closed.h5");
    writer other = writer_start(path, write_alone);
    sx_hdf5 *file = NULL;
    ck_fails(sx_hdf5_open(path, &file), SX_ERR_IO, "is being written by another program");
    ck_assert_ptr_null(file);
    kill(other.pid, SIGKILL);
    writer_end(&other);
    ck_fails(sx_hdf5_open(path, &file), SX_ERR_IO, "not closed by one that died");
}
END_TEST

/* v: the first BATCH frames of a file that is being written. */
static void put_virtual(const char *path, const char *source) {
    const hsize_t extent[] = {BATCH, H, W};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t created = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(3, extent, NULL);
    const hsize_t origin[] = {0, 0, 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, origin, NULL, extent, NULL);
    ck_assert(H5Pset_virtual(created, space, source, "x", space) >= 0);
    H5Sselect_all(space);
    H5Dclose(H5Dcreate2(file, "x", H5T_STD_U16LE, space, H5P_DEFAULT, created, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(created);
    H5Fclose(file);
}

/* HDF5 itself does not open such a source and would fill with zeros. */
START_TEST(a_virtual_dataset_of_a_live_file) {
    sx_folder_empty();
    const char *path = sx_folder("v.h5");
    writer other = writer_start(sx_folder("live.h5"), write_frames);
    put_virtual(path, "live.h5");
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    sx_array array;
    ck_ok(sx_hdf5_open(path, &file));
    ck_assert(!sx_hdf5_is_live(file));
    ck_ok(sx_array_create(SX_U16, 3, (int64_t[]){BATCH, H, W}, &array));
    const sx_hdf5_box box = {file, "x", NULL, NULL, &array};
    ck_fails(sx_hdf5_read(1, &box, NULL, NULL), SX_ERR_MISSING, "live.h5:x ends at 0 of axis 0");
    writer_step(&other, true);
    ck_ok(sx_hdf5_refresh(file, "x", &about));
    check_frames(file, BATCH);
    sx_array_destroy(&array);
    sx_hdf5_close(&file);
    kill(other.pid, SIGKILL);
    writer_end(&other);
}
END_TEST

/* Where the first chunk lies. */
static haddr_t chunk_at(const char *path, hsize_t *bytes) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "x", H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    const hsize_t origin[] = {0, 0, 0};
    haddr_t address = HADDR_UNDEF;
    unsigned skip = 0;
    ck_assert(H5Dget_chunk_info_by_coord(set, origin, &skip, &address, bytes) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return address;
}

static void overwrite(const char *path, haddr_t address, hsize_t bytes) {
    int fd = open(path, O_WRONLY);
    ck_assert(fd >= 0);
    for (hsize_t i = 0; i < bytes; i++) {
        ck_assert(pwrite(fd, "\xa5", 1, (off_t)(address + i)) == 1);
    }
    close(fd);
}

/* The chunk that was read once is moved by its writer, and other bytes come in its place. */
START_TEST(a_chunk_that_does_not_decode_is_looked_up_anew) {
    enum { ROWS = 1 };
    sx_folder_empty();
    const char *path = sx_folder("moved.h5");
    writer other = writer_start(path, write_chunk);
    hsize_t bytes = 0, bytes_after = 0;
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about;
    ck_ok(sx_hdf5_open(path, &file));
    check_frames(file, ROWS);
    const haddr_t before = chunk_at(path, &bytes);
    writer_step(&other, true);
    const haddr_t after = chunk_at(path, &bytes_after);
    ck_assert(before != after && bytes < bytes_after);
    overwrite(path, before, bytes);
    check_frames(file, ROWS);
    ck_ok(sx_hdf5_refresh(file, "x", &about));
    ck_assert_int_eq(about.shape[0], CHUNK);
    check_frames(file, CHUNK);
    overwrite(path, after + bytes_after / 2, 64);
    sx_array array;
    ck_ok(sx_array_create(SX_U16, 3, (int64_t[]){CHUNK, H, W}, &array));
    ck_fails(sx_hdf5_read(1, &(sx_hdf5_box){file, "x", NULL, NULL, &array}, NULL, NULL),
             SX_ERR_FORMAT, "moved.h5:x, chunk at 0");
    ck_assert_ptr_nonnull(strstr(sx_error_message(), "tried 4 times"));
    sx_array_destroy(&array);
    sx_hdf5_close(&file);
    writer_step(&other, false);
    ck_assert_int_eq(writer_end(&other), 0);
}
END_TEST

SX_TEST_MAIN("h5_live", a_live_file_grows, a_writer_that_is_killed, a_writer_that_lets_nobody_read,
             a_virtual_dataset_of_a_live_file, a_chunk_that_does_not_decode_is_looked_up_anew)
