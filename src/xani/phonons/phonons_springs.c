/* SPDX-License-Identifier: Apache-2.0
 * Models of springs, and what the pump does to springs. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "numer/lattice.h"
#include "xani/phonons/phonons.h"

enum {
    MOST_SHELLS = 8,
    REACH = 3, /* cells looked at in each direction */
    BLOCK = (2 * REACH + 1) * (2 * REACH + 1) * (2 * REACH + 1)
};

static const double SHELL = 1e-3; /* Angstrom */

static int by_length(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int sxi_shells(int64_t count, double *length) {
    int shells = 0;
    for (int64_t k = 0; k < count; k++) {
        if (shells == 0 || length[k] - length[shells - 1] > SHELL) {
            length[shells++] = length[k];
        }
    }
    return shells;
}

int sxi_shell_of(int shells, const double *length, double distance) {
    int k = 0;
    while (k < shells && fabs(distance - length[k]) > SHELL) {
        k++;
    }
    return k;
}

/* The bond number n of atoms i and j, between cells up to REACH apart. */
static void image_of(int n, double image[3]) {
    const int row = 2 * REACH + 1;
    const int at[3] = {n / row / row, n / row % row, n % row};
    for (int k = 0; k < 3; k++) {
        image[k] = at[k] - REACH;
    }
}

/* All pairs of atoms as bonds without strength, the one of an atom with itself included. */
static sx_status pairs(const double *cell, int atoms, const sx_phonons_atom *atom,
                       sx_phonons **made) {
    SXI_TRY(sxi_phonons_create(atoms, BLOCK, (int64_t)atoms * atoms * BLOCK, made));
    memcpy((*made)->cell, cell, sizeof(*made)->cell);
    memcpy((*made)->atom, atom, (size_t)atoms * sizeof *atom);
    for (int n = 0; n < BLOCK; n++) {
        image_of(n, (*made)->image[n]);
        for (int ij = 0; ij < atoms * atoms; ij++) {
            sx_phonons_bond *bond = (*made)->bond + (int64_t)ij * BLOCK + n;
            bond->i = ij / atoms;
            bond->j = ij % atoms;
            bond->image = n;
        }
    }
    return SX_OK;
}

/* The lengths of the bonds, the shortest first and without that of an atom to itself; to be freed.
 */
static sx_status shells_of(const sx_phonons *phonons, int *shells, double **length) {
    *length = malloc((size_t)phonons->bonds * sizeof **length);
    if (!*length) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the lengths of %lld bonds",
                        (long long)phonons->bonds);
    }
    int64_t count = 0;
    for (int64_t b = 0; b < phonons->bonds; b++) {
        const double distance = sxi_phonons_distance(phonons, phonons->bond + b);
        if (distance > SHELL) {
            (*length)[count++] = distance;
        }
    }
    qsort(*length, (size_t)count, sizeof **length, by_length);
    *shells = sxi_shells(count, *length);
    return SX_OK;
}

static void stretch(const sx_phonons *phonons, const sx_phonons_spring *spring,
                    sx_phonons_bond *bond) {
    double e[3];
    sxi_phonons_direction(phonons, bond, e);
    const double length = sxi_norm(3, e);
    for (int s = 0; s < 3; s++) {
        for (int t = 0; t < 3; t++) {
            const double along = e[s] * e[t] / (length * length);
            bond->phi[3 * s + t] = -spring->along * along - spring->across * ((s == t) - along);
        }
    }
}

/* Keeps the bonds that have a spring, and those of atoms with themselves. */
static void put_springs(int shells, const double *length, const sx_phonons_spring *spring,
                        sx_phonons *phonons) {
    int64_t kept = 0;
    for (int64_t b = 0; b < phonons->bonds; b++) {
        sx_phonons_bond *bond = phonons->bond + b;
        const double distance = sxi_phonons_distance(phonons, bond);
        const int shell = sxi_shell_of(shells, length, distance);
        if (shell < shells) {
            stretch(phonons, spring + shell, bond);
        }
        if (shell < shells || distance == 0) {
            phonons->bond[kept++] = *bond;
        }
    }
    phonons->bonds = kept;
    sxi_phonons_balance(phonons);
}

