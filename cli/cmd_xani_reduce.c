/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/reduce.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output;
    const char *detector, *i0, *delay, *laser, *laser_pattern, *xray, *mask;
    const char *time_tool, *time_tool_amplitude, *time_tool_width;
    const char *i0_range, *time_tool_range, *amplitude_range, *width_range, *delay_range;
    const char *edges, *angles, *calibration;
    double delay_scale, bin_width, i0_offset, photon_energy, scale, i0_scale;
    int time_tool_sign, off, sigma, raw, common_mode;
    bool no_time_tool, fit_i0_offset;
} values;

static const values defaults = {.bin_width = 0.1};

/* The words of a choice stand in the order of the enum that they choose from. */
static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the cube.h5 to write; required"),
    CLI_OPTION(values, detector, TEXT, "detector", "FIELD",
               "dataset of the frames, shots first, or name of a detector; default: the only one"),
    CLI_OPTION(values, i0, TEXT, "i0", "FIELD",
               "intensity of the pulses; default ipm2/sum or the like, of NeXus monitor/data"),
    CLI_OPTION(values, i0_range, TEXT, "i0-range", "LO:HI", "take shots with I0 in this window"),
    CLI_OPTION(values, i0_offset, REAL, "i0-offset", "I0",
               "what the monitor reads without beam; default 0"),
    CLI_FLAG(values, fit_i0_offset, "fit-i0-offset", 0,
             "find that offset: where the line of frame total against I0 meets zero"),
    CLI_OPTION(values, laser, TEXT, "laser", "FIELD",
               "laser code, above 0 is on; default lightStatus/laser"),
    CLI_OPTION(
        values, laser_pattern, TEXT, "laser-pattern", "10...",
        "instead: laser on (1) and off (0) over the pulses of a train (commas between trains "
        "that take turns), over pulse numbers of SwissFEL, or over the frames of a file"),
    CLI_OPTION(values, xray, TEXT, "xray", "FIELD",
               "X-ray code, above 0 is on; default lightStatus/xray, if there"),
    CLI_OPTION(values, delay, TEXT, "delay", "FIELD",
               "nominal delay; default scan/lxt, enc/lasDelay or the like"),
    CLI_OPTION(values, delay_scale, REAL, "delay-scale", "PS",
               "ps per unit of the nominal delay, negative flips it; default: by unit or name"),
    CLI_OPTION(
        values, time_tool, TEXT, "time-tool", "FIELD",
        "arrival time in ps, added to the delay; default tt/ttCorr or tt/FLTPOS_PS, if there"),
    CLI_OPTION(values, time_tool_sign, CHOICE, "time-tool-sign", "plus|minus",
               "delay = nominal plus or minus time tool; default plus"),
    CLI_FLAG(values, no_time_tool, "no-time-tool", 0, "take the nominal delay as it is"),
    CLI_OPTION(values, time_tool_range, TEXT, "time-tool-range", "LO:HI",
               "take laser-on shots with the time tool in this window, ps"),
    CLI_OPTION(values, time_tool_amplitude, TEXT, "time-tool-amplitude", "FIELD",
               "amplitude of its edge; default tt/AMPL, if there"),
    CLI_OPTION(values, amplitude_range, TEXT, "amplitude-range", "LO:HI",
               "take laser-on shots with that amplitude in this window"),
    CLI_OPTION(values, time_tool_width, TEXT, "time-tool-width", "FIELD",
               "width of its edge; default tt/FLTPOSFWHM, if there"),
    CLI_OPTION(values, width_range, TEXT, "width-range", "LO:HI",
               "take laser-on shots with that width in this window"),
    CLI_RANGE(values, bin_width, REAL, "bin-width", "PS", "width of the delay bins; default 0.1",
              1e-9, 1e9),
    CLI_OPTION(values, delay_range, TEXT, "delay-range", "LO:HI",
               "first and last delay of the bins, ps; default: those of the shots"),
    CLI_OPTION(values, edges, TEXT, "edges", "PS,PS,...",
               "edges of the delay bins, instead of a width"),
    CLI_OPTION(values, off, CHOICE, "off", "pooled|nearest",
               "laser-off shots make one image, or go to the bin of the laser-on shot nearest in "
               "time, against slow drifts; default pooled"),
    CLI_OPTION(values, sigma, CHOICE, "sigma-from", "all|bin",
               "learn the noise of a pixel from all bins, or for each from itself; default all"),
    CLI_OPTION(values, raw, CHOICE, "raw", "none|plain|jungfrau|epix10ka|epix100",
               "what the detector wrote, where frames are not calibrated; default none"),
    CLI_OPTION(
        values, calibration, TEXT, "calibration", "FILE:/group",
        "pedestal, gain, mask and config of raw frames; default: UserDataCfg of the detector"),
    CLI_OPTION(values, common_mode, CHOICE, "common-mode", "none|rows|columns|both|banks",
               "take the median of rows, of columns, of both or of whole banks of the readout off "
               "raw frames"),
    CLI_OPTION(values, mask, TEXT, "mask", "FILE:/path", "dataset of one frame, 0 is good"),
    CLI_RANGE(values, photon_energy, REAL, "photon-energy", "EV",
              "kept in the cube; default: mean of ebeam/photon_energy, if there", 1e-3, 1e9),
    CLI_OPTION(
        values, angles, TEXT, "angle", "NAME=DEG,...",
        "angles of the goniometer, kept in the cube: numbers, or fields whose mean is taken"),
    CLI_OPTION(values, scale, REAL, "scale", "X",
               "size of a typical pixel value, a power of two, where sums overflow; default 1"),
    CLI_OPTION(values, i0_scale, REAL, "i0-scale", "X", "likewise of I0; default: by its median"),
    CLI_COMMON_OPTIONS};

