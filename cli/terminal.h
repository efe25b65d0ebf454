/* SPDX-License-Identifier: Apache-2.0
 * Words on stderr, a progress bar if that is a terminal, and Ctrl-C. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/context.h>

typedef struct cli_terminal cli_terminal;

/* cli_terminal_open - one at a time. From then on the first SIGINT or SIGTERM asks the work to stop
 * (it removes what is half written), the second ends the process at once. */
cli_terminal *cli_terminal_open(const char *command, bool quiet);

/* cli_terminal_close - takes the bar away. */
void cli_terminal_close(cli_terminal *terminal);

/* The three functions of a context; data is the terminal. */
void cli_terminal_log(void *data, sx_log_level level, const char *sentence);
void cli_terminal_progress(void *data, const char *what, int64_t done, int64_t total);
bool cli_terminal_cancelled(void *data);

#endif
