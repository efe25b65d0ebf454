/* SPDX-License-Identifier: Apache-2.0
 * Requests: boxes on their way to arrays. */
#include "io/hdf5/h5_locked.h"

#include <stdlib.h>

struct sx_hdf5_request {
    sx_status status;
    sx_hdf5_statistics statistics;
};

static sx_status read_one(const sx_hdf5_box *box) {
    sx_hdf5_dataset about;
    SXI_TRY(sx_hdf5_describe(box->file, box->name, &about));
    const int64_t origin[SX_MAX_RANK] = {0};
    return sxi_h5_library_read(box->file, box->name, box->start ? box->start : origin,
                               box->count ? box->count : about.shape, box->array);
}

sx_status sx_hdf5_start(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                        sx_hdf5_request **request) {
    (void)options;
    *request = calloc(1, sizeof **request);
    if (!*request) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a request");
    }
    for (int i = 0; i < n && (*request)->status == SX_OK; i++) {
        (*request)->status = read_one(&boxes[i]);
    }
    return SX_OK;
}

void sx_hdf5_work(sx_hdf5_request *request) { (void)request; }
bool sx_hdf5_done(sx_hdf5_request *request) { return request != NULL; }
void sx_hdf5_cancel(sx_hdf5_request *request) { request->status = SX_ERR_CANCELLED; }

sx_status sx_hdf5_wait(sx_hdf5_request **request, sx_hdf5_statistics *statistics) {
    const sx_status status = (*request)->status;
    if (statistics) {
        *statistics = (*request)->statistics;
    }
    free(*request);
    *request = NULL;
    return status;
}

sx_status sx_hdf5_read(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                       sx_hdf5_statistics *statistics) {
    sx_hdf5_request *request = NULL;
    SXI_TRY(sx_hdf5_start(n, boxes, options, &request));
    return sx_hdf5_wait(&request, statistics);
}

sx_status sxi_h5_read_box(sx_hdf5 *file, const char *name, const int64_t *start,
                          const int64_t *count, sx_array *array) {
    const sx_hdf5_box box = {file, name, start, count, array};
    const sx_hdf5_options options = {.missing = SX_HDF5_MISSING_FILL};
    return sx_hdf5_read(1, &box, &options, NULL);
}
