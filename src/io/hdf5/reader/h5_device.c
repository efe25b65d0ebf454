/* SPDX-License-Identifier: Apache-2.0
 * Values to the memory of a device. */
#include "io/hdf5/reader/h5_device.h"

#include <stdlib.h>

static sx_status write_rows(const sxi_h5_job *job, const sx_hdf5_rows *rows) {
    const sx_hdf5_device *device = job->target.device;
    if (device->write(device->data, rows)) {
        return SX_OK;
    }
    return SXI_FAIL(SX_ERR_IO,
                    "%s:%s: the device did not take %lld bytes; is the array in its memory, and "
                    "large enough?",
                    job->file->path, job->entry->name, (long long)(rows->bytes * rows->rows));
}

/* First axis of the runs that are contiguous in the target, and in the source if that matters. */
static int first_of_run(const sxi_place_box *box, int64_t element, bool source, int64_t *bytes) {
    int64_t run = element;
    int d = box->rank - 1;
    for (; d >= 0; d--) {
        const bool joins =
            box->target_stride[d] == run && (!source || box->source_stride[d] == run);
        if (box->count[d] > 1 && !joins) {
            break;
        }
        run *= box->count[d];
    }
    *bytes = run;
    return d + 1;
}

/* Copies values that need no conversion: runs are the columns of rows, rows lie along the axis
 * before the run, the axes before that one are walked. */
static sx_status write_box(const sxi_h5_job *job, const sxi_place_box *box,
                           const unsigned char *source, unsigned char *to) {
    sx_hdf5_rows rows = {.rows = 1};
    const int axis = first_of_run(box, job->target.type.bytes, true, &rows.bytes) - 1;
    if (axis >= 0) {
        rows.rows = box->count[axis];
        rows.source_pitch = box->source_stride[axis];
        rows.target_pitch = box->target_stride[axis];
    }
    int64_t index[SXI_PLACE_RANK] = {0};
    do {
        const unsigned char *from = source;
        unsigned char *at = to;
        for (int d = 0; d < axis; d++) {
            from += index[d] * box->source_stride[d];
            at += index[d] * box->target_stride[d];
        }
        rows.source = from;
        rows.target = at;
        SXI_TRY(write_rows(job, &rows));
    } while (sxi_h5_step(index, box->count, axis));
    return SX_OK;
}

/* Bytes of a box in the target, and of the axis along which it is best cut; -1: one element. */
static int64_t bytes_of(const sxi_place_box *box, int64_t element, int *axis) {
    *axis = -1;
    for (int d = box->rank - 1; d >= 0; d--) {
        element *= box->count[d];
        *axis = box->count[d] > 1 ? d : *axis;
    }
    return element;
}

/* By way of dense memory of SXI_H5_SLAB_BYTES, or of the box if that is less: halves the box until
 * it fits. */
static sx_status stage_box(const sxi_h5_job *job, const sxi_place_box *box,
                           const unsigned char *source, const sxi_place_type *from,
                           unsigned char *to, unsigned char *stage) {
    int axis = 0;
    const int64_t bytes = bytes_of(box, job->target.type.bytes, &axis);
    sxi_place_box part = *box;
    if (bytes > SXI_H5_SLAB_BYTES && axis >= 0) {
        part.count[axis] = box->count[axis] / 2;
        SXI_TRY(stage_box(job, &part, source, from, to, stage));
        source += part.count[axis] * box->source_stride[axis];
        to += part.count[axis] * box->target_stride[axis];
        part.count[axis] = box->count[axis] - part.count[axis];
        return stage_box(job, &part, source, from, to, stage);
    }
    int64_t stride = job->target.type.bytes;
    for (int d = box->rank - 1; d >= 0; d--) {
        part.target_stride[d] = stride;
        stride *= box->count[d];
    }
    sxi_place(&part, source, from, stage, &job->target.type);
    for (int d = 0; d < box->rank; d++) {
        part.source_stride[d] = part.target_stride[d];
        part.target_stride[d] = box->target_stride[d];
    }
    return write_box(job, &part, stage, to);
}

sx_status sxi_h5_place(const sxi_h5_job *job, const sxi_place_box *box, const unsigned char *source,
                       const sxi_place_type *from, unsigned char *to) {
    const sxi_place_type *type = &job->target.type;
    if (!job->target.device) {
        sxi_place(box, source, from, to, type);
        return SX_OK;
    }
    int64_t run = 0;
    int64_t target_run = 0;
    first_of_run(box, type->bytes, true, &run);
    first_of_run(box, type->bytes, false, &target_run);
    if (!sxi_h5_converts(from, type) && run == target_run) {
        return write_box(job, box, source, to); /* from where they are */
    }
    int axis = 0;
    int64_t bytes = bytes_of(box, type->bytes, &axis);
    bytes = bytes < SXI_H5_SLAB_BYTES ? bytes : SXI_H5_SLAB_BYTES;
    unsigned char *stage = malloc((size_t)(bytes > type->bytes ? bytes : type->bytes));
    if (!stage) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld bytes on their way to a device",
                        (long long)bytes);
    }
    const sx_status status = stage_box(job, box, source, from, to, stage);
    free(stage);
    return status;
}

sx_status sxi_h5_device_write(const sxi_h5_job *job, const unsigned char *bytes,
                              const sxi_h5_run *run) {
    const sx_hdf5_rows rows = {
        .target = run->to, .source = bytes, .bytes = (int64_t)run->bytes, .rows = 1};
    return write_rows(job, &rows);
}

sx_status sxi_h5_device_fetch(const sxi_h5_walk *walk, sxi_h5_worker *worker, int fd,
                              const sxi_h5_run *run) {
    const sx_hdf5_device *device = walk->job.target.device;
    sxi_h5_run rest = *run;
    while (device->read && rest.bytes > 0) {
        const int64_t got =
            device->read(device->data, fd, (int64_t)rest.address, rest.to, (int64_t)rest.bytes);
        if (got <= 0 || (uint64_t)got > rest.bytes) {
            break; /* if the file is at fault, reading it ourselves gives the reason */
        }
        worker->did.device += got;
        rest.address += (uint64_t)got;
        rest.bytes -= (uint64_t)got;
        rest.to += got;
    }
    if (rest.bytes == 0) {
        return SX_OK;
    }
    SXI_TRY(sxi_h5_have(&worker->scratch, &worker->scratch_bytes, (size_t)rest.bytes));
    sxi_h5_run host = rest;
    host.to = worker->scratch;
    SXI_TRY(sxi_h5_read_at(walk, fd, &host));
    return sxi_h5_device_write(&walk->job, host.to, &rest);
}
