/* SPDX-License-Identifier: Apache-2.0
 * Whether everything is there that a virtual or externally stored dataset is made of, before H5Dread
 * fills with zeros what it does not find. */
#include "io/hdf5/h5_external.h"
#include "io/hdf5/h5_sources.h"
#include "io/hdf5/h5_virtual.h"

#include <stdlib.h>
#include <string.h>

/* A box of a dataset. */
typedef struct box {
    sx_hdf5 *file;
    sxi_h5_entry *entry;
    int64_t start[SX_MAX_RANK], count[SX_MAX_RANK];
    int depth;
} box;

static sx_status check_box(const box *asked);

static int64_t elements_of(const sx_hdf5_dataset *about) {
    int64_t elements = 1;
    for (int d = 0; d < about->rank; d++) {
        elements *= about->shape[d];
    }
    return elements;
}

/* The part of an open source that the mapping names lies inside it. Returns that part. */
static sx_status check_shape(const box *outer, const sxi_h5_mapping *mapping, const char *source,
                             const char *name, box *inner) {
    const sx_hdf5_dataset *about = &inner->entry->about;
    memcpy(inner->count, about->shape, sizeof about->shape);
    if (mapping->all) {
        return elements_of(about) < mapping->elements
                   ? sxi_h5_source_small(outer->file, outer->entry->name, source, name,
                                         elements_of(about), mapping->elements)
                   : SX_OK;
    }
    for (int d = 0; d < about->rank && about->rank == mapping->source.rank; d++) {
        const sxi_h5_axis *axis = &mapping->source.axis[d];
        const bool endless = axis->length >= SXI_H5_ENDLESS;
        const int64_t end = endless            ? about->shape[d]
                            : axis->length > 0 ? sxi_h5_axis_at(axis, axis->length - 1) + 1
                                               : axis->start;
        if (end > about->shape[d]) {
            return sxi_h5_source_short(outer->file, outer->entry->name, source, name, d,
                                       about->shape[d], end);
        }
        inner->start[d] = axis->start < end ? axis->start : end;
        inner->count[d] = end - inner->start[d];
    }
    return SX_OK;
}

static sx_status check_source(const box *outer, const sxi_h5_mapping *mapping, const char *source,
                              const char *name) {
    box inner = {.depth = outer->depth + 1};
    if (inner.depth > SXI_H5_DEPTH) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s:%s: virtual datasets are nested more than %d deep",
                        outer->file->path, outer->entry->name, SXI_H5_DEPTH);
    }
    SXI_TRY(sxi_h5_source_open(outer->file, outer->entry->name, source, name, &inner.file,
                               &inner.entry));
    sx_status status = check_shape(outer, mapping, source, name, &inner);
    if (status == SX_OK) {
        status = check_box(&inner);
    }
    sxi_h5_source_close(inner.file, inner.entry);
    return status;
}

static sx_status check_numbered(const box *asked, const sxi_h5_mapping *mapping, int64_t number) {
    char *source = sxi_h5_numbered(mapping->file, number);
    char *name = sxi_h5_numbered(mapping->name, number);
    sx_status status = source && name
                           ? check_source(asked, mapping, source, name)
                           : SXI_FAIL(SX_ERR_MEMORY, "no memory for the names of sources");
    free(source);
    free(name);
    return status;
}

static sx_status check_virtual(const box *asked) {
    sxi_h5_mappings *mappings = NULL;
    SXI_TRY(sxi_h5_mappings_get(asked->file, asked->entry, &mappings));
    for (size_t i = 0; i < mappings->count; i++) {
        sxi_h5_mapping *mapping = &mappings->mapping[i];
        int64_t first = 0;
        int64_t end = 0;
        if (mapping->checked ||
            !sxi_h5_mapping_meets(mapping, asked->start, asked->count, &first, &end)) {
            continue;
        }
        end = mapping->numbered && end > mapping->series ? mapping->series : end;
        for (int64_t number = first; number < end; number++) {
            SXI_TRY(check_numbered(asked, mapping, number));
        }
        mapping->checked = !mapping->numbered;
    }
    return SX_OK;
}

static sx_status check_box(const box *asked) {
    const sx_hdf5_layout layout = asked->entry->about.layout;
    sxi_h5_segments segments = {0};
    sx_status status = layout == SX_HDF5_VIRTUAL ? check_virtual(asked)
                       : layout == SX_HDF5_EXTERNAL
                           ? sxi_h5_external_get(asked->file, asked->entry, &segments)
                           : SX_OK;
    sxi_h5_external_free(&segments);
    return status;
}

sx_status sxi_h5_check_sources(sx_hdf5 *file, sxi_h5_entry *entry, const int64_t *start,
                               const int64_t *count) {
    box asked = {.file = file, .entry = entry};
    for (int d = 0; d < entry->about.rank; d++) {
        asked.start[d] = start[d];
        asked.count[d] = count[d];
    }
    entry->pins++; /* a source "." is opened in the same file */
    sx_status status = check_box(&asked);
    entry->pins--;
    return status;
}
