/* SPDX-License-Identifier: Apache-2.0
 * What an atom and a mode scatter. */
#include "xani/phonons/diffuse.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/load.h"
#include "numer/dense.h"
#include "numer/lattice.h"
#include "xani/crystal/crystal.h"
#include "xani/phonons/phonons.h"

static const double PI = 3.14159265358979323846;

/* CODATA 2018. */
static const double HBAR = 6.3507799296;                /* u Angstrom^2 / ps */
static const double BOLTZMANN_OVER_HBAR = 0.1309203391; /* rad/ps per K */

/* xraylib's tables end at 1/4 pi of this. */
static const double LARGEST_Q = 150;

double sxi_thermal(double omega, double temperature) {
    const double x = omega / (2 * BOLTZMANN_OVER_HBAR * temperature); /* infinite at 0 K: coth 1 */
    return HBAR / (2 * omega) / tanh(x);
}

/* The six numbers of a cell. */
static void describe(const double vectors[9], double cell[6]) {
    for (int k = 0; k < 3; k++) {
        cell[k] = sxi_norm(3, vectors + 3 * k);
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double cosine = sxi_dot(3, vectors + 3 * i, vectors + 3 * j) / (cell[i] * cell[j]);
        cell[3 + k] = acos(cosine) / PI * 180;
    }
}

static bool alike(const double a[6], const double b[6]) {
    bool same = true;
    for (int k = 0; k < 6; k++) {
        same = same && fabs(a[k] - b[k]) < (k < 3 ? 0.02 * b[k] : 1);
    }
    return same;
}

sx_status sx_diffuse_match(const sx_crystal *crystal, const sx_phonons *phonons, double m[9]) {
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double vectors[9], basis[9], primitive[9], whole[6], small[6], model[6];
    describe(phonons->cell, model);
    /* Rows of the inverse of B' are a, b, c. */
    for (int k = 0; k < 9; k++) {
        vectors[k] = crystal->b_inverse[k];
    }
    describe(vectors, whole);
    sxi_centring_basis(crystal->centring, basis);
    sxi_matrix_times(basis, vectors, primitive);
    describe(primitive, small);
    if (alike(model, whole)) {
        memcpy(m, one, sizeof one);
    } else if (alike(model, small)) {
        memcpy(m, basis, sizeof basis);
    } else {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "the force constants are of a cell %.4g %.4g %.4g %.4g %.4g %.4g, the "
                        "crystal has %.4g %.4g %.4g %.4g %.4g %.4g, or primitive %.4g %.4g %.4g "
                        "%.4g %.4g %.4g",
                        model[0], model[1], model[2], model[3], model[4], model[5], whole[0],
                        whole[1], whole[2], whole[3], whole[4], whole[5], small[0], small[1],
                        small[2], small[3], small[4], small[5]);
    }
    return SX_OK;
}

sx_status sx_diffuse_form_factor(const char *element, double q, double *f) {
    static const char name[] = "libxrl.so.11";
    double (*form_factor)(int, double, void **) = NULL;
    const int number = sxi_element_number(element);
    if (number == 0 || !(q >= 0 && q <= LARGEST_Q)) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "form factor of '%.20s' at %g 1/Angstrom; expected an element and 0 to %g",
                        element, q, LARGEST_Q);
    }
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library || !SXI_LOAD(library, "FF_Rayl", form_factor)) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "form factors need xraylib (%s); Debian: libxrl11",
                        name);
    }
    *f = form_factor(number, q / (4 * PI), NULL);
    return SX_OK;
}

sx_status sx_diffuse_factors(const sx_phonons *phonons, const double hkl[3], const double *uu,
                             double *f) {
    double q[3];
    sx_phonons_q(phonons, hkl, q);
    const double length = sxi_norm(3, q);
    for (int i = 0; i < phonons->atoms; i++) {
        double exponent = 0;
        for (int k = 0; k < 9 && uu; k++) {
            exponent += 0.5 * q[k / 3] * uu[9 * i + k] * q[k % 3];
        }
        SXI_TRY(sx_diffuse_form_factor(phonons->atom[i].element, length, f + i));
        f[i] *= exp(-exponent);
    }
    return SX_OK;
}

