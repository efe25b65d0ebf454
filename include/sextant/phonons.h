/* SPDX-License-Identifier: Apache-2.0
 * Lattice dynamics in the harmonic approximation: force constants to phonons at any q.
 *
 * Units: length Angstrom, mass u, force constants eV/Angstrom^2, frequency THz. A wave vector q is
 * (h, k, l) in reciprocal lattice units of the unit cell of the model: the phase of a lattice
 * vector R, in units of that cell's vectors, is 2 pi (h R1 + k R2 + l R3). sx_phonons_hkl turns a q
 * in 1/Angstrom into it. Complex numbers are pairs of real and imaginary part. */
#ifndef SEXTANT_PHONONS_H
#define SEXTANT_PHONONS_H

#include <stdint.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_phonons_atom {
    char element[4];
    double mass;        /* u */
    double position[3]; /* in units of the cell's vectors */
} sx_phonons_atom;

/* The force on atom i of the cell at the origin, when atom j of the cell at image is displaced, is
 * -phi times the displacement. Between two atoms there are several bonds where several images are
 * equally near. */
typedef struct sx_phonons_bond {
    int i, j;
    int image;
    double phi[9]; /* [3][3] Cartesian */
} sx_phonons_bond;

/* Force constants of a crystal. The atoms are those of its primitive cell, also where the cell is
 * a larger one (the cubic cell of silicon: two atoms, cell of eight). */
typedef struct sx_phonons {
    double cell[9]; /* [3][3] rows a, b, c, Cartesian, Angstrom */
    int atoms;      /* N */
    sx_phonons_atom *atom;
    int images;
    double (*image)[3]; /* lattice vectors, in units of the cell's vectors */
    int64_t bonds;
    sx_phonons_bond *bond;
} sx_phonons;

/* sx_phonons_read - force constants as phonopy writes them.
 *
 * in   constants  FORCE_CONSTANTS, full (a row for every atom of the supercell) or compact (for
 *                 every atom of the primitive cell)
 * in   poscar     the unit cell that the supercell was made of, POSCAR of VASP 4 or 5. Its primitive
 *                 cell is found; q refers to this cell
 * in   supercell  [3][3] whole numbers, rows one after the other; column k holds the k-th vector of
 *                 the supercell, as with phonopy's DIM. NULL: the same multiple of the cell in
 *                 each direction, which then follows from the number of atoms
 * out  phonons    to be destroyed by the caller
 *
 * The atoms of the supercell are expected in phonopy's order. Where an atom has several nearest
 * images, each counts an equal part. Masses are the standard atomic weights. Polar corrections
 * (BORN) are not made.
 *
 * SX_ERR_IO, SX_ERR_FORMAT with file and line, SX_ERR_SHAPE, SX_ERR_MEMORY. */
SX_API sx_status sx_phonons_read(const char *constants, const char *poscar, const int *supercell,
                                 sx_phonons **phonons);

/* Springs between neighbours: an atom moved by u against a neighbour in the direction e pulls with
 * -along (e.u) e - across (u - (e.u) e). */
typedef struct sx_phonons_spring {
    double along, across; /* eV/Angstrom^2 */
} sx_phonons_spring;

/* sx_phonons_springs - a model of springs. Shell 0 are the nearest of all pairs of atoms, shell 1
 * the next distance, and so on.
 *
 * in   cell    [3][3] rows, Angstrom; primitive
 * in   atoms, atom     the atoms of the cell; a mass of 0 is taken from the element
 * in   shells, spring  [shells] of the nearest shells, at most 8
 *
 * SX_ERR_ARGUMENT, SX_ERR_MEMORY. */
SX_API sx_status sx_phonons_springs(const double *cell, int atoms, const sx_phonons_atom *atom,
                                    int shells, const sx_phonons_spring *spring,
                                    sx_phonons **phonons);

