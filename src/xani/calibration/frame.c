/* SPDX-License-Identifier: Apache-2.0
 * One frame: cal = (value - pedestal[stage] - common mode) / gain[stage]. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "kern/kern.h"
#include "xani/calibration/calibration.h"

enum { NO_STAGE = 255 };

/* --- the stage of a pixel --- */

/* Bits 15 and 14: 00, 01 and 11 are the stages, 10 is none. */
static uint8_t stage_of_jungfrau(uint16_t raw) {
    static const uint8_t stage[] = {0, 1, NO_STAGE, 2};
    return stage[raw >> 14];
}

/* Of ePix10ka by the configuration of the pixel and bit 14 of the value, as psana has it: fixed high, medium
 * and low; switching high to low and medium to low, before and after the switch. */
static uint8_t stage_of_epix10ka(uint16_t raw, uint8_t config) {
    const int b = (config & 28) | (raw & 0x4000 ? 32 : 0);
    return (b & 28) == 28   ? 0
           : (b & 28) == 12 ? 1
           : (b & 12) == 8  ? 2
           : (b & 60) == 16 ? 3
           : (b & 60) == 0  ? 4
           : (b & 60) == 48 ? 5
           : (b & 60) == 32 ? 6
                            : NO_STAGE;
}

static void find_stages(const sxi_calibration *c, const uint16_t *raw, uint8_t *stage) {
    for (int64_t p = 0; p < c->pixels; p++) {
        stage[p] = c->raw == SX_REDUCE_RAW_JUNGFRAU   ? stage_of_jungfrau(raw[p])
                   : c->raw == SX_REDUCE_RAW_EPIX10KA ? stage_of_epix10ka(raw[p], c->config[p])
                                                      : 0;
    }
}

/* --- without common mode, in one pass --- */

SXI_CLONES static void one_stage(int64_t n, uint16_t bits, const uint16_t *raw,
                                 const float *pedestal, const float *inverse, const uint8_t *bad,
                                 float *frame) {
    for (int64_t p = 0; p < n; p++) {
        const float value = ((float)(raw[p] & bits) - pedestal[p]) * inverse[p];
        frame[p] = bad[p] ? NAN : value;
    }
}

/* Selects, so that vectors can do it. */
SXI_CLONES static void jungfrau(int64_t n, const uint16_t *raw, const float *pedestal,
                                const float *inverse, const uint8_t *bad, float *frame) {
    for (int64_t p = 0; p < n; p++) {
        const int stage = raw[p] >> 14;
        const float ped = stage == 0   ? pedestal[p]
                          : stage == 1 ? pedestal[n + p]
                                       : pedestal[2 * n + p];
        const float inv = stage == 0   ? inverse[p]
                          : stage == 1 ? inverse[n + p]
                                       : inverse[2 * n + p];
        const float value = ((float)(raw[p] & 0x3fff) - ped) * inv;
        frame[p] = bad[p] || stage == 2 ? NAN : value;
    }
}

/* --- by stages --- */

static sx_status by_stages(const sxi_calibration *c, const uint16_t *raw, float *frame) {
    const int64_t n = c->pixels;
    uint8_t *stage = calloc((size_t)n, 1);
    sx_status status = SX_OK;
    if (!stage) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to calibrate a frame");
    }
    find_stages(c, raw, stage);
    for (int64_t p = 0; p < n; p++) {
        frame[p] = c->bad[p] || stage[p] == NO_STAGE
                       ? NAN
                       : (float)(raw[p] & c->kind->bits) - c->pedestal[stage[p] * n + p];
    }
    if (c->common_mode != SX_REDUCE_COMMON_MODE_NONE) {
        SXI_GO(sxi_common_mode(c, stage, frame));
    }
    for (int64_t p = 0; p < n; p++) {
        frame[p] *= stage[p] == NO_STAGE ? NAN : c->inverse[stage[p] * n + p];
    }
out:
    free(stage);
    return status;
}

sx_status sxi_calibrate(const sxi_calibration *c, const uint16_t *raw, float *frame) {
    if (c->common_mode != SX_REDUCE_COMMON_MODE_NONE || c->raw == SX_REDUCE_RAW_EPIX10KA) {
        return by_stages(c, raw, frame);
    }
    if (c->raw == SX_REDUCE_RAW_JUNGFRAU) {
        jungfrau(c->pixels, raw, c->pedestal, c->inverse, c->bad, frame);
    } else {
        one_stage(c->pixels, c->kind->bits, raw, c->pedestal, c->inverse, c->bad, frame);
    }
    return SX_OK;
}
