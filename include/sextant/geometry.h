/* SPDX-License-Identifier: Apache-2.0
 * Where the pixels of a detector are, from the geometry files of the field.
 *
 * Frame: origin at the sample; z along the beam, y up, x to the left looking downstream (NeXus,
 * McStas). Metres. Positions are those of the centres of pixels. */
#ifndef SEXTANT_GEOMETRY_H
#define SEXTANT_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/array.h>
#include <sextant/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_geometry sx_geometry; /* read only once made; any thread may use it */

/* X(name, word). Told by content, not by name. */
#define SX_GEOMETRY_LIST(X)                                                                        \
    X(PONI, "PONI")         /* pyFAI, versions 1 and 2 */                                          \
    X(CRYSTFEL, "CrystFEL") /* .geom */                                                            \
    X(PSANA, "psana")       /* geometry .data of LCLS */                                           \
    X(NEXUS, "NeXus")       /* NXdetector with depends_on, or with beam centre and distance */

typedef enum sx_geometry_kind {
#define SX_GEOMETRY_ENUM(name, word) SX_GEOMETRY_##name,
    SX_GEOMETRY_LIST(SX_GEOMETRY_ENUM)
#undef SX_GEOMETRY_ENUM
} sx_geometry_kind;

/* sx_geometry_kind_name - "CrystFEL". */
SX_API const char *sx_geometry_kind_name(sx_geometry_kind kind);

/* All zero, or NULL: the geometry file alone. */
typedef struct sx_geometry_options {
    /* HDF5 file with the frames: the one that paths in a .geom mean (photon_energy, clen, masks) and
     * whose shape of frames is used. */
    const char *data;
    double photon_energy;      /* eV, in place of what the files say; 0: theirs */
    const sx_context *context; /* hears warnings */
} sx_geometry_options;

typedef struct sx_geometry_facts {
    sx_geometry_kind kind;
    /* Of the raw data: [rows][columns], or [segments][rows][columns] where the detector has them. */
    int rank;
    int64_t shape[3];
    int64_t pixels;    /* in all */
    int64_t uncovered; /* of them outside of every panel: position NaN, masked */
    int64_t masked;    /* with those */
    int panels;
    double wavelength;    /* m; NaN: the file does not know it */
    double photon_energy; /* eV; NaN as well for electrons */
    bool has_distance;    /* false: the file leaves it open, z is NaN */
    /* 1: drawn with row 0 on top and column 0 on the left, a frame is what one sees from the sample
     * looking downstream. -1: it is the mirror image of that. 0: panels differ, which no real
     * detector does. Turning a detector, or the drawing, does not change it. */
    int handedness;
    char detector[64]; /* its name, if the file has one */
    char segment[96];  /* how the pixels of a segment are spaced, where the file leaves that to the
                          reader (psana); else "" */
} sx_geometry_facts;

/* sx_geometry_read - reads a geometry. *geometry is NULL on failure.
 *
 * in   options  NULL allowed
 *
 * SX_ERR_IO, SX_ERR_FORMAT (no geometry, or a line that is wrong), SX_ERR_MISSING (something that
 * positions need), SX_ERR_UNSUPPORTED (what would change positions and is not understood),
 * SX_ERR_SHAPE, SX_ERR_RANGE, SX_ERR_UNIT, SX_ERR_MEMORY. */
SX_API sx_status sx_geometry_read(const char *path, const sx_geometry_options *options,
                                  sx_geometry **geometry);

/* sx_geometry_destroy - NULL allowed. */
SX_API void sx_geometry_destroy(sx_geometry **geometry);

/* sx_geometry_facts_of - what is known of it. Valid as long as the geometry. */
SX_API const sx_geometry_facts *sx_geometry_facts_of(const sx_geometry *geometry);

/* sx_geometry_place - positions of some rows.
 *
 * in   first, rows  counted through all segments: row r of segment s is s * shape[1] + r
 * out  x, y, z      [rows][columns] m; NaN outside of every panel
 *
 * SX_ERR_RANGE. Threads: yes, on distinct outputs. */
SX_API sx_status sx_geometry_place(const sx_geometry *geometry, int64_t first, int64_t rows,
                                   double *x, double *y, double *z);

/* sx_geometry_mask - [pixels] 0 good, else bad. Valid as long as the geometry. */
SX_API const uint8_t *sx_geometry_mask(const sx_geometry *geometry);

/* One frame of a data file in which each has a dataset of its own, or a few: what stands for the %
 * of the path, and the numbers for the % among the dimensions, "run1/shot7//0". false: no more. */
typedef bool (*sx_geometry_frame_fn)(void *data, const char *name);

/* sx_geometry_frames - the frames of a data file that a .geom names, in the order of their names.
 *
 * SX_ERR_ARGUMENT where the geometry is no .geom; SX_ERR_MISSING without any. */
SX_API sx_status sx_geometry_frames(const sx_geometry *geometry, const char *data,
                                    sx_geometry_frame_fn fn, void *fn_data);

#ifdef __cplusplus
}
#endif
#endif
