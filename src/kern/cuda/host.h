/* SPDX-License-Identifier: Apache-2.0
 * Stands in for the CUDA runtime where dcos.cu is compiled for the host: threads of a launch run one
 * after another, device memory is the host's. Tests run the bodies and the interface through it where
 * there is no GPU. FAKE_GPUS=0 in the environment: it has none. */
#ifndef SXI_KERN_CUDA_HOST_H
#define SXI_KERN_CUDA_HOST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __device__
#define __global__
#define __grid_constant__
#define SX_UNROLL
#define SX_UNROLL_TWICE
#define SX_LAUNCH(kernel, blocks, stream, work)                                                    \
    for (blockIdx.x = 0; blockIdx.x < (blocks); blockIdx.x++) {                                    \
        for (threadIdx.x = 0; threadIdx.x < SXI_BUNDLE; threadIdx.x++) {                           \
            kernel(work);                                                                          \
        }                                                                                          \
    }

struct sx_index {
    unsigned x;
};
static thread_local sx_index blockIdx, threadIdx;

static inline void atomicOr(uint32_t *bits, uint32_t more) { *bits |= more; }
static inline void atomicAnd(uint32_t *bits, uint32_t kept) { *bits &= kept; }

enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorNoDevice };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
typedef void *cudaStream_t;
struct cudaDeviceProp {
    char name[64];
};

static inline cudaError_t cudaDriverGetVersion(int *version) {
    *version = 1;
    return cudaSuccess;
}
static inline cudaError_t cudaGetDeviceCount(int *count) {
    const char *fake = getenv("FAKE_GPUS");
    *count = fake ? atoi(fake) : 1;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int) {
    strcpy(found->name, "stand-in of a GPU");
    return cudaSuccess;
}
static inline cudaError_t cudaMalloc(void **memory, size_t bytes) {
    *memory = malloc(bytes);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline void cudaFree(void *memory) { free(memory); }
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                                          cudaStream_t) {
    memcpy(to, from, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = NULL;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
static inline void cudaStreamDestroy(cudaStream_t) {}
static inline cudaError_t cudaGetLastError(void) { return cudaSuccess; }
static inline const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : "out of memory";
}

#endif
