/* SPDX-License-Identifier: Apache-2.0 */
#include "base/load.h"

#include <dlfcn.h>
#include <string.h>

bool sxi_load(void *library, const char *name, void *function, size_t size) {
    /* ISO C has no conversion from an object pointer to a function; POSIX promises the bytes. */
    void *found = dlsym(library, name);
    memcpy(function, &found, size);
    return found != NULL;
}
