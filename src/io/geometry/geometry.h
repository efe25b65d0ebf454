/* SPDX-License-Identifier: Apache-2.0
 * What the readers of geometry files make: panels, each a flat piece of the raw data that lies flat
 * in space. */
#ifndef SXI_GEOMETRY_H
#define SXI_GEOMETRY_H

#include <sextant/geometry.h>

#include "io/hdf5/h5file.h"

enum { SXI_PANEL_NAME = 64, SXI_GEOMETRY_PATH = 256 };

/* Pixel [j][i] of a panel has its centre at origin + a_i fast + b_j slow, where a_i = i + 1/2 and
 * b_j = j + 1/2, or what the tables of the geometry say. */
typedef struct sxi_panel {
    char name[SXI_PANEL_NAME];
    int64_t row, rows; /* in the raw data, counted through all segments */
    int64_t column, columns;
    double origin[3], fast[3], slow[3]; /* m */
    bool stepped;                       /* by the tables */
} sxi_panel;

/* Bits of the mask. */
enum { SXI_PIXEL_BAD = 1, SXI_PIXEL_UNCOVERED = 2 };

struct sx_geometry {
    sx_geometry_facts facts;
    const char *path; /* of the call */
    sx_geometry_options options;
    int64_t rows, columns;
    uint8_t *mask;
    int panels, room;
    sxi_panel *panel;
    double *fast_steps, *slow_steps; /* [columns], [rows of a segment] */
    char data[SXI_GEOMETRY_PATH];    /* of a .geom: where frames lie in a data file */
    int frame_axes;                  /* of a .geom: dimensions that count frames */
};

/* sxi_geometry_panel - one more panel, zeroed; NULL without memory. Pointers to earlier ones become
 * invalid. */
sxi_panel *sxi_geometry_panel(sx_geometry *geometry);

/* sxi_geometry_shape - shape of the raw data; rank 2 or 3. SX_ERR_RANGE where it is absurd. */
sx_status sxi_geometry_shape(sx_geometry *geometry, int rank, const int64_t *shape);

/* sxi_geometry_finish - checks the panels (inside the shape, apart, neither degenerate nor light years
 * away), makes the mask, in which only what no panel covers is set, and the handedness. */
sx_status sxi_geometry_finish(sx_geometry *geometry);

/* sxi_geometry_energy - photon energy in eV, or wavelength in m, as far as the options do not say it.
 */
void sxi_geometry_energy(sx_geometry *geometry, double photon_energy);
void sxi_geometry_wavelength(sx_geometry *geometry, double wavelength);

/* One reader for each kind. text: the whole file, ended by \0, which the reader may cut to pieces. */
sx_status sxi_geometry_poni(sx_geometry *geometry, char *text);
sx_status sxi_geometry_crystfel(sx_geometry *geometry, char *text);
sx_status sxi_geometry_psana(sx_geometry *geometry, char *text);
sx_status sxi_geometry_nexus(sx_geometry *geometry, sx_hdf5 *file);

/* sxi_vector_* - of three. cross: may not alias. */
void sxi_vector_cross(const double *a, const double *b, double *product);
double sxi_vector_dot(const double *a, const double *b);

#endif
