/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/crystal/crystal.h"

#include <string.h>

#include "numer/dense.h"
#include "numer/lattice.h"
#include "sx_check.h"

static const double PI = 3.14159265358979323846;
static const double SILICON[6] = {5.431, 5.431, 5.431, 90, 90, 90};

/* Between -1 and 1, without rule. */
static double hash(int n) {
    const double x = sin(12.9898 * n + 4.1) * 43758.5453;
    return 2 * (x - floor(x)) - 1;
}

static sx_crystal *make(const double cell[6], const char *symmetry) {
    sx_crystal *crystal = NULL;
    ck_ok(sx_crystal_create(cell, symmetry, 0, NULL, &crystal));
    return crystal;
}

/* Cells of all kinds. */
static const struct {
    double cell[6];
    const char *symmetry;
    char centring;
    int rotations;
} cells[] = {
    {{5.4, 5.4, 5.4, 90, 90, 90}, "Fd-3m", 'F', 48},
    {{3.2, 3.2, 3.2, 90, 90, 90}, "229", 'I', 48},
    {{4.1, 4.1, 4.1, 90, 90, 90}, "Pm-3m", 'P', 48},
    {{2.5, 2.5, 6.7, 90, 90, 120}, "P6_3/mmc", 'P', 24},
    {{4.5, 4.5, 11.9, 90, 90, 120}, "R-3m", 'R', 12},
    {{4.7, 4.7, 4.7, 57, 57, 57}, "R-3m", 'P', 12},
    {{5.1, 5.2, 5.3, 90, 99, 90}, "P2_1/c", 'P', 4},
    {{9.8, 5.2, 5.3, 90, 116, 90}, "C2/m", 'C', 4},
    {{4, 5, 6, 90, 90, 90}, "A", 'A', 2},
    {{4, 5, 6, 90, 90, 90}, "B", 'B', 2},
    {{3.1, 4.2, 7.9, 61, 75, 133}, "P-1", 'P', 2},
};
enum { CELLS = sizeof cells / sizeof *cells };

/* B'B is the inverse of the metric, and the rows are those of Busing and Levy. */
START_TEST(b_matrix) {
    for (int c = 0; c < CELLS; c++) {
        const double *cell = cells[c].cell;
        sx_crystal *crystal = make(cell, cells[c].symmetry);
        ck_assert_int_eq(crystal->centring, cells[c].centring);
        ck_assert_int_eq(crystal->rotations, cells[c].rotations);
        double metric[9], reciprocal[9], t[9], product[9];
        for (int k = 0; k < 9; k++) {
            const int i = k / 3, j = k % 3;
            metric[k] = cell[i] * cell[j] * (i == j ? 1 : cos(cell[6 - i - j] / 180 * PI));
            t[k] = crystal->b[3 * j + i];
        }
        sxi_matrix_times(t, crystal->b, reciprocal);
        sxi_matrix_times(metric, reciprocal, product);
        for (int k = 0; k < 9; k++) {
            ck_near(product[k], k % 4 == 0, 0, 1e-13 * fmax(1, metric[8] / metric[0]));
            ck_assert(k / 3 <= k % 3 || crystal->b[k] == 0);
        }
        ck_near(crystal->b[8], 1 / cell[2], 1e-15, 0);
        sx_crystal_destroy(&crystal);
    }
    double b[9];
    ck_fails(sxi_crystal_b((double[]){5, 5, 5, 30, 30, 90}, b), SX_ERR_FORMAT, "no cell has");
    ck_fails(sxi_crystal_b((double[]){5, 5, -5, 90, 90, 90}, b), SX_ERR_FORMAT, "no cell has");
    ck_fails(sxi_crystal_b((double[]){5, NAN, 5, 90, 90, 90}, b), SX_ERR_FORMAT, "no cell has");
}
END_TEST

/* Nearest of all allowed points within 5 of it. */
static double nearest(const sx_crystal *crystal, const double hkl[3]) {
    double least = INFINITY;
    for (int n = 0; n < 1331; n++) {
        const double g[3] = {round(hkl[0]) + n / 121 - 5, round(hkl[1]) + n / 11 % 11 - 5,
                             round(hkl[2]) + n % 11 - 5};
        const double d[3] = {hkl[0] - g[0], hkl[1] - g[1], hkl[2] - g[2]};
        if (sx_crystal_allowed(crystal, g)) {
            least = fmin(least, sx_crystal_length(crystal, d));
        }
    }
    return least;
}

