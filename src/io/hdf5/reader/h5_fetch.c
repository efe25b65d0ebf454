/* SPDX-License-Identifier: Apache-2.0
 * Bytes from files. */
#include "io/hdf5/reader/h5_device.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALL_BYTES = 1 << 30 }; /* pread gives at most 0x7ffff000 bytes */

static sx_status too_short(const sxi_h5_walk *walk, int fd, const sxi_h5_run *run) {
    struct stat about = {.st_size = 0};
    fstat(fd, &about);
    return SXI_FAIL(SX_ERR_IO,
                    "%s:%s: %llu bytes at %llu are needed, the file ends at %lld: it was cut while "
                    "it was read, or is damaged; copy it again",
                    walk->job.file->path, walk->job.entry->name, (unsigned long long)run->bytes,
                    (unsigned long long)run->address, (long long)about.st_size);
}

sx_status sxi_h5_read_at(const sxi_h5_walk *walk, int fd, const sxi_h5_run *run) {
    for (uint64_t done = 0; done < run->bytes;) {
        const uint64_t left = run->bytes - done;
        const ssize_t got = pread(fd, run->to + done, left < CALL_BYTES ? left : CALL_BYTES,
                                  (off_t)(run->address + done));
        if (got == 0) {
            return too_short(walk, fd, run);
        }
        if (got < 0 && errno != EINTR) {
            return SXI_FAIL(SX_ERR_IO, "%s:%s cannot be read at %llu: %s", walk->job.file->path,
                            walk->job.entry->name, (unsigned long long)(run->address + done),
                            strerror(errno));
        }
        done += got > 0 ? (uint64_t)got : 0;
    }
    return SX_OK;
}

static sx_status read_file(const sxi_h5_walk *walk, sxi_h5_worker *worker, int fd,
                           const sxi_h5_run *run) {
    return run->device ? sxi_h5_device_fetch(walk, worker, fd, run) : sxi_h5_read_at(walk, fd, run);
}

/* From raw files, as if they were one. */
static sx_status read_external(const sxi_h5_walk *walk, sxi_h5_worker *worker,
                               const sxi_h5_run *run) {
    const sxi_h5_segment *segment = walk->external.segment;
    uint64_t address = run->address;
    uint64_t left = run->bytes;
    sxi_h5_run part = *run;
    for (int i = 0; i < walk->external.count && left > 0; i++, segment++) {
        const uint64_t size = (uint64_t)segment->bytes;
        if (address >= size) {
            address -= size;
            continue;
        }
        part.address = (uint64_t)segment->offset + address;
        part.bytes = left < size - address ? left : size - address;
        SXI_TRY(read_file(walk, worker, segment->fd, &part));
        part.to += part.bytes;
        left -= part.bytes;
        address = 0;
    }
    return SX_OK;
}

static sx_status read_timed(const sxi_h5_walk *walk, sxi_h5_worker *worker, const sxi_h5_run *run) {
    const double begun = sxi_now();
    worker->did.pieces++;
    worker->did.bytes_stored += (int64_t)run->bytes;
    const sx_status status = walk->external.count > 0
                                 ? read_external(walk, worker, run)
                                 : read_file(walk, worker, walk->disk->fd, run);
    worker->did.io_s += sxi_now() - begun;
    return status;
}

sx_status sxi_h5_fetch(const sxi_h5_walk *walk, sxi_h5_worker *worker, const sxi_h5_run *run) {
    const uint64_t inside = run->address - worker->window_address; /* wraps before its begin */
    if (inside >= worker->window_filled || run->bytes > worker->window_filled - inside) {
        return read_timed(walk, worker, run);
    }
    if (run->device) {
        return sxi_h5_device_write(&walk->job, worker->window + inside, run);
    }
    memcpy(run->to, worker->window + inside, run->bytes);
    return SX_OK;
}

/* Values of the box of a slab, in bytes as stored without filters. */
static uint64_t box_bytes(const sxi_h5_slab *slab) {
    int64_t bytes = slab->walk->storage->type.bytes;
    for (int d = 0; d < slab->walk->storage->rank; d++) {
        bytes *= slab->count[d];
    }
    return (uint64_t)bytes;
}

sx_status sxi_h5_window_fill(const sxi_h5_slab *slab, sxi_h5_worker *worker) {
    const sxi_h5_walk *walk = slab->walk;
    uint64_t low = UINT64_MAX, high = 0, wanted = 0;
    worker->window_filled = 0;
    for (int i = 0; i < slab->blocks; i++) {
        const sxi_h5_block *block = &slab->block[i];
        if (block->address != HADDR_UNDEF) {
            low = block->address < low ? block->address : low;
            high = block->address + block->bytes > high ? block->address + block->bytes : high;
            wanted += block->bytes;
        }
    }
    if (walk->storage->codec.steps == 0 && box_bytes(slab) < wanted) {
        wanted = box_bytes(slab);
    }
    /* Half of it must be of use: copying costs less than a system call for each block. */
    if (slab->blocks < 2 || wanted == 0 || high - low > SXI_H5_SLAB_BYTES ||
        wanted < (high - low) / 2) {
        return SX_OK;
    }
    SXI_TRY(sxi_h5_have(&worker->window, &worker->window_bytes, SXI_H5_SLAB_BYTES));
    const sxi_h5_run all = {low, high - low, worker->window, false};
    SXI_TRY(read_timed(walk, worker, &all));
    worker->window_address = low;
    worker->window_filled = high - low;
    return SX_OK;
}
