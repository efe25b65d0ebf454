/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/phonons/diffuse.h"

#include <string.h>

#include "numer/dense.h"
#include "numer/lattice.h"
#include "sx_check.h"
#include "xani/phonons/phonons.h"

enum { MOST = 6 };

static const double PI = 3.14159265358979323846;

/* Gallium arsenide of springs, its primitive cell. */
static sx_phonons *gallium_arsenide(void) {
    const double cell[9] = {0, 2.8, 2.8, 2.8, 0, 2.8, 2.8, 2.8, 0};
    const sx_phonons_atom atom[2] = {{"Ga", 0, {0, 0, 0}}, {"As", 0, {.25, .25, .25}}};
    const sx_phonons_spring spring[2] = {{6, 0.9}, {0.7, 0.1}};
    sx_phonons *model = NULL;
    ck_ok(sx_phonons_springs(cell, 2, atom, 2, spring, &model));
    return model;
}

static double intensity(const sx_diffuse *diffuse, const sx_tone *tone, double t) {
    double sum = diffuse->mean;
    for (int n = 0; n < diffuse->tones; n++) {
        sum += tone[n].amplitude * cos(2 * PI * tone[n].frequency * t);
    }
    return sum;
}

/* k T / (m w^2) where it is hot, hbar / 2 w at 0 K. */
START_TEST(thermal_start) {
    const double k_over_u = 0.83144626; /* k in u Angstrom^2 / ps^2 per K, CODATA 2018 */
    const double omega = 2 * PI * 0.5;
    ck_near(sxi_thermal(omega, 3000), k_over_u * 3000 / (omega * omega), 1e-5, 0);
    ck_near(sxi_thermal(omega, 0), 6.3507799296 / (2 * omega), 1e-9, 0);
    /* hbar w = k T ln 2: the mean number of phonons is 1. */
    ck_near(sxi_thermal(omega, omega / (0.130920339 * log(2))), 3 * 6.35077993 / (2 * omega), 1e-7,
            0);
}
END_TEST

/* One mode sees Q along its direction: I(t) = I0 (1 + (r - 1) / 2 (1 - cos 2 w' t)), r = 1/(1 - s).
 */
