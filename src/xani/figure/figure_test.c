/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/figure/figure.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/hdf5/h5file.h"
#include "sx_check.h"
#include "sx_folder.h"
#include "xani/fit/fit_arguments.h"

#define PI 3.14159265358979323846

/* --- files to draw --- */

typedef struct maps {
    int rank;
    int64_t shape[3];
    int modes; /* planes */
    bool masked;
} maps;

static int64_t count_of(const maps *m) {
    int64_t n = 1;
    for (int d = 0; d < m->rank; d++) {
        n *= m->shape[d];
    }
    return n;
}

/* Of mode k at pixel i: amplitude 0.01 (i + 1) (k + 1), so the last mode is the strongest. */
static double value_of(const char *name, int64_t k, int64_t i) {
    return strstr(name, "errors")           ? 0.001
           : strcmp(name, "frequency") == 0 ? 1 + (double)k + 0.1 * (double)i
           : strcmp(name, "amplitude") == 0 ? 0.01 * (double)((i + 1) * (k + 1))
           : strcmp(name, "decay") == 0     ? 0.2
                                            : -1.5;
}

static void put(sxi_h5_writer *writer, const maps *m, const char *name, bool stack, double single) {
    int64_t shape[4] = {m->modes}, n = count_of(m);
    memcpy(shape + stack, m->shape, (size_t)m->rank * sizeof *shape);
    sx_array array;
    ck_ok(sx_array_create(SX_F64, m->rank + stack, shape, &array));
    for (int64_t k = 0; k < (stack ? m->modes : 1); k++) {
        for (int64_t i = 0; i < n; i++) {
            ((double *)array.data)[k * n + i] = !stack      ? single
                                                : m->masked ? (double)NAN
                                                            : value_of(name, k, i);
        }
    }
    char path[64];
    snprintf(path, sizeof path, "/fit/%s", name);
    ck_ok(sxi_h5_write(writer, path, &array, "", "made for a test"));
    sx_array_destroy(&array);
}

static void write_fit(const char *path, const maps *m, const char *cube) {
    static const char *const stacks[] = {"frequency",    "amplitude",        "decay",
                                         "phase",        "frequency_errors", "amplitude_errors",
                                         "decay_errors", "phase_errors"};
    sxi_h5_writer *writer;
    ck_ok(sxi_h5_create(path, true, &writer));
    for (size_t s = 0; s < sizeof stacks / sizeof *stacks; s++) {
        put(writer, m, stacks[s], true, 0);
    }
    put(writer, m, "offset", false, m->masked ? (double)NAN : 0.02);
    put(writer, m, "offset_errors", false, 0.001);
    put(writer, m, "chi2", false, m->masked ? (double)NAN : 1.1);
    put(writer, m, "modes", false, m->masked ? 0 : m->modes);
    put(writer, m, "state", false, m->masked ? SX_DCOS_MASKED : SX_DCOS_OK);
    ck_ok(sxi_h5_set_text(writer, "/fit", "input_layout", "sextant cube"));
    const sx_xani_input input = {.cube = cube};
    ck_ok(sxi_fit_arguments_write(&input, writer));
    ck_ok(sxi_h5_commit(&writer));
}

static const maps FRAME = {.rank = 2, .shape = {5, 7}, .modes = 2};

/* --- looking at what was drawn --- */

