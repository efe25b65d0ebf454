/* SPDX-License-Identifier: Apache-2.0
 * A simulated run of a crystal: blocks of shots are made by all threads and handed to the layout one
 * after the other. */
#include <sextant/xani.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/output.h"
#include "engine/launcher.h"
#include "xani/simulate/run.h"

/* Bytes of the frames of a block, few enough to be still in the cache when they are written; a block is at
 * least one frame for each thread. */
enum { BLOCK_BYTES = 1 << 20 };

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
    o->softening = o->shell_count ? 0 : o->has_softening ? o->softening : 0.1;
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
    if (o->shell_count && o->has_softening) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "all bonds are softened alike, or shell by shell, not both");
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
    SXI_TRY(check_range("the photons of the second gain", o->gain_switch, 0, UINT16_MAX));
    return check_range("the share of dead pixels", o->dead, 0, 0.9);
}

/* --- blocks --- */

static void fill_block(const sxi_crystal_run *r, int64_t first, int64_t count) {
    const int64_t npix = r->scene.npix;
#pragma omp parallel num_threads(sx_threads(r->context))
    {
        float *scratch = r->scratch + omp_get_thread_num() * npix;
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            sxi_pulse_get(&r->options, first + i, &r->pulse[i]);
            sxi_detector_frame(&r->detector, first + i, &r->pulse[i], scratch, r->frame + i * npix);
        }
    }
}

/* Whole groups of shots that share a nominal delay. */
static int64_t room_of(const sxi_crystal_run *r) {
    const int64_t frame = r->scene.npix * (int64_t)sizeof *r->frame, each = r->options.off_every;
    const int64_t least = sx_threads(r->context), fit = BLOCK_BYTES / frame;
    const int64_t shots = fit > least ? fit : least;
    return (shots + each - 1) / each * each;
}

static sx_status write_shots(sxi_crystal_run *r, const sxi_run_layout *layout) {
    const int64_t shots = r->options.shots;
    const size_t npix = (size_t)r->scene.npix;
    r->room = room_of(r) < shots ? room_of(r) : shots;
    r->frame = malloc((size_t)r->room * npix * sizeof *r->frame);
    r->pulse = malloc((size_t)r->room * sizeof *r->pulse);
    r->scratch = malloc((size_t)sx_threads(r->context) * npix * sizeof *r->scratch);
    if (!r->frame || !r->pulse || !r->scratch) {
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
        SXI_TRY(layout->add(r, first, count));
        sx_progress(r->context, "shots", first + count, shots);
    }
    return SX_OK;
}

/* --- the rest of the file --- */

static void run_destroy(sxi_crystal_run *r) {
    sxi_h5_abandon(&r->writer);
    sxi_h5_abandon(&r->other);
    free(r->sums);
    free(r->frame);
    free(r->pulse);
    free(r->scratch);
    sxi_detector_destroy(&r->detector);
    sxi_scene_destroy(&r->scene);
}

static sx_status write_settings(const sxi_crystal_run *r, sxi_h5_writer *writer) {
    const sx_xani_run_options *o = &r->options;
    const int64_t seed = (int64_t)o->seed;
    const struct {
        const char *name;
        double value;
    } reals[] = {{"softening", o->softening},
                 {"temperature", o->temperature},
                 {"photons", o->photons},
                 {"i0_offset", 1000 * o->i0_offset},
                 {"jitter", o->jitter},
                 {"time_tool_error", o->tool_error},
                 {"pedestal", o->pedestal},
                 {"gain", o->gain},
                 {"noise", o->noise},
                 {"gain_switch", o->gain_switch},
                 {"common_mode", o->common_mode},
                 {"dropped", o->drop},
                 {"delay_quantum", SXI_DELAY_QUANTUM}};
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

enum { INPUTS = 4 };

static int inputs_of(const sx_xani_run_options *o, const char *inputs[INPUTS]) {
    const char *const all[INPUTS] = {o->crystal, o->geometry, o->force_constants, o->poscar};
    memcpy(inputs, all, sizeof all);
    return o->force_constants ? INPUTS : 2;
}

static sx_status write_provenance(const sxi_crystal_run *r, sxi_h5_writer *writer) {
    const char *inputs[INPUTS];
    const int count = inputs_of(&r->options, inputs);
    return sxi_h5_provenance(writer, r->context, count, inputs);
}

static sx_status check_output(const sxi_crystal_run *r) {
    const char *inputs[INPUTS];
    const int count = inputs_of(&r->options, inputs);
    return sxi_output_check(r->output, r->options.overwrite, count, inputs);
}

static sx_status write_file(sxi_crystal_run *r, const sxi_run_layout *layout,
                            sx_xani_run_summary *summary) {
    const double start = sxi_now();
    SXI_TRY(check_output(r));
    SXI_TRY(sxi_scene_create(&r->options, r->context, &r->scene));
    summary->seconds_tones = sxi_now() - start;
    SXI_TRY(sxi_detector_create(&r->options, &r->scene, r->context, &r->detector));
    SXI_TRY(layout->begin(r));
    SXI_TRY(write_shots(r, layout));
    SXI_TRY(layout->end(r));
    SXI_TRY(sxi_scene_write(&r->scene, r->writer));
    SXI_TRY(write_settings(r, r->writer));
    SXI_TRY(write_provenance(r, r->writer));
    SXI_TRY(sxi_scene_summarise(&r->scene, summary));
    if (r->other) {
        SXI_TRY(write_provenance(r, r->other));
        SXI_TRY(sxi_h5_commit(&r->other));
    }
    SXI_TRY(sxi_h5_commit(&r->writer));
    summary->seconds_shots = sxi_now() - start - summary->seconds_tones;
    summary->bytes = r->options.shots * r->scene.npix * (int64_t)sizeof *r->frame;
    return SX_OK;
}

sx_status sx_xani_simulate_run(const sx_xani_run_options *options, const char *output,
                               const sx_context *context, sx_xani_run_summary *summary) {
    static const sxi_run_layout *const layouts[] = {
        [SX_XANI_SMALLDATA] = &sxi_run_smalldata,
        [SX_XANI_LCLS1_CUBE] = &sxi_run_lcls1_cube,
        [SX_XANI_EUXFEL] = &sxi_run_euxfel,
    };
    sxi_crystal_run r = {.context = context, .output = output};
    sx_xani_run_summary own = {0};
    summary = summary ? summary : &own;
    *summary = own;
    SXI_TRY(sxi_launcher_alone("xani simulate"));
    SXI_TRY(check_options(options, &r.options));
    const sx_status status = write_file(&r, layouts[r.options.layout], summary);
    run_destroy(&r);
    return status;
}
