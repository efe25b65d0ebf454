/* SPDX-License-Identifier: Apache-2.0
 * Files that a program is writing (HDF5's SWMR: single writer, multiple readers). HDF5 keeps what it
 * has read of them; asked to, it looks again how far the writer has come. */
#include "io/hdf5/reader/h5_slab.h"
#include "io/hdf5/sources/h5_virtual.h"

#include <string.h>

bool sx_hdf5_is_live(const sx_hdf5 *file) { return file->live; }

static sx_status look_again(const sx_hdf5 *file, const sxi_h5_entry *entry) {
    char reason[SXI_H5_REASON];
    return H5Drefresh(entry->id) >= 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_IO, "%s:%s is being written and cannot be looked up anew: %s",
                          file->path, entry->name, sxi_h5_reason(reason, sizeof reason));
}

/* The new extents. A read under way on another thread goes on: it looks at them under the lock only,
 * and its blocks do not change. */
static sx_status refresh_entry(sx_hdf5 *file, sxi_h5_entry *entry) {
    sx_hdf5_dataset about = entry->about;
    SXI_TRY(look_again(file, entry));
    SXI_TRY(sxi_h5_describe_space(file->path, entry->name, entry->id, &about));
    if (about.rank != entry->about.rank) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s:%s had %d axes and now has %d", file->path, entry->name,
                        entry->about.rank, about.rank);
    }
    for (int d = 0; d < about.rank; d++) {
        entry->about.shape[d] = about.shape[d];
        entry->storage.shape[d] = about.shape[d];
    }
    if (about.layout == SX_HDF5_CONTIGUOUS) {
        entry->storage.address = H5Dget_offset(entry->id);
    }
    return about.layout == SX_HDF5_VIRTUAL ? sxi_h5_mappings_refresh(file, entry) : SX_OK;
}

/* Datasets of the files that a virtual dataset is made of. */
static sx_status refresh_sources(sx_hdf5 *file) {
    for (sx_hdf5 *source = file->sources; source; source = source->next) {
        for (sxi_h5_entry *each = source->entries; each && source->live; each = each->next) {
            SXI_TRY(refresh_entry(source, each));
        }
    }
    return SX_OK;
}

sx_status sx_hdf5_refresh(sx_hdf5 *file, const char *name, sx_hdf5_dataset *dataset) {
    sxi_h5_entry *entry = NULL;
    sxi_h5_enter();
    sx_status status = sxi_h5_entry_get(file, name, &entry);
    if (status == SX_OK && entry->about.layout == SX_HDF5_VIRTUAL) {
        status = refresh_sources(file);
    }
    if (status == SX_OK && file->live) {
        status = refresh_entry(file, entry);
    }
    if (status == SX_OK) {
        *dataset = entry->about;
    }
    sxi_h5_leave();
    return status;
}

sx_status sxi_h5_slab_again(sxi_h5_slab *slab) {
    sxi_h5_enter();
    sx_status status = look_again(slab->walk->job.file, slab->walk->job.entry);
    if (status == SX_OK) {
        status = sxi_h5_slab_blocks(slab);
    }
    sxi_h5_leave();
    return status;
}
