/* SPDX-License-Identifier: Apache-2.0
 * What the files of the crystal share. */
#ifndef SXI_CRYSTAL_H
#define SXI_CRYSTAL_H

#include <sextant/crystal.h>

enum { SXI_OPERATIONS = 192 };

/* A space group in one setting, or a centring: x' = rotation x + translation. */
typedef struct sxi_symmetry {
    int number;      /* 0: only a centring */
    char symbol[24]; /* with the setting */
    char centring;
    int operations;
    int rotation[SXI_OPERATIONS][9];
    double translation[SXI_OPERATIONS][3];
} sxi_symmetry;

/* sxi_symmetry_find - what a text names, in the setting that fits cell and atoms. SX_ERR_FORMAT,
 * SX_ERR_MEMORY. */
sx_status sxi_symmetry_find(const char *text, const double cell[6], int atoms,
                            const sx_crystal_atom *atom, sxi_symmetry *symmetry);

/* sxi_symmetry_expand - all atoms that the operations make of these; to be freed. SX_ERR_MEMORY. */
sx_status sxi_symmetry_expand(const sxi_symmetry *symmetry, int atoms, const sx_crystal_atom *atom,
                              sx_crystal_atom **all, int *count);

/* sxi_centring_points - the lattice points of a centred cell, the origin first; 0 for no centring.
 * sxi_centring_basis - its primitive cell, rows in units of a, b, c. */
int sxi_centring_points(char letter, double point[4][3]);
void sxi_centring_basis(char letter, double basis[9]);

/* sxi_crystal_b - the matrix of Busing and Levy. SX_ERR_FORMAT: there is no such cell. */
sx_status sxi_crystal_b(const double cell[6], double b[9]);

/* sxi_crystal_add_axes - a goniometer for a crystal without; texts are copied. SX_ERR_MEMORY. */
sx_status sxi_crystal_add_axes(sx_crystal *crystal, int axes, const sx_crystal_axis *axis);

#endif
