/* SPDX-License-Identifier: Apache-2.0
 * The shots of a simulated run: pulses, delays, and the frames that the detector hands out. */
#ifndef SXI_XANI_SHOTS_H
#define SXI_XANI_SHOTS_H

#include "kern/photons.h"
#include "xani/simulate/scene.h"

/* True delays after the pump are whole multiples of this, so that the brightness of the pixels at each
 * of them can be kept. */
static const double SXI_DELAY_QUANTUM = 0.002; /* ps */

typedef struct sxi_pulse {
    double intensity; /* mean 1; 0 without X-rays */
    double monitor;
    double nominal, delay; /* ps; delay is the true one, NaN without laser */
    double tool, tool_amplitude, tool_width;
    bool laser, xray;
} sxi_pulse;

/* sxi_pulse_get - shot number `shot`, from 0: a function of options and number alone. */
void sxi_pulse_get(const sx_xani_run_options *options, int64_t shot, sxi_pulse *pulse);

/* The second gain of a pixel: ADU without light, what it is divided by, and its mark. */
static const double SXI_SECOND_PEDESTAL = 15000, SXI_SECOND_RATIO = -30;
enum { SXI_SECOND_MARK = 1 << 14 };

/* The detector: a scene with what makes frames of it. */
typedef struct sxi_detector {
    const sx_xani_run_options *options;
    const sxi_scene *scene;
    sxi_photons *photons;
    float *before; /* [npix] photons in a mean pulse */
    float *after;  /* [steps][npix] at delays of 0, 1, ... quanta; NULL: worked out shot by shot */
    int64_t steps;
    bool raw; /* frames are ADU, not photons */
} sxi_detector;

sx_status sxi_detector_create(const sx_xani_run_options *options, const sxi_scene *scene,
                              const sx_context *context, sxi_detector *detector);
void sxi_detector_destroy(sxi_detector *detector);

/* sxi_detector_frame - one frame.
 * in   scratch  [npix]
 * out  frame    [npix] photons, or ADU of a raw detector
 * Threads: yes, on scratch of their own. */
void sxi_detector_frame(const sxi_detector *detector, int64_t shot, const sxi_pulse *pulse,
                        float *scratch, uint16_t *frame);

#endif
