/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/dispersion/dispersion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sx_check.h"
#include "sx_folder.h"

/* Silicon, its UB turned off all axes, on a goniometer with one axis that the run names. */
static const char *const YAML =
    "cell: {a: 5.431, b: 5.431, c: 5.431, alpha: 90, beta: 90, gamma: 90}\n"
    "space_group: Fd-3m:1\n"
    "atoms:\n  - {element: Si, position: [0, 0, 0]}\n"
    "orientation:\n  reflections:\n"
    "    - {hkl: [2, 2, 0], q: [0.3, 1, 0.2], angles: [0]}\n"
    "    - {hkl: [0, 0, 4], q: [1, -0.3, 0], angles: [0]}\n"
    "goniometer:\n  - {name: omega, direction: [0, 1, 0], dataset: /motors/omega}\n";

enum { ROWS = 12, WIDTH = 20, NPIX = ROWS * WIDTH, RUNS = 2 };
static const double ANGLE[RUNS] = {0, 25};
static const char *const PATH = "G-X-W-K-G-L";

static sx_crystal *crystal;
static sx_phonons *phonons;

/* A pixel and the place of the path it was made from. */
static double hkl_of[RUNS][NPIX][3], distance_of[RUNS][NPIX];

static void put(sxi_h5_writer *writer, const char *name, int rank, const int64_t *shape,
                double *values) {
    sx_array array;
    ck_ok(sx_array_view(SX_F64, rank, shape, values, &array));
    ck_ok(sxi_h5_write(writer, name, &array, "", ""));
}

/* Some number in 0 .. 1, the same in every run of the test. */
static double some(int i) { return fmod(0.5 + 0.6180339887498949 * i, 1); }

/* A place of the path, an equivalent of it, and a lattice vector away from that. */
static void choose(int run, int pixel, const sx_crystal_stop *stop, const double *at, int count) {
    const int s = pixel % (count - 1);
    const double t = pixel % 7 == 0 ? (double)(pixel / 7 % 2) : some(pixel + 1000 * run);
    const int *m = crystal->rotation[(3 * pixel + run) % crystal->rotations];
    const double shift[3] = {2 * (pixel % 3) - 2, 2 * (pixel % 2), 2 * (pixel % 5) - 4};
    double place[3];
    for (int j = 0; j < 3; j++) {
        place[j] = (1 - t) * stop[s].hkl[j] + t * stop[s + 1].hkl[j];
    }
    for (int j = 0; j < 3; j++) {
        hkl_of[run][pixel][j] =
            place[0] * m[j] + place[1] * m[3 + j] + place[2] * m[6 + j] + shift[j];
    }
    distance_of[run][pixel] = (1 - t) * at[s] + t * at[s + 1];
}

static void choose_all(void) {
    sx_crystal_stop *stop;
    int count;
    double at[16] = {0};
    ck_ok(sx_crystal_path(crystal, PATH, &stop, &count));
    for (int s = 1; s < count; s++) {
        double along[3];
        for (int j = 0; j < 3; j++) {
            along[j] = stop[s].hkl[j] - stop[s - 1].hkl[j];
        }
        at[s] = at[s - 1] + sx_crystal_length(crystal, along);
    }
    for (int r = 0; r < RUNS; r++) {
        for (int i = 0; i < NPIX; i++) {
            choose(r, i, stop, at, count);
        }
    }
    free(stop);
}

/* A detector whose pixels see hkl_of at the angle of that run. */
static void write_pixels(const char *path, int run) {
    static const char *const names[] = {"/pixels/qx", "/pixels/qy", "/pixels/qz"};
    static const int64_t shape[] = {ROWS, WIDTH};
    static double q[3][NPIX];
    double m[9];
    sxi_h5_writer *writer;
    ck_ok(sx_crystal_q_matrix(crystal, &ANGLE[run], m));
    for (int i = 0; i < NPIX; i++) {
        for (int j = 0; j < 3; j++) {
            const double *h = hkl_of[run][i];
            q[j][i] = m[3 * j] * h[0] + m[3 * j + 1] * h[1] + m[3 * j + 2] * h[2];
        }
    }
    ck_ok(sxi_h5_create(path, true, &writer));
    for (int j = 0; j < 3; j++) {
        put(writer, names[j], 2, shape, q[j]);
    }
    ck_ok(sxi_h5_commit(&writer));
}

