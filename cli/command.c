/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/engine.h>

#include "guard.h"
#include "line.h"
#include "stop.h"
#include "terminal.h"

sx_status cli_fail(cli_call *call, sx_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->sentence, sizeof call->sentence, format, arguments);
    va_end(arguments);
    return status;
}

sx_status cli_need(cli_call *call, const char *value, const char *option) {
    return value ? SX_OK : cli_fail(call, SX_ERR_USAGE, "%s is missing", option);
}

static sx_status check_count(const cli_command *command, cli_call *call) {
    if (call->count < command->least) {
        return cli_fail(call, SX_ERR_USAGE, "an argument is missing: %s %s", command->help.name,
                        command->help.arguments);
    }
    if (call->count > command->most) {
        return cli_fail(call, SX_ERR_USAGE, "'%s' is one argument too many: %s %s",
                        call->arguments[command->most], command->help.name,
                        command->help.arguments);
    }
    return SX_OK;
}

static sx_status print_help(const cli_command *command) {
    char *text = sx_options_help(&command->help);
    if (!text) {
        return SX_ERR_MEMORY;
    }
    fputs(text, stdout);
    free(text);
    return SX_OK;
}

/* What tells its progress has understood its file. */
static void progress(void *data, const char *what, int64_t done, int64_t total) {
    cli_guard_lift();
    cli_terminal_progress(data, what, done, total);
}

/* As one of the processes that a launcher started together, or alone. */
static sx_status run_ranked(const cli_command *command, cli_call *call, const cli_ranks *ranks) {
    sx_status status = sx_cluster_open(call->context, &call->cluster);
    if (status == SX_OK && ranks->memory > 0) {
        status = sx_engine_memory(call->cluster, ranks->memory);
    }
    if (status == SX_OK && ranks->trace) {
        status = sx_engine_trace(call->cluster, ranks->trace);
    }
    if (status == SX_OK) {
        status = command->run(call, ranks);
    }
    if (status == SX_OK && ranks->trace) {
        status = sx_engine_trace_end(call->cluster);
    }
    call->silent = !sx_cluster_speaks(call->cluster);
    sx_cluster_close(&call->cluster);
    return status;
}

static sx_status work(const cli_command *command, cli_call *call, const cli_common *common,
                      const char *line) {
    const cli_ranks *ranks = command->ranked ? (const cli_ranks *)(const void *)common : NULL;
    cli_terminal *terminal = cli_terminal_open(command->help.name, common->quiet,
                                               ranks ? (cli_progress)ranks->progress : CLI_BAR);
    const sx_context context = {.log = cli_terminal_log,
                                .progress = progress,
                                .cancel = cli_terminal_cancelled,
                                .data = terminal,
                                .threads = (int)common->threads,
                                .command = line};
    call->context = &context; /* cppcheck-suppress autoVariables // run is over before it is gone */
    const sx_status status = ranks ? run_ranked(command, call, ranks) : command->run(call, common);
    cli_terminal_close(terminal);
    return status;
}

static int finish(const cli_command *command, const cli_call *call, sx_status status) {
    const char *sentence = *call->sentence ? call->sentence : sx_error_message();
    if (status == SX_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = SX_ERR_IO;
        sentence = "writing to the standard output failed";
    }
    if (status == SX_OK) {
        return 0;
    }
    if (!call->silent) {
        fprintf(stderr, "%s: ", command->help.name);
        cli_print_text(stderr, *sentence ? sentence : sx_status_text(status));
        putc('\n', stderr);
    }
    return status == SX_ERR_USAGE ? 2 : 1;
}

/* What a guarded child may leave, and who removes it. */
typedef struct leavings {
    const cli_command *command;
    const void *values;
} leavings;

static void remove_leavings(void *data, long pid) {
    const leavings *l = data;
    if (l->command->abandoned) {
        l->command->abandoned(l->values, pid);
    }
}

/* Whether this process has to do the work; else *code is what came of it. */
static bool to_work(const cli_command *command, const cli_call *call, const void *values,
                    int *code) {
    cli_stop_listen();
    leavings l = {command, values};
    return !command->guarded ||
           cli_guard_fork(command->help.name, call->arguments[0], remove_leavings, &l, code);
}

int cli_run(const cli_command *command, int argc, char **argv) {
    cli_call call = {0};
    int code = -1;
    sx_status status = SX_ERR_MEMORY;
    const char **arguments = calloc((size_t)argc, sizeof *arguments);
    void *values = malloc(command->bytes);
    char *line = cli_line(command->help.name, argc, argv);
    if (!arguments || !values || !line) {
        goto out;
    }
    memcpy(values, command->defaults, command->bytes);
    call.arguments = arguments;
    status = sx_options_parse(&command->help, argc, argv, values, arguments, &call.count);
    if (status != SX_OK) {
        goto out;
    }
    const cli_common *common = values;
    if (common->help) {
        status = print_help(command);
        goto out;
    }
    status = check_count(command, &call);
    if (status == SX_OK && to_work(command, &call, values, &code)) {
        status = work(command, &call, common, line);
    }
out:
    if (code < 0) {
        code = finish(command, &call, status);
        cli_guard_silence();
    }
    free(line);
    free(values);
    free(arguments);
    return code;
}
