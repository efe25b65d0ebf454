/* SPDX-License-Identifier: Apache-2.0 */
#include "report/doctor_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ISO C has no conversion from an object pointer to a function; POSIX promises the bytes. */
#define LOAD(library, name, function) load((library), (name), &(function), sizeof(function))

static bool load(void *library, const char *name, void *function, size_t size) {
    void *found = dlsym(library, name);
    memcpy(function, &found, size);
    return found != NULL;
}

bool sxi_blas_find(sxi_blas *blas) {
    typedef char *text_fn(void);
    text_fn *configuration = NULL, *core = NULL;
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        return false;
    }
    const bool found = LOAD(library, "openblas_get_config", configuration) &&
                       LOAD(library, "openblas_get_corename", core);
    if (found) {
        snprintf(blas->configuration, sizeof blas->configuration, "%s", configuration());
        snprintf(blas->core, sizeof blas->core, "%s", core());
        /* The configuration ends with its own list of kernels and of threads. */
        char *end = strstr(blas->configuration, " NO_");
        if (end) {
            *end = '\0';
        }
    }
    /* Not closed: its threads would lose the ground under their feet. */
    return found;
}

bool sxi_gpu_find(char *text, size_t size) {
    typedef int init_fn(unsigned), count_fn(int *), name_fn(char *, int, int);
    init_fn *init = NULL;
    count_fn *count = NULL;
    name_fn *name = NULL;
    int n = 0;
    char first[128] = "";
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        snprintf(text, size, "no CUDA driver (libcuda.so.1)");
        return false;
    }
    if (!LOAD(library, "cuInit", init) || !LOAD(library, "cuDeviceGetCount", count) ||
        !LOAD(library, "cuDeviceGetName", name) || init(0) != 0 || count(&n) != 0 || n < 1 ||
        name(first, (int)sizeof first, 0) != 0) {
        snprintf(text, size, "a CUDA driver, but no GPU that it can use");
        return false;
    }
    snprintf(text, size, "%d x %s; this build does not use it", n, first);
    return true;
}

bool sxi_program_find(const char *name, char *path, size_t size) {
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        const int length = (int)strcspn(folder, ":");
        snprintf(path, size, "%.*s/%s", length, folder, name);
        if (access(path, X_OK) == 0) {
            return true;
        }
        folder += length + (folder[length] == ':');
    }
    return false;
}
