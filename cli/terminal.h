/* SPDX-License-Identifier: Apache-2.0
 * Words on stderr, and a progress bar if that is a terminal. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <sextant/context.h>

typedef struct cli_terminal cli_terminal;

/* How progress is told: in the order of --progress. */
typedef enum cli_progress { CLI_BAR, CLI_LINES } cli_progress;

/* cli_terminal_open - one at a time. */
cli_terminal *cli_terminal_open(const char *command, bool quiet, cli_progress progress);

/* cli_terminal_close - takes the bar away. */
void cli_terminal_close(cli_terminal *terminal);

/* The three functions of a context; data is the terminal. */
void cli_terminal_log(void *data, sx_log_level level, const char *sentence);
void cli_terminal_progress(void *data, const char *what, int64_t done, int64_t total);
bool cli_terminal_cancelled(void *data);

/* cli_print_text - prints a text that may come from a file: '?' for what would steer the terminal or
 * begin a line. */
void cli_print_text(FILE *stream, const char *text);

#endif
