/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <sextant/xani.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output, *cube;
    int64_t pixel[2];
    bool has_pixel;
} values;

static const values defaults;

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the .png or .pdf to write; required"),
    CLI_OPTION(values, cube, TEXT, "cube", "FILE",
               "what was fitted, for the trace; default: the input that the fit names"),
    CLI_GIVEN(values, pixel, has_pixel, POINT, "pixel", "y,x",
              "row and column of the maps whose trace is drawn, rows of segments counted on; "
              "default: one that stands out"),
    CLI_COMMON_OPTIONS};

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status != SX_OK) {
        return status;
    }
    sx_xani_figure_options figure = {
        .cube = v->cube, .has_pixel = v->has_pixel, .overwrite = v->common.overwrite};
    memcpy(figure.pixel, v->pixel, sizeof figure.pixel);
    status = sx_xani_figure(call->arguments[0], &figure, v->output, call->context);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return cli_print_json(
            json_pack("{s:s, s:s}", "input", call->arguments[0], "output", v->output));
    }
    if (!v->common.quiet) {
        printf("wrote %s, with its script and data beside it\n", v->output);
    }
    return SX_OK;
}

const cli_command cli_xani_figure = {
    .group = "xani",
    .name = "figure",
    .help = {"sextant xani figure", "draw a fit, a cube or a dispersion through gnuplot",
             "FILE -o FIGURE.png [options]",
             "FILE is a fit.h5, drawn as maps and a trace with its fit, a cube.h5, or a\n"
             "dispersion.h5, drawn as frequencies along its path with calculated bands. The\n"
             "script and the numbers stay beside the figure, so that it can be drawn again.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 1,
    .most = 1,
    .run = run,
};
