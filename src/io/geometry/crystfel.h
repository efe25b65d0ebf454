/* SPDX-License-Identifier: Apache-2.0
 * What a CrystFEL .geom says, before it becomes panels. */
#ifndef SXI_CRYSTFEL_H
#define SXI_CRYSTFEL_H

#include "io/geometry/geometry.h"
#include "io/geometry/text.h"

enum { SXI_GEOM_DIMS = 8, SXI_GEOM_MASKS = 8, SXI_GEOM_MOST = 1 << 12 };

/* A number, or the path of a dataset of the data file, and its unit. */
typedef struct sxi_geom_value {
    bool given;
    double number;
    char path[SXI_GEOMETRY_PATH]; /* "": a number */
    char unit[8];                 /* "" : none said */
} sxi_geom_value;

/* What a dimension of the dataset counts. */
enum {
    SXI_DIM_NONE = -4,
    SXI_DIM_FRAME = -3,
    SXI_DIM_SLOW = -2,
    SXI_DIM_FAST = -1
}; /* >= 0: fixed */

typedef struct sxi_geom_mask {
    char data[SXI_GEOMETRY_PATH], file[SXI_GEOMETRY_PATH];
    uint64_t good, bad; /* bits */
} sxi_geom_mask;

enum {
    SXI_MIN_FS,
    SXI_MAX_FS,
    SXI_MIN_SS,
    SXI_MAX_SS,
    SXI_CORNER_X,
    SXI_CORNER_Y,
    SXI_RES,
    SXI_REALS
};

typedef struct sxi_geom_panel {
    char name[SXI_PANEL_NAME];
    double real[SXI_REALS]; /* NaN: not given */
    double coffset;
    double fs[3], ss[3]; /* all zero: not given */
    sxi_geom_value clen;
    char data[SXI_GEOMETRY_PATH];
    int dim[SXI_GEOM_DIMS];
    bool no_index;
    double mask_edge;
    sxi_geom_mask mask[SXI_GEOM_MASKS];
    int64_t segment; /* filled when the shape is known */
} sxi_geom_panel;

enum { SXI_BAD_FS, SXI_BAD_SS, SXI_BAD_X, SXI_BAD_Y, SXI_BAD_AXES };

typedef struct sxi_geom_bad {
    char name[SXI_PANEL_NAME], panel[SXI_PANEL_NAME];
    double least[SXI_BAD_AXES], most[SXI_BAD_AXES]; /* NaN: not given */
} sxi_geom_bad;

enum {
    SXI_BEAM_ENERGY,
    SXI_BEAM_WAVELENGTH,
    SXI_BEAM_VOLTAGE,
    SXI_SHIFT_X,
    SXI_SHIFT_Y,
    SXI_GLOBALS
};

typedef struct sxi_geom {
    sxi_line line;
    sxi_geom_panel defaults; /* for panels that are first named later */
    int panels, bads;
    sxi_geom_panel *panel;
    sxi_geom_bad *bad;
    sxi_geom_value global[SXI_GLOBALS];
    sx_hdf5 *data; /* NULL: none named */
} sxi_geom;

/* sxi_geom_key - one "key = value", of a panel or bad region where the key has a name before a slash. */
sx_status sxi_geom_key(sxi_geom *geom, char *key, char *value);

/* sxi_geom_panels - shape, positions and checks. sxi_geom_beam - photon energy or wavelength. */
sx_status sxi_geom_panels(sxi_geom *geom, sx_geometry *geometry);
sx_status sxi_geom_beam(sxi_geom *geom, sx_geometry *geometry);

/* sxi_geom_masks - bad regions, edges, panels left out and mask files, once the panels are there. */
sx_status sxi_geom_masks(const sxi_geom *geom, sx_geometry *geometry);

/* sxi_geom_number - the value in SI units, or eV: from the data file if it is a path. *there is false
 * where that file was not named. units: pairs of unit and factor, the first for none, ended by NULL. */
typedef struct sxi_geom_unit {
    const char *unit;
    double factor;
} sxi_geom_unit;
sx_status sxi_geom_number(const sxi_geom *geom, const char *what, const sxi_geom_value *value,
                          const sxi_geom_unit *units, double tolerance, double *number,
                          bool *there);

#endif
