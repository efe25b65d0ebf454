/* SPDX-License-Identifier: Apache-2.0
 * Arrays as results. */
#include "engine/darray.h"

#include <string.h>

#include "base/fail.h"
#include "engine/ranks.h"

sx_status sx_wait(sx_darray *array) {
    SXI_TRY(sxi_darray_check(array));
    return sxi_darray_settle(array);
}

sx_status sx_gather(sx_darray *array, sx_array *gathered) {
    const sx_array nothing = {0};
    sx_array all = {0};
    *gathered = nothing;
    SXI_TRY(sx_wait(array));
    sx_status status = SX_OK;
    if (sx_cluster_rank(array->cluster) == 0) {
        sxi_region region = {{0}, {0}};
        memcpy(region.count, array->shape, sizeof region.count);
        status = sx_array_create(array->dtype, array->rank, array->shape, &all);
        if (status == SX_OK) {
            status = sxi_region_read(array, &region, &all);
        }
    }
    status = sxi_ranks_agree(array->cluster, status);
    if (status == SX_OK) {
        *gathered = all;
    } else {
        sx_array_destroy(&all);
    }
    return status;
}
