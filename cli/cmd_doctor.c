/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <jansson.h>

#include <sextant/doctor.h>
#include <sextant/version.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
} values;

static const sx_option options[] = {CLI_COMMON_OPTIONS};
static const values defaults;

static void print_line(void *data, const sx_doctor_finding *f) {
    (void)data;
    printf("%-14s %-8s %s\n", f->topic, sx_doctor_state_word(f->state), f->found);
    if (*f->remedy) {
        printf("%-14s %-8s %s\n", "", "remedy:", f->remedy);
    }
}

static void add_json(void *data, const sx_doctor_finding *f) {
    json_array_append_new(data, json_pack("{s:s, s:s, s:s, s:s}", "topic", f->topic, "state",
                                          sx_doctor_state_word(f->state), "found", f->found,
                                          "remedy", f->remedy));
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    (void)call;
    if (v->common.json) {
        json_t *findings = json_array();
        const sx_status status = sx_doctor_run(add_json, findings);
        if (status != SX_OK) {
            json_decref(findings);
            return status;
        }
        return cli_print_json(json_pack("{s:s, s:s, s:o}", "version", sx_version(), "commit",
                                        sx_commit(), "findings", findings));
    }
    printf("%-14s %-8s %s (%s)\n", "sextant", "ok", sx_version(), sx_commit());
    return sx_doctor_run(print_line, NULL);
}

const cli_command cli_doctor = {
    .name = "doctor",
    .group = "",
    .help = {"sextant doctor", "say what this machine offers and what is missing", "[options]",
             "Each line names a thing, its state (ok; none: not there, not needed; poor;\n"
             "missing) and what was found. A line below gives the remedy, if there is one.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .run = run,
};
