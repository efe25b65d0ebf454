/* SPDX-License-Identifier: Apache-2.0
 * What is made from tables and not meant for daily use. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "command.h"

/* cli_print_completion - a bash completion for the whole program. Returns the exit status. */
int cli_print_completion(const cli_command *const *commands, int count);

/* cli_print_man - the generated part of a man page, in scdoc. Returns the exit status. */
int cli_print_man(const cli_command *command);

/* cli_print_states - the states of a fitted pixel as an indented list, in scdoc. */
void cli_print_states(void);

#endif