void sx_diffuse_amplitudes(const sx_phonons *phonons, const double hkl[3], const double *f,
                           const double *vectors, double *amplitude) {
    const int n = 3 * phonons->atoms;
    double q[3];
    sx_phonons_q(phonons, hkl, q);
    memset(amplitude, 0, 2 * (size_t)n * sizeof *amplitude);
    for (int i = 0; i < phonons->atoms; i++) {
        const sx_phonons_atom *atom = phonons->atom + i;
        const double angle = -2 * PI * sxi_dot(3, hkl, atom->position);
        const double size = f[i] / sqrt(atom->mass);
        const double re = size * cos(angle), im = size * sin(angle);
        for (int k = 0; k < n; k++) {
            const double *e = vectors + 2 * (n * k + 3 * i);
            const double x = q[0] * e[0] + q[1] * e[2] + q[2] * e[4];
            const double y = q[0] * e[1] + q[1] * e[3] + q[2] * e[5];
            amplitude[2 * k] += re * x - im * y;
            amplitude[2 * k + 1] += re * y + im * x;
        }
    }
}

/* Adds one q to the mean; weight is one over the number of them. */
static sx_status add_displacements(const sx_phonons *phonons, const double hkl[3],
                                   double temperature, double weight, double *frequency,
                                   double *vectors, double *uu) {
    const int n = 3 * phonons->atoms;
    SXI_TRY(sx_phonons_modes(phonons, hkl, frequency, vectors));
    for (int k = 0; k < n; k++) {
        if (!(frequency[k] > SXI_SLOWEST)) {
            return SXI_FAIL(SX_ERR_NUMERIC,
                            "a mode at (%g, %g, %g) has %.3g THz: a crystal that is not stable has "
                            "no thermal displacements",
                            hkl[0], hkl[1], hkl[2], frequency[k]);
        }
        const double size = weight * sxi_thermal(2 * PI * frequency[k], temperature);
        for (int i = 0; i < 9 * phonons->atoms; i++) {
            const double *e = vectors + 2 * (n * k + 3 * (i / 9));
            const double *s = e + 2 * (i % 9 / 3), *t = e + 2 * (i % 3);
            uu[i] += size * (s[0] * t[0] + s[1] * t[1]) / phonons->atom[i / 9].mass;
        }
    }
    return SX_OK;
}

/* After how many reciprocal-lattice units of its cell a centred lattice repeats: 2 for fcc. A block
 * of that size holds the zone several times, which is as good for a mean. */
static int period_of(const sx_phonons *phonons, int direction) {
    enum { MOST = 64 };
    for (int p = 1; p < MOST; p++) {
        bool whole = true;
        for (int k = 0; k < phonons->images; k++) {
            const double x = p * phonons->image[k][direction];
            whole = whole && fabs(x - round(x)) < 1e-6;
        }
        if (whole) {
            return p;
        }
    }
    return MOST;
}

sx_status sx_diffuse_displacements(const sx_phonons *phonons, double temperature, int steps,
                                   double *uu) {
    sx_status status = SX_OK;
    const size_t n = 3 * (size_t)phonons->atoms;
    if (steps < 1 || steps > 200 || !(temperature >= 0) || !isfinite(temperature)) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%d steps through the zone at %g K; expected 1 to 200, and 0 K or more",
                        steps, temperature);
    }
    double *room = malloc((n + 2 * n * n + 3 * n) * sizeof *room);
    if (!room) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for thermal displacements");
    }
    double *frequency = room, *vectors = room + n, *sum = vectors + 2 * n * n;
    memset(sum, 0, 3 * n * sizeof *sum);
    /* Steps that are a multiple of the period, and half a step off, never meet the reciprocal
     * lattice, and leave the mean as symmetric as the crystal. */
    int period[3], count[3], all = 1;
    for (int k = 0; k < 3; k++) {
        period[k] = period_of(phonons, k);
        count[k] = (steps + period[k] - 1) / period[k] * period[k];
        all *= count[k];
    }
    for (int m = 0; m < all; m++) {
        const int at[3] = {m / count[2] / count[1], m / count[2] % count[1], m % count[2]};
        double hkl[3];
        for (int k = 0; k < 3; k++) {
            hkl[k] = period[k] * (at[k] + 0.5) / count[k];
        }
        SXI_GO(add_displacements(phonons, hkl, temperature, 1.0 / all, frequency, vectors, sum));
    }
    memcpy(uu, sum, 3 * n * sizeof *sum);
out:
    free(room);
    return status;
}
