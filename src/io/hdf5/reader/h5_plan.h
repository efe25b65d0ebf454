/* SPDX-License-Identifier: Apache-2.0
 * From boxes, over jobs, to slabs. Called under the lock. */
#ifndef SXI_H5_PLAN_H
#define SXI_H5_PLAN_H

#include "io/hdf5/reader/h5_slab.h"

typedef struct sxi_h5_plan sxi_h5_plan;

/* sxi_h5_plan_create - checks the boxes. Their arrays are referred to, the rest is copied. */
sx_status sxi_h5_plan_create(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                             sxi_h5_plan **created);
void sxi_h5_plan_destroy(sxi_h5_plan **plan);

/* sxi_h5_plan_work - bytes of all arrays, or of all filtered blocks that they meet. */
int64_t sxi_h5_plan_work(const sxi_h5_plan *plan);

/* sxi_h5_plan_next - the next slab, if there is one; to be given back by sxi_h5_plan_done. */
sx_status sxi_h5_plan_next(sxi_h5_plan *plan, sxi_h5_slab *slab, sxi_h5_next *next);
void sxi_h5_plan_done(sxi_h5_slab *slab);

#endif
