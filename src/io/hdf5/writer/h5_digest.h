/* SPDX-License-Identifier: Apache-2.0
 * The digest by which an input is recognised. */
#ifndef SXI_H5_DIGEST_H
#define SXI_H5_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <sextant/context.h>

/* sxi_digest_file - "xxh64:0123456789abcdef" of all bytes of a file of at most whole bytes, else
 * "xxh64-sampled:..." of its size, first and last MiB and 64 evenly spaced MiB; of a folder "xxh64-names:..." of the names and sizes of
 * its files. bytes: its size. context: NULL, or asked
 * whether to stop. */
sx_status sxi_digest_file(const char *path, int64_t whole, const sx_context *context,
                          int64_t *bytes, char *text, size_t size);

#endif
