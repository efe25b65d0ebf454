/* SPDX-License-Identifier: Apache-2.0
 * Force constants of a known model, written as phonopy does, and read again. */
#include <string.h>

#include "base/text.h"
#include "numer/lattice.h"
#include "sx_check.h"
#include "sx_folder.h"
#include "xani/phonons/phonons.h"

static const char *write_text(const char *name, sxi_text *text) {
    const size_t length = text->length;
    char *bytes = sxi_text_take(text);
    const char *path = sx_folder_write(name, bytes, length);
    free(bytes);
    return path;
}

/* Two atoms in a primitive cell, or eight in the cubic one. */
static const char *write_poscar(const char *name, bool cubic, bool cartesian) {
    const double primitive[9] = {0, .5, .5, .5, 0, .5, .5, .5, 0},
                 whole[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *cell = cubic ? whole : primitive;
    const int count = cubic ? 4 : 1;
    sxi_text text = {0};
    sxi_text_add(&text, "zincblende\n 5.6\n");
    for (int k = 0; k < 3; k++) {
        sxi_text_add(&text, "%.9f %.9f %.9f\n", cell[3 * k], cell[3 * k + 1], cell[3 * k + 2]);
    }
    sxi_text_add(&text, "Ga As_d\n%d %d\n%s\n", count, count,
                 cartesian ? "Selective dynamics\nCartesian" : "Direct");
    for (int n = 0; n < 2 * count; n++) {
        const double centre[4][3] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
        double at[3], inverse[9], fraction[3];
        for (int k = 0; k < 3; k++) {
            at[k] = centre[n % count][k] + (n < count ? 0 : 0.25);
        }
        sxi_matrix_invert(cell, inverse);
        sxi_vector_times(at, inverse, fraction);
        const double *p = cartesian ? at : fraction;
        sxi_text_add(&text, "%.9f %.9f %.9f T T F\n", p[0], p[1], p[2]);
    }
    return write_text(name, &text);
}

/* Adds the bonds between two atoms of the supercell, whatever cells lie between. */
static void add_bonds(const sx_phonons *model, const sxi_cell *cell, const sxi_supercell *super,
                      int from, int to, double phi[9]) {
    const int unit[2] = {super->unit[from], super->unit[to]};
    double inverse[9], d[3], between[3];
    sxi_matrix_invert(super->vectors, inverse);
    for (int k = 0; k < 3; k++) {
        d[k] = cell->atom[unit[1]].position[k] + super->shift[to][k] -
               cell->atom[unit[0]].position[k] - super->shift[from][k];
    }
    sxi_vector_times(d, cell->vectors, between);
    for (int64_t b = 0; b < model->bonds; b++) {
        const sx_phonons_bond *bond = model->bond + b;
        double vector[3], rest[3], n[3];
        sxi_phonons_direction(model, bond, vector);
        for (int k = 0; k < 3; k++) {
            rest[k] = vector[k] - between[k];
        }
        sxi_vector_times(rest, inverse, n);
        const bool same =
            fabs(n[0] - round(n[0])) + fabs(n[1] - round(n[1])) + fabs(n[2] - round(n[2])) < 1e-6;
        const bool kind = strcmp(model->atom[bond->i].element, cell->atom[unit[0]].element) == 0 &&
                          strcmp(model->atom[bond->j].element, cell->atom[unit[1]].element) == 0;
        for (int k = 0; k < 9 && same && kind; k++) {
            phi[k] += bond->phi[k];
        }
    }
}

/* rows: of all atoms, of the cell's or of the primitive cell's; labels count or number. */
static const char *write_constants(const sx_phonons *model, const char *poscar, const int matrix[9],
                                   int rows, bool counted) {
    sxi_cell cell;
    sxi_supercell super;
    sxi_text text = {0};
    ck_ok(sxi_poscar_read(poscar, &cell));
    ck_ok(sxi_supercell_create(&cell, matrix, &super));
    const int cells = super.atoms / super.cell_atoms;
    sxi_text_add(&text, "%4d %4d\n", rows, super.atoms);
    for (int r = 0; r < rows; r++) {
        const int unit = rows == super.primitive ? super.representative[r] : r;
        const int from = rows == super.atoms ? r : unit * cells;
        for (int to = 0; to < super.atoms; to++) {
            double phi[9] = {0};
            add_bonds(model, &cell, &super, from, to, phi);
            sxi_text_add(&text, "%d %d\n", counted ? r + 1 : from + 1, to + 1);
            for (int k = 0; k < 3; k++) {
                sxi_text_add(&text, "%22.15f %22.15f %22.15f\n", phi[3 * k], phi[3 * k + 1],
                             phi[3 * k + 2]);
            }
        }
    }
    sxi_supercell_destroy(&super);
    sxi_cell_destroy(&cell);
    return write_text("FORCE_CONSTANTS", &text);
}

/* Gallium arsenide of springs to the first and second neighbours. */
static sx_phonons *gallium_arsenide(void) {
    const double cell[9] = {0, 2.8, 2.8, 2.8, 0, 2.8, 2.8, 2.8, 0};
    const sx_phonons_atom atom[2] = {{"Ga", 0, {0, 0, 0}}, {"As", 0, {.25, .25, .25}}};
    const sx_phonons_spring spring[2] = {{6, 0.9}, {0.7, -0.1}};
    sx_phonons *model = NULL;
    ck_ok(sx_phonons_springs(cell, 2, atom, 2, spring, &model));
    return model;
}

/* Frequencies of the file are those of the model at the same Cartesian q. */
static void compare(const sx_phonons *model, const sx_phonons *read) {
    ck_assert_int_eq(read->atoms, 2);
    ck_assert_str_eq(read->atom[0].element, "Ga");
    ck_assert_str_eq(read->atom[1].element, "As");
    for (int n = 0; n < 30; n++) {
        const double hkl[3] = {0.07 * n, 0.4 - 0.13 * n, 0.011 * n * n};
        double q[3], same[3], f[6], g[6];
        sx_phonons_q(model, hkl, q);
        sx_phonons_hkl(read, q, same);
        ck_ok(sx_phonons_modes(model, hkl, f, NULL));
        ck_ok(sx_phonons_modes(read, same, g, NULL));
        for (int k = 0; k < 6; k++) {
            /* Constants have 15 digits; a frequency near zero is a root of their rounding. */
            ck_near(g[k], f[k], 1e-9, 1e-6);
        }
    }
}

/* Springs reach half through the last supercell, so their images are shared out.
 * A primitive cell with a supercell that is no multiple of it, and the cubic cell. */
START_TEST(every_form) {
    const int skew[9] = {-2, 2, 2, 2, -2, 2, 2, 2, -2}, twice[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    const int lame[9] = {2, 1, 0, 0, 3, 0, 0, 0, 3};
    sx_phonons *model = gallium_arsenide(), *read = NULL;
    char poscar[256];
    const struct {
        bool cubic, cartesian;
        const int *matrix;
        int rows;
        bool counted, told;
    } cases[] = {{false, false, skew, 64, true, true}, {false, true, skew, 2, true, true},
                 {false, false, lame, 2, false, true}, {true, true, twice, 64, true, false},
                 {true, false, twice, 8, false, true}, {true, false, twice, 2, true, false},
                 {true, false, twice, 2, false, true}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        snprintf(poscar, sizeof poscar, "%s",
                 write_poscar("POSCAR", cases[c].cubic, cases[c].cartesian));
        const char *constants =
            write_constants(model, poscar, cases[c].matrix, cases[c].rows, cases[c].counted);
        ck_ok(sx_phonons_read(constants, poscar, cases[c].told ? cases[c].matrix : NULL, &read));
        compare(model, read);
        sx_phonons_destroy(&read);
    }
    sx_phonons_destroy(&model);
}
END_TEST

START_TEST(bad_constants) {
    const int skew[9] = {-2, 2, 2, 2, -2, 2, 2, 2, -2}, flat[9] = {1, 0, 0, 1, 0, 0, 0, 0, 1};
    sx_phonons *model = gallium_arsenide(), *read = NULL;
    char poscar[256], constants[256];
    snprintf(poscar, sizeof poscar, "%s", write_poscar("POSCAR", false, false));
    snprintf(constants, sizeof constants, "%s", write_constants(model, poscar, skew, 2, true));
    ck_fails(sx_phonons_read(constants, poscar, NULL, &read), SX_ERR_SHAPE,
             "of 64 atoms, and a cell of 2");
    ck_fails(sx_phonons_read(constants, poscar, flat, &read), SX_ERR_ARGUMENT, "0 cells");
    ck_fails(sx_phonons_read(constants, poscar, (int[9]){4, 0, 0, 0, 4, 0, 0, 0, 1}, &read),
             SX_ERR_SHAPE, "64 atoms, the supercell");
    const struct {
        const char *text, *words;
    } bad[] = {{"", "line 0: nothing more found, expected the number of atoms"},
               {"two\n", "'two' found, expected the number of atoms"},
               {"65 64\n", "'65' found"},
               {"2 64\n1 2\n", "atoms '1 2' found, expected '1 1'"},
               {"1 2\n1 1\n1 2 3\n4 5x 6\n", "line 4: '5x' found, expected three force constants"},
               {"1 2\n1 1\n1 2 3\n4 5 6\n7 8\n", "line 5: nothing more found"},
               {"1 2\n1 1\n1 2 3\n4 5 6\n7 8 9\n", "expected the numbers of two atoms"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *path = sx_folder_write("BAD", bad[k].text, strlen(bad[k].text));
        ck_fails(sx_phonons_read(path, poscar, NULL, &read), SX_ERR_FORMAT, bad[k].words);
    }
    const char rows[] = "1 2\n1 1\n1 2 3\n4 5 6\n7 8 9\n1 2\n1 2 3\n4 5 6\n7 8 9\n";
    ck_fails(sx_phonons_read(sx_folder_write("BAD", rows, strlen(rows)), poscar, NULL, &read),
             SX_ERR_SHAPE, "1 rows of 2 atoms");
    ck_fails(sx_phonons_read(sx_folder("none"), poscar, NULL, &read), SX_ERR_IO, "no such file");
    ck_assert(read == NULL);
    sx_phonons_destroy(&model);
}
END_TEST

START_TEST(bad_poscars) {
    const struct {
        const char *text, *words;
    } bad[] = {
        {"", "expected the scale"},
        {"x\nlarge\n", "'large' found, expected the scale"},
        {"x\n1\n1 0 0\n0 1 0\n0 0\n", "line 5: nothing more found, expected three numbers"},
        {"x\n1\n1 0 0\n0 1 0\n1 1 0\n", "span no volume"},
        {"x\n1\n1 0 0\n0 1 0\n0 0 1\nSi Qq\n1 1\n", "'Qq' found, expected symbols"},
        {"x\n1\n1 0 0\n0 1 0\n0 0 1\n2\nDirect\n", "but 0 symbols"},
        {"Si\n1\n1 0 0\n0 1 0\n0 0 1\n-2\n", "'-2' found"},
        {"Si\n1\n1 0 0\n0 1 0\n0 0 1\n2\nrelative\n", "'relative' found, expected 'Direct'"},
        {"Si\n1\n1 0 0\n0 1 0\n0 0 1\n2\nDirect\n0 0 0\n", "expected three numbers, the position"},
        {"Si\n1\n1 0 0\n0 1 0\n0 0 1\n0\n", "'0' found, expected the number of atoms"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        sxi_cell cell;
        const char *path = sx_folder_write("POSCAR", bad[k].text, strlen(bad[k].text));
        ck_fails(sxi_poscar_read(path, &cell), SX_ERR_FORMAT, bad[k].words);
        ck_assert(cell.atom == NULL);
    }
    /* The volume instead of a scale, symbols in the title. */
    const char good[] = "Si\n-8\n1 0 0\n0 1 0\n0 0 1\n1\nCartesian\n0.5 0 0\n";
    sxi_cell cell;
    ck_ok(sxi_poscar_read(sx_folder_write("POSCAR", good, strlen(good)), &cell));
    ck_near(cell.vectors[4], 2, 1e-14, 0);
    ck_near(cell.atom[0].position[0], 0.5, 1e-14, 0);
    sxi_cell_destroy(&cell);
}
END_TEST

SX_TEST_MAIN("phonons_read", every_form, bad_constants, bad_poscars)
