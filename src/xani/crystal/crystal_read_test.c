/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text.h"
#include "sx_check.h"
#include "sx_folder.h"
#include "xani/crystal/crystal.h"

static const char good[] = "cell: {a: 5.431, b: 5.431, c: 5.431, alpha: 90, beta: 90, gamma: 90}\n"
                           "centring: F\n";

static const double PI = 3.14159265358979323846;

/* The file with a line more. */
static const char *with(const char *more) {
    sxi_text text = {0};
    sxi_text_add(&text, "%s%s", good, more);
    const size_t length = text.length;
    char *bytes = sxi_text_take(&text);
    const char *path = sx_folder_write("crystal.yaml", bytes, length);
    free(bytes);
    return path;
}

static const char *example(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/../../examples/crystals/%s", getenv("SEXTANT_FIXTURES"), name);
    return path;
}

START_TEST(silicon) {
    sx_crystal *crystal = NULL;
    double m[9];
    ck_ok(sx_crystal_read(example("silicon.yaml"), &crystal));
    ck_assert_int_eq(crystal->atoms, 8);
    ck_assert_int_eq(crystal->space_group, 227);
    ck_assert_int_eq(crystal->centring, 'F');
    ck_assert(crystal->oriented);
    ck_assert_int_eq(crystal->axes, 1);
    ck_assert_str_eq(crystal->axis[0].dataset, "/scan/phi");
    /* phi = 90 brings (1, 0, 0) from z to x. */
    ck_ok(sx_crystal_q_matrix(crystal, (double[]){90}, m));
    ck_near(m[0], 2 * PI / 5.431, 1e-6, 0);
    ck_near(m[6], 0, 0, 1e-15);
    sx_crystal_destroy(&crystal);
}
END_TEST

START_TEST(bismuth) {
    sx_crystal *crystal = NULL;
    double m[9];
    ck_ok(sx_crystal_read(example("bismuth.yaml"), &crystal));
    ck_assert_int_eq(crystal->atoms, 6);
    ck_assert_str_eq(crystal->symbol, "R-3m:H");
    ck_assert_int_eq(crystal->axes, 2);
    ck_assert(crystal->axis[0].sense == -1 && crystal->axis[1].sense == 1);
    ck_assert(crystal->axis[1].dataset == NULL && crystal->axis[1].angle == 45);
    /* At the angles of the reflections they are where they were seen. */
    ck_ok(sx_crystal_q_matrix(crystal, (double[]){0, 0}, m));
    ck_near(m[2], 0, 0, 1e-15);
    ck_near(m[5], 2 * PI / 11.862, 1e-12, 0);
    ck_near(m[8], 0, 0, 1e-15);
    sx_crystal_destroy(&crystal);
}
END_TEST

/* Numbers as YAML writes them, block style, comments. */
START_TEST(forms) {
    const char text[] = "# a comment\n"
                        "space_group: 225   # salt\n"
                        "cell:\n  gamma: 9.0e1\n  a: '5.64'\n  b: 5.64\n  c: +5.64\n"
                        "  alpha: 90.0\n  beta: 90\n"
                        "atoms: [{element: Na, position: [0, 0, 0]},\n"
                        "        {element: Cl, position: [0.5, 0.5, 0.5]}]\n"
                        "goniometer: []\n";
    sx_crystal *crystal = NULL;
    ck_ok(sx_crystal_read(sx_folder_write("salt.yaml", text, strlen(text)), &crystal));
    ck_assert_int_eq(crystal->atoms, 8);
    ck_assert(!crystal->oriented && crystal->axes == 0);
    sx_crystal_destroy(&crystal);
    ck_ok(sx_crystal_read(with(""), &crystal));
    ck_assert(crystal->atoms == 0 && crystal->space_group == 0 && crystal->symbol[0] == '\0');
    sx_crystal_destroy(&crystal);
}
END_TEST

static void refuse(const char *path, const char *words) {
    sx_crystal *crystal = NULL;
    ck_fails(sx_crystal_read(path, &crystal), SX_ERR_FORMAT, words);
    ck_assert(strstr(sx_error_message(), ".yaml") != NULL);
    ck_assert(crystal == NULL);
}