static const uint8_t PNG[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/* Width and height of the picture. */
static void check_png(const char *path, int *width, int *height) {
    size_t size;
    char *bytes = sx_folder_slurp(path, &size);
    ck_assert_uint_gt(size, 1000);
    ck_assert(memcmp(bytes, PNG, sizeof PNG) == 0);
    const uint8_t *b = (const uint8_t *)bytes;
    *width = b[16] << 24 | b[17] << 16 | b[18] << 8 | b[19];
    *height = b[20] << 24 | b[21] << 16 | b[22] << 8 | b[23];
    free(bytes);
}

static bool there(const char *name) {
    struct stat info;
    return stat(sx_folder(name), &info) == 0;
}

static char said[4096];

static void listen(void *data, sx_log_level level, const char *sentence) {
    (void)data;
    (void)level;
    snprintf(said, sizeof said, "%s", sentence);
}

static const sx_context LISTENING = {.log = listen};

/* --- tests --- */

START_TEST(maps_lie_beside_the_picture) {
    sx_folder_empty();
    write_fit(sx_folder("fit.h5"), &FRAME, NULL);
    said[0] = '\0';
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), &LISTENING));
    ck_assert_msg(strstr(said, "only maps"), "said '%s'", said);
    int width, height;
    check_png(sx_folder("fig.png"), &width, &height);
    ck_assert_int_eq(width, 1600);
    ck_assert(there("fig.gnuplot") && there("fig.maps.dat") && !there("fig.trace.dat"));
    ck_assert_int_eq(sx_folder_count(), 4);

    size_t size;
    char *bytes = sx_folder_slurp(sx_folder("fig.maps.dat"), &size);
    ck_assert_uint_eq(size, 6 * 35 * sizeof(float));
    float value[35];
    memcpy(value, bytes, sizeof value);
    /* The second mode is the stronger one; amplitudes of a cube are in percent. */
    ck_near(value[0], 2, 1e-6, 0);
    ck_near(value[34], 2 + 3.4, 1e-6, 0);
    memcpy(value, bytes + 35 * sizeof(float), sizeof value);
    ck_near(value[2], 100 * 0.06, 1e-6, 0);
    memcpy(value, bytes + 3 * 35 * sizeof(float), sizeof value);
    ck_near(value[9], -1.5, 1e-6, 0);
    free(bytes);
}
END_TEST

START_TEST(script_draws_again) {
    sx_folder_empty();
    write_fit(sx_folder("fit.h5"), &FRAME, NULL);
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("it's.png"), NULL));
    size_t sizes[2];
    char *first = sx_folder_slurp(sx_folder("it's.png"), &sizes[0]);
    ck_assert_int_eq(remove(sx_folder("it's.png")), 0);
    char command[512];
    snprintf(command, sizeof command, "cd '%s' && gnuplot \"it's.gnuplot\"", sx_folder("."));
    ck_assert_int_eq(system(command), 0);
    char *second = sx_folder_slurp(sx_folder("it's.png"), &sizes[1]);
    ck_assert_uint_eq(sizes[0], sizes[1]);
    ck_assert(memcmp(first, second, sizes[0]) == 0);
    free(first);
    free(second);
}
END_TEST

START_TEST(odd_shapes_are_drawn) {
    static const maps shapes[] = {
        {.rank = 2, .shape = {5, 7}, .modes = 2, .masked = true},
        {.rank = 1, .shape = {30}, .modes = 1},
        {.rank = 1, .shape = {30}, .modes = 1, .masked = true},
        {.rank = 3, .shape = {2, 3, 4}, .modes = 3},
        {.rank = 2, .shape = {1, 9}, .modes = 1},
        {.rank = 2, .shape = {9, 1}, .modes = 4},
        {.rank = 2, .shape = {2, 300}, .modes = 1},
        {.rank = 2, .shape = {1500, 3}, .modes = 1},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        sx_folder_empty();
        write_fit(sx_folder("fit.h5"), &shapes[s], NULL);
        ck_ok(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), NULL));
        int width, height;
        check_png(sx_folder("fig.png"), &width, &height);
    }
}
END_TEST

/* A run, a fit whose first mode is put in by hand, and what the picture says of it. */
static void write_run(const char *path, int64_t rows, int64_t width) {
    const sx_xani_simulate_options options = {
        .shape = {rows, width}, .delays = 40, .overwrite = true};
    ck_ok(sx_xani_simulate(&options, path, NULL));
}

