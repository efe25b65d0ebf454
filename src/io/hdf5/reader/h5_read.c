/* SPDX-License-Identifier: Apache-2.0
 * Reading boxes through the HDF5 library, where our own threads cannot. */
#include "io/hdf5/h5_filter.h"
#include "io/hdf5/reader/h5_device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A target that HDF5 cannot fill itself, such as one on a device, is filled through a dense piece of at most this size. */
enum { PIECE_BYTES = 4 << 20 };

static sx_status read_failed(const sxi_h5_job *job) {
    char reason[SXI_H5_REASON];
    sxi_h5_reason(reason, sizeof reason);
    SXI_TRY(sxi_h5_filters_missing(job->file->path, job->entry->name, job->entry->id));
    return SXI_FAIL(SX_ERR_IO, "%s:%s cannot be read: %s", job->file->path, job->entry->name,
                    reason);
}

/* A piece of a job: a box, and where it goes. */
typedef struct piece {
    int64_t start[SX_MAX_RANK];
    int64_t count[SX_MAX_RANK];
    unsigned char *target;
} piece;

/* The type that HDF5 delivers: that of the target; bit fields and bytes as they are stored. */
static void memory_type(const sxi_h5_job *job, sxi_place_type *type, hid_t *id) {
    const sxi_h5_entry *entry = job->entry;
    *type = job->target.type;
    if (type->kind == SXI_PLACE_BYTES) {
        *id = H5Dget_type(entry->id);
    } else if (entry->bits) {
        const hid_t bits[] = {H5T_NATIVE_B8, H5T_NATIVE_B16, H5T_NATIVE_B32, H5T_NATIVE_B64};
        const int64_t size = (int64_t)sx_dtype_size(entry->about.dtype);
        *type = (sxi_place_type){.dtype = entry->about.dtype, .bytes = size};
        *id = H5Tcopy(bits[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3]);
    } else {
        *id = H5Tcopy(sxi_h5_native(type->dtype));
    }
}

static sx_status read_dense(const sxi_h5_job *job, const piece *p, hid_t type, void *data) {
    const int rank = job->entry->about.rank;
    hsize_t start[SX_MAX_RANK];
    hsize_t count[SX_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        start[d] = (hsize_t)p->start[d];
        count[d] = (hsize_t)p->count[d];
    }
    hid_t stored = rank ? H5Dget_space(job->entry->id) : H5Screate(H5S_SCALAR);
    hid_t memory = rank ? H5Screate_simple(rank, count, NULL) : H5Screate(H5S_SCALAR);
    herr_t result =
        rank ? H5Sselect_hyperslab(stored, H5S_SELECT_SET, start, NULL, count, NULL) : 0;
    if (result >= 0) {
        result = H5Dread(job->entry->id, type, memory, stored, H5P_DEFAULT, data);
    }
    sx_status status = result < 0 ? read_failed(job) : SX_OK;
    H5Sclose(memory);
    H5Sclose(stored);
    return status;
}

/* Strides of a dense piece; returns its bytes. */
static int64_t dense_strides(const sxi_h5_job *job, const piece *p, int64_t element,
                             int64_t *stride) {
    int64_t bytes = element;
    for (int d = job->entry->storage.rank - 1; d >= 0; d--) {
        stride[d] = bytes;
        bytes *= p->count[d];
    }
    return bytes;
}

static sx_status read_copy(const sxi_h5_job *job, const piece *p, const sxi_place_type *type,
                           hid_t id) {
    sxi_place_box box = {.rank = job->entry->storage.rank};
    const int64_t bytes = dense_strides(job, p, type->bytes, box.source_stride);
    assert(bytes > 0);                      /* a box without elements is no job */
    void *dense = calloc(1, (size_t)bytes); /* HDF5 leaves alone what has no fill value */
    if (!dense) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s:%s: no memory for %lld bytes", job->file->path,
                        job->entry->name, (long long)bytes);
    }
    for (int d = 0; d < box.rank; d++) {
        box.count[d] = p->count[d];
        box.target_stride[d] = job->target.stride[d];
    }
    sx_status status = read_dense(job, p, id, dense);
    if (status == SX_OK) {
        status = sxi_h5_place(job, &box, dense, type, p->target);
    }
    free(dense);
    return status;
}

static bool is_dense(const sxi_h5_job *job, const piece *p, const int64_t *stride) {
    for (int d = 0; d < job->entry->storage.rank; d++) {
        if (p->count[d] > 1 && job->target.stride[d] != stride[d]) {
            return false;
        }
    }
    return true;
}

/* Halves a box along its first long axis until it is dense or small. */
static sx_status read_pieces(const sxi_h5_job *job, const piece *p, const sxi_place_type *type,
                             hid_t id) {
    const sxi_place_type *to = &job->target.type;
    const int rank = job->entry->storage.rank;
    int64_t stride[SX_MAX_RANK];
    const int64_t bytes = dense_strides(job, p, to->bytes, stride);
    const bool same = type->kind == to->kind && type->dtype == to->dtype;
    if (same && !job->target.device && is_dense(job, p, stride)) {
        return read_dense(job, p, id, p->target);
    }
    int axis = 0;
    while (axis < rank && p->count[axis] < 2) {
        axis++;
    }
    if (bytes <= PIECE_BYTES || axis == rank) {
        return read_copy(job, p, type, id);
    }
    piece half = *p;
    half.count[axis] = p->count[axis] / 2;
    SXI_TRY(read_pieces(job, &half, type, id));
    half.start[axis] += half.count[axis];
    half.target += half.count[axis] * job->target.stride[axis];
    half.count[axis] = p->count[axis] - half.count[axis];
    return read_pieces(job, &half, type, id);
}

/* HDF5 reads zeros beyond the end of a file that was cut after it was opened (1.10, driver sec2), so
 * every read asks whether the file is still as long. */
static sx_status check_length(const sx_hdf5 *file) {
    const sxi_h5_disk *disk = sxi_h5_disk_of(file->id);
    struct stat about;
    if (!disk || fstat(disk->fd, &about) != 0) {
        return SXI_FAIL(SX_ERR_IO, "%s: its length cannot be asked", file->path);
    }
    if ((long long)about.st_size < file->bytes) {
        return SXI_FAIL(SX_ERR_IO,
                        "%s was cut from %lld to %lld bytes while it was read; let nothing write "
                        "to it meanwhile",
                        file->path, file->bytes, (long long)about.st_size);
    }
    return SX_OK;
}

static sx_status library_read(const sxi_h5_job *job, const piece *p) {
    sxi_h5_entry *entry = job->entry;
    SXI_TRY(sxi_h5_check_sources(job->file, entry, p->start, p->count));
    SXI_TRY(sxi_h5_filters_unsafe(job->file->path, entry->name, entry->id));
    sxi_place_type type;
    hid_t id = -1;
    memory_type(job, &type, &id);
    sx_status status = read_pieces(job, p, &type, id);
    H5Tclose(id);
    return status == SX_OK ? check_length(job->file) : status;
}

sx_status sxi_h5_library_read(const sxi_h5_job *job, const int64_t *start, const int64_t *count,
                              unsigned char *target, sx_hdf5_statistics *did) {
    piece p = {.target = target};
    int64_t bytes = job->target.type.bytes;
    for (int d = 0; d < job->entry->storage.rank; d++) {
        p.start[d] = start[d];
        p.count[d] = count[d];
        bytes *= count[d];
    }
    sxi_h5_enter();
    const sx_status status = library_read(job, &p);
    sxi_h5_leave();
    did->library += bytes;
    did->bytes_placed += bytes;
    return status;
}
