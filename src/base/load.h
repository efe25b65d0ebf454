/* SPDX-License-Identifier: Apache-2.0
 * Functions of libraries that are not linked but looked for at run time. */
#ifndef SXI_LOAD_H
#define SXI_LOAD_H

#include <stdbool.h>
#include <stddef.h>

/* SXI_LOAD(library, "cuInit", init) - sets a function pointer from a library of dlopen; false, and
 * NULL, where the library has not got it. */
#define SXI_LOAD(library, name, function) sxi_load((library), (name), &(function), sizeof(function))
bool sxi_load(void *library, const char *name, void *function, size_t size);

#endif
