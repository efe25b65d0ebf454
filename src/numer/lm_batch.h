/* SPDX-License-Identifier: Apache-2.0
 * Parts of the batched Levenberg-Marquardt. */
#ifndef SXI_LM_BATCH_H
#define SXI_LM_BATCH_H

#include <sextant/lm_batch.h>

#include "kern/lm_kernels.h"

/* Everything of one call that does not change. */
typedef struct sxi_lm_task {
    const sx_lm_batch *batch;
    enum sxi_model model;
    int p, inputs;
    sxi_lm_box box;
    sx_lm_fit *fit;
    double *covariance; /* or NULL */
} sxi_lm_task;

/* sxi_lm_weight - 1 / sigma of a sample; 0 where it is missing. */
double sxi_lm_weight(const sx_lm_batch *batch, int64_t trace, int64_t i);

/* sxi_lm_start - where a trace starts: [p]. */
const double *sxi_lm_start(const sxi_lm_task *task, int64_t trace);

/* sxi_lm_none - a trace without a result. */
void sxi_lm_none(const sxi_lm_task *task, int64_t trace, int32_t used, sx_lm_trace state);

/* sxi_lm_done - what a lane that reached its minimum gives. */
void sxi_lm_done(const sxi_lm_task *task, int64_t trace, int32_t used, const sxi_lm_bundle *bundle,
                 int lane);

/* sxi_lm_exact - fits a trace by sx_lm_run. work: [(inputs + 2) n]. */
sx_status sxi_lm_exact(const sxi_lm_task *task, int64_t trace, int32_t used, double *work);

/* sxi_lm_batch_run - sx_lm_batch_run with the kernels of one variant. */
sx_status sxi_lm_batch_run(const sxi_lm_kernels *kernels, const sx_lm_batch *batch, sx_lm_fit *fit,
                           double *covariance);

#endif
