/* SPDX-License-Identifier: Apache-2.0
 * What the readers of facilities share. */
#ifndef SXI_FACILITY_H
#define SXI_FACILITY_H

#include <stddef.h>

#include <sextant/array.h>

#include "io/facility/shots.h"

/* One of each, in its own file. */
extern const sxi_facility sxi_facility_smalldata, sxi_facility_euxfel, sxi_facility_swissfel,
    sxi_facility_nexus;

/* Stands for "no value" in columns of any type of LCLS. */
#define SXI_SHOT_MISSING (-99999.0)

/* sxi_shot_value - a number as a column keeps it: NaN where it is not finite or says "no value". */
double sxi_shot_value(double value);

/* sxi_shot_values - the numbers of a dataset as F64 or U64: all of them, or [rows] with element k of
 * each row. SX_ERR_RANGE: more than a table of shots can have, as damaged files claim; SX_ERR_MISSING:
 * some were never written and would read as zeros; SX_ERR_SHAPE: there is no such element. */
sx_status sxi_shot_values(sx_hdf5 *file, const char *name, int64_t element, sx_dtype as,
                          sx_array *values);

/* sxi_shot_element - cuts [k] off a name; -1 without. SX_ERR_ARGUMENT: no number. */
sx_status sxi_shot_element(const char *given, char name[SXI_SHOT_NAME], int64_t *element);

/* sxi_shot_some - SX_ERR_MISSING where a run has no shot. */
sx_status sxi_shot_some(const sxi_shots *shots);

/* sxi_shot_column - room for a number per shot, all NaN. SX_ERR_MEMORY. */
sx_status sxi_shot_column(const sxi_shots *shots, double **column);

/* sxi_shot_pattern - whether the laser was there by a pattern, for frame number k of a train (0 where
 * the facility has none); NaN where the pattern holds something else than 0, 1 and commas, which
 * sxi_shot_pattern_check refuses. */
double sxi_shot_pattern(const char *pattern, uint64_t train, int64_t k);
sx_status sxi_shot_pattern_check(const char *pattern);

/* What a reader knows of its shots beside their frames. */
typedef struct sxi_shot_table {
    const char *naming; /* of a field, for sentences: "SOURCE/key" */
    const char *i0;     /* its usual name, if it has one; NULL else */
    /* A number per shot under a name. SX_ERR_MISSING naming what there is instead. */
    sx_status (*column)(const sxi_shots *shots, const char *name, double **column);
    const uint64_t *train; /* [count]; NULL: all in one */
    const int64_t *order;  /* [count] of the shot in its train; NULL: its number */
} sxi_shot_table;

/* sxi_shot_fill - i0, laser, xray, delay, time tool and time of all shots, as the fields say. */
sx_status sxi_shot_fill(sxi_shots *shots, const sxi_shot_fields *fields,
                        const sxi_shot_table *table);

/* Number `at` of something, to be looked up by a key: a row of a channel by its pulse. */
typedef struct sxi_keyed {
    uint64_t key;
    int64_t at;
} sxi_keyed;

/* sxi_keyed_sort - by key, equal ones by number. sxi_keyed_find - the first with a key, NULL without. */
void sxi_keyed_sort(sxi_keyed *list, int64_t count);
const sxi_keyed *sxi_keyed_find(const sxi_keyed *list, int64_t count, uint64_t key);

/* sxi_shot_delay_unit - ps per unit of a dataset: as asked for, or by its attribute; 0: it has none. */
sx_status sxi_shot_delay_unit(const sxi_shot_fields *fields, sx_hdf5 *file, const char *dataset,
                              double *scale);

/* sxi_shot_frame - takes the shape of a frame from a dataset with so many axes before those of a part, of
 * which there are `parts`. SX_ERR_SHAPE. */
sx_status sxi_shot_frame(sxi_shots *shots, const sx_hdf5_dataset *about, const char *dataset,
                         int leading, int parts);

/* sxi_shot_mask - takes a dataset as the mask of the frames, if it has as many pixels. good: what a good
 * pixel has in it, 0 or 1. */
sx_status sxi_shot_mask(sxi_shots *shots, sx_hdf5 *file, const char *dataset, int good);

/* sxi_paths - the files of a folder whose names begin and end so, in order of their names.
 * out  paths  [count] to be freed, each and all */
sx_status sxi_paths(const char *folder, const char *begin, const char *end, int *count,
                    char ***paths);
void sxi_paths_free(int count, char **paths);

/* sxi_folder_of - the folder of a path, "." without. sxi_base_of - what follows it. */
void sxi_folder_of(const char *path, char *folder, size_t size);
const char *sxi_base_of(const char *path);
bool sxi_is_folder(const char *path);

#endif
