/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/xani.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output;
    int layout;
    int64_t shape[2], delays, seed;
    double delay_step, delay_first, photons, frequency_max;
    bool has_delay_first, has_layout, has_shape, has_softening, noiseless;
    /* of a crystal */
    const char *crystal, *geometry, *force_constants, *poscar, *model, *angles, *shells;
    int64_t shots, off_every;
    double photon_energy, softening, temperature, damping;
    double jitter, tool_error, drop, i0_spread, i0_offset;
    double pedestal, gain, noise, common_mode, gain_switch, dead;
} values;

static const values defaults = {
    .shape = {64, 64}, .delays = 120, .seed = 1, .delay_step = 0.08, .shots = 10000};

enum { CUBE };

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the file to write; required"),
    CLI_GIVEN(values, layout, has_layout, CHOICE, "layout", "cube|smalldata|lcls1-cube|euxfel",
              "what to write: a cube; of a crystal, shots as LCLS smalldata has them, the default "
              "then, cubes X_on.h5 and X_off.h5 as LCLS1 has them, or shots as a file of a run of "
              "European XFEL, RAW-R0001-SIM01-S00000.h5"),
    CLI_GIVEN(values, shape, has_shape, SIZE, "shape", "HxW", "pixels of a cube; default 64x64"),
    CLI_RANGE(values, delays, INT, "delays", "N", "number of delays; default 120", 4, 1 << 20),
    CLI_RANGE(values, delay_step, REAL, "delay-step", "PS", "ps between delays; default 0.08", 1e-6,
              1e6),
    CLI_GIVEN(values, delay_first, has_delay_first, REAL, "delay-first", "PS",
              "first delay; default -0.8"),
    CLI_RANGE(
        values, photons, REAL, "photons", "N",
        "photons per pixel and delay of a cube, default 2e4; of the median pixel in a shot of "
        "a crystal, default 2",
        1e-6, 1e15),
    CLI_RANGE(values, frequency_max, REAL, "frequency-max", "THZ",
              "highest frequency of a phonon; default 2 of a cube, 15 of a --model", 1e-6, 1e6),
    CLI_RANGE(values, seed, INT, "seed", "N",
              "of the noise; the same seed gives the same file; default 1", 1, 9e15),
    CLI_FLAG(values, noiseless, "noiseless", 0, "leave the noise of a cube out"),
    CLI_OPTION(values, crystal, TEXT, "crystal", "FILE",
               "crystal.yaml with an orientation: make the shots of a run of it"),
    CLI_OPTION(values, geometry, TEXT, "geometry", "FILE",
               "where its pixels are: PONI, CrystFEL .geom, psana .data or NeXus"),
    CLI_RANGE(values, photon_energy, REAL, "photon-energy", "EV",
              "photon energy; default: that of the geometry", 1, 1e9),
    CLI_OPTION(values, angles, TEXT, "angle", "NAME=DEG,...",
               "angles of the goniometer; those not named are zero"),
    CLI_OPTION(values, force_constants, TEXT, "force-constants", "FILE",
               "its forces: FORCE_CONSTANTS of phonopy, with --poscar"),
    CLI_OPTION(values, poscar, TEXT, "poscar", "FILE",
               "POSCAR of the unit cell that they belong to"),
    CLI_OPTION(values, model, TEXT, "model", "diamond|fcc|bcc|sc",
               "its forces: springs between neighbours, with --frequency-max"),
    CLI_GIVEN(values, softening, has_softening, REAL, "softening", "S",
              "the pump makes all forces 1 - S of themselves; default 0.1"),
    CLI_OPTION(values, shells, TEXT, "soften-shells", "S,S,...",
               "instead, the pump makes the bonds to first, second ... neighbours 1 - S of "
               "themselves: sums and differences of phonons appear"),
    CLI_RANGE(values, temperature, REAL, "temperature", "K", "before the pump; default 300", 1,
              1e5),
    CLI_RANGE(values, damping, REAL, "damping", "RATE", "decay of every tone, 1/ps; default 0", 0,
              1e3),
    CLI_RANGE(values, shots, INT, "shots", "N", "number of shots; default 10000", 1, 1000000000),
    CLI_RANGE(values, off_every, INT, "laser-off-every", "N",
              "one in N shots is without laser; default 5", 2, 1000000),
    CLI_RANGE(values, jitter, REAL, "jitter", "FS", "of the arrival time, fs, 1 sigma; default 0",
              0, 1e4),
    CLI_RANGE(values, tool_error, REAL, "time-tool-error", "FS",
              "of the measured arrival time, fs, 1 sigma; default 0", 0, 1e4),
    CLI_RANGE(values, drop, REAL, "drop-fraction", "X",
              "share of the shots without X-rays; default 0", 0, 0.99),
    CLI_RANGE(values, i0_spread, REAL, "i0-spread", "X",
              "relative fluctuation of the pulses, 1 sigma; default 0", 0, 0.5),
    CLI_RANGE(values, i0_offset, REAL, "i0-offset", "X",
              "what the monitor reads without beam, in units of its mean; default 0", -10, 10),
    CLI_RANGE(values, pedestal, REAL, "pedestal", "ADU",
              "of each pixel; frames are then raw; default 0", 0, 6e4),
    CLI_RANGE(values, gain, REAL, "gain", "ADU", "per photon; frames are then raw; default 1", 1e-3,
              6e4),
    CLI_RANGE(values, noise, REAL, "noise", "ADU", "of each pixel, 1 sigma; default 0", 0, 1e4),
    CLI_RANGE(values, common_mode, REAL, "common-mode", "ADU",
              "shift of each row in each shot, 1 sigma; default 0", 0, 1e4),
    CLI_RANGE(
        values, gain_switch, REAL, "gain-switch", "N",
        "above N photons pixels go over to a second gain, marked by bit 14, as Jungfrau does; "
        "default: never",
        1, 65535),
    CLI_RANGE(values, dead, REAL, "dead", "X", "share of the pixels that read 0; default 0", 0,
              0.9),
    CLI_COMMON_OPTIONS};

