/* SPDX-License-Identifier: Apache-2.0
 * The table of commands, and the way to one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/version.h>

#include "command.h"
#include "completion.h"

static const cli_command *const commands[] = {
    &cli_doctor,          &cli_info,        &cli_read,        &cli_xani_fit,
    &cli_xani_simulate,   &cli_xani_figure, &cli_xani_report, &cli_xani_pixels,
    &cli_xani_dispersion, &cli_xani_reduce, &cli_xani_merge,  &cli_sagips_simulate,
    &cli_sagips_solve,
};
enum { COUNT = sizeof commands / sizeof commands[0] };

static void print_commands(FILE *to, const char *group) {
    fprintf(to, "usage: sextant %s%sCOMMAND [options]\n\ncommands:\n", group, *group ? " " : "");
    for (int i = 0; i < COUNT; i++) {
        if (!*group || strcmp(commands[i]->group, group) == 0) {
            fprintf(to, "  %-24s %s\n", commands[i]->help.name, commands[i]->help.summary);
        }
    }
    fputs("\n'sextant COMMAND --help' lists the options of a command.\n", to);
    if (!*group) {
        fputs("sextant --version, sextant --help; sextant --man COMMAND (scdoc) and\n"
              "sextant --completion (bash) print what is made from the tables of options.\n",
              to);
    }
}

static const cli_command *find(const char *group, const char *name) {
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(commands[i]->group, group) == 0 && strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static bool is_group(const char *word) {
    for (int i = 0; i < COUNT; i++) {
        if (*word && strcmp(commands[i]->group, word) == 0) {
            return true;
        }
    }
    return false;
}

static int unknown(const char *group, const char *word) {
    const char *words[2 * COUNT];
    int n = 0;
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(commands[i]->group, group) == 0) {
            words[n++] = commands[i]->name;
        } else if (!*group) {
            words[n++] = commands[i]->group;
        }
    }
    const char *nearest = sx_nearest(word, words, n);
    const char *gap = *group ? " " : "";
    if (nearest) {
        fprintf(stderr, "sextant: unknown command '%s%s%s', did you mean 'sextant %s%s%s'?\n",
                group, gap, word, group, gap, nearest);
    } else {
        fprintf(stderr, "sextant: unknown command '%s%s%s', 'sextant%s%s --help' lists them\n",
                group, gap, word, gap, group);
    }
    return 2;
}

/* What begins with a dash belongs to the program. */
static int run_program(int argc, char **argv) {
    const char *option = argv[1];
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
        print_commands(stdout, "");
    } else if (strcmp(option, "--version") == 0 || strcmp(option, "-v") == 0) {
        printf("sextant %s (%s)\n", sx_version(), sx_commit());
    } else if (strcmp(option, "--completion") == 0) {
        return cli_print_completion(commands, COUNT);
    } else if (strcmp(option, "--man") == 0 && argc > 2 && strcmp(argv[2], "states") == 0) {
        cli_print_states();
    } else if (strcmp(option, "--man") == 0 && argc > 2) {
        const cli_command *command = argc > 3 ? find(argv[2], argv[3]) : find("", argv[2]);
        return command ? cli_print_man(command) : unknown("", argv[2]);
    } else {
        fprintf(stderr, "sextant: unknown option '%s', 'sextant --help' lists the commands\n",
                option);
        return 2;
    }
    return 0;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_commands(stderr, "");
        return 2;
    }
    if (argv[1][0] == '-') {
        return run_program(argc, argv);
    }
    const char *group = is_group(argv[1]) ? argv[1] : "";
    const int at = *group ? 2 : 1;
    if (at >= argc) {
        print_commands(stderr, group);
        return 2;
    }
    if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
        print_commands(stdout, group);
        return 0;
    }
    const cli_command *command = find(group, argv[at]);
    return command ? cli_run(command, argc - at, argv + at) : unknown(group, argv[at]);
}

/* A thread of OpenMP that waits must not spin: it would keep the core from the threads that read, and
 * from other ranks. libgomp asks the environment when it is loaded, so this comes before the libraries. */
static void wait_without_spinning(void) { setenv("OMP_WAIT_POLICY", "passive", 0); }

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries[])(void) = {
    wait_without_spinning};

int main(int argc, char **argv) {
    const int code = run(argc, argv);
    if (code == 0 && (fflush(stdout) != 0 || ferror(stdout))) {
        fputs("sextant: writing to the standard output failed\n", stderr);
        return 1;
    }
    return code;
}
