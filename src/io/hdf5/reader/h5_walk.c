/* SPDX-License-Identifier: Apache-2.0
 * Cuts a box of one dataset into slabs. */
#include "io/hdf5/reader/h5_slab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 64,  /* a transposed target is written by whole cache lines */
    GAP_BYTES = 4096, /* reading over such a gap costs less than a second call */
    LIBRARY_BYTES = 64 << 20
};

int sxi_h5_span(const sxi_h5_storage *storage, const int64_t *count, int axes, int64_t *bytes) {
    int64_t pitch = storage->type.bytes; /* of axis d in the block */
    int64_t span = pitch;
    for (int d = storage->rank - 1;; d--) {
        const int64_t wider = count[d] > 1 ? (count[d] - 1) * pitch + span : span;
        const bool near = count[d] == 1 || pitch - span <= GAP_BYTES;
        if (d < axes || !near || wider > SXI_H5_SLAB_BYTES) {
            *bytes = span;
            return d + 1;
        }
        span = wider;
        if (d == 0) {
            *bytes = span;
            return 0;
        }
        pitch *= storage->block[d];
    }
}

static int64_t scratch_bytes(const sxi_h5_walk *walk, const int64_t *count) {
    int64_t bytes = 0;
    const int first = sxi_h5_span(walk->storage, count, walk->joint ? walk->group + 1 : 0, &bytes);
    for (int d = 0; d < first; d++) {
        bytes *= count[d];
    }
    return bytes;
}

/* Makes axis d of a slab as long as memory allows. */
static void grow(sxi_h5_walk *walk, int d, int64_t most) {
    walk->cut[d] = most;
    while (walk->cut[d] > 1 && scratch_bytes(walk, walk->cut) > SXI_H5_SLAB_BYTES) {
        walk->cut[d] = (walk->cut[d] + 1) / 2;
    }
}

/* Elements of a cache line of the target. */
static int64_t line_of(const sxi_h5_walk *walk) {
    const int64_t bytes = walk->job.target.type.bytes;
    return bytes < LINE_BYTES ? LINE_BYTES / bytes : 1;
}

/* Extents of the slabs of a cell. */
static void cut_cell(sxi_h5_walk *walk) {
    const sxi_h5_storage *storage = walk->storage;
    for (int d = 0; d < storage->rank; d++) {
        walk->cut[d] = storage->codec.steps > 0 ? walk->count[d] : 1;
        walk->at[d] = 0;
    }
    if (storage->codec.steps > 0) {
        return; /* blocks are decoded whole */
    }
    if (!walk->joint && walk->blocks > 1) {
        memcpy(walk->cut, walk->count, sizeof walk->cut); /* small blocks, one after the other */
        return;
    }
    if (walk->joint) {
        const int64_t samples = walk->count[walk->group];
        grow(walk, walk->group, samples < line_of(walk) ? samples : line_of(walk));
    }
    for (int d = storage->rank - 1; d >= 0; d--) {
        if (!walk->joint || d != walk->group) {
            grow(walk, d, walk->count[d]);
        }
    }
    if (walk->joint) { /* more samples than a line only where the whole cell is read at once */
        const int64_t line = walk->cut[walk->group];
        walk->cut[walk->group] = walk->count[walk->group];
        if (scratch_bytes(walk, walk->cut) > SXI_H5_SLAB_BYTES) {
            walk->cut[walk->group] = line;
        }
    }
}

int sxi_h5_target_axis(const sxi_h5_job *job, int rank) {
    int found = rank - 1;
    int64_t least = INT64_MAX;
    for (int d = rank - 1; d >= 0; d--) {
        const int64_t stride = llabs(job->target.stride[d]);
        if (job->count[d] > 1 && stride < least) {
            least = stride;
            found = d;
        }
    }
    return found;
}

int sxi_h5_last_axis(const sxi_h5_job *job, int rank) {
    for (int d = rank - 1; d >= 0; d--) {
        if (job->count[d] > 1) {
            return d;
        }
    }
    return rank - 1;
}

/* Blocks of a joint cell: those of one cache line of the target. */
static int64_t joint_blocks(const sxi_h5_walk *walk) {
    const int64_t block = walk->storage->block[walk->group];
    return (line_of(walk) + block - 1) / block;
}

/* Blocks that the box meets along an axis. */
static int64_t first_block(const sxi_h5_walk *walk, int d) {
    return walk->job.start[d] / walk->storage->block[d];
}

static int64_t end_block(const sxi_h5_walk *walk, int d) {
    return (walk->job.start[d] + walk->job.count[d] - 1) / walk->storage->block[d] + 1;
}

/* The last axis along which the box meets more than one block. */
static int block_axis(const sxi_h5_walk *walk) {
    int d = walk->storage->rank - 1;
    while (d > 0 && end_block(walk, d) - first_block(walk, d) < 2) {
        d--;
    }
    return d;
}