START_TEST(wrong_files) {
    sx_crystal *crystal = NULL;
    const struct {
        const char *text, *words;
    } bad[] = {
        {"", "is empty; expected the fields"},
        {"# nothing\n", "is empty"},
        {"- 1\n", "a list [...] found, expected fields"},
        {"cell: 5\n", "line 1: cell: a single value found, expected fields"},
        {"cell: {a: 5}\ncentring: F\n", "line 1: field 'b' is missing in cell"},
        {"centring: F\n", "field 'cell' is missing"},
        {"cell: {a: 5, b: 5, c: 5, alfa: 90}\n",
         "field 'alfa' found in cell, expected one of a, b, c, alpha, beta, gamma"},
        {"cel: 5\n", "field 'cel' found, expected one of cell, space_group, centring, atoms"},
        {"cell: {a: 5, b: 5\n", "this is not YAML"},
        {"cell: {a: 5x, b: 5, c: 5, alpha: 90, beta: 90, gamma: 90}\ncentring: F\n",
         "cell.a: '5x' found, expected a number in Angstrom"},
        {"cell: {a: 5, b: 5, c: 5, alpha: 90, beta: , gamma: 90}\ncentring: F\n",
         "cell.beta: '' found, expected a number in degrees"},
        {"cell: {a: 5, b: 5, c: nan, alpha: 90, beta: 90, gamma: 90}\ncentring: F\n",
         "cell.c: 'nan' found"},
        {"cell: {a: 5, b: 5, c: 5, alpha: 0, beta: 90, gamma: 90}\ncentring: F\n", "no cell has"},
        {"cell: {a: 5, b: 5, c: 5, alpha: 90, beta: 90, gamma: 90}\n", "neither found"},
        {"cell: {a: 5, b: 5, c: 5, alpha: 90, beta: 90, gamma: 90}\ncentring: Z\n", "'Z' found"},
        {"cell: {a: 5, b: 5, c: 5, alpha: 90, beta: 90, gamma: 90}\nspace_group: Qd\n", "'Qd' is"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        refuse(sx_folder_write("bad.yaml", bad[k].text, strlen(bad[k].text)), bad[k].words);
    }
    ck_fails(sx_crystal_read(sx_folder("none.yaml"), &crystal), SX_ERR_IO, "no such file");
    refuse(sx_folder_write("bad.yaml", "a\0b", 3), "binary data");
}
END_TEST

#define AXIS "goniometer:\n  - {name: phi, direction: [0, 1, 0], "

START_TEST(wrong_fields) {
    const struct {
        const char *more, *words;
    } bad[] = {
        {"space_group: 225\n", "both space_group and centring found"},
        {"centring: F\n", "field 'centring' found a second time"},
        {"---\ncentring: F\n", "second document"},
        {"atoms:\n  - {element: Xx, position: [0, 0, 0]}\n", "atoms[1].element: 'Xx' found"},
        {"atoms:\n  - {element: Si, position: [0, 0]}\n",
         "line 4: position: 2 values found, expected 3"},
        {"atoms:\n  - {element: Si, position: [0, 0, 0, 1]}\n", "more than 3 values found"},
        {"atoms:\n  - {element: Si, position: [0, 0, 1/3]}\n",
         "atoms[1].position: '1/3' found, expected a number in units of the cell"},
        {"atoms: {element: Si}\n", "atoms: fields (name: value) found, expected a list"},
        {"atoms:\n  - {position: [0, 0, 0]}\n", "field 'element' is missing in atoms"},
        {"atoms:\n  - {elements: Si}\n", "expected one of element, position"},
        {"orientation: {}\n", "orientation: neither found"},
        {"orientation: {ub: [1, 2, 3]}\n", "ub: 3 values found, expected 9"},
        {"orientation: {ub: [1, 0, 0, 0, 1, 0, 0, 0, o]}\n", "orientation.ub: 'o' found"},
        {"orientation: {ub: [1, 0, 0, 0, 1, 0, 0, 0, 1]}\n", "ub belongs to a cell"},
        {"orientation:\n  reflections: [{hkl: [1, 1, 1], q: [1, 0, 0]}]\n",
         "1 found, expected two"},
        {"orientation:\n  reflections: [{hkl: [1, 1, 1], q: [1, 0, 0]},"
         " {hkl: [2, 0, 0], q: [0, 1, 0]}]\n",
         "were seen 90.00 degrees apart, expected 54.74"},
        {"orientation:\n  reflections: [{hkl: [1, 1, 1], q: [1, 0, 0]}, {hkl: [2, 0, 0], q: [0, 0, "
         "0]}]\n",
         "reflections[2].q: 0 0 0 found, expected a direction"},
        {AXIS "angle: 0}\norientation:\n  reflections: [{hkl: [1, 1, 1], q: [1, 0, 0]}, "
              "{hkl: [2, 0, 0], q: [0, 1, 0]}]\n",
         "angles: 0 found, expected 1, one in degrees for each axis"},
        {AXIS "angle: 5 deg}\n", "goniometer 'phi'.angle: '5 deg' found"},
        {AXIS "dataset: /x, angle: 5}\n", "both dataset and angle found"},
        {AXIS "sense: 1}\n", "'phi': neither found"},
        {AXIS "dataset: /x, sense: left}\n", "sense: 'left' found, expected 1"},
        {"goniometer:\n  - {name: phi, direction: [0, 0, 0], angle: 0}\n", "expected a direction"},
        {"goniometer:\n  - {name: phi, angle: 0}\n", "field 'direction' is missing in goniometer"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        refuse(with(bad[k].more), bad[k].words);
    }
}
END_TEST

SX_TEST_MAIN("crystal_read", silicon, bismuth, forms, wrong_files, wrong_fields)