/* --- texts --- */

static sx_status window(cli_call *call, const char *option, const char *text,
                        sx_reduce_window *to) {
    char low[64];
    const char *colon = text ? strchr(text, ':') : NULL;
    if (!text) {
        return SX_OK;
    }
    if (colon && (size_t)(colon - text) < sizeof low) {
        snprintf(low, sizeof low, "%.*s", (int)(colon - text), text);
        if (sx_parse_real(low, &to->least) == SX_OK &&
            sx_parse_real(colon + 1, &to->most) == SX_OK && to->least < to->most) {
            to->given = true;
            return SX_OK;
        }
    }
    return cli_fail(call, SX_ERR_USAGE,
                    "%s: '%s' is not LO:HI, two numbers of which the second is larger", option,
                    text);
}

enum { EDGES = 100000, ANGLES = 16 };

/* What is pointed to by the options; freed together. */
typedef struct parsed {
    double *edges;
    char *angle_text;
    sx_reduce_angle angle[ANGLES];
    sx_xani_reduce_options options;
} parsed;

static sx_status parse_edges(cli_call *call, const char *text, parsed *p) {
    char word[64];
    if (!text) {
        return SX_OK;
    }
    p->edges = malloc(EDGES * sizeof *p->edges);
    if (!p->edges) {
        return cli_fail(call, SX_ERR_MEMORY, "no memory for the edges");
    }
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), at);
        if (p->options.edge_count == EDGES ||
            sx_parse_real(word, &p->edges[p->options.edge_count]) != SX_OK) {
            return cli_fail(call, SX_ERR_USAGE, "--edges: '%s' is no delay in ps", word);
        }
        p->options.edge_count++;
        at += n + (at[n] == ',');
    }
    if (p->options.edge_count < 2) {
        return cli_fail(call, SX_ERR_USAGE, "--edges: one bin needs two edges, PS,PS");
    }
    p->options.edges = p->edges;
    return SX_OK;
}

static sx_status parse_angles(cli_call *call, const char *text, parsed *p) {
    p->angle_text = text ? strdup(text) : NULL;
    for (char *at = p->angle_text; at && *at;) {
        char *comma = at + strcspn(at, ",");
        char *next = *comma ? comma + 1 : comma;
        *comma = '\0';
        char *equals = strchr(at, '=');
        const char *slash = strchr(at, '/');
        if (!equals || equals == at || !equals[1] || (slash && slash < equals) ||
            p->options.angle_count == ANGLES) {
            return cli_fail(call, SX_ERR_USAGE,
                            "--angle: '%s' is not NAME=DEG or NAME=FIELD, at most %d of them", at,
                            ANGLES);
        }
        *equals = '\0';
        sx_reduce_angle *angle = &p->angle[p->options.angle_count++];
        *angle = (sx_reduce_angle){.name = at};
        if (sx_parse_real(equals + 1, &angle->value) != SX_OK) {
            angle->field = equals + 1;
        }
        at = next;
    }
    p->options.angles = p->angle;
    return SX_OK;
}

static sx_status parse(cli_call *call, const values *v, parsed *p) {
    p->options = (sx_xani_reduce_options){.detector = v->detector,
                                          .i0 = v->i0,
                                          .delay = v->delay,
                                          .laser = v->laser,
                                          .laser_pattern = v->laser_pattern,
                                          .raw = (sx_reduce_raw)v->raw,
                                          .calibration = v->calibration,
                                          .common_mode = (sx_reduce_common_mode)v->common_mode,
                                          .xray = v->xray,
                                          .time_tool = v->time_tool,
                                          .time_tool_amplitude = v->time_tool_amplitude,
                                          .time_tool_width = v->time_tool_width,
                                          .no_time_tool = v->no_time_tool,
                                          .time_tool_sign = v->time_tool_sign ? -1 : 1,
                                          .delay_scale = v->delay_scale,
                                          .bin_width = v->bin_width,
                                          .off = (sx_reduce_off)v->off,
                                          .cube = {.i0_offset = v->i0_offset,
                                                   .fit_i0_offset = v->fit_i0_offset,
                                                   .sigma = (sx_reduce_sigma)v->sigma},
                                          .mask = v->mask,
                                          .scale = v->scale,
                                          .i0_scale = v->i0_scale,
                                          .photon_energy = v->photon_energy,
                                          .overwrite = v->common.overwrite};
    const struct {
        const char *option, *text;
        sx_reduce_window *window;
    } windows[] = {{"--i0-range", v->i0_range, &p->options.i0_window},
                   {"--time-tool-range", v->time_tool_range, &p->options.time_tool_window},
                   {"--amplitude-range", v->amplitude_range, &p->options.amplitude_window},
                   {"--width-range", v->width_range, &p->options.width_window},
                   {"--delay-range", v->delay_range, &p->options.delay_range}};
    sx_status status = parse_edges(call, v->edges, p);
    for (size_t i = 0; status == SX_OK && i < sizeof windows / sizeof *windows; i++) {
        status = window(call, windows[i].option, windows[i].text, windows[i].window);
    }
    return status == SX_OK ? parse_angles(call, v->angles, p) : status;
}

