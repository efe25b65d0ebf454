/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <sextant/report.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output;
} values;

static const values defaults;

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the page to write; required"), CLI_COMMON_OPTIONS};

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_xani_report_summary summary;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status != SX_OK) {
        return status;
    }
    status = sx_xani_report(call->count, call->arguments, v->common.overwrite, v->output,
                            call->context, &summary);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return cli_print_json(json_pack(
            "{s:s, s:I, s:I, s:i, s:i}", "output", v->output, "traces", (json_int_t)summary.traces,
            "step", (json_int_t)summary.step, "checks", summary.checks, "doubts", summary.doubts));
    }
    if (!v->common.quiet) {
        printf("wrote %s: open it in a browser\n", v->output);
    }
    return SX_OK;
}

const cli_command cli_xani_report = {
    .group = "xani",
    .name = "report",
    .help = {"sextant xani report", "one page with maps, traces and checks, for a browser",
             "FILE... -o REPORT.html [options]",
             "FILE is a fit.h5, a cube.h5, a dispersion.h5, or one of each. The page carries\n"
             "all that it shows: it can be mailed, and opened without a network. What a fit\n"
             "was made of is found from it.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 1,
    .most = 3,
    .run = run,
};
