/* SPDX-License-Identifier: Apache-2.0
 * What is made from the option tables and not meant for daily use. Each prints, returns the exit
 * status. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "command.h"

/* cli_print_completion - a bash completion for the whole program. */
int cli_print_completion(const cli_command *const *commands, int count);

/* cli_print_man - the generated part of a man page, in scdoc. */
int cli_print_man(const cli_command *command);

#endif