/* --- figures --- */

static const char *const REASONS[] = {
#define REASON(name, words) words,
    SX_REDUCE_REASON_LIST(REASON)
#undef REASON
};

static void print(const values *v, const sx_xani_reduce_summary *s) {
    printf("%lld shots: %lld laser on in %lld bins (%lld empty), %lld laser off\n",
           (long long)s->shots, (long long)s->on, (long long)s->bins, (long long)s->empty_bins,
           (long long)s->off);
    for (int i = 1; i < SX_REDUCE_REASONS; i++) {
        if (s->reason[i] > 0) {
            printf("  left out: %lld, %s\n", (long long)s->reason[i], REASONS[i]);
        }
    }
    printf("delays %.4g to %.4g ps; offset of I0 %.6g; ", s->delay_first, s->delay_last,
           s->i0_offset);
    if (isnan(s->i0_correlation)) {
        printf("I0 or frames do not vary\n");
    } else {
        printf("frames follow I0 with correlation %.3f\n", s->i0_correlation);
    }
    if (s->has_time_tool) {
        printf(
            "delay = nominal %c time tool: mean %.3f, rms %.3f ps; slope against nominal %.3f +- "
            "%.3f; sharper than with the other sign by %.1f standard deviations\n",
            v->time_tool_sign ? '-' : '+', s->tool_mean, s->tool_rms, s->tool_slope,
            s->tool_slope_error, s->sharpness);
    }
    printf("change with the delay: laser on %.1f, laser off %.1f standard deviations\n",
           s->on_change, s->off_change);
    printf("wrote %s; %.0f MB of frames in %.2f s\n", v->output, 1e-6 * (double)s->bytes,
           s->seconds);
}

static sx_status print_json(const values *v, const sx_xani_reduce_summary *s) {
    json_t *reasons = json_object();
    for (int i = 0; i < SX_REDUCE_REASONS; i++) {
        json_object_set_new(reasons, REASONS[i], json_integer((json_int_t)s->reason[i]));
    }
    json_t *object = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:I, s:o}",
        "output", v->output, "shots", (json_int_t)s->shots, "on", (json_int_t)s->on, "off",
        (json_int_t)s->off, "bins", (json_int_t)s->bins, "empty_bins", (json_int_t)s->empty_bins,
        "reasons", reasons, "delay_first_ps", cli_json_real(s->delay_first), "delay_last_ps",
        cli_json_real(s->delay_last), "i0_offset", cli_json_real(s->i0_offset), "i0_correlation",
        cli_json_real(s->i0_correlation), "on_change", cli_json_real(s->on_change), "off_change",
        cli_json_real(s->off_change), "warnings", s->warnings, "bytes", (json_int_t)s->bytes,
        "seconds", cli_json_real(s->seconds));
    if (object && s->has_time_tool) {
        json_object_set_new(
            object, "time_tool",
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "sign",
                      v->time_tool_sign ? "minus" : "plus", "mean_ps", cli_json_real(s->tool_mean),
                      "rms_ps", cli_json_real(s->tool_rms), "slope", cli_json_real(s->tool_slope),
                      "slope_error", cli_json_real(s->tool_slope_error), "sharpness",
                      cli_json_real(s->sharpness)));
    }
    return cli_print_json(object);
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    parsed p = {0};
    sx_xani_reduce_summary summary;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status == SX_OK) {
        status = parse(call, v, &p);
    }
    if (status == SX_OK) {
        status = sx_xani_reduce(call->count, call->arguments, &p.options, v->output, call->context,
                                &summary);
    }
    if (status == SX_OK && v->common.json) {
        status = print_json(v, &summary);
    } else if (status == SX_OK && !v->common.quiet) {
        print(v, &summary);
    }
    free(p.edges);
    free(p.angle_text);
    return status;
}

const cli_command cli_xani_reduce = {
    .group = "xani",
    .name = "reduce",
    .help = {"sextant xani reduce", "turn the shots of a run into a cube",
             "RUN... -o cube.h5 [options]",
             "RUN is a per-shot file of LCLS smalldata, a folder (or all files) of a run of\n"
             "European XFEL or SwissFEL, or the master file of a NeXus series. Several are\n"
             "reduced as one. A FIELD is a dataset of RUN (ipm2/sum), SOURCE/key\n"
             "(SA1_XTD2_XGM/XGM/DOOCS:output/data/intensityTD), or a channel; FIELD[k] is\n"
             "element k of its rows.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 1,
    .most = 4096,
    .run = run,
};
