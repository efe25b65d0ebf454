/* SPDX-License-Identifier: Apache-2.0
 * LCLS2 cubes (smalldata_tools): one file, a group per laser state.
 *
 *   /laser_on/{det}/{key}   [rows, ...]  sums over the shots of a step   /laser_off likewise
 *   /laser_on/{det}/count   [rows, 1]    shots
 *   /step_value             [steps, 1]   number of the step, and beside it the motors scanned
 *
 * Rows are appended in the order in which steps were finished, not that of the scan. The root gets
 * one row of step values for every step of every label, so with two labels each value stands there
 * twice; which label a row belongs to is not stored. Row k of a label is thus the k-th new step
 * value, provided the label has all steps; otherwise nobody can tell. */
#include "xani/source/source_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(sx_hdf5 *cube) {
    return sxi_h5_is_group(cube, "/laser_on") && sxi_h5_is_group(cube, "/laser_off");
}

/* Looking for images and monitors below /laser_on. */
typedef struct search {
    sx_hdf5 *file;
    char group[SXI_SOURCE_NAME]; /* name of the detector while its members are visited */
    sxi_names images;            /* "det/key" with frames */
    sxi_names numbers;           /* "det/key" with one number per row */
} search;

static bool find_key(void *data, const char *name, bool is_group) {
    search *found = data;
    char path[2 * SXI_SOURCE_NAME + 16];
    char key[2 * SXI_SOURCE_NAME];
    sx_hdf5_dataset about;
    snprintf(key, sizeof key, "%s/%s", found->group, name);
    snprintf(path, sizeof path, "/laser_on/%s", key);
    if (is_group || strcmp(name, "count") == 0 ||
        sx_hdf5_describe(found->file, path, &about) != SX_OK || !about.numeric) {
        return true;
    }
    const bool one = about.rank == 1 || (about.rank == 2 && about.shape[1] == 1);
    if (one || about.rank > 1) {
        sxi_names_add(one ? &found->numbers : &found->images, key);
    }
    return true;
}

static bool find_detector(void *data, const char *name, bool is_group) {
    search *found = data;
    if (is_group) {
        char path[SXI_SOURCE_NAME + 16];
        snprintf(found->group, sizeof found->group, "%s", name);
        snprintf(path, sizeof path, "/laser_on/%s", name);
        sxi_h5_members(found->file, path, find_key, found);
    }
    return true;
}

/* "det/key" of names that wanted means: that very name, or the only one of detector wanted. */
static int matches(const sxi_names *names, const char *wanted, char *chosen) {
    int count = 0;
    char list[sizeof names->text];
    char *rest = NULL;
    snprintf(list, sizeof list, "%s", names->text);
    for (char *name = strtok_r(list, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        const size_t length = wanted ? strlen(wanted) : 0;
        if (!wanted || strcmp(name, wanted) == 0 ||
            (strncmp(name, wanted, length) == 0 && name[length] == '/')) {
            snprintf(chosen, SXI_SOURCE_NAME, "%s", name);
            count++;
            if (wanted && strcmp(name, wanted) == 0) {
                return 1;
            }
        }
    }
    return count;
}

/* Root datasets with one number per row that are not the step number: motors. */
typedef struct motors {
    sx_hdf5 *file;
    int64_t rows;
    sxi_names all;
    sxi_names likely; /* their name says delay or laser timing */
} motors;

static bool find_motor(void *data, const char *name, bool is_group) {
    motors *found = data;
    sx_hdf5_dataset about;
    if (is_group || strcmp(name, "step_value") == 0 ||
        sx_hdf5_describe(found->file, name, &about) != SX_OK || !about.numeric || about.rank < 1 ||
        about.rank > 2 || about.shape[0] != found->rows ||
        (about.rank == 2 && about.shape[1] != 1)) {
        return true;
    }
    sxi_names_add(&found->all, name);
    if (strstr(name, "lxt") || strstr(name, "delay") || strstr(name, "lasDelay")) {
        sxi_names_add(&found->likely, name);
    }
    return true;
}

/* The dataset that holds the delays. */
static sx_status choose_motor(sxi_source *source, const char *wanted, int64_t rows,
                              sxi_stack *motor) {
    sx_hdf5 *cube = source->file[0];
    if (wanted) {
        return sxi_source_name(source, "--delay", wanted, motor);
    }
    motors found = {.file = cube, .rows = rows};
    SXI_TRY(sxi_h5_members(cube, "/", find_motor, &found));
    const sxi_names *names = found.likely.count == 1 ? &found.likely : &found.all;
    if (names->count > 1) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: several quantities were scanned (%s); choose the delay with --delay "
                        "%s:/NAME",
                        sx_hdf5_path_of(cube), names->text, sx_hdf5_path_of(cube));
    }
    return sxi_source_stack(cube, names->count ? names->last : "step_value", motor);
}

/* Index of the first row of each step value, in order of appearance. first [rows]. */
static int64_t first_rows(const double *step, int64_t rows, int64_t *first) {
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = 0;
        while (i < count && step[first[i]] != step[row]) {
            i++;
        }
        if (i == count) {
            first[count++] = row;
        }
    }
    return count;
}

