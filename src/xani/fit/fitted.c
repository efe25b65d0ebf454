/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/fit/fitted.h"

#include <string.h>

#include "base/fail.h"

/* The frame of the fit must come out as its maps. */
static sx_status make_frame(const sxi_fit_file *fit, const char *cube, sxi_fitted *fitted) {
    const sxi_source_info *info = fitted->info;
    sxi_fit_frame *frame = &fitted->frame;
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

sx_status sxi_fitted_open(const sxi_fit_file *fit, const char *cube, const sx_context *context,
                          sxi_fitted *fitted) {
    sx_status status = SX_OK;
    memset(fitted, 0, sizeof *fitted);
    SXI_GO(find_input(fit, cube, &fitted->arguments));
    const sx_xani_input *input = &fitted->arguments.input;
    SXI_GO(sxi_source_open(input, context, &fitted->source));
    fitted->info = sxi_source_describe(fitted->source);
    const char *name = input->cube ? input->cube : input->signal;
    /* Another file may lie there now. Whoever names one knows that it holds what was fitted. */
    if (!cube && fit->layout[0] && strcmp(fitted->info->layout, fit->layout) != 0) {
        status = SXI_FAIL(SX_ERR_FORMAT, "%s is taken for %s, but what was fitted was %s", name,
                          fitted->info->layout, fit->layout);
        goto out;
    }
    SXI_GO(make_frame(fit, name, fitted));
out:
    if (status != SX_OK) {
        sxi_fitted_close(fitted);
    }
    return status;
}

static void release_band(sxi_fit_patch *band) {
    sx_array_destroy(&band->y);
    sx_array_destroy(&band->sigma);
    sx_array_destroy(&band->mask);
    *band = (sxi_fit_patch){0};
}

void sxi_fitted_close(sxi_fitted *fitted) {
    release_band(&fitted->band);
    sxi_source_close(&fitted->source);
}

sx_status sxi_fitted_read(sxi_fitted *fitted, int64_t row, int64_t rows) {
    const sxi_fit_frame *frame = &fitted->frame;
    const sxi_source_info *info = fitted->info;
    const int64_t segment = row / frame->rows;
    const int64_t first = frame->y0 + row % frame->rows * frame->bin_y,
                  last = first + rows * frame->bin_y;
    const int64_t count = (last < frame->y1 ? last : frame->y1) - first;
    const int64_t shape[] = {info->nt, count, info->width};
    sxi_fit_patch *band = &fitted->band;
    release_band(band);
    *band = (sxi_fit_patch){.rows = rows, .columns = frame->columns};
    SXI_TRY(sx_array_create(info->dtype, 3, shape, &band->y));
    SXI_TRY(sx_array_create(SX_U8, 2, shape + 1, &band->mask));
    if (info->has_sigma) {
        SXI_TRY(sx_array_create(info->dtype, 3, shape, &band->sigma));
    }
    return sxi_source_read(fitted->source, segment * frame->segment_rows + first, count, &band->y,
                           info->has_sigma ? &band->sigma : NULL, &band->mask);
}

void sxi_fitted_gather(const sxi_fitted *fitted, int64_t row, int64_t column, int64_t columns,
                       double *y, double *sigma) {
    sxi_fit_patch patch = fitted->band;
    patch.row = row;
    patch.rows = 1;
    patch.column = column;
    patch.columns = columns;
    sxi_fit_gather(&fitted->frame, &patch, fitted->info->weight, y, sigma);
}
