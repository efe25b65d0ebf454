/* SPDX-License-Identifier: Apache-2.0
 * The plan of a read: a box of a dataset on its way to memory, and how a virtual dataset is cut into
 * boxes of its sources. All of it is called under the lock. */
#ifndef SXI_H5_JOB_H
#define SXI_H5_JOB_H

#include "io/hdf5/h5_locked.h"
#include "kern/place.h"

/* Where values go: element (i0, i1, ...) of the box, counted from its start, lies at
 * data + sum i[d] * stride[d] bytes. */
typedef struct sxi_h5_target {
    sxi_place_type type;
    unsigned char *data;
    const sx_hdf5_device *device; /* in whose memory data lies; NULL: the processor's */
    int64_t stride[SX_MAX_RANK];  /* bytes, of the axes of the dataset */
    int box;                      /* number of the box of the request */
    int axis[SX_MAX_RANK];        /* which axis of the array of that box; -1: an axis of one element
                                    that it has not got */
    int64_t step[SX_MAX_RANK];    /* elements of the array per element of the dataset */
    int64_t origin[SX_MAX_RANK];  /* [rank of the array] where the box lies in the array */
} sxi_h5_target;

/* A box of one dataset. */
typedef struct sxi_h5_job {
    sx_hdf5 *file;
    sxi_h5_entry *entry; /* pinned while the job lives */
    int64_t start[SX_MAX_RANK];
    int64_t count[SX_MAX_RANK];
    sxi_h5_target target;
} sxi_h5_job;

/* A part of a job on a virtual dataset that one source fills; the same box, in the source. */
typedef struct sxi_h5_link {
    const char *file; /* as the mapping names it, "." for the same; owned by the list */
    const char *name;
    int rank; /* of the source */
    int64_t start[SX_MAX_RANK];
    int64_t count[SX_MAX_RANK];
    sxi_h5_target target;
} sxi_h5_link;

typedef struct sxi_h5_text sxi_h5_text;

typedef struct sxi_h5_links {
    int64_t count;
    sxi_h5_link *link;
    sxi_h5_text *texts; /* what file and name point to */
} sxi_h5_links;

/* sxi_h5_virtual_links - cuts a job on a virtual dataset into parts with one source each, in the
 * order of the mappings (printf names expanded). What no mapping reaches is filled with the fill value,
 * or is SX_ERR_MISSING by the rule of sx_hdf5_missing. Sources are
 * opened only where their shape decides which part is theirs.
 *
 * out  reason  NULL, or why this box cannot be cut (an irregular selection, mappings that overlap,
 *              ...) and must be left to H5Dread; then there are no links. Valid with the entry
 *
 * The caller frees with sxi_h5_links_free. */
sx_status sxi_h5_virtual_links(const sxi_h5_job *job, sx_hdf5_missing missing, sxi_h5_links *links,
                               const char **reason);
void sxi_h5_links_free(sxi_h5_links *links);

/* sxi_h5_link_open - opens (or finds open) the file and dataset of a link, checks that the box lies
 * inside the source, and makes a job of it. At most SXI_H5_SOURCES files stay open in the
 * file of the virtual dataset beyond those in use. SX_ERR_MISSING names file and dataset. */
sx_status sxi_h5_link_open(const sxi_h5_job *outer, const sxi_h5_link *link, sxi_h5_job *job);

/* sxi_h5_job_close - unpins the entry, and the file if it is a source. */
void sxi_h5_job_close(sxi_h5_job *job);

#endif
