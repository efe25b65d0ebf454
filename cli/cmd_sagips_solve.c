/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <sextant/sagips.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output, *problem;
    int comparator;
    bool no_norms;
} values;

static const values defaults = {0};

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the solution.h5 to write; required"),
    CLI_OPTION(values, problem, TEXT, "problem", "NAME",
               "proxy1d, proxy2d or lifetime; default: as named in the file"),
    CLI_OPTION(values, comparator, CHOICE, "comparator", "likelihood",
               "how theory and events are compared; likelihood is all there is"),
    CLI_FLAG(values, no_norms, "no-norms", 0,
             "learn from the shape of the densities alone, not from /norms"),
    CLI_COMMON_OPTIONS};

static double range_of(const sx_parameter *parameter) { return parameter->most - parameter->least; }

static json_t *parameters_json(const sx_solution *s) {
    json_t *list = json_array();
    for (int j = 0; j < s->theory->parameters; j++) {
        const sx_parameter *about = s->theory->parameter + j;
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:o, s:o}", "name", about->name, "unit", about->unit, "value",
                      cli_json_real(about->least + s->parameters[j] * range_of(about)), "error",
                      cli_json_real(s->errors[j] * range_of(about))));
    }
    return list;
}

static sx_status print_json(const char *output, const sx_solution *s) {
    return cli_print_json(json_pack(
        "{s:s, s:s, s:s, s:o, s:i, s:I, s:I, s:i}", "output", output, "problem", s->theory->name,
        "state", sx_solution_state_name(s->state), "parameters", parameters_json(s),
        "null_directions", s->null_count, "events", (json_int_t)s->events, "outside",
        (json_int_t)s->outside, "iterations", s->iterations));
}

static void print_text(const char *output, const sx_solution *s) {
    printf("wrote %s: %s, %lld events, %d iterations, %s\n", output, s->theory->name,
           (long long)s->events, s->iterations, sx_solution_state_name(s->state));
    for (int j = 0; j < s->theory->parameters; j++) {
        const sx_parameter *about = s->theory->parameter + j;
        const double value = about->least + s->parameters[j] * range_of(about);
        const double error = s->errors[j] * range_of(about);
        printf("%-12s %10.6g", about->name, value);
        if (error == error) {
            printf(" +- %-10.3g", error);
        } else {
            printf("    %-10s", "no error");
        }
        printf(" %s  %s\n", about->unit[0] == '1' ? "  " : about->unit, about->sentence);
    }
    for (int k = 0; k < s->null_count; k++) {
        printf("not told apart:");
        for (int j = 0; j < s->theory->parameters; j++) {
            const double part = s->null_directions[k * s->theory->parameters + j];
            if (part > 1e-6 || part < -1e-6) {
                printf(" %+.4f %s", part, s->theory->parameter[j].name);
            }
        }
        printf(" (of the ranges)\n");
    }
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_solution solution;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status != SX_OK) {
        return status;
    }
    const sx_sagips_solve_options solve = {v->problem, v->no_norms, v->common.overwrite};
    status = sx_sagips_solve(call->arguments[0], &solve, v->output, call->context, &solution);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return print_json(v->output, &solution);
    }
    if (!v->common.quiet) {
        print_text(v->output, &solution);
    }
    return SX_OK;
}

const cli_command cli_sagips_solve = {
    .group = "sagips",
    .name = "solve",
    .help = {"sextant sagips solve", "find the parameters that made events",
             "events.h5 -o solution.h5 [options]",
             "Extended maximum likelihood. A parameter about which the events say nothing gets\n"
             "no error, and the direction in which it may move is named.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 1,
    .most = 1,
    .run = run,
};
