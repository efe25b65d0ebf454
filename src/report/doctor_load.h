/* SPDX-License-Identifier: Apache-2.0
 * Looks at libraries and programs without linking them. */
#ifndef SXI_DOCTOR_LOAD_H
#define SXI_DOCTOR_LOAD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sxi_blas {
    char configuration[192]; /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    char core[32];           /* the CPU whose kernels it chose: "Haswell" */
} sxi_blas;

/* sxi_blas_find - false where there is no OpenBLAS. */
bool sxi_blas_find(sxi_blas *blas);

/* sxi_gpu_find - whether the CUDA driver sees a GPU; text says which, or what is not there. */
bool sxi_gpu_find(char *text, size_t size);

/* sxi_cufile_find - whether files could be read straight into the memory of a GPU; text says how, or
 * what is not there. */
bool sxi_cufile_find(char *text, size_t size);

/* sxi_program_find - full path of a program on PATH. */
bool sxi_program_find(const char *name, char *path, size_t size);

#endif