/* Two modes in each pixel: twice the lowest and twice the highest of the model; pixel 3 is not ok. */
static void write_fit(const char *path, int run, bool angle) {
    static const char *const stacks[] = {"amplitude", "decay", "phase", "frequency_errors",
                                         "amplitude_errors"};
    static const int64_t shape[] = {2, ROWS, WIDTH};
    static const int64_t one = 1;
    static double frequency[2][NPIX], plane[2][NPIX], state[NPIX];
    sxi_h5_writer *writer;
    for (int i = 0; i < NPIX; i++) {
        double band[6];
        ck_ok(sx_phonons_modes(phonons, hkl_of[run][i], band, NULL));
        frequency[0][i] = 2 * band[0];
        frequency[1][i] = 2 * band[5];
        plane[0][i] = 0.02;
        plane[1][i] = 0.01;
        state[i] = i == 3 ? SX_DCOS_AT_BOUND : SX_DCOS_OK;
    }
    ck_ok(sxi_h5_create(path, true, &writer));
    put(writer, "/fit/frequency", 3, shape, frequency[0]);
    for (size_t s = 0; s < sizeof stacks / sizeof *stacks; s++) {
        char name[64];
        snprintf(name, sizeof name, "/fit/%s", stacks[s]);
        put(writer, name, 3, shape, plane[0]);
    }
    put(writer, "/fit/state", 2, shape + 1, state);
    put(writer, "/fit/modes", 2, shape + 1, plane[0]);
    put(writer, "/fit/chi2", 2, shape + 1, plane[0]);
    put(writer, "/fit/offset", 2, shape + 1, plane[0]);
    if (angle) {
        double omega = ANGLE[run];
        put(writer, "/cube/omega", 1, &one, &omega);
    }
    ck_ok(sxi_h5_commit(&writer));
}

/* The files, made by the first test. */
static void setup(void) {
    if (crystal) {
        return;
    }
    FILE *file = fopen(sx_folder("crystal.yaml"), "w");
    ck_assert_ptr_nonnull(file);
    fputs(YAML, file);
    fclose(file);
    ck_ok(sx_crystal_read(sx_folder("crystal.yaml"), &crystal));
    ck_ok(sx_phonons_model("diamond", "Si", 5.431, 15.5, &phonons));
    choose_all();
    for (int r = 0; r < RUNS; r++) {
        char name[32];
        snprintf(name, sizeof name, "pixels%d.h5", r);
        write_pixels(sx_folder(name), r);
        snprintf(name, sizeof name, "fit%d.h5", r);
        write_fit(sx_folder(name), r, true);
    }
}

/* The parts below the command, on the model of this test instead of files of force constants. */
static void open_run(int run, sx_xani_dispersion_options *options, sx_xani_dispersion_summary *s,
                     sxi_dispersion *d) {
    char pixels[32], fit[32];
    snprintf(pixels, sizeof pixels, "pixels%d.h5", run);
    snprintf(fit, sizeof fit, "fit%d.h5", run);
    const char *path = sx_folder(fit);
    *d = (sxi_dispersion){.options = options, .summary = s};
    ck_ok(sx_crystal_read(sx_folder("crystal.yaml"), &d->crystal));
    sx_phonons *model = NULL;
    ck_ok(sx_phonons_model("diamond", "Si", 5.431, 15.5, &model));
    ck_ok(sxi_bands_model(&model, d->crystal, "", &d->bands));
    ck_ok(sxi_dispersion_place(d, 1, &path, sx_folder(pixels)));
}

/* Every pixel was made to lie on the path somewhere: in another zone, under another rotation. */
START_TEST(pixels_are_found_on_the_path) {
    setup();
    for (int run = 0; run < RUNS; run++) {
        sx_xani_dispersion_options options = {.path = PATH, .radius = 1e-6};
        sx_xani_dispersion_summary summary = {0};
        sxi_dispersion d;
        sxi_path path;
        bool found[NPIX] = {false};
        open_run(run, &options, &summary, &d);
        ck_ok(sxi_path_find(&d, &path));
        for (int64_t i = 0; i < path.points; i++) {
            const sxi_path_point *p = &path.point[i];
            ck_assert_int_ne(p->pixel, 3);
            ck_assert_double_lt(p->aside, 1e-6);
            found[p->pixel] |= fabs(p->distance - distance_of[run][p->pixel]) < 1e-5;
            ck_assert(i == 0 || p->distance >= p[-1].distance);
        }
        for (int i = 0; i < NPIX; i++) {
            ck_assert_msg(found[i] == (i != 3), "run %d, pixel %d", run, i);
        }
        sxi_path_free(&path);
        sxi_dispersion_release(&d);
    }
}
END_TEST

