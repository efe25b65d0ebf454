/* SPDX-License-Identifier: Apache-2.0
 * Calculated bands that fitted frequencies are compared with: from force constants, or a table. */
#ifndef SXI_XANI_BANDS_H
#define SXI_XANI_BANDS_H

#include <sextant/crystal.h>
#include <sextant/phonons.h>

typedef struct sxi_bands {
    int count;           /* bands */
    sx_phonons *phonons; /* of force constants; NULL: a table */
    const sx_crystal *crystal;
    int64_t rows;
    double *q;         /* [rows][3] in the wedge of the zone, (h, k, l) */
    double *frequency; /* [rows][count] THz */
} sxi_bands;

/* sxi_bands_model - takes over phonons, of the cell of the crystal (within 2 %). SX_ERR_FORMAT. */
sx_status sxi_bands_model(sx_phonons **phonons, const sx_crystal *crystal, const char *poscar,
                          sxi_bands *bands);

/* sxi_bands_read - a table with commas. Its last line before numbers names the columns, among them h, k, l of the
 * crystal's cell and f1, f2, ... in THz; others are not looked at, and '#' begins a comment.
 * SX_ERR_FORMAT naming line and column, SX_ERR_IO, SX_ERR_MEMORY. */
sx_status sxi_bands_read(const char *path, const sx_crystal *crystal, sxi_bands *bands);
void sxi_bands_free(sxi_bands *bands);

/* sxi_bands_at - the bands at (h, k, l), wherever symmetry puts it.
 * out  frequency  [count] THz; of a table between its nearest rows, NaN where none lies within
 *                         0.02 1/Angstrom */
sx_status sxi_bands_at(const sxi_bands *bands, const double hkl[3], double *frequency);

#endif