START_TEST(trace_comes_from_what_was_fitted) {
    sx_folder_empty();
    write_run(sx_folder("run.h5"), 5, 7);
    write_fit(sx_folder("fit.h5"), &FRAME, sx_folder("run.h5"));
    const sx_xani_figure_options options = {.has_pixel = true, .pixel = {3, 2}};
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), &options, sx_folder("fig.png"), NULL));

    sx_hdf5 *file;
    sx_array y, sigma, delay;
    ck_ok(sx_hdf5_open(sx_folder("run.h5"), &file));
    ck_ok(sxi_h5_read(file, "/cube/signal", NULL, &y));
    ck_ok(sxi_h5_read(file, "/cube/sigma", NULL, &sigma));
    ck_ok(sxi_h5_read(file, "/cube/delay", NULL, &delay));
    sx_hdf5_close(&file);
    size_t size;
    char *text = sx_folder_slurp(sx_folder("fig.trace.dat"), &size), *line = text;
    for (int64_t t = 0; t < 40; t++) {
        line = strchr(line, '\n') + 1;
        double found[5], when = ((double *)delay.data)[t];
        ck_assert_int_eq(sscanf(line, "%lf %lf %lf %lf %lf", &found[0], &found[1], &found[2],
                                &found[3], &found[4]),
                         5);
        double value = (double)((float *)y.data)[t * 35 + 23];
        double error = (double)((float *)sigma.data)[t * 35 + 23], model = 0.02;
        for (int k = 0; k < 2; k++) {
            model += value_of("amplitude", k, 23) * exp(-0.2 * when) *
                     cos(2 * PI * value_of("frequency", k, 23) * when - 1.5);
        }
        /* The file has 9 digits of times and values, 6 of errors and residuals. */
        ck_near(found[0], when, 1e-8, 1e-12);
        ck_near(found[1], value, 1e-8, 1e-12);
        ck_near(found[2], error, 1e-5, 0);
        ck_assert(found[4] == (when >= 0));
        if (when >= 0) {
            ck_near(found[3], (value - model) / error, 1e-5, 1e-6);
        } else {
            ck_assert(isnan(found[3]));
        }
    }
    free(text);
    sx_array_destroy(&y);
    sx_array_destroy(&sigma);
    sx_array_destroy(&delay);
    text = sx_folder_slurp(sx_folder("fig.gnuplot"), &size);
    ck_assert(strstr(text, "pixel in row 3, column 2") && strstr(text, "'24.00(10)'"));
    ck_assert(strstr(text, "at 2,3 point")); /* the ring */
    free(text);
}
END_TEST

/* What is drawn is what was fitted: the residuals add up to the chi2 of the file. */
static void check_chi2(const sx_xani_fit_options *how, int64_t row, int64_t column) {
    sx_folder_empty();
    write_run(sx_folder("run.h5"), 12, 10);
    const sx_xani_input input = {.cube = sx_folder("run.h5")};
    sx_xani_fit_summary summary;
    ck_ok(sx_xani_fit(&input, how, sx_folder("fit.h5"), NULL, &summary));
    const sx_xani_figure_options options = {.has_pixel = true, .pixel = {row, column}};
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), &options, sx_folder("fig.png"), NULL));
    double chi2;
    const int64_t start[] = {row, column}, one[] = {1, 1};
    sx_array view;
    sx_hdf5 *file;
    ck_ok(sx_array_view(SX_F64, 2, one, &chi2, &view));
    ck_ok(sx_hdf5_open(sx_folder("fit.h5"), &file));
    ck_ok(sxi_h5_read_box(file, "/fit/chi2", start, one, &view));
    sx_hdf5_close(&file);

    size_t size;
    char *text = sx_folder_slurp(sx_folder("fig.trace.dat"), &size), *line = text;
    double sum = 0;
    int used = 0;
    for (int64_t t = 0; t < 40; t++) {
        line = strchr(line, '\n') + 1;
        double residual;
        int flag;
        ck_assert_int_eq(sscanf(line, "%*f %*f %*f %lf %d", &residual, &flag), 2);
        if (flag) {
            sum += residual * residual;
            used++;
        }
    }
    free(text);
    int parameters = 1 + 4 * how->dcos.modes;
    ck_near(sum / (used - parameters), chi2, 1e-4, 0); /* 6 digits of each residual */
}

START_TEST(residuals_are_those_of_the_fit) {
    sx_xani_fit_options how = {.dcos = {.fixed_modes = true, .modes = 1}};
    check_chi2(&how, 7, 4);
    how.bin[0] = 2;
    how.bin[1] = 3;
    how.has_roi = true;
    how.roi[0] = 1; /* 1:12 by 2 leaves a last bin of one row */
    how.roi[1] = 12;
    how.roi[2] = 2;
    how.roi[3] = 10;
    check_chi2(&how, 2, 1);
    check_chi2(&how, 5, 2);
    how.dcos =
        (sx_dcos_options){.fixed_modes = true, .t0 = 0.1, .t_start = 0.4, .has_t_start = true};
    check_chi2(&how, 1, 0);
}
END_TEST