static void choose_group(sxi_h5_walk *walk) {
    const sxi_h5_storage *storage = walk->storage;
    const int rank = storage->rank;
    const int fast = sxi_h5_target_axis(&walk->job, rank);
    walk->joint = storage->codec.steps == 0 && fast != sxi_h5_last_axis(&walk->job, rank);
    walk->group = walk->joint ? fast : block_axis(walk);
    const int64_t small = storage->block_bytes > 0 ? SXI_H5_SLAB_BYTES / storage->block_bytes : 1;
    const int64_t blocks = walk->joint ? joint_blocks(walk) : small;
    walk->group_size = blocks < 1 ? 1 : blocks > SXI_H5_SLAB_BLOCKS ? SXI_H5_SLAB_BLOCKS : blocks;
}

sx_status sxi_h5_walk_begin(sxi_h5_walk *walk, const sxi_h5_job *job, bool direct,
                            sx_hdf5_missing missing) {
    *walk = (sxi_h5_walk){.job = *job, .storage = &job->entry->storage, .missing = missing};
    if (!direct) {
        return SX_OK;
    }
    if (job->entry->about.layout == SX_HDF5_EXTERNAL) {
        SXI_TRY(sxi_h5_external_get(job->file, job->entry, &walk->external));
    }
    walk->disk = job->entry->disk;
    choose_group(walk);
    sxi_h5_fold(walk);
    assert(!job->target.device || (!walk->joint && walk->fold == 0)); /* it is in C order */
    return SX_OK;
}

void sxi_h5_walk_end(sxi_h5_walk *walk) {
    sxi_h5_external_free(&walk->external);
    sxi_h5_job_close(&walk->job);
}

/* Whether the filters are left out because the block sticks out of the dataset. */
static bool is_raw_edge(const sxi_h5_storage *storage, const int64_t *start) {
    for (int d = 0; storage->edges_raw && d < storage->rank; d++) {
        if (start[d] + storage->block[d] > storage->shape[d]) {
            return true;
        }
    }
    return false;
}

static sx_status locate(const sxi_h5_walk *walk, const int64_t *start, sxi_h5_block *block) {
    const sxi_h5_storage *storage = walk->storage;
    const sxi_h5_entry *entry = walk->job.entry;
    if (entry->about.layout != SX_HDF5_CHUNKED) {
        *block = (sxi_h5_block){storage->address, (uint64_t)storage->block_bytes, 0};
    } else {
        sx_status status = sxi_h5_locate(entry->id, walk->disk, storage, start, block);
        if (status != SX_OK) {
            return sxi_fail_context(status, "%s:%s", walk->job.file->path, entry->name);
        }
        block->skip = is_raw_edge(storage, start) ? UINT32_MAX : block->skip;
    }
    if (block->address == HADDR_UNDEF && walk->missing == SX_HDF5_MISSING_ERROR &&
        !storage->fill_is_nan) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s:%s: nothing was ever written at element %lld of its first axis; it "
                        "would read as the fill value (--missing fill allows that)",
                        walk->job.file->path, entry->name, (long long)start[0]);
    }
    return SX_OK;
}

static sx_status locate_all(const sxi_h5_walk *walk, const int64_t *origin, int blocks,
                            sxi_h5_block *block) {
    int64_t start[SX_MAX_RANK];
    memcpy(start, origin, sizeof start);
    for (int i = 0; i < blocks; i++) {
        SXI_TRY(locate(walk, start, &block[i]));
        start[walk->group] += walk->storage->block[walk->group];
    }
    return SX_OK;
}

static void cell_origin(const sxi_h5_walk *walk, int64_t *origin) {
    for (int d = 0; d < walk->storage->rank; d++) {
        origin[d] = walk->cell[d] * walk->storage->block[d];
    }
}

/* Box and blocks of the current cell. */
static sx_status enter_cell(sxi_h5_walk *walk) {
    const sxi_h5_storage *storage = walk->storage;
    const sxi_h5_job *job = &walk->job;
    for (int d = 0; d < storage->rank; d++) {
        const int64_t blocks = d == walk->group ? walk->group_size : 1;
        int64_t end = walk->cell[d] + blocks;
        end = end < end_block(walk, d) ? end : end_block(walk, d);
        const int64_t low = walk->cell[d] * storage->block[d];
        const int64_t high = end * storage->block[d];
        const int64_t last = job->start[d] + job->count[d];
        walk->low[d] = low > job->start[d] ? low : job->start[d];
        walk->count[d] = (high < last ? high : last) - walk->low[d];
        if (d == walk->group) {
            walk->blocks = (int)(end - walk->cell[d]);
        }
    }
    cut_cell(walk);
    int64_t origin[SX_MAX_RANK] = {0};
    cell_origin(walk, origin);
    return locate_all(walk, origin, walk->blocks, walk->block);
}

