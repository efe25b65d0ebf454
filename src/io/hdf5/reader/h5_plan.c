/* SPDX-License-Identifier: Apache-2.0
 * The boxes of a request one after the other; virtual datasets give way to their sources. */
#include "io/hdf5/reader/h5_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 10 }; /* virtual datasets of virtual datasets, and the walk at the end */

/* What slabs come from at present: a walk, or the links of a virtual dataset. */
typedef struct level {
    sxi_h5_walk *walk;
    sxi_h5_job job; /* of the virtual dataset, while walk is NULL */
    sxi_h5_links links;
    int64_t next;
} level;

struct sxi_h5_plan {
    int boxes;
    int next_box;
    sxi_h5_job *job; /* [boxes] pinned until taken */
    bool *empty;     /* [boxes] without elements */
    sx_hdf5_missing missing;
    bool library;
    int64_t work;
    int depth;
    level level[DEPTH];
};

static sx_status check_extent(const sx_hdf5 *file, const sxi_h5_entry *entry,
                              const sx_hdf5_box *box, int d, int64_t start, int64_t count) {
    const int64_t extent = entry->about.shape[d];
    if (start < 0 || count < 0 || count > extent - start) {
        return SXI_FAIL(
            SX_ERR_RANGE, "%s:%s: %lld elements from %lld of axis %d are asked for, it has %lld",
            file->path, entry->name, (long long)count, (long long)start, d, (long long)extent);
    }
    if (box->array->shape[d] != count) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s: axis %d of the array has %lld elements, not %lld",
                        file->path, entry->name, d, (long long)box->array->shape[d],
                        (long long)count);
    }
    return SX_OK;
}

/* Numbers, or the bytes of any element of fixed size. */
static sx_status target_type(const sx_hdf5 *file, const sxi_h5_entry *entry, const sx_array *array,
                             sxi_place_type *type) {
    const sx_hdf5_dataset *about = &entry->about;
    const int rank = about->rank;
    if ((unsigned)array->dtype > SX_F64) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s:%s: the array has no element type (%d)", file->path,
                        entry->name, (int)array->dtype);
    }
    if (about->numeric) {
        *type =
            (sxi_place_type){.dtype = array->dtype, .bytes = (int64_t)sx_dtype_size(array->dtype)};
        return array->rank == rank ? SX_OK
                                   : SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %d axes, %d were asked for",
                                              file->path, entry->name, rank, array->rank);
    }
    const bool bytes = about->element_bytes > 0 && array->dtype == SX_U8 &&
                       array->rank == rank + 1 && array->shape[rank] == about->element_bytes &&
                       array->stride[rank] == 1;
    *type = (sxi_place_type){.kind = SXI_PLACE_BYTES, .bytes = about->element_bytes};
    return bytes ? SX_OK : sxi_h5_not_numbers(file->path, entry->name, entry->id);
}

static sx_status check_device(const sx_hdf5_device *device, const sxi_h5_job *job,
                              const sx_array *array) {
    assert(!device || device->write);
    return !device || sx_array_contiguous(array)
               ? SX_OK
               : SXI_FAIL(
                     SX_ERR_UNSUPPORTED,
                     "%s:%s: an array on a device is filled in C order without gaps only; read "
                     "it so and transpose it there",
                     job->file->path, job->entry->name);
}

