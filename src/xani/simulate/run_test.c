/* SPDX-License-Identifier: Apache-2.0
 * Simulated runs of silicon: the truth, the photons, the detector. */
#include <string.h>

#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"
#include "xani/simulate/shots.h"

static const char SILICON[] =
    "cell: {a: 5.431, b: 5.431, c: 5.431, alpha: 90, beta: 90, gamma: 90}\n"
    "space_group: Fd-3m:1\n"
    "atoms:\n"
    "  - {element: Si, position: [0, 0, 0]}\n"
    "orientation:\n"
    "  ub: [0, 0.184128, 0, 0, 0, 0.184128, 0.184128, 0, 0]\n"
    "goniometer:\n"
    "  - {name: phi, direction: [0, 1, 0], dataset: /scan/phi}\n";

static const char PLATE[] =
    "poni_version: 2\n"
    "Detector: Detector\n"
    "Detector_config: {\"pixel1\": 0.004, \"pixel2\": 0.004, \"max_shape\": [9, 11]}\n"
    "Distance: 0.15\n"
    "Poni1: 0.018\n"
    "Poni2: 0.022\n"
    "Rot1: 0.5\n"
    "Rot2: 0\n"
    "Rot3: 0\n"
    "Wavelength: 1.24e-10\n";

enum { NPIX = 99, MOST = 6 };

/* The folder is emptied before. */
static sx_xani_run_options silicon(void) {
    sx_folder_empty();
    return (sx_xani_run_options){.crystal = sx_folder_write("si.yaml", SILICON, sizeof SILICON - 1),
                                 .geometry = sx_folder_write("plate.poni", PLATE, sizeof PLATE - 1),
                                 .model = "diamond",
                                 .shots = 300};
}

static void make(const sx_xani_run_options *options, const char *name, int threads) {
    const sx_context context = {.threads = threads};
    ck_ok(sx_xani_simulate_run(options, sx_folder(name), &context, NULL));
}

static void read_back(const char *name, const char *dataset, sx_array *array) {
    static const sx_dtype real = SX_F64;
    sx_hdf5 *file = NULL;
    ck_ok(sx_hdf5_open(sx_folder(name), &file));
    ck_ok(sxi_h5_read(file, dataset, &real, array));
    sx_hdf5_close(&file);
}

static double at(const sx_array *array, int64_t i) { return ((const double *)array->data)[i]; }

START_TEST(threads_do_not_matter) {
    static const char *const parts[] = {"/detector/calib", "/ipm2/sum", "/tt/ttCorr",
                                        "/truth/delay", "/truth/amplitude"};
    sx_xani_run_options options = silicon();
    options.jitter = 0.05;
    options.tool_error = 0.01;
    options.i0_spread = 0.3;
    options.drop = 0.1;
    make(&options, "1.h5", 1);
    make(&options, "3.h5", 3);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sx_array one, three;
        read_back("1.h5", parts[i], &one);
        read_back("3.h5", parts[i], &three);
        ck_assert_int_eq(sx_array_count(&one), sx_array_count(&three));
        ck_assert_msg(memcmp(one.data, three.data, (size_t)sx_array_count(&one) * sizeof(double)) ==
                          0,
                      "%s", parts[i]);
        sx_array_destroy(&one);
        sx_array_destroy(&three);
    }
}
END_TEST

/* Sums of frames at each delay against photons (1 + signal): chi2 within 5 of its standard
 * deviations, which it misses by any error of a per cent in the brightness. */
START_TEST(frames_follow_the_truth) {
    sx_xani_run_options options = silicon();
    sxi_scene scene;
    sx_array frames, truth;
    enum { DELAYS = 5 };
    double sum[DELAYS][NPIX] = {{0}}, chi2 = 0;
    options.shots = 20000;
    options.off_every = 2;
    options.delays = DELAYS;
    options.delay_step = 0.371;
    options.delay_first = -0.02;
    options.has_delay_first = true;
    options.softening = 0.4;
    options.has_softening = true;
    options.damping = 0.5;
    options.photons = 3;
    make(&options, "run.h5", 0);
    read_back("run.h5", "/detector/calib", &frames);
    read_back("run.h5", "/truth/delay", &truth);
    for (int64_t shot = 0; shot < options.shots; shot += 2) {
        for (int64_t i = 0; i < NPIX; i++) {
            sum[shot / 2 % DELAYS][i] += at(&frames, shot * NPIX + i);
        }
    }
    options.highest = 15;
    options.temperature = 300;
    ck_ok(sxi_scene_create(&options, NULL, &scene));
    for (int d = 0; d < DELAYS; d++) {
        const double delay = at(&truth, 2 * d), n = (double)options.shots / 2 / DELAYS;
        ck_near(delay, options.delay_first + d * options.delay_step, 0, 0.001);
        for (int64_t i = 0; i < NPIX; i++) {
            const sxi_scene_pixel *pixel = &scene.pixel[i];
            const double expected =
                n * pixel->photons * (1 + sxi_scene_signal(&scene, pixel, delay));
            chi2 += pow(sum[d][i] - expected, 2) / expected;
        }
    }
    ck_near(chi2, DELAYS * NPIX, 0, 5 * sqrt(2.0 * DELAYS * NPIX));
    sxi_scene_destroy(&scene);
    sx_array_destroy(&frames);
    sx_array_destroy(&truth);
}
END_TEST

