/* SPDX-License-Identifier: Apache-2.0
 * The file driver through which everything is read: HDF5's own way, with a switch to learn where
 * raw data lie instead of reading them. */
#ifndef SXI_H5_DRIVER_H
#define SXI_H5_DRIVER_H

#include "io/hdf5/h5_locked.h"

/* An open file of the driver. While `recording`, reads of raw data are noted and not done. */
typedef struct sxi_h5_disk {
    int fd;
    bool recording;
    int reads; /* noted; address and bytes are of the last */
    uint64_t address;
    size_t bytes;
} sxi_h5_disk;

/* sxi_h5_driver - its number for H5Pset_driver; negative on failure. Under the lock. */
hid_t sxi_h5_driver(void);

/* sxi_h5_disk_of - the part of an open file that lives in the driver; NULL on failure. Valid while
 * the file is open; fd may be read from by any thread. Under the lock. */
sxi_h5_disk *sxi_h5_disk_of(hid_t file);

#endif