/* --- a cube --- */

static sx_status run_cube(cli_call *call, const values *v) {
    sx_xani_simulate_options simulate = {.delays = v->delays,
                                         .delay_step = v->delay_step,
                                         .delay_first = v->delay_first,
                                         .has_delay_first = v->has_delay_first,
                                         .photons = v->photons,
                                         .frequency_max = v->frequency_max,
                                         .seed = (uint64_t)v->seed,
                                         .noiseless = v->noiseless,
                                         .overwrite = v->common.overwrite};
    memcpy(simulate.shape, v->shape, sizeof simulate.shape);
    sx_status status = sx_xani_simulate(&simulate, v->output, call->context);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return cli_print_json(json_pack("{s:s, s:[I,I], s:I, s:I}", "output", v->output, "shape",
                                        (json_int_t)v->shape[0], (json_int_t)v->shape[1], "delays",
                                        (json_int_t)v->delays, "seed", (json_int_t)v->seed));
    }
    if (!v->common.quiet) {
        printf("wrote %s: %lld x %lld pixels, %lld delays\n", v->output, (long long)v->shape[0],
               (long long)v->shape[1], (long long)v->delays);
    }
    return SX_OK;
}

/* --- the shots of a crystal --- */

enum { MOST = 16 };

/* What is pointed to by the options. */
typedef struct parsed {
    char *text; /* names of the angles */
    sx_xani_angle angle[MOST];
    double shell[MOST];
    int angles, shells;
} parsed;

static sx_status parse_angles(cli_call *call, const char *text, parsed *p) {
    p->text = text ? strdup(text) : NULL;
    for (char *at = p->text ? strtok(p->text, ",") : NULL; at; at = strtok(NULL, ",")) {
        char *equals = strchr(at, '=');
        if (!equals || equals == at || p->angles == MOST ||
            sx_parse_real(equals + 1, &p->angle[p->angles].degrees) != SX_OK) {
            return cli_fail(call, SX_ERR_USAGE, "--angle: '%s' is not NAME=DEG, at most %d of them",
                            at, MOST);
        }
        *equals = '\0';
        p->angle[p->angles++].name = at;
    }
    return SX_OK;
}

static sx_status parse_shells(cli_call *call, const char *text, parsed *p) {
    char word[64];
    for (const char *at = text; at && *at;) {
        const size_t n = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), at);
        if (p->shells == MOST || sx_parse_real(word, &p->shell[p->shells]) != SX_OK) {
            return cli_fail(call, SX_ERR_USAGE,
                            "--soften-shells: '%s' is not a number, at most %d of them", word,
                            MOST);
        }
        p->shells++;
        at += n + (at[n] == ',');
    }
    return SX_OK;
}

static sx_status print_run(const values *v, const sx_xani_run_summary *s) {
    if (v->common.json) {
        return cli_print_json(json_pack(
            "{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I}", "output", v->output, "shots",
            (json_int_t)v->shots, "pixels", (json_int_t)s->pixels, "masked", (json_int_t)s->masked,
            "median_amplitude", cli_json_real(s->median_amplitude), "tone_lowest_thz",
            cli_json_real(s->tone_lowest), "tone_highest_thz", cli_json_real(s->tone_highest),
            "seconds_tones", cli_json_real(s->seconds_tones), "seconds_shots",
            cli_json_real(s->seconds_shots), "bytes", (json_int_t)s->bytes));
    }
    if (!v->common.quiet) {
        printf("wrote %s: %lld shots of %lld pixels, %lld masked\n", v->output, (long long)v->shots,
               (long long)s->pixels, (long long)s->masked);
        printf("strongest tones %.3g to %.3g THz, half of them above an amplitude of %.3g\n",
               s->tone_lowest, s->tone_highest, s->median_amplitude);
        printf("tones in %.2f s, %.0f MB of frames in %.2f s\n", s->seconds_tones,
               1e-6 * (double)s->bytes, s->seconds_shots);
    }
    return SX_OK;
}

