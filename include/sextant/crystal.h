/* SPDX-License-Identifier: Apache-2.0
 * The sample: its unit cell and symmetry, how it is oriented, what turns it.
 *
 * Laboratory frame: NeXus/McStas, z along the beam, y up, x to the left looking downstream.
 * Scattering vectors q are in 1/Angstrom and include 2 pi; B, UB and 1/d do not:
 *
 *   q = R 2 pi UB (h, k, l)
 *
 * with R the rotation by the goniometer. (h, k, l) refer to the cell as given, which may be
 * centred. Matrices are [3][3], rows one after the other. Theory: docs/theory/crystal.md. */
#ifndef SEXTANT_CRYSTAL_H
#define SEXTANT_CRYSTAL_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_crystal_atom {
    char element[4];
    double position[3]; /* in units of a, b, c */
} sx_crystal_atom;

/* A rotation of the goniometer. */
typedef struct sx_crystal_axis {
    char name[32];
    double direction[3]; /* unit vector in the laboratory while all angles are zero */
    int sense;           /* 1: positive angles turn right-handed about direction; -1: left-handed */
    char *dataset;       /* of the run, with the angle in degrees; NULL: the angle is fixed */
    double angle;        /* degrees, of a fixed axis */
} sx_crystal_axis;

typedef struct sx_crystal {
    double cell[6]; /* a, b, c in Angstrom; alpha, beta, gamma in degrees */
    double b[9];    /* (h, k, l) to 1/Angstrom, as Busing and Levy; b_inverse: and back */
    double b_inverse[9];
    char centring;      /* P, A, B, C, I, F or R (hexagonal axes, obverse) */
    int space_group;    /* 1 to 230; 0: only the centring is known */
    char symbol[24];    /* "Fd-3m:1", of the space group and its setting; "" without */
    int rotations;      /* of the point group with the inversion, at most 48; 2 without group */
    int (*rotation)[9]; /* (h, k, l) as a row times it is an equivalent (h, k, l) */
    int atoms;          /* of the cell, symmetry applied; may be 0 */
    sx_crystal_atom *atom;
    bool oriented;
    double ub[9];
    int axes; /* from the base, which turns all others, to the sample */
    sx_crystal_axis *axis;
    double zone[9]; /* shortest basis of the reciprocal lattice, rows in 1/Angstrom without 2 pi */
    double zone_inverse[9];
} sx_crystal;

/* sx_crystal_create - a crystal of which only this is known.
 *
 * in   cell      a, b, c in Angstrom; alpha, beta, gamma in degrees
 * in   symmetry  a centring ("F"), a space group by number ("227") or symbol ("Fd-3m"); of the
 *                settings the first in the International Tables that the cell allows, or the one
 *                named ("Fd-3m:2", "P2_1/c:b2")
 * in   atoms, atom  one of each kind suffices: the others follow from the symmetry; 0, NULL: none
 * out  crystal   to be destroyed by the caller; not oriented, without goniometer
 *
 * SX_ERR_FORMAT with a sentence: an impossible cell, an unknown symmetry or one that the cell has
 * not got, atoms that two origins of the group would place differently. SX_ERR_MEMORY. */
SX_API sx_status sx_crystal_create(const double cell[6], const char *symmetry, int atoms,
                                   const sx_crystal_atom *atom, sx_crystal **crystal);

/* sx_crystal_read - a crystal from a YAML file; its fields are in docs/theory/crystal.md, examples
 * in examples/. SX_ERR_IO; SX_ERR_FORMAT with file, line or field, what was found and what was
 * expected; SX_ERR_MEMORY. */
SX_API sx_status sx_crystal_read(const char *path, sx_crystal **crystal);

/* sx_crystal_destroy - accepts NULL and the address of NULL. */
SX_API void sx_crystal_destroy(sx_crystal **crystal);

/* sx_crystal_set_ub - orients the crystal. SX_ERR_FORMAT where UB is not a rotation of B within
 * 1 % (another cell, 2 pi included, left-handed): the crystal is as before. */
SX_API sx_status sx_crystal_set_ub(sx_crystal *crystal, const double ub[9]);

/* A peak that was seen: its indices, and where. */
typedef struct sx_crystal_peak {
    double hkl[3];
    double q[3]; /* laboratory, 1/Angstrom with 2 pi */
    const double
        *angle; /* [axes] degrees, at which it was seen; NULL: all zero, fixed ones fixed */
} sx_crystal_peak;