START_TEST(folding) {
    for (int c = 0; c < CELLS; c++) {
        sx_crystal *crystal = make(cells[c].cell, cells[c].symmetry);
        for (int n = 0; n < 100; n++) {
            const double hkl[3] = {7 * hash(3 * n), 7 * hash(3 * n + 1), 7 * hash(3 * n + 2)};
            double g[3], q[3], moved[3], again[3];
            sx_crystal_fold(crystal, hkl, g, q);
            ck_assert(sx_crystal_allowed(crystal, g));
            ck_near(sx_crystal_length(crystal, q), nearest(crystal, hkl), 1e-12, 0);
            for (int k = 0; k < 3; k++) {
                ck_near(g[k] + q[k], hkl[k], 0, 1e-14);
                moved[k] = hkl[k] + 6 * (k - 1); /* allowed by every centring */
            }
            sx_crystal_fold(crystal, moved, NULL, again);
            for (int k = 0; k < 3; k++) {
                ck_near(again[k], q[k], 0, 1e-13);
            }
        }
        double none[3];
        sx_crystal_fold(crystal, (double[]){0.1, NAN, 0}, NULL, none);
        ck_assert(isnan(none[0]) && isnan(none[1]) && isnan(none[2]));
        sx_crystal_destroy(&crystal);
    }
}
END_TEST

/* (1, 0, 0) of fcc is X: two lattice points at the same distance; from wherever, q is the same. */
START_TEST(ties) {
    sx_crystal *silicon = make(SILICON, "Fd-3m");
    const double points[][3] = {{1, 0, 0}, {-1, 0, 0}, {3, 2, 4}, {-1, -2, 8}, {5, 4, 4}};
    for (size_t n = 0; n < sizeof points / sizeof *points; n++) {
        double g[3], q[3];
        sx_crystal_fold(silicon, points[n], g, q);
        ck_assert(sx_crystal_allowed(silicon, g));
        ck_assert(q[0] == 1 && q[1] == 0 && q[2] == 0);
    }
    /* L and W have two and four. */
    double q[3];
    sx_crystal_fold(silicon, (double[]){-.5, -.5, -.5}, NULL, q);
    ck_assert(q[0] == .5 && q[1] == .5 && q[2] == .5);
    sx_crystal_fold(silicon, (double[]){0, .5, 1}, NULL, q);
    ck_assert(q[0] == 1 && q[1] == -.5 && q[2] == 0);
    sx_crystal_destroy(&silicon);
}
END_TEST

START_TEST(one_wedge) {
    sx_crystal *silicon = make(SILICON, "227");
    for (int n = 0; n < 200; n++) {
        const double hkl[3] = {3 * hash(3 * n), 3 * hash(3 * n + 1), 3 * hash(3 * n + 2)};
        double first[3], other[3];
        sx_crystal_reduce(silicon, hkl, first);
        ck_assert(first[0] >= first[1] - 1e-12 && first[1] >= first[2] - 1e-12 &&
                  first[2] >= -1e-12);
        ck_near(first[0] + first[1] + first[2], fmin(first[0] + first[1] + first[2], 1.5), 0, 1e-9);
        const int *r = silicon->rotation[n % silicon->rotations];
        double turned[3];
        for (int k = 0; k < 3; k++) {
            turned[k] = hkl[0] * r[k] + hkl[1] * r[3 + k] + hkl[2] * r[6 + k] + 2 * (k == n % 3);
        }
        sx_crystal_reduce(silicon, turned, other);
        for (int k = 0; k < 3; k++) {
            ck_near(other[k], first[k], 0, 1e-9);
        }
    }
    sx_crystal_destroy(&silicon);
}
END_TEST

