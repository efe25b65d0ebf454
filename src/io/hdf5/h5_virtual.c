/* SPDX-License-Identifier: Apache-2.0
 * Virtual datasets, which are left to the HDF5 library so far. */
#include "io/hdf5/h5_job.h"

sx_status sxi_h5_virtual_links(const sxi_h5_job *job, sx_hdf5_missing missing, sxi_h5_links *links,
                               const char **reason) {
    (void)job;
    (void)missing;
    *links = (sxi_h5_links){0};
    *reason = "a virtual dataset";
    return SX_OK;
}

void sxi_h5_links_free(sxi_h5_links *links) { *links = (sxi_h5_links){0}; }

sx_status sxi_h5_link_open(const sxi_h5_job *outer, const sxi_h5_link *link, sxi_h5_job *job) {
    *job = *outer;
    return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s is not followed", link->name);
}

void sxi_h5_job_close(sxi_h5_job *job) { job->entry->pins--; }
