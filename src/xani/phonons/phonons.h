/* SPDX-License-Identifier: Apache-2.0
 * What the files of lattice dynamics share. */
#ifndef SXI_PHONONS_H
#define SXI_PHONONS_H

#include <sextant/phonons.h>

/* (rad/ps)^2 per eV/(Angstrom^2 u). Source: CODATA 2018, e 1e20 / (u 1e24). */
#define SXI_EV_A2_U 9648.5332156653276

/* sxi_element_mass - standard atomic weight of "Si", u; 0 for what is no element. Source: IUPAC
 * 2007, of a radioactive element its longest-lived isotope. */
double sxi_element_mass(const char *symbol);

/* sxi_element_number - 14 for "Si"; 0 for what is no element. */
int sxi_element_number(const char *symbol);

/* A cell with its atoms. */
typedef struct sxi_cell {
    double vectors[9]; /* [3][3] rows, Angstrom */
    int atoms;
    sx_phonons_atom *atom; /* owned */
} sxi_cell;

/* sxi_poscar_read - SX_ERR_IO, SX_ERR_FORMAT with the line, SX_ERR_MEMORY. */
sx_status sxi_poscar_read(const char *path, sxi_cell *cell);
void sxi_cell_destroy(sxi_cell *cell);

/* The atoms of a supercell in phonopy's order, and which of them are one another's translation. */
typedef struct sxi_supercell {
    double vectors[9]; /* [3][3] rows, Angstrom */
    int cell_atoms;    /* of the unit cell */
    int atoms;         /* of the supercell */
    int *unit;         /* [atoms] which atom of the unit cell it is */
    int (*shift)[3];   /* [atoms] and in which unit cell */
    int translations;  /* lattice vectors within the unit cell, the zero one first */
    double (*translation)[3];
    int primitive;       /* atoms that are not translations of one another */
    int *representative; /* [primitive] atoms of the unit cell, the first of their kind */
    int *kind;           /* [cell_atoms] 0 <= kind < primitive */
} sxi_supercell;

/* sxi_supercell_create - SX_ERR_ARGUMENT (singular or too large matrix), SX_ERR_MEMORY. */
sx_status sxi_supercell_create(const sxi_cell *cell, const int matrix[9], sxi_supercell *super);
void sxi_supercell_destroy(sxi_supercell *super);

/* sxi_phonons_create - room for atoms, images and bonds; all zero. */
sx_status sxi_phonons_create(int atoms, int images, int64_t bonds, sx_phonons **phonons);

/* sxi_phonons_copy - SX_ERR_MEMORY. */
sx_status sxi_phonons_copy(const sx_phonons *phonons, sx_phonons **copy);

/* sxi_phonons_image - the number of a lattice vector among the images, added if it is new; room
 * for it is the caller's business. */
int sxi_phonons_image(sx_phonons *phonons, const double image[3]);

/* sxi_phonons_distance - the length of a bond, Angstrom; sxi_phonons_direction - and its vector. */
double sxi_phonons_distance(const sx_phonons *phonons, const sx_phonons_bond *bond);
void sxi_phonons_direction(const sx_phonons *phonons, const sx_phonons_bond *bond,
                           double vector[3]);

/* sxi_phonons_balance - gives each atom the bond to itself that its other bonds ask for. */
void sxi_phonons_balance(sx_phonons *phonons);

/* sxi_shells - distinct lengths, those within 1e-3 of the first being one.
 * in,out  length  [count] sorted, and its first ones replaced. Returns how many. */
int sxi_shells(int64_t count, double *length);

/* sxi_shell_of - which of the lengths it is; shells if none. */
int sxi_shell_of(int shells, const double *length, double distance);

#endif