/* What was put in as twice the frequency of the model is the frequency of the model. */
START_TEST(residuals_are_none) {
    setup();
    sx_xani_dispersion_options options = {.path = PATH, .radius = 1e-6};
    sx_xani_dispersion_summary summary = {0};
    sxi_dispersion d;
    sxi_h5_writer *writer;
    open_run(1, &options, &summary, &d);
    ck_ok(sxi_h5_create(sx_folder("d.h5"), true, &writer));
    ck_ok(sxi_dispersion_path(&d, writer));
    ck_ok(sxi_h5_commit(&writer));
    ck_assert_int_ge(summary.points, 2 * (NPIX - 1));
    ck_assert_double_lt(summary.residual, 1e-5);
    sxi_dispersion_release(&d);
}
END_TEST

/* --- bands --- */

static const char *write_csv(const char *text) {
    const char *path = sx_folder("bands.csv");
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    return path;
}

/* Names in any order, comments, equivalents, and between two rows. */
START_TEST(bands_of_a_table) {
    setup();
    sxi_bands b;
    double f[2];
    const double on[] = {0.1, 0, 0}, same[] = {0, 2, 1.9}, middle[] = {0.105, 0, 0},
                 off[] = {0.4, 0, 0};
    ck_ok(sxi_bands_read(write_csv("# made by hand\n# segment, f1,k,h,l ,f2\nGX,1,0,0.1,0,3\n"
                                   "GX,2,0,0.11,0,5\n\nXW,7,0.5,1,0,9\n"),
                         crystal, &b));
    ck_assert_int_eq(b.count, 2);
    ck_ok(sxi_bands_at(&b, on, f));
    ck_assert(f[0] == 1 && f[1] == 3);
    ck_ok(sxi_bands_at(&b, same, f));
    ck_near(f[0], 1, 0, 1e-9);
    ck_ok(sxi_bands_at(&b, middle, f));
    ck_near(f[0], 1.5, 0, 1e-9);
    ck_near(f[1], 4, 0, 1e-9);
    ck_ok(sxi_bands_at(&b, off, f));
    ck_assert(isnan(f[0]) && isnan(f[1]));
    sxi_bands_free(&b);
    ck_fails(sxi_bands_read(write_csv("1,2,3,4\n"), crystal, &b), SX_ERR_FORMAT, "h, k, l, f1");
    ck_fails(sxi_bands_read(write_csv("h,k,l,f1\n0,0,0\n"), crystal, &b), SX_ERR_FORMAT,
             "line 2: 3 columns found, expected 4");
    ck_fails(sxi_bands_read(write_csv("h,k,l,f1\n0,0,0,x\n"), crystal, &b), SX_ERR_FORMAT,
             "f1 is 'x'");
    ck_fails(sxi_bands_read(write_csv("h,k,l,f1\n"), crystal, &b), SX_ERR_FORMAT, "no bands");
}
END_TEST

/* Bands of phonopy at 564 q are those of the force constants they were calculated from. */
START_TEST(bands_of_phonopy) {
    setup();
    char forces[4096], poscar[4096];
    const char *data = sx_data("phonopy/Si_FORCE_CONSTANTS_full");
    if (!data) {
        return;
    }
    snprintf(forces, sizeof forces, "%s", data);
    snprintf(poscar, sizeof poscar, "%s", sx_data("phonopy/Si-gruneisen-orig/POSCAR-unitcell"));
    sx_phonons *model;
    sxi_bands table;
    ck_ok(sx_phonons_read(forces, poscar, NULL, &model));
    ck_ok(sxi_bands_read(sx_data("phonopy/Si_truth_dispersion.csv"), crystal, &table));
    ck_assert_int_eq(table.count, 6);
    ck_assert_int_eq(table.rows, 564);
    for (int64_t i = 0; i < table.rows; i += 9) {
        double f[6], g[6];
        ck_ok(sxi_bands_at(&table, table.q + 3 * i, f));
        ck_ok(sx_phonons_modes(model, table.q + 3 * i, g, NULL));
        for (int k = 0; k < 6; k++) {
            ck_near(f[k], g[k], 0, 1e-4);
        }
    }
    sxi_bands_free(&table);
    sx_phonons_destroy(&model);
}
END_TEST

START_TEST(the_branch_is_a_choice) {
    ck_assert(sxi_dispersion_branch(SX_BRANCH_HALF, 3) == 1.5);
    ck_assert(sxi_dispersion_branch(SX_BRANCH_RAW, 3) == 3);
    ck_assert(sxi_dispersion_branch(SX_BRANCH_SUM, 3) == 3);
}
END_TEST

