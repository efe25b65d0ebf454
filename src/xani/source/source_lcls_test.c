/* SPDX-License-Identifier: Apache-2.0
 * LCLS1, LCLS2 and cropped cubes: on and off sums with known ratio. In every layout pixel p of bin
 * b has the ratio truth(b, p), whatever the shots and the beam did. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sx_check.h"
#include "sx_folder.h"
#include "sx_put.h"
#include "xani/source/source.h"

enum { T = 6, H = 4, W = 3, PIXELS = H * W, EMPTY = 2, DARK = 5 };

static const int64_t SHAPE[] = {T, H, W};
static const int64_t PANELS[] = {T, 2, 2, W};

static double truth(int64_t b, int64_t p) { return 0.01 * (double)b + 0.001 * (double)p; }
static double off_image(int64_t p) { return p == DARK ? 0 : 5 + (double)p; }

/* Shots with the detector, shots in all, and beam per shot, of the on and off bins. */
static double det_shots(int64_t b) { return b == EMPTY ? 0 : 90 + (double)b; }
static double all_shots(int64_t b) { return b == EMPTY ? 0 : 100 + 2 * (double)b; }
static double beam(int64_t b) { return 1000 + 50 * (double)b; }
static double monitor_sum(int64_t b) { return all_shots(b) * beam(b); }

static double on_sum(int64_t i) {
    const int64_t b = i / PIXELS, p = i % PIXELS;
    return b == EMPTY ? (double)NAN : det_shots(b) * beam(b) * off_image(p) * (1 + truth(b, p)) / 7;
}

/* The off side has its own beam; det and all shots are equal, so pooling is exact. */
static double off_shots(int64_t b) { return b == 1 ? 0 : 60 + (double)b; }
static double off_monitor(int64_t b) { return off_shots(b) * (800 + 10 * (double)b); }
static double off_sum(int64_t i) {
    const int64_t b = i / PIXELS, p = i % PIXELS;
    return off_monitor(b) * off_image(p) / 7;
}

static double edges(int64_t b) { return -0.2 + 0.1 * (double)b; }
static double good(int64_t p) { return p == 7 ? 0 : 1; }
static double later(int64_t b) { return 0.3 + 0.1 * (double)b; }
static double unity(int64_t i) { return i >= 0 ? 1 : 0; }

static sxi_h5_writer *create(const char *name) {
    sxi_h5_writer *writer = NULL;
    ck_ok(sxi_h5_create(sx_folder(name), true, &writer));
    return writer;
}

/* What a test wants changed. */
typedef struct wish {
    bool segments, second_detector, second_monitor, no_ipm2, other_edges, fewer, extra_axis;
    sx_put_fn sums; /* of the delay; NULL: none */
} wish;

static void lcls1_side(const char *name, bool on, const wish *wanted) {
    const int64_t *shape = wanted->segments ? PANELS : SHAPE;
    const int rank = wanted->segments ? 4 : 3;
    const int64_t fewer[] = {wanted->fewer && !on ? T - 1 : T, H, W};
    const int64_t *bins = wanted->fewer && !on ? fewer : SHAPE;
    const char *const monitor = wanted->no_ipm2 ? "ipm4__sum" : "ipm2__sum";
    sxi_h5_writer *writer = create(name);
    sx_put(writer, "jungfrau1M_data", SX_F64, rank, wanted->fewer && !on ? fewer : shape, "",
           on ? on_sum : off_sum);
    sx_put(writer, "jungfrau1M_nEntries", SX_F64, 1, bins, "", on ? det_shots : off_shots);
    sx_put(writer, "nEntries", SX_F32, 1, bins, "", on ? all_shots : off_shots);
    sx_put(writer, "binVar_bins", SX_F32, 1, bins, "", wanted->other_edges && !on ? later : edges);
    sx_put(writer, monitor, SX_F64, 1, bins, "", on ? monitor_sum : off_monitor);
    sx_put(writer, "jungfrau1M_cfg/mask", SX_U8, rank - 1, shape + 1, "", good);
    if (wanted->sums && on) {
        sx_put(writer, "binVar", SX_F32, 1, bins, "", wanted->sums);
    }
    if (wanted->second_detector) {
        sx_put(writer, "epix_data", SX_F64, 3, SHAPE, "", unity);
    }
    if (wanted->second_monitor) {
        sx_put(writer, "ipm3__sum", SX_F64, 1, bins, "", unity);
    }
    if (wanted->extra_axis) {
        sx_put(writer, "bins_theta", SX_F64, 1, bins, "", unity);
    }
    ck_ok(sxi_h5_commit(&writer));
}

