/* SPDX-License-Identifier: Apache-2.0
 * Arrays that are read when they are used. */
#include "engine/darray.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static sx_status open_file(const char *path, sxi_shared_file **file) {
    *file = calloc(1, sizeof **file);
    if (!*file) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to open it", path);
    }
    (*file)->users = 1;
    return sx_hdf5_open(path, &(*file)->file);
}

static sx_status describe(sxi_shared_file *file, const char *path, const char *name,
                          sx_hdf5_dataset *about) {
    SXI_TRY(sx_hdf5_describe(file->file, name, about));
    return about->numeric ? SX_OK
                          : SXI_FAIL(SX_ERR_TYPE, "%s:%s does not hold numbers", path, name);
}

/* A virtual dataset may be made of datasets with filters. */
static bool is_plain(const sx_hdf5_dataset *about) {
    return about->path == SX_HDF5_DIRECT && !about->filters[0] &&
           (about->layout == SX_HDF5_CONTIGUOUS || about->layout == SX_HDF5_EXTERNAL ||
            about->layout == SX_HDF5_CHUNKED);
}

sx_darray *sx_darray_from_hdf5(sx_cluster *cluster, const char *path, const char *name) {
    sxi_shared_file *file = NULL;
    sx_hdf5_dataset about;
    sx_darray *made = NULL;
    sx_status status = SX_OK;
    SXI_GO(open_file(path, &file));
    SXI_GO(describe(file, path, name, &about));
    made = sxi_darray_new(cluster, SXI_NODE_FILE, about.dtype, about.rank, about.shape);
    if (made->kind != SXI_NODE_FAILED) {
        made->file = file;
        file = NULL;
        memcpy(made->chunk, about.chunk, sizeof made->chunk);
        made->plain = is_plain(&about);
        made->name = strdup(name);
        if (!made->name) {
            sxi_darray_fail(made, SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to open it", path));
        }
    }
out:
    if (file) {
        sx_hdf5_close(&file->file);
        free(file);
    }
    return made ? made : sxi_darray_failed(cluster, status);
}

static sx_status check_source(const sx_darray_source *source) {
    if (source->arrays < 1 || source->arrays > SX_SOURCE_ARRAYS) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "a source has %d arrays, 1 to %d are possible",
                        source->arrays, SX_SOURCE_ARRAYS);
    }
    for (int k = 0; k < source->arrays; k++) {
        const int axis = source->array[k].axis;
        if (axis < 0 || axis >= source->array[k].rank) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "rows of array %d of a source are axis %d of %d", k,
                            axis, source->array[k].rank);
        }
        if (source->array[k].shape[axis] != source->array[0].shape[source->array[0].axis]) {
            return SXI_FAIL(SX_ERR_SHAPE, "arrays 0 and %d of a source have %lld and %lld rows", k,
                            (long long)source->array[0].shape[source->array[0].axis],
                            (long long)source->array[k].shape[axis]);
        }
    }
    return source->start || source->read
               ? SX_OK
               : SXI_FAIL(SX_ERR_ARGUMENT, "a source has no function that reads");
}

void sx_darray_from_source(sx_cluster *cluster, const sx_darray_source *source,
                           sx_darray **arrays) {
    sxi_shared_source *shared = NULL;
    sx_status status = check_source(source);
    if (status == SX_OK) {
        shared = calloc(1, sizeof *shared);
        status = shared ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for a source");
    }
    if (shared) {
        shared->source = *source;
        shared->users = 1; /* this function */
    }
    for (int k = 0; k < source->arrays; k++) {
        if (status != SX_OK) {
            arrays[k] = sxi_darray_failed(cluster, status);
            continue;
        }
        sx_darray *made = sxi_darray_new(cluster, SXI_NODE_SOURCE, source->array[k].dtype,
                                         source->array[k].rank, source->array[k].shape);
        if (made->kind != SXI_NODE_FAILED) {
            atomic_fetch_add(&shared->users, 1);
            made->source = shared;
            made->member = k;
            made->chunk[source->array[k].axis] = source->chunk_rows;
        }
        arrays[k] = made;
    }
    if (shared && atomic_fetch_sub(&shared->users, 1) == 1) {
        free(shared);
    }
}
