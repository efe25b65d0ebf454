/* SPDX-License-Identifier: Apache-2.0
 * The bodies of the damped-cosine fit with one lane a thread: a block of threads has a bundle, so
 * neighbours read what lies side by side. Products are fused where the bodies write so and nowhere
 * else (-fmad=false), which makes every operation the one that AVX2 and AVX-512 do.
 *
 * Compiled, not run: no GPU has run this yet. host.h in place of the CUDA runtime has. */
#define SX_LANES_CUDA

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define SX_UNROLL _Pragma("unroll")
#define SX_UNROLL_TWICE _Pragma("unroll 2")
#define SX_LAUNCH(kernel, blocks, stream, work) kernel<<<(blocks), SXI_BUNDLE, 0, (stream)>>>(work)
#endif

#include <stdio.h>
#include <stdlib.h>

#include "kern/cuda/dcos_cuda.h"
#include "kern/dcos_direct.kern.h"
#include "kern/dcos_errors.kern.h"
#include "kern/dcos_even.kern.h"

#include "kern/lanes_double.h"

#include "kern/dcos_divide_tmpl.h"

#define SX_EXPORT extern "C" __attribute__((visibility("default")))

/* What the threads of a bundle hand from one body to the next. */
typedef struct between {
    double middle[SXI_DCOS_MOST_MODES][SXI_BUNDLE], square[SXI_DCOS_MOST_MODES][SXI_BUNDLE];
    sxi_dcos_remainder rest[SXI_DCOS_MOST_MODES];
    sxi_dcos_sums sums;
} between;

/* A launch; pointers are the device's. */
typedef struct work {
    sxi_dcos_even even;
    sxi_dcos_delays delays;
    sxi_dcos_box box;
    const double *w, *y; /* [bundles][n][SXI_BUNDLE]; w may be NULL */
    sxi_dcos_bundle *bundle;
    sxi_dcos_errors *errors;
    between *room;
} work;

/* --- threads --- */

SX_FN void make_sums(const int modes, const work *all, int64_t b, int lane) {
    const sxi_dcos_bundle *bundle = &all->bundle[b];
    const int64_t samples = b * all->delays.n * SXI_BUNDLE;
    const double *y = all->y + samples;
    between *room = &all->room[b];
    if (all->w) {
        sx_direct_sums(modes, &all->delays, all->w + samples, y, lane, bundle, &room->sums);
    } else {
        SX_CHAIN chain[SXI_DCOS_MOST_MODES];
        for (int k = 0; k < modes; k++) {
            chain[k].mode = k;
            chain[k].lane = lane;
        }
        sx_divide_factors(modes, all->even.dx, bundle, lane, room->middle, room->square);
        divide_list_double(modes, chain, all->even.n, y, room->middle, room->square, room->rest);
        sx_even_sums(modes, &all->even, room->rest, bundle, lane, &room->sums);
    }
}

template <int MODES> __global__ void minimise(const __grid_constant__ work all) {
    const int64_t b = blockIdx.x;
    const int lane = (int)threadIdx.x;
    sxi_dcos_bundle *bundle = &all.bundle[b];
    while (sx_lanes_of(bundle->running, lane)) {
        make_sums(MODES, &all, b, lane);
        sx_step(MODES, &all.box, &all.room[b].sums, lane, bundle);
        sx_lanes_set(&bundle->fresh, lane, 0);
    }
}

template <int MODES> __global__ void errors(const __grid_constant__ work all) {
    const int64_t b = blockIdx.x;
    const int lane = (int)threadIdx.x;
    make_sums(MODES, &all, b, lane);
    sx_errors(MODES, &all.room[b].sums, lane, &all.bundle[b], &all.errors[b]);
}

/* --- the host's side --- */

struct sxi_cuda_dcos {
    int64_t bundles;
    size_t samples; /* bytes of those of a bundle */
    double *x, *y, *w;
    work all;
    cudaStream_t stream;
    bool streams;
};

