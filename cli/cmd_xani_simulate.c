/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
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
    bool has_delay_first, noiseless;
} values;

static const values defaults = {.shape = {64, 64},
                                .delays = 120,
                                .seed = 1,
                                .delay_step = 0.08,
                                .photons = 2e4,
                                .frequency_max = 2.0};

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the cube.h5 to write; required"),
    CLI_OPTION(values, layout, CHOICE, "layout", "cube", "what to write; cube is all there is"),
    CLI_OPTION(values, shape, SIZE, "shape", "HxW", "pixels; default 64x64"),
    CLI_RANGE(values, delays, INT, "delays", "N", "number of delays; default 120", 4, 1 << 20),
    CLI_RANGE(values, delay_step, REAL, "delay-step", "PS", "ps between delays; default 0.08", 1e-6,
              1e6),
    CLI_GIVEN(values, delay_first, has_delay_first, REAL, "delay-first", "PS",
              "first delay; default -0.8"),
    CLI_RANGE(values, photons, REAL, "photons", "N",
              "photons per pixel and delay with the laser on; default 2e4", 1e-3, 1e15),
    CLI_RANGE(values, frequency_max, REAL, "frequency-max", "THZ",
              "top of the acoustic branch of one phonon; default 2", 1e-6, 1e6),
    CLI_RANGE(values, seed, INT, "seed", "N",
              "of the noise; the same seed gives the same file; default 1", 1, 9e15),
    CLI_FLAG(values, noiseless, "noiseless", 0, "leave the noise out"),
    CLI_COMMON_OPTIONS};

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status != SX_OK) {
        return status;
    }
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
    status = sx_xani_simulate(&simulate, v->output, call->context);
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

const cli_command cli_xani_simulate = {
    .group = "xani",
    .name = "simulate",
    .help = {"sextant xani simulate", "make a pump-probe cube with known truth",
             "-o cube.h5 [options]",
             "Pixels lie on a lattice of q whose atoms are joined to their nearest neighbours;\n"
             "counts are Poisson. The truth is stored in /truth, named as in fit.h5.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .run = run,
};
