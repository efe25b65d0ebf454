/* SPDX-License-Identifier: Apache-2.0
 * Force constants of a supercell to bonds of the crystal. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "io/table/lines.h"
#include "numer/lattice.h"
#include "xani/phonons/phonons.h"

/* Images whose distances differ by less are equally near; phonopy's tolerance. */
static const double EQUALLY_NEAR = 1e-5; /* Angstrom */

/* What the file holds: a block of 3 x 3 for each of rows x atoms. */
typedef struct constants {
    int rows, atoms;
    int *label;  /* [rows] as written, from 1 */
    double *phi; /* [rows][atoms][9] */
} constants;

static void constants_destroy(constants *all) {
    free(all->label);
    free(all->phi);
    *all = (constants){.rows = 0};
}

static bool count_at(const sxi_lines *lines, int word, int *count) {
    int64_t value = 0;
    if (word >= lines->words || sx_parse_int(lines->word[word], &value) != SX_OK || value < 1 ||
        value > 100000) {
        return false;
    }
    *count = (int)value;
    return true;
}

/* "64" or "2 64". */
static sx_status read_head(sxi_lines *lines, constants *all) {
    static const char what[] = "the number of atoms of FORCE_CONSTANTS, such as '64' or '2 64'";
    if (!sxi_lines_next(lines) || lines->words == 0 || lines->words > 2) {
        return SXI_LINES_FAIL(lines, lines->words ? lines->word[0] : NULL, what);
    }
    if (!count_at(lines, 0, &all->rows) || !count_at(lines, lines->words - 1, &all->atoms) ||
        all->rows > all->atoms) {
        return SXI_LINES_FAIL(lines, lines->word[0], what);
    }
    const size_t blocks = (size_t)all->rows * (size_t)all->atoms;
    all->label = calloc((size_t)all->rows, sizeof *all->label);
    all->phi = calloc(blocks, 9 * sizeof *all->phi);
    return all->label && all->phi ? SX_OK
                                  : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %zu force constants",
                                             lines->path, 9 * blocks);
}

static sx_status read_block(sxi_lines *lines, int column, int *label, double *phi) {
    int found = 0;
    if (!sxi_lines_next(lines) || lines->words < 2) {
        return SXI_LINES_FAIL(lines, NULL, "the numbers of two atoms");
    }
    if (!count_at(lines, 0, label) || !count_at(lines, 1, &found) || found != column + 1) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %d: atoms '%.20s %.20s' found, expected '%d %d'",
                        lines->path, lines->number, lines->word[0], lines->word[1], *label,
                        column + 1);
    }
    for (int k = 0; k < 3; k++) {
        SXI_TRY(sxi_lines_numbers(lines, 3, "three force constants in eV/Angstrom^2", phi + 3 * k));
    }
    return SX_OK;
}

static sx_status constants_read(const char *path, constants *all) {
    sx_status status = SX_OK;
    sxi_lines lines;
    *all = (constants){.rows = 0};
    SXI_TRY(sxi_lines_open(path, "a FORCE_CONSTANTS", &lines));
    SXI_GO(read_head(&lines, all));
    for (int r = 0; r < all->rows; r++) {
        for (int c = 0; c < all->atoms; c++) {
            double *phi = all->phi + 9 * ((size_t)r * (size_t)all->atoms + (size_t)c);
            SXI_GO(read_block(&lines, c, all->label + r, phi));
        }
    }
out:
    sxi_lines_close(&lines);
    if (status != SX_OK) {
        constants_destroy(all);
    }
    return status;
}

/* The supercell that was meant where none is given. */
static sx_status guess_supercell(const constants *all, int cell_atoms, int matrix[9]) {
    const int k = (int)round(cbrt((double)all->atoms / cell_atoms));
    if (k < 1 || k * k * k * cell_atoms != all->atoms) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "force constants of %d atoms, and a cell of %d: not the same multiple in "
                        "each direction; give the matrix of the supercell (phonopy's DIM)",
                        all->atoms, cell_atoms);
    }
    memset(matrix, 0, 9 * sizeof *matrix);
    matrix[0] = matrix[4] = matrix[8] = k;
    return SX_OK;
}

/* The row of force constants that belongs to an atom of the primitive cell; -1 without. Rows are
 * those of all atoms, of the cell's or of the primitive cell's; of the last two some versions of
 * phonopy write the number in the supercell as their label, others count. */
static int row_of(const constants *all, const sxi_supercell *super, int kind) {
    const int unit = super->representative[kind];
    const int number = unit * (super->atoms / super->cell_atoms);
    int row = -1;
    if (all->rows == super->atoms) {
        row = number;
    } else if (all->rows == super->primitive) {
        row = kind;
    } else if (all->rows == super->cell_atoms) {
        row = unit;
    }
    const bool right = row >= 0 && (all->label[row] == row + 1 || all->label[row] == number + 1);
    return right ? row : -1;
}

/* The atoms of the primitive cell, where the file has them. */
static void put_atoms(const sxi_cell *cell, const sxi_supercell *super, sx_phonons *phonons) {
    memcpy(phonons->cell, cell->vectors, sizeof phonons->cell);
    for (int k = 0; k < super->primitive; k++) {
        phonons->atom[k] = cell->atom[super->representative[k]];
    }
}

