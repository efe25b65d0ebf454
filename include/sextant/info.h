/* SPDX-License-Identifier: Apache-2.0
 * What lies in an HDF5 file. */
#ifndef SEXTANT_INFO_H
#define SEXTANT_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/hdf5.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SX_INFO_MAX_RANK 32 /* of HDF5 */

typedef enum sx_info_kind {
    SX_INFO_GROUP,
    SX_INFO_DATASET,
    SX_INFO_LINK,     /* to another place or file; not followed */
    SX_INFO_ATTRIBUTE /* of the group or dataset told before; "/fit@t0_ps" */
} sx_info_kind;

/* One object. Texts are "" where there is nothing to say, and live until the callback returns. */
typedef struct sx_info_object {
    sx_info_kind kind;
    const char *name;     /* "/fit/frequency" */
    const char *type;     /* "float64", "text", "bool", "record of 5 fields", ... */
    const char *unit;     /* of the attribute "units" or "unit" */
    const char *sentence; /* of the attribute "long_name" */
    const char *storage;  /* "virtual, 3 sources"; "shuffle, deflate"; where a link leads */
    const char *value;    /* a single number; texts, and numbers of an attribute, the first few,
                             with newlines between them */
    int rank;
    int64_t shape[SX_INFO_MAX_RANK];
    bool chunked;
    int64_t chunk[SX_INFO_MAX_RANK];

    /* How a dataset is stored and read; only where described. */
    bool described;
    sx_hdf5_layout layout;
    sx_hdf5_path path;
    const char *reason;            /* why not SX_HDF5_DIRECT */
    const char *filters;           /* in the order of writing, "shuffle, gzip" */
    int64_t bytes;                 /* of the values; 0 where elements vary in length */
    int64_t stored_bytes;          /* in this file */
    int64_t chunks, chunks_stored; /* in all, and those that were written */
    const char *advice; /* what will be slow, and the command that mends it, a line each */
} sx_info_object;

/* Called in name order. It returns false to stop, and must not call the library. */
typedef bool (*sx_info_fn)(void *data, const sx_info_object *object);

/* sx_info_run - tells of every object of a file but the root group, each followed by its attributes
 * but those that are its unit, its sentence or the bookkeeping of dimension scales. SX_ERR_IO, SX_ERR_FORMAT (not
 * HDF5, cut, damaged) with a sentence. */
SX_API sx_status sx_info_run(const char *path, sx_info_fn fn, void *data);

#ifdef __cplusplus
}
#endif
#endif
