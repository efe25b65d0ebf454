/* SPDX-License-Identifier: Apache-2.0
 * HDF5 as the rest of the library sees it. Only the files of this folder call the HDF5 library,
 * under one lock, with its own error printing switched off. */
#ifndef SXI_H5FILE_H
#define SXI_H5FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>
#include <sextant/context.h>

typedef struct sxi_h5 sxi_h5; /* an open file */

/* What a dataset is. */
typedef struct sxi_h5_dataset {
    bool numeric;   /* integer or float of 1..8 bytes; else dtype means nothing */
    sx_dtype dtype; /* native type closest to the stored one (bool enums: U8; float16: F32) */
    int rank;
    int64_t shape[SX_MAX_RANK];
    int64_t chunk[SX_MAX_RANK]; /* 0: not chunked */
    char unit[32];              /* of the attribute "units" or "unit"; "" without */
} sxi_h5_dataset;

/* Not there, unreadable, not HDF5, cut: SX_ERR_IO or SX_ERR_FORMAT with a sentence naming path and
 * reason. */
sx_status sxi_h5_open(const char *path, sxi_h5 **file);
void sxi_h5_close(sxi_h5 **file);
const char *sxi_h5_path(const sxi_h5 *file);

/* Whether the object exists (follows links; a dangling link does not). Group: whether it is a
 * group. */
bool sxi_h5_exists(sxi_h5 *file, const char *name);
bool sxi_h5_is_group(sxi_h5 *file, const char *name);

/* Members of a group in name order; the callback returns false to stop. */
typedef bool (*sxi_h5_member_fn)(void *data, const char *name, bool is_group);
sx_status sxi_h5_members(sxi_h5 *file, const char *group, sxi_h5_member_fn fn, void *data);

/* SX_ERR_MISSING where name is not there: the sentence lists the nearest or first few datasets of
 * the file. */
sx_status sxi_h5_describe(sxi_h5 *file, const char *name, sxi_h5_dataset *dataset);

/* Reads the box start[rank], count[rank] into array (shape of the box, any strides, dtype chosen by
 * the caller: HDF5 converts). A virtual dataset whose source file or dataset is missing is
 * SX_ERR_MISSING, never fill values. */
sx_status sxi_h5_read_box(sxi_h5 *file, const char *name, const int64_t *start,
                          const int64_t *count, sx_array *array);

/* Whether every chunk was written, and every element of a virtual dataset has a source. What was not
 * reads as the fill value: SX_ERR_MISSING, unless that is NaN. */
sx_status sxi_h5_check_written(sxi_h5 *file, const char *name);

/* Reads all of it into a new array; dtype as described, or *as. Must be numeric. */
sx_status sxi_h5_read(sxi_h5 *file, const char *name, const sx_dtype *as, sx_array *array);

/* A text attribute of an object, cut to size; SX_ERR_MISSING without. */
sx_status sxi_h5_attribute_text(sxi_h5 *file, const char *name, const char *attribute, char *text,
                                size_t size);
sx_status sxi_h5_attribute_real(sxi_h5 *file, const char *name, const char *attribute,
                                double *value);
/* Exactly count of them: SX_ERR_TYPE otherwise. */
sx_status sxi_h5_attribute_reals(sxi_h5 *file, const char *name, const char *attribute, int count,
                                 double *values);

/* Element index (0 of a scalar) of a dataset of strings, cut to size; SX_ERR_TYPE if it is none. */
sx_status sxi_h5_read_text(sxi_h5 *file, const char *name, int64_t index, char *text, size_t size);

/* --- writing: to a temporary name beside the target, renamed by commit --- */

typedef struct sxi_h5_writer sxi_h5_writer;

/* Whether path can become an output, to be asked before hours of work: its folder is there and
 * writable, it is no folder or device, does not exist (unless overwrite), and is none of the
 * inputs, under whatever name. */
sx_status sxi_h5_output_check(const char *path, bool overwrite, int inputs,
                              const char *const *paths);

/* SX_ERR_EXISTS if path exists and not overwrite; SX_ERR_IO if its folder cannot be written.
 * Objects carry no times, so equal content gives equal bytes. */
sx_status sxi_h5_create(const char *path, bool overwrite, sxi_h5_writer **writer);

/* A dataset of that shape (groups on the way are made); values come by sxi_h5_write_box. Missing
 * values are NaN for floats (fill value), 0 for integers. unit "" : none. sentence becomes the
 * attribute long_name. */
sx_status sxi_h5_dataset_create(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                                const int64_t *shape, const char *unit, const char *sentence);
sx_status sxi_h5_write_box(sxi_h5_writer *writer, const char *name, const int64_t *start,
                           const sx_array *array);
/* Create and write at once. */
sx_status sxi_h5_write(sxi_h5_writer *writer, const char *name, const sx_array *array,
                       const char *unit, const char *sentence);
sx_status sxi_h5_write_text(sxi_h5_writer *writer, const char *name,
                            const char *text); /* a string dataset */
sx_status sxi_h5_write_texts(sxi_h5_writer *writer, const char *name, int64_t count,
                             const char *const *texts); /* [count] strings */

/* Attributes of an object; "/" is the root group. text list: array of strings. */
sx_status sxi_h5_set_text(sxi_h5_writer *writer, const char *object, const char *attribute,
                          const char *text);
sx_status sxi_h5_set_texts(sxi_h5_writer *writer, const char *object, const char *attribute,
                           int count, const char *const *texts);
sx_status sxi_h5_set_reals(sxi_h5_writer *writer, const char *object, const char *attribute,
                           int count, const double *values);
sx_status sxi_h5_set_ints(sxi_h5_writer *writer, const char *object, const char *attribute,
                          int count, const int64_t *values);

/* Makes scale a dimension scale of axis d of dataset. */
sx_status sxi_h5_attach_scale(sxi_h5_writer *writer, const char *dataset, int d, const char *scale);

/* /provenance: command, version, commit, inputs [path, bytes, digest], date, machine. */
sx_status sxi_h5_provenance(sxi_h5_writer *writer, const sx_context *context, int inputs,
                            const char *const *paths);

/* Closes, syncs and renames. Without overwrite a file that appeared meanwhile is kept
 * (SX_ERR_EXISTS). After a failure (disk full) nothing is left behind. *writer is NULL
 * afterwards. */
sx_status sxi_h5_commit(sxi_h5_writer **writer);
/* Closes and removes the temporary file; NULL allowed. */
void sxi_h5_abandon(sxi_h5_writer **writer);

#endif