static sx_status check(const double *cell, int atoms, int shells, const sx_phonons *made) {
    double inverse[9];
    if (atoms < 1 || shells < 1 || shells > MOST_SHELLS || !sxi_matrix_invert(cell, inverse)) {
        return SXI_FAIL(
            SX_ERR_ARGUMENT,
            "%d atoms and %d shells in a cell of volume %g; expected at least one atom, "
            "1 to %d shells and a volume",
            atoms, shells, sxi_determinant(cell), MOST_SHELLS);
    }
    for (int i = 0; made && i < atoms; i++) {
        if (!(made->atom[i].mass > 0)) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "atom %d, '%.3s', has no mass and is no known element",
                            i + 1, made->atom[i].element);
        }
    }
    return SX_OK;
}

sx_status sx_phonons_springs(const double *cell, int atoms, const sx_phonons_atom *atom, int shells,
                             const sx_phonons_spring *spring, sx_phonons **phonons) {
    sx_status status = SX_OK;
    sx_phonons *made = NULL;
    double *length = NULL;
    int found = 0;
    SXI_TRY(check(cell, atoms, shells, NULL));
    SXI_GO(pairs(cell, atoms, atom, &made));
    for (int i = 0; i < atoms; i++) {
        if (made->atom[i].mass == 0) {
            made->atom[i].mass = sxi_element_mass(made->atom[i].element);
        }
    }
    SXI_GO(check(cell, atoms, shells, made));
    SXI_GO(shells_of(made, &found, &length));
    put_springs(shells, length, spring, made);
    SXI_GO(sxi_phonons_copy(made, phonons));
out:
    free(length);
    sx_phonons_destroy(&made);
    return status;
}

sx_status sx_phonons_soften(const sx_phonons *phonons, double s, sx_phonons **softened) {
    if (!(s < 1) || !isfinite(s)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "softening %g; expected a number below 1", s);
    }
    SXI_TRY(sxi_phonons_copy(phonons, softened));
    for (int64_t b = 0; b < (*softened)->bonds; b++) {
        for (int k = 0; k < 9; k++) {
            (*softened)->bond[b].phi[k] *= 1 - s;
        }
    }
    return SX_OK;
}

/* The bond of an atom with itself; NULL without. */
static sx_phonons_bond *self_of(sx_phonons *phonons, int i) {
    for (int64_t b = 0; b < phonons->bonds; b++) {
        sx_phonons_bond *bond = phonons->bond + b;
        if (bond->i == i && bond->j == i && sxi_phonons_distance(phonons, bond) < SHELL) {
            return bond;
        }
    }
    return NULL;
}

static sx_status weaken(const int shells, const double *length, const double *s,
                        sx_phonons *phonons) {
    for (int i = 0; i < phonons->atoms; i++) {
        sx_phonons_bond *self = self_of(phonons, i);
        if (!self) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "atom %d has no force constant with itself", i + 1);
        }
        for (int64_t b = 0; b < phonons->bonds; b++) {
            sx_phonons_bond *bond = phonons->bond + b;
            const int shell = sxi_shell_of(shells, length, sxi_phonons_distance(phonons, bond));
            for (int k = 0; k < 9 && bond->i == i && shell < shells; k++) {
                const double lost = s[shell] * bond->phi[k];
                bond->phi[k] -= lost;
                self->phi[k] += lost;
            }
        }
    }
    return SX_OK;
}

sx_status sx_phonons_soften_shells(const sx_phonons *phonons, int shells, const double *s,
                                   sx_phonons **softened) {
    sx_status status = SX_OK;
    sx_phonons *made = NULL;
    double *length = NULL;
    int found = 0;
    SXI_GO(sxi_phonons_copy(phonons, &made));
    SXI_GO(shells_of(made, &found, &length));
    if (shells < 0 || shells > found) {
        status =
            SXI_FAIL(SX_ERR_ARGUMENT, "%d shells of bonds to soften; there are %d", shells, found);
        goto out;
    }
    SXI_GO(weaken(shells, length, s, made));
    *softened = made;
    made = NULL;
out:
    free(length);
    sx_phonons_destroy(&made);
    return status;
}
