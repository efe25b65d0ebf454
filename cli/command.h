/* SPDX-License-Identifier: Apache-2.0
 * What every command shares: options, the terminal, and how it ends. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sextant/cluster.h>
#include <sextant/context.h>
#include <sextant/options.h>
#include <sextant/status.h>

/* First member of the values of every command. */
typedef struct cli_common {
    bool help, json, overwrite, quiet;
    int64_t threads;
} cli_common;

/* Last lines of the option table of every command. */
#define CLI_COMMON_OPTIONS                                                                         \
    CLI_RANGE(cli_common, threads, INT, "threads", "N",                                            \
              "use at most N cores; default: all that this process may use", 1, 4096),             \
        CLI_FLAG(cli_common, json, "json", 0, "print figures as one JSON object"),                 \
        CLI_FLAG(cli_common, overwrite, "overwrite", 0, "replace an output that exists"),          \
        CLI_FLAG(cli_common, quiet, "quiet", 'q',                                                  \
                 "print nothing but warnings and what --json asks for"),                           \
        CLI_FLAG(cli_common, help, "help", 'h', "print this help"), {                              \
        0                                                                                          \
    }

/* First member of the values of a command that works in several ranks. */
typedef struct cli_ranks {
    cli_common common;
    int64_t memory; /* 0: chosen */
    const char *trace;
    int progress; /* cli_progress */
} cli_ranks;

#define CLI_RANKS_OPTIONS                                                                          \
    CLI_OPTION(cli_ranks, memory, BYTES, "memory", "SIZE",                                         \
               "hold at most so much of the data at a time, of each process, such as 8G; "         \
               "default: three quarters of what is free"),                                         \
        CLI_OPTION(cli_ranks, progress, CHOICE, "progress", "auto|json",                           \
                   "how to tell it on stderr: a bar if that is a terminal, or lines of JSON"),     \
        CLI_OPTION(cli_ranks, trace, TEXT, "trace", "FILE",                                        \
                   "write what each thread of each process did when, for chrome://tracing and "    \
                   "ui.perfetto.dev")

/* One line of an option table. */
#define CLI_FLAG(type, field, name, letter, help)                                                  \
    { name, letter, SX_OPTION_FLAG, offsetof(type, field), -1, "", help, 0, 0 }
#define CLI_OPTION(type, field, kind, name, value, help)                                           \
    { name, 0, SX_OPTION_##kind, offsetof(type, field), -1, value, help, 0, 0 }
#define CLI_RANGE(type, field, kind, name, value, help, least, most)                               \
    { name, 0, SX_OPTION_##kind, offsetof(type, field), -1, value, help, least, most }
/* has: a bool that is set where the option is given. */
#define CLI_GIVEN(type, field, has, kind, name, value, help)                                       \
    {                                                                                              \
        name, 0, SX_OPTION_##kind, offsetof(type, field), (ptrdiff_t)offsetof(type, has), value,   \
            help, 0, 0                                                                             \
    }
#define CLI_OUTPUT(type, field, value, help)                                                       \
    { "output", 'o', SX_OPTION_TEXT, offsetof(type, field), -1, value, help, 0, 0 }

/* One run of a command. */
typedef struct cli_call {
    const char *const *arguments; /* what is not an option */
    int count;
    const sx_context *context; /* with log, progress, cancel, threads and the command line */
    sx_cluster *cluster;       /* of a command that works in several ranks */
    bool silent;               /* another rank says what there is to say */
    char sentence[1024];       /* of cli_fail */
} cli_call;

typedef struct cli_command {
    const char *group; /* "xani"; "" for those of the program itself */
    const char *name;
    sx_command_help help;
    size_t bytes;         /* of its values */
    const void *defaults; /* values before parsing */
    int least, most;      /* number of arguments */
    bool ranked;          /* works in several ranks; its values begin with a cli_ranks */
    bool guarded;         /* works in a child process: the first argument is a file that may crash
                             the HDF5 library */
    /* Removes what process pid, which died at work, left behind; NULL where nothing can be. */
    void (*abandoned)(const void *values, long pid);
    /* Works, and prints its figures on stdout. values: the struct of the command. */
    sx_status (*run)(cli_call *call, const void *values);
} cli_command;

/* cli_run - parses argv[1..] by the command's table, runs it, says what went wrong. Returns the
 * exit status: 0 done, 1 failed, 2 wrong command line. */
int cli_run(const cli_command *command, int argc, char **argv);

/* cli_fail - a failure that the command itself finds. Returns status. */
sx_status cli_fail(cli_call *call, sx_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* cli_need - SX_ERR_USAGE where an option that must be given is NULL. */
sx_status cli_need(cli_call *call, const char *value, const char *option);

extern const cli_command cli_doctor, cli_info, cli_read, cli_xani_fit, cli_xani_simulate,
    cli_xani_figure, cli_xani_reduce, cli_xani_merge, cli_xani_report, cli_xani_pixels,
    cli_xani_dispersion, cli_sagips_simulate, cli_sagips_solve;

#endif
