/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/band.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "engine/ranks.h"

/* --- what is asked for --- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Sources fill whole rows. */
static sxi_region whole_rows(const sx_darray *leaf, sxi_region region) {
    if (leaf->kind == SXI_NODE_SOURCE) {
        const int axis = leaf->source->source.array[leaf->member].axis;
        for (int d = 0; d < leaf->rank; d++) {
            region.start[d] = d == axis ? region.start[d] : 0;
            region.count[d] = d == axis ? region.count[d] : leaf->shape[d];
        }
    }
    return region;
}

static void enclose(sxi_region *box, const sxi_region *region, int rank) {
    for (int d = 0; d < rank; d++) {
        const int64_t end =
            most(box->start[d] + box->count[d], region->start[d] + region->count[d]);
        box->start[d] = least(box->start[d], region->start[d]);
        box->count[d] = end - box->start[d];
    }
}

/* Arrays of a source are read together, so they get the same rows. */
static void share_rows(sxi_needs *needs, int i) {
    const sx_darray *leaf = needs->leaf[i];
    const int axis = leaf->source->source.array[leaf->member].axis;
    for (int k = 0; k < needs->leaves; k++) {
        const sx_darray *other = needs->leaf[k];
        if (other->source != leaf->source || k == i) {
            continue;
        }
        const int its = other->source->source.array[other->member].axis;
        int64_t *start = &needs->region[k].start[its], *count = &needs->region[k].count[its];
        const int64_t first = least(*start, needs->region[i].start[axis]);
        *count =
            most(*start + *count, needs->region[i].start[axis] + needs->region[i].count[axis]) -
            first;
        *start = first;
        needs->region[i].start[axis] = *start;
        needs->region[i].count[axis] = *count;
    }
}

static sx_status add_leaf(sxi_needs *needs, sx_darray *leaf, const sxi_region *region) {
    const sxi_region wanted = whole_rows(leaf, *region);
    int i = 0;
    while (i < needs->leaves && needs->leaf[i] != leaf) {
        i++;
    }
    if (i == SXI_BAND_LEAVES) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "more than %d files and sources are used at once",
                        SXI_BAND_LEAVES);
    }
    if (i == needs->leaves) {
        needs->leaf[needs->leaves++] = leaf;
        needs->region[i] = wanted;
    } else {
        enclose(&needs->region[i], &wanted, leaf->rank);
    }
    if (leaf->kind == SXI_NODE_SOURCE) {
        share_rows(needs, i);
    }
    return SX_OK;
}

sx_status sxi_needs_add(sxi_needs *needs, sx_darray *array, const sxi_region *region) {
    if (array->kind == SXI_NODE_MEMORY || sxi_region_count(region, array->rank) == 0) {
        return SX_OK;
    }
    if (array->kind == SXI_NODE_FILE || array->kind == SXI_NODE_SOURCE) {
        return add_leaf(needs, array, region);
    }
    for (int k = 0; k < 2 && array->input[k]; k++) {
        const sxi_region mapped = sxi_input_region(array, k, region);
        SXI_TRY(sxi_needs_add(needs, array->input[k], &mapped));
    }
    return SX_OK;
}

int64_t sxi_needs_bytes(const sxi_needs *needs) {
    int64_t bytes = 0;
    for (int i = 0; i < needs->leaves; i++) {
        bytes += sxi_region_count(&needs->region[i], needs->leaf[i]->rank) *
                 (int64_t)sx_dtype_size(needs->leaf[i]->dtype);
    }
    return bytes;
}

/* --- the band --- */

typedef struct memory {
    char *bytes;
    size_t room;
} memory;

/* One source that is being read. */
typedef struct reading {
    const sx_darray_source *source;
    int64_t first, count;
    sx_array arrays[SX_SOURCE_ARRAYS];
    void *request; /* of a source that reads in the background */
    /* Of one that does not: a thread of its own. */
    bool has_thread;
    pthread_t thread;
    sx_status status;
    char sentence[1024];
} reading;

struct sxi_band {
    sx_cluster *cluster;
    sx_context context; /* of the threads that read files */
    int n;
    sxi_held held[SXI_BAND_LEAVES];
    memory memory[SXI_BAND_LEAVES];
    sx_hdf5_request *files;
    int sources;
    reading reading[SXI_BAND_LEAVES];
};

sx_status sxi_band_create(sx_cluster *cluster, sxi_band **band) {
    *band = calloc(1, sizeof **band);
    if (!*band) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to read");
    }
    (*band)->cluster = cluster;
    return SX_OK;
}

static sx_status make_room(memory *m, size_t bytes) {
    if (m->room >= bytes) {
        return SX_OK;
    }
    free(m->bytes);
    m->room = 0;
    m->bytes = sxi_pages_take(bytes);
    if (!m->bytes) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to read %zu bytes at a time", bytes);
    }
    m->room = bytes;
    return SX_OK;
}

