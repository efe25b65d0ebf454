/* SPDX-License-Identifier: Apache-2.0
 * Ctrl-C and its relatives: the first asks the work to stop, the second ends the process. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

/* cli_stop_listen - from now on SIGINT, SIGTERM and SIGHUP (unless ignored, as under nohup) ask.
 * What was asked for is known to processes forked after this, too. */
void cli_stop_listen(void);

/* cli_stop_leave - in a forked process: leaves the signals to its parent. */
void cli_stop_leave(void);

bool cli_stop_asked(void);

#endif
