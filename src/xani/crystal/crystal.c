/* SPDX-License-Identifier: Apache-2.0
 * Cell and reciprocal lattice. */
#include "xani/crystal/crystal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "numer/lattice.h"

static const double PI = 3.14159265358979323846;

/* The cosine is exactly 0 where it should be. */
static double cosine(double degrees) { return degrees == 90 ? 0 : cos(degrees / 180 * PI); }

sx_status sxi_crystal_b(const double cell[6], double b[9]) {
    const double ca = cosine(cell[3]), cb = cosine(cell[4]), cg = cosine(cell[5]);
    const double sa = sqrt(1 - ca * ca), sb = sqrt(1 - cb * cb), sg = sqrt(1 - cg * cg);
    /* Volume of a cell with edges of length 1, squared. */
    const double square = 1 - ca * ca - cb * cb - cg * cg + 2 * ca * cb * cg;
    bool possible = square > 1e-6;
    for (int k = 0; k < 6; k++) {
        possible = possible && cell[k] > 0 && isfinite(cell[k]) && (k < 3 || cell[k] < 180);
    }
    if (!possible) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "no cell has edges %g %g %g and angles %g %g %g; expected lengths in "
                        "Angstrom and angles in degrees that enclose a volume",
                        cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]);
    }
    const double v = sqrt(square);
    const double as = sa / (cell[0] * v), bs = sb / (cell[1] * v), cs = sg / (cell[2] * v);
    const double cbs = (ca * cg - cb) / (sa * sg), cgs = (ca * cb - cg) / (sa * sb);
    const double full[9] = {
        as, bs * cgs, cs * cbs,   0, bs * sqrt(1 - cgs * cgs), -cs * sqrt(1 - cbs * cbs) * ca,
        0,  0,        1 / cell[2]};
    memcpy(b, full, sizeof full);
    return SX_OK;
}

/* Rows are the shortest basis of all (h, k, l) that the centring allows. */
static void find_zone(sx_crystal *crystal) {
    double basis[9], inverse[9];
    sxi_centring_basis(crystal->centring, basis);
    sxi_matrix_invert(basis, inverse);
    for (int i = 0; i < 3; i++) {
        const double hkl[3] = {inverse[i], inverse[3 + i], inverse[6 + i]};
        sxi_times_vector(crystal->b, hkl, crystal->zone + 3 * i);
    }
    sxi_lattice_reduce(crystal->zone);
    sxi_matrix_invert(crystal->zone, crystal->zone_inverse);
}

static bool has_rotation(const sx_crystal *crystal, const int r[9]) {
    for (int k = 0; k < crystal->rotations; k++) {
        if (memcmp(crystal->rotation[k], r, sizeof crystal->rotation[k]) == 0) {
            return true;
        }
    }
    return false;
}

/* A group holds the inverse of each, so that rows times the rotations of positions are all that
 * indices can become. */
static sx_status put_rotations(const sxi_symmetry *symmetry, sx_crystal *crystal) {
    crystal->rotation = calloc(2 * (size_t)symmetry->operations, sizeof *crystal->rotation);
    if (!crystal->rotation) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a point group");
    }
    for (int n = 0; n < 2 * symmetry->operations; n++) {
        int r[9];
        for (int k = 0; k < 9; k++) {
            r[k] = (n % 2 ? -1 : 1) * symmetry->rotation[n / 2][k];
        }
        if (!has_rotation(crystal, r)) {
            memcpy(crystal->rotation[crystal->rotations++], r, sizeof r);
        }
    }
    return SX_OK;
}

static sx_status fill(const double cell[6], const char *text, int atoms,
                      const sx_crystal_atom *atom, sxi_symmetry *symmetry, sx_crystal *crystal) {
    SXI_TRY(sxi_crystal_b(cell, crystal->b));
    sxi_matrix_invert(crystal->b, crystal->b_inverse);
    memcpy(crystal->cell, cell, sizeof crystal->cell);
    SXI_TRY(sxi_symmetry_find(text, cell, atoms, atom, symmetry));
    crystal->centring = symmetry->centring;
    crystal->space_group = symmetry->number;
    memcpy(crystal->symbol, symmetry->symbol, sizeof crystal->symbol);
    SXI_TRY(put_rotations(symmetry, crystal));
    SXI_TRY(sxi_symmetry_expand(symmetry, atoms, atom, &crystal->atom, &crystal->atoms));
    find_zone(crystal);
    return SX_OK;
}

