/* SPDX-License-Identifier: Apache-2.0 */
#include "io/facility/shots.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "io/hdf5/h5file.h"

void sxi_shots_close(sxi_shots *s) {
    free(s->i0);
    free(s->delay_ps);
    free(s->laser);
    free(s->xray);
    free(s->tool_ps);
    free(s->tool_amplitude);
    free(s->tool_width);
    free(s->time);
    sx_hdf5_close(&s->file);
    *s = (sxi_shots){0};
}

sx_status sxi_shots_mean(const sxi_shots *s, const char *name, double *mean) {
    const sx_dtype real = SX_F64;
    sx_array values = {0};
    double sum = 0;
    int64_t n = 0;
    SXI_TRY(sxi_h5_read(s->file, name, &real, &values));
    for (int64_t k = 0; k < sx_array_count(&values); k++) {
        const double value = ((const double *)values.data)[k];
        if (isfinite(value) && value != -99999) {
            sum += value;
            n++;
        }
    }
    sx_array_destroy(&values);
    *mean = sum / (double)n;
    return SX_OK;
}