static sx_xani_dispersion_options whole(void) {
    static char places[3][256];
    snprintf(places[0], sizeof places[0], "%s", sx_folder("pixels0.h5"));
    snprintf(places[1], sizeof places[1], "%s", sx_folder("crystal.yaml"));
    return (sx_xani_dispersion_options){
        .geometry = places[0], .crystal = places[1], .path = PATH, .overwrite = true};
}

/* The strongest mode of each pixel that is ok, in the voxel of its hkl. */
START_TEST(voxels_hold_the_pixels) {
    setup();
    const sx_xani_dispersion_options options = whole();
    const char *fit = sx_folder("fit0.h5");
    static const sx_dtype whole_numbers = SX_I64, real = SX_F64;
    sx_hdf5 *file;
    sx_array count, h, frequency;
    ck_ok(sx_xani_dispersion(1, &fit, &options, sx_folder("v.h5"), NULL, NULL));
    ck_ok(sx_hdf5_open(sx_folder("v.h5"), &file));
    ck_ok(sxi_h5_read(file, "/volume/count", &whole_numbers, &count));
    ck_ok(sxi_h5_read(file, "/volume/frequency", &real, &frequency));
    ck_ok(sxi_h5_read(file, "/pixels/h", &real, &h));
    int64_t sum = 0, empty = 0;
    for (int64_t i = 0; i < sx_array_count(&count); i++) {
        sum += ((int64_t *)count.data)[i];
        empty += isnan(((double *)frequency.data)[i]) != (((int64_t *)count.data)[i] == 0);
    }
    ck_assert_int_eq(sum, NPIX - 1);
    ck_assert_int_eq(empty, 0);
    for (int i = 0; i < NPIX; i++) {
        ck_assert_double_lt(fabs(((double *)h.data)[i] - hkl_of[0][i][0]), 1e-9);
    }
    sx_array_destroy(&count);
    sx_array_destroy(&h);
    sx_array_destroy(&frequency);
    sx_hdf5_close(&file);
}
END_TEST

START_TEST(what_is_missing_is_told) {
    setup();
    sx_xani_dispersion_options options = whole();
    const char *fit = sx_folder("noangle.h5");
    write_fit(fit, 0, false);
    ck_fails(sx_xani_dispersion(1, &fit, &options, sx_folder("n.h5"), NULL, NULL), SX_ERR_MISSING,
             "/cube/omega");
    fit = sx_folder("fit0.h5");
    options.voxel = 0.001;
    ck_fails(sx_xani_dispersion(1, &fit, &options, sx_folder("n.h5"), NULL, NULL), SX_ERR_RANGE,
             "--voxel");
    options.voxel = 0;
    options.path = "G-Q";
    ck_fails(sx_xani_dispersion(1, &fit, &options, sx_folder("n.h5"), NULL, NULL), SX_ERR_USAGE,
             "Q");
    options.path = PATH;
    options.geometry = fit;
    ck_fails(sx_xani_dispersion(1, &fit, &options, sx_folder("n.h5"), NULL, NULL), SX_ERR_MISSING,
             "/pixels/qx");
}
END_TEST

/* --- does the orientation fit? --- */

enum { SIDE = 50 };

/* A detector that sees a part of the Ewald sphere, and the lowest mode in each of its pixels. */
static void write_sphere(bool mirrored, const char *geometry, const char *fit) {
    static const char *const names[] = {"/pixels/qx", "/pixels/qy", "/pixels/qz"};
    static const char *const planes[] = {"decay", "phase", "amplitude", "amplitude_errors",
                                         "frequency_errors"};
    static const int64_t stack[] = {1, SIDE, SIDE}, one = 1;
    static double q[3][SIDE * SIDE], frequency[SIDE * SIDE], state[SIDE * SIDE],
        some_error[SIDE * SIDE];
    double m[9], omega = ANGLE[0];
    sxi_h5_writer *writer;
    ck_ok(sx_crystal_hkl_matrix(crystal, &omega, m));
    for (int i = 0; i < SIDE * SIDE; i++) {
        double hkl[3], band[6];
        const double x = -3 + 5.0 * (i % SIDE) / SIDE, y = -2 + 5.0 * (i / SIDE) / SIDE, k = 6;
        const double at[] = {x, y, sqrt(k * k - x * x - y * y) - k};
        for (int j = 0; j < 3; j++) {
            hkl[j] = m[3 * j] * at[0] + m[3 * j + 1] * at[1] + m[3 * j + 2] * at[2];
            q[j][i] = j == 0 && mirrored ? -at[j] : at[j];
        }
        ck_ok(sx_phonons_modes(phonons, hkl, band, NULL));
        frequency[i] = 2 * band[0];
        some_error[i] = 0.01;
    }
    ck_ok(sxi_h5_create(geometry, true, &writer));
    for (int j = 0; j < 3; j++) {
        put(writer, names[j], 2, stack + 1, q[j]);
    }
    ck_ok(sxi_h5_commit(&writer));
    ck_ok(sxi_h5_create(fit, true, &writer));
    put(writer, "/fit/frequency", 3, stack, frequency);
    for (size_t p = 0; p < sizeof planes / sizeof *planes; p++) {
        char name[64];
        snprintf(name, sizeof name, "/fit/%s", planes[p]);
        put(writer, name, 3, stack, some_error);
    }
    put(writer, "/fit/state", 2, stack + 1, state);
    put(writer, "/fit/modes", 2, stack + 1, some_error);
    put(writer, "/fit/chi2", 2, stack + 1, some_error);
    put(writer, "/fit/offset", 2, stack + 1, some_error);
    put(writer, "/cube/omega", 1, &one, &omega);
    ck_ok(sxi_h5_commit(&writer));
}