static int fail(char *why, const char *what, cudaError_t error) {
    snprintf(why, SXI_CUDA_WHY, "%s: %s", what, cudaGetErrorString(error));
    return -1;
}

SX_EXPORT size_t sxi_cuda_dcos_layout(void) { return SXI_CUDA_DCOS_LAYOUT; }

SX_EXPORT int sxi_cuda_find(char why[SXI_CUDA_WHY]) {
    int driver = 0, count = 0;
    cudaDeviceProp found;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        snprintf(why, SXI_CUDA_WHY, "no CUDA driver (libcuda.so.1)");
        return -1;
    }
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) {
        error = cudaGetDeviceProperties(&found, 0);
    }
    if (error != cudaSuccess || count < 1) {
        return fail(why, "a CUDA driver, but no GPU that it can use", error);
    }
    snprintf(why, SXI_CUDA_WHY, "%s", found.name);
    return 0;
}

SX_EXPORT void sxi_cuda_dcos_destroy(sxi_cuda_dcos **cuda) {
    sxi_cuda_dcos *c = *cuda;
    if (c) {
        cudaFree(c->x);
        cudaFree(c->y);
        cudaFree(c->w);
        cudaFree(c->all.bundle);
        cudaFree(c->all.errors);
        cudaFree(c->all.room);
        if (c->streams) {
            cudaStreamDestroy(c->stream);
        }
        free(c);
        *cuda = NULL;
    }
}

/* Keeps the first error. */
template <typename T> static void reserve(T **memory, size_t bytes, cudaError_t *error) {
    if (*error == cudaSuccess) {
        *error = cudaMalloc((void **)memory, bytes);
    }
}

static void copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                 cudaError_t *error) {
    if (*error == cudaSuccess) {
        *error = cudaMemcpyAsync(to, from, bytes, kind, stream);
    }
}

/* An error of a kernel comes out where it is waited for. */
static cudaError_t wait_for(const sxi_cuda_dcos *cuda, cudaError_t error) {
    const cudaError_t end = cudaStreamSynchronize(cuda->stream);
    return error == cudaSuccess ? end : error;
}

SX_EXPORT int sxi_cuda_dcos_create(int64_t bundles, const sxi_dcos_delays *delays,
                                   const sxi_dcos_even *even, sxi_cuda_dcos **made,
                                   char why[SXI_CUDA_WHY]) {
    const size_t count = (size_t)bundles, n = (size_t)delays->n;
    cudaError_t error = cudaSuccess;
    sxi_cuda_dcos *c = (sxi_cuda_dcos *)calloc(1, sizeof *c);
    *made = NULL;
    if (!c) {
        return fail(why, "no memory for a fit on a GPU", cudaErrorMemoryAllocation);
    }
    c->bundles = bundles;
    c->samples = n * SXI_BUNDLE * sizeof(double);
    error = cudaStreamCreate(&c->stream);
    c->streams = error == cudaSuccess;
    reserve(&c->x, n * sizeof(double), &error);
    reserve(&c->y, count * c->samples, &error);
    reserve(&c->w, count * c->samples, &error);
    reserve(&c->all.bundle, count * sizeof(sxi_dcos_bundle), &error);
    reserve(&c->all.errors, count * sizeof(sxi_dcos_errors), &error);
    reserve(&c->all.room, count * sizeof(between), &error);
    copy(c->x, delays->x, n * sizeof(double), cudaMemcpyHostToDevice, c->stream, &error);
    if (c->streams) {
        error = wait_for(c, error);
    }
    if (error != cudaSuccess) {
        sxi_cuda_dcos_destroy(&c);
        return fail(why, "no room for a fit on the GPU", error);
    }
    c->all.even = *even;
    c->all.delays.n = delays->n;
    c->all.delays.dx = delays->dx;
    c->all.delays.x = c->x;
    c->all.y = c->y;
    *made = c;
    return 0;
}