static sx_status run_shots(cli_call *call, const values *v) {
    parsed p = {0};
    sx_status status = cli_need(call, v->geometry, "--geometry FILE");
    status = status == SX_OK ? parse_angles(call, v->angles, &p) : status;
    status = status == SX_OK ? parse_shells(call, v->shells, &p) : status;
    if (status == SX_OK && !v->force_constants == !v->model) {
        status = cli_fail(call, SX_ERR_USAGE,
                          "the forces of the crystal are missing, or given twice: --model NAME, or "
                          "--force-constants FILE with --poscar FILE");
    }
    if (status == SX_OK && v->force_constants) {
        status = cli_need(call, v->poscar, "--poscar FILE");
    }
    const sx_xani_run_options run = {.layout = v->has_layout ? (sx_xani_layout)(v->layout - 1)
                                                             : SX_XANI_SMALLDATA,
                                     .crystal = v->crystal,
                                     .geometry = v->geometry,
                                     .force_constants = v->force_constants,
                                     .poscar = v->poscar,
                                     .model = v->model,
                                     .highest = v->frequency_max,
                                     .photon_energy = v->photon_energy,
                                     .angle = p.angle,
                                     .angles = p.angles,
                                     .softening = v->softening,
                                     .has_softening = v->has_softening,
                                     .shells = p.shell,
                                     .shell_count = p.shells,
                                     .temperature = v->temperature,
                                     .damping = v->damping,
                                     .shots = v->shots,
                                     .off_every = v->off_every,
                                     .delays = v->delays,
                                     .delay_step = v->delay_step,
                                     .delay_first = v->delay_first,
                                     .has_delay_first = v->has_delay_first,
                                     .jitter = 1e-3 * v->jitter,
                                     .tool_error = 1e-3 * v->tool_error,
                                     .drop = v->drop,
                                     .photons = v->photons,
                                     .i0_spread = v->i0_spread,
                                     .i0_offset = v->i0_offset,
                                     .pedestal = v->pedestal,
                                     .gain = v->gain,
                                     .noise = v->noise,
                                     .common_mode = v->common_mode,
                                     .gain_switch = v->gain_switch,
                                     .dead = v->dead,
                                     .seed = (uint64_t)v->seed,
                                     .overwrite = v->common.overwrite};
    sx_xani_run_summary summary;
    if (status == SX_OK) {
        status = sx_xani_simulate_run(&run, v->output, call->context, &summary);
    }
    free(p.text);
    return status == SX_OK ? print_run(v, &summary) : status;
}

/* Options that would be of no effect are refused. */
static sx_status check_crystal(cli_call *call, const values *v) {
    if (v->has_layout && v->layout == CUBE) {
        return cli_fail(call, SX_ERR_USAGE,
                        "a cube of a crystal is made by sextant xani reduce of its shots: leave "
                        "--layout out");
    }
    if (v->has_shape) {
        return cli_fail(call, SX_ERR_USAGE,
                        "--shape is that of a cube; frames of a crystal have "
                        "that of --geometry");
    }
    if (v->noiseless) {
        return cli_fail(call, SX_ERR_USAGE,
                        "--noiseless is for a cube; photons of shots are "
                        "counted");
    }
    return SX_OK;
}

static sx_status check_cube(cli_call *call, const values *v) {
    const bool of_crystal = v->layout != CUBE || v->geometry || v->angles || v->force_constants ||
                            v->poscar || v->model || v->shells || v->has_softening;
    return of_crystal ? cli_need(call, NULL, "--crystal FILE") : SX_OK;
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status == SX_OK) {
        status = v->crystal ? check_crystal(call, v) : check_cube(call, v);
    }
    if (status != SX_OK) {
        return status;
    }
    return v->crystal ? run_shots(call, v) : run_cube(call, v);
}

const cli_command cli_xani_simulate = {
    .group = "xani",
    .name = "simulate",
    .help = {"sextant xani simulate", "make a pump-probe run with known truth",
             "-o FILE [--crystal FILE --geometry FILE --model NAME] [options]",
             "Without a crystal a cube, whose pixels lie on a square lattice of q. Of a\n"
             "crystal the shots of a run, for xani reduce: diffuse scattering of its phonons\n"
             "after a sudden change of the forces. Counts are Poisson. The truth is in /truth.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .run = run,
};
