/* SPDX-License-Identifier: Apache-2.0
 * What libsextant_cuda.so offers to the damped-cosine fit. The library is not linked but looked for at
 * run time (numer/dcos_cuda.h), so one build of Sextant runs with and without a GPU.
 *
 * Bundles, samples and weights are those of kern/dcos_kernels.h, many bundles one after another and
 * all in one launch; a thread has one trace from its start to its end. All memory that is passed is
 * the host's. */
#ifndef SXI_KERN_DCOS_CUDA_H
#define SXI_KERN_DCOS_CUDA_H

#include <stddef.h>

#include "kern/dcos_kernels.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A stream of a GPU and its memory for so many bundles; for one thread at a time. */
typedef struct sxi_cuda_dcos sxi_cuda_dcos;

/* Room for a sentence that says what went wrong. */
enum { SXI_CUDA_WHY = 256 };

/* sxi_cuda_dcos_layout - bytes of what crosses this interface: a library that was built with other
 * ones is of another version. */
size_t sxi_cuda_dcos_layout(void);
#define SXI_CUDA_DCOS_LAYOUT                                                                       \
    (sizeof(sxi_dcos_bundle) + sizeof(sxi_dcos_errors) + sizeof(sxi_dcos_box) +                    \
     sizeof(sxi_dcos_even))

/* sxi_cuda_find - whether there is a GPU; 0: its name is in why. */
int sxi_cuda_find(char why[SXI_CUDA_WHY]);

/* sxi_cuda_dcos_create - room for so many bundles, >= 1, of traces with these delays. even: not read
 * where delays are not even. 0: made; else made is NULL. */
int sxi_cuda_dcos_create(int64_t bundles, const sxi_dcos_delays *delays, const sxi_dcos_even *even,
                         sxi_cuda_dcos **made, char why[SXI_CUDA_WHY]);
void sxi_cuda_dcos_destroy(sxi_cuda_dcos **cuda);

/* sxi_cuda_dcos_minimise - sums and steps until no lane of any bundle is running.
 *
 * in     w       [count][n][SXI_BUNDLE]  weights of each trace; NULL: even delays, weights 1
 * in     y       [count][n][SXI_BUNDLE]
 * in,out bundle  [count]                 as sxi_dcos_kernels.step takes and leaves them
 *
 * 0: done; else bundle is as before. */
int sxi_cuda_dcos_minimise(sxi_cuda_dcos *cuda, int modes, const sxi_dcos_box *box, int64_t count,
                           const double *w, const double *y, sxi_dcos_bundle *bundle,
                           char why[SXI_CUDA_WHY]);

/* sxi_cuda_dcos_errors - sums at theta, then what sxi_dcos_kernels.errors gives, of all lanes. */
int sxi_cuda_dcos_errors(sxi_cuda_dcos *cuda, int modes, int64_t count, const double *w,
                         const double *y, sxi_dcos_bundle *bundle, sxi_dcos_errors *errors,
                         char why[SXI_CUDA_WHY]);

#if defined(__cplusplus)
}
#endif

#endif
