/* SPDX-License-Identifier: Apache-2.0
 * Cutting a box of a virtual dataset into boxes of its sources. */
#include "io/hdf5/reader/h5_device.h"
#include "io/hdf5/sources/h5_sources.h"
#include "io/hdf5/sources/h5_virtual.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this HDF5, which walks single elements as well, is as good. */
enum { LINKS_MOST = 65536, PAIRS = 2 * SX_MAX_RANK };

/* Holes of more boxes than that are filled with all that lies between. */
enum { HOLES_MOST = 1024 };

/* Text that links point to. */
struct sxi_h5_text {
    sxi_h5_text *next;
    char text[];
};

typedef struct cutter {
    const sxi_h5_job *job;
    sxi_h5_links *links;
    int64_t room;    /* links for which there is memory */
    int64_t allowed; /* links before there are too many */
    int64_t reached; /* elements of the box that have a source */
    /* Boxes of those, without such that have gaps. */
    sxi_h5_range *box;
    int64_t boxes, box_room;
    const char *reason;
} cutter;

/* A source, and what of it a mapping wants. */
typedef struct part {
    const char *file, *name;
    sxi_h5_selection target, source;
} part;

/* Runs along one pair of axes: at and to are the current one. */
typedef struct track {
    sxi_h5_pair pair;
    sxi_h5_axis target, source;
    int64_t first, end;
    int64_t at, to;
} track;

static const char *keep_text(cutter *cut, const char *pattern, int64_t number) {
    char *text = sxi_h5_numbered(pattern, number);
    const size_t size = text ? strlen(text) + 1 : 0;
    sxi_h5_text *kept = text ? malloc(sizeof *kept + size) : NULL;
    if (kept) {
        memcpy(kept->text, text, size);
        kept->next = cut->links->texts;
        cut->links->texts = kept;
    }
    free(text);
    return kept ? kept->text : NULL;
}

/* The link of the current runs. */
static void set_link(const cutter *cut, const part *piece, int count, const track *tracks,
                     sxi_h5_link *link) {
    const sxi_h5_target *outer = &cut->job->target;
    *link = (sxi_h5_link){.file = piece->file, .name = piece->name, .rank = piece->source.rank};
    link->target = *outer;
    for (int d = 0; d < SX_MAX_RANK; d++) {
        link->count[d] = 1;
        link->target.axis[d] = -1;
        link->target.step[d] = 1;
        link->target.stride[d] = outer->type.bytes;
    }
    for (int i = 0; i < count; i++) {
        const track *way = &tracks[i];
        const int t = way->pair.target;
        const int s = way->pair.source;
        const int64_t place = sxi_h5_axis_at(&way->target, way->at);
        const bool many = way->to - way->at > 1;
        const int64_t step = many ? sxi_h5_axis_at(&way->target, way->at + 1) - place : 1;
        if (t >= 0) {
            const int64_t offset = place - cut->job->start[t];
            link->target.data += offset * outer->stride[t];
            if (outer->axis[t] >= 0) {
                link->target.origin[outer->axis[t]] += offset * outer->step[t];
            }
        }
        if (s >= 0) {
            link->start[s] = sxi_h5_axis_at(&way->source, way->at);
            link->count[s] = way->to - way->at;
        }
        if (t >= 0 && s >= 0) {
            link->target.axis[s] = outer->axis[t];
            link->target.step[s] = outer->step[t] * step;
            link->target.stride[s] = outer->stride[t] * step;
        }
    }
}

static sx_status add_link(cutter *cut, const part *piece, int count, const track *tracks) {
    sxi_h5_links *links = cut->links;
    if (links->count == cut->room) {
        const int64_t room = cut->room > 0 ? 2 * cut->room : 16;
        sxi_h5_link *more = realloc(links->link, (size_t)room * sizeof *more);
        if (!more) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld parts of a virtual dataset",
                            (long long)room);
        }
        links->link = more;
        cut->room = room;
    }
    set_link(cut, piece, count, tracks, &links->link[links->count++]);
    return SX_OK;
}

/* The next runs in row-major order; false after the last. */
static bool next_runs(int count, track *tracks) {
    for (int i = count - 1; i >= 0; i--) {
        track *way = &tracks[i];
        const bool more = way->to < way->end;
        way->at = more ? way->to : way->first;
        way->to = sxi_h5_run_end(&way->target, &way->source, way->at, way->end);
        if (more) {
            return true;
        }
    }
    return false;
}

/* Elements of the pairs of axes that the box meets, and how many links that makes. */
static int64_t start_runs(const sxi_h5_job *job, int count, track *tracks, int64_t *elements) {
    int64_t runs = 1;
    *elements = 1;
    for (int i = 0; i < count; i++) {
        track *way = &tracks[i];
        const int t = way->pair.target;
        way->first = t < 0 ? 0 : sxi_h5_axis_below(&way->target, job->start[t]);
        way->end = t < 0 ? 1 : sxi_h5_axis_below(&way->target, job->start[t] + job->count[t]);
        way->at = way->first;
        if (way->end <= way->first) {
            *elements = 0;
            return 0;
        }
        way->to = sxi_h5_run_end(&way->target, &way->source, way->at, way->end);
        *elements *= way->end - way->first;
        if (runs <= LINKS_MOST) {
            runs *= sxi_h5_runs(&way->target, &way->source, way->first, way->end, LINKS_MOST + 1);
        }
    }
    return runs;
}

