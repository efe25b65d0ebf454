/* SPDX-License-Identifier: Apache-2.0
 * Reading HDF5 by threads of ours against H5Dread, pread and h5py: one JSON line per case.
 *
 * The variants of a case run in turn within each round, another first each time; what counts is the
 * median of the ratios within rounds. Page cache hot, targets touched before; open and close included,
 * but for "next tile", another one each time.
 * Each variant has read the case once before, and ours has been compared with H5Dread's. Memory that
 * was used once stays with the process, as in one that runs for long: HDF5 takes 0.6 MB for each file it
 * opens, and page faults would be most of what opening many files costs.
 *
 *   bench_hdf5 FOLDER [rounds [case]]    files as of hdf5_make.py; 5 rounds; cases containing a word
 */
#include <hdf5.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>

#include <sextant/hdf5.h>

#include "line.h"

enum {
    MOST_ROUNDS = 50,
    TILE = 16,
    SLICE = 1 << 20,
    BLOCK = 64,
    BITSHUFFLE = 32008,
    KEPT = 32 << 20
};

typedef enum what { WHOLE, TRACES, ONE_TILE, NEXT_TILE } what;
typedef enum variant { LIBRARY, OURS_1, OURS_2, PREAD_2, H5PY, VARIANTS } variant;

/* Goals: against is how many times faster than that variant two threads of ours have to be. */
typedef struct bench_case {
    const char *name;
    const char *file;
    what what;
    sx_dtype dtype;
    variant against;
    double goal; /* 0: none */
} bench_case;

static const bench_case CASES[] = {
    {"contiguous", "contiguous", WHOLE, SX_U16, PREAD_2, 0.95},
    {"contiguous float32", "float", WHOLE, SX_F32, PREAD_2, 0.95},
    {"chunks of a frame", "chunks", WHOLE, SX_U16, PREAD_2, 0.95},
    {"gzip", "gzip", WHOLE, SX_U16, LIBRARY, 5.5},
    {"bitshuffle-LZ4", "bitshuffle", WHOLE, SX_U16, LIBRARY, 4},
    {"virtual, 20 contiguous files", "virtual", WHOLE, SX_U16, LIBRARY, 1.7},
    {"chunks [200,16,16]", "tiles", WHOLE, SX_U16, LIBRARY, 0},
    {"gzip chunks [10,64,64]", "blocks", WHOLE, SX_U16, LIBRARY, 0},
    {"100000 chunks of 4 kB", "many", WHOLE, SX_U16, LIBRARY, 1},
    {"virtual, 500 files", "virtual500", WHOLE, SX_U16, LIBRARY, 0},
    {"to float32: contiguous", "contiguous", WHOLE, SX_F32, LIBRARY, 3},
    {"to float32: chunks of a frame", "chunks", WHOLE, SX_F32, LIBRARY, 3},
    {"to float32: gzip", "gzip", WHOLE, SX_F32, LIBRARY, 3},
    {"to float32: bitshuffle-LZ4", "bitshuffle", WHOLE, SX_F32, LIBRARY, 3},
    {"to traces: contiguous", "contiguous", TRACES, SX_U16, LIBRARY, 2},
    {"to traces: chunks of a frame", "chunks", TRACES, SX_U16, LIBRARY, 2},
    {"to traces: gzip", "gzip", TRACES, SX_U16, LIBRARY, 4},
    {"to traces: bitshuffle-LZ4", "bitshuffle", TRACES, SX_U16, LIBRARY, 0},
    {"to traces: virtual, 20 files", "virtual", TRACES, SX_U16, LIBRARY, 0},
    {"to traces: chunks [200,16,16]", "tiles", TRACES, SX_U16, LIBRARY, 0},
    {"to float32 traces: contiguous", "contiguous", TRACES, SX_F32, LIBRARY, 2},
    {"to float32 traces: gzip", "gzip", TRACES, SX_F32, LIBRARY, 4},
    {"tile: contiguous", "contiguous", ONE_TILE, SX_U16, LIBRARY, 1},
    {"tile: chunks of a frame", "chunks", ONE_TILE, SX_U16, LIBRARY, 1},
    {"tile: gzip", "gzip", ONE_TILE, SX_U16, LIBRARY, 1},
    {"tile: bitshuffle-LZ4", "bitshuffle", ONE_TILE, SX_U16, LIBRARY, 1},
    {"tile: virtual, 20 files", "virtual", ONE_TILE, SX_U16, LIBRARY, 1},
    {"tile: chunks [200,16,16]", "tiles", ONE_TILE, SX_U16, LIBRARY, 1},
    {"tile: gzip chunks [10,64,64]", "blocks", ONE_TILE, SX_U16, LIBRARY, 1},
    {"tile: 100000 chunks of 4 kB", "many", ONE_TILE, SX_U16, LIBRARY, 1},
    {"next tile: contiguous", "contiguous", NEXT_TILE, SX_U16, LIBRARY, 1},
    {"next tile: chunks of a frame", "chunks", NEXT_TILE, SX_U16, LIBRARY, 1},
    {"next tile: gzip", "gzip", NEXT_TILE, SX_U16, LIBRARY, 1},
    {"next tile: virtual, 20 files", "virtual", NEXT_TILE, SX_U16, LIBRARY, 1},
    {"next tile: chunks [200,16,16]", "tiles", NEXT_TILE, SX_U16, LIBRARY, 1},
    {"next tile: gzip chunks [10,64,64]", "blocks", NEXT_TILE, SX_U16, LIBRARY, 1},
};
enum { N = sizeof CASES / sizeof *CASES };

