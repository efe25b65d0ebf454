/* SPDX-License-Identifier: Apache-2.0
 * A damaged or hostile file can crash the HDF5 library, or send it round in circles. What opens such
 * files works in a child process, so that the command can still say what happened. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <stdbool.h>

/* cli_guard_fork - to be called before anything of OpenMP or HDF5 has run. Returns true in the
 * process that has to do the work (this one where no other can be had), false in the parent once
 * the child has ended: *code is what to exit with, and where the child died of a signal it was said
 * on stderr why.
 *
 * in  command  "sextant info", before the sentence
 * in  file     that is read
 * in  clean    called with the number of a process that died, to remove what it left; NULL: no need
 * in  data     handed to clean */
typedef void (*cli_guard_fn)(void *data, long pid);
bool cli_guard_fork(const char *command, const char *file, cli_guard_fn clean, void *data,
                    int *code);

/* In the child, whose structure of the file must be found out within CLI_GUARD_SECONDS of computing:
 * cli_guard_renew - there is progress, the time begins anew. cli_guard_lift - it is known, from now
 * on computing may take as long as it likes. Both do nothing without a guard. */
enum { CLI_GUARD_SECONDS = 60 };
void cli_guard_renew(void);
void cli_guard_lift(void);

/* In the child, after its last word: where a file is damaged, or a virtual dataset is made of itself, the
 * HDF5 library has a complaint of its own when the process ends ("infinite loop closing library"). */
void cli_guard_silence(void);

#endif
