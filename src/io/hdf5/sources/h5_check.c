/* SPDX-License-Identifier: Apache-2.0
 * Whether everything is there that a virtual or externally stored dataset is made of, before H5Dread
 * fills with zeros what it does not find. */
#include "io/hdf5/sources/h5_external.h"
#include "io/hdf5/sources/h5_sources.h"
#include "io/hdf5/sources/h5_virtual.h"

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

/* The part of an open source that the mapping names lies inside it. Returns that part. */
static sx_status check_shape(const box *outer, const sxi_h5_mapping *mapping, const char *source,
                             const char *name, box *inner) {
    const sx_hdf5_dataset *about = &inner->entry->about;
    memcpy(inner->count, about->shape, sizeof about->shape);
    if (mapping->all) {
        const int64_t elements = sxi_h5_elements(about->rank, about->shape);
        return elements < mapping->elements
                   ? sxi_h5_source_small(outer->file, outer->entry->name, source, name, elements,
                                         mapping->elements)
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

/* Takes blocks of any place and size from a selection. */
static void take_blocks(hid_t rest, hid_t blocks, int rank) {
    const hssize_t count = H5Sget_select_hyper_nblocks(blocks);
    hsize_t *corners =
        count > 0 ? malloc((size_t)count * 2 * H5S_MAX_RANK * sizeof *corners) : NULL;
    if (corners && H5Sget_select_hyper_blocklist(blocks, 0, (hsize_t)count, corners) >= 0) {
        for (hssize_t i = 0; i < count; i++) {
            const hsize_t *low = corners + 2 * rank * i;
            hsize_t extent[H5S_MAX_RANK];
            for (int d = 0; d < rank; d++) {
                extent[d] = low[rank + d] - low[d] + 1;
            }
            H5Sselect_hyperslab(rest, H5S_SELECT_NOTB, low, NULL, extent, NULL);
        }
    }
    free(corners);
}

/* Takes what a mapping reaches from a selection of the virtual dataset. */
static void take_mapping(hid_t rest, const sxi_h5_mapping *mapping, hid_t target,
                         const sx_hdf5_dataset *about) {
    hsize_t start[H5S_MAX_RANK] = {0};
    hsize_t stride[H5S_MAX_RANK] = {0};
    hsize_t count[H5S_MAX_RANK] = {0};
    hsize_t block[H5S_MAX_RANK] = {0};
    const H5S_sel_type type = H5Sget_select_type(target);
    if (type == H5S_SEL_ALL) {
        H5Sselect_none(rest);
    } else if (type == H5S_SEL_HYPERSLABS && H5Sis_regular_hyperslab(target) > 0) {
        H5Sget_regular_hyperslab(target, start, stride, count, block);
        for (int d = 0; d < about->rank; d++) {
            const hsize_t end = (hsize_t)about->shape[d];
            if (block[d] == H5S_UNLIMITED) {
                block[d] = end > start[d] ? end - start[d] : 1;
            } else if (count[d] == H5S_UNLIMITED) {
                count[d] = mapping->numbered ? (hsize_t)mapping->series
                           : end > start[d]  ? (end - start[d]) / stride[d] + 1
                                             : 0;
            }
            if (count[d] == 0) {
                return;
            }
        }
        H5Sselect_hyperslab(rest, H5S_SELECT_NOTB, start, stride, count, block);
    } else if (type == H5S_SEL_HYPERSLABS) {
        take_blocks(rest, target, about->rank);
    }
}

sx_status sxi_h5_check_mapped(sx_hdf5 *file, sxi_h5_entry *entry, const int64_t *start,
                              const int64_t *count) {
    sxi_h5_mappings *mappings = NULL;
    hsize_t first[SX_MAX_RANK];
    hsize_t number[SX_MAX_RANK];
    SXI_TRY(sxi_h5_mappings_get(file, entry, &mappings));
    for (int d = 0; d < entry->about.rank; d++) {
        first[d] = (hsize_t)start[d];
        number[d] = (hsize_t)count[d];
    }
    hid_t created = H5Dget_create_plist(entry->id);
    hid_t rest = H5Dget_space(entry->id);
    H5Sselect_hyperslab(rest, H5S_SELECT_SET, first, NULL, number, NULL);
    for (size_t i = 0; i < mappings->count && H5Sget_select_npoints(rest) > 0; i++) {
        int64_t low = 0;
        int64_t end = 0;
        if (sxi_h5_mapping_meets(&mappings->mapping[i], start, count, &low, &end)) {
            hid_t target = H5Pget_virtual_vspace(created, i);
            take_mapping(rest, &mappings->mapping[i], target, &entry->about);
            H5Sclose(target);
        }
    }
    const hssize_t left = H5Sget_select_npoints(rest);
    H5Sclose(rest);
    H5Pclose(created);
    return left > 0 ? sxi_h5_not_mapped(file, entry, (int64_t)left) : SX_OK;
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
