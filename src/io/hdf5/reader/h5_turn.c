/* SPDX-License-Identifier: Apache-2.0
 * Frames to traces: a target in which another axis than that of the file is contiguous.
 *
 * A frame that was decompressed by itself has one element for each trace; writing those one by one
 * touches every cache line of the target once a frame. Instead the target is filled in two turns. A
 * fold is the part of the target that holds P pixels and all their T samples, [P][T], without gaps.
 * In the first turn it is filled as [T][P], by runs of P values of a frame; when all frames are
 * there, each fold is turned by way of a copy that fits the cache. No memory is needed beyond that
 * copy. */
#include "io/hdf5/reader/h5_slab.h"

#include <string.h>

enum {
    FOLD_BYTES = 1 << 19, /* fits the second-level cache twice */
    LINE_BYTES = 64
};

void sxi_h5_fold(sxi_h5_walk *walk) {
    const sxi_h5_storage *storage = walk->storage;
    const sxi_h5_target *to = &walk->job.target;
    const int g = sxi_h5_target_axis(&walk->job, storage->rank);
    const int l = sxi_h5_last_axis(&walk->job, storage->rank);
    const int64_t samples = walk->job.count[g];
    /* Blocks that hold whole lines of the target are placed well as they are. */
    const bool thin =
        storage->block[g] * to->type.bytes < LINE_BYTES && storage->block[g] < samples;
    const bool dense = to->stride[g] == to->type.bytes && to->stride[l] == samples * to->type.bytes;
    if (storage->codec.steps == 0 || g == l || !thin || !dense) {
        return;
    }
    const int64_t most = FOLD_BYTES / (samples * to->type.bytes);
    if (most * to->type.bytes < LINE_BYTES) {
        return;
    }
    walk->fold_axis = g;
    walk->fold = walk->job.count[l] < most ? walk->job.count[l] : most;
}

/* Folds along the last axis. */
static int64_t folds_along(const sxi_h5_walk *walk, int l) {
    return (walk->job.count[l] + walk->fold - 1) / walk->fold;
}

int64_t sxi_h5_folds(const sxi_h5_walk *walk) {
    const int l = sxi_h5_last_axis(&walk->job, walk->storage->rank);
    int64_t folds = folds_along(walk, l);
    for (int d = 0; d < walk->storage->rank; d++) {
        folds *= d == l || d == walk->fold_axis ? 1 : walk->job.count[d];
    }
    return folds;
}

/* Pixels of the fold that begins at element at (counted from the start of the job) of the last
 * axis. */
static int64_t pixels(const sxi_h5_walk *walk, int l, int64_t at) {
    const int64_t left = walk->job.count[l] - at;
    return left < walk->fold ? left : walk->fold;
}

void sxi_h5_turn_place(const sxi_h5_walk *walk, const int64_t *start, const int64_t *count,
                       const unsigned char *source, const int64_t *source_stride) {
    const sxi_h5_job *job = &walk->job;
    const int rank = walk->storage->rank;
    const int g = walk->fold_axis;
    const int l = sxi_h5_last_axis(job, rank);
    const int64_t bytes = job->target.type.bytes;
    sxi_place_box box = {.rank = rank};
    int64_t offset = 0;
    for (int d = 0; d < rank; d++) {
        box.count[d] = count[d];
        box.source_stride[d] = source_stride[d];
        box.target_stride[d] = job->target.stride[d];
        offset += d == g || d == l ? 0 : (start[d] - job->start[d]) * job->target.stride[d];
    }
    box.target_stride[l] = bytes;
    const int64_t first = start[l] - job->start[l];
    for (int64_t at = first; at < first + count[l]; at += box.count[l]) {
        const int64_t inside = at % walk->fold;
        const int64_t wide = pixels(walk, l, at - inside);
        const int64_t left = first + count[l] - at;
        box.count[l] = wide - inside < left ? wide - inside : left;
        box.target_stride[g] = wide * bytes;
        unsigned char *to = job->target.data + offset + (at - inside) * job->target.stride[l] +
                            (start[g] - job->start[g]) * box.target_stride[g] + inside * bytes;
        sxi_place(&box, source + (at - first) * source_stride[l], &walk->storage->type, to,
                  &job->target.type);
    }
}

void sxi_h5_fold_box(const sxi_h5_walk *walk, int64_t i, int64_t *start, int64_t *count) {
    const sxi_h5_job *job = &walk->job;
    const int rank = walk->storage->rank;
    const int l = sxi_h5_last_axis(job, rank);
    for (int d = rank - 1; d >= 0; d--) {
        start[d] = job->start[d];
        count[d] = 1;
        if (d == walk->fold_axis) {
            count[d] = job->count[d];
        } else if (d == l) {
            const int64_t at = i % folds_along(walk, l) * walk->fold;
            start[d] += at;
            count[d] = pixels(walk, l, at);
            i /= folds_along(walk, l);
        } else {
            start[d] += i % job->count[d];
            i /= job->count[d];
        }
    }
}

sx_status sxi_h5_turn_run(const sxi_h5_slab *slab, sxi_h5_worker *worker) {
    const sxi_h5_job *job = &slab->walk->job;
    const sxi_place_type *type = &job->target.type;
    const int rank = slab->walk->storage->rank;
    unsigned char *data = job->target.data;
    for (int d = 0; d < rank; d++) {
        data += (slab->start[d] - job->start[d]) * job->target.stride[d];
    }
    const int64_t samples = slab->count[slab->walk->fold_axis];
    const int64_t wide = slab->count[sxi_h5_last_axis(job, rank)];
    const size_t bytes = (size_t)(samples * wide * type->bytes);
    SXI_TRY(sxi_h5_have(&worker->scratch, &worker->scratch_bytes, bytes));
    memcpy(worker->scratch, data, bytes);
    const sxi_place_box box = {.rank = 2,
                               .count = {wide, samples},
                               .source_stride = {type->bytes, wide * type->bytes},
                               .target_stride = {samples * type->bytes, type->bytes}};
    sxi_place(&box, worker->scratch, type, data, type);
    return SX_OK;
}