/* Samples and bundles to the device. */
static cudaError_t send(sxi_cuda_dcos *c, int64_t count, const double *w, const double *y,
                        const sxi_dcos_bundle *bundle) {
    const size_t samples = (size_t)count * c->samples, bundles = (size_t)count * sizeof *bundle;
    cudaError_t error = cudaSuccess;
    c->all.w = w ? c->w : NULL;
    if (w) {
        copy(c->w, w, samples, cudaMemcpyHostToDevice, c->stream, &error);
    }
    copy(c->y, y, samples, cudaMemcpyHostToDevice, c->stream, &error);
    copy(c->all.bundle, bundle, bundles, cudaMemcpyHostToDevice, c->stream, &error);
    return error;
}

static bool fits(const sxi_cuda_dcos *cuda, int modes, int64_t count, char *why) {
    const bool good = modes >= 1 && modes <= SXI_DCOS_MOST_MODES && count <= cuda->bundles;
    if (!good) {
        snprintf(why, SXI_CUDA_WHY, "%lld bundles of %d modes: there is room for %lld of up to %d",
                 (long long)count, modes, (long long)cuda->bundles, (int)SXI_DCOS_MOST_MODES);
    }
    return good;
}

/* A kernel for each number of modes, so that loops over modes have a known end. */
#define SX_LAUNCH_MODES(kernel, modes, count, c)                                                   \
    switch (modes) {                                                                               \
    case 1:                                                                                        \
        SX_LAUNCH(kernel<1>, (unsigned)(count), (c)->stream, (c)->all);                            \
        break;                                                                                     \
    case 2:                                                                                        \
        SX_LAUNCH(kernel<2>, (unsigned)(count), (c)->stream, (c)->all);                            \
        break;                                                                                     \
    case 3:                                                                                        \
        SX_LAUNCH(kernel<3>, (unsigned)(count), (c)->stream, (c)->all);                            \
        break;                                                                                     \
    default:                                                                                       \
        SX_LAUNCH(kernel<4>, (unsigned)(count), (c)->stream, (c)->all);                            \
    }

SX_EXPORT int sxi_cuda_dcos_minimise(sxi_cuda_dcos *cuda, int modes, const sxi_dcos_box *box,
                                     int64_t count, const double *w, const double *y,
                                     sxi_dcos_bundle *bundle, char why[SXI_CUDA_WHY]) {
    if (!fits(cuda, modes, count, why)) {
        return -1;
    }
    cudaError_t error = send(cuda, count, w, y, bundle);
    cuda->all.box = *box;
    if (error == cudaSuccess && count > 0) {
        SX_LAUNCH_MODES(minimise, modes, count, cuda)
        error = cudaGetLastError();
    }
    error = wait_for(cuda, error); /* nothing is copied back from a launch that failed */
    copy(bundle, cuda->all.bundle, (size_t)count * sizeof *bundle, cudaMemcpyDeviceToHost,
         cuda->stream, &error);
    error = wait_for(cuda, error);
    return error == cudaSuccess ? 0 : fail(why, "a fit on the GPU", error);
}

SX_EXPORT int sxi_cuda_dcos_errors(sxi_cuda_dcos *cuda, int modes, int64_t count, const double *w,
                                   const double *y, sxi_dcos_bundle *bundle, sxi_dcos_errors *out,
                                   char why[SXI_CUDA_WHY]) {
    if (!fits(cuda, modes, count, why)) {
        return -1;
    }
    cudaError_t error = send(cuda, count, w, y, bundle);
    if (error == cudaSuccess && count > 0) {
        SX_LAUNCH_MODES(errors, modes, count, cuda)
        error = cudaGetLastError();
    }
    error = wait_for(cuda, error);
    copy(bundle, cuda->all.bundle, (size_t)count * sizeof *bundle, cudaMemcpyDeviceToHost,
         cuda->stream, &error);
    copy(out, cuda->all.errors, (size_t)count * sizeof *out, cudaMemcpyDeviceToHost, cuda->stream,
         &error);
    error = wait_for(cuda, error);
    return error == cudaSuccess ? 0 : fail(why, "errors of a fit on the GPU", error);
}
