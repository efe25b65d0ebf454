/* SPDX-License-Identifier: Apache-2.0
 * One tile: its pixels as traces, some at a time, fitted. */
#include <stdlib.h>

#include "base/fail.h"
#include "xani/fit/fit.h"

/* Traces that are gathered and fitted at once take so much memory, or a single one does. */
enum { PIXELS_MOST = 1024 };
static const int64_t TRACE_BYTES = 8LL << 20;

struct sxi_fit_worker {
    double *y, *sigma;
    sx_dcos_fit *fit;
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t pixels_of(const sxi_fit_work *work) {
    const int64_t trace = work->maps->info->nt * (int64_t)sizeof(double);
    return least(TRACE_BYTES / trace + 1, PIXELS_MOST);
}

sx_status sxi_fit_work_create(const sx_dcos_plan *plan, const sxi_fit_maps *maps, int threads,
                              sxi_fit_work *work) {
    const bool sigma = sxi_fit_gathers_sigma(maps->frame, maps->info);
    *work = (sxi_fit_work){.plan = plan, .maps = maps, .threads = threads};
    const size_t pixels = (size_t)pixels_of(work);
    const size_t bytes = pixels * (size_t)maps->info->nt * sizeof(double);
    work->worker = calloc((size_t)threads, sizeof *work->worker);
    bool got = work->worker != NULL;
    for (int i = 0; i < threads && got; i++) {
        sxi_fit_worker *w = &work->worker[i];
        w->y = malloc(bytes);
        w->sigma = sigma ? malloc(bytes) : NULL;
        w->fit = malloc(pixels * sizeof *w->fit);
        got = w->y && w->fit && (w->sigma || !sigma);
    }
    return got ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "no memory for the traces of %zu pixels at a time",
                          pixels);
}

void sxi_fit_work_destroy(sxi_fit_work *work) {
    for (int i = 0; work->worker && i < work->threads; i++) {
        free(work->worker[i].y);
        free(work->worker[i].sigma);
        free(work->worker[i].fit);
    }
    free(work->worker);
    work->worker = NULL;
}

static sx_status fit_patch(const sxi_fit_work *work, const sx_tile *tile,
                           const sxi_fit_patch *patch) {
    const sxi_fit_worker *w = &work->worker[tile->thread];
    const double *weight = work->maps->info->weight;
    const int inputs = work->maps->info->has_sigma ? 3 : 2;
    sxi_fit_gather(work->maps->frame, patch, weight, w->y, w->sigma);
    SXI_TRY(sx_dcos_fit_tile(work->plan, patch->rows * patch->columns, w->y, w->sigma, weight, NULL,
                             w->fit));
    sxi_fit_maps_put(work->maps, patch, tile->start[1], w->fit, tile->array + inputs);
    return SX_OK;
}

/* Lack of memory, which ends all, is the only failure; what is wrong with a pixel is its state. */
sx_status sxi_fit_tile(const sx_tile *tile) {
    const sxi_fit_work *work = tile->data;
    const bool has_sigma = work->maps->info->has_sigma;
    const int64_t rows = tile->count[0], columns = tile->count[1], pixels = pixels_of(work);
    sxi_fit_patch patch = {.y = sxi_fit_stored_rows(&tile->array[0]),
                           .mask = sxi_fit_stored_rows(&tile->array[1])};
    if (has_sigma) {
        patch.sigma = sxi_fit_stored_rows(&tile->array[2]);
    }
    const int64_t width = least(pixels, columns), height = pixels / width;
    for (int64_t row = 0; row < rows; row += height) {
        for (int64_t column = 0; column < columns; column += width) {
            patch.row = row;
            patch.rows = least(height, rows - row);
            patch.column = tile->start[1] + column;
            patch.columns = least(width, columns - column);
            const sx_status status = fit_patch(work, tile, &patch);
            if (status != SX_OK) {
                return sx_tile_fail(tile, status, "%s", sx_error_message());
            }
        }
    }
    return SX_OK;
}
