/* SPDX-License-Identifier: Apache-2.0
 * The memory of a GPU as the target of sx_hdf5_read: CUDA copies to it, and cuFile (GPUDirect
 * Storage) reads files straight into it. Both are looked for at run time.
 *
 * Compiled, not run: no GPU has run this yet. It is tested over stand-ins of the two libraries. */
#ifndef SEXTANT_DEVICE_H
#define SEXTANT_DEVICE_H

#include <stddef.h>

#include <sextant/hdf5.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sx_device_open - the GPU of the CUDA context that is current in this thread; without one GPU 0, of
 * which the primary context is kept.
 *
 * out  device  for sx_hdf5_options.device; NULL on failure
 * out  reason  [size] why files will not be read straight into it but by way of the host; "" if they
 *              are. NULL allowed
 *
 * SX_ERR_UNSUPPORTED without CUDA driver or GPU. The process must not fork afterwards, by a rule of
 * CUDA. A file is registered with cuFile once; some stay registered, and open, until the close. */
SX_API sx_status sx_device_open(sx_hdf5_device **device, char *reason, size_t size);

/* sx_device_close - no read into it may be under way. NULL allowed. */
SX_API void sx_device_close(sx_hdf5_device **device);

#ifdef __cplusplus
}
#endif
#endif