START_TEST(cube_that_does_not_fit_is_refused_or_left_out) {
    sx_folder_empty();
    write_run(sx_folder("other.h5"), 4, 4);
    write_fit(sx_folder("fit.h5"), &FRAME, sx_folder("other.h5"));
    const sx_xani_figure_options named = {.cube = sx_folder("other.h5")};
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), &named, sx_folder("fig.png"), NULL), SX_ERR_SHAPE,
             "4 rows of 4 pixels");
    ck_assert_int_eq(sx_folder_count(), 2);
    said[0] = '\0';
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), &LISTENING));
    ck_assert_msg(strstr(said, "--cube") && strstr(said, "4 rows of 4"), "said '%s'", said);
    ck_assert(!there("fig.trace.dat"));

    sx_folder_empty();
    write_run(sx_folder("run.h5"), 5, 7);
    write_fit(sx_folder("fit.h5"), &FRAME, sx_folder("run.h5"));
    ck_assert_int_eq(remove(sx_folder("run.h5")), 0);
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), &LISTENING));
    ck_assert_msg(strstr(said, "run.h5 is not there any more") && strstr(said, "--cube FILE"),
                  "said '%s'", said);
    ck_assert(!there("fig.trace.dat"));
    const sx_xani_figure_options pixel = {.has_pixel = true, .overwrite = true};
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), &pixel, sx_folder("fig.png"), NULL),
             SX_ERR_MISSING, "there is no trace to draw");
}
END_TEST

/* Times, values, errors and residuals that were drawn. */
static char *drawn(const char *fit, const sx_xani_figure_options *options) {
    size_t size;
    ck_ok(sx_xani_figure(fit, options, sx_folder("fig.png"), NULL));
    return sx_folder_slurp(sx_folder("fig.trace.dat"), &size);
}

static void expect_drawn(const char *fit, const char *cube, const char *expected) {
    const sx_xani_figure_options options = {
        .cube = cube, .has_pixel = true, .pixel = {1, 1}, .overwrite = true};
    char *text = drawn(fit, &options);
    ck_assert_str_eq(text, expected);
    free(text);
}

/* A fit of datasets, masked, flipped and scaled, named from the folder in which they lie: they are
 * found from elsewhere, after all has moved, and where a file is named in their stead. */
START_TEST(datasets_are_found_again) {
    char here[4096];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    sx_folder_empty();
    write_run(sx_folder("run.h5"), 5, 7);
    const sx_xani_input input = {.signal = "run.h5:/cube/signal",
                                 .delay = "run.h5:/cube/delay",
                                 .sigma = "run.h5:/cube/sigma",
                                 .mask = "run.h5:/cube/mask",
                                 .delay_scale = -2};
    const sx_xani_fit_options how = {.dcos = {.t0 = -7}};
    ck_assert_int_eq(chdir(sx_folder(".")), 0);
    ck_ok(sx_xani_fit(&input, &how, "fit.h5", NULL, NULL));
    ck_assert_int_eq(chdir(here), 0);
    const sx_xani_figure_options options = {.has_pixel = true, .pixel = {1, 1}};
    char *expected = drawn(sx_folder("fit.h5"), &options);
    double first, value, error;
    ck_assert_int_eq(sscanf(strchr(expected, '\n') + 1, "%lf %lf %lf", &first, &value, &error), 3);
    ck_near(first, -2 * (-0.8 + 39 * 0.08), 0, 0.1); /* half a bin */
    ck_assert(error > 0);

    ck_assert_int_eq(mkdir(sx_folder("moved"), 0755), 0);
    ck_assert_int_eq(rename(sx_folder("fit.h5"), sx_folder("moved/fit.h5")), 0);
    expect_drawn(sx_folder("moved/fit.h5"), NULL, expected);
    ck_assert_int_eq(rename(sx_folder("run.h5"), sx_folder("moved/run.h5")), 0);
    expect_drawn(sx_folder("moved/fit.h5"), NULL, expected);
    ck_assert_int_eq(rename(sx_folder("moved/run.h5"), sx_folder("other.h5")), 0);
    expect_drawn(sx_folder("moved/fit.h5"), sx_folder("other.h5"), expected);
    free(expected);
    const sx_xani_figure_options over = {.has_pixel = true, .overwrite = true};
    ck_fails(sx_xani_figure(sx_folder("moved/fit.h5"), &over, sx_folder("fig.png"), NULL),
             SX_ERR_MISSING, "moved/run.h5: give it with --cube FILE");
    remove(sx_folder("moved/fit.h5"));
    remove(sx_folder("moved"));
}
END_TEST

