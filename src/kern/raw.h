/* SPDX-License-Identifier: Apache-2.0
 * Values where files and callers put them: at any address. */
#ifndef SXI_RAW_H
#define SXI_RAW_H

#include <stdint.h>

#include <sextant/array.h>

#define SXI_RAW __attribute__((aligned(1), may_alias))

/* sxi_raw_F32 and so on */
#define SXI_RAW_TYPE(name, type, word) typedef type sxi_raw_##name SXI_RAW;
SX_DTYPE_LIST(SXI_RAW_TYPE)
#undef SXI_RAW_TYPE

#endif