/* sx_crystal_set_reflections - orients by two peaks, of which only the directions of q count: the
 * first exactly, the second in the plane (Busing and Levy).
 *
 * SX_ERR_FORMAT where they are parallel, or the angle between them differs from that of their
 * indices by more than 2 degrees, as it does for wrong indices: the crystal is as before. */
SX_API sx_status sx_crystal_set_reflections(sx_crystal *crystal, const sx_crystal_peak peak[2]);

typedef struct sx_crystal_fit {
    double rms;         /* of the distances between peaks and their calculated places, 1/Angstrom */
    int64_t worst;      /* which peak is farthest off */
    double worst_off;   /* and by how much, 1/Angstrom */
    int64_t misindexed; /* peaks for which other indices would fit better */
    double turned;      /* degrees between the orientation before and after; NaN without */
    double mirrored;    /* rms if the laboratory were mirrored; below rms: one axis is reversed */
} sx_crystal_fit;

/* sx_crystal_refine - turns the crystal so that the peaks lie best, by least squares of the
 * distances in reciprocal space. The cell is not refined.
 *
 * in      count >= 2, peak  not all in one line
 * in      tolerance  1/Angstrom; 0: a quarter of the shortest reciprocal-lattice vector
 * in,out  crystal
 * out     fit        also on SX_ERR_NUMERIC; NULL: not wanted
 *
 * SX_ERR_NUMERIC where a peak is off by more than tolerance, or has other indices nearer: they are
 * wrong, or the cell or the geometry is. The crystal is then as before. SX_ERR_ARGUMENT. */
SX_API sx_status sx_crystal_refine(sx_crystal *crystal, int64_t count, const sx_crystal_peak *peak,
                                   double tolerance, sx_crystal_fit *fit);

/* sx_crystal_rotation - the rotation R by the goniometer.
 * in  angle  [axes] degrees; those of fixed axes are not read. NULL: all that are not fixed zero */
SX_API void sx_crystal_rotation(const sx_crystal *crystal, const double *angle, double r[9]);

/* sx_crystal_q_matrix, sx_crystal_hkl_matrix - the matrices that turn (h, k, l) into laboratory q
 * at these angles, and back; one for all pixels of a frame. SX_ERR_MISSING: not oriented. */
SX_API sx_status sx_crystal_q_matrix(const sx_crystal *crystal, const double *angle, double m[9]);
SX_API sx_status sx_crystal_hkl_matrix(const sx_crystal *crystal, const double *angle, double m[9]);

/* sx_crystal_fold - hkl = g + q with g the nearest point of the reciprocal lattice that the
 * centring allows, so that q lies in the first Brillouin zone. Of points equally near the one with
 * the smallest h is taken, then k, then l: q depends on hkl only up to lattice vectors. NaN gives
 * NaN. Threads: yes. g and q may be NULL. */
SX_API void sx_crystal_fold(const sx_crystal *crystal, const double hkl[3], double g[3],
                            double q[3]);

/* sx_crystal_reduce - the equivalent of hkl in one wedge of the Brillouin zone: of all it becomes
 * by the point group (with inversion) and folding, the one with the largest h, then k, then l. */
SX_API void sx_crystal_reduce(const sx_crystal *crystal, const double hkl[3], double reduced[3]);

/* sx_crystal_allowed - whether whole indices are a point of the reciprocal lattice. */
SX_API bool sx_crystal_allowed(const sx_crystal *crystal, const double hkl[3]);

/* sx_crystal_length - |q| of hkl, 1/Angstrom with 2 pi. */
SX_API double sx_crystal_length(const sx_crystal *crystal, const double hkl[3]);

/* A stop of a path through reciprocal space. */
typedef struct sx_crystal_stop {
    char label[24];
    double hkl[3];
    bool jump; /* the path begins anew here; true of the first */
} sx_crystal_stop;

/* sx_crystal_path - "G-X-W-K-G-L" as points; "X-U|K-G" jumps from U to K. Points are known by name
 * for the simple, face-centred and body-centred cubic and the hexagonal lattice; "(1,0.5,0)" is a
 * point of any.
 *
 * out  stops  to be freed by the caller; count >= 2
 *
 * SX_ERR_USAGE with the names there are, SX_ERR_MEMORY. */
SX_API sx_status sx_crystal_path(const sx_crystal *crystal, const char *text,
                                 sx_crystal_stop **stops, int *count);

#ifdef __cplusplus
}
#endif
#endif
