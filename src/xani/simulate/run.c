/* SPDX-License-Identifier: Apache-2.0
 * The file of a simulated run of a crystal, as LCLS smalldata writes them: a line per shot, with
 * frames. Blocks of shots are made by all threads and written one after the other. */
#include <sextant/xani.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/launcher.h"
#include "io/hdf5/h5file.h"
#include "xani/simulate/shots.h"

/* Bytes of the frames of a block, few enough to be still in the cache when they are written; a block is at
 * least one frame for each thread. */
enum { BLOCK_BYTES = 1 << 20 };

/* --- columns: one number per shot --- */

/* X(name, member of sxi_pulse, unit, sentence) */
#define COLUMN_LIST(X)                                                                             \
    X("ipm2/sum", monitor, "1", "intensity monitor")                                               \
    X("lightStatus/laser", laser, "", "optical laser: 1 on, 0 off")                                \
    X("lightStatus/xray", xray, "", "X-rays: 1 on, 0 dropped")                                     \
    X("enc/lasDelay", nominal, "ps", "nominal delay")                                              \
    X("tt/ttCorr", tool, "ps", "arrival time, to be added to the nominal delay")                   \
    X("tt/AMPL", tool_amplitude, "1", "amplitude of the edge of the time tool")                    \
    X("tt/FLTPOSFWHM", tool_width, "pixel", "width of the edge of the time tool")                  \
    X("truth/delay", delay, "ps", "true delay; NaN without laser")                                 \
    X("truth/intensity", intensity, "1", "intensity of the pulse, its mean being 1")

static const struct {
    const char *name, *unit, *sentence;
} COLUMN[] = {
#define COLUMN_ROW(name, member, unit, sentence) {"/" name, unit, sentence},
    COLUMN_LIST(COLUMN_ROW)
#undef COLUMN_ROW
};

enum { COLUMNS = sizeof COLUMN / sizeof *COLUMN };

static void set_columns(const sxi_pulse *pulse, double *column, int64_t stride) {
    int c = 0;
#define COLUMN_SET(name, member, unit, sentence) column[c++ * stride] = (double)pulse->member;
    COLUMN_LIST(COLUMN_SET)
#undef COLUMN_SET
}

/* --- options --- */

static sx_status check_range(const char *what, double value, double least, double most) {
    return value >= least && value <= most
               ? SX_OK
               : SXI_FAIL(SX_ERR_ARGUMENT, "%s is %g; it must be %g to %g", what, value, least,
                          most);
}

static double or_else(double value, double otherwise) { return value != 0 ? value : otherwise; }

static sx_status check_options(const sx_xani_run_options *given, sx_xani_run_options *o) {
    *o = *given;
    o->softening = o->shell_count ? 0 : or_else(o->softening, 0.1);
    o->highest = or_else(o->highest, 15);
    o->temperature = or_else(o->temperature, 300);
    o->shots = o->shots ? o->shots : 10000;
    o->off_every = o->off_every ? o->off_every : 5;
    o->delays = o->delays ? o->delays : 120;
    o->delay_step = or_else(o->delay_step, 0.08);
    o->delay_first = o->has_delay_first ? o->delay_first : -0.8;
    o->photons = or_else(o->photons, 2);
    o->gain = or_else(o->gain, 1);
    o->seed = o->seed ? o->seed : 1;
    if (!o->crystal || !o->geometry) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "a run needs a crystal and a geometry");
    }
    if (!o->force_constants == !o->model || !o->force_constants != !o->poscar) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "the forces are those of a model, or force constants with the POSCAR that "
                        "they belong to");
    }
    SXI_TRY(check_range("the temperature, K,", o->temperature, 1, 1e5));
    SXI_TRY(check_range("the damping, 1/ps,", o->damping, 0, 1e3));
    SXI_TRY(check_range("the number of shots", (double)o->shots, 1, 1e9));
    SXI_TRY(check_range("of how many shots one is without laser", (double)o->off_every, 2, 1e6));
    SXI_TRY(check_range("the number of delays", (double)o->delays, 1, 1 << 20));
    SXI_TRY(check_range("the step of the delay, ps,", o->delay_step, 1e-4, 1e4));
    SXI_TRY(check_range("the first delay, ps,", o->delay_first, -1e5, 1e5));
    SXI_TRY(check_range("the jitter, ps,", o->jitter, 0, 10));
    SXI_TRY(check_range("the error of the time tool, ps,", o->tool_error, 0, 10));
    SXI_TRY(check_range("the share of dropped pulses", o->drop, 0, 0.99));
    SXI_TRY(check_range("the photons of a pixel", o->photons, 1e-6, 1e4));
    SXI_TRY(check_range("the spread of the intensity", o->i0_spread, 0, 0.5));
    SXI_TRY(check_range("the offset of the monitor", o->i0_offset, -10, 10));
    SXI_TRY(check_range("the pedestal, ADU,", o->pedestal, 0, 60000));
    SXI_TRY(check_range("the gain, ADU per photon,", o->gain, 1e-3, 6e4));
    SXI_TRY(check_range("the noise, ADU,", o->noise, 0, 1e4));
    SXI_TRY(check_range("the common mode, ADU,", o->common_mode, 0, 1e4));
    return check_range("the share of dead pixels", o->dead, 0, 0.9);
}

