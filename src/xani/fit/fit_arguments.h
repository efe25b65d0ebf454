/* SPDX-License-Identifier: Apache-2.0
 * What was fitted, as the caller named it: kept in fit.h5, and found again from there. */
#ifndef SXI_XANI_FIT_ARGUMENTS_H
#define SXI_XANI_FIT_ARGUMENTS_H

#include <sextant/xani.h>

#include "io/hdf5/h5file.h"

enum { SXI_ARGUMENTS = 8, SXI_ARGUMENT_BYTES = 4096 };

typedef struct sxi_fit_arguments {
    sx_xani_input input; /* its texts lie in text */
    char text[SXI_ARGUMENTS][SXI_ARGUMENT_BYTES];
    char folder[SXI_ARGUMENT_BYTES]; /* from which relative paths counted; "" unknown */
} sxi_fit_arguments;

/* sxi_fit_arguments_write - /provenance/arguments: every argument given, and the working folder. */
sx_status sxi_fit_arguments_write(const sx_xani_input *input, sxi_h5_writer *writer);

/* sxi_fit_arguments_read - what write has kept. SX_ERR_MISSING if the file names no input. */
sx_status sxi_fit_arguments_read(sx_hdf5 *file, sxi_fit_arguments *arguments);

/* sxi_fit_arguments_find - puts the places in which the files lie now in place of their names: where
 * they were, else as they were named, else beside fit.
 *
 * in   replacement  NULL, or the file to take for the cube, or for that which held the signal
 *
 * SX_ERR_MISSING with the places looked at. */
sx_status sxi_fit_arguments_find(const char *fit, const char *replacement,
                                 sxi_fit_arguments *arguments);

#endif
