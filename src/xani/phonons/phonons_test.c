/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/phonons/phonons.h"

#include <string.h>

#include "sx_check.h"
#include "xani/simulate/simulate.h"

enum { MOST = 6 };

static const double PI = 3.14159265358979323846;

static sx_phonons *silicon(void) {
    char constants[4096], poscar[4096];
    sx_phonons *phonons = NULL;
    if (!sx_data("phonopy/Si_FORCE_CONSTANTS_full")) {
        return NULL;
    }
    snprintf(constants, sizeof constants, "%s", sx_data("phonopy/Si_FORCE_CONSTANTS_full"));
    snprintf(poscar, sizeof poscar, "%s", sx_data("phonopy/Si-gruneisen-orig/POSCAR-unitcell"));
    ck_ok(sx_phonons_read(constants, poscar, NULL, &phonons));
    return phonons;
}

/* phonopy 2.17.1 on the same force constants. Its constants of nature are those of 1986, 1.3e-7
 * away, 2e-6 THz; the table has 8 digits. The three zeros at Gamma are rounding under a root. */
START_TEST(silicon_as_phonopy) {
    sx_phonons *phonons = silicon();
    if (!phonons) {
        return;
    }
    ck_assert_int_eq(phonons->atoms, 2);
    FILE *file = fopen(sx_data("phonopy/Si_truth_dispersion.csv"), "r");
    char line[512];
    int points = 0;
    double worst = 0;
    while (fgets(line, sizeof line, file)) {
        double v[12], frequency[MOST];
        char segment[8];
        if (sscanf(line, "%7[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", segment, v,
                   v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9, v + 10,
                   v + 11) != 13) {
            continue;
        }
        ck_ok(sx_phonons_modes(phonons, v + 3, frequency, NULL));
        for (int k = 0; k < MOST; k++) {
            ck_near(frequency[k], v[6 + k], 0, 1e-5);
            worst = fmax(worst, fabs(frequency[k] - v[6 + k]));
        }
        points++;
    }
    fclose(file);
    ck_assert_int_eq(points, 564);
    printf("silicon: %d q points, at most %.2g THz from phonopy\n", points, worst);
    sx_phonons_destroy(&phonons);
}
END_TEST

/* The constants were made symmetric when they were calculated; 15 digits of each are in the file. */
START_TEST(silicon_may_be_shifted) {
    sx_phonons *phonons = silicon();
    if (phonons) {
        printf("silicon: sum rule %.2g eV/A^2\n", sx_phonons_sum_rule(phonons));
        ck_near(sx_phonons_sum_rule(phonons), 0, 0, 1e-12);
    }
    sx_phonons_destroy(&phonons);
}
END_TEST

static void check_vectors(const sx_phonons *phonons, const double hkl[3]) {
    double d[2 * MOST * MOST], e[2 * MOST * MOST], f[MOST];
    const int n = 3 * phonons->atoms;
    ck_ok(sx_phonons_matrix(phonons, hkl, d));
    ck_ok(sx_phonons_modes(phonons, hkl, f, e));
    double size = 0;
    for (int k = 0; k < 2 * n * n; k++) {
        size = fmax(size, fabs(d[k]));
    }
    for (int k = 0; k < n; k++) {
        const double value = copysign(pow(2 * PI * f[k], 2), f[k]);
        for (int i = 0; i < n; i++) {
            double re = -value * e[2 * (n * k + i)], im = -value * e[2 * (n * k + i) + 1];
            for (int j = 0; j < n; j++) {
                const double *ij = d + 2 * (n * i + j), *ej = e + 2 * (n * k + j);
                const double *ji = d + 2 * (n * j + i);
                re += ij[0] * ej[0] - ij[1] * ej[1];
                im += ij[0] * ej[1] + ij[1] * ej[0];
                ck_assert(ij[0] == ji[0] && ij[1] == -ji[1]);
            }
            /* n products of the size of the matrix are rounded. */
            ck_near(hypot(re, im), 0, 0, 1e-14 * n * size);
        }
    }
}

