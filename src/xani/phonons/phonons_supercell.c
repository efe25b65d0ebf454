/* SPDX-License-Identifier: Apache-2.0
 * Which atom of a supercell is which. Its order is the one in which phonopy builds it: for each
 * atom of the unit cell, over a block of cells that holds the supercell, a fastest; of those that
 * are the same atom the first. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "numer/lattice.h"
#include "xani/phonons/phonons.h"

enum { MOST_CELLS = 4096 };

/* Atoms that a translation puts so near to another sit on it; files write 1/3 as 0.3333. */
static const double SAME_PLACE = 2e-3; /* Angstrom */

/* The length of d, in units of the cell's vectors, up to a vector of its lattice. */
static double distance(const sxi_cell *cell, const double d[3]) {
    const double whole[3] = {d[0] - round(d[0]), d[1] - round(d[1]), d[2] - round(d[2])};
    double vector[3];
    sxi_vector_times(whole, cell->vectors, vector);
    return sxi_norm(3, vector);
}

/* The atom on which atom i lies once it is moved by t; -1 without. */
static int partner(const sxi_cell *cell, int i, const double t[3]) {
    for (int j = 0; j < cell->atoms; j++) {
        const double *from = cell->atom[i].position, *to = cell->atom[j].position;
        const double d[3] = {from[0] + t[0] - to[0], from[1] + t[1] - to[1],
                             from[2] + t[2] - to[2]};
        if (strcmp(cell->atom[i].element, cell->atom[j].element) == 0 &&
            distance(cell, d) < SAME_PLACE) {
            return j;
        }
    }
    return -1;
}

/* Whether the cell looks the same after a move by t. */
static bool repeats(const sxi_cell *cell, const double t[3]) {
    for (int i = 0; i < cell->atoms; i++) {
        if (partner(cell, i, t) < 0) {
            return false;
        }
    }
    return true;
}

/* The moves of the first atom onto its like which carry all others along. n of them form a group,
 * so n times each is a whole vector: this gives them all their digits. */
static void find_translations(const sxi_cell *cell, sxi_supercell *super) {
    for (int j = 0; j < cell->atoms; j++) {
        const double *from = cell->atom[0].position, *to = cell->atom[j].position;
        double t[3];
        for (int k = 0; k < 3; k++) {
            t[k] = to[k] - from[k];
            t[k] -= floor(t[k] + 1e-4);
        }
        if (repeats(cell, t)) {
            memcpy(super->translation[super->translations++], t, sizeof t);
        }
    }
    for (int n = 0; n < super->translations; n++) {
        for (int k = 0; k < 3; k++) {
            double *t = super->translation[n] + k;
            *t = round(*t * super->translations) / super->translations;
        }
    }
}

static void find_kinds(const sxi_cell *cell, sxi_supercell *super) {
    for (int i = 0; i < cell->atoms; i++) {
        super->kind[i] = -1;
    }
    for (int i = 0; i < cell->atoms; i++) {
        if (super->kind[i] < 0) {
            super->representative[super->primitive] = i;
            for (int n = 0; n < super->translations; n++) {
                super->kind[partner(cell, i, super->translation[n])] = super->primitive;
            }
            super->primitive++;
        }
    }
}

/* A block of cells that holds a supercell spanned by the columns of the matrix. */
static void surround(const int matrix[9], int block[3]) {
    for (int k = 0; k < 3; k++) {
        const int *m = matrix + 3 * k;
        int least = 0, most = 0;
        for (int corner = 0; corner < 8; corner++) {
            const int at =
                (corner & 1 ? m[0] : 0) + (corner & 2 ? m[1] : 0) + (corner & 4 ? m[2] : 0);
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        block[k] = most - least;
    }
}

/* Whether two cells of the block differ by a vector of the superlattice. */
static bool same_cell(const double inverse[9], const int a[3], const int b[3]) {
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    double n[3];
    sxi_times_vector(inverse, d, n);
    return fabs(n[0] - round(n[0])) + fabs(n[1] - round(n[1])) + fabs(n[2] - round(n[2])) < 1e-6;
}

/* The cells of the supercell, each once, in order. */
static int find_cells(const int matrix[9], const double inverse[9], int (*cells)[3]) {
    int block[3], count = 0;
    surround(matrix, block);
    for (int c = 0; c < block[2]; c++) {
        for (int b = 0; b < block[1]; b++) {
            for (int a = 0; a < block[0]; a++) {
                const int at[3] = {a, b, c};
                bool known = false;
                for (int k = 0; k < count && !known; k++) {
                    known = same_cell(inverse, at, cells[k]);
                }
                if (!known) {
                    memcpy(cells[count++], at, sizeof at);
                }
            }
        }
    }
    return count;
}

static sx_status make_room(int cell_atoms, int cells, sxi_supercell *super) {
    const size_t n = (size_t)cell_atoms, all = n * (size_t)cells;
    *super = (sxi_supercell){.cell_atoms = cell_atoms, .atoms = (int)all};
    super->unit = calloc(all, sizeof *super->unit);
    super->shift = calloc(all, sizeof *super->shift);
    super->translation = calloc(n, sizeof *super->translation);
    super->representative = calloc(n, sizeof *super->representative);
    super->kind = calloc(n, sizeof *super->kind);
    if (!super->unit || !super->shift || !super->translation || !super->representative ||
        !super->kind) {
        sxi_supercell_destroy(super);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a supercell of %zu atoms", all);
    }
    return SX_OK;
}

sx_status sxi_supercell_create(const sxi_cell *cell, const int matrix[9], sxi_supercell *super) {
    double m[9], inverse[9];
    int cells[MOST_CELLS][3];
    for (int k = 0; k < 9; k++) {
        m[k] = matrix[k];
    }
    const double size = fabs(sxi_determinant(m));
    if (!sxi_matrix_invert(m, inverse) || !(size < MOST_CELLS)) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "the matrix of the supercell stands for %g cells, expected 1 to %d", size,
                        MOST_CELLS - 1);
    }
    SXI_TRY(make_room(cell->atoms, (int)round(size), super));
    const int count = find_cells(matrix, inverse, cells);
    for (int i = 0; i < cell->atoms; i++) {
        for (int k = 0; k < count; k++) {
            super->unit[i * count + k] = i;
            memcpy(super->shift[i * count + k], cells[k], sizeof cells[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        const double column[3] = {m[k], m[3 + k], m[6 + k]};
        sxi_vector_times(column, cell->vectors, super->vectors + 3 * k);
    }
    find_translations(cell, super);
    find_kinds(cell, super);
    return SX_OK;
}

void sxi_supercell_destroy(sxi_supercell *super) {
    free(super->unit);
    free(super->shift);
    free(super->translation);
    free(super->representative);
    free(super->kind);
    *super = (sxi_supercell){.atoms = 0};
}
