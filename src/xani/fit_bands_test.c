/* SPDX-License-Identifier: Apache-2.0
 * Bands that are read ahead hold what the file holds, in order; failures keep their sentences. */
#include "xani/fit_bands.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "sx_check.h"
#include "sx_folder.h"
#include "sx_put.h"

enum { T = 6, S = 3, H = 7, W = 4, BAD = 2 * H * W + 5 };

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

static void expect_samples(const sxi_fit_band *band) {
    for (int64_t t = 0; t < T; t++) {
        for (int64_t row = 0; row < band->stored; row++) {
            for (int64_t x = 0; x < W; x++) {
                const int64_t at[] = {t, row, x}, pixel = (band->stored0 + row) * W + x;
                const double value = (double)((T - 1 - t) * S * H * W + pixel);
                const double found = sx_array_get(&band->y, at);
                ck_assert(pixel == BAD ? isnan(found) : found == value);
                ck_assert(sx_array_get(&band->mask, at + 1) == (pixel == BAD));
                ck_assert(sx_array_get(&band->sigma, at) == value);
            }
        }
    }
}

/* Bands of every segment follow each other; fits of two of them do not share memory. */
static void expect_bands(int64_t rows, int64_t bin, int64_t bytes, int threads) {
    const sx_context context = {.threads = threads};
    sxi_source *source = open_source(&context);
    sxi_fit_frame frame;
    sxi_fit_bands *bands = NULL;
    sxi_fit_band band, before = {0};
    int64_t next = 0;
    make_frame(source, rows, bin, &frame);
    ck_ok(sxi_fit_bands_open(source, &frame, &context, bytes, &bands));
    for (;;) {
        ck_ok(sxi_fit_bands_next(bands, &band));
        if (band.rows == 0) {
            break;
        }
        ck_assert_int_eq(band.segment * frame.rows + band.row0, next);
        ck_assert_int_eq(band.stored0, band.segment * H + H - rows + band.row0 * bin);
        ck_assert_ptr_ne(band.fit, before.fit);
        ck_assert(band.rows * frame.columns <= sxi_fit_bands_pixels(bands));
        expect_samples(&band);
        sxi_fit_bands_work(bands);
        memset(band.fit, 0, (size_t)(band.rows * frame.columns) * sizeof *band.fit);
        next += band.rows;
        before = band;
    }
    ck_assert_int_eq(next, S * frame.rows);
    sxi_fit_bands_close(&bands);
    ck_assert_ptr_null(bands);
    sxi_source_close(&source);
}

START_TEST(bands_hold_what_the_file_holds) {
    const int64_t row = 2LL * T * W * (int64_t)sizeof(float);
    for (int threads = 1; threads <= 3; threads++) {
        expect_bands(H, 1, 0, threads);       /* a segment at once */
        expect_bands(H, 1, 1, threads);       /* row by row */
        expect_bands(H, 1, 3 * row, threads); /* the last one is smaller */
        expect_bands(H, 2, 4 * row, threads); /* the last bin too */
        expect_bands(5, 3, 1, threads);
    }
}
END_TEST

START_TEST(a_band_left_alone_keeps_the_sentence) {
    sxi_source *source = open_source(NULL);
    sxi_fit_frame frame;
    sxi_fit_bands *bands = NULL;
    sxi_fit_band band;
    make_frame(source, H, 1, &frame);
    ck_ok(sxi_fit_bands_open(source, &frame, NULL, 1, &bands));
    ck_ok(sxi_fit_bands_next(bands, &band));
    const sx_status status = SXI_FAIL(SX_ERR_NUMERIC, "what went wrong before");
    sxi_fit_bands_close(&bands);
    ck_assert_int_eq(sx_error_status(), status);
    ck_assert_str_eq(sx_error_message(), "what went wrong before");
    sx_error_clear();
    ck_ok(sxi_fit_bands_open(source, &frame, NULL, 1, &bands));
    ck_ok(sxi_fit_bands_next(bands, &band));
    sxi_fit_bands_close(&bands);
    sxi_source_close(&source);
}
END_TEST

START_TEST(a_file_cut_meanwhile_fails_at_its_band) {
    sxi_source *source = open_source(NULL);
    sxi_fit_frame frame;
    sxi_fit_bands *bands = NULL;
    sxi_fit_band band;
    make_frame(source, H, 1, &frame);
    ck_ok(sxi_fit_bands_open(source, &frame, NULL, 1, &bands));
    ck_ok(sxi_fit_bands_next(bands, &band));
    ck_ok(sxi_fit_bands_next(bands, &band)); /* the third is being read, or was */
    ck_assert_int_eq(truncate(sxi_source_describe(source)->paths[0], 2000), 0);
    sx_status status = SX_OK;
    for (int i = 0; i < S * H && status == SX_OK; i++) {
        status = sxi_fit_bands_next(bands, &band);
    }
    ck_fails(status, SX_ERR_IO, "it was cut while it was read");
    sxi_fit_bands_close(&bands);
    ck_assert_ptr_nonnull(strstr(sx_error_message(), "it was cut while it was read"));
    sxi_source_close(&source);
}
END_TEST

SX_TEST_MAIN("fit_bands", bands_hold_what_the_file_holds, a_band_left_alone_keeps_the_sentence,
             a_file_cut_meanwhile_fails_at_its_band)
