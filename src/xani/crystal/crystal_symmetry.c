/* SPDX-License-Identifier: Apache-2.0
 * Space groups by spglib, which is loaded when the first is looked up: no other command waits for
 * it. */
#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <spglib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/load.h"
#include "xani/crystal/crystal.h"

enum { HALL_NUMBERS = 530, TEXT = 48 };

/* Of a cell of 6 digits. */
static const double SAME_LENGTH = 1e-4;
/* Positions, in units of the cell; files write 1/3 as 0.3333. */
static const double SAME_PLACE = 1e-3;

static const char LIBRARY[] = "libsymspg.so.1";

typedef struct library {
    SpglibSpacegroupType (*type)(const int);
    int (*operations)(int[SXI_OPERATIONS][3][3], double[SXI_OPERATIONS][3], const int);
} library;

/* It stays open: a second time costs nothing, and no state of ours has to know. */
static sx_status library_open(library *spglib) {
    void *found = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!found || !SXI_LOAD(found, "spg_get_spacegroup_type", spglib->type) ||
        !SXI_LOAD(found, "spg_get_symmetry_from_database", spglib->operations)) {
        return SXI_FAIL(
            SX_ERR_UNSUPPORTED,
            "space groups need spglib (%s); Debian: libsymspg1. A centring does without", LIBRARY);
    }
    return SX_OK;
}

static const struct centring {
    char letter;
    int points;
    double point[4][3];
    double basis[9];
} centrings[] = {
    {'P', 1, {{0}}, {1, 0, 0, 0, 1, 0, 0, 0, 1}},
    {'A', 2, {{0}, {0, .5, .5}}, {1, 0, 0, 0, .5, -.5, 0, .5, .5}},
    {'B', 2, {{0}, {.5, 0, .5}}, {.5, 0, -.5, 0, 1, 0, .5, 0, .5}},
    {'C', 2, {{0}, {.5, .5, 0}}, {.5, -.5, 0, .5, .5, 0, 0, 0, 1}},
    {'I', 2, {{0}, {.5, .5, .5}}, {-.5, .5, .5, .5, -.5, .5, .5, .5, -.5}},
    {'F', 4, {{0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}}, {0, .5, .5, .5, 0, .5, .5, .5, 0}},
    {'R',
     3,
     {{0}, {2. / 3, 1. / 3, 1. / 3}, {1. / 3, 2. / 3, 2. / 3}},
     {2. / 3, 1. / 3, 1. / 3, -1. / 3, 1. / 3, 1. / 3, -1. / 3, -2. / 3, 1. / 3}},
};

static const struct centring *centring_of(char letter) {
    for (size_t k = 0; k < sizeof centrings / sizeof *centrings; k++) {
        if (centrings[k].letter == letter) {
            return centrings + k;
        }
    }
    return NULL;
}

int sxi_centring_points(char letter, double point[4][3]) {
    const struct centring *found = centring_of(letter);
    if (!found) {
        return 0;
    }
    memcpy(point, found->point, sizeof found->point);
    return found->points;
}

void sxi_centring_basis(char letter, double basis[9]) {
    memcpy(basis, centring_of(letter)->basis, sizeof centrings[0].basis);
}

static double off_whole(double x) { return fabs(x - round(x)); }

static bool same_place(const double a[3], const double b[3]) {
    return off_whole(a[0] - b[0]) < SAME_PLACE && off_whole(a[1] - b[1]) < SAME_PLACE &&
           off_whole(a[2] - b[2]) < SAME_PLACE;
}

/* The centring that operations without rotation make. */
static char centring_found(const sxi_symmetry *symmetry) {
    static const int one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int points = 0;
    const double *last = NULL;
    for (int n = 0; n < symmetry->operations; n++) {
        if (memcmp(symmetry->rotation[n], one, sizeof one) == 0) {
            points++;
            last = off_whole(symmetry->translation[n][0]) + off_whole(symmetry->translation[n][1]) +
                               off_whole(symmetry->translation[n][2]) >
                           SAME_PLACE
                       ? symmetry->translation[n]
                       : last;
        }
    }
    for (size_t k = 0; k < sizeof centrings / sizeof *centrings; k++) {
        bool has = centrings[k].points == points;
        bool found = !last;
        for (int p = 0; p < centrings[k].points && last; p++) {
            found = found || same_place(centrings[k].point[p], last);
        }
        if (has && found) {
            return centrings[k].letter;
        }
    }
    return 0;
}

