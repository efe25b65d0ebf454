/* SPDX-License-Identifier: Apache-2.0
 * The mappings of a virtual dataset: which part of it comes from which part of which source. All of
 * it is called under the lock. */
#ifndef SXI_H5_VIRTUAL_H
#define SXI_H5_VIRTUAL_H

#include "io/hdf5/h5_locked.h"
#include "io/hdf5/sources/h5_mapping.h"

/* Parts of the virtual dataset and of a source that are equal, element by element. */
typedef struct sxi_h5_mapping {
    char *file; /* "." for the same; of a numbered one with %b for the number */
    char *name;
    sxi_h5_selection target; /* in the virtual dataset; of a numbered mapping that of source 0 */
    sxi_h5_selection source; /* of `all` of no use before its shape is known */
    bool all;                /* all of the source, which has shape_known or must be opened */
    bool shape_known;
    int endless;      /* axis of target without end; -1: none */
    bool numbered;    /* a source for every step of the endless axis */
    int64_t step;     /* numbered: from source to source along that axis */
    int64_t series;   /* numbered: how many sources there were when the dataset was opened */
    int64_t elements; /* of target (numbered: of one source); -1: no end */
    bool checked;     /* its source was found; for reads through H5Dread */
} sxi_h5_mapping;

typedef struct sxi_h5_mappings {
    size_t count;
    sxi_h5_mapping *mapping;
    char reason[128]; /* why boxes cannot be cut into boxes of sources; "" if they can. Irregular
                         selections are then known by their bounds */
} sxi_h5_mappings;

/* sxi_h5_mappings_get - of the entry of a virtual dataset, read when first asked for; the entry owns
 * them. */
sx_status sxi_h5_mappings_get(sx_hdf5 *file, sxi_h5_entry *entry, sxi_h5_mappings **mappings);
/* sxi_h5_mappings_refresh - counts numbered sources anew, for an extent that has grown. */
sx_status sxi_h5_mappings_refresh(sx_hdf5 *file, sxi_h5_entry *entry);
void sxi_h5_mappings_free(sxi_h5_mappings **mappings);

/* sxi_h5_mapping_meets - whether a box of the virtual dataset meets a mapping.
 *
 * out  first, end  numbered: the sources that it meets; otherwise 0 and 1 */
bool sxi_h5_mapping_meets(const sxi_h5_mapping *mapping, const int64_t *start, const int64_t *count,
                          int64_t *first, int64_t *end);

/* sxi_h5_not_mapped - SX_ERR_MISSING: so many elements have no source. */
sx_status sxi_h5_not_mapped(const sx_hdf5 *file, const sxi_h5_entry *entry, int64_t elements);

/* sxi_h5_numbered - the name of source `number`: it for "%b", "%" for "%%"; malloc'd, NULL without
 * memory. */
char *sxi_h5_numbered(const char *pattern, int64_t number);

#endif
