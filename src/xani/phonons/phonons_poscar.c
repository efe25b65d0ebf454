/* SPDX-License-Identifier: Apache-2.0
 * The cell as VASP writes it. */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "io/table/lines.h"
#include "numer/lattice.h"
#include "xani/phonons/phonons.h"

enum { MOST_ATOMS = 10000 };

/* The species: a symbol and how many atoms of it follow. */
typedef struct species {
    int count;
    char symbol[SXI_LINES_WORDS][4];
    int atoms[SXI_LINES_WORDS];
} species;

/* "Si", also as VASP's potentials write it, "Si_sv" or "Si/0a1b". */
static bool read_symbol(const char *word, char symbol[4]) {
    const size_t length = strcspn(word, "_/");
    snprintf(symbol, 4, "%.*s", (int)(length < 3 ? length : 3), word);
    return sxi_element_mass(symbol) > 0;
}

static int read_symbols(const sxi_lines *lines, species *all) {
    int count = 0;
    while (count < lines->words && read_symbol(lines->word[count], all->symbol[count])) {
        count++;
    }
    return count;
}

/* Their scale multiplies Cartesian positions, too. */
static sx_status read_vectors(sxi_lines *lines, double vectors[9], double *scale) {
    SXI_TRY(sxi_lines_numbers(lines, 1, "the scale of the cell", scale));
    for (int k = 0; k < 3; k++) {
        SXI_TRY(sxi_lines_numbers(lines, 3, "three numbers, a vector of the cell in Angstrom",
                                  vectors + 3 * k));
    }
    const double volume = sxi_determinant(vectors);
    double inverse[9];
    if (*scale == 0 || !sxi_matrix_invert(vectors, inverse)) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s: the vectors of the cell span no volume", lines->path);
    }
    /* A negative scale is the volume. */
    *scale = *scale > 0 ? *scale : cbrt(-*scale / fabs(volume));
    for (int k = 0; k < 9; k++) {
        vectors[k] *= *scale;
    }
    return SX_OK;
}

/* Symbols stand in a line of their own (VASP 5) or in the title (VASP 4). */
static sx_status read_species(sxi_lines *lines, species *all, int titled) {
    static const char what[] = "the number of atoms of each element";
    if (!sxi_lines_next(lines) || lines->words == 0) {
        return SXI_LINES_FAIL(lines, NULL, "the elements, or how many atoms there are of each");
    }
    if (!isdigit((unsigned char)lines->word[0][0])) {
        titled = read_symbols(lines, all);
        if (titled < lines->words) {
            return SXI_LINES_FAIL(lines, lines->word[titled], "symbols of elements");
        }
        sxi_lines_next(lines);
    }
    all->count = lines->words;
    for (int k = 0; k < lines->words; k++) {
        int64_t atoms = 0;
        if (sx_parse_int(lines->word[k], &atoms) != SX_OK || atoms < 1 || atoms > MOST_ATOMS) {
            return SXI_LINES_FAIL(lines, lines->word[k], what);
        }
        all->atoms[k] = (int)atoms;
    }
    if (titled < all->count || all->count == 0) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s line %d: atoms of %d elements, but %d symbols; write the symbols in a "
                        "line above",
                        lines->path, lines->number, all->count, titled);
    }
    return SX_OK;
}

/* Direct (the default) or Cartesian, perhaps behind a line of its own on which atoms may move. */
static sx_status read_kind(sxi_lines *lines, bool *cartesian) {
    bool again = true;
    while (again) {
        if (!sxi_lines_next(lines) || lines->words == 0) {
            return SXI_LINES_FAIL(lines, NULL, "'Direct' or 'Cartesian'");
        }
        const char first = (char)tolower((unsigned char)lines->word[0][0]);
        again = first == 's';
        *cartesian = first == 'c' || first == 'k';
        if (!again && !*cartesian && first != 'd') {
            return SXI_LINES_FAIL(lines, lines->word[0], "'Direct' or 'Cartesian'");
        }
    }
    return SX_OK;
}

static sx_status read_atoms(sxi_lines *lines, const species *all, double scale, sxi_cell *cell) {
    bool cartesian = false;
    double inverse[9];
    SXI_TRY(read_kind(lines, &cartesian));
    sxi_matrix_invert(cell->vectors, inverse);
    sx_phonons_atom *atom = cell->atom;
    for (int s = 0; s < all->count; s++) {
        for (int k = 0; k < all->atoms[s]; k++, atom++) {
            double at[3];
            SXI_TRY(sxi_lines_numbers(lines, 3, "three numbers, the position of an atom", at));
            if (cartesian) {
                const double scaled[3] = {scale * at[0], scale * at[1], scale * at[2]};
                sxi_vector_times(scaled, inverse, at);
            }
            memcpy(atom->position, at, sizeof at);
            memcpy(atom->element, all->symbol[s], sizeof atom->element);
            atom->mass = sxi_element_mass(atom->element);
        }
    }
    return SX_OK;
}

sx_status sxi_poscar_read(const char *path, sxi_cell *cell) {
    sx_status status = SX_OK;
    sxi_lines lines;
    species all = {0};
    *cell = (sxi_cell){.atoms = 0};
    SXI_TRY(sxi_lines_open(path, "a POSCAR", &lines));
    const int titled = sxi_lines_next(&lines) ? read_symbols(&lines, &all) : 0;
    double scale = 1;
    SXI_GO(read_vectors(&lines, cell->vectors, &scale));
    SXI_GO(read_species(&lines, &all, titled));
    for (int s = 0; s < all.count; s++) {
        cell->atoms += all.atoms[s];
    }
    cell->atom = calloc((size_t)cell->atoms, sizeof *cell->atom);
    if (!cell->atom) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %d atoms", path, cell->atoms);
        goto out;
    }
    SXI_GO(read_atoms(&lines, &all, scale, cell));
out:
    sxi_lines_close(&lines);
    if (status != SX_OK) {
        sxi_cell_destroy(cell);
    }
    return status;
}

void sxi_cell_destroy(sxi_cell *cell) {
    free(cell->atom);
    *cell = (sxi_cell){.atoms = 0};
}