/* The vector of the lattice, centring included, nearest to one with the error of positions. */
static void put_on_lattice(const sxi_supercell *super, double r[3]) {
    double best[3] = {0}, least = INFINITY;
    for (int n = 0; n < super->translations; n++) {
        double on[3], off = 0;
        for (int k = 0; k < 3; k++) {
            const double t = super->translation[n][k];
            on[k] = t + round(r[k] - t);
            off += fabs(on[k] - r[k]);
        }
        if (off < least) {
            least = off;
            memcpy(best, on, sizeof best);
        }
    }
    memcpy(r, best, sizeof best);
}

/* What is needed to find the nearest images of an atom. */
typedef struct images {
    const sxi_cell *cell;
    const sxi_supercell *super;
    double basis[9], inverse[9]; /* of the superlattice, reduced */
    double cell_inverse[9];
} images;

/* Adds the bonds from atom i of the primitive cell to all images of an atom of the supercell. */
static void add_bonds(const images *about, int i, int other, const double *phi,
                      sx_phonons *phonons) {
    const sxi_supercell *super = about->super;
    const int unit = super->unit[other], j = super->kind[unit];
    const double *from = phonons->atom[i].position, *to = about->cell->atom[unit].position;
    double d[3], vector[3], nearest[SXI_LATTICE_NEAREST][3];
    for (int k = 0; k < 3; k++) {
        d[k] = to[k] + super->shift[other][k] - from[k];
    }
    sxi_vector_times(d, about->cell->vectors, vector);
    const int count =
        sxi_lattice_nearest(about->basis, about->inverse, vector, EQUALLY_NEAR, nearest);
    for (int n = 0; n < count; n++) {
        sx_phonons_bond *bond = phonons->bond + phonons->bonds++;
        double image[3];
        sxi_vector_times(nearest[n], about->cell_inverse, image);
        for (int k = 0; k < 3; k++) {
            image[k] -= phonons->atom[j].position[k] - from[k];
        }
        put_on_lattice(super, image);
        bond->i = i;
        bond->j = j;
        bond->image = sxi_phonons_image(phonons, image);
        for (int k = 0; k < 9; k++) {
            bond->phi[k] = phi[k] / count;
        }
    }
}

static sx_status build(const constants *all, const sxi_cell *cell, const sxi_supercell *super,
                       const char *path, sx_phonons *phonons) {
    images about = {.cell = cell, .super = super};
    memcpy(about.basis, super->vectors, sizeof about.basis);
    sxi_lattice_reduce(about.basis);
    sxi_matrix_invert(about.basis, about.inverse);
    sxi_matrix_invert(cell->vectors, about.cell_inverse);
    put_atoms(cell, super, phonons);
    phonons->images = 0;
    phonons->bonds = 0;
    for (int i = 0; i < super->primitive; i++) {
        const int row = row_of(all, super, i);
        if (row < 0) {
            return SXI_FAIL(
                SX_ERR_SHAPE,
                "%s: %d rows of %d atoms, expected a row for each of %d atoms, or of "
                "%d of the cell or of %d of the primitive cell; is the supercell right?",
                path, all->rows, all->atoms, super->atoms, super->cell_atoms, super->primitive);
        }
        for (int other = 0; other < super->atoms; other++) {
            const size_t at = (size_t)row * (size_t)all->atoms + (size_t)other;
            add_bonds(&about, i, other, all->phi + 9 * at, phonons);
        }
    }
    return SX_OK;
}

sx_status sx_phonons_read(const char *constants_path, const char *poscar, const int *supercell,
                          sx_phonons **phonons) {
    sx_status status = SX_OK;
    sxi_cell cell = {.atoms = 0};
    constants all = {.rows = 0};
    sxi_supercell super = {.atoms = 0};
    sx_phonons *made = NULL;
    int matrix[9];
    SXI_GO(sxi_poscar_read(poscar, &cell));
    SXI_GO(constants_read(constants_path, &all));
    if (supercell) {
        memcpy(matrix, supercell, sizeof matrix);
    } else {
        SXI_GO(guess_supercell(&all, cell.atoms, matrix));
    }
    SXI_GO(sxi_supercell_create(&cell, matrix, &super));
    if (super.atoms != all.atoms) {
        status =
            SXI_FAIL(SX_ERR_SHAPE,
                     "%s has %d atoms, the supercell of %s %d; give the matrix of the supercell "
                     "that was calculated (phonopy's DIM)",
                     constants_path, all.atoms, poscar, super.atoms);
        goto out;
    }
    const int64_t most = (int64_t)super.primitive * super.atoms * SXI_LATTICE_NEAREST;
    SXI_GO(sxi_phonons_create(super.primitive, (int)most, most, &made));
    SXI_GO(build(&all, &cell, &super, constants_path, made));
    SXI_GO(sxi_phonons_copy(made, phonons)); /* without the room that was not needed */
out:
    sx_phonons_destroy(&made);
    sxi_supercell_destroy(&super);
    constants_destroy(&all);
    sxi_cell_destroy(&cell);
    return status;
}