static void hear(void *data, sx_log_level level, const char *sentence) {
    if (level == SX_LOG_WARNING) {
        snprintf(data, 512, "%s", sentence);
    }
}

static sx_xani_dispersion_summary judge(const char *geometry, const char *yaml, const char *fit,
                                        char heard[512]) {
    const sx_context context = {.log = hear, .data = heard};
    const sx_xani_dispersion_options options = {
        .geometry = geometry, .crystal = yaml, .overwrite = true};
    sx_xani_dispersion_summary summary;
    heard[0] = '\0';
    ck_ok(sx_xani_dispersion(1, &fit, &options, sx_folder("sphere.h5"), &context, &summary));
    return summary;
}

/* The second reflection of YAML, turned about the first; and all turned by 2 degrees about y. */
static const char *write_wrong(double degrees) {
    const char *path = sx_folder("wrong.yaml");
    char text[2048];
    const double c = cos(degrees / 57.29577951), s = sin(degrees / 57.29577951);
    FILE *file = fopen(path, "w");
    const char *from = strstr(YAML, "q: [0.3, 1, 0.2]"), *then = strstr(YAML, "q: [1, -0.3, 0]");
    ck_assert(file && from && then);
    snprintf(text, sizeof text, "%.*sq: [%.9f, 1, %.9f]%.*sq: [%.9f, -0.3, %.9f]%s",
             (int)(from - YAML), YAML, 0.3 * c + 0.2 * s, 0.2 * c - 0.3 * s,
             (int)(then - from - 16), from + 16, c, -s, then + 15);
    fputs(text, file);
    fclose(file);
    return path;
}

START_TEST(a_wrong_orientation_is_told) {
    char geometry[256], yaml[256], fit[256], heard[512];
    setup();
    snprintf(geometry, sizeof geometry, "%s", sx_folder("sphere_pixels.h5"));
    snprintf(fit, sizeof fit, "%s", sx_folder("sphere_fit.h5"));
    snprintf(yaml, sizeof yaml, "%s", sx_folder("crystal.yaml"));
    write_sphere(false, geometry, fit);
    sx_xani_dispersion_summary s = judge(geometry, yaml, fit, heard);
    ck_assert_int_ge(s.pairs, 300);
    ck_assert_double_gt(s.alike, 0.8);
    ck_assert_double_lt(s.chance, 0.3);
    ck_assert(!s.mirrored && !s.disordered);
    ck_assert_str_eq(heard, "");
    s = judge(geometry, write_wrong(2), fit, heard);
    ck_assert(s.disordered && !s.mirrored);
    ck_assert_ptr_nonnull(strstr(heard, "degrees about y"));
    s = judge(geometry, write_wrong(25), fit, heard);
    ck_assert(s.disordered && !s.mirrored);
    ck_assert_ptr_nonnull(strstr(heard, "looks wrong") ? heard : strstr(heard, "look wrong"));
    write_sphere(true, geometry, fit);
    s = judge(geometry, yaml, fit, heard);
    ck_assert(s.mirrored && !s.disordered);
    ck_assert_ptr_nonnull(
        strstr(heard, "x of the detector were reversed: the geometry looks mirrored"));
}
END_TEST

SX_TEST_RUNNER("dispersion", run_tests, a_wrong_orientation_is_told, pixels_are_found_on_the_path,
               residuals_are_none, bands_of_a_table, bands_of_phonopy, the_branch_is_a_choice,
               voxels_hold_the_pixels, what_is_missing_is_told)

int main(void) {
    const int failed = run_tests();
    sx_crystal_destroy(&crystal);
    sx_phonons_destroy(&phonons);
    return failed;
}
