/* SPDX-License-Identifier: Apache-2.0
 * The trace behind a fitted pixel, from the file that was fitted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/fit/fitted.h"

void sxi_pixel_close(sxi_pixel_trace *out) {
    free(out->memory);
    *out = (sxi_pixel_trace){0};
}

/* The trace of a pixel of the maps, without a fit. */
static sx_status read_trace(const sxi_fit_file *fit, sxi_fitted *fitted, int64_t pixel,
                            sxi_pixel_trace *out) {
    const sxi_source_info *info = fitted->info;
    const size_t nt = (size_t)info->nt;
    SXI_TRY(sxi_fitted_read(fitted, pixel / fit->width, 1));
    double *memory = malloc(3 * nt * sizeof *memory);
    if (!memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a trace of %lld delays", (long long)info->nt);
    }
    memcpy(memory, info->delay_ps, nt * sizeof *memory);
    sxi_fitted_gather(fitted, 0, pixel % fit->width, 1, memory + nt, memory + 2 * nt);
    *out = (sxi_pixel_trace){.memory = memory,
                             .trace = {.nt = info->nt,
                                       .delay = memory,
                                       .y = memory + nt,
                                       .sigma = info->has_sigma ? memory + 2 * nt : NULL,
                                       .relative = fit->relative}};
    return SX_OK;
}

static sx_status load(const sxi_fit_file *fit, const char *cube, int64_t pixel,
                      const sx_context *context, sxi_pixel_trace *out) {
    sxi_fitted fitted;
    SXI_TRY(sxi_fitted_open(fit, cube, context, &fitted));
    const sx_status status = read_trace(fit, &fitted, pixel, out);
    sxi_fitted_close(&fitted);
    return status;
}

sx_status sxi_pixel_load(const sxi_fit_file *fit, const char *cube, int64_t pixel, bool needed,
                         const sx_context *context, sxi_pixel_trace *out) {
    *out = (sxi_pixel_trace){0};
    if (pixel < 0) {
        sx_log(context, SX_LOG_INFO,
               "no pixel is in state ok, so no trace is drawn: choose one with --pixel");
        return SX_OK;
    }
    sx_status status = load(fit, cube, pixel, context, out);
    if (status != SX_OK && !cube && !needed) {
        sx_log(context, SX_LOG_INFO, "only maps are drawn: %s", sx_error_message());
        return SX_OK;
    }
    if (status != SX_OK) {
        return cube ? status : sxi_fail_context(status, "there is no trace to draw");
    }
    status = sxi_fit_pixel(fit, pixel, &out->trace.fit);
    out->trace.has_fit = isfinite(out->trace.fit.offset);
    out->trace.t0 = fit->t0;
    out->trace.t_start = fit->t_start;
    if (status != SX_OK) {
        sxi_pixel_close(out);
    }
    return status;
}