/* --- the run --- */

typedef struct run {
    sx_xani_run_options options;
    const sx_context *context;
    sxi_scene scene;
    sxi_detector detector;
    const char *frames; /* dataset */
    int64_t room;       /* shots of a block */
    uint16_t *frame;    /* [room][npix] */
    double *column;     /* [COLUMNS][room] */
    float *scratch;     /* [threads][npix] */
} run;

static void shape_of_frames(const run *r, int64_t shots, int64_t shape[4]) {
    shape[0] = shots;
    memcpy(shape + 1, r->scene.shape, 3 * sizeof *shape);
}

static sx_status create_datasets(const run *r, sxi_h5_writer *writer) {
    int64_t shape[4];
    shape_of_frames(r, r->options.shots, shape);
    SXI_TRY(sxi_h5_dataset_create(writer, r->frames, SX_U16, 1 + r->scene.rank, shape,
                                  r->detector.raw ? "ADU" : "photon", "frames of the detector"));
    for (int c = 0; c < COLUMNS; c++) {
        SXI_TRY(sxi_h5_dataset_create(writer, COLUMN[c].name, SX_F64, 1, shape, COLUMN[c].unit,
                                      COLUMN[c].sentence));
    }
    return SX_OK;
}

/* A number that is the same in all shots. */
static sx_status write_constant(const run *r, sxi_h5_writer *writer, const char *name, double value,
                                const char *unit, const char *sentence) {
    sx_array array;
    SXI_TRY(sx_array_create(SX_F64, 1, &r->options.shots, &array));
    for (int64_t i = 0; i < r->options.shots; i++) {
        ((double *)array.data)[i] = value;
    }
    const sx_status status = sxi_h5_write(writer, name, &array, unit, sentence);
    sx_array_destroy(&array);
    return status;
}

static sx_status write_constants(const run *r, sxi_h5_writer *writer) {
    const sx_crystal *crystal = r->scene.crystal;
    SXI_TRY(write_constant(r, writer, "/ebeam/photon_energy", r->scene.photon_energy, "eV",
                           "photon energy"));
    for (int a = 0; a < crystal->axes; a++) {
        if (crystal->axis[a].dataset) {
            SXI_TRY(write_constant(r, writer, crystal->axis[a].dataset, r->scene.angle[a], "deg",
                                   "angle of the goniometer"));
        }
    }
    return SX_OK;
}

/* --- blocks --- */

static void fill_block(const run *r, int64_t first, int64_t count) {
    const int64_t npix = r->scene.npix;
#pragma omp parallel num_threads(sx_threads(r->context))
    {
        float *scratch = r->scratch + omp_get_thread_num() * npix;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            sxi_pulse pulse;
            sxi_pulse_get(&r->options, first + i, &pulse);
            set_columns(&pulse, r->column + i, r->room);
            sxi_detector_frame(&r->detector, first + i, &pulse, scratch, r->frame + i * npix);
        }
    }
}

static sx_status write_block(const run *r, sxi_h5_writer *writer, int64_t first, int64_t count) {
    int64_t shape[4];
    const int64_t start[4] = {first, 0, 0, 0};
    sx_array array;
    shape_of_frames(r, count, shape);
    SXI_TRY(sx_array_view(SX_U16, 1 + r->scene.rank, shape, r->frame, &array));
    SXI_TRY(sxi_h5_write_box(writer, r->frames, start, &array));
    for (int c = 0; c < COLUMNS; c++) {
        SXI_TRY(sx_array_view(SX_F64, 1, &count, r->column + c * r->room, &array));
        SXI_TRY(sxi_h5_write_box(writer, COLUMN[c].name, start, &array));
    }
    return SX_OK;
}