/* Without sigma the sum of squares has the unit of the signal. */
START_TEST(variance_is_not_called_chi2) {
    sx_folder_empty();
    write_run(sx_folder("run.h5"), 5, 7);
    char signal[300], delay[300], sigma[300];
    snprintf(signal, sizeof signal, "%s:/cube/signal", sx_folder("run.h5"));
    snprintf(delay, sizeof delay, "%s:/cube/delay", sx_folder("run.h5"));
    snprintf(sigma, sizeof sigma, "%s:/cube/sigma", sx_folder("run.h5"));
    sx_xani_input input = {.signal = signal, .delay = delay};
    const sx_xani_fit_options how = {.overwrite = true};
    const sx_xani_figure_options options = {.has_pixel = true, .pixel = {1, 1}, .overwrite = true};
    for (int i = 0; i < 2; i++) {
        size_t size;
        bool with = i == 1;
        input.sigma = with ? sigma : NULL;
        ck_ok(sx_xani_fit(&input, &how, sx_folder("fit.h5"), NULL, NULL));
        ck_ok(sx_xani_figure(sx_folder("fit.h5"), &options, sx_folder("fig.png"), NULL));
        char *text = sx_folder_slurp(sx_folder("fig.gnuplot"), &size);
        bool variance = strstr(text, "'residual variance (signal") != NULL;
        bool chi2 = strstr(text, "'χ² per degree of freedom") != NULL;
        ck_assert(variance == !with && chi2 == with);
        free(text);
    }
}
END_TEST

START_TEST(a_single_trace_is_a_panel) {
    sx_folder_empty();
    static const maps one = {.rank = 1, .shape = {1}, .modes = 1};
    write_run(sx_folder("run.h5"), 1, 1);
    write_fit(sx_folder("fit.h5"), &one, sx_folder("run.h5"));
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), NULL));
    int width, height;
    check_png(sx_folder("fig.png"), &width, &height);
    ck_assert_int_lt(height, 700);
    write_fit(sx_folder("lost.h5"), &one, NULL);
    ck_fails(sx_xani_figure(sx_folder("lost.h5"), NULL, sx_folder("lost.png"), NULL),
             SX_ERR_MISSING, "there is no trace to draw: ");
    ck_assert(!there("lost.png"));
}
END_TEST

START_TEST(cubes_are_drawn) {
    static const int64_t shapes[][2] = {{12, 10}, {1, 1}, {1, 20}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        sx_folder_empty();
        write_run(sx_folder("run.h5"), shapes[s][0], shapes[s][1]);
        ck_ok(sx_xani_figure(sx_folder("run.h5"), NULL, sx_folder("fig.png"), NULL));
        int width, height;
        check_png(sx_folder("fig.png"), &width, &height);
        ck_assert_int_eq(width, 1600);
        ck_assert(there("fig.trace.dat"));
    }
    const sx_xani_figure_options outside = {.has_pixel = true, .pixel = {0, 20}, .overwrite = true};
    ck_fails(sx_xani_figure(sx_folder("run.h5"), &outside, sx_folder("fig.png"), NULL),
             SX_ERR_RANGE, "0,20 is outside");
}
END_TEST

static void put_list(sxi_h5_writer *writer, const char *name, int rank, const int64_t *shape,
                     double *values) {
    sx_array array;
    ck_ok(sx_array_view(SX_F64, rank, shape, values, &array));
    ck_ok(sxi_h5_write(writer, name, &array, "", "made for a test"));
}

/* Three modes from G to X, and two bands with a gap in the first. */
static void write_path(const char *path) {
    static const char *const labels[] = {"G", "X"};
    static const int64_t three = 3, two = 2, grid[] = {2, 2}, table[] = {4, 2}, four = 4;
    double distance[] = {0.1, 0.5, 0.9}, frequency[] = {1, 2, 3}, error[] = {0.1, 0.1, 0.1};
    double at[] = {0, 1}, spectrum[] = {1, 4, 9, 0}, middle[] = {0.25, 0.75}, middle_f[] = {1, 3};
    double band_at[] = {0, 0.3, 0.6, 1};
    double bands[] = {0, 5, (double)NAN, 5, (double)NAN, 5, 4, 5};
    sxi_h5_writer *writer;
    ck_ok(sxi_h5_create(path, true, &writer));
    put_list(writer, "/path/distance", 1, &three, distance);
    put_list(writer, "/path/frequency", 1, &three, frequency);
    put_list(writer, "/path/frequency_errors", 1, &three, error);
    put_list(writer, "/path/label_distance", 1, &two, at);
    ck_ok(sxi_h5_write_texts(writer, "/path/label", 2, labels));
    put_list(writer, "/path/spectrum", 2, grid, spectrum);
    put_list(writer, "/path/spectrum_distance", 1, &two, middle);
    put_list(writer, "/path/spectrum_frequency", 1, &two, middle_f);
    put_list(writer, "/path/band_distance", 1, &four, band_at);
    put_list(writer, "/path/bands", 2, table, bands);
    ck_ok(sxi_h5_set_text(writer, "/path", "branch", "half: of a test"));
    ck_ok(sxi_h5_commit(&writer));
}