static void load(const library *spglib, int hall, const SpglibSpacegroupType *type,
                 sxi_symmetry *symmetry) {
    int rotation[SXI_OPERATIONS][3][3];
    *symmetry = (sxi_symmetry){.number = type->number};
    snprintf(symmetry->symbol, sizeof symmetry->symbol, "%s%s%s", type->international_short,
             type->choice[0] ? ":" : "", type->choice);
    symmetry->operations = spglib->operations(rotation, symmetry->translation, hall);
    for (int n = 0; n < symmetry->operations; n++) {
        for (int k = 0; k < 9; k++) {
            symmetry->rotation[n][k] = rotation[n][k / 3][k % 3];
        }
    }
    symmetry->centring = centring_found(symmetry);
}

/* Whether the rotations keep all lengths and angles: R' G R = G. */
static bool fits_cell(const sxi_symmetry *symmetry, const double cell[6]) {
    double g[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double degrees = i == j ? 0 : cell[6 - i - j];
            g[3 * i + j] =
                cell[i] * cell[j] * (degrees == 90 ? 0 : cos(degrees / 180 * 3.14159265358979324));
        }
    }
    const double size = fmax(g[0], fmax(g[4], g[8]));
    for (int n = 0; n < symmetry->operations; n++) {
        const int *r = symmetry->rotation[n];
        for (int ij = 0; ij < 9; ij++) {
            const int i = ij / 3, j = ij % 3;
            double sum = -g[ij];
            for (int k = 0; k < 3; k++) {
                for (int l = 0; l < 3; l++) {
                    sum += r[3 * k + i] * g[3 * k + l] * r[3 * l + j];
                }
            }
            if (!(fabs(sum) < SAME_LENGTH * size)) {
                return false;
            }
        }
    }
    return true;
}

sx_status sxi_symmetry_expand(const sxi_symmetry *symmetry, int atoms, const sx_crystal_atom *atom,
                              sx_crystal_atom **all, int *count) {
    *count = 0;
    *all = malloc(((size_t)atoms * (size_t)symmetry->operations + 1) * sizeof **all);
    if (!*all) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the atoms of a cell");
    }
    for (int i = 0; i < atoms * symmetry->operations; i++) {
        const int n = i % symmetry->operations;
        const int *r = symmetry->rotation[n];
        sx_crystal_atom made = atom[i / symmetry->operations];
        double at[3];
        memcpy(at, made.position, sizeof at);
        for (int k = 0; k < 3; k++) {
            double x = symmetry->translation[n][k];
            for (int l = 0; l < 3; l++) {
                x += r[3 * k + l] * at[l];
            }
            made.position[k] = x - floor(x + SAME_PLACE);
        }
        bool known = false;
        for (int k = 0; k < *count && !known; k++) {
            known = strcmp((*all)[k].element, made.element) == 0 &&
                    same_place((*all)[k].position, made.position);
        }
        if (!known) {
            (*all)[(*count)++] = made;
        }
    }
    return SX_OK;
}

/* Letters and digits of a symbol without blanks and underscores, up to an end. */
static void squeeze(const char *text, const char *end, char squeezed[TEXT]) {
    int length = 0;
    for (; text < end && *text && length < TEXT - 1; text++) {
        if (!isspace((unsigned char)*text) && *text != '_') {
            squeezed[length++] = *text;
        }
    }
    squeezed[length] = '\0';
}

/* Whether a space group has this number or symbol; spglib lists several, parted by "=". */
static bool is_named(const SpglibSpacegroupType *type, const char *wanted) {
    char found[TEXT], number[TEXT];
    snprintf(number, sizeof number, "%d", type->number);
    if (strcmp(wanted, number) == 0) {
        return true;
    }
    const char *lists[] = {type->international_short, type->international_full,
                           type->international};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        for (const char *at = lists[k]; *at;) {
            const char *end = at + strcspn(at, "=");
            squeeze(at, end, found);
            if (strcmp(wanted, found) == 0) {
                return true;
            }
            at = *end ? end + 1 : end;
        }
    }
    return false;
}