/* Every named point lies on the border of the zone; those of one name are equivalent. */
START_TEST(special_points) {
    const struct {
        int cell;
        const char *path;
    } known[] = {{0, "G-X-W-K-G-L-U-X"},
                 {1, "G-H-N-G-P-H|P-N"},
                 {2, "G-X-M-G-R-X|M-R"},
                 {3, "G-M-K-G-A-L-H-A|L-M|K-H"}};
    for (size_t n = 0; n < sizeof known / sizeof *known; n++) {
        sx_crystal *crystal = make(cells[known[n].cell].cell, cells[known[n].cell].symmetry);
        sx_crystal_stop *stops = NULL;
        int count = 0;
        ck_ok(sx_crystal_path(crystal, known[n].path, &stops, &count));
        for (int k = 0; k < count; k++) {
            double q[3];
            sx_crystal_fold(crystal, stops[k].hkl, NULL, q);
            ck_near(sx_crystal_length(crystal, q), sx_crystal_length(crystal, stops[k].hkl), 1e-12,
                    0);
            ck_assert(stops[k].jump == (k == 0) || strchr(known[n].path, '|'));
        }
        free(stops);
        sx_crystal_destroy(&crystal);
    }
    sx_crystal *silicon = make(SILICON, "Fd-3m");
    sx_crystal_stop *stops = NULL;
    int count = 0;
    ck_ok(sx_crystal_path(silicon, "\xCE\x93-X-U|K-Gamma-(1, -0.5,0)", &stops, &count));
    ck_assert_int_eq(count, 6);
    double u[3], k[3];
    sx_crystal_reduce(silicon, stops[2].hkl, u);
    sx_crystal_reduce(silicon, stops[3].hkl, k);
    ck_assert(u[0] == k[0] && u[1] == k[1] && u[2] == k[2]);
    ck_assert(stops[0].jump && !stops[2].jump && stops[3].jump && !stops[4].jump);
    ck_assert_str_eq(stops[0].label, "G");
    ck_assert_str_eq(stops[4].label, "G");
    ck_assert_str_eq(stops[5].label, "(1, -0.5,0)");
    ck_near(stops[5].hkl[1], -0.5, 0, 0);
    free(stops);
    const char *const bad[] = {"",     "G-Q",        "G",          "G-",
                               "G--X", "G-X|K",      "G-(1,2)",    "G-(1,2,3",
                               "GX",   "G-(1,0,0)X", "G-(1,0,0x)", "G-(1,0,0,0)"};
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        ck_fails(sx_crystal_path(silicon, bad[n], &stops, &count), SX_ERR_USAGE, " path");
    }
    sx_crystal_destroy(&silicon);
}
END_TEST

/* Without rule, but the same in every run. */
static void some_rotation(int n, double u[9]) {
    const double about[3] = {hash(n), hash(n + 1), hash(n + 2)};
    const double length = sxi_norm(3, about);
    sx_crystal_axis axis = {.sense = 1, .angle = 170 * hash(n + 3)};
    for (int k = 0; k < 3; k++) {
        axis.direction[k] = about[k] / length;
    }
    sx_crystal turned = {.axes = 1, .axis = &axis};
    sx_crystal_rotation(&turned, NULL, u);
}

START_TEST(goniometer) {
    char name[] = "/run/angle";
    sx_crystal_axis axis[2] = {{"phi", {0, 1, 0}, 1, name, 0}, {"chi", {0, 0, 1}, -1, NULL, 90}};
    sx_crystal crystal = {.axes = 1, .axis = axis};
    double r[9], x[3];
    /* Right-handed about y: z goes to x. */
    sx_crystal_rotation(&crystal, (double[]){90}, r);
    sxi_times_vector(r, (double[]){0, 0, 1}, x);
    ck_near(x[0], 1, 0, 1e-15);
    ck_near(x[2], 0, 0, 1e-15);
    /* The sample turns first about the last axis, left-handed: x to -y, which the first one then
     * leaves alone; z to x. */
    crystal.axes = 2;
    sx_crystal_rotation(&crystal, (double[]){90, 45}, r);
    sxi_times_vector(r, (double[]){1, 0, 0}, x);
    ck_near(x[1], -1, 0, 1e-15);
    sxi_times_vector(r, (double[]){0, 0, 1}, x);
    ck_near(x[0], 1, 0, 1e-15);
    /* y goes to x, and that to -z. */
    sxi_times_vector(r, (double[]){0, 1, 0}, x);
    ck_near(x[2], -1, 0, 1e-15);
    sx_crystal_rotation(&crystal, NULL, r);
    sxi_times_vector(r, (double[]){0, 1, 0}, x);
    ck_near(x[0], 1, 0, 1e-15);
}
END_TEST