/* Keeps the box that the runs fill, if they leave no gaps. */
static sx_status keep_box(cutter *cut, int count, const track *tracks) {
    sxi_h5_range box = {.start = {0}};
    for (int i = 0; i < count; i++) {
        const track *way = &tracks[i];
        const int t = way->pair.target;
        if (t >= 0) {
            box.start[t] = sxi_h5_axis_at(&way->target, way->first);
            box.count[t] = way->end - way->first;
            if (sxi_h5_axis_at(&way->target, way->end - 1) - box.start[t] >= box.count[t]) {
                return SX_OK;
            }
        }
    }
    if (cut->boxes == cut->box_room) {
        const int64_t room = cut->box_room > 0 ? 2 * cut->box_room : 16;
        sxi_h5_range *more = realloc(cut->box, (size_t)room * sizeof *more);
        if (!more) {
            return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld parts of a virtual dataset",
                            (long long)room);
        }
        cut->box = more;
        cut->box_room = room;
    }
    cut->box[cut->boxes++] = box;
    return SX_OK;
}

static sx_status cut_part(cutter *cut, const part *piece) {
    static const sxi_h5_axis one = {0, 1, 1, 1};
    sxi_h5_pair pair[PAIRS];
    track tracks[PAIRS];
    const int count = sxi_h5_pair_axes(&piece->target, &piece->source, pair);
    if (count < 0) {
        cut->reason = "a mapping of the virtual dataset changes the shape";
        return SX_OK;
    }
    for (int i = 0; i < count; i++) {
        tracks[i] = (track){
            .pair = pair[i],
            .target = pair[i].target < 0 ? one : piece->target.axis[pair[i].target],
            .source = pair[i].source < 0 ? one : piece->source.axis[pair[i].source],
        };
    }
    int64_t elements = 0;
    const int64_t runs = start_runs(cut->job, count, tracks, &elements);
    cut->reached += elements;
    cut->allowed -= runs - 1; /* one each is always allowed */
    if (cut->allowed < 0) {
        cut->reason = "the box has more than 65536 parts in its sources";
        return SX_OK;
    }
    if (elements > 0) {
        SXI_TRY(keep_box(cut, count, tracks));
        do {
            SXI_TRY(add_link(cut, piece, count, tracks));
        } while (next_runs(count, tracks));
    }
    return SX_OK;
}

/* Shape of a source. */
static sx_status ask_shape(const sxi_h5_job *job, const char *file, const char *name, int *rank,
                           int64_t *shape) {
    sx_hdf5 *opened = NULL;
    sxi_h5_entry *entry = NULL;
    SXI_TRY(sxi_h5_source_open(job->file, job->entry->name, file, name, &opened, &entry));
    *rank = entry->about.rank;
    memcpy(shape, entry->about.shape, sizeof entry->about.shape);
    sxi_h5_source_close(opened, entry);
    return SX_OK;
}

/* All of a source: as large as it is. Numbered ones are taken to be as large as the first, as HDF5
 * does. */
static sx_status learn_shape(const sxi_h5_job *job, sxi_h5_mapping *mapping, const part *piece) {
    int64_t shape[SX_MAX_RANK] = {0};
    int rank = 0;
    char *file = mapping->numbered ? sxi_h5_numbered(mapping->file, 0) : NULL;
    char *name = mapping->numbered ? sxi_h5_numbered(mapping->name, 0) : NULL;
    sx_status status =
        ask_shape(job, file ? file : piece->file, name ? name : piece->name, &rank, shape);
    free(file);
    free(name);
    SXI_TRY(status);
    mapping->source.rank = rank;
    for (int d = 0; d < rank; d++) {
        mapping->source.axis[d] = sxi_h5_axis_of(0, 1, 1, shape[d]);
    }
    const int64_t elements = sxi_h5_elements(rank, shape);
    if (elements < mapping->elements) {
        return sxi_h5_source_small(job->file, job->entry->name, piece->file, piece->name, elements,
                                   mapping->elements);
    }
    mapping->shape_known = true;
    return SX_OK;
}

/* Both sides without end: they end where the source does. */
static sx_status find_end(const sxi_h5_job *job, part *piece, int endless) {
    int64_t shape[SX_MAX_RANK] = {0};
    int rank = 0;
    SXI_TRY(ask_shape(job, piece->file, piece->name, &rank, shape));
    for (int d = 0; d < piece->source.rank && rank == piece->source.rank; d++) {
        sxi_h5_axis *axis = &piece->source.axis[d];
        if (axis->length >= SXI_H5_ENDLESS) {
            axis->length = sxi_h5_axis_below(axis, shape[d]);
            piece->target.axis[endless].length = axis->length;
            return SX_OK;
        }
    }
    return SXI_FAIL(
        SX_ERR_SHAPE, "%s:%s is a virtual dataset; its source %s:%s has %d axes, %d are needed",
        job->file->path, job->entry->name, piece->file, piece->name, rank, piece->source.rank);
}

