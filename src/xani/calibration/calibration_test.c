/* SPDX-License-Identifier: Apache-2.0
 * Calibration: by hand, every stage, common modes that were put in, and constants that do not fit. */
#include "xani/calibration/calibration.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "sx_check.h"
#include "sx_folder.h"

enum { ROWS = 512, COLUMNS = 192, PIXELS = ROWS * COLUMNS };

static void put(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                const int64_t *shape, void *values) {
    sx_array array;
    ck_ok(sx_array_view(dtype, rank, shape, values, &array));
    ck_ok(sxi_h5_write(writer, name, &array, "", ""));
}

/* Two pixels of Jungfrau or seven stages of ePix10ka: pedestal 100 s + p, gain 2^-s. */
static sx_hdf5 *constants(int stages, const char *ped, uint8_t *mask, uint8_t *config,
                          int64_t pixels) {
    static double pedestal[SXI_STAGES * 8], gain[SXI_STAGES * 8];
    const int64_t shape[] = {stages, 1, pixels};
    char name[64];
    sxi_h5_writer *writer;
    sx_hdf5 *file;
    for (int s = 0; s < stages; s++) {
        for (int64_t p = 0; p < pixels; p++) {
            pedestal[s * pixels + p] = 100 * s + (double)p;
            gain[s * pixels + p] = ldexp(1, -s);
        }
    }
    ck_ok(sxi_h5_create(sx_folder("constants.h5"), true, &writer));
    snprintf(name, sizeof name, "/c/%s", ped);
    put(writer, name, SX_F64, 3, shape, pedestal);
    put(writer, "/c/gain", SX_F64, 3, shape, gain);
    if (mask) {
        put(writer, "/c/mask", SX_U8, 2, shape + 1, mask);
    }
    if (config) {
        put(writer, "/c/config", SX_U8, 2, shape + 1, config);
    }
    ck_ok(sxi_h5_commit(&writer));
    ck_ok(sx_hdf5_open(sx_folder("constants.h5"), &file));
    return file;
}

START_TEST(jungfrau_by_hand) {
    const int64_t shape[] = {1, 5};
    uint8_t mask[] = {0, 0, 0, 0, 1};
    /* stages 0, 1, 2 (bits 11), none (bits 10), masked */
    const uint16_t raw[] = {150, 0x4000 | 301, 0xc000 | 1202, 0x8000 | 500, 150};
    float frame[5];
    for (int lcls = 0; lcls < 2; lcls++) {
        sxi_calibration c;
        uint8_t good[] = {1, 1, 1, 1, 0};
        sx_hdf5 *file = constants(3, lcls ? "ped" : "pedestal", lcls ? good : mask, NULL, 5);
        ck_ok(sxi_calibration_read(file, "/c", lcls, SX_REDUCE_RAW_JUNGFRAU,
                                   SX_REDUCE_COMMON_MODE_NONE, 2, shape, &c));
        sx_hdf5_close(&file);
        ck_ok(sxi_calibrate(&c, raw, frame));
        ck_near(frame[0], 150, 1e-6, 0);
        ck_near(frame[1], (301 - 101) * 2, 1e-6, 0);
        ck_near(frame[2], (1202 - 202) * 4, 1e-6, 0);
        ck_assert(isnan(frame[3]) && isnan(frame[4]));
        sxi_calibration_free(&c);
    }
}
END_TEST

/* Status bits beyond the lowest eight are bad, too, and so is what is no number. */
START_TEST(any_bit_is_bad) {
    const int64_t shape[] = {1, 4};
    double status_bits[] = {0, 256, 65536, (double)NAN}, pedestal[] = {1, 1, 1, 1}, gain = 1;
    const int64_t one = 1;
    sxi_h5_writer *writer;
    sx_hdf5 *file;
    sxi_calibration c;
    ck_ok(sxi_h5_create(sx_folder("bits.h5"), true, &writer));
    put(writer, "/c/pedestal", SX_F64, 2, shape, pedestal);
    put(writer, "/c/gain", SX_F64, 1, &one, &gain);
    put(writer, "/c/mask", SX_F64, 2, shape, status_bits);
    ck_ok(sxi_h5_commit(&writer));
    ck_ok(sx_hdf5_open(sx_folder("bits.h5"), &file));
    ck_ok(sxi_calibration_read(file, "/c", false, SX_REDUCE_RAW_PLAIN, SX_REDUCE_COMMON_MODE_NONE,
                               2, shape, &c));
    sx_hdf5_close(&file);
    ck_assert(c.bad[0] == 0 && c.bad[1] != 0 && c.bad[2] != 0 && c.bad[3] != 0);
    sxi_calibration_free(&c);
}
END_TEST

/* Constants of two stages of three: what was read in the third is missing. */
START_TEST(fewer_stages) {
    const int64_t shape[] = {1, 3};
    const uint16_t raw[] = {150, 0x4000 | 301, 0xc000 | 1202};
    float frame[3];
    sxi_calibration c;
    sx_hdf5 *file = constants(2, "pedestal", NULL, NULL, 3);
    ck_ok(sxi_calibration_read(file, "/c", false, SX_REDUCE_RAW_JUNGFRAU,
                               SX_REDUCE_COMMON_MODE_NONE, 2, shape, &c));
    sx_hdf5_close(&file);
    ck_ok(sxi_calibrate(&c, raw, frame));
    ck_near(frame[0], 150, 1e-6, 0);
    ck_near(frame[1], (301 - 101) * 2, 1e-6, 0);
    ck_assert(isnan(frame[2]));
    sxi_calibration_free(&c);
}
END_TEST

