/* SPDX-License-Identifier: Apache-2.0 */
#include "numer/dcos_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/load.h"

#define LIBRARY "libsextant_cuda.so"

bool sxi_dcos_cuda_load(sxi_dcos_cuda *cuda, sxi_cuda_find_fn **find, char *why) {
    typedef size_t layout_fn(void);
    layout_fn *layout = NULL;
    sxi_cuda_find_fn *found = NULL;
    /* Not closed: plans hold its functions. */
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        snprintf(why, SXI_CUDA_WHY, "no " LIBRARY ", which is built where nvcc is found");
        return false;
    }
    if (!SXI_LOAD(library, "sxi_cuda_dcos_layout", layout) || layout() != SXI_CUDA_DCOS_LAYOUT ||
        !SXI_LOAD(library, "sxi_cuda_find", found) ||
        !SXI_LOAD(library, "sxi_cuda_dcos_create", cuda->create) ||
        !SXI_LOAD(library, "sxi_cuda_dcos_destroy", cuda->destroy) ||
        !SXI_LOAD(library, "sxi_cuda_dcos_minimise", cuda->minimise) ||
        !SXI_LOAD(library, "sxi_cuda_dcos_errors", cuda->errors)) {
        snprintf(why, SXI_CUDA_WHY, LIBRARY " is of another version: build both from one tree");
        dlclose(library);
        return false;
    }
    if (find) {
        *find = found;
    }
    snprintf(why, SXI_CUDA_WHY, LIBRARY);
    return true;
}

sx_status sxi_dcos_cuda_open(sxi_dcos_cuda *cuda) {
    char why[SXI_CUDA_WHY];
    sxi_cuda_find_fn *find = NULL;
    if (!sxi_dcos_cuda_load(cuda, &find, why) || find(why) != 0) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "backend cuda: %s; backend auto takes the best of the processor", why);
    }
    return SX_OK;
}

struct sxi_dcos_device {
    sxi_dcos_cuda cuda;
    sxi_cuda_dcos *made;
    int64_t samples;
    bool weighted;
    double *w, *y;           /* [SXI_DCOS_DEVICE_BUNDLES][n][SXI_BUNDLE] */
    sxi_dcos_bundle *bundle; /* [SXI_DCOS_DEVICE_BUNDLES] */
};

sx_status sxi_dcos_device_create(const sxi_dcos_cuda *cuda, const sxi_dcos_delays *delays,
                                 const sxi_dcos_even *even, sxi_dcos_device **device) {
    const size_t count = SXI_DCOS_DEVICE_BUNDLES;
    const size_t samples = (size_t)delays->n * SXI_BUNDLE;
    char why[SXI_CUDA_WHY] = "";
    sx_status status = SX_OK;
    sxi_dcos_device *made = calloc(1, sizeof *made);
    *device = NULL;
    if (made) {
        made->cuda = *cuda;
        made->samples = (int64_t)samples;
        made->w = malloc(count * samples * sizeof(double));
        made->y = malloc(count * samples * sizeof(double));
        made->bundle = malloc(count * sizeof *made->bundle);
    }
    if (!made || !made->w || !made->y || !made->bundle) {
        SXI_GO(SXI_FAIL(SX_ERR_MEMORY, "no memory for bundles of traces of %lld delays",
                        (long long)delays->n));
    }
    if (cuda->create(SXI_DCOS_DEVICE_BUNDLES, delays, even, &made->made, why) != 0) {
        SXI_GO(SXI_FAIL(SX_ERR_MEMORY, "%s", why));
    }
    *device = made;
    made = NULL;
out:
    sxi_dcos_device_destroy(&made);
    return status;
}

void sxi_dcos_device_destroy(sxi_dcos_device **device) {
    sxi_dcos_device *d = *device;
    if (d) {
        d->cuda.destroy(&d->made);
        free(d->w);
        free(d->y);
        free(d->bundle);
        free(d);
        *device = NULL;
    }
}

void sxi_dcos_device_put(sxi_dcos_device *device, int64_t i, const sxi_dcos_bundle *bundle,
                         const double *w, const double *y) {
    const int64_t at = i * device->samples;
    const size_t bytes = (size_t)device->samples * sizeof(double);
    device->bundle[i] = *bundle;
    device->weighted = w != NULL;
    memcpy(device->y + at, y, bytes);
    if (w) {
        memcpy(device->w + at, w, bytes);
    }
}

sx_status sxi_dcos_device_minimise(sxi_dcos_device *device, int modes, const sxi_dcos_box *box,
                                   int64_t count) {
    char why[SXI_CUDA_WHY] = "";
    if (device->cuda.minimise(device->made, modes, box, count, device->weighted ? device->w : NULL,
                              device->y, device->bundle, why) != 0) {
        return SXI_FAIL(SX_ERR_NUMERIC, "%s", why);
    }
    return SX_OK;
}

const sxi_dcos_bundle *sxi_dcos_device_get(const sxi_dcos_device *device, int64_t i) {
    return &device->bundle[i];
}