START_TEST(orientation_by_ub) {
    const double cell[6] = {4, 5, 6, 80, 95, 107};
    sx_crystal *crystal = make(cell, "P-1");
    double u[9], ub[9], wrong[9], m[9], back[9], one[9];
    ck_fails(sx_crystal_q_matrix(crystal, NULL, m), SX_ERR_MISSING, "not oriented");
    some_rotation(5, u);
    sxi_matrix_times(u, crystal->b, ub);
    ck_ok(sx_crystal_set_ub(crystal, ub));
    ck_ok(sx_crystal_q_matrix(crystal, NULL, m));
    ck_ok(sx_crystal_hkl_matrix(crystal, NULL, back));
    sxi_matrix_times(m, back, one);
    for (int k = 0; k < 9; k++) {
        ck_near(m[k], 2 * PI * ub[k], 1e-15, 0);
        ck_near(one[k], k % 4 == 0, 0, 1e-14);
        wrong[k] = 2 * PI * ub[k];
    }
    ck_fails(sx_crystal_set_ub(crystal, wrong), SX_ERR_FORMAT, "it holds 2 pi");
    for (int k = 0; k < 9; k++) {
        wrong[k] = (k / 3 == 0 ? -1 : 1) * ub[k];
    }
    ck_fails(sx_crystal_set_ub(crystal, wrong), SX_ERR_FORMAT, "left-handed");
    for (int k = 0; k < 9; k++) {
        wrong[k] = ub[3 * (k / 3) + (k + 1) % 3]; /* columns exchanged: b, c, a */
    }
    ck_fails(sx_crystal_set_ub(crystal, wrong), SX_ERR_FORMAT, "ub belongs to a cell");
    ck_fails(sx_crystal_set_ub(crystal, (double[9]){0}), SX_ERR_FORMAT, "no volume");
    ck_assert(memcmp(crystal->ub, ub, sizeof ub) == 0);
    sx_crystal_destroy(&crystal);
}
END_TEST

/* A goniometer of two axes with datasets, and the crystal turned anyhow. */
static sx_crystal *on_goniometer(const double cell[6], const char *symmetry, double ub[9]) {
    char name[] = "/angle";
    const sx_crystal_axis axis[2] = {{"omega", {0, 1, 0}, 1, name, 0},
                                     {"phi", {0.6, 0, 0.8}, -1, name, 0}};
    sx_crystal *crystal = make(cell, symmetry);
    double u[9];
    ck_ok(sxi_crystal_add_axes(crystal, 2, axis));
    some_rotation(11, u);
    sxi_matrix_times(u, crystal->b, ub);
    return crystal;
}

/* Where a reflection is seen at these angles. */
static sx_crystal_peak see(const sx_crystal *crystal, const double ub[9], double h, double k,
                           double l, const double *angle) {
    sx_crystal_peak peak = {.hkl = {h, k, l}, .angle = angle};
    double r[9], x[3];
    sx_crystal_rotation(crystal, angle, r);
    sxi_times_vector(ub, peak.hkl, x);
    sxi_times_vector(r, x, peak.q);
    for (int n = 0; n < 3; n++) {
        peak.q[n] *= 2 * PI;
    }
    return peak;
}

START_TEST(orientation_by_two) {
    const double cell[6] = {4, 5, 6, 80, 95, 107}, first[2] = {30, -20}, second[2] = {-55, 77};
    double ub[9];
    sx_crystal *crystal = on_goniometer(cell, "P-1", ub);
    sx_crystal_peak peak[2] = {see(crystal, ub, 1, 2, 3, first),
                               see(crystal, ub, 3, -1, 1, second)};
    ck_ok(sx_crystal_set_reflections(crystal, peak));
    for (int k = 0; k < 9; k++) {
        ck_near(crystal->ub[k], ub[k], 1e-13, 1e-15);
    }
    peak[1].hkl[0] = 2;
    ck_fails(sx_crystal_set_reflections(crystal, peak), SX_ERR_FORMAT, "degrees apart, expected");
    peak[1] = see(crystal, ub, 2, 4, 6, second);
    ck_fails(sx_crystal_set_reflections(crystal, peak), SX_ERR_FORMAT, "parallel");
    peak[1].q[0] = NAN;
    ck_fails(sx_crystal_set_reflections(crystal, peak), SX_ERR_FORMAT, "parallel");
    sx_crystal_destroy(&crystal);
}
END_TEST

enum { PEAKS = 40 };

