/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <sextant/reduce.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output;
} values;

static const values defaults = {0};

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the cube.h5 to write; required"), CLI_COMMON_OPTIONS};

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_reducer_counts counts;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status != SX_OK) {
        return status;
    }
    status = sx_xani_merge(call->count, call->arguments, v->output, v->common.overwrite,
                           call->context, &counts);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return cli_print_json(json_pack("{s:s, s:i, s:I, s:I}", "output", v->output, "cubes",
                                        call->count, "on", (json_int_t)counts.on, "off",
                                        (json_int_t)counts.off));
    }
    if (!v->common.quiet) {
        printf("wrote %s: %d cubes, %lld shots with laser on, %lld with laser off\n", v->output,
               call->count, (long long)counts.on, (long long)counts.off);
    }
    return SX_OK;
}

const cli_command cli_xani_merge = {
    .group = "xani",
    .name = "merge",
    .help = {"sextant xani merge", "add the cubes of several runs", "CUBE... -o cube.h5",
             "Cubes of sextant xani reduce with the same bins, detector and settings. They\n"
             "keep sums: the result is bit for bit that of all shots reduced together.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 1,
    .most = 4096,
    .run = run,
};
