/* SPDX-License-Identifier: Apache-2.0 */
#define SX_LANES_C

#include "kern/lm_kernels_tmpl.h"

const sxi_lm_kernels sxi_lm_kernels_c = {.name = "c", .sums = ALL_SUMS, .step = ALL_STEPS};

double sxi_model_value(enum sxi_model model, const double *x, const double *b, double *d) {
    static const SX_MODEL models[] = {
#define MODEL(name, parameters, inputs, formula) sx_model_##name,
        SXI_MODEL_LIST(MODEL)
#undef MODEL
    };
    return models[model](x, b, d);
}