/* Peaks at several angles, with errors of 0.003 1/Angstrom in each direction. */
static void see_many(const sx_crystal *crystal, const double ub[9], const double angle[][2],
                     sx_crystal_peak *peak) {
    for (int n = 0; n < PEAKS; n++) {
        const int h = n % 5 - 2, k = n / 5 % 4, l = 1 + n % 3;
        const int odd = (h + k) % 2 != 0; /* C centring */
        peak[n] = see(crystal, ub, h + odd, k, l, angle[n % 4]);
        for (int d = 0; d < 3; d++) {
            peak[n].q[d] += 0.003 * sqrt(3) * hash(7 * n + d);
        }
    }
}

START_TEST(refinement) {
    const double cell[6] = {9.8, 5.2, 5.3, 90, 116, 90};
    const double angle[4][2] = {{0, 0}, {20, 5}, {-31, 160}, {44, -80}};
    double ub[9];
    sx_crystal *crystal = on_goniometer(cell, "C2/m", ub);
    sx_crystal_peak peak[PEAKS];
    sx_crystal_fit fit;
    see_many(crystal, ub, angle, peak);
    ck_ok(sx_crystal_refine(crystal, PEAKS, peak, 0, &fit));
    /* 0.003 sqrt(3) but for three fitted angles; 40 peaks know it to 10 %. */
    ck_near(fit.rms, 0.003 * sqrt(3), 0.1, 0);
    ck_assert(isnan(fit.turned) && fit.misindexed == 0 && fit.worst_off < 0.01);
    ck_assert(fit.mirrored > 100 * fit.rms);
    /* An angle is known to 0.003 / (|q| sqrt(40)), 2e-4; the matrix holds numbers up to 0.23. */
    for (int k = 0; k < 9; k++) {
        ck_near(crystal->ub[k], ub[k], 0, 2e-4);
    }
    ck_ok(sx_crystal_refine(crystal, PEAKS, peak, 0, &fit));
    ck_near(fit.turned, 0, 0, 1e-6);

    /* Wrong indices of one, of the whole, a mirrored laboratory, all in a line. */
    double kept[9];
    memcpy(kept, crystal->ub, sizeof kept);
    peak[7].hkl[0] += 2;
    ck_fails(sx_crystal_refine(crystal, PEAKS, peak, 0, &fit), SX_ERR_NUMERIC, "peak 8, ");
    ck_assert(fit.misindexed >= 1 && fit.worst == 7);
    see_many(crystal, ub, angle, peak);
    for (int n = 0; n < PEAKS; n++) {
        const double h = peak[n].hkl[0];
        peak[n].hkl[0] = peak[n].hkl[1];
        peak[n].hkl[1] = h;
    }
    ck_fails(sx_crystal_refine(crystal, PEAKS, peak, 0, &fit), SX_ERR_NUMERIC, "are wrong");
    for (int n = 0; n < PEAKS; n++) { /* one axis of the geometry the wrong way round */
        const double h = peak[n].hkl[0];
        peak[n].hkl[0] = peak[n].hkl[1];
        peak[n].hkl[1] = h;
        peak[n].angle = angle[0];
        peak[n] = see(crystal, ub, peak[n].hkl[0], peak[n].hkl[1], peak[n].hkl[2], angle[0]);
        peak[n].q[0] = -peak[n].q[0];
    }
    ck_fails(sx_crystal_refine(crystal, PEAKS, peak, 0, &fit), SX_ERR_NUMERIC, "mirrored");
    ck_near(fit.mirrored, 0, 0, 1e-12);
    for (int n = 0; n < PEAKS; n++) {
        peak[n] = see(crystal, ub, n, n, n, angle[0]);
    }
    ck_fails(sx_crystal_refine(crystal, PEAKS, peak, 0, &fit), SX_ERR_ARGUMENT, "in one line");
    ck_fails(sx_crystal_refine(crystal, 1, peak, 0, &fit), SX_ERR_ARGUMENT, "two are needed");
    ck_assert(memcmp(kept, crystal->ub, sizeof kept) == 0);
    sx_crystal_destroy(&crystal);
}
END_TEST

static int atoms_of(const double cell[6], const char *symmetry, int atoms,
                    const sx_crystal_atom *atom, const char *symbol) {
    sx_crystal *crystal = NULL;
    ck_ok(sx_crystal_create(cell, symmetry, atoms, atom, &crystal));
    ck_assert_str_eq(crystal->symbol, symbol);
    const int count = crystal->atoms;
    sx_crystal_destroy(&crystal);
    return count;
}

