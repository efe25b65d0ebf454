/* SPDX-License-Identifier: Apache-2.0
 * Distributed arrays: n-d arrays cut over the ranks of a cluster, of which no rank need hold more
 * than a part, and what is computed from them.
 *
 * Every rank calls the same functions in the same order. A function that makes an array never
 * reports a failure: it returns a failed array, and all that is made of a failed array has failed
 * in the same way, so that one check is enough, at sx_wait. What is computed element by element is
 * computed where it is needed, part by part; sums and tasks run when they are called.
 *
 * No result depends on the number of ranks or threads, or on how an array is cut. */
#ifndef SEXTANT_DARRAY_H
#define SEXTANT_DARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>
#include <sextant/cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_darray sx_darray;

/* --- where arrays come from --- */

/* sx_darray_create - zeros, to be written by a task (sextant/task.h). */
SX_API sx_darray *sx_darray_create(sx_cluster *cluster, sx_dtype dtype, int rank,
                                   const int64_t *shape);

/* sx_darray_from_memory - an array that every rank has, such as a calibration. Nothing is copied:
 * the memory must outlive all that is made of it, unchanged. A scalar is an array of rank 0. */
SX_API sx_darray *sx_darray_from_memory(sx_cluster *cluster, const sx_array *array);

/* sx_darray_from_hdf5 - a dataset, cut along its slowest axis; read part by part when it is used. */
SX_API sx_darray *sx_darray_from_hdf5(sx_cluster *cluster, const char *path, const char *name);

enum { SX_SOURCE_ARRAYS = 4 };

/* Arrays that functions of the caller fill, some rows of all of them at a time. The rows of an array
 * are the indices of one of its axes; all have equally many. */
typedef struct sx_darray_source {
    int arrays; /* at most SX_SOURCE_ARRAYS */
    struct {
        sx_dtype dtype;
        int rank;
        int64_t shape[SX_MAX_RANK];
        int axis; /* whose indices are rows */
    } array[SX_SOURCE_ARRAYS];
    int64_t chunk_rows; /* rows are best read in multiples of this; 0: 1 */
    void *data;         /* handed to the functions; must outlive the arrays */
    /* Fills rows first .. first + count - 1: arrays[k] has that many along its axis, is in C order
     * and may have data NULL if it is not wanted. Called from one thread at a time. */
    sx_status (*read)(void *data, int64_t first, int64_t count, const sx_array *arrays);
    /* The same in the background, all four or none: start begins with at most so many threads of
     * its own, work lends the calling thread, wait and cancel end it and free the request. */
    sx_status (*start)(void *data, int threads, int64_t first, int64_t count,
                       const sx_array *arrays, void **request);
    void (*work)(void *request);
    sx_status (*wait)(void **request);
    void (*cancel)(void **request);
} sx_darray_source;

/* sx_darray_from_source - out arrays [source->arrays]. */
SX_API void sx_darray_from_source(sx_cluster *cluster, const sx_darray_source *source,
                                  sx_darray **arrays);

/* --- the same values otherwise --- */

/* sx_darray_view - start[d] <= index < stop[d] of each axis. SX_ERR_RANGE. */
SX_API sx_darray *sx_darray_view(sx_darray *array, const int64_t *start, const int64_t *stop);

/* sx_darray_retile - the same array, to be cut into tiles of these extents (0: not cut along this
 * axis), each with so many elements of its neighbours on both sides, in tasks that do not say so
 * themselves. A file is passed over once as long as the memory holds a row of its chunks.
 * halo: NULL for none. */
SX_API sx_darray *sx_darray_retile(sx_darray *array, const int64_t *tile, const int64_t *halo);

/* sx_convert - of another type, as sx_array_copy converts. */
SX_API sx_darray *sx_convert(sx_darray *array, sx_dtype dtype);

/* --- element by element; the result is F32 if all arguments are, else F64 --- */

/* n values to n values; called from several threads at once. */
typedef void (*sx_map_fn)(void *data, int64_t n, const double *x, double *y);

/* sx_map - data must live until the result, and all that is made of it, has been computed. */
SX_API sx_darray *sx_map(sx_darray *array, sx_map_fn function, void *data);

/* Axes are matched from the last one; one of extent 1, or that is not there, is repeated.
 * SX_ERR_SHAPE. */
SX_API sx_darray *sx_add(sx_darray *a, sx_darray *b);
SX_API sx_darray *sx_subtract(sx_darray *a, sx_darray *b);
SX_API sx_darray *sx_multiply(sx_darray *a, sx_darray *b);
SX_API sx_darray *sx_divide(sx_darray *a, sx_darray *b);

/* --- along an axis, which the result lacks; a NaN makes the result NaN --- */

/* Sums follow one tree whatever the number of threads and ranks (docs/theory/engine.md). The results
 * are F64; variance divides by n - 1; min and max have the type of the array, and integers beyond
 * 2^53 are rounded. SX_ERR_RANGE (axis), SX_ERR_SHAPE (min and max of nothing). */
SX_API sx_darray *sx_sum(sx_darray *array, int axis);
SX_API sx_darray *sx_mean(sx_darray *array, int axis);
SX_API sx_darray *sx_variance(sx_darray *array, int axis);
SX_API sx_darray *sx_min(sx_darray *array, int axis);
SX_API sx_darray *sx_max(sx_darray *array, int axis);

/* --- results --- */

/* sx_wait - computes what is still to be computed, which must fit into the memory budget, and says
 * what became of it. An array of a file or a source is left where it is. */
SX_API sx_status sx_wait(sx_darray *array);

/* sx_gather - all of it on rank 0, to be destroyed by the caller; empty on other ranks and on
 * failure. */
SX_API sx_status sx_gather(sx_darray *array, sx_array *gathered);

/* A dataset to be written. */
typedef struct sx_darray_dataset {
    sx_darray *array;
    const char *name;     /* "/maps/intensity" */
    const char *unit;     /* NULL: none */
    const char *sentence; /* what it is; NULL: none */
} sx_darray_dataset;

/* sx_darray_to_hdf5 - one file, with provenance, written by rank 0; arrays of any size, part by
 * part. An existing file is kept unless overwrite. */
SX_API sx_status sx_darray_to_hdf5(int n, const sx_darray_dataset *datasets, const char *path,
                                   bool overwrite);

/* sx_darray_to_hdf5_parts - the same for large volumes: each rank computes and writes some rows of
 * them to a file of its own, "out.h5.0" and so on beside "out.h5", which shows them as one (virtual
 * datasets; it is to be moved together with its parts). Arrays that are stored are in "out.h5" itself. One
 * rank writes one file. After a failure files are as before, unless the disk fails when all is written
 * and only names are changed. */
SX_API sx_status sx_darray_to_hdf5_parts(int n, const sx_darray_dataset *datasets, const char *path,
                                         bool overwrite);

SX_API sx_dtype sx_darray_dtype(const sx_darray *array);
SX_API int sx_darray_rank(const sx_darray *array);
SX_API const int64_t *sx_darray_shape(const sx_darray *array);

/* sx_darray_destroy - the memory goes when nothing that is still to be computed needs it. NULL
 * allowed. */
SX_API void sx_darray_destroy(sx_darray **array);

#ifdef __cplusplus
}
#endif
#endif
