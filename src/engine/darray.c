/* SPDX-License-Identifier: Apache-2.0
 * The life of an array. */
#include "engine/darray.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "base/pages.h"
#include "engine/origin.h"
#include "engine/ranks.h"
#include "engine/state.h"

/* What is returned where there is not even memory to say so; never freed. */
static sx_darray no_memory = {.kind = SXI_NODE_FAILED, .status = SX_ERR_MEMORY};

sx_darray *sxi_darray_new(sx_cluster *cluster, sxi_node_kind kind, sx_dtype dtype, int rank,
                          const int64_t *shape) {
    sx_array about;
    sx_darray *made = calloc(1, sizeof *made);
    if (!made) {
        return &no_memory;
    }
    made->users = 1;
    made->cluster = cluster;
    made->kind = kind;
    made->dtype = dtype;
    made->cost = 1;
    /* A view of nothing checks type, rank and extents. */
    const sx_status status = sx_array_view(dtype, rank, shape, made, &about);
    if (status != SX_OK) {
        sxi_darray_fail(made, status);
        return made;
    }
    made->rank = rank;
    memcpy(made->shape, about.shape, sizeof made->shape);
    return made;
}

sx_darray *sxi_darray_failed(sx_cluster *cluster, sx_status status) {
    sx_darray *made = calloc(1, sizeof *made);
    if (!made) {
        return &no_memory;
    }
    made->users = 1;
    made->cluster = cluster;
    sxi_darray_fail(made, status);
    return made;
}

sx_darray *sxi_darray_keep(sx_darray *array) {
    if (array != &no_memory) {
        atomic_fetch_add(&array->users, 1);
    }
    return array;
}

static void file_drop(sxi_shared_file *file) {
    if (file && atomic_fetch_sub(&file->users, 1) == 1) {
        sx_hdf5_close(&file->file);
        free(file);
    }
}

static void source_drop(sxi_shared_source *source) {
    if (source && atomic_fetch_sub(&source->users, 1) == 1) {
        free(source);
    }
}

/* Gives up all that an array is made of, but for what says why it failed. */
static void empty(sx_darray *array) {
    for (int i = 0; i < 2; i++) {
        sx_darray_destroy(&array->input[i]);
    }
    if (array->mapped > 0) {
        munmap(array->values.data, (size_t)array->mapped);
    }
    array->mapped = 0;
    sx_array_destroy(&array->values);
    if (array->reserved > 0) {
        sxi_memory_release(array->cluster, array->reserved);
    }
    array->reserved = 0;
    file_drop(array->file);
    source_drop(array->source);
    free(array->name);
    array->file = NULL;
    array->source = NULL;
    array->name = NULL;
}

void sx_darray_destroy(sx_darray **array) {
    sx_darray *gone = array ? *array : NULL;
    if (gone && gone != &no_memory && atomic_fetch_sub(&gone->users, 1) == 1) {
        empty(gone);
        for (int i = 0; i < SXI_ORIGINS; i++) {
            free(gone->origin[i]);
        }
        free(gone->sentence);
        free(gone);
    }
    if (array) {
        *array = NULL;
    }
}

void sxi_darray_fail(sx_darray *array, sx_status status) {
    if (array != &no_memory && array->kind != SXI_NODE_FAILED) {
        empty(array);
    }
    sxi_engine_lost(array->cluster, status);
    if (array != &no_memory) {
        array->kind = SXI_NODE_FAILED;
        array->status = status;
        free(array->sentence);
        array->sentence = strdup(sx_error_message());
    }
}

sx_status sxi_darray_check(const sx_darray *array) {
    if (!array) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "an array is NULL");
    }
    for (int k = 0; k < 2 && array->input[k]; k++) { /* it may have failed since */
        SXI_TRY(sxi_darray_check(array->input[k]));
    }
    if (array->kind != SXI_NODE_FAILED) {
        return SX_OK;
    }
    return SXI_FAIL(array->status, "%s",
                    array->sentence ? array->sentence : "no memory for a distributed array");
}

