/* SPDX-License-Identifier: Apache-2.0
 * Slabs: parts of a read that one thread does at a time. They are cut lazily: blocks are looked up
 * when their turn comes, so a small box costs little. */
#ifndef SXI_H5_SLAB_H
#define SXI_H5_SLAB_H

#include "base/clock.h"
#include "io/hdf5/h5_driver.h"
#include "io/hdf5/reader/h5_job.h"
#include "io/hdf5/sources/h5_external.h"

enum {
    SXI_H5_SLAB_BYTES = 1 << 20, /* scratch of a slab of bytes without filters */
    SXI_H5_SLAB_BLOCKS = 128
};

/* A job that slabs are being cut from. */
typedef struct sxi_h5_walk {
    sxi_h5_job job;
    const sxi_h5_storage *storage; /* of the entry */
    sxi_h5_disk *disk;             /* NULL: through the HDF5 library */
    sxi_h5_segments external;      /* raw files that hold the bytes instead of disk */
    sx_hdf5_missing missing;
    int users;      /* slabs that are not finished */
    bool exhausted; /* no further slab comes */
    /* Cells: groups of blocks that follow each other along one axis. */
    int group;          /* that axis */
    int64_t group_size; /* blocks of a cell, at most SXI_H5_SLAB_BLOCKS */
    bool joint;         /* blocks of a cell are placed together: the target is transposed */
    bool begun;
    int64_t cell[SX_MAX_RANK];  /* first block of the current cell, in blocks */
    int64_t low[SX_MAX_RANK];   /* box of the cell within the dataset */
    int64_t count[SX_MAX_RANK]; /* " */
    int64_t cut[SX_MAX_RANK];   /* extents of a slab within the cell */
    int64_t at[SX_MAX_RANK];    /* next slab, counted from low; at[0] < 0: cell used up */
    int blocks;
    sxi_h5_block block[SXI_H5_SLAB_BLOCKS];
    bool cells_done;
    int fold_axis;  /* the axis that is contiguous in a target filled in two turns (h5_turn.c) */
    int64_t fold;   /* elements of the last axis that are turned at a time; 0: one turn does */
    int64_t turned; /* folds handed out for the second turn */
} sxi_h5_walk;

/* What one thread does at a time. */
typedef struct sxi_h5_slab {
    sxi_h5_walk *walk;
    int64_t start[SX_MAX_RANK]; /* box within the dataset */
    int64_t count[SX_MAX_RANK];
    int64_t origin[SX_MAX_RANK]; /* where the first block begins */
    int blocks;
    sxi_h5_block block[SXI_H5_SLAB_BLOCKS];
    bool turn; /* the second turn of one fold, which is the box */
} sxi_h5_slab;

/* --- cutting, under the lock (h5_walk.c) --- */

/* sxi_h5_walk_begin - begins to cut a job, which becomes the walk's; by way of the HDF5 library if
 * it is not direct. On failure (raw files that are not there) the job is the caller's still. */
sx_status sxi_h5_walk_begin(sxi_h5_walk *walk, const sxi_h5_job *job, bool direct,
                            sx_hdf5_missing missing);
void sxi_h5_walk_end(sxi_h5_walk *walk);

typedef enum sxi_h5_next {
    SXI_H5_NEXT_SLAB,
    SXI_H5_NEXT_LATER, /* not before the slabs that are out have come back */
    SXI_H5_NEXT_NONE
} sxi_h5_next;

/* sxi_h5_walk_next - the next slab, if there is one. */
sx_status sxi_h5_walk_next(sxi_h5_walk *walk, sxi_h5_slab *slab, sxi_h5_next *next);

/* sxi_h5_target_axis, sxi_h5_last_axis - the axis of a job whose elements lie next to each other in
 * the target, and in the file. */
int sxi_h5_target_axis(const sxi_h5_job *job, int rank);
int sxi_h5_last_axis(const sxi_h5_job *job, int rank);

/* sxi_h5_slab_blocks - looks the blocks of a slab up again. */
sx_status sxi_h5_slab_blocks(sxi_h5_slab *slab);

/* sxi_h5_slab_again - the same of a live file, as its writer left it by now; takes the lock
 * (h5_live.c). */