sx_status sx_crystal_create(const double cell[6], const char *symmetry, int atoms,
                            const sx_crystal_atom *atom, sx_crystal **crystal) {
    sx_status status = SX_OK;
    sxi_symmetry *found = malloc(sizeof *found);
    sx_crystal *made = calloc(1, sizeof *made);
    if (!found || !made) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for a crystal");
        goto out;
    }
    SXI_GO(fill(cell, symmetry, atoms, atom, found, made));
    *crystal = made;
    made = NULL;
out:
    free(found);
    sx_crystal_destroy(&made);
    return status;
}

/* NULL for NULL. */
static sx_status copy_text(const char *text, char **copy) {
    *copy = text ? strdup(text) : NULL;
    return text && !*copy ? SXI_FAIL(SX_ERR_MEMORY, "no memory for the name of a dataset") : SX_OK;
}

sx_status sxi_crystal_add_axes(sx_crystal *crystal, int axes, const sx_crystal_axis *axis) {
    crystal->axis = calloc((size_t)axes + 1, sizeof *crystal->axis);
    if (!crystal->axis) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d axes", axes);
    }
    for (int k = 0; k < axes; k++) {
        crystal->axis[k] = axis[k];
        crystal->axis[k].dataset = NULL;
        crystal->axes = k + 1;
        SXI_TRY(copy_text(axis[k].dataset, &crystal->axis[k].dataset));
    }
    return SX_OK;
}

void sx_crystal_destroy(sx_crystal **crystal) {
    if (crystal && *crystal) {
        for (int k = 0; k < (*crystal)->axes; k++) {
            free((*crystal)->axis[k].dataset);
        }
        free((*crystal)->axis);
        free((*crystal)->atom);
        free((*crystal)->rotation);
        free(*crystal);
        *crystal = NULL;
    }
}

bool sx_crystal_allowed(const sx_crystal *crystal, const double hkl[3]) {
    double point[4][3];
    const int points = sxi_centring_points(crystal->centring, point);
    bool allowed = hkl[0] == round(hkl[0]) && hkl[1] == round(hkl[1]) && hkl[2] == round(hkl[2]);
    for (int n = 0; n < points; n++) {
        const double phase = sxi_dot(3, hkl, point[n]);
        allowed = allowed && fabs(phase - round(phase)) < 1e-6;
    }
    return allowed;
}

double sx_crystal_length(const sx_crystal *crystal, const double hkl[3]) {
    double vector[3];
    sxi_times_vector(crystal->b, hkl, vector);
    return 2 * PI * sxi_norm(3, vector);
}

/* Whether a comes before b; rounding does not decide. */
static bool smaller(const double a[3], const double b[3]) {
    for (int k = 0; k < 3; k++) {
        if (fabs(a[k] - b[k]) > 1e-6) {
            return a[k] < b[k];
        }
    }
    return false;
}

void sx_crystal_fold(const sx_crystal *crystal, const double hkl[3], double g[3], double q[3]) {
    double x[3], near[SXI_LATTICE_NEAREST][3];
    double best[3] = {NAN, NAN, NAN};
    sxi_times_vector(crystal->b, hkl, x);
    /* Points on the border of the zone are as near to it as numbers are. */
    const double equal = 1e-9 * sxi_norm(3, crystal->zone);
    const int count = sxi_lattice_nearest(crystal->zone, crystal->zone_inverse, x, equal, near);
    for (int n = 0; n < count; n++) {
        double folded[3], point[3];
        sxi_times_vector(crystal->b_inverse, near[n], folded);
        for (int k = 0; k < 3; k++) {
            point[k] = round(hkl[k] - folded[k]);
        }
        if (n == 0 || smaller(point, best)) {
            memcpy(best, point, sizeof best);
        }
    }
    for (int k = 0; k < 3; k++) {
        if (q) {
            q[k] = hkl[k] - best[k];
        }
        if (g) {
            g[k] = best[k];
        }
    }
}

void sx_crystal_reduce(const sx_crystal *crystal, const double hkl[3], double reduced[3]) {
    double folded[3];
    sx_crystal_fold(crystal, hkl, NULL, folded);
    memcpy(reduced, folded, sizeof folded);
    for (int n = 0; n < crystal->rotations; n++) {
        const int *r = crystal->rotation[n];
        double turned[3], again[3];
        for (int k = 0; k < 3; k++) {
            turned[k] = folded[0] * r[k] + folded[1] * r[3 + k] + folded[2] * r[6 + k];
        }
        sx_crystal_fold(crystal, turned, NULL, again);
        if (smaller(reduced, again)) {
            memcpy(reduced, again, sizeof again);
        }
    }
}
