/* SPDX-License-Identifier: Apache-2.0
 * Every object of a file, in time that grows with their number only. */
#ifndef SXI_H5_VISIT_H
#define SXI_H5_VISIT_H

#include "io/hdf5/h5_locked.h"

typedef struct sxi_h5_visitor {
    /* An object met for the first time; id is negative where it cannot be opened. name: "/a/b", of the
     * root group "/". Returns false to stop. */
    bool (*object)(void *data, const char *name, hid_t id);
    /* Then each link of a group that is not hard. parent: "/a", of the root group "". */
    bool (*link)(void *data, hid_t group, const char *parent, const char *name,
                 const H5L_info_t *info);
    void *data;
} sxi_h5_visitor;

/* sxi_h5_visit - under the lock; in name order, groups before what they hold. Hard links may go in
 * circles. SX_ERR_FORMAT where a group cannot be listed, SX_ERR_MEMORY. */
sx_status sxi_h5_visit(sx_hdf5 *file, const sxi_h5_visitor *visitor);

#endif