/* The brightness is kept for all delays, or worked out for each shot where there are few: the same
 * but for rounding, which moves hardly a photon. */
START_TEST(brightness_kept_or_not) {
    sx_xani_run_options options = silicon();
    sx_array frames[2];
    options.jitter = 0.1;
    for (int i = 0; i < 2; i++) {
        options.shots = i ? 5000 : 100;
        make(&options, i ? "many.h5" : "few.h5", 0);
        read_back(i ? "many.h5" : "few.h5", "/detector/calib", &frames[i]);
    }
    int64_t other = 0;
    for (int64_t i = 0; i < 100 * NPIX; i++) {
        other += at(&frames[0], i) != at(&frames[1], i);
    }
    ck_assert_int_le(other, 2);
    sx_array_destroy(&frames[0]);
    sx_array_destroy(&frames[1]);
}
END_TEST

START_TEST(detector_reads_adu) {
    sx_xani_run_options options = silicon();
    sx_array frames, mask, xray;
    options.pedestal = 500;
    options.gain = 30;
    options.noise = 4;
    options.common_mode = 3;
    options.dead = 0.1;
    options.drop = 0.5;
    options.shots = 1000;
    make(&options, "run.h5", 0);
    read_back("run.h5", "/detector/raw", &frames);
    read_back("run.h5", "/truth/mask", &mask);
    read_back("run.h5", "/lightStatus/xray", &xray);
    double sum = 0, squares = 0, light = 0, n = 0, lit = 0, dead = 0;
    for (int64_t i = 0; i < NPIX; i++) {
        dead += at(&mask, i);
        for (int64_t shot = 0; shot < options.shots; shot++) {
            const double adu = at(&frames, shot * NPIX + i);
            if (at(&mask, i) != 0) {
                ck_assert(adu == 0);
            } else if (at(&xray, shot) == 0) {
                sum += adu - 500;
                squares += pow(adu - 500, 2);
                n++;
            } else {
                light += (adu - 500) / 30;
                lit++;
            }
        }
    }
    ck_near(dead, 10, 0, 9);
    ck_near(sum / n, 0, 0, 0.2); /* rows move together: 3 / sqrt(9 * 500) */
    ck_near(sqrt(squares / n), sqrt(25 + 1 / 12.0), 0.02, 0);
    ck_near(light / lit, 2, 1, 0);
    sx_array_destroy(&frames);
    sx_array_destroy(&mask);
    sx_array_destroy(&xray);
}
END_TEST

/* Every pixel gives back its photons by the pedestal and gain of the mode that it marks. */
START_TEST(gain_switches) {
    sx_xani_run_options options = silicon();
    sx_array plain, raw, pedestal, gain;
    int64_t second = 0;
    options.photons = 8;
    make(&options, "plain.h5", 0);
    options.pedestal = 700;
    options.gain = 120;
    options.gain_switch = 10;
    make(&options, "raw.h5", 0);
    read_back("plain.h5", "/detector/calib", &plain);
    read_back("raw.h5", "/detector/raw", &raw);
    read_back("raw.h5", "/UserDataCfg/detector/ped", &pedestal);
    read_back("raw.h5", "/UserDataCfg/detector/gain", &gain);
    for (int64_t i = 0; i < options.shots * NPIX; i++) {
        const int code = (int)at(&raw, i), mode = code >> 14;
        const double adu = code & 0x3fff, photons = at(&plain, i);
        ck_assert_int_eq(mode, photons > 10);
        /* Half an ADU of rounding is an eighth of a photon in the second gain. */
        ck_near((adu - at(&pedestal, mode * NPIX)) / at(&gain, mode * NPIX), photons, 0, 0.126);
        second += mode;
    }
    ck_assert(second > options.shots * NPIX / 10 && second < options.shots * NPIX / 2);
    sx_array_destroy(&plain);
    sx_array_destroy(&raw);
    sx_array_destroy(&pedestal);
    sx_array_destroy(&gain);
}
END_TEST

