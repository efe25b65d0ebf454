/* SPDX-License-Identifier: Apache-2.0
 * Reading HDF5 at the speed of the storage. The HDF5 library is asked where the bytes lie; threads
 * of ours read, decompress, convert and place them. */
#ifndef SEXTANT_HDF5_H
#define SEXTANT_HDF5_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>
#include <sextant/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_hdf5 sx_hdf5; /* an open file; any thread may use it */

/* How the values are stored. */
typedef enum sx_hdf5_layout {
    SX_HDF5_COMPACT,    /* in the header of the dataset */
    SX_HDF5_CONTIGUOUS, /* one run of bytes */
    SX_HDF5_CHUNKED,    /* equal blocks, each through the filters */
    SX_HDF5_EXTERNAL,   /* one run of bytes cut over other, raw files */
    SX_HDF5_VIRTUAL     /* parts of datasets of other files */
} sx_hdf5_layout;

/* Who reads the values. */
typedef enum sx_hdf5_path {
    SX_HDF5_DIRECT, /* threads of ours */
    SX_HDF5_LIBRARY /* H5Dread, one thread at a time; sx_hdf5_dataset.reason says why */
} sx_hdf5_path;

/* What a dataset is. */
typedef struct sx_hdf5_dataset {
    bool numeric;   /* integer or float of 1..8 bytes; else dtype means nothing */
    sx_dtype dtype; /* native type closest to the stored one (bool enums: U8; float16: F32) */
    int64_t element_bytes; /* as stored; 0: of varying length (or references), cannot be read */
    int rank;
    int64_t shape[SX_MAX_RANK];
    int64_t chunk[SX_MAX_RANK]; /* 0: not chunked */
    char unit[32];              /* of the attribute "units" or "unit"; "" without */
    sx_hdf5_layout layout;
    sx_hdf5_path path;
    char reason[128];  /* why not SX_HDF5_DIRECT; "" if it is */
    char filters[128]; /* in the order of writing, "shuffle, gzip"; "" without */
} sx_hdf5_dataset;

/* sx_hdf5_open - opens a file for reading. One that a program is writing to as SWMR is followed
 * live: sx_hdf5_refresh. Not there, unreadable, not HDF5, cut, being written by another program:
 * SX_ERR_IO or SX_ERR_FORMAT with a sentence naming path and reason. *file is NULL on failure. */
SX_API sx_status sx_hdf5_open(const char *path, sx_hdf5 **file);

/* sx_hdf5_close - no request may be under way. NULL allowed. */
SX_API void sx_hdf5_close(sx_hdf5 **file);

/* sx_hdf5_path_of - the path it was opened by. sx_hdf5_is_live - whether it is being written. */
SX_API const char *sx_hdf5_path_of(const sx_hdf5 *file);
SX_API bool sx_hdf5_is_live(const sx_hdf5 *file);

/* sx_hdf5_describe - SX_ERR_MISSING where name is not there: the sentence lists the nearest or first
 * few datasets of the file. */
SX_API sx_status sx_hdf5_describe(sx_hdf5 *file, const char *name, sx_hdf5_dataset *dataset);

/* sx_hdf5_refresh - asks a live file how far the writer has come, and describes the dataset anew
 * (it may have grown); of a virtual dataset, the live files that it is made of, too. Nothing changes
 * in a file that is not live. */
SX_API sx_status sx_hdf5_refresh(sx_hdf5 *file, const char *name, sx_hdf5_dataset *dataset);

/* One box of one dataset.
 *
 * in   start, count  [rank] of the dataset; both NULL: all of it
 * out  array         of that shape (count), any strides. dtype: any; values are converted as HDF5
 *                    does (to an integer: cut towards zero and clamped). A dataset that is not
 *                    numeric is read as the bytes in the file: U8 with a last axis of
 *                    element_bytes more. */
typedef struct sx_hdf5_box {
    sx_hdf5 *file;
    const char *name;
    const int64_t *start, *count;
    sx_array *array;
} sx_hdf5_box;

/* What was never written reads as the fill value in HDF5, mostly 0. */
typedef enum sx_hdf5_missing {
    SX_HDF5_MISSING_ERROR, /* SX_ERR_MISSING, unless the fill value is NaN */
    SX_HDF5_MISSING_FILL
} sx_hdf5_missing;

