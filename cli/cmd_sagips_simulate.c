/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <sextant/sagips.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output, *problem, *truth;
    int64_t events, seed;
} values;

static const values defaults = {.problem = "proxy1d", .events = 100000, .seed = 1};

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the events.h5 to write; required"),
    CLI_OPTION(values, problem, TEXT, "problem", "NAME",
               "proxy1d, proxy2d or lifetime; default proxy1d"),
    CLI_RANGE(values, events, INT, "events", "N", "number of events; default 100000", 1, 1e12),
    CLI_OPTION(values, truth, TEXT, "truth", "P=X,...",
               "true parameters in their units; default: those of the problem"),
    CLI_RANGE(values, seed, INT, "seed", "N", "the same seed gives the same events; default 1", 1,
              9e15),
    CLI_COMMON_OPTIONS};

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status != SX_OK) {
        return status;
    }
    const sx_sagips_simulate_options simulate = {.theory = v->problem,
                                                 .events = v->events,
                                                 .truth = v->truth,
                                                 .seed = (uint64_t)v->seed,
                                                 .overwrite = v->common.overwrite};
    status = sx_sagips_simulate(&simulate, v->output, call->context);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return cli_print_json(json_pack("{s:s, s:s, s:I, s:I}", "output", v->output, "problem",
                                        v->problem, "events", (json_int_t)v->events, "seed",
                                        (json_int_t)v->seed));
    }
    if (!v->common.quiet) {
        printf("wrote %s: %lld events of %s\n", v->output, (long long)v->events, v->problem);
    }
    return SX_OK;
}

const cli_command cli_sagips_simulate = {
    .group = "sagips",
    .name = "simulate",
    .help = {"sextant sagips simulate", "make events with known parameters",
             "-o events.h5 [options]", "The truth is stored in attributes of /events.", options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .run = run,
};
