/* SPDX-License-Identifier: Apache-2.0
 * A file driver for writing that keeps the first error to itself.
 *
 * When a disk fills up HDF5 1.10 can neither flush nor close the file, and tries again when the
 * process ends. Here the first failed write is noted with its errno and all later ones are dropped,
 * so HDF5 closes in peace, and the writer, who looks at the note after every step, removes the
 * file and says why. */
#include "io/hdf5/h5_locked.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sink {
    H5FD_t public; /* HDF5's part, first by its rule */
    int fd;
    int *error;
    haddr_t eoa; /* what HDF5 has handed out */
    haddr_t eof; /* what was written */
} sink;

static H5FD_t *sink_open(const char *name, unsigned flags, hid_t access, haddr_t most) {
    (void)flags;
    (void)most;
    int *const *error = H5Pget_driver_info(access);
    sink *opened = calloc(1, sizeof *opened);
    if (!opened || !error) {
        free(opened);
        return NULL;
    }
    opened->error = *error;
    opened->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (opened->fd < 0) {
        *opened->error = errno;
        free(opened);
        return NULL;
    }
    return &opened->public;
}

static void note(sink *file) {
    if (*file->error == 0) {
        *file->error = errno ? errno : EIO;
    }
}

static herr_t sink_close(H5FD_t *handle) {
    sink *file = (sink *)handle;
    if (*file->error == 0 && fsync(file->fd) != 0 && errno != EINVAL && errno != ENOSYS) {
        note(file);
    }
    if (close(file->fd) != 0 && errno != EINTR) {
        note(file);
    }
    free(file);
    return 0;
}

static herr_t sink_query(const H5FD_t *handle, unsigned long *flags) {
    (void)handle;
    if (flags) {
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
                 H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    }
    return 0;
}

static haddr_t sink_get_eoa(const H5FD_t *handle, H5FD_mem_t type) {
    (void)type;
    return ((const sink *)handle)->eoa;
}

static herr_t sink_set_eoa(H5FD_t *handle, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((sink *)handle)->eoa = address;
    return 0;
}

static haddr_t sink_get_eof(const H5FD_t *handle, H5FD_mem_t type) {
    (void)type;
    return ((const sink *)handle)->eof;
}

/* What lies behind the end, or was dropped, reads as zeros. */
static herr_t sink_read(H5FD_t *handle, H5FD_mem_t type, hid_t transfer, haddr_t address,
                        size_t size, void *buffer) {
    (void)type;
    (void)transfer;
    sink *file = (sink *)handle;
    char *at = buffer;
    while (size > 0) {
        ssize_t count = pread(file->fd, at, size, (off_t)address);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            note(file);
        }
        if (count <= 0) {
            memset(at, 0, size);
            break;
        }
        at += count;
        size -= (size_t)count;
        address += (haddr_t)count;
    }
    return 0;
}

static herr_t sink_write(H5FD_t *handle, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer) {
    (void)type;
    (void)transfer;
    sink *file = (sink *)handle;
    const char *at = buffer;
    while (size > 0 && *file->error == 0) {
        errno = 0;
        ssize_t count = pwrite(file->fd, at, size, (off_t)address);
        if (count <= 0 && errno != EINTR) {
            note(file);
        }
        if (count > 0) {
            at += count;
            size -= (size_t)count;
            address += (haddr_t)count;
        }
    }
    address += size;
    file->eof = address > file->eof ? address : file->eof;
    return 0;
}

static herr_t sink_truncate(H5FD_t *handle, hid_t transfer, hbool_t closing) {
    (void)transfer;
    (void)closing;
    sink *file = (sink *)handle;
    if (*file->error == 0 && file->eoa != file->eof && ftruncate(file->fd, (off_t)file->eoa) != 0) {
        note(file);
    }
    file->eof = file->eoa;
    return 0;
}

static const H5FD_class_t sink_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 600, /* above HDF5's own drivers */
#endif
    .name = "sextant_sink",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(int *),
    .open = sink_open,
    .close = sink_close,
    .query = sink_query,
    .get_eoa = sink_get_eoa,
    .set_eoa = sink_set_eoa,
    .get_eof = sink_get_eof,
    .read = sink_read,
    .write = sink_write,
    .truncate = sink_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

sx_status sxi_h5_sink_create(const char *path, sxi_h5_writer *writer) {
    int *error = &writer->error;
    *error = 0;
    writer->id = -1;
    writer->driver = H5FDregister(&sink_class);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    if (writer->driver >= 0 && access >= 0 && creation >= 0) {
        /* Readers from HDF5 1.8 on open it. No times anywhere: equal content, equal bytes. */
        H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
        H5Pset_obj_track_times(creation, false);
        H5Pset_driver(access, writer->driver, &error);
        writer->id = H5Fcreate(path, H5F_ACC_EXCL, creation, access);
    }
    if (access >= 0) {
        H5Pclose(access);
    }
    if (creation >= 0) {
        H5Pclose(creation);
    }
    if (writer->id >= 0) {
        return SX_OK;
    }
    char reason[SXI_H5_REASON];
    sxi_h5_reason(reason, sizeof reason);
    sxi_h5_sink_close(writer);
    return *error == EEXIST ? SXI_FAIL(SX_ERR_EXISTS, "%s exists", path)
                            : SXI_FAIL(SX_ERR_IO, "%s cannot be created: %s", path,
                                       *error ? strerror(*error) : reason);
}

/* HDF5 1.10 looks at the driver of a file once more after it has let go of it: the last hold on it
 * must be ours. */
herr_t sxi_h5_sink_close(sxi_h5_writer *writer) {
    const herr_t closed = writer->id >= 0 ? H5Fclose(writer->id) : 0;
    if (writer->driver >= 0) {
        H5FDunregister(writer->driver);
    }
    return closed;
}