static sx_xani_input lcls1(const wish *wanted) {
    sx_folder_empty();
    lcls1_side("on.h5", true, wanted);
    lcls1_side("off.h5", false, wanted);
    return (sx_xani_input){
        .cube = sx_folder("on.h5"), .off = sx_folder("off.h5"), .delay_scale = 1};
}

typedef struct messages {
    char text[2000];
} messages;

static void keep_message(void *data, sx_log_level level, const char *sentence) {
    messages *kept = data;
    const size_t used = strlen(kept->text);
    snprintf(kept->text + used, sizeof kept->text - used, "%d:%s\n", (int)level, sentence);
}

/* Reads all by bands of height rows and compares with the truth; bin b stands at index place[b]. */
static void check_ratio(sxi_source *source, int64_t height, const int *place, bool masked) {
    const sxi_source_info *info = sxi_source_describe(source);
    ck_assert(info->nt == T && info->rows == H && info->width == W);
    ck_assert_int_eq(info->dtype, SX_F64);
    const int64_t shape[] = {T, height, W};
    sx_array y, mask;
    ck_ok(sx_array_create(SX_F64, 3, shape, &y));
    ck_ok(sx_array_create(SX_U8, 2, shape + 1, &mask));
    for (int64_t row = 0; row < H; row += height) {
        ck_ok(sxi_source_read(source, row, height, &y, NULL, &mask));
        for (int64_t i = 0; i < height * W; i++) {
            const int64_t p = row * W + i;
            const bool bad = p == DARK || (masked && p == 7);
            ck_assert((((uint8_t *)mask.data)[i] != 0) == bad);
            for (int b = 0; b < T; b++) {
                const double found = ((double *)y.data)[place[b] * height * W + i];
                if (bad || b == EMPTY) {
                    ck_assert(isnan(found));
                } else {
                    ck_near(found, truth(b, p), 1e-9, 1e-13); /* sums of T rounded terms */
                }
            }
        }
    }
    sx_array_destroy(&y);
    sx_array_destroy(&mask);
}

static const int IN_ORDER[] = {0, 1, 2, 3, 4, 5};
static const int REVERSED[] = {5, 4, 3, 2, 1, 0};

START_TEST(lcls1_ratio_of_sums) {
    for (int segments = 0; segments < 2; segments++) {
        const wish wanted = {.segments = segments != 0, .second_monitor = true};
        const sx_xani_input input = lcls1(&wanted);
        messages log = {""};
        const sx_context context = {.log = keep_message, .data = &log};
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, &context, &source));
        const sxi_source_info *info = sxi_source_describe(source);
        ck_assert_str_eq(info->layout, "LCLS1 cube (jungfrau1M, ipm2__sum, bin centres)");
        ck_assert_int_eq(info->rank, segments ? 3 : 2);
        ck_assert_int_eq(info->inputs, 2);
        for (int b = 0; b < T; b++) { /* centres of the bins; edges are floats */
            ck_near(info->delay_ps[b], -0.15 + 0.1 * b, 0, 1e-7);
            ck_assert(info->weight[b] == det_shots(b));
        }
        ck_near(info->bin_width_ps, 0.1, 1e-6, 0);
        ck_assert(!info->has_sigma);
        ck_assert_ptr_nonnull(strstr(log.text, "pooled over 5 of 6 bins"));
        check_ratio(source, H, IN_ORDER, true);
        check_ratio(source, 1, IN_ORDER, true);
        sxi_source_close(&source);
    }
}
END_TEST

START_TEST(lcls1_turned_by_a_negative_scale) {
    const wish wanted = {0};
    sx_xani_input input = lcls1(&wanted);
    input.delay_scale = -2;
    sxi_source *source = NULL;
    ck_ok(sxi_source_open(&input, NULL, &source));
    const sxi_source_info *info = sxi_source_describe(source);
    ck_near(info->delay_ps[0], -0.7, 0, 1e-6);
    ck_near(info->bin_width_ps, 0.2, 1e-6, 0);
    ck_assert(info->weight[0] == det_shots(T - 1));
    check_ratio(source, 2, REVERSED, true);
    sxi_source_close(&source);
}
END_TEST