/* The phonons of pixels, by the way that xani simulate takes, at the q of phonopy's table and one
 * reciprocal lattice vector farther: 1e-4 THz is wanted, 1e-5 is what the tables allow. */
START_TEST(phonons_as_phonopy) {
    sx_xani_run_options options = silicon();
    char constants[4096], poscar[4096], line[512];
    double uu[9 * MOST / 3] = {0}, worst = 0;
    sxi_scene scene;
    int points = 0;
    if (!sx_data("phonopy/Si_FORCE_CONSTANTS_full")) {
        return;
    }
    snprintf(constants, sizeof constants, "%s", sx_data("phonopy/Si_FORCE_CONSTANTS_full"));
    snprintf(poscar, sizeof poscar, "%s", sx_data("phonopy/Si-gruneisen-orig/POSCAR-unitcell"));
    options.model = NULL;
    options.force_constants = constants;
    options.poscar = poscar;
    options.softening = 0.19;
    options.has_softening = true;
    options.temperature = 300;
    ck_ok(sxi_scene_create(&options, NULL, &scene));
    FILE *file = fopen(sx_data("phonopy/Si_truth_dispersion.csv"), "r");
    while (fgets(line, sizeof line, file)) {
        double v[12];
        if (sscanf(line, "%*[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", v, v + 1, v + 2,
                   v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9, v + 10, v + 11) != 12) {
            continue;
        }
        sxi_scene_pixel *pixel = &scene.pixel[0];
        pixel->tones = 0;
        for (int d = 0; d < 3; d++) {
            pixel->hkl[d] = v[3 + d] + (d == 1 ? 3 : 1);
        }
        ck_ok(sxi_scene_work_out(&scene, uu, 300, 0));
        for (int b = 0; b < MOST; b++) {
            const double nu = scene.nu[b * scene.npix] / sqrt(1 - 0.19);
            ck_near(nu, v[6 + b], 0, 1e-5);
            worst = fmax(worst, fabs(nu - v[6 + b]));
        }
        points++;
    }
    fclose(file);
    ck_assert_int_eq(points, 564);
    printf("silicon: pixels at %d q points, at most %.2g THz from phonopy\n", points, worst);
    sxi_scene_destroy(&scene);
}
END_TEST

/* Without a change of the forces nothing happens. */
START_TEST(no_pump_no_tones) {
    sx_xani_run_options options = silicon();
    sx_array modes;
    options.has_softening = true;
    make(&options, "run.h5", 0);
    read_back("run.h5", "/truth/modes", &modes);
    for (int64_t i = 0; i < NPIX; i++) {
        ck_assert(at(&modes, i) == 0);
    }
    sx_array_destroy(&modes);
}
END_TEST

START_TEST(what_is_refused) {
    sx_xani_run_options options = silicon();
    const sx_xani_angle angle = {"omega", 3};
    options.angle = &angle;
    options.angles = 1;
    ck_fails(sx_xani_simulate_run(&options, sx_folder("no.h5"), NULL, NULL), SX_ERR_MISSING,
             "no axis omega");
    options = silicon();
    options.force_constants = "x";
    ck_fails(sx_xani_simulate_run(&options, sx_folder("no.h5"), NULL, NULL), SX_ERR_ARGUMENT,
             "the forces are those of a model");
    options = silicon();
    options.shells = &angle.degrees;
    options.shell_count = 1;
    options.has_softening = true;
    ck_fails(sx_xani_simulate_run(&options, sx_folder("no.h5"), NULL, NULL), SX_ERR_ARGUMENT,
             "not both");
    options = silicon();
    options.off_every = 1;
    ck_fails(sx_xani_simulate_run(&options, sx_folder("no.h5"), NULL, NULL), SX_ERR_ARGUMENT,
             "without laser");
    options = silicon();
    options.model = "quartz";
    ck_fails(sx_xani_simulate_run(&options, sx_folder("no.h5"), NULL, NULL), SX_ERR_ARGUMENT,
             "diamond");
    ck_assert_int_eq(sx_folder_count(), 2); /* the crystal and the geometry alone */
}
END_TEST

SX_TEST_MAIN("run", threads_do_not_matter, frames_follow_the_truth, brightness_kept_or_not,
             detector_reads_adu, gain_switches, phonons_as_phonopy, no_pump_no_tones,
             what_is_refused)