/* Next cell in row-major order; false after the last. */
static bool next_cell(sxi_h5_walk *walk) {
    const int rank = walk->storage->rank;
    if (!walk->begun) {
        walk->begun = true;
        for (int d = 0; d < rank; d++) {
            walk->cell[d] = first_block(walk, d);
        }
        return true;
    }
    for (int d = rank - 1; d >= 0; d--) {
        walk->cell[d] += d == walk->group ? walk->group_size : 1;
        if (walk->cell[d] < end_block(walk, d)) {
            return true;
        }
        walk->cell[d] = first_block(walk, d);
    }
    return false;
}

/* Blocks and box of the slab at walk->at; steps on. */
static void take_slab(sxi_h5_walk *walk, sxi_h5_slab *slab) {
    const sxi_h5_storage *storage = walk->storage;
    const int g = walk->group;
    cell_origin(walk, slab->origin);
    for (int d = 0; d < storage->rank; d++) {
        const int64_t left = walk->count[d] - walk->at[d];
        slab->start[d] = walk->low[d] + walk->at[d];
        slab->count[d] = left < walk->cut[d] ? left : walk->cut[d];
    }
    const int64_t skipped = (slab->start[g] - slab->origin[g]) / storage->block[g];
    const int64_t end = (slab->start[g] + slab->count[g] - 1 - slab->origin[g]) / storage->block[g];
    slab->origin[g] += skipped * storage->block[g];
    slab->blocks = (int)(end - skipped) + 1;
    memcpy(slab->block, walk->block + skipped, (size_t)slab->blocks * sizeof *slab->block);
    for (int d = storage->rank - 1; d >= 0; d--) {
        walk->at[d] += walk->cut[d];
        if (walk->at[d] < walk->count[d]) {
            return;
        }
        walk->at[d] = 0;
    }
    walk->at[0] = -1;
}

/* Bands along the first axis, whole blocks at a time. */
static bool next_band(sxi_h5_walk *walk, sxi_h5_slab *slab) {
    const sxi_h5_job *job = &walk->job;
    if (!walk->begun) {
        walk->begun = true;
        walk->at[0] = 0;
    }
    if (walk->at[0] >= job->count[0]) {
        return false;
    }
    int64_t row = job->target.type.bytes;
    for (int d = 1; d < walk->storage->rank; d++) {
        row *= job->count[d];
    }
    const int64_t chunk = job->entry->about.chunk[0] > 0 ? job->entry->about.chunk[0] : 1;
    int64_t band = LIBRARY_BYTES / row / chunk * chunk;
    band = band > 0 ? band : chunk;
    const int64_t first = job->start[0] + walk->at[0];
    band -= first % chunk;
    const int64_t left = job->count[0] - walk->at[0];
    memcpy(slab->start, job->start, sizeof slab->start);
    memcpy(slab->count, job->count, sizeof slab->count);
    slab->start[0] = first;
    slab->count[0] = band < left ? band : left;
    slab->blocks = 0;
    walk->at[0] += slab->count[0];
    return true;
}

/* A fold to turn, once all values are there. */
static sxi_h5_next next_fold(sxi_h5_walk *walk, sxi_h5_slab *slab) {
    if (walk->turned == sxi_h5_folds(walk)) {
        return SXI_H5_NEXT_NONE;
    }
    if (walk->turned == 0 && walk->users > 0) {
        return SXI_H5_NEXT_LATER;
    }
    sxi_h5_fold_box(walk, walk->turned++, slab->start, slab->count);
    slab->turn = true;
    slab->blocks = 0;
    return SXI_H5_NEXT_SLAB;
}

sx_status sxi_h5_walk_next(sxi_h5_walk *walk, sxi_h5_slab *slab, sxi_h5_next *next) {
    slab->turn = false;
    *next = SXI_H5_NEXT_SLAB;
    if (!walk->disk) {
        *next = next_band(walk, slab) ? SXI_H5_NEXT_SLAB : SXI_H5_NEXT_NONE;
        return SX_OK;
    }
    if (!walk->begun || walk->at[0] < 0) {
        if (walk->cells_done || !next_cell(walk)) {
            walk->cells_done = true;
            *next = walk->fold > 0 ? next_fold(walk, slab) : SXI_H5_NEXT_NONE;
            return SX_OK;
        }
        SXI_TRY(enter_cell(walk));
    }
    take_slab(walk, slab);
    return SX_OK;
}

sx_status sxi_h5_slab_blocks(sxi_h5_slab *slab) {
    return locate_all(slab->walk, slab->origin, slab->blocks, slab->block);
}