START_TEST(symmetry) {
    const sx_crystal_atom zero = {"Si", {0, 0, 0}}, eighth = {"Si", {.125, .125, .125}};
    ck_assert_int_eq(atoms_of(SILICON, "Fd-3m:1", 1, &zero, "Fd-3m:1"), 8);
    ck_assert_int_eq(atoms_of(SILICON, "227:2", 1, &eighth, "Fd-3m:2"), 8);
    ck_assert_int_eq(atoms_of(SILICON, "Fd-3m:2", 1, &zero, "Fd-3m:2"), 16);
    sx_crystal_atom all[8];
    for (int n = 0; n < 8; n++) {
        const double at[4][3] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
        for (int k = 0; k < 3; k++) {
            all[n].position[k] = at[n % 4][k] + (n < 4 ? 0 : .25);
        }
        memcpy(all[n].element, "Si", 3);
    }
    ck_assert_int_eq(atoms_of(SILICON, "Fd-3m", 8, all, "Fd-3m:1"), 8);
    for (int n = 0; n < 8; n++) {
        for (int k = 0; k < 3; k++) {
            all[n].position[k] -= .125;
        }
    }
    ck_assert_int_eq(atoms_of(SILICON, "Fd-3m", 8, all, "Fd-3m:2"), 8);
    const sx_crystal_atom salt[2] = {{"Na", {0, 0, 0}}, {"Cl", {.5, .5, .5}}};
    ck_assert_int_eq(atoms_of(SILICON, "Fm-3m", 2, salt, "Fm-3m"), 8);
    const double zinc[6] = {2.66, 2.66, 4.95, 90, 90, 120};
    const sx_crystal_atom atom = {"Zn", {0.3333, 0.6667, 0.25}};
    ck_assert_int_eq(atoms_of(zinc, "P6_3/mmc", 1, &atom, "P6_3/mmc"), 2);
    const double bismuth[6] = {4.546, 4.546, 11.862, 90, 90, 120};
    const double narrow[6] = {4.7459, 4.7459, 4.7459, 57.24, 57.24, 57.24};
    const sx_crystal_atom hexagonal = {"Bi", {0, 0, 0.2341}};
    const sx_crystal_atom rhombohedral = {"Bi", {0.2341, 0.2341, 0.2341}};
    ck_assert_int_eq(atoms_of(bismuth, "R-3m", 1, &hexagonal, "R-3m:H"), 6);
    ck_assert_int_eq(atoms_of(narrow, "R-3m", 1, &rhombohedral, "R-3m:R"), 2);
    ck_assert_int_eq(atoms_of(SILICON, "F", 1, &zero, ""), 4);
    const double monoclinic[6] = {5, 6, 7, 90, 100, 90};
    ck_assert_int_eq(atoms_of(monoclinic, "P 21/c", 1, &eighth, "P2_1/c:b1"), 4);
    ck_assert_int_eq(atoms_of(monoclinic, "P 1 2_1/n 1", 1, &eighth, "P2_1/c:b2"), 4);

    sx_crystal *crystal = NULL;
    ck_fails(sx_crystal_create(SILICON, "Fd-3m", 1, &zero, &crystal), SX_ERR_FORMAT,
             "write Fd-3m:1 or Fd-3m:2");
    ck_fails(sx_crystal_create(SILICON, "Fd3", 0, NULL, &crystal), SX_ERR_FORMAT, "'Fd3' is no");
    ck_fails(sx_crystal_create(SILICON, "231", 0, NULL, &crystal), SX_ERR_FORMAT, "'231' is no");
    ck_fails(sx_crystal_create(SILICON, "", 0, NULL, &crystal), SX_ERR_FORMAT, "'' is no");
    ck_fails(sx_crystal_create(SILICON, "Fd-3m:3", 0, NULL, &crystal), SX_ERR_FORMAT, "is no");
    ck_fails(sx_crystal_create(monoclinic, "Fd-3m", 0, NULL, &crystal), SX_ERR_FORMAT,
             "has not the symmetry");
    ck_assert(crystal == NULL);
}
END_TEST

SX_TEST_MAIN("crystal", b_matrix, folding, ties, one_wedge, special_points, goniometer,
             orientation_by_ub, orientation_by_two, refinement, symmetry)