/* Delays of the rows of /laser_on, as stored. */
static sx_status read_delays(sxi_source *source, const sx_xani_input *input, sxi_stack *motor,
                             double **delay) {
    sx_hdf5 *cube = source->file[0];
    const int64_t nt = source->info.nt;
    double *step = NULL;
    double *value = NULL;
    int64_t *first = NULL;
    int64_t rows = 0;
    sx_status status = SX_OK;
    SXI_GO(sxi_source_vector(cube, "step_value", -1, &step, &rows));
    SXI_GO(choose_motor(source, input->delay, rows, motor));
    SXI_GO(sxi_source_vector(motor->file, motor->name, rows, &value, NULL));
    first = malloc((size_t)(rows ? rows : 1) * sizeof *first);
    *delay = malloc((size_t)nt * sizeof **delay);
    if (!first || !*delay) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its steps", sx_hdf5_path_of(cube));
        goto out;
    }
    const int64_t steps = first_rows(step, rows, first);
    if (nt != rows && nt != steps) {
        status = SXI_FAIL(SX_ERR_SHAPE,
                          "%s: %lld steps were scanned, laser_on has %lld rows; which steps it "
                          "lacks is not stored, so delays cannot be assigned",
                          sx_hdf5_path_of(cube), (long long)steps, (long long)nt);
        goto out;
    }
    for (int64_t t = 0; t < nt; t++) {
        (*delay)[t] = value[nt == rows ? t : first[t]];
    }
out:
    free(step);
    free(value);
    free(first);
    return status;
}

/* One label: frames, shots and, if asked for, the monitor "det/key". */
static sx_status read_side(sx_hdf5 *cube, const char *label, const char *image, const char *monitor,
                           sxi_side *side) {
    char name[2 * SXI_SOURCE_NAME];
    snprintf(name, sizeof name, "/%s/%s", label, image);
    SXI_TRY(sxi_source_stack(cube, name, &side->frames));
    const int64_t rows = side->frames.about.rank ? side->frames.about.shape[0] : 0;
    snprintf(name, sizeof name, "/%s/%.*s/count", label, (int)strcspn(image, "/"), image);
    SXI_TRY(sxi_source_vector(cube, name, rows, &side->shots, NULL));
    if (monitor) {
        char shots[2 * SXI_SOURCE_NAME];
        snprintf(shots, sizeof shots, "/%s/%.*s/count", label, (int)strcspn(monitor, "/"), monitor);
        SXI_TRY(sxi_source_vector(cube, sxi_h5_exists(cube, shots) ? shots : name, rows,
                                  &side->monitor_shots, NULL));
        snprintf(name, sizeof name, "/%s/%s", label, monitor);
        SXI_TRY(sxi_source_vector(cube, name, rows, &side->monitor, NULL));
    }
    return SX_OK;
}

static sx_status choose(sxi_source *source, const sxi_layout_request *request, char *image,
                        char *monitor) {
    const sx_xani_input *input = request->input;
    sx_hdf5 *cube = source->file[0];
    search found = {.file = cube};
    SXI_TRY(sxi_h5_members(cube, "/laser_on", find_detector, &found));
    const int images = matches(&found.images, input->detector, image);
    if (images != 1) {
        return SXI_FAIL(SX_ERR_MISSING, "%s: --detector %s means %d of the images of laser_on: %s",
                        sx_hdf5_path_of(cube), input->detector ? input->detector : "(not given)",
                        images, found.images.count ? found.images.text : "none");
    }
    monitor[0] = '\0';
    if (input->i0 && matches(&found.numbers, input->i0, monitor) != 1) {
        return SXI_FAIL(SX_ERR_MISSING, "%s has no intensity monitor %s; it holds %s",
                        sx_hdf5_path_of(cube), input->i0,
                        found.numbers.count ? found.numbers.text : "none");
    }
    if (!input->i0) {
        sx_log(request->context, SX_LOG_WARNING,
               "%s: images are divided by shots only; choose an intensity monitor with --i0: %s",
               sx_hdf5_path_of(cube), found.numbers.count ? found.numbers.text : "none is there");
    }
    return SX_OK;
}

static sx_status open_sides(sxi_source *source, const sxi_layout_request *request, sxi_side *on,
                            sxi_side *off) {
    sx_hdf5 *cube = source->file[0];
    char image[SXI_SOURCE_NAME];
    char monitor[SXI_SOURCE_NAME];
    char where[4 * SXI_SOURCE_NAME];
    sxi_stack motor;
    SXI_TRY(choose(source, request, image, monitor));
    const char *const i0 = monitor[0] ? monitor : NULL;
    SXI_TRY(read_side(cube, "laser_on", image, i0, on));
    SXI_TRY(read_side(cube, "laser_off", image, i0, off));
    SXI_TRY(sxi_source_same_shape(on, off, false));
    SXI_TRY(sxi_source_signal(source, &on->frames));
    if (off->frames.about.shape[0] != source->info.nt) {
        sx_log(request->context, SX_LOG_WARNING,
               "%s: laser_on has %lld steps, laser_off %lld; the off image is pooled over its own",
               sx_hdf5_path_of(cube), (long long)source->info.nt,
               (long long)off->frames.about.shape[0]);
    }
    snprintf(source->info.layout, sizeof source->info.layout, "LCLS2 cube (%.32s%s%.16s)", image,
             i0 ? ", " : "", monitor);
    SXI_TRY(read_delays(source, request->input, &motor, &on->delay));
    snprintf(where, sizeof where, "%s:/%s", sx_hdf5_path_of(cube),
             motor.name[0] == '/' ? motor.name + 1 : motor.name);
    const sxi_axis axis = {.where = where, .unit = motor.about.unit, .sort = true};
    SXI_TRY(sxi_source_axis(source, request, &axis, on->delay));
    return sxi_source_ratio(source, on, off, request->context);
}

static sx_status open_lcls2(sxi_source *source, const sxi_layout_request *request) {
    return sxi_source_sides(source, request, open_sides);
}

const sxi_layout sxi_layout_lcls2 = {.name = "LCLS2 cube",
                                     .recognise = recognise,
                                     .open = open_lcls2,
                                     .uses_detector = true,
                                     .uses_i0 = true};
