/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>

#include "base/load.h"
#include "engine/wire.h"

#define LIBRARY "libsextant_mpi.so"

bool sxi_wire_load(sxi_mpi_open_fn **open, sxi_mpi_version_fn **version, char *why) {
    sxi_mpi_layout_fn *layout = NULL;
    /* Not closed: MPI does not bear it. */
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, SXI_WIRE_WHY, "no MPI (%s)", reason ? reason : LIBRARY);
        return false;
    }
    if (!SXI_LOAD(library, "sxi_mpi_layout", layout) || layout() != SXI_WIRE_LAYOUT ||
        !SXI_LOAD(library, "sxi_mpi_open", *open) ||
        !SXI_LOAD(library, "sxi_mpi_version", *version)) {
        snprintf(why, SXI_WIRE_WHY, LIBRARY " is of another version: build both from one tree");
        return false;
    }
    return true;
}

bool sxi_wire_version(char *text, size_t size) {
    char why[SXI_WIRE_WHY];
    sxi_mpi_open_fn *open = NULL;
    sxi_mpi_version_fn *version = NULL;
    if (!sxi_wire_load(&open, &version, why)) {
        snprintf(text, size, "%s", why);
        return false;
    }
    version(text, size);
    return true;
}
