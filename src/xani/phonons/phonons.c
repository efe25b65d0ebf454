/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/phonons/phonons.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "numer/hermitian.h"
#include "numer/lattice.h"

static const double PI = 3.14159265358979323846;

sx_status sxi_phonons_create(int atoms, int images, int64_t bonds, sx_phonons **phonons) {
    sx_phonons *made = calloc(1, sizeof *made);
    if (made) {
        made->atom = calloc((size_t)atoms, sizeof *made->atom);
        made->image = calloc((size_t)images, sizeof *made->image);
        made->bond = calloc((size_t)bonds, sizeof *made->bond);
    }
    if (!made || !made->atom || !made->image || !made->bond) {
        sx_phonons_destroy(&made);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for force constants of %lld bonds",
                        (long long)bonds);
    }
    made->atoms = atoms;
    made->images = images;
    made->bonds = bonds;
    *phonons = made;
    return SX_OK;
}

sx_status sxi_phonons_copy(const sx_phonons *phonons, sx_phonons **copy) {
    sx_phonons *made = NULL;
    SXI_TRY(sxi_phonons_create(phonons->atoms, phonons->images, phonons->bonds, &made));
    memcpy(made->cell, phonons->cell, sizeof made->cell);
    memcpy(made->atom, phonons->atom, (size_t)made->atoms * sizeof *made->atom);
    memcpy(made->image, phonons->image, (size_t)made->images * sizeof *made->image);
    memcpy(made->bond, phonons->bond, (size_t)made->bonds * sizeof *made->bond);
    *copy = made;
    return SX_OK;
}

void sx_phonons_destroy(sx_phonons **phonons) {
    if (phonons && *phonons) {
        free((*phonons)->atom);
        free((*phonons)->image);
        free((*phonons)->bond);
        free(*phonons);
        *phonons = NULL;
    }
}

static bool same(const double a[3], const double b[3]) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

int sxi_phonons_image(sx_phonons *phonons, const double image[3]) {
    int k = 0;
    while (k < phonons->images && !same(phonons->image[k], image)) {
        k++;
    }
    if (k == phonons->images) {
        memcpy(phonons->image[phonons->images++], image, 3 * sizeof *image);
    }
    return k;
}

void sxi_phonons_direction(const sx_phonons *phonons, const sx_phonons_bond *bond,
                           double vector[3]) {
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = phonons->image[bond->image][k] + phonons->atom[bond->j].position[k] -
               phonons->atom[bond->i].position[k];
    }
    sxi_vector_times(d, phonons->cell, vector);
}

double sxi_phonons_distance(const sx_phonons *phonons, const sx_phonons_bond *bond) {
    double vector[3];
    sxi_phonons_direction(phonons, bond, vector);
    return sxi_norm(3, vector);
}

void sx_phonons_q(const sx_phonons *phonons, const double hkl[3], double q[3]) {
    double inverse[9];
    sxi_matrix_invert(phonons->cell, inverse);
    sxi_times_vector(inverse, hkl, q);
    for (int k = 0; k < 3; k++) {
        q[k] *= 2 * PI;
    }
}

void sx_phonons_hkl(const sx_phonons *phonons, const double q[3], double hkl[3]) {
    sxi_times_vector(phonons->cell, q, hkl);
    for (int k = 0; k < 3; k++) {
        hkl[k] /= 2 * PI;
    }
}

double sx_phonons_sum_rule(const sx_phonons *phonons) {
    double worst = 0;
    for (int i = 0; i < phonons->atoms; i++) {
        double sum[9] = {0};
        for (int64_t b = 0; b < phonons->bonds; b++) {
            const sx_phonons_bond *bond = phonons->bond + b;
            for (int k = 0; k < 9 && bond->i == i; k++) {
                sum[k] += bond->phi[k];
            }
        }
        for (int k = 0; k < 9; k++) {
            worst = fmax(worst, fabs(sum[k]));
        }
    }
    return worst;
}