static sx_status job_create(const sx_hdf5_box *box, int number, const sx_hdf5_device *device,
                            sxi_h5_job *job, int64_t *bytes) {
    sxi_h5_entry *entry = NULL;
    SXI_TRY(sxi_h5_entry_get(box->file, box->name, &entry));
    *job = (sxi_h5_job){.file = box->file, .entry = entry};
    SXI_TRY(target_type(box->file, entry, box->array, &job->target.type));
    SXI_TRY(check_device(device, job, box->array));
    job->target.device = device;
    job->target.data = box->array->data;
    job->target.box = number;
    *bytes = job->target.type.bytes;
    const int64_t size = (int64_t)sx_dtype_size(box->array->dtype);
    job->count[0] = 1; /* of a dataset without axes */
    job->target.axis[0] = -1;
    for (int d = 0; d < entry->about.rank; d++) {
        job->start[d] = box->start ? box->start[d] : 0;
        job->count[d] = box->count ? box->count[d] : entry->about.shape[d];
        SXI_TRY(check_extent(box->file, entry, box, d, job->start[d], job->count[d]));
        job->target.stride[d] = box->array->stride[d] * size;
        job->target.axis[d] = d;
        job->target.step[d] = 1;
        *bytes *= job->count[d];
    }
    entry->pins++;
    return SX_OK;
}

/* Bytes to be worked on for so many of the array: filtered blocks are undone whole. */
static int64_t work_of(const sxi_h5_job *job, int64_t bytes) {
    const sxi_h5_storage *storage = &job->entry->storage;
    if (bytes == 0 || job->entry->about.path != SX_HDF5_DIRECT || storage->codec.steps == 0) {
        return bytes;
    }
    int64_t work = storage->block_bytes;
    for (int d = 0; d < storage->rank; d++) {
        const int64_t last = job->start[d] + job->count[d] - 1;
        work *= last / storage->block[d] - job->start[d] / storage->block[d] + 1;
    }
    return work > bytes ? work : bytes;
}

sx_status sxi_h5_plan_create(int n, const sx_hdf5_box *boxes, const sx_hdf5_options *options,
                             sxi_h5_plan **created) {
    *created = NULL;
    sxi_h5_plan *plan = calloc(1, sizeof *plan);
    sx_status status = SX_OK;
    if (plan) {
        plan->job = calloc((size_t)n + 1, sizeof *plan->job);
        plan->empty = calloc((size_t)n + 1, sizeof *plan->empty);
    }
    if (!plan || !plan->job || !plan->empty) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to plan the reading of %d boxes", n);
        goto out;
    }
    plan->missing = options->missing;
    plan->library = options->library;
    for (; plan->boxes < n; plan->boxes++) {
        int64_t bytes = 0;
        SXI_GO(job_create(&boxes[plan->boxes], plan->boxes, options->device,
                          &plan->job[plan->boxes], &bytes));
        plan->empty[plan->boxes] = bytes == 0;
        plan->work += work_of(&plan->job[plan->boxes], bytes);
    }
    *created = plan;
    plan = NULL;
out:
    sxi_h5_plan_destroy(&plan);
    return status;
}

/* Frees a walk once nobody needs it. */
static void walk_release(sxi_h5_walk *walk) {
    if (walk->exhausted && walk->users == 0) {
        sxi_h5_walk_end(walk);
        free(walk);
    }
}

static void level_pop(sxi_h5_plan *plan) {
    level *top = &plan->level[--plan->depth];
    if (top->walk) {
        top->walk->exhausted = true;
        walk_release(top->walk);
    } else {
        sxi_h5_links_free(&top->links);
        sxi_h5_job_close(&top->job);
    }
}

void sxi_h5_plan_destroy(sxi_h5_plan **plan) {
    sxi_h5_plan *gone = *plan;
    if (!gone) {
        return;
    }
    while (gone->depth > 0) {
        level_pop(gone);
    }
    for (int i = gone->next_box; i < gone->boxes; i++) {
        sxi_h5_job_close(&gone->job[i]);
    }
    free(gone->job);
    free(gone->empty);
    free(gone);
    *plan = NULL;
}

int64_t sxi_h5_plan_work(const sxi_h5_plan *plan) { return plan->work; }

/* Whether our threads read this job. */
static bool is_direct(const sxi_h5_plan *plan, const sxi_h5_job *job) {
    return !plan->library && job->entry->about.path == SX_HDF5_DIRECT &&
           sxi_place_known(&job->entry->storage.type, &job->target.type);
}

