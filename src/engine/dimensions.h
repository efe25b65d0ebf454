/* SPDX-License-Identifier: Apache-2.0
 * The words of a tiled task: "i=16 j=16" and "- i+2 j". */
#ifndef SXI_DIMENSIONS_H
#define SXI_DIMENSIONS_H

#include <sextant/task.h>

enum { SXI_NAME = 32, SXI_AXIS_ALL = -1 };

typedef struct sxi_dimensions {
    int n;
    char name[SX_TASK_DIMENSIONS][SXI_NAME];
    int64_t tile[SX_TASK_DIMENSIONS]; /* 0: not given */
} sxi_dimensions;

/* How one array is cut: the dimension of each axis, or SXI_AXIS_ALL, and the halo. */
typedef struct sxi_axes {
    int n;
    int dimension[SX_MAX_RANK];
    int64_t halo[SX_MAX_RANK];
} sxi_axes;

/* sxi_dimensions_read - SX_ERR_ARGUMENT. */
sx_status sxi_dimensions_read(const char *words, sxi_dimensions *dimensions);

/* sxi_axes_read - SX_ERR_ARGUMENT, also for a name that is no dimension, or stands twice. */
sx_status sxi_axes_read(const char *words, const sxi_dimensions *dimensions, sxi_axes *axes);

#endif
