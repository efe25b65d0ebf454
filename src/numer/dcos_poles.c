/* SPDX-License-Identifier: Apache-2.0
 * Start values from linear prediction: the poles of a residual, with the gain each brings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/column.h"
#include "numer/dcos.h"
#include "numer/spectral.h"

bool sxi_dcos_poles_usable(const sxi_dcos_trace *trace) {
    return trace->grid->regular && trace->used == trace->grid->n && trace->grid->n >= 8;
}

/* By how much the sum of squares of the residual falls with this pole, whose columns are u and v.
 */
static double gain_of(const sxi_dcos_trace *trace, const double *residual, double *u, double *v) {
    int64_t n = trace->grid->padded;
    double gain = 0, *column[] = {u, v};
    for (int j = 0; j < 2; j++) {
        double before = sxi_column_dot(n, column[j], column[j]);
        if (trace->background != SX_BACKGROUND_NONE) {
            sxi_column_project(n, trace->one, column[j]);
        }
        for (int i = 0; i < j; i++) {
            sxi_column_project(n, column[i], column[j]);
        }
        double after = sxi_column_dot(n, column[j], column[j]);
        if (!(after > 1e-8 * before)) {
            return 0; /* a constant, or cosine and sine not to be told apart */
        }
        sxi_column_scale(n, 1 / sqrt(after), column[j]);
        double part = sxi_column_dot(n, column[j], residual);
        gain += part * part;
    }
    return isfinite(gain) ? gain : 0;
}

sx_status sxi_dcos_poles_search(sx_dcos_init init, int modes, sxi_dcos_work *work,
                                const sxi_dcos_trace *trace, const double *residual,
                                sxi_dcos_seed seed[SXI_DCOS_CANDIDATES]) {
    const sxi_dcos_grid *grid = trace->grid;
    double decay[SX_DCOS_MAX_MODES], frequency[SX_DCOS_MAX_MODES];
    double *u = work->slope[0], *v = work->slope[1], *plain = work->slope[2];
    int count = 0, order = 2 * modes + 1;
    double steps = (double)(grid->n - 1);
    for (int c = 0; c < SXI_DCOS_CANDIDATES; c++) {
        seed[c] = (sxi_dcos_seed){0, 0, 0};
    }
    for (int64_t i = 0; i < grid->n; i++) {
        plain[i] = residual[i] / trace->s[i]; /* linear prediction knows no weights */
    }
    SXI_TRY(init == SX_INIT_ESPRIT ? sxi_esprit(grid->n, plain, order, decay, frequency, &count)
                                   : sxi_lpsvd(grid->n, plain, order, decay, frequency, &count));
    for (int i = 0; i < count; i++) {
        double g = fmin(fmax(decay[i] * steps, grid->decay_least), grid->decay_most);
        double f = fmin(fmax(frequency[i] * steps, grid->frequency_least), grid->frequency_most);
        sxi_column_dcos(grid->padded, grid->x, grid->dx, trace->s, g, f, u, v);
        sxi_dcos_seed_insert(seed, (sxi_dcos_seed){g, f, gain_of(trace, residual, u, v)});
    }
    return SX_OK;
}
