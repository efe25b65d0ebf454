/* SPDX-License-Identifier: Apache-2.0
 * Stand-ins of libcuda.so.1 and libcufile.so.0 for tests without a GPU. */
#ifndef FAKE_H
#define FAKE_H

/* The address on the "device" of an address of the host. Nobody can use it by mistake: the machine
 * has no such addresses. */
#define FAKE_DEVICE (1ull << 62)

/* What is held of a stand-in; 0 when all was given back. */
typedef int fake_held_fn(void);
int fake_cuda_held(void);   /* primary contexts */
int fake_cufile_held(void); /* handles */

/* Environment: FAKE_GPUS=0, FAKE_REFUSE=1 (of files). */

#endif
