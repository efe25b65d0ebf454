/* SPDX-License-Identifier: Apache-2.0
 * Arrays as datasets of a file, or of a file of each rank. */
#include "engine/darray.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/output.h"
#include "engine/origin.h"
#include "engine/ranks.h"
#include "engine/state.h"
#include "io/hdf5/h5file.h"
#include "io/read/bands.h"

/* Written at once, at most. */
static const int64_t WRITE_BYTES = 32LL << 20, LEAST_BYTES = 64LL << 10;

static const char *or_empty(const char *text) { return text ? text : ""; }

/* Some rows of an array, which are all of a dataset of the file. */
static sx_status write_rows(sxi_h5_writer *writer, const sx_darray_dataset *dataset, int64_t first,
                            int64_t rows) {
    sx_darray *array = dataset->array;
    const int64_t room = sxi_memory_left(array->cluster) / 4;
    const int64_t most = room > LEAST_BYTES ? room : LEAST_BYTES;
    const int64_t usual = most < WRITE_BYTES ? most : WRITE_BYTES;
    int64_t shape[SX_MAX_RANK] = {0};
    sxi_bands bands;
    sxi_region region = {{first}, {0}};
    sx_status status = SX_OK;
    memcpy(shape, array->shape, sizeof shape);
    shape[0] = rows;
    SXI_TRY(sxi_h5_dataset_create(writer, dataset->name, array->dtype, array->rank, shape,
                                  or_empty(dataset->unit), or_empty(dataset->sentence)));
    sxi_bands_plan(array->rank, region.start, shape, array->chunk,
                   (int64_t)sx_dtype_size(array->dtype), usual, usual, &bands);
    while (status == SX_OK && sxi_bands_next(&bands, region.start, region.count)) {
        sx_array part;
        if (sxi_ranks_stopped(array->cluster)) {
            return sxi_ranks_status(array->cluster);
        }
        SXI_TRY(sx_array_create(array->dtype, array->rank, region.count, &part));
        status = sxi_region_read(array, &region, &part);
        if (status == SX_OK) {
            region.start[0] -= first;
            status = sxi_h5_write_box(writer, dataset->name, region.start, &part);
        }
        sx_array_destroy(&part);
    }
    return status;
}

/* --- one file, or the one that all parts are seen through --- */

typedef struct output {
    int n;
    const sx_darray_dataset *datasets;
    const char *path;
    bool overwrite;
    sx_cluster *cluster;
    sxi_h5_writer *writer; /* of what this rank writes */
    sxi_h5_writer *whole;  /* rank 0 */
} output;

static void collect_origins(const output *o, sxi_origins *origins) {
    for (int i = 0; i < o->n; i++) {
        sxi_origins_add(origins, o->datasets[i].array);
    }
}

static sx_status begin_file(const output *o, const char *path, sxi_h5_writer **writer) {
    sxi_origins origins = {0};
    collect_origins(o, &origins);
    SXI_TRY(sxi_output_check(path, o->overwrite, origins.n, origins.path));
    return sxi_h5_create(path, o->overwrite, writer);
}

static sx_status write_provenance(const output *o, sxi_h5_writer *writer) {
    const sx_context *context = sxi_ranks_context(o->cluster);
    sxi_origins origins = {0};
    collect_origins(o, &origins);
    SXI_TRY(sxi_h5_inputs(writer, context, origins.n, origins.path));
    return sxi_h5_provenance(writer, context, 0, NULL);
}

static int64_t rows_of(const sx_darray *array) { return array->rank > 0 ? array->shape[0] : 1; }

static sx_status write_file(void *data) {
    output *o = data;
    sx_status status = begin_file(o, o->path, &o->writer);
    for (int i = 0; i < o->n && status == SX_OK; i++) {
        status = write_rows(o->writer, &o->datasets[i], 0, rows_of(o->datasets[i].array));
    }
    if (status == SX_OK) {
        status = write_provenance(o, o->writer);
    }
    if (status == SX_OK) {
        status = sxi_h5_commit(&o->writer);
    }
    sxi_h5_abandon(&o->writer);
    return status;
}

static sx_status check(int n, const sx_darray_dataset *datasets, const char *path) {
    if (n < 1) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s: there is no dataset to write", path);
    }
    for (int i = 0; i < n; i++) {
        const sx_status status = sxi_darray_check(datasets[i].array);
        if (status != SX_OK) {
            return sxi_fail_context(status, "%s: %s cannot be written", path, datasets[i].name);
        }
    }
    return SX_OK;
}

sx_status sx_darray_to_hdf5(int n, const sx_darray_dataset *datasets, const char *path,
                            bool overwrite) {
    SXI_TRY(check(n, datasets, path));
    output o = {.n = n,
                .datasets = datasets,
                .path = path,
                .overwrite = overwrite,
                .cluster = datasets[0].array->cluster};
    return sxi_ranks_once(o.cluster, write_file, &o);
}

/* --- a file of each rank --- */

static void part_name(const char *path, int rank, char *name) {
    snprintf(name, PATH_MAX, "%s.%d", path, rank);
}

