/* SPDX-License-Identifier: Apache-2.0
 * Reads one dataset of an HDF5 file from end to end: for its checksum, for the rate, to compare with
 * the HDF5 library, or to hand it on as .npy. Of any size: band after band. */
#ifndef SEXTANT_READ_H
#define SEXTANT_READ_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/hdf5.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero, or NULL: all of the dataset, missing values are an error, no comparison, no output. */
typedef struct sx_read_options {
    int axes; /* of the box, as many as the dataset has; 0: all of the dataset */
    int64_t start[SX_MAX_RANK];
    int64_t stop[SX_MAX_RANK]; /* start <= index < stop; -1: to the end */
    sx_hdf5_missing missing;
    bool verify;        /* read again through H5Dread and compare bit for bit */
    const char *output; /* a .npy file to write, or NULL. What is not numeric becomes uint8 with the
                           bytes of an element as last axis */
    bool overwrite;
} sx_read_options;

typedef struct sx_read_report {
    sx_hdf5_dataset dataset;
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK]; /* the box that was read */
    int64_t bytes;                                  /* of its values in memory */
    double seconds;                /* of reading, without checksum, comparison and output */
    double library_seconds;        /* of H5Dread, with verify */
    uint64_t checksum;             /* xxh64, seed 0, of the little-endian values in C order */
    sx_hdf5_statistics statistics; /* of all bands together */
} sx_read_report;

/* sx_read_run - reads dataset `name` of the file at path.
 *
 * Memory is some 256 MB, twice that with verify; more where one row of chunks along the first axis
 * is larger and a quarter of the free memory holds it. The output appears complete or not at all.
 * Progress is told in bytes, first when all is known of the dataset and reading begins.
 *
 * The errors of sx_hdf5_open and sx_hdf5_read; SX_ERR_SHAPE, SX_ERR_RANGE (box), SX_ERR_TYPE
 * (elements of varying length), SX_ERR_EXISTS (output), SX_ERR_NUMERIC (with verify: the first value
 * that differs is named). */
SX_API sx_status sx_read_run(const char *path, const char *name, const sx_read_options *options,
                             const sx_context *context, sx_read_report *report);

/* sx_read_abandoned - removes what process `pid`, which died in sx_read_run, left of its output. */
SX_API void sx_read_abandoned(const char *output, long pid);

#ifdef __cplusplus
}
#endif
#endif
