/* SPDX-License-Identifier: Apache-2.0
 * Arrays as results. */
#include "engine/darray.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "engine/origin.h"
#include "engine/ranks.h"
#include "io/hdf5/h5file.h"
#include "io/read/bands.h"

/* Written at once. */
static const int64_t WRITE_BYTES = 32LL << 20;

sx_status sx_wait(sx_darray *array) {
    SXI_TRY(sxi_darray_check(array));
    return sxi_darray_settle(array);
}

sx_status sx_gather(sx_darray *array, sx_array *gathered) {
    const sx_array nothing = {0};
    sx_array all = {0};
    *gathered = nothing;
    SXI_TRY(sx_wait(array));
    sx_status status = SX_OK;
    if (sx_cluster_rank(array->cluster) == 0) {
        sxi_region region = {{0}, {0}};
        memcpy(region.count, array->shape, sizeof region.count);
        status = sx_array_create(array->dtype, array->rank, array->shape, &all);
        if (status == SX_OK) {
            status = sxi_region_read(array, &region, &all);
        }
    }
    status = sxi_ranks_agree(array->cluster, status);
    if (status == SX_OK) {
        *gathered = all;
    } else {
        sx_array_destroy(&all);
    }
    return status;
}

/* --- a file --- */

static sx_status write_array(sxi_h5_writer *writer, const sx_darray_dataset *dataset) {
    sx_darray *array = dataset->array;
    sxi_bands bands;
    sxi_region region = {{0}, {0}};
    sx_status status = SX_OK;
    SXI_TRY(sxi_h5_dataset_create(writer, dataset->name, array->dtype, array->rank, array->shape,
                                  dataset->unit ? dataset->unit : "",
                                  dataset->sentence ? dataset->sentence : ""));
    sxi_bands_plan(array->rank, region.start, array->shape, array->chunk,
                   (int64_t)sx_dtype_size(array->dtype), WRITE_BYTES, WRITE_BYTES, &bands);
    while (status == SX_OK && sxi_bands_next(&bands, region.start, region.count)) {
        sx_array part;
        if (sxi_ranks_stopped(array->cluster)) {
            return sxi_ranks_status(array->cluster);
        }
        SXI_TRY(sx_array_create(array->dtype, array->rank, region.count, &part));
        status = sxi_region_read(array, &region, &part);
        if (status == SX_OK) {
            status = sxi_h5_write_box(writer, dataset->name, region.start, &part);
        }
        sx_array_destroy(&part);
    }
    return status;
}

typedef struct wanted {
    int n;
    const sx_darray_dataset *datasets;
    const char *path;
    bool overwrite;
} wanted;

static sx_status write_file(void *data) {
    const wanted *w = data;
    const int n = w->n;
    const sx_darray_dataset *datasets = w->datasets;
    sxi_origins origins = {0};
    const sx_context *context = sxi_ranks_context(datasets[0].array->cluster);
    sxi_h5_writer *writer = NULL;
    sx_status status = SX_OK;
    for (int i = 0; i < n; i++) {
        sxi_origins_add(&origins, datasets[i].array);
    }
    SXI_TRY(sxi_output_check(w->path, w->overwrite, origins.n, origins.path));
    SXI_TRY(sxi_h5_create(w->path, w->overwrite, &writer));
    for (int i = 0; i < n; i++) {
        SXI_GO(write_array(writer, &datasets[i]));
    }
    SXI_GO(sxi_h5_inputs(writer, context, origins.n, origins.path));
    SXI_GO(sxi_h5_provenance(writer, context, 0, NULL));
    status = sxi_h5_commit(&writer);
out:
    sxi_h5_abandon(&writer);
    return status;
}

sx_status sx_darray_to_hdf5(int n, const sx_darray_dataset *datasets, const char *path,
                            bool overwrite) {
    if (n < 1) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s: there is no dataset to write", path);
    }
    for (int i = 0; i < n; i++) {
        sx_status status = sxi_darray_check(datasets[i].array);
        if (status != SX_OK) {
            return sxi_fail_context(status, "%s: %s cannot be written", path, datasets[i].name);
        }
    }
    wanted w = {n, datasets, path, overwrite};
    return sxi_ranks_once(datasets[0].array->cluster, write_file, &w);
}
