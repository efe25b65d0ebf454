/* SPDX-License-Identifier: Apache-2.0
 * Raw frames of area detectors to energy: pedestal and gain of the stage in which a pixel was read,
 * common mode. Theory: docs/theory/calibration.md. */
#ifndef SXI_XANI_CALIBRATION_H
#define SXI_XANI_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/reduce.h>

#include "io/hdf5/h5file.h"

enum { SXI_STAGES = 7 }; /* at most, of gain */

/* How a kind of detector writes a pixel. */
typedef struct sxi_detector_kind {
    const char *name;
    int stages;
    uint16_t bits;               /* of the value */
    int bank_rows, bank_columns; /* pixels that share a common mode; 0: the whole part */
} sxi_detector_kind;

/* sxi_detector_kind_of - of sx_reduce_raw, not NONE. */
const sxi_detector_kind *sxi_detector_kind_of(sx_reduce_raw raw);

typedef struct sxi_calibration {
    const sxi_detector_kind *kind;
    sx_reduce_raw raw;
    sx_reduce_common_mode common_mode;
    int64_t pixels, rows, columns; /* of a frame; of its last two axes */
    float *pedestal;               /* [stages][pixels] ADU */
    float *inverse;  /* [stages][pixels] 1 / gain, keV per ADU; NaN where there is none */
    uint8_t *config; /* [pixels] of ePix10ka, NULL for others */
    uint8_t *bad;    /* [pixels] not 0: masked, or without gain in the first stage */
} sxi_calibration;

/* sxi_calibration_read - from the datasets pedestal, gain, mask (0 good) and config of a group.
 *
 * in  lcls  the group is /UserDataCfg/DETECTOR of smalldata: ped, gain, mask (1 good)
 *
 * pedestal and gain have the shape of a frame, with the stages before it where the kind has several (pixels
 * in a stage without constants are missing); gain may be a single number where there is one. SX_ERR_MISSING, SX_ERR_SHAPE, SX_ERR_MEMORY, SX_ERR_IO. */
sx_status sxi_calibration_read(sx_hdf5 *file, const char *group, bool lcls, sx_reduce_raw raw,
                               sx_reduce_common_mode common_mode, int rank, const int64_t *shape,
                               sxi_calibration *calibration);
void sxi_calibration_free(sxi_calibration *calibration);

/* sxi_calibrate - one frame.
 * out  frame  [pixels] keV (what gain says); NaN: bad, or a stage that does not exist
 * Threads: yes. SX_ERR_MEMORY. */
sx_status sxi_calibrate(const sxi_calibration *calibration, const uint16_t *raw, float *frame);

/* sxi_common_mode - takes the median of each bank, or of its rows or columns, off the pixels of a frame in ADU that
 * are in the first stage; those that are NaN or bad do not enter. Fewer than 10 make no median, and one beyond
 * 100 ADU is none. stage [pixels]. SX_ERR_MEMORY. */
sx_status sxi_common_mode(const sxi_calibration *calibration, const uint8_t *stage, float *frame);

#endif
