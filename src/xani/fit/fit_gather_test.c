/* SPDX-License-Identifier: Apache-2.0
 * Traces out of bands, against the plain way: one pixel and one sample after the other. */
#include "xani/fit/fit.h"

#include <string.h>

#include "base/rng.h"
#include "sx_check.h"

/* Rows hold more than a line of the cache and no whole number of vectors; the band begins within
 * the array. */
enum { NT = 19, STORED = 7, WIDTH = 43, FIRST_ROW = 2, ALL_ROWS = STORED + FIRST_ROW };

typedef struct stored {
    sx_array y, sigma, mask; /* of ALL_ROWS */
    sxi_fit_patch patch;
} stored;

static void make(sx_dtype dtype, bool sigma, stored *s) {
    const int64_t shape[] = {NT, ALL_ROWS, WIDTH};
    const int64_t from[] = {0, FIRST_ROW, 0};
    ck_ok(sx_array_create(dtype, 3, shape, &s->y));
    ck_ok(sx_array_create(dtype, 3, shape, &s->sigma));
    ck_ok(sx_array_create(SX_U8, 2, shape + 1, &s->mask));
    sx_array flat[2];
    const int64_t count = sx_array_count(&s->y);
    ck_ok(sx_array_view(dtype, 1, &count, s->y.data, &flat[0]));
    ck_ok(sx_array_view(dtype, 1, &count, s->sigma.data, &flat[1]));
    for (int64_t i = 0; i < count; i++) {
        const double y = sxi_rng_normal(1, 1, (uint64_t)i);
        sx_array_set(&flat[0], &i, i % 11 == 3 ? (double)NAN : y);
        sx_array_set(&flat[1], &i, i % 13 == 5 ? 0 : 0.1 + y * y);
    }
    for (int64_t i = 0; i < ALL_ROWS * WIDTH; i++) {
        ((uint8_t *)s->mask.data)[i] = i % 7 == 2;
    }
    s->patch = (sxi_fit_patch){.rows = 0};
    ck_ok(sx_array_slice(&s->y, from, shape, &s->patch.y));
    ck_ok(sx_array_slice(&s->mask, from + 1, shape + 1, &s->patch.mask));
    if (sigma) {
        ck_ok(sx_array_slice(&s->sigma, from, shape, &s->patch.sigma));
    }
}

static void stored_free(stored *s) {
    sx_array_destroy(&s->y);
    sx_array_destroy(&s->sigma);
    sx_array_destroy(&s->mask);
}

/* One sample of an output pixel, as docs/theory/dcos.md says it. */
static void plain(const sxi_fit_frame *f, const sxi_fit_patch *patch, const double *weight,
                  int64_t pixel, int64_t t, double *y, double *sigma) {
    const int64_t y0 = pixel / f->columns * f->bin_y;
    const int64_t x0 = f->x0 + pixel % f->columns * f->bin_x;
    double sum = 0, total = 0;
    if (f->bin_y * f->bin_x == 1) {
        *y = sx_array_get(&patch->y, (const int64_t[]){t, y0, x0});
        *sigma = patch->sigma.data ? sx_array_get(&patch->sigma, (const int64_t[]){t, y0, x0}) : 0;
        return;
    }
    for (int64_t r = y0; r < y0 + f->bin_y && r < STORED; r++) {
        for (int64_t x = x0; x < x0 + f->bin_x && x < f->x1; x++) {
            const int64_t at[] = {t, r, x};
            const double value = sx_array_get(&patch->y, at);
            const double s = patch->sigma.data ? sx_array_get(&patch->sigma, at) : 1;
            if (sx_array_get(&patch->mask, at + 1) == 0 && isfinite(value) && s > 0) {
                sum += value / (s * s);
                total += 1 / (s * s);
            }
        }
    }
    const double relative = weight && !patch->sigma.data ? weight[t] : 1;
    *y = total > 0 ? sum / total : (double)NAN;
    *sigma = total > 0 && relative > 0 ? 1 / sqrt(total * relative) : (double)NAN;
}

static void compare(const sxi_fit_frame *f, const sxi_fit_patch *patch, bool fills) {
    double weight[NT];
    const int64_t count = patch->rows * patch->columns;
    double *y = calloc((size_t)(2 * count * NT), sizeof *y), *sigma = y + count * NT;
    bool same = true;
    for (int t = 0; t < NT; t++) {
        weight[t] = t % 5;
    }
    sxi_fit_gather(f, patch, weight, y, fills ? sigma : NULL);
    for (int64_t i = 0; i < count * NT; i++) {
        const int64_t row = patch->row + i / NT / patch->columns;
        const int64_t column = patch->column + i / NT % patch->columns;
        double expected[2];
        plain(f, patch, weight, row * f->columns + column, i % NT, &expected[0], &expected[1]);
        same = same && memcmp(&y[i], &expected[0], sizeof *y) == 0 &&
               (!fills || memcmp(&sigma[i], &expected[1], sizeof *sigma) == 0);
    }
    ck_assert_msg(same, "%lld x %lld pixels from %lld, %lld differ", (long long)patch->rows,
                  (long long)patch->columns, (long long)patch->row, (long long)patch->column);
    free(y);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Patches of some rows and columns, until all pixels were there. */
static void compare_patches(const sxi_fit_frame *f, sxi_fit_patch *patch, bool fills) {
    const int64_t sizes[][2] = {{f->rows, f->columns}, {1, 1}, {1, f->columns}, {2, 5}, {3, 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (patch->row = 0; patch->row < f->rows; patch->row += sizes[i][0]) {
            for (patch->column = 0; patch->column < f->columns; patch->column += sizes[i][1]) {
                patch->rows = least(sizes[i][0], f->rows - patch->row);
                patch->columns = least(sizes[i][1], f->columns - patch->column);
                compare(f, patch, fills);
            }
        }
    }
}

START_TEST(traces_have_the_bits_of_the_plain_way) {
    static const int64_t bins[][2] = {{1, 1}, {2, 3}, {3, 1}, {7, 43}};
    static const sx_dtype types[] = {SX_F32, SX_F64};
    for (int i = 0; i < 2 * 2 * 2 * 4; i++) {
        const bool sigma = i & 1, cut = i & 2;
        const int64_t *bin = bins[i / 8];
        const int64_t x0 = cut ? 4 : 0, x1 = cut ? 41 : WIDTH;
        const sxi_fit_frame frame = {.segments = 1,
                                     .segment_rows = STORED,
                                     .width = WIDTH,
                                     .y1 = STORED,
                                     .x0 = x0,
                                     .x1 = x1,
                                     .bin_y = bin[0],
                                     .bin_x = bin[1],
                                     .rows = (STORED + bin[0] - 1) / bin[0],
                                     .columns = (x1 - x0 + bin[1] - 1) / bin[1]};
        const sxi_source_info info = {.has_sigma = sigma};
        stored s;
        make(types[i / 4 % 2], sigma, &s);
        compare_patches(&frame, &s.patch, sxi_fit_gathers_sigma(&frame, &info));
        stored_free(&s);
    }
}
END_TEST

SX_TEST_MAIN("fit_gather", traces_have_the_bits_of_the_plain_way)