/* How many atoms a setting makes of those given. */
static sx_status count_atoms(const sxi_symmetry *symmetry, int atoms, const sx_crystal_atom *atom,
                             int *count) {
    sx_crystal_atom *all = NULL;
    SXI_TRY(sxi_symmetry_expand(symmetry, atoms, atom, &all, count));
    free(all);
    return SX_OK;
}

/* What the search over settings has found. */
typedef struct search {
    bool named;       /* some setting has the name */
    int fitting;      /* so many of them fit the cell */
    bool complete;    /* the atoms given are all there are in the one chosen */
    int atoms;        /* of the one chosen */
    bool two_origins; /* another origin makes another number of atoms of those given */
} search;

/* Prefers the setting in which the atoms given are all, then the first. */
static sx_status consider(const sxi_symmetry *candidate, int atoms, const sx_crystal_atom *atom,
                          search *so_far, sxi_symmetry *chosen) {
    int count = 0;
    SXI_TRY(count_atoms(candidate, atoms, atom, &count));
    const bool complete = count == atoms;
    const bool origin = strchr("12", candidate->symbol[strlen(candidate->symbol) - 1]) &&
                        strchr(candidate->symbol, ':') && candidate->number >= 48;
    so_far->two_origins |= so_far->fitting > 0 && origin && count != so_far->atoms;
    if (so_far->fitting == 0 || (complete && !so_far->complete)) {
        *chosen = *candidate;
        so_far->complete = complete;
        so_far->atoms = count;
    }
    so_far->fitting++;
    return SX_OK;
}

static sx_status find_group(const char *text, const double cell[6], int atoms,
                            const sx_crystal_atom *atom, sxi_symmetry *candidate,
                            sxi_symmetry *chosen) {
    char wanted[TEXT];
    const char *setting = text + strcspn(text, ":");
    squeeze(text, setting, wanted);
    setting += *setting == ':';
    search so_far = {.named = false};
    library spglib;
    SXI_TRY(library_open(&spglib));
    for (int hall = 1; hall <= HALL_NUMBERS; hall++) {
        const SpglibSpacegroupType type = spglib.type(hall);
        if (!is_named(&type, wanted) || (*setting && strcmp(setting, type.choice) != 0)) {
            continue;
        }
        so_far.named = true;
        load(&spglib, hall, &type, candidate);
        if (fits_cell(candidate, cell)) {
            SXI_TRY(consider(candidate, atoms, atom, &so_far, chosen));
        }
    }
    if (!so_far.named) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "'%.40s' is no space group; expected a number from 1 to 230, a symbol such "
                        "as Fd-3m or P2_1/c, or one with its setting such as Fd-3m:2",
                        text);
    }
    if (so_far.fitting == 0) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "the cell %g %g %g %g %g %g has not the symmetry of space group %.40s",
                        cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], text);
    }
    if (so_far.two_origins && !so_far.complete) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "space group %.40s has two origins, which place the atoms differently; "
                        "write %.*s:1 or %.*s:2, or list all atoms of the cell",
                        text, (int)strcspn(text, ":"), text, (int)strcspn(text, ":"), text);
    }
    return SX_OK;
}

/* A lone letter. */
static void put_centring(const struct centring *of, sxi_symmetry *symmetry) {
    *symmetry = (sxi_symmetry){.centring = of->letter, .operations = of->points};
    for (int n = 0; n < of->points; n++) {
        const int one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        memcpy(symmetry->rotation[n], one, sizeof one);
        memcpy(symmetry->translation[n], of->point[n], sizeof of->point[n]);
    }
}

sx_status sxi_symmetry_find(const char *text, const double cell[6], int atoms,
                            const sx_crystal_atom *atom, sxi_symmetry *symmetry) {
    const struct centring *letter = text[0] && !text[1] ? centring_of(text[0]) : NULL;
    if (letter) {
        put_centring(letter, symmetry);
        return SX_OK;
    }
    sxi_symmetry *candidate = malloc(sizeof *candidate);
    if (!candidate) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a space group");
    }
    const sx_status status = find_group(text, cell, atoms, atom, candidate, symmetry);
    free(candidate);
    return status;
}
