/* SPDX-License-Identifier: Apache-2.0
 * xani pixels: where each pixel is, in the laboratory and in reciprocal space. */
#ifndef SEXTANT_PIXELS_H
#define SEXTANT_PIXELS_H

#include <stdbool.h>

#include <sextant/context.h>
#include <sextant/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_xani_pixels_options {
    const char *geometry; /* PONI, CrystFEL .geom, psana .data or NeXus */
    const char *data;     /* the HDF5 file whose paths a .geom names; NULL: none */
    const char *crystal;  /* crystal.yaml with an orientation, for h, k, l; NULL: none */
    double photon_energy; /* eV; 0: from the files */
    bool overwrite;
} sx_xani_pixels_options;

typedef struct sx_xani_pixels_summary {
    sx_geometry_facts geometry;
    /* Of the pixels that are not masked; NaN where none is known. 1/Angstrom, rad. */
    double q_least, q_most, two_theta_least, two_theta_most;
} sx_xani_pixels_summary;

/* sx_xani_pixels - writes pixels.h5 (layout: docs/man/sextant-pixels.h5.5.scd). The output appears
 * complete or not at all. Memory: the mask, a byte a pixel, and bands of some 50 MB.
 *
 * out  summary  NULL allowed
 *
 * As sx_geometry_read and sx_crystal_read; SX_ERR_MISSING where the crystal is not oriented;
 * SX_ERR_EXISTS, SX_ERR_CANCELLED. */
SX_API sx_status sx_xani_pixels(const sx_xani_pixels_options *options, const char *output,
                                const sx_context *context, sx_xani_pixels_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
