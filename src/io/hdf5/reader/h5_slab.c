/* SPDX-License-Identifier: Apache-2.0
 * Does a slab: bytes from the file, filters undone, values converted and placed. Nothing here calls
 * the HDF5 library but the slabs that are left to it. */
#include "io/hdf5/reader/h5_device.h"

#include <stdlib.h>
#include <string.h>

enum {
    DIRECT_BYTES = 8192, /* shorter runs are gathered in scratch first */
    ALIGNMENT = 64
};

sx_status sxi_h5_have(unsigned char **buffer, size_t *bytes, size_t needed) {
    if (*bytes >= needed) {
        return SX_OK;
    }
    free(*buffer);
    *bytes = 0;
    needed = (needed + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *buffer = aligned_alloc(ALIGNMENT, needed);
    if (!*buffer) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a block of %zu bytes", needed);
    }
    *bytes = needed;
    return SX_OK;
}

void sxi_h5_worker_free(sxi_h5_worker *worker) {
    free(worker->scratch);
    free(worker->window);
    free(worker->buffer[0]);
    free(worker->buffer[1]);
    sxi_codec_state_destroy(&worker->state);
    *worker = (sxi_h5_worker){0};
}

/* A box of the dataset within a slab, and its place in the target. */
typedef struct part {
    int64_t start[SX_MAX_RANK];
    int64_t count[SX_MAX_RANK];
    unsigned char *target;
} part;

static part part_of(const sxi_h5_walk *walk, const int64_t *start, const int64_t *count) {
    part p = {.target = walk->job.target.data};
    for (int d = 0; d < walk->storage->rank; d++) {
        p.start[d] = start[d];
        p.count[d] = count[d];
        p.target += (start[d] - walk->job.start[d]) * walk->job.target.stride[d];
    }
    return p;
}

static sx_status place(const sxi_h5_walk *walk, sxi_h5_worker *worker, const part *p,
                       const unsigned char *source, const int64_t *source_stride) {
    sx_status status = SX_OK;
    const double begun = sxi_now();
    sxi_place_box box = {.rank = walk->storage->rank};
    int64_t bytes = walk->job.target.type.bytes;
    for (int d = 0; d < box.rank; d++) {
        box.count[d] = p->count[d];
        box.source_stride[d] = source_stride[d];
        box.target_stride[d] = walk->job.target.stride[d];
        bytes *= p->count[d];
    }
    if (walk->fold > 0) {
        sxi_h5_turn_place(walk, p->start, p->count, source, source_stride);
    } else {
        status = sxi_h5_place(&walk->job, &box, source, &walk->storage->type, p->target);
    }
    worker->did.bytes_placed += bytes;
    worker->did.place_s += sxi_now() - begun;
    return status;
}

static sx_status place_fill(const sxi_h5_walk *walk, sxi_h5_worker *worker, const part *p) {
    const int64_t nowhere[SX_MAX_RANK] = {0};
    return place(walk, worker, p, walk->storage->fill, nowhere);
}

/* Strides of a block. */
static void block_strides(const sxi_h5_storage *storage, int64_t *stride) {
    int64_t bytes = storage->type.bytes;
    for (int d = storage->rank - 1; d >= 0; d--) {
        stride[d] = bytes;
        bytes *= storage->block[d];
    }
}

bool sxi_h5_converts(const sxi_place_type *from, const sxi_place_type *to) {
    return from->kind != to->kind || from->swapped ||
           (from->kind == SXI_PLACE_NUMBER && from->dtype != to->dtype);
}

static bool converts(const sxi_h5_walk *walk) {
    return sxi_h5_converts(&walk->storage->type, &walk->job.target.type);
}

/* First axis of the runs that are contiguous both in a block and in the target. */
static int common_run(const sxi_h5_walk *walk, const part *p, int64_t *bytes) {
    const sxi_h5_storage *storage = walk->storage;
    const int64_t *to = walk->job.target.stride;
    int64_t run = storage->type.bytes;
    bool whole = true; /* all of the block's axes from here on are in the part */
    int d = storage->rank - 1;
    for (; d >= 0 && whole && (p->count[d] == 1 || to[d] == run); d--) {
        run *= p->count[d];
        whole = p->count[d] == storage->block[d];
    }
    *bytes = run;
    return d + 1;
}

