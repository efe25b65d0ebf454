/* SPDX-License-Identifier: Apache-2.0
 * A run of European XFEL: many files, each of one aggregator (module, group of devices) and one stretch of
 * trains. What a train holds of a source stands under /INDEX, first and count for each train.
 * Formats 0.5, 1.0, 1.2: rtd.xfel.eu/docs/data. */
#ifndef SXI_EUXFEL_H
#define SXI_EUXFEL_H

#include "io/facility/facility.h"

enum { SXI_EUXFEL_MODULES = 64 };

typedef struct sxi_train_file {
    sx_hdf5 *file;
    bool corrected;
    int64_t trains;
    uint64_t *train; /* [trains]; 0 is padding, or not to be trusted */
} sxi_train_file;

typedef struct sxi_train_shot {
    uint64_t train, pulse;
} sxi_train_shot;

/* A part of a shot: its place in the dataset of a module in a file. */
typedef struct sxi_train_part {
    int32_t file; /* -1: missing */
    int32_t row;  /* entry, or entry * cells + cell */
} sxi_train_part;

typedef struct sxi_euxfel {
    int files;
    sxi_train_file *file;
    int modules;
    char *dataset[SXI_EUXFEL_MODULES];        /* of the frames of a module; NULL: not in this run */
    char *mask[SXI_EUXFEL_MODULES];           /* what corrected files have beside it */
    bool *has_mask;                           /* [files][modules] */
    bool corrected;                           /* corrected frames are taken, raw ones are left */
    int leading;                              /* axes before a frame in these */
    int64_t cells;                            /* frames in an entry, on an axis; 0: there is none */
    sxi_train_part *part[SXI_EUXFEL_MODULES]; /* [count] each */
    sxi_train_shot *shot;                     /* [count] while they are joined */
    uint64_t *train;                          /* [count] of a shot */
    int64_t *order; /* [count] of its pulse among those that the run has frames of, from 0 */
} sxi_euxfel;

/* sxi_euxfel_source - dataSourceId number i of a file; false at the end. */
bool sxi_euxfel_source(sx_hdf5 *file, int64_t i, char source[SXI_SHOT_NAME]);

/* sxi_euxfel_index - first and count [trains of the file] of the source that a dataset belongs to; freed
 * together through *first. Entries beyond those that the dataset has are taken off and added to *lost
 * (NULL allowed). SX_ERR_MISSING, SX_ERR_SHAPE, SX_ERR_RANGE (damaged). */
sx_status sxi_euxfel_index(const sxi_train_file *file, const char *dataset, int64_t entries,
                           int64_t **first, int64_t **count, int64_t *lost);

/* sxi_euxfel_gives - whether a file gives frames of a module: where there are corrected frames, raw ones
 * are left. */
bool sxi_euxfel_gives(const sxi_euxfel *run, int file, int module);

/* sxi_euxfel_join - the table of shots of the detector that was found: count, gaps, parts, trains, order.
 * Warns of what is missing or doubled. */
sx_status sxi_euxfel_join(sxi_euxfel *run, sxi_shots *shots, const sx_context *context);

/* sxi_euxfel_frames - finds the detector and builds the table of shots. */
sx_status sxi_euxfel_frames(sxi_euxfel *run, const sxi_shot_fields *fields,
                            const sx_context *context, sxi_shots *shots);

#endif
