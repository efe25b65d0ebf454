/* SPDX-License-Identifier: Apache-2.0
 * Which reading a layout makes slow, and how to store the data otherwise. */
#ifndef SXI_H5_ADVICE_H
#define SXI_H5_ADVICE_H

#include <stddef.h>

#include <sextant/hdf5.h>

/* sxi_h5_advice - one line for each thing that will be slow, then the h5repack command that mends it;
 * "" for layouts that are well.
 *
 * in   path, name  of file and dataset
 * in   about       chunked data of at least 16 MB are judged
 * out  text        [size] */
void sxi_h5_advice(const char *path, const char *name, const sx_hdf5_dataset *about, char *text,
                   size_t size);

#endif