/* A part of box number i is in its array: elements start + k * step, k < count, of each axis of the
 * array (step is 1 but for interleaved virtual datasets). Called from any thread, from several at
 * once, in any order; no failure may be reported. */
typedef void (*sx_hdf5_slab_fn)(void *data, int i, const int64_t *start, const int64_t *count,
                                const int64_t *step);

/* Bytes in the memory of the host and where they go on a device. */
typedef struct sx_hdf5_rows {
    const void *source;
    void *target;
    int64_t bytes, rows;                /* of each row; how many */
    int64_t source_pitch, target_pitch; /* bytes from row to row, if there are several */
} sx_hdf5_rows;

/* Memory that the processor cannot write to, such as that of a GPU (sextant/device.h has one).
 * Both functions are called from several threads at once, do not call this library back, and have
 * finished when they return. */
typedef struct sx_hdf5_device {
    void *data; /* handed to them */
    /* Copies rows to the device; false: it failed. Needed. */
    bool (*write)(void *data, const sx_hdf5_rows *rows);
    /* Reads bytes of an open file straight to the device and returns how many, which may be fewer;
     * none or negative: not these (they may lie at any offset), which are then read by the
     * processor and written. NULL: none at all. */
    int64_t (*read)(void *data, int fd, int64_t offset, void *target, int64_t bytes);
} sx_hdf5_device;

/* All zero, or NULL: all cores, missing values are an error, no callback. */
typedef struct sx_hdf5_options {
    const sx_context *context; /* threads, cancel; must outlive the request */
    sx_hdf5_missing missing;
    bool library; /* read through H5Dread all the same, to compare */
    sx_hdf5_slab_fn slab;
    void *slab_data;
    const sx_hdf5_device
        *device; /* the arrays, all in C order without gaps, lie in its memory; must
                                     outlive the request */
} sx_hdf5_options;

/* What a request did. Seconds of io, decode and place are summed over threads. */
typedef struct sx_hdf5_statistics {
    int64_t bytes_stored; /* read from files by threads of ours */
    int64_t bytes_placed; /* written to arrays */
    int64_t pieces;  /* runs of stored bytes: a chunk or several small ones, a part of others */
    int64_t library; /* bytes of bytes_placed that went through H5Dread */
    int64_t device;  /* bytes of bytes_placed that the device read by itself */
    int threads;
    double seconds, plan_s, io_s, decode_s, place_s;
} sx_hdf5_statistics;

/* sx_hdf5_read - reads n boxes, of one or several files.
 *
 * in   options     NULL allowed
 * out  statistics  NULL allowed
 *
 * SX_ERR_SHAPE, SX_ERR_RANGE, SX_ERR_TYPE (box and array against dataset), SX_ERR_MISSING (also a
 * source of a virtual dataset that is not there), SX_ERR_IO, SX_ERR_FORMAT (cut or damaged),
 * SX_ERR_UNSUPPORTED (a filter that nobody here can undo; an array on a device that is not in C
 * order), SX_ERR_CANCELLED. After a failure the arrays hold anything. Scratch memory is at most
 * threads x (2 chunks + 2 MB), 3 MB with a device.
 * Threads: yes, also on one file. */
SX_API sx_status sx_hdf5_read(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                              sx_hdf5_statistics *statistics);

/* The same, in the background. */
typedef struct sx_hdf5_request sx_hdf5_request;

/* sx_hdf5_start - checks the boxes and begins to read with at most context->threads threads of its
 * own; -1: none, so that only those of the caller work. The arrays must stay until wait; the rest of boxes
 * is copied. *request is NULL on failure. */
SX_API sx_status sx_hdf5_start(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                               sx_hdf5_request **request);

/* sx_hdf5_work - lends the calling thread to the request until no work is left to take; from as many
 * threads as one likes, such as all of an OpenMP team. */
SX_API void sx_hdf5_work(sx_hdf5_request *request);

/* sx_hdf5_done - whether all work is finished, without waiting. */
SX_API bool sx_hdf5_done(sx_hdf5_request *request);

/* sx_hdf5_cancel - no further work is taken; wait then returns SX_ERR_CANCELLED. Any thread. */
SX_API void sx_hdf5_cancel(sx_hdf5_request *request);

/* sx_hdf5_wait - works, waits for the others, and frees the request: *request is NULL afterwards.
 * Returns what went wrong first. statistics: NULL allowed. */
SX_API sx_status sx_hdf5_wait(sx_hdf5_request **request, sx_hdf5_statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif
