/* SPDX-License-Identifier: Apache-2.0
 * Arrays of output rows hold what the file holds of them. */
#include "xani/fit/fit.h"

#include <unistd.h>

#include <sextant/engine.h>

#include "sx_check.h"
#include "sx_folder.h"
#include "sx_put.h"

enum { T = 6, S = 3, H = 8, W = 4, BAD = 2 * H * W + 5 };

static double index_of(int64_t i) { return (double)i; }
static double one_bad(int64_t i) { return i == BAD ? 1 : 0; }

/* A source whose sample t of pixel p is (T - 1 - t) S H W + p, for its frames are turned; sigma is
 * the same. */
static sxi_source *open_source(const sx_context *context) {
    static const int64_t frames[] = {T, S, H, W};
    char signal[300], delay[300], mask[300];
    sxi_h5_writer *writer = NULL;
    sxi_source *source = NULL;
    const char *path = sx_folder("d.h5");
    ck_ok(sxi_h5_create(path, true, &writer));
    sx_put(writer, "/delay", SX_F64, 1, frames, "ps", index_of);
    sx_put(writer, "/mask", SX_U8, 3, frames + 1, "", one_bad);
    sx_put(writer, "/signal", SX_F32, 4, frames, "", index_of);
    ck_ok(sxi_h5_commit(&writer));
    snprintf(signal, sizeof signal, "%s:/signal", path);
    snprintf(delay, sizeof delay, "%s:/delay", path);
    snprintf(mask, sizeof mask, "%s:/mask", path);
    const sx_xani_input input = {
        .signal = signal, .delay = delay, .sigma = signal, .mask = mask, .delay_scale = -1};
    ck_ok(sxi_source_open(&input, context, &source));
    return source;
}

static void make_frame(const sxi_source *source, int64_t y1, int64_t bin, sxi_fit_frame *frame) {
    const sx_xani_fit_options options = {
        .bin = {bin, 1}, .has_roi = true, .roi = {H - y1, H, 0, W}};
    ck_ok(sxi_fit_frame_make(sxi_source_describe(source), &options, frame));
}

static void expect_samples(const sxi_fit_frame *f, const sx_array *y, const sx_array *sigma,
                           const sx_array *mask) {
    for (int64_t row = 0; row < S * f->rows; row++) {
        for (int64_t b = 0; b < f->bin_y; b++) {
            const int64_t in_segment = f->y0 + row % f->rows * f->bin_y + b;
            for (int64_t x = 0; x < W; x++) {
                const int64_t at[] = {0, row, b, x};
                const int64_t pixel = (row / f->rows * H + in_segment) * W + x;
                const bool good = in_segment < f->y1 && pixel != BAD;
                ck_assert(sx_array_get(mask, at + 1) == !good);
                for (int64_t t = 0; t < T && in_segment < f->y1; t++) {
                    const int64_t at_t[] = {t, row, b, x};
                    const double value = (double)((T - 1 - t) * S * H * W + pixel);
                    const double found = sx_array_get(y, at_t);
                    ck_assert(good ? found == value : isnan(found));
                    ck_assert(sx_array_get(sigma, at_t) == value);
                }
            }
        }
    }
}

static sx_status copy_tile(const sx_tile *tile) {
    for (int i = 0; i < 3; i++) {
        sx_array copy = tile->array[3 + i];
        ck_ok(sx_array_copy(&tile->array[i], &copy));
    }
    return SX_OK;
}

/* y, mask and sigma through a task, as the fit uses them. */
static sx_status copy_all(sx_cluster *cluster, const sxi_fit_samples *samples, sx_array all[3]) {
    sx_darray *from[] = {samples->y, samples->mask, samples->sigma}, *to[3];
    for (int i = 0; i < 3; i++) {
        to[i] = sx_darray_create(cluster, sx_darray_dtype(from[i]), sx_darray_rank(from[i]),
                                 sx_darray_shape(from[i]));
    }
    const sx_status status = sx_task_run(&(sx_task){.name = "copy",
                                                    .tiles = "row=2",
                                                    .cpu = copy_tile,
                                                    .use = {{from[0], "- row - -", SX_READ},
                                                            {from[1], "row - -", SX_READ},
                                                            {from[2], "- row - -", SX_READ},
                                                            {to[0], "- row - -", SX_WRITE},
                                                            {to[1], "row - -", SX_WRITE},
                                                            {to[2], "- row - -", SX_WRITE}}});
    for (int i = 0; i < 3; i++) {
        if (status == SX_OK) {
            ck_ok(sx_gather(to[i], &all[i]));
        }
        sx_darray_destroy(&to[i]);
    }
    return status;
}

/* The last `rows` rows of every segment, in bins, by so many threads; little memory: rows one after the
 * other. */
static void expect_rows(int64_t rows, int64_t bin, int threads, int64_t memory) {
    const sx_context context = {.threads = threads};
    sxi_source *source = open_source(&context);
    sx_cluster *cluster = NULL;
    sxi_fit_frame frame;
    sxi_fit_samples samples;
    sx_array all[3];
    make_frame(source, rows, bin, &frame);
    ck_ok(sx_cluster_open(&context, &cluster));
    ck_ok(sx_engine_memory(cluster, memory));
    sxi_fit_samples_declare(cluster, source, &frame, &samples);
    ck_ok(copy_all(cluster, &samples, all));
    expect_samples(&frame, &all[0], &all[2], &all[1]);
    for (int i = 0; i < 3; i++) {
        sx_array_destroy(&all[i]);
    }
    sxi_fit_samples_destroy(&samples);
    sx_cluster_close(&cluster);
    sxi_source_close(&source);
}

START_TEST(arrays_hold_what_the_file_holds) {
    for (int i = 0; i < 6; i++) {
        const int threads = 1 + i % 3;
        const int64_t memory = i < 3 ? 0 : 16000;
        expect_rows(H, 1, threads, memory); /* segments follow each other */
        expect_rows(H, 3, threads, memory); /* the last bin of a segment is smaller */
        expect_rows(5, 1, threads, memory); /* a part of each segment */
        expect_rows(7, 2, threads, memory); /* as many rows of bins as the whole would have */
    }
}
END_TEST

START_TEST(a_file_cut_meanwhile_fails) {
    sxi_source *source = open_source(NULL);
    sx_cluster *cluster = NULL;
    sxi_fit_frame frame;
    sxi_fit_samples samples;
    sx_array all[3];
    make_frame(source, 5, 1, &frame);
    ck_ok(sx_cluster_open(NULL, &cluster));
    sxi_fit_samples_declare(cluster, source, &frame, &samples);
    ck_assert_int_eq(truncate(sxi_source_describe(source)->paths[0], 2000), 0);
    ck_fails(copy_all(cluster, &samples, all), SX_ERR_IO, "it was cut while it was read");
    sxi_fit_samples_destroy(&samples);
    sx_cluster_close(&cluster);
    sxi_source_close(&source);
}
END_TEST

SX_TEST_MAIN("fit_samples", arrays_hold_what_the_file_holds, a_file_cut_meanwhile_fails)