static sx_status cut_source(cutter *cut, sxi_h5_mapping *mapping, int64_t number) {
    part piece = {.file = keep_text(cut, mapping->file, number),
                  .name = keep_text(cut, mapping->name, number)};
    if (!piece.file || !piece.name) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the names of sources");
    }
    if (mapping->all && !mapping->shape_known) {
        SXI_TRY(learn_shape(cut->job, mapping, &piece));
    }
    piece.target = mapping->target;
    piece.source = mapping->source;
    if (mapping->numbered) {
        piece.target.axis[mapping->endless].start += number * mapping->step;
    } else if (mapping->endless >= 0) {
        SXI_TRY(find_end(cut->job, &piece, mapping->endless));
    }
    return cut_part(cut, &piece);
}

static sx_status cut_all(cutter *cut, const sxi_h5_mappings *mappings) {
    const sxi_h5_job *job = cut->job;
    for (size_t i = 0; i < mappings->count; i++) {
        sxi_h5_mapping *mapping = &mappings->mapping[i];
        int64_t first = 0;
        int64_t end = 0;
        if (!sxi_h5_mapping_meets(mapping, job->start, job->count, &first, &end)) {
            continue;
        }
        end = mapping->numbered && end > mapping->series ? mapping->series : end;
        for (int64_t number = first; number < end && !cut->reason; number++) {
            SXI_TRY(cut_source(cut, mapping, number));
        }
    }
    return SX_OK;
}

sx_status sxi_h5_not_mapped(const sx_hdf5 *file, const sxi_h5_entry *entry, int64_t elements) {
    return SXI_FAIL(SX_ERR_MISSING,
                    "%s:%s is a virtual dataset; %lld of the elements asked for have no source and "
                    "would read as the fill value (ask for that, if it is wanted)",
                    file->path, entry->name, (long long)elements);
}

static sx_status fill_box(const sxi_h5_job *job, const sxi_h5_range *range) {
    const sxi_h5_target *target = &job->target;
    const sxi_h5_storage *storage = &job->entry->storage;
    unsigned char *data = target->data;
    sxi_place_box box = {.rank = storage->rank};
    for (int d = 0; d < storage->rank; d++) {
        box.count[d] = range->count[d];
        box.target_stride[d] = target->stride[d];
        data += (range->start[d] - job->start[d]) * target->stride[d];
    }
    return sxi_h5_place(job, &box, storage->fill, &storage->type, data);
}

/* Fills what no source reaches with the fill value; where that lies between strides, sources come
 * over it later. */
static sx_status fill(const cutter *cut, sx_hdf5_missing missing, int64_t elements) {
    const sxi_h5_job *job = cut->job;
    if (missing == SX_HDF5_MISSING_ERROR && !job->entry->storage.fill_is_nan) {
        return sxi_h5_not_mapped(job->file, job->entry, elements);
    }
    sxi_h5_range whole;
    memcpy(whole.start, job->start, sizeof whole.start);
    memcpy(whole.count, job->count, sizeof whole.count);
    sxi_h5_range *hole = malloc(HOLES_MOST * sizeof *hole);
    const int64_t holes =
        hole ? sxi_h5_rest(job->entry->about.rank, &whole, cut->boxes, cut->box, HOLES_MOST, hole)
             : -1;
    sx_status status = holes < 0 ? fill_box(job, &whole) : SX_OK;
    for (int64_t i = 0; i < holes && status == SX_OK; i++) {
        status = fill_box(job, &hole[i]);
    }
    free(hole);
    return status;
}

sx_status sxi_h5_virtual_links(const sxi_h5_job *job, sx_hdf5_missing missing, sxi_h5_links *links,
                               const char **reason) {
    *links = (sxi_h5_links){0};
    *reason = NULL;
    sxi_h5_mappings *mappings = NULL;
    SXI_TRY(sxi_h5_mappings_get(job->file, job->entry, &mappings));
    if (mappings->reason[0]) {
        *reason = mappings->reason;
        return SX_OK;
    }
    cutter cut = {.job = job, .links = links, .allowed = LINKS_MOST};
    const int64_t elements = sxi_h5_elements(job->entry->about.rank, job->count);
    sx_status status = elements > 0 ? cut_all(&cut, mappings) : SX_OK;
    if (status == SX_OK && !cut.reason && cut.reached < elements) {
        status = fill(&cut, missing, elements - cut.reached);
    }
    if (status != SX_OK || cut.reason) {
        sxi_h5_links_free(links);
    }
    free(cut.box);
    *reason = cut.reason;
    return status;
}

void sxi_h5_links_free(sxi_h5_links *links) {
    while (links->texts) {
        sxi_h5_text *next = links->texts->next;
        free(links->texts);
        links->texts = next;
    }
    free(links->link);
    *links = (sxi_h5_links){0};
}
