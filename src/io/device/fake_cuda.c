/* SPDX-License-Identifier: Apache-2.0
 * Enough of the CUDA driver for tests. Memory is taken only while a context is current. */
#include "io/device/fake.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct side {
    size_t x, y;
    int kind;
    const char *host;
    unsigned long long device;
    void *array;
    size_t pitch;
} side;

typedef struct copy {
    side source, target;
    size_t bytes, rows;
} copy;

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int number);
int cuCtxGetCurrent(void **context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuMemcpyHtoD_v2(unsigned long long target, const void *source, size_t bytes);
int cuMemcpy2D_v2(const copy *rows);
int cuStreamSynchronize(void *stream);

enum { NO_DEVICE = 100, NO_NUMBER = 101, INVALID_VALUE = 1, NO_CONTEXT = 201, DEEP = 8 };

static _Thread_local void *stack[DEEP];
static _Thread_local int depth;
static int primary;

static bool has_gpu(void) {
    const char *gpus = getenv("FAKE_GPUS");
    return !gpus || gpus[0] != '0';
}

int fake_cuda_held(void) { return primary; }

int cuInit(unsigned flags) { return flags == 0 && has_gpu() ? 0 : NO_DEVICE; }

int cuDeviceGet(int *device, int number) {
    *device = 7; /* not the number: CUDA does not promise that */
    return number == 0 ? 0 : NO_NUMBER;
}

int cuCtxGetCurrent(void **context) {
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = &primary;
    primary++;
    return device == 7 ? 0 : NO_NUMBER;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    primary--;
    return device == 7 ? 0 : NO_NUMBER;
}

int cuCtxPushCurrent_v2(void *context) {
    if (!context || depth == DEEP) {
        return INVALID_VALUE;
    }
    stack[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context) {
    if (depth == 0) {
        return NO_CONTEXT;
    }
    *context = stack[--depth];
    return 0;
}

int cuMemcpyHtoD_v2(unsigned long long target, const void *source, size_t bytes) {
    if (depth == 0) {
        return NO_CONTEXT;
    }
    if (target < FAKE_DEVICE) {
        return INVALID_VALUE;
    }
    memcpy((void *)(size_t)(target - FAKE_DEVICE), source, bytes);
    return 0;
}

int cuMemcpy2D_v2(const copy *rows) {
    if (rows->source.kind != 1 || rows->target.kind != 2 || rows->bytes > rows->source.pitch ||
        rows->bytes > rows->target.pitch) {
        return INVALID_VALUE;
    }
    int error = 0;
    for (size_t i = 0; i < rows->rows && error == 0; i++) {
        error = cuMemcpyHtoD_v2(rows->target.device + i * rows->target.pitch,
                                rows->source.host + i * rows->source.pitch, rows->bytes);
    }
    return error;
}

int cuStreamSynchronize(void *stream) { return stream || depth == 0 ? INVALID_VALUE : 0; }
