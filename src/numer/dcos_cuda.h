/* SPDX-License-Identifier: Apache-2.0
 * Minimisations on a GPU, by libsextant_cuda.so where it is found at run time.
 *
 * Compiled, not run: no GPU has run them yet. */
#ifndef SXI_DCOS_CUDA_H
#define SXI_DCOS_CUDA_H

#include <stdbool.h>

#include <sextant/status.h>

#include "kern/cuda/dcos_cuda.h"

/* Its functions; kern/cuda/dcos_cuda.h says what they do. */
typedef struct sxi_dcos_cuda {
    int (*create)(int64_t, const sxi_dcos_delays *, const sxi_dcos_even *, sxi_cuda_dcos **,
                  char *);
    void (*destroy)(sxi_cuda_dcos **);
    int (*minimise)(sxi_cuda_dcos *, int, const sxi_dcos_box *, int64_t, const double *,
                    const double *, sxi_dcos_bundle *, char *);
    int (*errors)(sxi_cuda_dcos *, int, int64_t, const double *, const double *, sxi_dcos_bundle *,
                  sxi_dcos_errors *, char *);
} sxi_dcos_cuda;

/* sxi_dcos_cuda_load - false: there is no library, or not one of this version. why says which, or
 * which file it is [SXI_CUDA_WHY]. find: its sxi_cuda_find; may be NULL. */
typedef int sxi_cuda_find_fn(char *);
bool sxi_dcos_cuda_load(sxi_dcos_cuda *cuda, sxi_cuda_find_fn **find, char *why);

/* sxi_dcos_cuda_open - SX_ERR_UNSUPPORTED, with a sentence: there is no library, driver or GPU. */
sx_status sxi_dcos_cuda_open(sxi_dcos_cuda *cuda);

/* Bundles that go to the GPU together; of one thread. */
typedef struct sxi_dcos_device sxi_dcos_device;
sx_status sxi_dcos_device_create(const sxi_dcos_cuda *cuda, const sxi_dcos_delays *delays,
                                 const sxi_dcos_even *even, sxi_dcos_device **device);
void sxi_dcos_device_destroy(sxi_dcos_device **device);

/* sxi_dcos_device_put - copies number i < SXI_DCOS_DEVICE_BUNDLES; w and y [n][SXI_BUNDLE], w NULL: 1
 * on even delays, for all or none. */
enum { SXI_DCOS_DEVICE_BUNDLES = 192 };
void sxi_dcos_device_put(sxi_dcos_device *device, int64_t i, const sxi_dcos_bundle *bundle,
                         const double *w, const double *y);

/* sxi_dcos_device_minimise - until none of the first `count` runs. SX_ERR_NUMERIC with what the
 * GPU says. */
sx_status sxi_dcos_device_minimise(sxi_dcos_device *device, int modes, const sxi_dcos_box *box,
                                   int64_t count);
const sxi_dcos_bundle *sxi_dcos_device_get(const sxi_dcos_device *device, int64_t i);

#endif
