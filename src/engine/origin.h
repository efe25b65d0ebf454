/* SPDX-License-Identifier: Apache-2.0
 * The files that arrays come from, for the provenance of what is made of them. */
#ifndef SXI_ORIGIN_H
#define SXI_ORIGIN_H

#include "engine/darray.h"

typedef struct sxi_origins {
    int n;
    const char *path[SXI_ORIGINS]; /* of the arrays that were added; those beyond are left out */
} sxi_origins;

/* sxi_origins_add - those of an array, each path once. */
void sxi_origins_add(sxi_origins *origins, const sx_darray *array);

/* sxi_origins_keep - a stored array remembers them. A path for which there is no memory is left out. */
void sxi_origins_keep(const sxi_origins *origins, sx_darray *array);

#endif