START_TEST(a_path_is_drawn) {
    char text[2048] = "";
    float root[4];
    write_path(sx_folder("d.h5"));
    ck_ok(sx_xani_figure(sx_folder("d.h5"), NULL, sx_folder("path.png"), NULL));
    ck_ok(sx_xani_figure(sx_folder("d.h5"), NULL, sx_folder("paper.pdf"), NULL));
    ck_assert(access(sx_folder("path.png"), F_OK) == 0 &&
              access(sx_folder("paper.pdf"), F_OK) == 0);
    FILE *file = fopen(sx_folder("path.trace.dat"), "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "0.5 2 0.1\n"));
    /* one blank line at a gap and after a band: never two, which would end the block */
    ck_assert_ptr_nonnull(strstr(text, "0 0\n\n1 4\n\n0 5\n0.3 5\n0.6 5\n1 5\n"));
    file = fopen(sx_folder("path.maps.dat"), "rb");
    ck_assert(file && fread(root, sizeof *root, 4, file) == 4);
    fclose(file);
    ck_assert(root[0] == 1 && root[1] == 3 && root[2] == 2 && root[3] == 0);
}
END_TEST

START_TEST(bad_requests_leave_nothing) {
    sx_folder_empty();
    const char *fit = sx_folder_write("text.h5", "not HDF5", 8);
    ck_fails(sx_xani_figure(fit, NULL, sx_folder("fig.png"), NULL), SX_ERR_FORMAT, "text.h5");
    sxi_h5_writer *writer;
    ck_ok(sxi_h5_create(sx_folder("other.h5"), false, &writer));
    put(writer, &FRAME, "something", false, 1);
    ck_ok(sxi_h5_commit(&writer));
    ck_fails(sx_xani_figure(sx_folder("other.h5"), NULL, sx_folder("fig.png"), NULL), SX_ERR_FORMAT,
             "neither a fit (it has no /fit/frequency) nor a cube");
    ck_fails(sx_xani_figure(sx_folder("gone.h5"), NULL, sx_folder("fig.png"), NULL), SX_ERR_IO,
             "gone.h5");
    ck_assert_int_eq(sx_folder_count(), 2);

    sx_folder_empty();
    write_fit(sx_folder("fit.h5"), &FRAME, NULL);
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.gif"), NULL), SX_ERR_ARGUMENT,
             "ends in .png");
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("no/fig.png"), NULL), SX_ERR_IO,
             "no/fig.png cannot be written: No such file or directory");
    const sx_xani_figure_options outside = {.has_pixel = true, .pixel = {5, 0}};
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), &outside, sx_folder("fig.png"), NULL),
             SX_ERR_RANGE, "pixel 5,0 is outside");
    const sx_xani_figure_options lost = {.cube = sx_folder("gone.h5")};
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), &lost, sx_folder("fig.png"), NULL), SX_ERR_IO,
             "gone.h5");
    ck_assert_int_eq(sx_folder_count(), 1);
}
END_TEST

START_TEST(existing_files_are_kept) {
    sx_folder_empty();
    write_fit(sx_folder("fit.h5"), &FRAME, NULL);
    sx_folder_write("fig.gnuplot", "mine", 4);
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), NULL), SX_ERR_EXISTS,
             "fig.gnuplot exists");
    ck_assert_int_eq(sx_folder_count(), 2);
    sx_folder_write("fig.trace.dat", "of an older picture", 19);
    const sx_xani_figure_options over = {.overwrite = true};
    ck_ok(sx_xani_figure(sx_folder("fit.h5"), &over, sx_folder("fig.png"), NULL));
    ck_assert(there("fig.png") && !there("fig.trace.dat"));
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), NULL), SX_ERR_EXISTS,
             "--overwrite");
}
END_TEST

