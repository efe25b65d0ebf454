/* SPDX-License-Identifier: Apache-2.0
 * A file of a run of European XFEL, format 1.2: all sources in one. The shots between two changes of
 * the nominal delay are the pulses of a train, of which the last is without laser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/simulate/run.h"

static const char *const NAMES[SXI_PULSE_COLUMNS] = {
    "/INSTRUMENT/SIM_XTD_XGM/XGM/DOOCS:output/data/intensityTD",
    "/INSTRUMENT/SIM_LAS/PPL/PULSES:output/data/laser",
    "/INSTRUMENT/SIM_LAS/PPL/PULSES:output/data/xray",
    "/INSTRUMENT/SIM_LAS/PPL/PULSES:output/data/delay",
    "/INSTRUMENT/SIM_LAS/PAM/EDGE:output/data/arrival",
    "/INSTRUMENT/SIM_LAS/PAM/EDGE:output/data/amplitude",
    "/INSTRUMENT/SIM_LAS/PAM/EDGE:output/data/width",
    "/truth/delay",
    "/truth/intensity"};

/* With an index of one entry a train. */
static const char *const SOURCES[] = {"SIM_XTD_XGM/XGM/DOOCS:output/data",
                                      "SIM_LAS/PPL/PULSES:output/data",
                                      "SIM_LAS/PAM/EDGE:output/data"};
enum { SIMPLE = sizeof SOURCES / sizeof *SOURCES, NAME = 120, MODULES = 16 };

static const int64_t FIRST_TRAIN = 1000000;

static int modules_of(const sxi_crystal_run *run) {
    return run->scene.rank == 3 ? (int)run->scene.shape[0] : 1;
}

static int64_t trains_of(const sxi_crystal_run *run) {
    return run->options.shots / run->options.off_every;
}

static void module_name(int module, const char *end, char name[NAME]) {
    snprintf(name, NAME, "SIM_DET_SIM1M/DET/%dCH0:xtdf/image%s", module, end);
}

/* --- whole numbers: base + step i / each, or the remainder --- */

static sx_status write_count(sxi_h5_writer *writer, const char *name, int64_t count, int64_t base,
                             int64_t step, int64_t each, bool remainder) {
    sx_array array;
    SXI_TRY(sx_array_create(SX_U64, 1, &count, &array));
    for (int64_t i = 0; i < count; i++) {
        ((uint64_t *)array.data)[i] = (uint64_t)(base + step * (remainder ? i % each : i / each));
    }
    const sx_status status = sxi_h5_write(writer, name, &array, "", "");
    sx_array_destroy(&array);
    return status;
}

static sx_status write_index(const sxi_crystal_run *run, const char *source, int64_t each) {
    char name[NAME + 32];
    snprintf(name, sizeof name, "/INDEX/%s/first", source);
    SXI_TRY(write_count(run->writer, name, trains_of(run), 0, each, 1, false));
    snprintf(name, sizeof name, "/INDEX/%s/count", source);
    return write_count(run->writer, name, trains_of(run), each, 0, 1, false);
}

/* --- sources --- */

static sx_status write_list(const sxi_crystal_run *run) {
    char text[SIMPLE + MODULES + 1][NAME + 16];
    const char *list[SIMPLE + MODULES + 1], *root[SIMPLE + MODULES + 1];
    int n = 0;
    for (; n < SIMPLE; n++) {
        /* A source of the list ends before its datasets. */
        snprintf(text[n], sizeof text[n], "INSTRUMENT/%.*s", (int)(strlen(SOURCES[n]) - 5),
                 SOURCES[n]);
    }
    for (int m = 0; m < modules_of(run); m++, n++) {
        char name[NAME];
        module_name(m, "", name);
        snprintf(text[n], sizeof text[n], "INSTRUMENT/%s", name);
    }
    for (int i = 0; i < n; i++) {
        list[i] = text[i];
        root[i] = "INSTRUMENT";
    }
    SXI_TRY(sxi_h5_write_texts(run->writer, "/METADATA/dataSources/dataSourceId", n, list));
    SXI_TRY(sxi_h5_write_texts(run->writer, "/METADATA/dataSources/root", n, root));
    return sxi_h5_write_text(run->writer, "/METADATA/dataFormatVersion", "1.2");
}