START_TEST(one_mode) {
    const double cell[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, f = 13, s = 0.1, hkl[3] = {2.3, 0, 0};
    const sx_phonons_atom atom = {"Al", 0, {0, 0, 0}};
    const sx_phonons_spring spring = {2, 0.7};
    sx_phonons *before = NULL, *after = NULL;
    double frequency[3];
    sx_diffuse diffuse;
    sx_tone tone[9];
    ck_ok(sx_phonons_springs(cell, 1, &atom, 1, &spring, &before));
    ck_ok(sx_phonons_soften(before, s, &after));
    ck_ok(sx_phonons_modes(before, hkl, frequency, NULL));
    ck_ok(sx_diffuse_tones(before, after, hkl, &f, 300, &diffuse, tone));
    const double q = 2 * PI * 2.3 / 3, omega = 2 * PI * frequency[2];
    const double start = f * f * q * q / before->atom[0].mass * sxi_thermal(omega, 300);
    const double ratio = 1 / (1 - s);
    ck_near(diffuse.before, start, 1e-12, 0);
    ck_near(diffuse.mean, start * (1 + (ratio - 1) / 2), 1e-12, 0);
    ck_near(tone[0].amplitude, -start * (ratio - 1) / 2, 1e-12, 0);
    ck_near(tone[0].frequency, 2 * frequency[2] * sqrt(1 - s), 1e-12, 0);
    ck_assert(tone[0].kind == SX_TONE_OVERTONE && tone[0].k == 2 && tone[0].l == 2);
    for (int n = 1; n < diffuse.tones; n++) {
        ck_near(tone[n].amplitude, 0, 0, 1e-12 * start);
    }
    sx_phonons_destroy(&before);
    sx_phonons_destroy(&after);
}
END_TEST

/* y += factor x for matrices [n][n][2]. */
static void add(int n, double factor, const double *x, double *y) {
    for (int k = 0; k < 2 * n * n; k++) {
        y[k] += factor * x[k];
    }
}

/* c = factor a b, complex. */
static void multiply(int n, double factor, const double *a, const double *b, double *c) {
    for (int i = 0; i < n * n; i++) {
        double re = 0, im = 0;
        for (int k = 0; k < n; k++) {
            const double *x = a + 2 * (n * (i / n) + k), *y = b + 2 * (n * k + i % n);
            re += x[0] * y[0] - x[1] * y[1];
            im += x[0] * y[1] + x[1] * y[0];
        }
        c[2 * i] = factor * re;
        c[2 * i + 1] = factor * im;
    }
}

/* Positions x = w, y = dw/dt follow w'' = -D w: one Runge-Kutta step for all starts at once. */
static void step(int n, const double *d, double h, double *x, double *y) {
    double kx[4][2 * MOST * MOST], ky[4][2 * MOST * MOST], u[2 * MOST * MOST], v[2 * MOST * MOST];
    const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    for (int k = 0; k < 4; k++) {
        memcpy(u, x, sizeof u);
        memcpy(v, y, sizeof v);
        if (k > 0) {
            add(n, at[k] * h, kx[k - 1], u);
            add(n, at[k] * h, ky[k - 1], v);
        }
        memcpy(kx[k], v, sizeof v);
        multiply(n, -1, d, u, ky[k]);
    }
    for (int k = 0; k < 4; k++) {
        add(n, weight[k] * h, kx[k], x);
        add(n, weight[k] * h, ky[k], y);
    }
}

/* sum over old modes of |a.x(t) e_j|^2 size_j, x(t) [n][n][2] what starts became. */
static double spread(int n, const double *x, const double *a, const double *old,
                     const double *size) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
        double re = 0, im = 0;
        for (int i = 0; i < n * n; i++) {
            const double *ai = a + 2 * (i / n), *xi = x + 2 * i, *e = old + 2 * (n * j + i % n);
            const double xr = xi[0] * e[0] - xi[1] * e[1], xm = xi[0] * e[1] + xi[1] * e[0];
            re += ai[0] * xr - ai[1] * xm;
            im += ai[0] * xm + ai[1] * xr;
        }
        sum += size[j] * (re * re + im * im);
    }
    return sum;
}

/* What an atom's displacement in each direction scatters, times m^1/2: by vectors that are one. */
static void weights(const sx_phonons *phonons, const double hkl[3], const double *f, double *a) {
    double one[2 * MOST * MOST] = {0};
    const int n = 3 * phonons->atoms;
    for (int k = 0; k < n; k++) {
        one[2 * (n * k + k)] = 1;
    }
    sx_diffuse_amplitudes(phonons, hkl, f, one, a);
}

/* The equation of motion, integrated, against the sum of tones. */
START_TEST(against_integration) {
    enum { STEPS = 4000 };
    sx_phonons *before = gallium_arsenide(), *after = NULL;
    const double s[2] = {0.12, -0.05}, hkl[3] = {1.31, -0.78, 2.14}, f[2] = {22, 25};
    const double h = 0.7 / STEPS; /* ps; the error of a step is (w h)^5, 1e-11 */
    double d[2 * MOST * MOST], e[2 * MOST * MOST], frequency[MOST], a[2 * MOST];
    double u[MOST], p[MOST];
    double x[2][2 * MOST * MOST] = {{0}}, y[2][2 * MOST * MOST] = {{0}};
    sx_diffuse diffuse;
    sx_tone tone[MOST * MOST];
    ck_ok(sx_phonons_soften_shells(before, 2, s, &after));
    ck_ok(sx_diffuse_tones(before, after, hkl, f, 250, &diffuse, tone));
    ck_ok(sx_phonons_modes(before, hkl, frequency, e));
    ck_ok(sx_phonons_matrix(after, hkl, d));
    weights(before, hkl, f, a);
    for (int k = 0; k < MOST; k++) {
        u[k] = sxi_thermal(2 * PI * frequency[k], 250);
        p[k] = u[k] * pow(2 * PI * frequency[k], 2);
        x[0][2 * (MOST * k + k)] = 1; /* starts at a place */
        y[1][2 * (MOST * k + k)] = 1; /* starts with a momentum */
    }
    ck_near(intensity(&diffuse, tone, 0), diffuse.before, 1e-11, 0);
    for (int n = 0; n <= STEPS; n++) {
        if (n % 100 == 0) {
            const double now = spread(MOST, x[0], a, e, u) + spread(MOST, x[1], a, e, p);
            ck_near(intensity(&diffuse, tone, n * h), now, 1e-7, 0);
        }
        step(MOST, d, h, x[0], y[0]);
        step(MOST, d, h, x[1], y[1]);
    }
    sx_phonons_destroy(&before);
    sx_phonons_destroy(&after);
}
END_TEST

