/* SPDX-License-Identifier: Apache-2.0
 * The trace behind a fitted pixel, from the file that was fitted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/figure_load.h"
#include "xani/fit.h"
#include "xani/fit_arguments.h"

void sxi_pixel_close(sxi_pixel_trace *out) {
    free(out->memory);
    *out = (sxi_pixel_trace){0};
}

/* The frame of the fit must come out as its maps. */
static sx_status make_frame(const sxi_fit_file *fit, const sxi_source_info *info, const char *cube,
                            sxi_fit_frame *frame) {
    const int64_t *roi = fit->roi;
    const sx_xani_fit_options options = {.bin = {fit->bin[0], fit->bin[1]},
                                         .has_roi = roi[1] > roi[0],
                                         .roi = {roi[0], roi[1], roi[2], roi[3]}};
    if (sxi_fit_frame_make(info, &options, frame) != SX_OK ||
        frame->segments * frame->rows != fit->rows || frame->columns != fit->width) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s has frames of %lld rows of %lld pixels, from which maps as those of %s "
                        "(%lld of %lld) do not follow: give what was fitted with --cube",
                        cube, (long long)info->rows, (long long)info->width, fit->path,
                        (long long)fit->rows, (long long)fit->width);
    }
    return SX_OK;
}

/* y [nt] and sigma [nt] of a pixel of the maps. */
static sx_status read_pixel(sxi_source *source, const sxi_fit_frame *frame, int64_t pixel,
                            double *y, double *sigma) {
    const sxi_source_info *info = sxi_source_describe(source);
    sx_status status = SX_OK;
    int64_t row = pixel / frame->columns, column = pixel % frame->columns;
    int64_t first = frame->y0 + row % frame->rows * frame->bin_y;
    int64_t count = first + frame->bin_y < frame->y1 ? frame->bin_y : frame->y1 - first;
    const int64_t shape[] = {info->nt, count, info->width};
    sxi_fit_patch patch = {.rows = 1, .column = column, .columns = 1};
    SXI_GO(sx_array_create(info->dtype, 3, shape, &patch.y));
    SXI_GO(sx_array_create(SX_U8, 2, shape + 1, &patch.mask));
    if (info->has_sigma) {
        SXI_GO(sx_array_create(info->dtype, 3, shape, &patch.sigma));
    }
    SXI_GO(sxi_source_read(source, row / frame->rows * frame->segment_rows + first, count, &patch.y,
                           info->has_sigma ? &patch.sigma : NULL, &patch.mask));
    sxi_fit_gather(frame, &patch, info->weight, y, sigma);
out:
    sx_array_destroy(&patch.y);
    sx_array_destroy(&patch.sigma);
    sx_array_destroy(&patch.mask);
    return status;
}

static sx_status read_trace(const sxi_fit_file *fit, const sx_xani_input *input, bool named,
                            int64_t pixel, const sx_context *context, sxi_pixel_trace *out) {
    sx_status status = SX_OK;
    sxi_source *source = NULL;
    sxi_fit_frame frame;
    double *memory = NULL;
    SXI_GO(sxi_source_open(input, context, &source));
    const sxi_source_info *info = sxi_source_describe(source);
    const char *name = input->cube ? input->cube : input->signal;
    size_t nt = (size_t)info->nt;
    /* Another file may lie there now. Whoever names one knows that it holds what was fitted. */
    if (!named && fit->layout[0] && strcmp(info->layout, fit->layout) != 0) {
        status = SXI_FAIL(SX_ERR_FORMAT, "%s is taken for %s, but what was fitted was %s", name,
                          info->layout, fit->layout);
        goto out;
    }
    SXI_GO(make_frame(fit, info, name, &frame));
    memory = malloc(3 * nt * sizeof *memory);
    if (!memory) {
        status =
            SXI_FAIL(SX_ERR_MEMORY, "no memory for a trace of %lld delays", (long long)info->nt);
        goto out;
    }
    memcpy(memory, info->delay_ps, nt * sizeof *memory);
    SXI_GO(read_pixel(source, &frame, pixel, memory + nt, memory + 2 * nt));
    *out = (sxi_pixel_trace){.memory = memory,
                             .trace = {.nt = info->nt,
                                       .delay = memory,
                                       .y = memory + nt,
                                       .sigma = info->has_sigma ? memory + 2 * nt : NULL,
                                       .relative = fit->relative}};
    memory = NULL;
out:
    free(memory);
    sxi_source_close(&source);
    return status;
}

/* What to read: the arguments of the fit with the cube that was named in place of its file. A fit
 * that names nothing, or a cube that has not its datasets, leaves the cube to speak for itself. */
static sx_status find_input(const sxi_fit_file *fit, const char *cube,
                            sxi_fit_arguments *arguments) {
    sx_status status = sxi_fit_arguments_read(fit->h5, arguments);
    bool alone = cube && status != SX_OK;
    if (cube && status == SX_OK && arguments->input.signal) {
        sx_hdf5 *file = NULL;
        const char *dataset = strrchr(arguments->input.signal, ':');
        alone = sx_hdf5_open(cube, &file) != SX_OK || !sxi_h5_exists(file, dataset + 1);
        sx_hdf5_close(&file);
    }
    if (alone) {
        arguments->input = (sx_xani_input){.cube = cube};
        return SX_OK;
    }
    SXI_TRY(status);
    return sxi_fit_arguments_find(fit->path, cube, arguments);
}

static sx_status load(const sxi_fit_file *fit, const char *cube, int64_t pixel,
                      const sx_context *context, sxi_pixel_trace *out) {
    sxi_fit_arguments arguments;
    SXI_TRY(find_input(fit, cube, &arguments));
    return read_trace(fit, &arguments.input, cube != NULL, pixel, context, out);
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