/* Also far out, where the phases are those of the folded q. */
START_TEST(vectors_solve_and_repeat) {
    sx_phonons *phonons = NULL;
    ck_ok(sx_phonons_model("diamond", "Ge", 5.658, 9, &phonons));
    const double inside[3] = {0.31, -0.12, 0.44}, outside[3] = {5.31, -3.12, 1.44};
    double f[MOST], g[MOST], e[2 * MOST * MOST], h[2 * MOST * MOST];
    check_vectors(phonons, inside);
    check_vectors(phonons, outside);
    ck_ok(sx_phonons_modes(phonons, inside, f, e));
    ck_ok(sx_phonons_modes(phonons, outside, g, h));
    for (int k = 0; k < MOST; k++) {
        ck_near(f[k], g[k], 1e-12, 1e-12);
        for (int i = 0; i < 2 * MOST; i++) {
            ck_near(e[2 * MOST * k + i], h[2 * MOST * k + i], 0, 1e-11);
        }
    }
    sx_phonons_destroy(&phonons);
}
END_TEST

/* The chain of two masses, nearest neighbours, spring k:
 * w^2 = k (1/m + 1/M) -+ k sqrt((1/m + 1/M)^2 - 4 sin^2(pi h) / (m M)).
 * Across the chain nothing holds. */
START_TEST(diatomic_chain) {
    const double m = 20, heavy = 50, k = 3;
    const double cell[9] = {4, 0, 0, 0, 90, 0, 0, 0, 90};
    const sx_phonons_atom atom[2] = {{"", m, {0, 0, 0}}, {"", heavy, {0.5, 0, 0}}};
    const sx_phonons_spring spring = {k, 0};
    sx_phonons *phonons = NULL;
    ck_ok(sx_phonons_springs(cell, 2, atom, 1, &spring, &phonons));
    for (int n = 0; n <= 20; n++) {
        const double hkl[3] = {0.05 * n - 0.3, 0.2, 0};
        const double sum = 1 / m + 1 / heavy, s = sin(PI * hkl[0]);
        const double root = sqrt(sum * sum - 4 * s * s / (m * heavy));
        double f[MOST];
        ck_ok(sx_phonons_modes(phonons, hkl, f, NULL));
        for (int zero = 0; zero < 4; zero++) {
            ck_near(f[zero], 0, 0, 3e-7);
        }
        /* A value near zero is known to eps of the largest; its root to 1e-8. */
        ck_near(f[5], sqrt(k * SXI_EV_A2_U * (sum + root)) / (2 * PI), 1e-13, 0);
        ck_near(f[4], sqrt(k * SXI_EV_A2_U * fmax(0, sum - root)) / (2 * PI), 1e-12, 3e-7);
    }
    ck_near(sx_phonons_sum_rule(phonons), 0, 0, 1e-14);
    sx_phonons_destroy(&phonons);
}
END_TEST

/* The lattice that xani simulate has in closed form: springs to the first and second neighbours. */
START_TEST(square_lattice) {
    const sxi_lattice lattice = sxi_lattice_create(2);
    const double cell[9] = {3, 0, 0, 0, 3, 0, 0, 0, 90};
    const sx_phonons_atom atom = {"", 1, {0, 0, 0}};
    const sx_phonons_spring spring[2] = {{lattice.k1 / SXI_EV_A2_U, 0},
                                         {lattice.k2 / SXI_EV_A2_U, 0}};
    sx_phonons *phonons = NULL;
    ck_ok(sx_phonons_springs(cell, 1, &atom, 2, spring, &phonons));
    for (int n = 1; n < 50; n++) {
        const double h = 0.37 * n, k = 0.11 * n * n;
        double f[3];
        sxi_branch branch[SXI_BRANCHES];
        sxi_lattice_branches(&lattice, h, k, branch);
        ck_ok(sx_phonons_modes(phonons, (double[]){h, k, 0.3}, f, NULL));
        ck_near(2 * PI * f[1], branch[0].omega, 1e-10, 0);
        ck_near(2 * PI * f[2], branch[1].omega, 1e-10, 0);
    }
    sx_phonons_destroy(&phonons);
}
END_TEST