/* Two modes in a plane: besides constants the tones are 2 w1, 2 w2, w1 + w2 and w2 - w1. Without
 * mixing only the first two. */
START_TEST(two_modes) {
    const double cell[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, f = 10, hkl[3] = {1.3, 2.2, 0};
    const sx_phonons_atom atom = {"Si", 0, {0, 0, 0}};
    const sx_phonons_spring spring[2] = {{2, 0.5}, {1, 0.2}};
    const double s[2] = {0.3, 0};
    sx_phonons *before = NULL, *mixed = NULL, *plain = NULL;
    sx_diffuse diffuse;
    sx_tone tone[9];
    double w[3];
    ck_ok(sx_phonons_springs(cell, 1, &atom, 2, spring, &before));
    ck_ok(sx_phonons_soften_shells(before, 1, s, &mixed));
    ck_ok(sx_phonons_soften(before, 0.3, &plain));
    ck_ok(sx_phonons_modes(mixed, hkl, w, NULL));
    ck_ok(sx_diffuse_tones(before, mixed, hkl, &f, 300, &diffuse, tone));
    /* The third mode moves along z and is not seen. */
    int seen = 0;
    double vertical[3], e[18];
    ck_ok(sx_phonons_modes(mixed, hkl, vertical, e));
    int plane[2], count = 0;
    for (int k = 0; k < 3; k++) {
        if (hypot(e[2 * (3 * k + 2)], e[2 * (3 * k + 2) + 1]) < 0.5) {
            plane[count++] = k;
        }
    }
    ck_assert_int_eq(count, 2);
    const double low = w[plane[0]], high = w[plane[1]];
    const double expected[4] = {2 * low, 2 * high, high + low, high - low};
    const sx_tone_kind kind[4] = {SX_TONE_OVERTONE, SX_TONE_OVERTONE, SX_TONE_SUM,
                                  SX_TONE_DIFFERENCE};
    for (int n = 0; n < diffuse.tones; n++) {
        int which = -1;
        for (int k = 0; k < 4; k++) {
            which = fabs(tone[n].frequency - expected[k]) < 1e-9 ? k : which;
        }
        if (fabs(tone[n].amplitude) > 1e-4 * diffuse.before) {
            ck_assert(which >= 0 && tone[n].kind == kind[which]);
            seen |= 1 << which;
        }
        ck_assert(n == 0 || fabs(tone[n].amplitude) <= fabs(tone[n - 1].amplitude));
    }
    ck_assert_int_eq(seen, 15);
    ck_ok(sx_diffuse_tones(before, plain, hkl, &f, 300, &diffuse, tone));
    for (int n = 0; n < diffuse.tones; n++) {
        ck_assert(tone[n].kind == SX_TONE_OVERTONE ||
                  fabs(tone[n].amplitude) < 1e-12 * diffuse.before);
    }
    sx_phonons_destroy(&before);
    sx_phonons_destroy(&mixed);
    sx_phonons_destroy(&plain);
}
END_TEST

/* The sum over the atoms of 4 x 4 x 4 cells that move as one mode says, to first order. */
static void sum_of_atoms(const sx_phonons *phonons, const double at[3], const double mode[3],
                         const double *e, const double *f, double sum[2]) {
    double q[3];
    sx_phonons_q(phonons, at, q);
    sum[0] = sum[1] = 0;
    for (int c = 0; c < 64; c++) {
        const double cell[3] = {c / 16, c / 4 % 4, c % 4};
        for (int i = 0; i < phonons->atoms; i++) {
            const double *place = phonons->atom[i].position;
            double angle = 2 * PI * sxi_dot(3, mode, cell);
            for (int k = 0; k < 3; k++) {
                angle -= 2 * PI * at[k] * (cell[k] + place[k]);
            }
            const double size = f[i] / sqrt(phonons->atom[i].mass) / 64;
            for (int k = 0; k < 3; k++) {
                const double *x = e + 2 * (3 * i + k);
                sum[0] += size * q[k] * (x[0] * cos(angle) - x[1] * sin(angle));
                sum[1] += size * q[k] * (x[0] * sin(angle) + x[1] * cos(angle));
            }
        }
    }
}

/* At G + q the amplitude is that of the atoms, phase and all; at other q a mode is not seen. */
START_TEST(amplitude_of_atoms) {
    sx_phonons *model = gallium_arsenide();
    const double mode[3] = {0.25, -0.5, 0.25}, at[3] = {2.25, -2.5, 1.25}, other[3] = {3.5, -2, 1};
    const double f[2] = {20, 27};
    double frequency[MOST], e[2 * MOST * MOST], amplitude[2 * MOST], sum[2], none[2];
    ck_ok(sx_phonons_modes(model, mode, frequency, e));
    sx_diffuse_amplitudes(model, at, f, e, amplitude);
    for (int k = 0; k < MOST; k++) {
        sum_of_atoms(model, at, mode, e + 2 * MOST * k, f, sum);
        sum_of_atoms(model, other, mode, e + 2 * MOST * k, f, none);
        ck_near(amplitude[2 * k], sum[0], 1e-12, 1e-12);
        ck_near(amplitude[2 * k + 1], sum[1], 1e-12, 1e-12);
        ck_near(hypot(none[0], none[1]), 0, 0, 1e-12);
    }
    sx_phonons_destroy(&model);
}
END_TEST

/* Vectors are complete, so sum |F|^2 does not depend on them; and the intensity is the same at all
 * Q that the tetrahedron's symmetry makes of one, which it is only with the right phases. */
START_TEST(invariances) {
    sx_phonons *model = gallium_arsenide(), *after = NULL;
    const double f[2] = {20, 27}, s[1] = {0.1};
    const double turned[][3] = {{1.2, .3, 2.1},   {.3, 2.1, 1.2},   {.3, 1.2, 2.1},
                                {-1.2, -.3, 2.1}, {-1.2, .3, -2.1}, {-1.2, -.3, -2.1}};
    double first = 0, tone_first = 0;
    ck_ok(sx_phonons_soften_shells(model, 1, s, &after));
    for (size_t n = 0; n < sizeof turned / sizeof *turned; n++) {
        /* (h, k, l) of the cubic cell to those of the primitive one, as its vectors say. */
        const double *c = turned[n];
        const double hkl[3] = {(c[1] + c[2]) / 2, (c[0] + c[2]) / 2, (c[0] + c[1]) / 2};
        double frequency[MOST], e[2 * MOST * MOST], amplitude[2 * MOST], q[3], sum = 0, whole = 0;
        sx_diffuse diffuse;
        sx_tone tone[MOST * MOST];
        ck_ok(sx_phonons_modes(model, hkl, frequency, e));
        sx_diffuse_amplitudes(model, hkl, f, e, amplitude);
        sx_phonons_q(model, hkl, q);
        for (int k = 0; k < 2 * MOST; k++) {
            sum += amplitude[k] * amplitude[k];
        }
        for (int i = 0; i < 2; i++) {
            whole += f[i] * f[i] * sxi_dot(3, q, q) / model->atom[i].mass;
        }
        ck_near(sum, whole, 1e-12, 0);
        ck_ok(sx_diffuse_tones(model, after, hkl, f, 300, &diffuse, tone));
        first = n == 0 ? diffuse.before : first;
        tone_first = n == 0 ? tone[0].amplitude : tone_first;
        ck_near(diffuse.before, first, 1e-10, 0);
        ck_near(tone[0].amplitude, tone_first, 1e-9, 0);
    }
    sx_phonons_destroy(&model);
    sx_phonons_destroy(&after);
}
END_TEST

/* A degenerate pair has one overtone, of which the basis does not matter: along a cubic axis. */
START_TEST(degenerate_modes_are_one_tone) {
    sx_phonons *model = NULL, *after = NULL;
    const double f[2] = {12, 12}, hkl[3] = {0.4, 4, 2};
    sx_diffuse diffuse;
    sx_tone tone[MOST * MOST];
    ck_ok(sx_phonons_model("diamond", "Si", 5.43, 15, &model));
    ck_ok(sx_phonons_soften(model, 0.05, &after));
    ck_ok(sx_diffuse_tones(model, after, hkl, f, 300, &diffuse, tone));
    /* Of six modes two pairs are degenerate: four overtones, and six sums and differences. */
    ck_assert_int_eq(diffuse.tones, 4 + 6 + 6);
    int seen = 0;
    for (int n = 0; n < diffuse.tones; n++) {
        if (fabs(tone[n].amplitude) > 1e-9 * diffuse.before) {
            ck_assert(tone[n].kind == SX_TONE_OVERTONE && tone[n].amplitude < 0);
            seen++;
        }
    }
    ck_assert(seen >= 2 && seen <= 4);
    ck_near(intensity(&diffuse, tone, 0), diffuse.before, 1e-12, 0);
    sx_phonons_destroy(&model);
    sx_phonons_destroy(&after);
}
END_TEST

START_TEST(where_there_is_none) {
    sx_phonons *model = gallium_arsenide(), *broken = NULL, *other = NULL;
    const double f[2] = {20, 27}, bragg[3] = {1, 1, 1}, hkl[3] = {1.2, 0.3, 0.4};
    sx_diffuse diffuse;
    sx_tone tone[MOST * MOST];
    ck_ok(sx_diffuse_tones(model, model, bragg, f, 300, &diffuse, tone));
    ck_assert(isnan(diffuse.before) && isnan(diffuse.mean) && diffuse.tones == 0);
    ck_ok(sx_phonons_soften_shells(model, 1, (double[]){1.4}, &broken));
    ck_ok(sx_diffuse_tones(model, broken, hkl, f, 300, &diffuse, tone));
    ck_assert(isnan(diffuse.mean) && diffuse.tones == 0);
    double uu[18];
    ck_fails(sx_diffuse_displacements(broken, 300, 4, uu), SX_ERR_NUMERIC, "not stable");
    ck_fails(sx_diffuse_displacements(model, -1, 4, uu), SX_ERR_ARGUMENT, "0 K or more");
    ck_ok(sx_phonons_model("sc", "Al", 3, 7, &other));
    ck_fails(sx_diffuse_tones(model, other, hkl, f, 300, &diffuse, tone), SX_ERR_SHAPE, "1 atoms");
    sx_phonons_destroy(&model);
    sx_phonons_destroy(&broken);
    sx_phonons_destroy(&other);
}
END_TEST

/* Measured for silicon at room temperature: 0.0059 Angstrom^2 (B = 0.46). The calculated transverse
 * acoustic modes are 2 to 4 % too slow, so <u^2> is up to 8 % too large; the mean over the 400 random
 * points of phonopy's table is 0.0064 +- 0.0004. Cubic sites: isotropic. */
START_TEST(silicon_at_room_temperature) {
    char constants[4096];
    sx_phonons *phonons = NULL;
    double coarse[18], fine[18];
    if (!sx_data("phonopy/Si_FORCE_CONSTANTS_full")) {
        return;
    }
    snprintf(constants, sizeof constants, "%s", sx_data("phonopy/Si_FORCE_CONSTANTS_full"));
    ck_ok(sx_phonons_read(constants, sx_data("phonopy/Si-gruneisen-orig/POSCAR-unitcell"), NULL,
                          &phonons));
    ck_ok(sx_diffuse_displacements(phonons, 295, 7, coarse));
    ck_ok(sx_diffuse_displacements(phonons, 295, 16, fine));
    printf("silicon at 295 K: <u^2> = %.5f A^2, with coarse steps %.5f\n", fine[0], coarse[0]);
    ck_near(fine[0], 0.0059, 0.1, 0);
    ck_near(coarse[0], fine[0], 0.1, 0);
    for (int k = 0; k < 18; k++) {
        ck_near(fine[k], k % 9 % 4 == 0 ? fine[0] : 0, 0, 1e-10);
    }
    sx_phonons_destroy(&phonons);
}
END_TEST

START_TEST(form_factors) {
    sx_phonons *model = gallium_arsenide();
    double f = 0, two[2], cold[2];
    const sx_status status = sx_diffuse_form_factor("Si", 0, &f);
    if (status == SX_ERR_UNSUPPORTED) {
        printf("skipped: %s\n", sx_error_message());
        sx_phonons_destroy(&model);
        return;
    }
    ck_ok(status);
    ck_near(f, 14, 1e-6, 0);
    /* (111) of silicon, sin(theta) / lambda = 0.1595; International Tables C, 6.1.1: 10.5. */
    ck_ok(sx_diffuse_form_factor("Si", 4 * PI * 0.1595, &f));
    ck_near(f, 10.53, 0.01, 0);
    const double uu[18] = {.01, 0, 0, 0, .02, 0, 0, 0, .03}, hkl[3] = {2, 1, 1};
    double q[3];
    sx_phonons_q(model, hkl, q);
    ck_ok(sx_diffuse_factors(model, hkl, NULL, cold));
    ck_ok(sx_diffuse_factors(model, hkl, uu, two));
    ck_near(two[0], cold[0] * exp(-(.01 * q[0] * q[0] + .02 * q[1] * q[1] + .03 * q[2] * q[2]) / 2),
            1e-12, 0);
    ck_near(two[1], cold[1], 1e-15, 0);
    ck_fails(sx_diffuse_form_factor("Qq", 1, &f), SX_ERR_ARGUMENT, "'Qq'");
    ck_fails(sx_diffuse_form_factor("Si", NAN, &f), SX_ERR_ARGUMENT, "nan");
    sx_phonons_destroy(&model);
}
END_TEST

/* A model of the cubic cell and one of the primitive cell, for the same crystal: same phonons at
 * the same Q. */
START_TEST(matching) {
    const double cell[6] = {5.65, 5.65, 5.65, 90, 90, 90}, h[3] = {1.3, 0.2, -0.7};
    const double skew[6] = {5.65, 5.65, 5.65, 90, 90, 100};
    sx_crystal *crystal = NULL, *other = NULL;
    sx_phonons *primitive = gallium_arsenide(), *cubic = NULL;
    double m[9], same[3], f[MOST], q[3];
    ck_ok(sx_crystal_create(cell, "F-43m", 0, NULL, &crystal));
    ck_ok(sx_diffuse_match(crystal, primitive, m));
    sxi_times_vector(m, h, same);
    sx_phonons_q(primitive, same, q);
    for (int k = 0; k < 3; k++) {
        ck_near(q[k], 2 * PI * h[k] / 5.6, 1e-12, 1e-14);
    }
    ck_ok(sx_phonons_model("diamond", "Si", 5.6, 15, &cubic));
    ck_ok(sx_diffuse_match(crystal, cubic, m));
    for (int k = 0; k < 9; k++) {
        ck_assert(m[k] == (k % 4 == 0));
    }
    ck_ok(sx_phonons_modes(cubic, h, f, NULL));
    ck_ok(sx_crystal_create(skew, "P-1", 0, NULL, &other));
    ck_fails(sx_diffuse_match(other, cubic, m), SX_ERR_FORMAT, "the force constants are of a cell");
    sx_crystal_destroy(&crystal);
    sx_crystal_destroy(&other);
    sx_phonons_destroy(&primitive);
    sx_phonons_destroy(&cubic);
}
END_TEST

SX_TEST_MAIN("diffuse", thermal_start, one_mode, against_integration, two_modes, amplitude_of_atoms,
             invariances, degenerate_modes_are_one_tone, where_there_is_none,
             silicon_at_room_temperature, form_factors, matching)