sx_status sxi_h5_slab_again(sxi_h5_slab *slab);

/* --- reading, without the lock (h5_slab.c) --- */

/* What a thread keeps from slab to slab, and what it did. */
typedef struct sxi_h5_worker {
    unsigned char *scratch; /* SXI_H5_SLAB_BYTES or more */
    size_t scratch_bytes;
    unsigned char *window; /* stored bytes that were read ahead, SXI_H5_SLAB_BYTES */
    size_t window_bytes;
    uint64_t window_address;
    uint64_t window_filled;   /* bytes of it that hold something */
    unsigned char *buffer[2]; /* of the codec */
    size_t buffer_bytes[2];
    sxi_codec_state *state;
    sx_hdf5_statistics did;
} sxi_h5_worker;

/* sxi_h5_slab_run - reads, decodes, converts and places. The caller zeroes worker before the first. */
sx_status sxi_h5_slab_run(const sxi_h5_slab *slab, sxi_h5_worker *worker);
void sxi_h5_worker_free(sxi_h5_worker *worker);

/* --- transposed targets in two turns (h5_turn.c) --- */

/* sxi_h5_fold - chooses fold and fold_axis of a walk. sxi_h5_folds - how many there are. */
void sxi_h5_fold(sxi_h5_walk *walk);
int64_t sxi_h5_folds(const sxi_h5_walk *walk);

/* sxi_h5_turn_place - the first turn: values of a box of the dataset, into their folds. */
void sxi_h5_turn_place(const sxi_h5_walk *walk, const int64_t *start, const int64_t *count,
                       const unsigned char *source, const int64_t *source_stride);

/* sxi_h5_fold_box - box of fold number i within the dataset. */
void sxi_h5_fold_box(const sxi_h5_walk *walk, int64_t i, int64_t *start, int64_t *count);

/* sxi_h5_turn_run - the second turn of the fold that is the box of a slab. */
sx_status sxi_h5_turn_run(const sxi_h5_slab *slab, sxi_h5_worker *worker);

/* sxi_h5_library_read - a box of a job through H5Dread, to target; takes the lock (h5_read.c). */
sx_status sxi_h5_library_read(const sxi_h5_job *job, const int64_t *start, const int64_t *count,
                              unsigned char *target, sx_hdf5_statistics *did);

/* Stored bytes, and where they go. */
typedef struct sxi_h5_run {
    uint64_t address, bytes;
    unsigned char *to;
    bool device; /* to is in the memory of the device of the target */
} sxi_h5_run;

/* sxi_h5_fetch - reads stored bytes of the dataset of a walk (h5_fetch.c). sxi_h5_read_at - of one
 * file, to memory of ours. SX_ERR_IO where they end before. */
sx_status sxi_h5_fetch(const sxi_h5_walk *walk, sxi_h5_worker *worker, const sxi_h5_run *run);
sx_status sxi_h5_read_at(const sxi_h5_walk *walk, int fd, const sxi_h5_run *run);

/* sxi_h5_window_fill - where a slab has several blocks that lie close together in the file, reads all
 * of them at once; fetch then takes them from there. */
sx_status sxi_h5_window_fill(const sxi_h5_slab *slab, sxi_h5_worker *worker);

/* sxi_h5_have - a buffer of at least that many bytes; what it held is lost. */
sx_status sxi_h5_have(unsigned char **buffer, size_t *bytes, size_t needed);

/* sxi_h5_converts - whether values of one type are other bytes as the other. */
bool sxi_h5_converts(const sxi_place_type *from, const sxi_place_type *to);

/* sxi_h5_step - steps an index through the first axes of count; false after the last. */
bool sxi_h5_step(int64_t *index, const int64_t *count, int axes);

/* sxi_h5_span - from which axis on a box of a block is read in one run, gaps included: those axes lie
 * in memory as in the block, the outer ones without gaps.
 *
 * in   axes   runs may begin at this axis or later ones
 * out  bytes  of one run
 * returns the first axis of a run */
int sxi_h5_span(const sxi_h5_storage *storage, const int64_t *count, int axes, int64_t *bytes);

#endif