static sx_status write_angles(const sxi_crystal_run *run) {
    const sx_crystal *crystal = run->scene.crystal;
    char name[NAME + 32];
    for (int a = 0; a < crystal->axes; a++) {
        snprintf(name, sizeof name, "/CONTROL/SIM_GONIO/AXIS/%.31s/value", crystal->axis[a].name);
        SXI_TRY(sxi_numbers_write(run->writer, name, trains_of(run),
                                  crystal->axis[a].dataset ? run->scene.angle[a]
                                                           : crystal->axis[a].angle,
                                  "deg", "angle of the goniometer"));
    }
    return write_index(run, "SIM_GONIO/AXIS", 1);
}

static sx_status create_module(const sxi_crystal_run *run, int module) {
    const sxi_scene *s = &run->scene;
    const int64_t shots = run->options.shots, pulses = run->options.off_every;
    const int64_t shape[] = {shots, s->shape[s->rank - 2], s->shape[s->rank - 1]};
    char source[NAME], name[NAME + 32];
    module_name(module, "", source);
    SXI_TRY(write_index(run, source, pulses));
    snprintf(name, sizeof name, "/INSTRUMENT/%s/data", source);
    SXI_TRY(sxi_h5_dataset_create(run->writer, name, SX_U16, 3, shape,
                                  run->detector.raw ? "ADU" : "photon", "frames of a module"));
    snprintf(name, sizeof name, "/INSTRUMENT/%s/trainId", source);
    SXI_TRY(write_count(run->writer, name, shots, FIRST_TRAIN, 1, pulses, false));
    snprintf(name, sizeof name, "/INSTRUMENT/%s/pulseId", source);
    return write_count(run->writer, name, shots, 0, 1, pulses, true);
}

static sx_status check(const sxi_crystal_run *run) {
    const char *slash = strrchr(run->output, '/'), *base = slash ? slash + 1 : run->output;
    if (strncmp(base, "RAW-R", 5) != 0 && strncmp(base, "CORR-R", 6) != 0) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%s: files of a run of European XFEL have names such as "
                        "RAW-R0001-SIM01-S00000.h5, by which they are known",
                        run->output);
    }
    if (run->options.shots % run->options.off_every != 0) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%lld shots are not whole trains of %lld pulses",
                        (long long)run->options.shots, (long long)run->options.off_every);
    }
    return modules_of(run) <= MODULES
               ? SX_OK
               : SXI_FAIL(SX_ERR_UNSUPPORTED, "a run of European XFEL of %d modules; at most %d",
                          modules_of(run), MODULES);
}

static sx_status begin(sxi_crystal_run *run) {
    SXI_TRY(check(run));
    SXI_TRY(sxi_h5_create(run->output, run->options.overwrite, &run->writer));
    SXI_TRY(write_list(run));
    SXI_TRY(write_count(run->writer, "/INDEX/trainId", trains_of(run), FIRST_TRAIN, 1, 1, false));
    SXI_TRY(write_count(run->writer, "/INDEX/flag", trains_of(run), 1, 0, 1, false));
    for (int i = 0; i < SIMPLE; i++) {
        SXI_TRY(write_index(run, SOURCES[i], 1));
    }
    SXI_TRY(sxi_columns_create(run->writer, NAMES, run->options.shots, run->options.off_every));
    for (int m = 0; m < modules_of(run); m++) {
        SXI_TRY(create_module(run, m));
    }
    return write_angles(run);
}

static sx_status add(sxi_crystal_run *run, int64_t first, int64_t count) {
    const sxi_scene *s = &run->scene;
    const int64_t start[] = {first, 0, 0};
    const int64_t shape[] = {count, s->shape[s->rank - 2], s->shape[s->rank - 1]};
    const int64_t module = shape[1] * shape[2];
    for (int m = 0; m < modules_of(run); m++) {
        char source[NAME], name[NAME + 32];
        sx_array frames;
        module_name(m, "/data", source);
        snprintf(name, sizeof name, "/INSTRUMENT/%s", source);
        SXI_TRY(sx_array_view(SX_U16, 3, shape, run->frame + m * module, &frames));
        frames.stride[0] = s->npix;
        SXI_TRY(sxi_h5_write_box(run->writer, name, start, &frames));
    }
    return sxi_columns_write(run->writer, NAMES, first, count, run->options.off_every, run->pulse);
}

static sx_status end(sxi_crystal_run *run) {
    (void)run;
    return SX_OK;
}

const sxi_run_layout sxi_run_euxfel = {begin, add, end};