static sx_status prepare(sxi_band *band, const sxi_needs *needs) {
    band->n = 0;
    for (int i = 0; i < needs->leaves; i++) {
        sx_darray *leaf = needs->leaf[i];
        const sxi_region *region = &needs->region[i];
        const int64_t count = sxi_region_count(region, leaf->rank);
        SXI_TRY(make_room(&band->memory[i], (size_t)count * sx_dtype_size(leaf->dtype)));
        sxi_held *held = &band->held[i];
        held->leaf = leaf;
        held->region = *region;
        SXI_TRY(sx_array_view(leaf->dtype, leaf->rank, region->count, band->memory[i].bytes,
                              &held->array));
        band->n++;
    }
    return SX_OK;
}

/* --- files --- */

static sx_status start_files(sxi_band *band, int threads) {
    sx_hdf5_box boxes[SXI_BAND_LEAVES];
    int n = 0;
    for (int i = 0; i < band->n; i++) {
        sxi_held *held = &band->held[i];
        if (held->leaf->kind == SXI_NODE_FILE) {
            boxes[n++] = (sx_hdf5_box){held->leaf->file->file, held->leaf->name, held->region.start,
                                       held->region.count, &held->array};
        }
    }
    if (n == 0) {
        return SX_OK;
    }
    const sx_context *given = sxi_ranks_context(band->cluster);
    band->context = (sx_context){.cancel = given->cancel, .data = given->data};
    band->context.threads = threads > 0 ? threads : -1;
    const sx_hdf5_options options = {.context = &band->context};
    return sx_hdf5_start(n, boxes, &options, &band->files);
}

/* --- sources --- */

static void *run_thread(void *data) {
    reading *r = data;
    r->status = r->source->read(r->source->data, r->first, r->count, r->arrays);
    if (r->status != SX_OK) {
        snprintf(r->sentence, sizeof r->sentence, "%s", sx_error_message());
    }
    return NULL;
}

static sx_status start_source(reading *r, int threads) {
    if (r->source->start) {
        return r->source->start(r->source->data, threads, r->first, r->count, r->arrays,
                                &r->request);
    }
    r->has_thread = pthread_create(&r->thread, NULL, run_thread, r) == 0;
    if (!r->has_thread) { /* the system has no more: at once, then */
        run_thread(r);
    }
    return SX_OK;
}

static reading *reading_of(sxi_band *band, const sx_darray_source *source) {
    for (int i = 0; i < band->sources; i++) {
        if (band->reading[i].source == source) {
            return &band->reading[i];
        }
    }
    band->reading[band->sources] = (reading){.source = source};
    return &band->reading[band->sources++];
}

static sx_status start_sources(sxi_band *band, int threads) {
    for (int i = 0; i < band->n; i++) {
        const sxi_held *held = &band->held[i];
        if (held->leaf->kind == SXI_NODE_SOURCE) {
            const sx_darray_source *source = &held->leaf->source->source;
            const int axis = source->array[held->leaf->member].axis;
            reading *r = reading_of(band, source);
            r->first = held->region.start[axis];
            r->count = held->region.count[axis];
            r->arrays[held->leaf->member] = held->array;
        }
    }
    const int sources = band->sources;
    for (band->sources = 0; band->sources < sources; band->sources++) {
        SXI_TRY(start_source(&band->reading[band->sources], threads));
    }
    return SX_OK;
}

static sx_status wait_source(reading *r) {
    if (r->source->start) {
        return r->source->wait(&r->request);
    }
    if (r->has_thread) {
        pthread_join(r->thread, NULL);
        r->has_thread = false;
    }
    return r->status == SX_OK ? SX_OK : SXI_FAIL(r->status, "%s", r->sentence);
}

/* --- all --- */

sx_status sxi_band_start(sxi_band *band, const sxi_needs *needs, int threads) {
    SXI_TRY(prepare(band, needs));
    SXI_TRY(start_files(band, threads));
    return start_sources(band, threads);
}

void sxi_band_work(sxi_band *band) {
    if (band->files) {
        sx_hdf5_work(band->files);
    }
    for (int i = 0; i < band->sources; i++) {
        const reading *r = &band->reading[i];
        if (r->request && r->source->work) {
            r->source->work(r->request);
        }
    }
}

sx_status sxi_band_wait(sxi_band *band, int *n, const sxi_held **held) {
    if (band->files) {
        SXI_TRY(sx_hdf5_wait(&band->files, NULL));
    }
    while (band->sources > 0) {
        SXI_TRY(wait_source(&band->reading[--band->sources]));
    }
    *n = band->n;
    *held = band->held;
    return SX_OK;
}

void sxi_band_destroy(sxi_band **band) {
    sxi_band *gone = *band;
    if (!gone) {
        return;
    }
    if (gone->files) {
        sx_hdf5_cancel(gone->files);
        sx_hdf5_wait(&gone->files, NULL);
    }
    for (; gone->sources > 0; gone->sources--) {
        reading *r = &gone->reading[gone->sources - 1];
        if (r->request) {
            r->source->cancel(&r->request);
        } else if (r->has_thread) {
            pthread_join(r->thread, NULL);
        }
    }
    for (int i = 0; i < SXI_BAND_LEAVES; i++) {
        free(gone->memory[i].bytes);
    }
    free(gone);
    *band = NULL;
}