void sxi_phonons_balance(sx_phonons *phonons) {
    for (int i = 0; i < phonons->atoms; i++) {
        sx_phonons_bond *self = NULL;
        double sum[9] = {0};
        for (int64_t b = 0; b < phonons->bonds; b++) {
            sx_phonons_bond *bond = phonons->bond + b;
            if (bond->i == i && bond->j == i && sxi_phonons_distance(phonons, bond) == 0) {
                self = bond;
            } else if (bond->i == i) {
                for (int k = 0; k < 9; k++) {
                    sum[k] += bond->phi[k];
                }
            }
        }
        for (int k = 0; k < 9 && self; k++) {
            self->phi[k] = -sum[k];
        }
    }
}

/* d += phi exp(i angle) for one bond; row 3 i + s begins at d + 2 * n * (3 i + s). */
static void add_bond(const sx_phonons_bond *bond, const double *phase, int n, double *d) {
    for (int s = 0; s < 3; s++) {
        double *row = d + 2 * (n * (3 * bond->i + s) + 3 * bond->j);
        for (int t = 0; t < 3; t++) {
            row[2 * t] += bond->phi[3 * s + t] * phase[0];
            row[2 * t + 1] += bond->phi[3 * s + t] * phase[1];
        }
    }
}

/* Divides by the masses, and takes the mean with the adjoint: force constants as calculated are
 * not quite those of action and reaction. */
static void finish(const sx_phonons *phonons, int n, double *d) {
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            const double masses = phonons->atom[i / 3].mass * phonons->atom[j / 3].mass;
            const double factor = 0.5 * SXI_EV_A2_U / sqrt(masses);
            double *ij = d + 2 * (n * i + j), *ji = d + 2 * (n * j + i);
            const double re = factor * (ij[0] + ji[0]), im = factor * (ij[1] - ji[1]);
            ij[0] = ji[0] = re;
            ij[1] = im;
            ji[1] = -im;
        }
    }
}

/* phase [images][2] is work. */
static void fill(const sx_phonons *phonons, const double hkl[3], double *phase, double *d) {
    const int n = 3 * phonons->atoms;
    for (int k = 0; k < phonons->images; k++) {
        const double angle = 2 * PI * sxi_dot(3, hkl, phonons->image[k]);
        phase[2 * k] = cos(angle);
        phase[2 * k + 1] = sin(angle);
    }
    memset(d, 0, sizeof *d * 2 * (size_t)n * (size_t)n);
    for (int64_t b = 0; b < phonons->bonds; b++) {
        const sx_phonons_bond *bond = phonons->bond + b;
        add_bond(bond, phase + 2 * bond->image, n, d);
    }
    finish(phonons, n, d);
}

static sx_status make_room(size_t numbers, double **room) {
    *room = malloc(numbers * sizeof **room);
    return *room ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for a dynamical matrix");
}

sx_status sx_phonons_matrix(const sx_phonons *phonons, const double hkl[3], double *d) {
    double *phase = NULL;
    SXI_TRY(make_room(2 * (size_t)phonons->images, &phase));
    fill(phonons, hkl, phase, d);
    free(phase);
    return SX_OK;
}

sx_status sx_phonons_modes(const sx_phonons *phonons, const double hkl[3], double *frequency,
                           double *vectors) {
    sx_status status = SX_OK;
    const size_t n = 3 * (size_t)phonons->atoms, images = (size_t)phonons->images;
    double *room = NULL;
    SXI_TRY(make_room(n + 4 * n * n + 2 * images, &room));
    double *values = room, *d = values + n, *own = d + 2 * n * n, *phase = own + 2 * n * n;
    fill(phonons, hkl, phase, d);
    if (!sxi_hermitian_eigen((int)n, d, values, own)) {
        status =
            SXI_FAIL(SX_ERR_NUMERIC, "no phonons at (%g, %g, %g): a number there is not finite",
                     hkl[0], hkl[1], hkl[2]);
        goto out;
    }
    for (size_t k = 0; k < n; k++) {
        frequency[k] = copysign(sqrt(fabs(values[k])), values[k]) / (2 * PI);
    }
    if (vectors) {
        memcpy(vectors, own, 2 * n * n * sizeof *own);
    }
out:
    free(room);
    return status;
}
