/* SPDX-License-Identifier: Apache-2.0
 * The HDF5 library itself. */
#ifndef SXI_H5_LIBRARY_H
#define SXI_H5_LIBRARY_H

#include <stdbool.h>

typedef struct sxi_h5_library {
    char version[32]; /* of the library that runs, not of the headers */
    bool thread_safe;
    bool has_deflate, has_shuffle, has_szip;
    char plugin_path[512]; /* where filters are looked for, ":" between folders; "" nowhere */
} sxi_h5_library;

void sxi_h5_library_get(sxi_h5_library *library);

#endif
