/* SPDX-License-Identifier: Apache-2.0
 * What a PONI file of pyFAI says about the detector. */
#ifndef SXI_PONI_H
#define SXI_PONI_H

#include <stdbool.h>
#include <stdint.h>

#include "io/geometry/geometry.h"
#include "io/geometry/text.h"

/* pixel and shape: [0] slow, [1] fast; 0 where not known. */
typedef struct sxi_poni_detector {
    char name[64];
    double pixel[2]; /* m */
    int64_t shape[2];
    int64_t module[2], gap[2]; /* pixels; gaps between modules are masked. 0: none */
    int64_t orientation;       /* 0 (as 3), 1..4 */
} sxi_poni_detector;

/* sxi_poni_config - reads the JSON of Detector_config into what it names. SX_ERR_FORMAT;
 * SX_ERR_UNSUPPORTED for what would move pixels (splines, offset files). */
sx_status sxi_poni_config(const sxi_line *line, const char *text, sxi_poni_detector *detector);

/* sxi_poni_complete - adds what is known of a detector by its name. SX_ERR_MISSING,
 * SX_ERR_UNSUPPORTED. */
sx_status sxi_poni_complete(const char *path, sxi_poni_detector *detector);

#endif