/* What a virtual dataset that goes through the HDF5 library has no source for is not handed out as
 * data. */
static sx_status check_mapped(const sxi_h5_plan *plan, const sxi_h5_job *job) {
    const bool matters = job->entry->about.layout == SX_HDF5_VIRTUAL &&
                         job->entry->about.rank > 0 && plan->missing == SX_HDF5_MISSING_ERROR &&
                         !job->entry->storage.fill_is_nan;
    return matters ? sxi_h5_check_mapped(job->file, job->entry, job->start, job->count) : SX_OK;
}

static sx_status push_walk(sxi_h5_plan *plan, sxi_h5_job *job, bool direct) {
    sxi_h5_walk *walk = malloc(sizeof *walk);
    sx_status status =
        walk ? check_mapped(plan, job) : SXI_FAIL(SX_ERR_MEMORY, "no memory to plan a read");
    if (status == SX_OK) {
        status = sxi_h5_walk_begin(walk, job, direct, plan->missing);
    }
    if (status != SX_OK) {
        free(walk);
        sxi_h5_job_close(job);
        return status;
    }
    plan->level[plan->depth++] = (level){.walk = walk};
    return SX_OK;
}

/* The job becomes the plan's, or is closed. */
static sx_status push_job(sxi_h5_plan *plan, sxi_h5_job *job) {
    if (plan->depth == DEPTH) {
        const sx_status status =
            SXI_FAIL(SX_ERR_UNSUPPORTED, "%s:%s: virtual datasets are nested more than %d deep",
                     job->file->path, job->entry->name, DEPTH - 1);
        sxi_h5_job_close(job);
        return status;
    }
    const bool direct = is_direct(plan, job);
    if (!direct || job->entry->about.layout != SX_HDF5_VIRTUAL) {
        return push_walk(plan, job, direct);
    }
    level links = {.job = *job};
    const char *reason = NULL;
    const sx_status status = sxi_h5_virtual_links(job, plan->missing, &links.links, &reason);
    if (status != SX_OK) {
        sxi_h5_job_close(job);
        return status;
    }
    if (reason) {
        return push_walk(plan, job, false);
    }
    plan->level[plan->depth++] = links;
    return SX_OK;
}

/* Next link of the virtual dataset on top. */
static sx_status push_link(sxi_h5_plan *plan, level *top) {
    sxi_h5_job job;
    SXI_TRY(sxi_h5_link_open(&top->job, &top->links.link[top->next++], &job));
    return push_job(plan, &job);
}

static sx_status push_box(sxi_h5_plan *plan) {
    const int i = plan->next_box++;
    if (plan->empty[i]) {
        sxi_h5_job_close(&plan->job[i]);
        return SX_OK;
    }
    return push_job(plan, &plan->job[i]);
}

sx_status sxi_h5_plan_next(sxi_h5_plan *plan, sxi_h5_slab *slab, sxi_h5_next *next) {
    for (;;) {
        level *top = plan->depth > 0 ? &plan->level[plan->depth - 1] : NULL;
        if (!top) {
            if (plan->next_box == plan->boxes) {
                *next = SXI_H5_NEXT_NONE;
                return SX_OK;
            }
            SXI_TRY(push_box(plan));
        } else if (top->walk) {
            SXI_TRY(sxi_h5_walk_next(top->walk, slab, next));
            if (*next == SXI_H5_NEXT_SLAB) {
                slab->walk = top->walk;
                top->walk->users++;
            }
            if (*next != SXI_H5_NEXT_NONE) {
                return SX_OK;
            }
            level_pop(plan);
        } else if (top->next < top->links.count) {
            SXI_TRY(push_link(plan, top));
        } else {
            level_pop(plan);
        }
    }
}

void sxi_h5_plan_done(sxi_h5_slab *slab) {
    slab->walk->users--;
    walk_release(slab->walk);
}
