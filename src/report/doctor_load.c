/* SPDX-License-Identifier: Apache-2.0 */
#include "report/doctor_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/load.h"

bool sxi_blas_find(sxi_blas *blas) {
    typedef char *text_fn(void);
    text_fn *configuration = NULL, *core = NULL;
    void *library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        return false;
    }
    const bool found = SXI_LOAD(library, "openblas_get_config", configuration) &&
                       SXI_LOAD(library, "openblas_get_corename", core);
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
    if (!SXI_LOAD(library, "cuInit", init) || !SXI_LOAD(library, "cuDeviceGetCount", count) ||
        !SXI_LOAD(library, "cuDeviceGetName", name) || init(0) != 0 || count(&n) != 0 || n < 1 ||
        name(first, (int)sizeof first, 0) != 0) {
        snprintf(text, size, "a CUDA driver, but no GPU that it can use");
        return false;
    }
    snprintf(text, size, "%d x %s; sextant xani fit --backend cuda uses the first", n, first);
    return true;
}

bool sxi_cufile_find(char *text, size_t size) {
    void *library = dlopen("libcufile.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        snprintf(text, size, "no cuFile (libcufile.so.0)");
        return false;
    }
    dlclose(library);
    snprintf(text, size, "libcufile.so.0, %s; never run by us",
             access("/proc/driver/nvidia-fs", F_OK) == 0
                 ? "kernel driver nvidia-fs"
                 : "no kernel driver nvidia-fs, without which it may copy through memory");
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