bool sxi_h5_step(int64_t *index, const int64_t *count, int axes) {
    for (int d = axes - 1; d >= 0; d--) {
        if (++index[d] < count[d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

/* Where one run of a part goes: to base + sum index * stride over the first axes. */
typedef struct runs {
    int first; /* axes before this one are walked */
    int64_t bytes;
    unsigned char *base;
    const int64_t *stride;
    bool device; /* base is in the memory of the device */
} runs;

static const sxi_h5_block *block_at(const sxi_h5_slab *slab, int64_t along) {
    const sxi_h5_walk *walk = slab->walk;
    return &slab->block[(along - slab->origin[walk->group]) / walk->storage->block[walk->group]];
}

static void fill_run(const sxi_h5_storage *storage, unsigned char *to, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += storage->type.bytes) {
        memcpy(to + i, storage->fill, (size_t)storage->type.bytes);
    }
}

/* Reads the runs of a part one by one. The part may lie in several blocks along the group's axis, if
 * that is walked. */
static sx_status fetch_runs(const sxi_h5_slab *slab, sxi_h5_worker *worker, const part *p,
                            const runs *to) {
    const sxi_h5_walk *walk = slab->walk;
    const int g = walk->group;
    int64_t stride[SX_MAX_RANK];
    int64_t index[SX_MAX_RANK] = {0};
    block_strides(walk->storage, stride);
    do {
        const sxi_h5_block *block = block_at(slab, p->start[g] + (g < to->first ? index[g] : 0));
        sxi_h5_run run = {block->address, (uint64_t)to->bytes, to->base, to->device};
        for (int d = 0; d < walk->storage->rank; d++) {
            const int64_t i = d < to->first ? index[d] : 0;
            const int64_t inside = p->start[d] + i - slab->origin[d];
            run.address += (uint64_t)(inside % walk->storage->block[d] * stride[d]);
            run.to += d < to->first ? i * to->stride[d] : 0;
        }
        if (block->address == HADDR_UNDEF) {
            fill_run(walk->storage, run.to, to->bytes);
        } else {
            SXI_TRY(sxi_h5_fetch(walk, worker, &run));
        }
    } while (sxi_h5_step(index, p->count, to->first));
    return SX_OK;
}

/* Bytes without filters: straight into the target, or by way of scratch. */
static sx_status run_raw(const sxi_h5_slab *slab, sxi_h5_worker *worker, const part *p) {
    const sxi_h5_walk *walk = slab->walk;
    const bool joint = walk->joint && slab->blocks > 1;
    runs to = {.base = p->target, .stride = walk->job.target.stride};
    to.first = common_run(walk, p, &to.bytes);
    if (!converts(walk) && to.bytes >= DIRECT_BYTES && (!joint || to.first > walk->group)) {
        int64_t bytes = to.bytes;
        for (int d = 0; d < to.first; d++) {
            bytes *= p->count[d];
        }
        worker->did.bytes_placed += bytes;
        to.device = walk->job.target.device != NULL;
        return fetch_runs(slab, worker, p, &to);
    }
    int64_t stride[SX_MAX_RANK];
    block_strides(walk->storage, stride);
    to.first = sxi_h5_span(walk->storage, p->count, joint ? walk->group + 1 : 0, &to.bytes);
    int64_t all = to.bytes;
    for (int d = to.first - 1; d >= 0; d--) {
        stride[d] = all;
        all *= p->count[d];
    }
    SXI_TRY(sxi_h5_have(&worker->scratch, &worker->scratch_bytes, (size_t)all));
    to.base = worker->scratch;
    to.stride = stride;
    SXI_TRY(fetch_runs(slab, worker, p, &to));
    return place(walk, worker, p, worker->scratch, stride);
}

/* Stored bytes of a block to its values, in target if that is given. */
static sx_status decode(const sxi_h5_slab *slab, sxi_h5_worker *worker, const sxi_h5_block *block,
                        unsigned char *target, const unsigned char **values) {
    const sxi_h5_walk *walk = slab->walk;
    const sxi_codec *codec = &walk->storage->codec;
    const size_t scratch = sxi_codec_scratch(codec);
    const size_t first = block->bytes > scratch ? block->bytes : scratch;
    if (block->bytes > 2 * (uint64_t)scratch) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s:%s: a chunk of %zu bytes is stored in %llu bytes",
                        walk->job.file->path, walk->job.entry->name, codec->chunk,
                        (unsigned long long)block->bytes);
    }
    SXI_TRY(sxi_h5_have(&worker->buffer[0], &worker->buffer_bytes[0], first));
    SXI_TRY(sxi_h5_have(&worker->buffer[1], &worker->buffer_bytes[1], scratch));
    if (!worker->state) {
        SXI_TRY(sxi_codec_state_create(&worker->state));
    }
    const sxi_h5_run stored = {block->address, block->bytes, worker->buffer[0], false};
    SXI_TRY(sxi_h5_fetch(walk, worker, &stored));
    const double begun = sxi_now();
    const sx_status status = sxi_codec_decode(codec, block->skip, (size_t)block->bytes,
                                              worker->buffer, target, worker->state, values);
    worker->did.decode_s += sxi_now() - begun;
    return status == SX_OK ? SX_OK
                           : sxi_fail_context(status, "%s:%s, chunk at %lld of its first axis",
                                              walk->job.file->path, walk->job.entry->name,
                                              (long long)slab->origin[0]);
}

/* The part of a slab that lies in block number i. */
static part block_part(const sxi_h5_slab *slab, int i) {
    const sxi_h5_walk *walk = slab->walk;
    const int g = walk->group;
    int64_t start[SX_MAX_RANK];
    int64_t count[SX_MAX_RANK];
    memcpy(start, slab->start, sizeof start);
    memcpy(count, slab->count, sizeof count);
    const int64_t low = slab->origin[g] + i * walk->storage->block[g];
    const int64_t high = low + walk->storage->block[g];
    const int64_t end = slab->start[g] + slab->count[g];
    start[g] = low > slab->start[g] ? low : slab->start[g];
    count[g] = (high < end ? high : end) - start[g];
    return part_of(walk, start, count);
}

/* Values of a decoded block to the target. */
static sx_status place_block(const sxi_h5_slab *slab, sxi_h5_worker *worker, const part *p, int i,
                             const unsigned char *values) {
    const sxi_h5_walk *walk = slab->walk;
    int64_t stride[SX_MAX_RANK];
    block_strides(walk->storage, stride);
    for (int d = 0; d < walk->storage->rank; d++) {
        const int64_t origin =
            slab->origin[d] + (d == walk->group ? i * walk->storage->block[d] : 0);
        values += (p->start[d] - origin) * stride[d];
    }
    return place(walk, worker, p, values, stride);
}

static sx_status run_block(const sxi_h5_slab *slab, sxi_h5_worker *worker, int i) {
    const sxi_h5_walk *walk = slab->walk;
    const part p = block_part(slab, i);
    if (slab->block[i].address == HADDR_UNDEF) {
        return place_fill(walk, worker, &p);
    }
    int64_t run = 0;
    const bool straight = !walk->job.target.device && !converts(walk) &&
                          common_run(walk, &p, &run) == 0 && run == walk->storage->block_bytes;
    const unsigned char *values = NULL;
    SXI_TRY(decode(slab, worker, &slab->block[i], straight ? p.target : NULL, &values));
    if (straight) { /* decode puts values where it is told */
        worker->did.bytes_placed += run;
        return SX_OK;
    }
    return place_block(slab, worker, &p, i, values);
}

/* Unfiltered blocks that are not joint: one after the other. */
static sx_status run_raw_blocks(const sxi_h5_slab *slab, sxi_h5_worker *worker) {
    for (int i = 0; i < slab->blocks; i++) {
        const part p = block_part(slab, i);
        if (slab->block[i].address == HADDR_UNDEF) {
            SXI_TRY(place_fill(slab->walk, worker, &p));
        } else {
            SXI_TRY(run_raw(slab, worker, &p));
        }
    }
    return SX_OK;
}

/* Whether the blocks are such as a device would rather read by itself. */
static bool is_for_device(const sxi_h5_slab *slab) {
    const sxi_h5_walk *walk = slab->walk;
    const sx_hdf5_device *device = walk->job.target.device;
    const part first = block_part(slab, 0);
    int64_t run = 0;
    common_run(walk, &first, &run);
    return device && device->read && walk->storage->codec.steps == 0 && !converts(walk) &&
           run >= DIRECT_BYTES;
}

sx_status sxi_h5_slab_run(const sxi_h5_slab *slab, sxi_h5_worker *worker) {
    const sxi_h5_walk *walk = slab->walk;
    if (slab->turn) {
        const double begun = sxi_now();
        const sx_status status = sxi_h5_turn_run(slab, worker);
        worker->did.place_s += sxi_now() - begun;
        return status;
    }
    const bool joint = walk->joint && slab->blocks > 1;
    const part p = part_of(walk, slab->start, slab->count);
    if (!walk->disk) {
        return sxi_h5_library_read(&walk->job, slab->start, slab->count, p.target, &worker->did);
    }
    worker->window_filled = 0;
    if (!is_for_device(slab)) {
        SXI_TRY(sxi_h5_window_fill(slab, worker));
    }
    if (walk->storage->codec.steps == 0) {
        return joint ? run_raw(slab, worker, &p) : run_raw_blocks(slab, worker);
    }
    for (int i = 0; i < slab->blocks; i++) {
        SXI_TRY(run_block(slab, worker, i));
    }
    return SX_OK;
}