/* Configuration bits and bit 14 of psana's table, one pixel each. */
START_TEST(epix10ka_stages) {
    const int64_t shape[] = {1, 8};
    uint8_t config[] = {28, 12, 8, 16, 0, 16, 0, 4};
    const int stage[] = {0, 1, 2, 3, 4, 5, 6, -1};
    uint16_t raw[8];
    float frame[8];
    sxi_calibration c;
    for (int p = 0; p < 8; p++) {
        raw[p] = (uint16_t)(1000 | (stage[p] >= 5 ? 0x4000 : 0));
    }
    sx_hdf5 *file = constants(7, "pedestal", NULL, config, 8);
    ck_ok(sxi_calibration_read(file, "/c", false, SX_REDUCE_RAW_EPIX10KA,
                               SX_REDUCE_COMMON_MODE_NONE, 2, shape, &c));
    sx_hdf5_close(&file);
    ck_ok(sxi_calibrate(&c, raw, frame));
    for (int p = 0; p < 7; p++) {
        ck_near(frame[p], (1000 - 100 * stage[p] - p) * ldexp(1, stage[p]), 1e-6, 0);
    }
    ck_assert(isnan(frame[7]));
    sxi_calibration_free(&c);
}
END_TEST

/* An offset for each bank, row or column of a bank comes out again; photons, other stages and what is bad do
 * not move it. */
static void check_common_mode(sx_reduce_common_mode mode) {
    static float pedestal[3 * PIXELS], inverse[3 * PIXELS], frame[PIXELS];
    static uint8_t bad[PIXELS];
    static uint16_t raw[PIXELS];
    const sxi_calibration c = {.kind = sxi_detector_kind_of(SX_REDUCE_RAW_JUNGFRAU),
                               .raw = SX_REDUCE_RAW_JUNGFRAU,
                               .common_mode = mode,
                               .pixels = PIXELS,
                               .rows = ROWS,
                               .columns = COLUMNS,
                               .pedestal = pedestal,
                               .inverse = inverse,
                               .bad = bad};
    for (int p = 0; p < PIXELS; p++) {
        const int y = p / COLUMNS, x = p % COLUMNS, bank = y / 256 * 3 + x / 64;
        const bool both = mode == SX_REDUCE_COMMON_MODE_BOTH;
        const int group = mode == SX_REDUCE_COMMON_MODE_ROWS || both ? y * 3 + x / 64
                          : mode == SX_REDUCE_COMMON_MODE_COLUMNS    ? y / 256 * COLUMNS + x
                                                                     : bank;
        const int common = (group % 41 - 20) * 4, photon = p % 9 == 0 ? 60 : 0;
        const bool switched = p % 31 == 0;
        for (int s = 0; s < 3; s++) {
            pedestal[s * PIXELS + p] = 1000;
            inverse[s * PIXELS + p] = s ? -1 : 0.5F;
        }
        bad[p] = p % 57 == 0;
        raw[p] = (uint16_t)(switched ? 0x4000 | 900 : 1000 + common + photon);
    }
    ck_ok(sxi_calibrate(&c, raw, frame));
    for (int p = 0; p < PIXELS; p++) {
        const double expected = p % 31 == 0 ? 100 : p % 9 == 0 ? 30 : 0;
        if (bad[p]) {
            ck_assert(isnan(frame[p]));
        } else {
            ck_near(frame[p], expected, 0, 1e-6);
        }
    }
}

START_TEST(common_modes) {
    check_common_mode(SX_REDUCE_COMMON_MODE_ROWS);
    check_common_mode(SX_REDUCE_COMMON_MODE_COLUMNS);
    check_common_mode(SX_REDUCE_COMMON_MODE_BOTH);
    check_common_mode(SX_REDUCE_COMMON_MODE_BANKS);
}
END_TEST

START_TEST(what_does_not_fit) {
    const int64_t shape[] = {1, 5}, other[] = {1, 6};
    sxi_calibration c;
    sx_hdf5 *file = constants(3, "pedestal", NULL, NULL, 5);
    ck_fails(sxi_calibration_read(file, "/c", false, SX_REDUCE_RAW_JUNGFRAU,
                                  SX_REDUCE_COMMON_MODE_NONE, 2, other, &c),
             SX_ERR_SHAPE, "need 18");
    ck_fails(sxi_calibration_read(file, "/c", false, SX_REDUCE_RAW_JUNGFRAU,
                                  SX_REDUCE_COMMON_MODE_ROWS, 2, shape, &c),
             SX_ERR_SHAPE, "256 x 64");
    ck_fails(sxi_calibration_read(file, "/c", true, SX_REDUCE_RAW_JUNGFRAU,
                                  SX_REDUCE_COMMON_MODE_NONE, 2, shape, &c),
             SX_ERR_MISSING, "ped");
    sx_hdf5_close(&file);
    file = constants(7, "pedestal", NULL, NULL, 5);
    ck_fails(sxi_calibration_read(file, "/c", false, SX_REDUCE_RAW_EPIX10KA,
                                  SX_REDUCE_COMMON_MODE_NONE, 2, shape, &c),
             SX_ERR_MISSING, "config");
    sx_hdf5_close(&file);
}
END_TEST

SX_TEST_MAIN("calibration", jungfrau_by_hand, any_bit_is_bad, fewer_stages, epix10ka_stages,
             common_modes, what_does_not_fit)