static sx_status write_shots(run *r, sxi_h5_writer *writer) {
    const int64_t shots = r->options.shots, frame = r->scene.npix * (int64_t)sizeof *r->frame;
    const int threads = sx_threads(r->context);
    const size_t npix = (size_t)r->scene.npix;
    r->room = BLOCK_BYTES / frame > threads ? BLOCK_BYTES / frame : threads;
    r->frame = malloc((size_t)r->room * npix * sizeof *r->frame);
    r->column = malloc((size_t)r->room * COLUMNS * sizeof *r->column);
    r->scratch = malloc((size_t)threads * npix * sizeof *r->scratch);
    if (!r->frame || !r->column || !r->scratch) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld frames of %zu pixels",
                        (long long)r->room, npix);
    }
    for (int64_t first = 0; first < shots; first += r->room) {
        const int64_t count = r->room < shots - first ? r->room : shots - first;
        if (sx_cancelled(r->context)) {
            return SXI_FAIL(SX_ERR_CANCELLED, "cancelled at shot %lld of %lld", (long long)first,
                            (long long)shots);
        }
        fill_block(r, first, count);
        SXI_TRY(write_block(r, writer, first, count));
        sx_progress(r->context, "shots", first + count, shots);
    }
    return SX_OK;
}

static void run_destroy(run *r) {
    free(r->frame);
    free(r->column);
    free(r->scratch);
    sxi_detector_destroy(&r->detector);
    sxi_scene_destroy(&r->scene);
}

static sx_status write_settings(const run *r, sxi_h5_writer *writer) {
    const sx_xani_run_options *o = &r->options;
    const int64_t seed = (int64_t)o->seed;
    const struct {
        const char *name;
        double value;
    } reals[] = {{"softening", o->softening}, {"temperature", o->temperature},
                 {"photons", o->photons},     {"i0_offset", 1000 * o->i0_offset},
                 {"jitter", o->jitter},       {"time_tool_error", o->tool_error},
                 {"pedestal", o->pedestal},   {"gain", o->gain},
                 {"noise", o->noise},         {"common_mode", o->common_mode},
                 {"dropped", o->drop},        {"delay_quantum", SXI_DELAY_QUANTUM}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        SXI_TRY(sxi_h5_set_reals(writer, "/truth", reals[i].name, 1, &reals[i].value));
    }
    if (o->shell_count) {
        SXI_TRY(
            sxi_h5_set_reals(writer, "/truth", "softening_of_shells", o->shell_count, o->shells));
    }
    SXI_TRY(sxi_h5_set_ints(writer, "/truth", "seed", 1, &seed));
    return sxi_h5_set_text(writer, "/", "NX_class", "NXroot");
}

static sx_status write_provenance(const run *r, sxi_h5_writer *writer) {
    const sx_xani_run_options *o = &r->options;
    const char *const inputs[] = {o->crystal, o->geometry, o->force_constants, o->poscar};
    return sxi_h5_provenance(writer, r->context, o->force_constants ? 4 : 2, inputs);
}

static sx_status write_file(run *r, const char *output, sx_xani_run_summary *summary) {
    sx_status status = SX_OK;
    sxi_h5_writer *writer = NULL;
    const double start = sxi_now();
    SXI_GO(sxi_h5_create(output, r->options.overwrite, &writer));
    SXI_GO(sxi_scene_create(&r->options, r->context, &r->scene));
    summary->seconds_tones = sxi_now() - start;
    SXI_GO(sxi_detector_create(&r->options, &r->scene, r->context, &r->detector));
    r->frames = r->detector.raw ? "/detector/raw" : "/detector/calib";
    SXI_GO(create_datasets(r, writer));
    SXI_GO(write_constants(r, writer));
    SXI_GO(write_shots(r, writer));
    SXI_GO(sxi_scene_write(&r->scene, writer));
    SXI_GO(write_settings(r, writer));
    SXI_GO(write_provenance(r, writer));
    SXI_GO(sxi_scene_summarise(&r->scene, summary));
    SXI_GO(sxi_h5_commit(&writer));
    summary->seconds_shots = sxi_now() - start - summary->seconds_tones;
    summary->bytes = r->options.shots * r->scene.npix * (int64_t)sizeof *r->frame;
out:
    sxi_h5_abandon(&writer);
    return status;
}

sx_status sx_xani_simulate_run(const sx_xani_run_options *options, const char *output,
                               const sx_context *context, sx_xani_run_summary *summary) {
    run r = {.context = context};
    sx_xani_run_summary own = {0};
    summary = summary ? summary : &own;
    *summary = (sx_xani_run_summary){0};
    SXI_TRY(sxi_launcher_alone("xani simulate"));
    SXI_TRY(check_options(options, &r.options));
    const sx_status status = write_file(&r, output, summary);
    run_destroy(&r);
    return status;
}
