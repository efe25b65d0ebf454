/* SPDX-License-Identifier: Apache-2.0
 * Crystals with a name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "numer/lattice.h"
#include "xani/phonons/phonons.h"

/* In units of the lattice constant of the cubic cell. Springs across the bonds hold up the diamond
 * lattice, which would shear without any resistance; 15 % put its transverse acoustic branch at
 * about 0.3 of the highest frequency, as in silicon and germanium. */
typedef struct model {
    const char *name;
    int atoms, shells;
    double primitive[9];   /* [3][3] rows */
    double position[2][3]; /* in units of the primitive vectors */
    sx_phonons_spring spring[2];
} model;

static const model models[] = {
    {"diamond", 2, 1, {0, .5, .5, .5, 0, .5, .5, .5, 0}, {{0, 0, 0}, {.25, .25, .25}}, {{1, .15}}},
    {"fcc", 1, 2, {0, .5, .5, .5, 0, .5, .5, .5, 0}, {{0}}, {{1, 0}, {.5, 0}}},
    {"bcc", 1, 2, {-.5, .5, .5, .5, -.5, .5, .5, .5, -.5}, {{0}}, {{1, 0}, {.5, 0}}},
    {"sc", 1, 2, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {{0}}, {{1, 0}, {.5, 0}}},
};

static const model *find(const char *name) {
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        if (strcmp(models[k].name, name) == 0) {
            return models + k;
        }
    }
    return NULL;
}

/* Positions and images in units of the cubic cell instead of the primitive one. */
static void use_cubic_cell(const double primitive[9], double a, sx_phonons *phonons) {
    double old[3];
    for (int i = 0; i < phonons->atoms; i++) {
        memcpy(old, phonons->atom[i].position, sizeof old);
        sxi_vector_times(old, primitive, phonons->atom[i].position);
    }
    for (int k = 0; k < phonons->images; k++) {
        memcpy(old, phonons->image[k], sizeof old);
        sxi_vector_times(old, primitive, phonons->image[k]);
    }
    memcpy(phonons->cell, (const double[9]){a, 0, 0, 0, a, 0, 0, 0, a}, sizeof phonons->cell);
}

/* The highest frequency among points 1/8 of the cubic reciprocal cell apart, which hold all points
 * of high symmetry, where it lies. */
static sx_status highest_of(const sx_phonons *phonons, double *highest) {
    enum { STEPS = 16 }; /* to 2, as the zone of fcc repeats only there */
    *highest = 0;
    for (int n = 0; n < STEPS * STEPS * STEPS; n++) {
        const int at[3] = {n / STEPS / STEPS, n / STEPS % STEPS, n % STEPS};
        const double hkl[3] = {0.125 * at[0], 0.125 * at[1], 0.125 * at[2]};
        double frequency[6];
        SXI_TRY(sx_phonons_modes(phonons, hkl, frequency, NULL));
        *highest = fmax(*highest, frequency[3 * phonons->atoms - 1]);
    }
    return SX_OK;
}

sx_status sx_phonons_model(const char *name, const char *element, double a, double highest,
                           sx_phonons **phonons) {
    sx_status status = SX_OK;
    const model *chosen = find(name);
    sx_phonons *made = NULL;
    sx_phonons_atom atom[2] = {{.mass = 0}, {.mass = 0}};
    double cell[9], found = 0;
    if (!chosen) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "'%.40s' is no model of springs; there are diamond, fcc, bcc and sc", name);
    }
    if (!(a > 0) || !isfinite(a) || !(highest > 0) || !isfinite(highest)) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "lattice constant %g Angstrom, highest frequency %g THz; expected positive "
                        "numbers",
                        a, highest);
    }
    for (int k = 0; k < 9; k++) {
        cell[k] = a * chosen->primitive[k];
    }
    for (int i = 0; i < chosen->atoms; i++) {
        snprintf(atom[i].element, sizeof atom[i].element, "%.3s", element);
        memcpy(atom[i].position, chosen->position[i], sizeof atom[i].position);
    }
    SXI_GO(sx_phonons_springs(cell, chosen->atoms, atom, chosen->shells, chosen->spring, &made));
    use_cubic_cell(chosen->primitive, a, made);
    SXI_GO(highest_of(made, &found));
    SXI_GO(sx_phonons_soften(made, 1 - highest * highest / (found * found), phonons));
out:
    sx_phonons_destroy(&made);
    return status;
}
