/* SPDX-License-Identifier: Apache-2.0
 * HDF5 as the rest of the library sees it, beside the public reader (sextant/hdf5.h). Only the files
 * of this folder call the HDF5 library, under one lock, with its own error printing switched off. */
#ifndef SXI_H5FILE_H
#define SXI_H5FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>
#include <sextant/context.h>
#include <sextant/hdf5.h>

/* Whether the object exists (follows links; a dangling link does not). Group: whether it is a
 * group. */
bool sxi_h5_exists(sx_hdf5 *file, const char *name);
bool sxi_h5_is_group(sx_hdf5 *file, const char *name);

/* Members of a group in name order; the callback returns false to stop. */
typedef bool (*sxi_h5_member_fn)(void *data, const char *name, bool is_group);
sx_status sxi_h5_members(sx_hdf5 *file, const char *group, sxi_h5_member_fn fn, void *data);

/* Threads and cancel of the two functions below; NULL: all cores. Must outlive the file. */
void sxi_h5_context_set(sx_hdf5 *file, const sx_context *context);

/* sx_hdf5_read of one box into array (shape of the box, any strides and dtype); what was never
 * written reads as the fill value (sxi_h5_check_written). */
sx_status sxi_h5_read_box(sx_hdf5 *file, const char *name, const int64_t *start,
                          const int64_t *count, sx_array *array);

/* Reads all of it into a new array; dtype as described, or *as. Must be numeric. */
sx_status sxi_h5_read(sx_hdf5 *file, const char *name, const sx_dtype *as, sx_array *array);

/* Whether every chunk was written, and every element of a virtual dataset has a source, which is there.
 * What was not reads as the fill value: SX_ERR_MISSING, unless that is NaN. */
sx_status sxi_h5_check_written(sx_hdf5 *file, const char *name);

/* A text attribute of an object, cut to size; SX_ERR_MISSING without. */
sx_status sxi_h5_attribute_text(sx_hdf5 *file, const char *name, const char *attribute, char *text,
                                size_t size);
sx_status sxi_h5_attribute_real(sx_hdf5 *file, const char *name, const char *attribute,
                                double *value);
/* Exactly count of them: SX_ERR_TYPE otherwise. */
sx_status sxi_h5_attribute_reals(sx_hdf5 *file, const char *name, const char *attribute, int count,
                                 double *values);

/* Element index (0 of a scalar) of a dataset of strings, cut to size; SX_ERR_TYPE if it is none. */
sx_status sxi_h5_read_text(sx_hdf5 *file, const char *name, int64_t index, char *text, size_t size);

/* --- writing: to a temporary name beside the target, renamed by commit --- */

typedef struct sxi_h5_writer sxi_h5_writer;

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
/* Rows first .. first + rows - 1 of a dataset, in a dataset of the same name of another file, whose
 * path is counted from the folder of this one. */
typedef struct sxi_h5_part {
    const char *file;
    int64_t first, rows;
} sxi_h5_part;

/* A virtual dataset of those parts along its first axis. */
sx_status sxi_h5_virtual_create(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int rank,
                                const int64_t *shape, int parts, const sxi_h5_part *part);
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

/* /provenance/inputs [path, bytes, digest]. Reads up to 1 GiB of each: SX_ERR_CANCELLED where the
 * context asks to stop. */
sx_status sxi_h5_inputs(sxi_h5_writer *writer, const sx_context *context, int inputs,
                        const char *const *paths);

/* /provenance: command, version, commit, inputs (none here if they are written), date, machine. */
sx_status sxi_h5_provenance(sxi_h5_writer *writer, const sx_context *context, int inputs,
                            const char *const *paths);

/* Closes, syncs and renames. Without overwrite a file that appeared meanwhile is kept
 * (SX_ERR_EXISTS). After a failure (disk full) nothing is left behind. *writer is NULL
 * afterwards. */
sx_status sxi_h5_commit(sxi_h5_writer **writer);
/* Closes and removes the temporary file; NULL allowed. */
void sxi_h5_abandon(sxi_h5_writer **writer);

#endif