/* Frequencies by sqrt(1 - s); softened shell by shell alike where all shells are softened alike. */
START_TEST(softening) {
    sx_phonons *phonons = NULL, *soft = NULL, *shells = NULL, *first = NULL;
    const double hkl[3] = {0.3, 0.2, 0.1}, s[2] = {0.19, 0.19};
    double f[MOST], g[MOST], h[MOST];
    ck_ok(sx_phonons_model("fcc", "Al", 4.05, 10, &phonons));
    ck_ok(sx_phonons_soften(phonons, s[0], &soft));
    ck_ok(sx_phonons_soften_shells(phonons, 2, s, &shells));
    ck_ok(sx_phonons_soften_shells(phonons, 1, s, &first));
    ck_ok(sx_phonons_modes(phonons, hkl, f, NULL));
    ck_ok(sx_phonons_modes(soft, hkl, g, NULL));
    ck_ok(sx_phonons_modes(shells, hkl, h, NULL));
    for (int k = 0; k < 3; k++) {
        ck_near(g[k], 0.9 * f[k], 1e-13, 0);
        ck_near(h[k], 0.9 * f[k], 1e-12, 0);
    }
    /* Only the first shell: every mode lower, none as much, and the crystal may still be shifted. */
    ck_ok(sx_phonons_modes(first, hkl, h, NULL));
    for (int k = 0; k < 3; k++) {
        ck_assert(h[k] < f[k] * 0.999 && h[k] > 0.9 * f[k] * 1.001);
    }
    ck_near(sx_phonons_sum_rule(first), 0, 0, 1e-13);
    ck_fails(sx_phonons_soften(phonons, 1, &soft), SX_ERR_ARGUMENT, "below 1");
    ck_fails(sx_phonons_soften_shells(phonons, 99, s, &soft), SX_ERR_ARGUMENT, "there are 2");
    sx_phonons_destroy(&phonons);
    sx_phonons_destroy(&soft);
    sx_phonons_destroy(&shells);
    sx_phonons_destroy(&first);
}
END_TEST

START_TEST(models) {
    const char *const names[] = {"diamond", "fcc", "bcc", "sc"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sx_phonons *phonons = NULL;
        double f[MOST], most = 0;
        ck_ok(sx_phonons_model(names[k], "Si", 5.43, 15, &phonons));
        const int n = 3 * phonons->atoms;
        for (int q = 0; q < 1000; q++) {
            const double hkl[3] = {q / 100 * 0.13, q / 10 % 10 * 0.13, q % 10 * 0.13};
            ck_ok(sx_phonons_modes(phonons, hkl, f, NULL));
            ck_assert(f[0] > -1e-6); /* stable everywhere */
            most = fmax(most, f[n - 1]);
        }
        ck_assert(most <= 15 * (1 + 1e-12) && most > 14.5);
        sx_phonons_destroy(&phonons);
    }
    sx_phonons *phonons = NULL;
    ck_fails(sx_phonons_model("hcp", "Mg", 3, 7, &phonons), SX_ERR_ARGUMENT, "diamond, fcc");
    ck_fails(sx_phonons_model("fcc", "Xx", 3, 7, &phonons), SX_ERR_ARGUMENT, "'Xx'");
    ck_fails(sx_phonons_model("fcc", "Al", 3, NAN, &phonons), SX_ERR_ARGUMENT, "positive");
    ck_assert(phonons == NULL);
}
END_TEST

/* The Cartesian way and back, in a skew cell. */
START_TEST(wave_vectors) {
    const double cell[9] = {3, 0, 0, 1, 4, 0, 0.5, 0.7, 5};
    const sx_phonons_atom atom = {"Al", 0, {0, 0, 0}};
    const sx_phonons_spring spring = {1, 0};
    sx_phonons *phonons = NULL;
    ck_ok(sx_phonons_springs(cell, 1, &atom, 1, &spring, &phonons));
    ck_near(phonons->atom[0].mass, 26.98, 1e-4, 0);
    const double hkl[3] = {0.3, -1.2, 2.5};
    double q[3], back[3];
    sx_phonons_q(phonons, hkl, q);
    sx_phonons_hkl(phonons, q, back);
    for (int k = 0; k < 3; k++) {
        ck_near(back[k], hkl[k], 1e-14, 1e-14);
        /* a.q = 2 pi h */
        double dot = 0;
        for (int j = 0; j < 3; j++) {
            dot += cell[3 * k + j] * q[j];
        }
        ck_near(dot, 2 * PI * hkl[k], 1e-14, 1e-13);
    }
    sx_phonons_destroy(&phonons);
}
END_TEST

SX_TEST_MAIN("phonons", silicon_as_phonopy, silicon_may_be_shifted, vectors_solve_and_repeat,
             diatomic_chain, square_lattice, softening, models, wave_vectors)