/* Shots crowd at a place of their own in each bin; the empty one sums to nothing. */
static double mean_delay(int64_t b) {
    static const double place[] = {0.02, 0.95, 0.5, 0.1, 0.999, 0.3};
    return edges(b) + 0.1 * place[b];
}
static double delay_sum(int64_t b) { return b == EMPTY ? 0 : all_shots(b) * mean_delay(b); }
static double already_means(int64_t b) { return mean_delay(b); }
static double one_astray(int64_t b) { return delay_sum(b) + (b == 4 ? all_shots(b) * 0.01 : 0); }

START_TEST(lcls1_mean_delays) {
    for (int turned = 0; turned < 2; turned++) {
        const wish wanted = {.sums = delay_sum};
        sx_xani_input input = lcls1(&wanted);
        messages log = {""};
        const sx_context context = {.log = keep_message, .data = &log};
        input.delay_scale = turned ? -1 : 1;
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, &context, &source));
        const sxi_source_info *info = sxi_source_describe(source);
        ck_assert_str_eq(info->layout, "LCLS1 cube (jungfrau1M, ipm2__sum, mean delays)");
        ck_assert_ptr_nonnull(strstr(log.text, "1:delays are the means binVar / nEntries"));
        for (int b = 0; b < T; b++) { /* of the float sums, an empty bin has its centre */
            const double found = turned ? -info->delay_ps[T - 1 - b] : info->delay_ps[b];
            ck_near(found, b == EMPTY ? 0.05 : mean_delay(b), 0, 1e-7);
        }
        ck_near(info->bin_width_ps, 0.1, 1e-6, 0);
        check_ratio(source, H, turned ? REVERSED : IN_ORDER, true);
        sxi_source_close(&source);
    }
}
END_TEST

START_TEST(lcls1_sums_that_are_none) {
    const sx_put_fn sums[] = {already_means, one_astray};
    for (int i = 0; i < 2; i++) {
        const wish wanted = {.sums = sums[i]};
        const sx_xani_input input = lcls1(&wanted);
        messages log = {""};
        const sx_context context = {.log = keep_message, .data = &log};
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, &context, &source));
        const sxi_source_info *info = sxi_source_describe(source);
        ck_assert_str_eq(info->layout, "LCLS1 cube (jungfrau1M, ipm2__sum, bin centres)");
        ck_assert_ptr_nonnull(strstr(log.text, i ? "is not in bin 4" : "is not in bin 0"));
        for (int b = 0; b < T; b++) {
            ck_near(info->delay_ps[b], -0.15 + 0.1 * b, 0, 1e-7);
        }
        sxi_source_close(&source);
    }
}
END_TEST

START_TEST(lcls1_names) {
    sxi_source *source = NULL;
    wish wanted = {.second_detector = true, .second_monitor = true};
    sx_xani_input input = lcls1(&wanted);
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING, "epix_data, jungfrau1M_data");
    input.detector = "cspad";
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING, "has no detector cspad");
    input.detector = "jungfrau1M";
    input.i0 = "ipm9";
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING,
             "has no intensity monitor ipm9; it holds ipm2__sum, ipm3__sum");
    input.i0 = "ipm2__sum";
    ck_ok(sxi_source_open(&input, NULL, &source));
    check_ratio(source, H, IN_ORDER, true);
    sxi_source_close(&source);
    input.i0 = "ipm3";
    ck_ok(sxi_source_open(&input, NULL, &source));
    ck_assert_str_eq(sxi_source_describe(source)->layout,
                     "LCLS1 cube (jungfrau1M, ipm3__sum, bin centres)");
    sxi_source_close(&source);
    wanted = (wish){.no_ipm2 = true};
    input = lcls1(&wanted);
    ck_ok(sxi_source_open(&input, NULL, &source)); /* the only one */
    check_ratio(source, H, IN_ORDER, true);
    sxi_source_close(&source);
    wanted = (wish){.no_ipm2 = true, .second_monitor = true};
    input = lcls1(&wanted);
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING, "ipm3__sum, ipm4__sum");
}
END_TEST

