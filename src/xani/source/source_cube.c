/* SPDX-License-Identifier: Apache-2.0
 * Our own cube: /cube/{signal,sigma,delay,mask,count}. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(sx_hdf5 *cube) {
    return sxi_h5_exists(cube, "/cube/signal") && sxi_h5_exists(cube, "/cube/delay");
}

/* Shots per bin: bins without are missing; the others are weighted by them if there is no sigma. */
static sx_status read_count(sxi_source *source, sx_hdf5 *cube) {
    const int64_t nt = source->info.nt;
    SXI_TRY(sxi_source_vector(cube, "/cube/count", nt, &source->weight, NULL));
    SXI_TRY(sxi_source_reorder(source, source->weight));
    source->empty = malloc((size_t)nt * sizeof *source->empty);
    if (!source->empty) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)nt);
    }
    for (int64_t t = 0; t < nt; t++) {
        source->empty[t] = !(source->weight[t] > 0);
        source->weight[t] = source->empty[t] ? 0 : source->weight[t];
    }
    return SX_OK;
}

static sx_status read_sigma(sxi_source *source, sx_hdf5 *cube) {
    char found[80];
    char needed[80];
    const sx_hdf5_dataset *signal = &source->signal.about;
    SXI_TRY(sxi_source_stack(cube, "/cube/sigma", &source->sigma));
    const sx_hdf5_dataset *sigma = &source->sigma.about;
    if (sigma->rank != signal->rank ||
        memcmp(sigma->shape, signal->shape, sizeof sigma->shape) != 0) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s: /cube/sigma is %s, /cube/signal %s",
                        sx_hdf5_path_of(cube),
                        sxi_shape_text(sigma->rank, sigma->shape, found, sizeof found),
                        sxi_shape_text(signal->rank, signal->shape, needed, sizeof needed));
    }
    source->info.has_sigma = true;
    return SX_OK;
}

static sx_status open_cube(sxi_source *source, const sxi_layout_request *request) {
    sx_hdf5 *cube = source->file[0];
    sxi_stack signal;
    sxi_stack delay;
    double *values = NULL;
    char where[SXI_SOURCE_NAME + 64];
    snprintf(source->info.layout, sizeof source->info.layout, "sextant cube");
    snprintf(where, sizeof where, "%s:/cube/delay", sx_hdf5_path_of(cube));
    SXI_TRY(sxi_source_stack(cube, "/cube/signal", &signal));
    SXI_TRY(sxi_source_signal(source, &signal));
    SXI_TRY(sxi_source_stack(cube, "/cube/delay", &delay));
    SXI_TRY(sxi_source_vector(cube, "/cube/delay", source->info.nt, &values, NULL));
    const sxi_axis axis = {.where = where, .unit = delay.about.unit, .default_scale = 1};
    sx_status status = sxi_source_axis(source, request, &axis, values);
    free(values);
    SXI_TRY(status);
    if (sxi_h5_exists(cube, "/cube/sigma")) {
        SXI_TRY(read_sigma(source, cube));
    }
    if (sxi_h5_exists(cube, "/cube/count")) {
        SXI_TRY(read_count(source, cube));
    }
    if (sxi_h5_exists(cube, "/cube/mask")) {
        sxi_stack mask;
        SXI_TRY(sxi_source_stack(cube, "/cube/mask", &mask));
        SXI_TRY(sxi_source_mask(source, &mask, false));
    }
    return SX_OK;
}

const sxi_layout sxi_layout_cube = {
    .name = "sextant cube", .recognise = recognise, .open = open_cube};