int64_t sxi_darray_bytes(const sx_darray *array) {
    int64_t bytes = (int64_t)sx_dtype_size(array->dtype);
    for (int d = 0; d < array->rank; d++) {
        bytes *= array->shape[d]; /* sxi_darray_new has seen that it fits */
    }
    return bytes;
}

static sx_status store_in_file(sx_darray *array, const char *folder, int64_t bytes) {
    void *mapped = NULL;
    SXI_TRY(sxi_pages_in_file(folder, (size_t)bytes, &mapped));
    array->mapped = bytes;
    return sx_array_view(array->dtype, array->rank, array->shape, mapped, &array->values);
}

/* Memory for a new array, zeros, within the budget; half of it is left to read into. */
static sx_status store(sx_darray *array) {
    const int64_t bytes = sxi_darray_bytes(array);
    const char *scratch = sxi_engine_of(array->cluster)->scratch;
    const int64_t half = sxi_memory_budget(array->cluster) / 2;
    sx_array values;
    if (scratch && bytes > sxi_memory_left(array->cluster) - half && bytes > 0) {
        return store_in_file(array, scratch, bytes);
    }
    if (!sxi_memory_reserve(array->cluster, bytes)) {
        return SXI_FAIL(SX_ERR_MEMORY,
                        "an array of %lld bytes is to be stored, of the memory budget of %lld "
                        "bytes %lld are left; sum it up first, or raise the budget (--memory)",
                        (long long)bytes, (long long)sxi_memory_budget(array->cluster),
                        (long long)sxi_memory_left(array->cluster));
    }
    const sx_status status = sx_array_create(array->dtype, array->rank, array->shape, &values);
    if (status != SX_OK) {
        sxi_memory_release(array->cluster, bytes);
        return status;
    }
    sxi_pages_large(values.data, (size_t)bytes);
    array->values = values;
    array->reserved = bytes;
    return SX_OK;
}

void sxi_darray_adopt(sx_darray *array, sx_darray *stored) {
    sxi_origins origins = {0};
    sxi_origins_add(&origins, array);
    sxi_origins_keep(&origins, stored); /* while the files are open */
    empty(array);
    array->kind = SXI_NODE_MEMORY;
    for (int i = 0; i < SXI_ORIGINS; i++) {
        free(array->origin[i]);
        array->origin[i] = stored->origin[i];
        stored->origin[i] = NULL;
    }
    array->values = stored->values;
    array->reserved = stored->reserved;
    array->mapped = stored->mapped;
    array->complete = stored->complete;
    array->cost = 1;
    stored->values = (sx_array){0};
    stored->reserved = 0;
    stored->mapped = 0;
}

sx_darray *sx_darray_create(sx_cluster *cluster, sx_dtype dtype, int rank, const int64_t *shape) {
    sx_darray *made = sxi_darray_new(cluster, SXI_NODE_MEMORY, dtype, rank, shape);
    if (made->kind != SXI_NODE_FAILED) {
        const sx_status status = store(made);
        made->complete = true; /* zeros everywhere */
        if (status != SX_OK) {
            sxi_darray_fail(made, status);
        }
    }
    return made;
}

sx_darray *sx_darray_from_memory(sx_cluster *cluster, const sx_array *array) {
    sx_darray *made =
        sxi_darray_new(cluster, SXI_NODE_MEMORY, array->dtype, array->rank, array->shape);
    if (made->kind != SXI_NODE_FAILED) {
        made->values = *array;
        made->values.owned = NULL;
        made->complete = true;
    }
    return made;
}

sx_dtype sx_darray_dtype(const sx_darray *array) { return array->dtype; }
int sx_darray_rank(const sx_darray *array) { return array->rank; }
const int64_t *sx_darray_shape(const sx_darray *array) { return array->shape; }