START_TEST(lcls1_that_do_not_fit) {
    sxi_source *source = NULL;
    wish wanted = {.fewer = true};
    sx_xani_input input = lcls1(&wanted);
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_SHAPE, "on and off differ in shape");
    wanted = (wish){.other_edges = true};
    input = lcls1(&wanted);
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_RANGE, "other delays: at index 0");
    wanted = (wish){.extra_axis = true};
    input = lcls1(&wanted);
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_UNSUPPORTED, "bins_theta");
    wanted = (wish){0};
    input = lcls1(&wanted);
    input.off = NULL;
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING, "--off FILE");
    input.off = sx_folder("again.h5"); /* the on file under another name */
    ck_assert_int_eq(symlink(sx_folder("on.h5"), input.off), 0);
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_ARGUMENT, "laser-on cube");
    input.off = sx_folder("none.h5");
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_IO, "no such file");
    input.off = sx_folder("off.h5");
    input.delay_scale = 0;
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_UNIT, "--delay-scale");
    ck_assert_ptr_null(source);
}
END_TEST

static void cropped_side(const char *name, bool on) {
    sxi_h5_writer *writer = create(name);
    sx_put(writer, "imgs", SX_F64, 3, SHAPE, "", on ? on_sum : off_sum);
    sx_put(writer, "scan_var", SX_F64, 1, SHAPE, "ps", edges);
    sx_put(writer, "i0_ipm3", SX_F64, 1, SHAPE, "", unity);
    sx_put(writer, "bin_count", SX_I64, 1, SHAPE, "", on ? det_shots : off_shots);
    sx_put(writer, "ROI", SX_I64, 1, SHAPE, "", unity);
    ck_ok(sxi_h5_commit(&writer));
}

static double det_monitor(int64_t b) { return det_shots(b) * beam(b); }

static void add_monitor(const char *name, const char *monitor, sx_put_fn value) {
    sxi_h5_writer *writer = create(name);
    const bool on = value == det_monitor;
    sx_put(writer, "imgs", SX_F64, 3, SHAPE, "", on ? on_sum : off_sum);
    sx_put(writer, "scan_var", SX_F64, 1, SHAPE, "ps", edges);
    sx_put(writer, "bin_count", SX_I64, 1, SHAPE, "", on ? det_shots : off_shots);
    sx_put(writer, monitor, SX_F64, 1, SHAPE, "", value);
    ck_ok(sxi_h5_commit(&writer));
}

START_TEST(cropped_cubes) {
    static const char *const monitors[] = {"i0", "i0_ipm3"};
    sxi_source *source = NULL;
    for (int i = 0; i < 2; i++) {
        sx_folder_empty();
        add_monitor("c_on.h5", monitors[i], det_monitor);
        add_monitor("c_off.h5", monitors[i], off_monitor);
        const sx_xani_input input = {
            .cube = sx_folder("c_on.h5"), .off = sx_folder("c_off.h5"), .i0 = i ? "ipm3" : NULL};
        ck_ok(sxi_source_open(&input, NULL, &source));
        ck_near(sxi_source_describe(source)->delay_ps[3], 0.1, 0, 1e-15);
        check_ratio(source, 2, IN_ORDER, false);
        sxi_source_close(&source);
    }
    cropped_side("c_on.h5", true);
    const sx_xani_input input = {.cube = sx_folder("c_on.h5"), .off = sx_folder("c_off.h5")};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING,
             "no intensity monitor i0; it holds i0_ipm3");
}
END_TEST

/* Steps as they arrived: row r of a label is step ARRIVAL[r] of the scan. */
static const int ARRIVAL[] = {3, 0, 5, 1, 4, 2};

static double arrived_on(int64_t i) { return on_sum(ARRIVAL[i / PIXELS] * PIXELS + i % PIXELS); }
static double arrived_shots(int64_t r) { return det_shots(ARRIVAL[r]); }
static double arrived_monitor(int64_t r) { return det_monitor(ARRIVAL[r]); }
static double step_direct(int64_t r) { return 1 + ARRIVAL[r]; }
static double step_twice(int64_t r) { return 1 + ARRIVAL[r / 2]; }
static double motor_twice(int64_t r) { return 0.1e-12 * ARRIVAL[r / 2]; }

