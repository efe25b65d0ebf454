/* SPDX-License-Identifier: Apache-2.0
 * The life of an output of any format: a temporary file beside the target, renamed when complete. */
#ifndef SXI_OUTPUT_H
#define SXI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sextant/status.h>

/* sxi_output_check - whether path can become an output, to be asked before hours of work: its folder
 * is there and writable, it is no folder or device, does not exist (unless overwrite), and is none
 * of the inputs, under whatever name. */
sx_status sxi_output_check(const char *path, bool overwrite, int inputs, const char *const *paths);

/* sxi_inputs_differ - SX_ERR_ARGUMENT where two inputs whose sums are to be added are the same file, under
 * whatever names. */
sx_status sxi_inputs_differ(int inputs, const char *const *paths);

/* sxi_output_room - SX_ERR_IO where the disk of path has less room than an output of that many bytes
 * needs. */
sx_status sxi_output_room(const char *path, int64_t bytes);

/* sxi_output_target - where path really is (links followed), so that a link stays one. malloc'd;
 * NULL without memory. */
char *sxi_output_target(const char *path);

/* sxi_output_temporary - the name of the temporary file of process `pid` for a target; attempt is a
 * number for a second writer of that process and for what a killed one left, below
 * SXI_OUTPUT_ATTEMPTS. */
enum { SXI_OUTPUT_ATTEMPTS = 100 };
void sxi_output_temporary(const char *target, long pid, int attempt, char *name, size_t size);

/* sxi_output_publish - gives the temporary file its name. Without overwrite a file that appeared
 * meanwhile is kept (SX_ERR_EXISTS). SX_ERR_IO. The temporary file is gone in any case. */
sx_status sxi_output_publish(const char *temporary, const char *target, bool overwrite);

/* sxi_output_abandoned - removes what a process that died left of its output. */
void sxi_output_abandoned(const char *path, long pid);

#endif
