/* SPDX-License-Identifier: Apache-2.0
 * Compiled, not run: no GPU has run this yet.
 *
 * The driver API of CUDA, declared here as far as it is needed, so that CUDA need not be there to
 * build. Source: cuda.h of CUDA 13.0; the names with _v2 are there since CUDA 4. */
#include <sextant/device.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/load.h"
#include "io/device/cufile.h"

enum {
    MEMORY_HOST = 1,
    MEMORY_DEVICE = 2,
};

/* The largest pitch of a copy of rows (CU_DEVICE_ATTRIBUTE_MAX_PITCH of every GPU so far). */
#define PITCH_MOST INT32_MAX

/* One side of a copy of rows. */
typedef struct side {
    size_t x, y;
    int kind;
    const void *host;
    unsigned long long device;
    void *array;
    size_t pitch;
} side;

/* CUDA_MEMCPY2D */
typedef struct copy {
    side source, target;
    size_t bytes, rows;
} copy;

typedef struct cuda {
    sx_hdf5_device device;
    int (*init)(unsigned);
    int (*device_get)(int *, int);
    int (*context_get_current)(void **);
    int (*primary_retain)(void **, int);
    int (*primary_release)(int);
    int (*context_push)(void *);
    int (*context_pop)(void **);
    int (*copy_bytes)(unsigned long long, const void *, size_t);
    int (*copy_rows)(const copy *);
    int (*synchronize)(void *);
    void *context;
    int gpu; /* whose primary context is retained; -1: none is */
    sxi_cufile *files;
} cuda;

static sx_status load(cuda *c) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "no CUDA driver (libcuda.so.1)");
    }
    const bool all = SXI_LOAD(library, "cuInit", c->init) &&
                     SXI_LOAD(library, "cuDeviceGet", c->device_get) &&
                     SXI_LOAD(library, "cuCtxGetCurrent", c->context_get_current) &&
                     SXI_LOAD(library, "cuDevicePrimaryCtxRetain", c->primary_retain) &&
                     SXI_LOAD(library, "cuDevicePrimaryCtxRelease_v2", c->primary_release) &&
                     SXI_LOAD(library, "cuCtxPushCurrent_v2", c->context_push) &&
                     SXI_LOAD(library, "cuCtxPopCurrent_v2", c->context_pop) &&
                     SXI_LOAD(library, "cuMemcpyHtoD_v2", c->copy_bytes) &&
                     SXI_LOAD(library, "cuMemcpy2D_v2", c->copy_rows) &&
                     SXI_LOAD(library, "cuStreamSynchronize", c->synchronize);
    return all ? SX_OK
               : SXI_FAIL(SX_ERR_UNSUPPORTED, "a CUDA driver (libcuda.so.1) of another version");
}

/* The caller's context, or the primary one of GPU 0. */
static sx_status find_context(cuda *c) {
    int gpu = 0;
    c->gpu = -1;
    int error = c->init(0);
    if (error == 0 && c->context_get_current(&c->context) == 0 && c->context) {
        return SX_OK;
    }
    error = error == 0 ? c->device_get(&gpu, 0) : error;
    error = error == 0 ? c->primary_retain(&c->context, gpu) : error;
    if (error != 0) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "a CUDA driver, but no GPU that it can use (error %d)",
                        error);
    }
    c->gpu = gpu;
    return SX_OK;
}

/* Makes the context that of the calling thread for a while, as threads are lent by callers. */
static bool enter(const cuda *c) { return c->context_push(c->context) == 0; }

static void leave(const cuda *c) {
    void *context = NULL;
    c->context_pop(&context);
}

static int copy_to(const cuda *c, const sx_hdf5_rows *rows) {
    if (rows->rows > 1 && rows->source_pitch <= PITCH_MOST && rows->target_pitch <= PITCH_MOST) {
        const copy all = {.source = {.kind = MEMORY_HOST,
                                     .host = rows->source,
                                     .pitch = (size_t)rows->source_pitch},
                          .target = {.kind = MEMORY_DEVICE,
                                     .device = (uintptr_t)rows->target,
                                     .pitch = (size_t)rows->target_pitch},
                          .bytes = (size_t)rows->bytes,
                          .rows = (size_t)rows->rows};
        return c->copy_rows(&all);
    }
    int error = 0;
    for (int64_t i = 0; i < rows->rows && error == 0; i++) {
        error =
            c->copy_bytes((uintptr_t)rows->target + (uintptr_t)(i * rows->target_pitch),
                          (const char *)rows->source + i * rows->source_pitch, (size_t)rows->bytes);
    }
    return error;
}

static bool write_rows(void *data, const sx_hdf5_rows *rows) {
    const cuda *c = data;
    if (!enter(c)) {
        return false;
    }
    int error = copy_to(c, rows);
    /* A copy of memory that is not pinned may return before the GPU has it all. */
    error = error == 0 ? c->synchronize(NULL) : error;
    leave(c);
    return error == 0;
}

static int64_t read_file(void *data, int fd, int64_t offset, void *target, int64_t bytes) {
    const cuda *c = data;
    if (!enter(c)) {
        return -1;
    }
    const int64_t got = sxi_cufile_read(c->files, fd, offset, target, bytes);
    leave(c);
    return got;
}

/* Takes cuFile in if it is there. SX_OK also if not. */
static sx_status find_files(cuda *c, char *reason, size_t size) {
    if (!enter(c)) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "the CUDA context is not to be used");
    }
    const sx_status status = sxi_cufile_open(&c->files);
    leave(c);
    if (reason && size > 0) {
        snprintf(reason, size, "%s", status == SX_OK ? "" : sx_error_message());
    }
    c->device.read = status == SX_OK ? read_file : NULL;
    return status == SX_ERR_UNSUPPORTED ? SX_OK : status;
}

sx_status sx_device_open(sx_hdf5_device **device, char *reason, size_t size) {
    *device = NULL;
    sx_status status = SX_OK;
    cuda *c = calloc(1, sizeof *c);
    if (!c) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a device");
    }
    c->gpu = -1;
    c->device = (sx_hdf5_device){.data = c, .write = write_rows};
    sx_hdf5_device *opened = &c->device;
    SXI_GO(load(c));
    SXI_GO(find_context(c));
    SXI_GO(find_files(c, reason, size));
    *device = opened;
    opened = NULL;
out:
    sx_device_close(&opened);
    return status;
}

void sx_device_close(sx_hdf5_device **device) {
    if (!*device) {
        return;
    }
    cuda *c = (*device)->data;
    if (c->files) {
        const bool entered = enter(c);
        sxi_cufile_close(&c->files);
        if (entered) {
            leave(c);
        }
    }
    if (c->gpu >= 0) {
        c->primary_release(c->gpu);
    }
    free(c);
    *device = NULL;
}
