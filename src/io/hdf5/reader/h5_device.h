/* SPDX-License-Identifier: Apache-2.0
 * Targets in memory of a device, which the processor cannot write to. */
#ifndef SXI_H5_DEVICE_H
#define SXI_H5_DEVICE_H

#include "io/hdf5/reader/h5_slab.h"

/* sxi_h5_place - places a box of values of type from in the target of a job, wherever that lies; to
 * is where the box begins in it. On the way to a device at most SXI_H5_SLAB_BYTES are held. The
 * lock is not needed and does no harm. SX_ERR_MEMORY, SX_ERR_IO. */
sx_status sxi_h5_place(const sxi_h5_job *job, const sxi_place_box *box, const unsigned char *source,
                       const sxi_place_type *from, unsigned char *to);

/* sxi_h5_device_write - bytes that were read already, as those of a run. */
sx_status sxi_h5_device_write(const sxi_h5_job *job, const unsigned char *bytes,
                              const sxi_h5_run *run);

/* sxi_h5_device_fetch - reads bytes of a file to the device of a walk: straight as far as the device
 * does that, the rest by way of the scratch of the worker. */
sx_status sxi_h5_device_fetch(const sxi_h5_walk *walk, sxi_h5_worker *worker, int fd,
                              const sxi_h5_run *run);

#endif
