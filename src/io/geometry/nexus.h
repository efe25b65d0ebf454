/* SPDX-License-Identifier: Apache-2.0
 * Axes of NeXus files: chains of depends_on, units, scalars. */
#ifndef SXI_NEXUS_H
#define SXI_NEXUS_H

#include "io/geometry/geometry.h"

enum { SXI_NEXUS_PATH = 1024 };

/* x' = turn x + shift, m. */
typedef struct sxi_motion {
    double turn[3][3], shift[3];
} sxi_motion;

/* sxi_nexus_axis - length (m) or angle (rad), unit vector, offset (m) of one axis and what it depends
 * on ("." at the end). An axis with several values stands still, or it is SX_ERR_UNSUPPORTED. */
typedef struct sxi_axis {
    double value, vector[3], offset[3];
    bool turns;
    char next[SXI_NEXUS_PATH];
} sxi_axis;
sx_status sxi_nexus_axis(sx_hdf5 *file, const char *path, sxi_axis *axis);

/* sxi_nexus_chain - from the frame of what depends on the axis `path` to the laboratory. */
sx_status sxi_nexus_chain(sx_hdf5 *file, const char *path, sxi_motion *motion);
void sxi_nexus_move(const sxi_motion *motion, bool is_place, const double *from, double *to);

/* sxi_nexus_number - a number in SI units by its attribute units; of several, which must agree within
 * the (relative) tolerance, the mean. pixel: what "pixel" and no unit mean; 0: an error. */
typedef enum sxi_quantity { SXI_LENGTH, SXI_ANGLE, SXI_ENERGY } sxi_quantity; /* m, rad, eV */
sx_status sxi_nexus_number(sx_hdf5 *file, const char *path, sxi_quantity quantity, double pixel,
                           double tolerance, double *number);

/* Names in a group, each ended by \0, length bytes in all; to be freed. They are listed before any is
 * looked at: no call of the HDF5 library runs inside another. */
sx_status sxi_member_names(sx_hdf5 *file, const char *group, char **names, size_t *length);

/* sxi_nexus_join - "group/name" of any group, "/" among them. SX_ERR_RANGE where it is too long. */
sx_status sxi_nexus_join(const char *group, const char *name, char *path);

#endif