/* What a case reads, and what is known of it. */
typedef struct bench {
    const bench_case *c;
    char path[4096];
    int64_t shape[3], start[3], count[3];
    int64_t bytes; /* in memory */
    int64_t chunk; /* bytes of a chunk as stored before filters; 0 */
    int repeat;    /* reads in one sample */
    char *target;
    char *frames;  /* where H5Dread puts what is transposed then */
    hid_t dataset; /* of NEXT_TILE, else -1 */
    sx_hdf5 *open; /* " NULL */
    int64_t turn;  /* number of the tile */
    FILE *to_python, *from_python;
    double open_s; /* of the last reading of ours */
    sx_hdf5_statistics did;
} bench;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const bench *b, const char *words) {
    fprintf(stderr, "bench_hdf5: %s: %s\n", b->path, words);
    return 1;
}

/* --- the variants: 0, or 1 after a complaint ------------------------------------------------ */

/* What a program of one's own would do after H5Dread: plain C, block by block. */
#define TRANSPOSE(type)                                                                            \
    static void transpose_##type(int64_t rows, int64_t columns, const void *from, void *to) {      \
        const type *source = from;                                                                 \
        type *target = to;                                                                         \
        for (int64_t c0 = 0; c0 < columns; c0 += BLOCK) {                                          \
            for (int64_t r0 = 0; r0 < rows; r0 += BLOCK) {                                         \
                const int64_t c1 = c0 + BLOCK < columns ? c0 + BLOCK : columns;                    \
                const int64_t r1 = r0 + BLOCK < rows ? r0 + BLOCK : rows;                          \
                for (int64_t c = c0; c < c1; c++) {                                                \
                    for (int64_t r = r0; r < r1; r++) {                                            \
                        target[c * rows + r] = source[r * columns + c];                            \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
TRANSPOSE(uint16_t)
TRANSPOSE(float)

static herr_t read_dataset(bench *b, hid_t dataset) {
    const hid_t type = b->c->dtype == SX_U16 ? H5T_NATIVE_UINT16 : H5T_NATIVE_FLOAT;
    const hsize_t start[3] = {(hsize_t)b->start[0], (hsize_t)b->start[1], (hsize_t)b->start[2]};
    const hsize_t count[3] = {(hsize_t)b->count[0], (hsize_t)b->count[1], (hsize_t)b->count[2]};
    const hid_t stored = H5Dget_space(dataset), memory = H5Screate_simple(3, count, NULL);
    H5Sselect_hyperslab(stored, H5S_SELECT_SET, start, NULL, count, NULL);
    char *to = b->c->what == TRACES ? b->frames : b->target;
    const herr_t result = H5Dread(dataset, type, memory, stored, H5P_DEFAULT, to);
    H5Sclose(memory);
    H5Sclose(stored);
    if (result >= 0 && b->c->what == TRACES) {
        (b->c->dtype == SX_U16 ? transpose_uint16_t : transpose_float)(
            b->count[0], b->count[1] * b->count[2], b->frames, b->target);
    }
    return result;
}

static int read_library(bench *b) {
    herr_t result = -1;
    if (b->dataset >= 0) {
        result = read_dataset(b, b->dataset);
    } else {
        const hid_t file = H5Fopen(b->path, H5F_ACC_RDONLY, H5P_DEFAULT);
        const hid_t dataset = H5Dopen2(file, "frames", H5P_DEFAULT);
        result = read_dataset(b, dataset);
        H5Dclose(dataset);
        H5Fclose(file);
    }
    return result < 0 ? fail(b, "H5Dread failed") : 0;
}

/* Of an open file. */
static sx_status read_box(bench *b, sx_hdf5 *file, int threads) {
    const sx_context context = {.threads = threads};
    const sx_hdf5_options options = {.context = &context};
    sx_array array;
    sx_status status = sx_array_view(b->c->dtype, 3, b->count, b->target, &array);
    if (b->c->what == TRACES) {
        array.stride[0] = 1;
        array.stride[2] = b->count[0];
        array.stride[1] = b->count[0] * b->count[2];
    }
    const sx_hdf5_box box = {file, "frames", b->start, b->count, &array};
    return status == SX_OK ? sx_hdf5_read(1, &box, &options, &b->did) : status;
}

static int read_ours(bench *b, int threads) {
    const double begun = seconds();
    sx_hdf5 *file = b->open;
    sx_status status = file ? SX_OK : sx_hdf5_open(b->path, &file);
    b->open_s = seconds() - begun;
    if (status == SX_OK) {
        status = read_box(b, file, threads);
    }
    if (!b->open) {
        sx_hdf5_close(&file);
    }
    return status == SX_OK ? 0 : fail(b, sx_error_message());
}

/* Half of the bytes of the target out of the same file, in slices. What is not values is at its
 * beginning. */
typedef struct half {
    const bench *b;
    int fd;
    int64_t first;
    int64_t begin;
} half;

static void *read_half(void *data) {
    const half *h = data;
    for (int64_t at = h->first * SLICE; at < h->b->bytes; at += 2 * (int64_t)SLICE) {
        const int64_t left = h->b->bytes - at;
        if (pread(h->fd, h->b->target + at, (size_t)(left < SLICE ? left : SLICE), h->begin + at) <=
            0) {
            return data;
        }
    }
    return NULL;
}

static int read_pread(bench *b) {
    const int fd = open(b->path, O_RDONLY | O_CLOEXEC);
    struct stat about = {.st_size = 0};
    const bool there = fd >= 0 && fstat(fd, &about) == 0 && about.st_size >= b->bytes;
    half first = {b, fd, 0, about.st_size - b->bytes}, second = {b, fd, 1, first.begin};
    pthread_t thread;
    void *bad = NULL;
    if (!there || pthread_create(&thread, NULL, read_half, &second) != 0) {
        return fail(b, "cannot be read");
    }
    const bool good = read_half(&first) == NULL;
    pthread_join(thread, &bad);
    close(fd);
    return good && !bad ? 0 : fail(b, "pread failed");
}

static int read_h5py(bench *b, double *took) {
    char answer[64];
    fprintf(b->to_python, "%s %d %s", sx_dtype_name(b->c->dtype), b->repeat, b->path);
    if (b->c->what == ONE_TILE) {
        fprintf(b->to_python, " %d %d %d", (int)b->start[1], (int)b->start[2], TILE);
    }
    fprintf(b->to_python, "\n");
    fflush(b->to_python);
    if (!fgets(answer, sizeof answer, b->from_python)) {
        return fail(b, "h5py failed");
    }
    *took = strtod(answer, NULL);
    return 0;
}

static bool applies(const bench *b, variant v) {
    const bool plain = b->c->what == WHOLE && b->c->against == PREAD_2;
    return v == PREAD_2 ? plain
           : v == H5PY  ? b->to_python && (b->c->what == WHOLE || b->c->what == ONE_TILE)
                        : true;
}

/* Seconds of one read. */
static int sample(bench *b, variant v, double *took) {
    if (v == H5PY) {
        return read_h5py(b, took);
    }
    int failed = 0;
    const double begun = seconds();
    for (int i = 0; i < b->repeat && !failed; i++) {
        if (b->c->what == NEXT_TILE) { /* steps without a common divisor: all tiles have a turn */
            b->start[1] = b->turn * 5 % (b->shape[1] / TILE) * TILE;
            b->start[2] = b->turn++ * 7 % (b->shape[2] / TILE) * TILE;
        }
        failed = v == LIBRARY   ? read_library(b)
                 : v == PREAD_2 ? read_pread(b)
                                : read_ours(b, v == OURS_1 ? 1 : 2);
    }
    *took = (seconds() - begun) / b->repeat;
    return failed;
}

/* --- a case --------------------------------------------------------------------------------- */

/* Takes the shape of the file; false if it is not there, or H5Dread lacks the filter. */
static bool prepare(bench *b, const char *folder) {
    snprintf(b->path, sizeof b->path, "%s/%s.h5", folder, b->c->file);
    sx_hdf5 *file = NULL;
    sx_hdf5_dataset about = {0};
    const bool filter = strcmp(b->c->file, "bitshuffle") != 0 || H5Zfilter_avail(BITSHUFFLE) > 0;
    if (!filter || access(b->path, R_OK) != 0 || sx_hdf5_open(b->path, &file) != SX_OK) {
        return false;
    }
    const bool good = sx_hdf5_describe(file, "frames", &about) == SX_OK && about.rank == 3;
    sx_hdf5_close(&file);
    b->bytes = (int64_t)sx_dtype_size(b->c->dtype);
    b->chunk = about.chunk[0] ? about.element_bytes : 0;
    for (int d = 0; d < 3; d++) {
        const bool tile = b->c->what >= ONE_TILE && d > 0;
        b->shape[d] = about.shape[d];
        b->start[d] = tile ? about.shape[d] / 2 : 0;
        b->count[d] = tile ? TILE : about.shape[d];
        b->bytes *= b->count[d];
        b->chunk *= about.chunk[d];
    }
    return good;
}

/* kB of a line of /proc/self/status. */
static int64_t memory_of(const char *name) {
    char line[256];
    long long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kb = strtoll(line + strlen(name) + 1, NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return kb;
}

/* kB by which two threads of ours raise the peak of memory. The file has been read once before by the
 * same handle, so what the HDF5 library keeps of it is not counted. -1 after a complaint. */
static int64_t scratch_of(bench *b) {
    int64_t peak = -1;
    sx_hdf5 *file = NULL;
    sx_status status = sx_hdf5_open(b->path, &file);
    if (status == SX_OK) {
        status = read_box(b, file, 2);
    }
    if (status == SX_OK) {
        malloc_trim(0);
        FILE *reset = fopen("/proc/self/clear_refs", "w");
        if (reset) {
            fputs("5", reset);
            fclose(reset);
        }
        const int64_t before = memory_of("VmRSS");
        status = read_box(b, file, 2);
        peak = memory_of("VmHWM") - before;
    }
    sx_hdf5_close(&file);
    return status == SX_OK ? peak < 0 ? 0 : peak : -fail(b, sx_error_message());
}

/* Every variant once; ours is compared with H5Dread. Sets repeat. */
static int warm_up(bench *b, char *expected) {
    double library = 0, own = 0;
    b->repeat = 1;
    if (sample(b, LIBRARY, &library)) {
        return 1;
    }
    memcpy(expected, b->target, (size_t)b->bytes);
    memset(b->target, 1, (size_t)b->bytes);
    b->turn = 0;
    if (sample(b, OURS_2, &own)) {
        return 1;
    }
    if (memcmp(b->target, expected, (size_t)b->bytes) != 0) {
        return fail(b, "is not what H5Dread gives");
    }
    b->repeat = own > 0.02 || library > 0.2 ? 1 : own > 0.004 ? 4 : 10;
    for (variant v = PREAD_2; v < VARIANTS; v++) {
        if (applies(b, v) && sample(b, v, &own)) {
            return 1;
        }
    }
    return 0;
}

/* Waits a little for the machine to be idle; whether it is. */
static bool wait_idle(void) {
    int running = 0;
    for (int i = 0; i < 5; i++) {
        char line[128] = "";
        FILE *file = fopen("/proc/loadavg", "r");
        const bool read = file && fgets(line, sizeof line, file);
        if (file) {
            fclose(file);
        }
        if (read && sscanf(line, "%*s %*s %*s %d/", &running) == 1 && running <= 1) {
            return true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return false;
}

/* Leaves the values in their order, which pairs rounds. */
static double median(int n, const double *values) {
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    return line_spread_of(n, sorted).median;
}

/* Median of the ratios of one variant to another, round by round. */
static double ratio(int n, double took[VARIANTS][MOST_ROUNDS], variant of, variant to) {
    double values[MOST_ROUNDS];
    for (int i = 0; i < n; i++) {
        values[i] = took[of][i] / took[to][i];
    }
    return median(n, values);
}

static void print_case(const bench *b, int rounds, double took[VARIANTS][MOST_ROUNDS],
                       int64_t scratch, int busy) {
    static const char *const NAMES[VARIANTS] = {"h5dread", "ours_1", "ours_2", "pread_2", "h5py"};
    line_begin("hdf5", b->c->name);
    printf(", \"shape\": [%lld, %lld, %lld], \"mb\": %.2f", (long long)b->shape[0],
           (long long)b->shape[1], (long long)b->shape[2], 1e-6 * (double)b->bytes);
    for (variant v = 0; v < VARIANTS; v++) {
        if (applies(b, v)) {
            printf(", \"%s_ms\": %.2f", NAMES[v], 1e3 * median(rounds, took[v]));
        }
    }
    for (variant v = 0; v < VARIANTS; v++) {
        if (applies(b, v) && v != OURS_2) {
            printf(", \"%s_over_ours_2\": %.2f", NAMES[v], ratio(rounds, took, v, OURS_2));
        }
    }
    if (b->c->goal > 0) {
        printf(", \"goal\": \"%s_over_ours_2 >= %g\", \"met\": %s", NAMES[b->c->against],
               b->c->goal,
               ratio(rounds, took, b->c->against, OURS_2) >= b->c->goal ? "true" : "false");
    }
    printf(", \"open_ms\": %.2f, \"plan_ms\": %.2f, \"io_ms\": %.2f, \"decode_ms\": %.2f, "
           "\"place_ms\": %.2f, \"scratch_mb\": %.2f, \"scratch_may_mb\": %.2f",
           1e3 * b->open_s, 1e3 * b->did.plan_s, 1e3 * b->did.io_s, 1e3 * b->did.decode_s,
           1e3 * b->did.place_s, 1e-3 * 1.024 * (double)scratch, 2 * (2e-6 * (double)b->chunk + 2));
    printf(", \"rounds\": %d, \"busy\": %d", rounds, busy);
    line_end();
}

/* Opens what stays open, for a tile after the other. */
static int keep_open(bench *b) {
    b->open = NULL;
    b->dataset = -1;
    b->turn = 0;
    if (b->c->what != NEXT_TILE) {
        return 0;
    }
    const hid_t file = H5Fopen(b->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    b->dataset = H5Dopen2(file, "frames", H5P_DEFAULT);
    H5Fclose(file);
    return b->dataset < 0 || sx_hdf5_open(b->path, &b->open) != SX_OK ? fail(b, "cannot be opened")
                                                                      : 0;
}

static void close_kept(bench *b) {
    if (b->dataset >= 0) {
        H5Dclose(b->dataset);
    }
    sx_hdf5_close(&b->open);
}

static int measure(bench *b, int rounds, char *expected) {
    double took[VARIANTS][MOST_ROUNDS] = {{0}};
    int busy = 0;
    const int64_t scratch = warm_up(b, expected) ? -1 : scratch_of(b);
    if (scratch < 0) {
        return 1;
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < VARIANTS; i++) {
            const variant v = (variant)((i + round) % VARIANTS);
            if (!applies(b, v)) {
                continue;
            }
            busy += !wait_idle();
            if (sample(b, v, &took[v][round])) {
                return 1;
            }
        }
    }
    print_case(b, rounds, took, scratch, busy);
    return 0;
}

static int run(bench *b, const char *folder, int rounds, char *expected) {
    if (!prepare(b, folder)) {
        fprintf(stderr, "bench_hdf5: %s is not there or lacks its filter, left out\n", b->path);
        return 0;
    }
    const int failed = keep_open(b) || measure(b, rounds, expected);
    close_kept(b);
    return failed;
}

/* The largest target of the cases. */
static size_t most_bytes(const char *folder) {
    size_t most = 1;
    for (int i = 0; i < N; i++) {
        bench b = {.c = &CASES[i]};
        if (prepare(&b, folder) && (size_t)b.bytes > most) {
            most = (size_t)b.bytes;
        }
    }
    return most;
}

/* H5py, if it listens: hdf5.sh ties its output to 3 and its input to 4. */
static void find_h5py(bench *b) {
    if (fcntl(3, F_GETFD) >= 0 && fcntl(4, F_GETFD) >= 0) {
        b->from_python = fdopen(3, "r");
        b->to_python = fdopen(4, "w");
    }
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: bench_hdf5 FOLDER [rounds [case]]\n");
        return 2;
    }
    const char *folder = words[1];
    int rounds = count > 2 ? atoi(words[2]) : 5;
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    mallopt(M_MMAP_THRESHOLD, KEPT);
    mallopt(M_TRIM_THRESHOLD, KEPT);
    const size_t most = most_bytes(folder);
    bench b = {.target = malloc(most), .frames = malloc(most)};
    char *expected = malloc(most);
    int failed = 1;
    if (b.target && b.frames && expected) {
        memset(b.target, 1, most);
        memset(b.frames, 1, most);
        memset(expected, 1, most);
        find_h5py(&b);
        failed = 0;
    }
    for (int i = 0; i < N && !failed; i++) {
        b.c = &CASES[i];
        if (count < 4 || strstr(b.c->name, words[3])) {
            failed = run(&b, folder, rounds, expected);
        }
    }
    free(expected);
    free(b.frames);
    free(b.target);
    return failed;
}