/* What is stored lies on rank 0, which has the room for it; so does what has no rows to be shared. */
static bool is_whole(const sx_darray *array) {
    return array->kind == SXI_NODE_MEMORY || array->rank == 0 || array->shape[0] < 2;
}

/* Rows of a rank, whole chunks as far as the array is one of a file. */
static sxi_h5_part part_of(const sx_darray *array, int size, int rank) {
    const int64_t rows = array->shape[0], chunk = array->chunk[0] > 0 ? array->chunk[0] : 1;
    const int64_t chunks = (rows + chunk - 1) / chunk;
    const int64_t first = chunks * rank / size * chunk, end = chunks * (rank + 1) / size * chunk;
    return (sxi_h5_part){.first = first < rows ? first : rows,
                         .rows = (end < rows ? end : rows) - (first < rows ? first : rows)};
}

static sx_status write_part(output *o) {
    const int rank = sx_cluster_rank(o->cluster), size = sx_cluster_size(o->cluster);
    char path[PATH_MAX];
    part_name(o->path, rank, path);
    SXI_TRY(begin_file(o, path, &o->writer));
    for (int i = 0; i < o->n; i++) {
        const sx_darray *array = o->datasets[i].array;
        if (!is_whole(array)) {
            const sxi_h5_part part = part_of(array, size, rank);
            SXI_TRY(write_rows(o->writer, &o->datasets[i], part.first, part.rows));
        }
    }
    return sxi_h5_provenance(o->writer, sxi_ranks_context(o->cluster), 0, NULL);
}

static sx_status write_virtual(sxi_h5_writer *writer, const output *o,
                               const sx_darray_dataset *dataset) {
    const sx_darray *array = dataset->array;
    const int size = sx_cluster_size(o->cluster);
    const char *slash = strrchr(o->path, '/');
    sxi_h5_part *part = calloc((size_t)size, sizeof *part);
    char(*name)[PATH_MAX] = calloc((size_t)size, sizeof *name);
    sx_status status =
        part && name ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its parts", o->path);
    for (int r = 0; r < size && status == SX_OK; r++) {
        part[r] = part_of(array, size, r);
        part_name(slash ? slash + 1 : o->path, r, name[r]);
        part[r].file = name[r];
    }
    if (status == SX_OK) {
        status = sxi_h5_virtual_create(writer, dataset->name, array->dtype, array->rank,
                                       array->shape, size, part);
    }
    if (status == SX_OK && dataset->unit && dataset->unit[0]) {
        status = sxi_h5_set_text(writer, dataset->name, "units", dataset->unit);
    }
    if (status == SX_OK && dataset->sentence && dataset->sentence[0]) {
        status = sxi_h5_set_text(writer, dataset->name, "long_name", dataset->sentence);
    }
    free(part);
    free(name);
    return status;
}

static sx_status write_whole(output *o) {
    SXI_TRY(begin_file(o, o->path, &o->whole));
    for (int i = 0; i < o->n; i++) {
        const sx_darray_dataset *d = &o->datasets[i];
        SXI_TRY(is_whole(d->array) ? write_rows(o->whole, d, 0, rows_of(d->array))
                                   : write_virtual(o->whole, o, d));
    }
    return write_provenance(o, o->whole);
}

/* Parts from number `rank` on, of an output that more ranks wrote before. */
static void remove_old_parts(const output *o, int rank) {
    char path[PATH_MAX];
    do {
        part_name(o->path, rank++, path);
    } while (unlink(path) == 0);
}

/* Nothing has a name before all is written, and the whole gets its name when all parts have theirs. */
static sx_status write_parts(output *o) {
    const bool first = sx_cluster_rank(o->cluster) == 0;
    sx_status status = write_part(o);
    if (status == SX_OK && first) {
        status = write_whole(o);
    }
    SXI_TRY(sxi_ranks_agree(o->cluster, status));
    SXI_TRY(sxi_ranks_agree(o->cluster, sxi_h5_commit(&o->writer)));
    if (first) {
        remove_old_parts(o, sx_cluster_size(o->cluster));
        status = sxi_h5_commit(&o->whole);
    }
    return sxi_ranks_agree(o->cluster, status);
}

sx_status sx_darray_to_hdf5_parts(int n, const sx_darray_dataset *datasets, const char *path,
                                  bool overwrite) {
    SXI_TRY(check(n, datasets, path));
    output o = {.n = n,
                .datasets = datasets,
                .path = path,
                .overwrite = overwrite,
                .cluster = datasets[0].array->cluster};
    if (sx_cluster_size(o.cluster) == 1) {
        SXI_TRY(write_file(&o));
        remove_old_parts(&o, 0);
        return SX_OK;
    }
    for (int i = 0; i < n; i++) { /* what others are computed from */
        if (!is_whole(datasets[i].array)) {
            SXI_TRY(sxi_darray_complete(datasets[i].array));
        }
    }
    const sx_status status = write_parts(&o);
    sxi_h5_abandon(&o.writer);
    sxi_h5_abandon(&o.whole);
    return status;
}