START_TEST(gnuplot_is_asked_for) {
    sx_folder_empty();
    write_fit(sx_folder("fit.h5"), &FRAME, NULL);
    const char *old = getenv("PATH");
    char *kept = strdup(old ? old : "");
    setenv("PATH", sx_folder("."), 1);
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), NULL), SX_ERR_MISSING,
             "apt-get install gnuplot-nox");
    ck_assert_int_eq(sx_folder_count(), 1);

    /* One that fails as gnuplot does: the line, a caret, the reason. */
    static const char broken[] =
        "#!/bin/sh\nprintf '\\nplot x\\n     ^\\n\"a\" line 7: no x\\n' >&2\n"
        "exit 1\n";
    const char *program = sx_folder_write("gnuplot", broken, sizeof broken - 1);
    chmod(program, 0755);
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), NULL), SX_ERR_IO,
             "gnuplot failed: \"a\" line 7: no x");
    ck_assert_int_eq(sx_folder_count(), 2);

    /* One whose disk is full, which ends with 0 all the same: the picture lacks its end. */
    static const char cut[] = "#!/bin/sh\neval \"$3\"\nprintf '\\211PNG\\r\\n' >fig.png\n";
    sx_folder_write("gnuplot", cut, sizeof cut - 1);
    chmod(program, 0755);
    ck_fails(sx_xani_figure(sx_folder("fit.h5"), NULL, sx_folder("fig.png"), NULL), SX_ERR_IO,
             "before the picture was complete");
    ck_assert_int_eq(sx_folder_count(), 2);
    setenv("PATH", kept, 1);
    free(kept);
}
END_TEST

START_TEST(values_are_written_with_their_errors) {
    static const struct {
        double value, error;
        const char *text;
    } cases[] = {{1.8423, 0.0068, "1.842(7)"},  {1.8423, 0.0148, "1.842(15)"},
                 {-3.117, 0.013, "-3.117(13)"}, {0.5, 0.0996, "0.50(10)"},
                 {12.34, 0.3, "12.3(3)"},       {12.34, 0, "12.34"},
                 {12.34, (double)NAN, "12.34"}, {(double)NAN, 1, "-"},
                 {1234.5, 31, "1.23(3)e+03"},   {2e-9, 3e-10, "2.0(3)e-09"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        sxi_figure_value(cases[i].value, cases[i].error, text, sizeof text);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(scales_follow_percentiles) {
    float value[205];
    for (int i = 0; i < 205; i++) {
        value[i] = i < 101 ? (float)(100 - i) : i < 203 ? NAN : INFINITY;
    }
    sxi_scale scale;
    ck_ok(sxi_scale_fit(SXI_EVEN, 205, value, &scale));
    ck_assert(!scale.empty && !scale.log && scale.low == 2 && scale.high == 98);
    ck_ok(sxi_scale_fit(SXI_DIVERGING, 205, value, &scale));
    ck_assert(scale.low == -98 && scale.high == 98);
    ck_ok(sxi_scale_fit(SXI_CYCLIC, 205, value, &scale));
    ck_near(scale.high, PI, 1e-15, 0);
    value[100] = 98; /* now nothing lies at zero, and the 2nd percentile is 3 */
    ck_ok(sxi_scale_fit(SXI_EVEN, 205, value, &scale));
    ck_assert(scale.log && scale.low == 3 && scale.high == 98);
    ck_ok(sxi_scale_fit(SXI_EVEN, 100, value + 105, &scale));
    ck_assert(scale.empty && scale.low < scale.high);
    static const float same[] = {5, 5, 5};
    ck_ok(sxi_scale_fit(SXI_EVEN, 3, same, &scale));
    ck_assert(scale.low < 5 && scale.high > 5);
}
END_TEST

SX_TEST_MAIN("figure", scales_follow_percentiles, values_are_written_with_their_errors,
             maps_lie_beside_the_picture, script_draws_again, odd_shapes_are_drawn,
             trace_comes_from_what_was_fitted, residuals_are_those_of_the_fit,
             cube_that_does_not_fit_is_refused_or_left_out, datasets_are_found_again,
             variance_is_not_called_chi2, a_single_trace_is_a_panel, cubes_are_drawn,
             a_path_is_drawn, bad_requests_leave_nothing, existing_files_are_kept,
             gnuplot_is_asked_for)