/* sx_phonons_model - a named crystal: "diamond" (bonds with 15 % of their stiffness across), "fcc",
 * "bcc", "sc" (springs to the first and, half as stiff, to the second neighbours).
 *
 * in   element   gives the mass; both atoms of diamond
 * in   a         lattice constant of the cubic cell, to which q refers, Angstrom
 * in   highest   THz, the highest frequency of all q
 *
 * SX_ERR_ARGUMENT with the names, SX_ERR_MEMORY. */
SX_API sx_status sx_phonons_model(const char *name, const char *element, double a, double highest,
                                  sx_phonons **phonons);

/* sx_phonons_soften - a copy whose dynamical matrix is (1 - s) D at all q: all frequencies change
 * by sqrt(1 - s), no eigenvector does. s < 1; negative stiffens. SX_ERR_ARGUMENT, SX_ERR_MEMORY. */
SX_API sx_status sx_phonons_soften(const sx_phonons *phonons, double s, sx_phonons **softened);

/* sx_phonons_soften_shells - a copy in which the bonds of shell k are (1 - s[k]) of themselves, and
 * what holds each atom has lost as much, so that a shift of the whole crystal costs no more than
 * before. Other eigenvectors, so that modes mix. Shells beyond the last are kept.
 *
 * in  shells, s  [shells]; shell 0 are the nearest neighbours. Distances that differ by less than
 *                1e-3 are one shell
 *
 * SX_ERR_ARGUMENT (fewer shells than that), SX_ERR_MEMORY. */
SX_API sx_status sx_phonons_soften_shells(const sx_phonons *phonons, int shells, const double *s,
                                          sx_phonons **softened);

/* sx_phonons_destroy - accepts NULL and the address of NULL. */
SX_API void sx_phonons_destroy(sx_phonons **phonons);

/* sx_phonons_hkl - q, Cartesian in the frame of cell, 1/Angstrom with 2 pi, as (h, k, l) of the
 * cell; sx_phonons_q - the way back. */
SX_API void sx_phonons_hkl(const sx_phonons *phonons, const double q[3], double hkl[3]);
SX_API void sx_phonons_q(const sx_phonons *phonons, const double hkl[3], double q[3]);

/* sx_phonons_matrix - the dynamical matrix.
 *
 *   D_is,jt(q) = (m_i m_j)^-1/2 sum_R phi_is,jt(0, R) exp(2 pi i q.R)
 *
 * in   hkl  [3]
 * out  d    [3 N][3 N][2] (rad/ps)^2, Hermitian; row 3 i + s is Cartesian direction s of atom i
 *
 * The phase holds the lattice vector alone, without the positions of the atoms within the cell, so
 * D(q + G) = D(q) for every G of the reciprocal lattice. Threads: yes.
 * Theory: docs/theory/phonons.md. */
SX_API sx_status sx_phonons_matrix(const sx_phonons *phonons, const double hkl[3], double *d);

/* sx_phonons_modes - frequencies and eigenvectors at q.
 *
 * in   hkl        [3]
 * out  frequency  [3 N] THz in increasing order; of an unstable mode minus its modulus
 * out  vectors    [3 N][3 N][2] row k is the unit vector e of mode k, NULL: not wanted. The atom i in
 *                 cell R moves as Re[m_i^-1/2 e_i exp(2 pi i q.R)]: as D, e is the same at q + G.
 *                 Its free phase is chosen so that its largest element is real and positive
 *
 * SX_ERR_NUMERIC (a force constant or q is not finite), SX_ERR_MEMORY. Threads: yes. */
SX_API sx_status sx_phonons_modes(const sx_phonons *phonons, const double hkl[3], double *frequency,
                                  double *vectors);

/* sx_phonons_sum_rule - how far the crystal resists a shift as a whole: the largest element of
 * sum over j, R of phi_ij(R), eV/Angstrom^2. 0 in an exact model. */
SX_API double sx_phonons_sum_rule(const sx_phonons *phonons);

#ifdef __cplusplus
}
#endif
#endif