/* with: 0 steps once, 1 each label adds its row, 2 a motor besides, 3 two motors. */
static const char *lcls2(int with, int64_t off_rows) {
    const int64_t off_shape[] = {off_rows, H, W}, on_count[] = {T, 1}, off_count[] = {off_rows, 1};
    const int64_t steps[] = {with ? 2 * T : T, 1};
    sx_folder_empty();
    sxi_h5_writer *writer = create("two.h5");
    sx_put(writer, "/laser_on/jf/calib", SX_F64, 3, SHAPE, "", arrived_on);
    sx_put(writer, "/laser_on/jf/count", SX_I64, 2, on_count, "", arrived_shots);
    sx_put(writer, "/laser_on/ipm/sum", SX_F64, 2, on_count, "", arrived_monitor);
    sx_put(writer, "/laser_on/ipm/count", SX_I64, 2, on_count, "", arrived_shots);
    sx_put(writer, "/laser_off/jf/calib", SX_F64, 3, off_shape, "", off_sum);
    sx_put(writer, "/laser_off/jf/count", SX_I64, 2, off_count, "", off_shots);
    sx_put(writer, "/laser_off/ipm/sum", SX_F64, 2, off_count, "", off_monitor);
    sx_put(writer, "/laser_off/ipm/count", SX_I64, 2, off_count, "", off_shots);
    sx_put(writer, "/step_value", SX_I64, 2, steps, "", with ? step_twice : step_direct);
    if (with >= 2) {
        sx_put(writer, "/lxt", SX_F64, 2, steps, "s", motor_twice);
    }
    if (with >= 3) {
        sx_put(writer, "/lens_h", SX_F64, 2, steps, "", unity);
        sx_put(writer, "/lxt_ttc", SX_F64, 2, steps, "s", unity);
    }
    ck_ok(sxi_h5_commit(&writer));
    return sx_folder("two.h5");
}

START_TEST(lcls2_rows_in_order_of_arrival) {
    for (int with = 0; with < 3; with++) {
        const sx_xani_input input = {
            .cube = lcls2(with, T), .i0 = "ipm", .delay_scale = with == 2 ? 0 : 0.1};
        sxi_source *source = NULL;
        ck_ok(sxi_source_open(&input, NULL, &source));
        const sxi_source_info *info = sxi_source_describe(source);
        ck_assert_str_eq(info->layout, "LCLS2 cube (jf/calib, ipm/sum)");
        for (int b = 0; b < T; b++) {
            ck_near(info->delay_ps[b], with == 2 ? 0.1 * b : 0.1 * (b + 1), 1e-12, 1e-15);
            ck_assert(info->weight[b] == det_shots(b));
        }
        check_ratio(source, H, IN_ORDER, false);
        check_ratio(source, 2, IN_ORDER, false);
        sxi_source_close(&source);
    }
}
END_TEST

START_TEST(lcls2_that_cannot_be_told) {
    sxi_source *source = NULL;
    sx_xani_input input = {.cube = lcls2(3, T), .i0 = "ipm"};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING, "lens_h, lxt, lxt_ttc");
    char motor[300];
    snprintf(motor, sizeof motor, "%s:/lxt", input.cube);
    input.delay = motor;
    ck_ok(sxi_source_open(&input, NULL, &source));
    check_ratio(source, H, IN_ORDER, false);
    sxi_source_close(&source);
    input = (sx_xani_input){.cube = lcls2(2, T), .i0 = "gmd"};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING, "it holds ipm/sum");
    input = (sx_xani_input){.cube = lcls2(2, T), .detector = "cspad"};
    ck_fails(sxi_source_open(&input, NULL, &source), SX_ERR_MISSING, "jf/calib");
    /* Off lacks a step: its image is pooled all the same. */
    messages log = {""};
    const sx_context context = {.log = keep_message, .data = &log};
    input = (sx_xani_input){.cube = lcls2(2, T - 1), .i0 = "ipm"};
    ck_ok(sxi_source_open(&input, &context, &source));
    ck_assert_ptr_nonnull(strstr(log.text, "2:"));
    ck_assert_ptr_nonnull(strstr(log.text, "laser_on has 6 steps, laser_off 5"));
    check_ratio(source, H, IN_ORDER, false);
    sxi_source_close(&source);
}
END_TEST

SX_TEST_MAIN("source_lcls", lcls1_ratio_of_sums, lcls1_turned_by_a_negative_scale,
             lcls1_mean_delays, lcls1_sums_that_are_none, lcls1_names, lcls1_that_do_not_fit,
             cropped_cubes, lcls2_rows_in_order_of_arrival, lcls2_that_cannot_be_told)
