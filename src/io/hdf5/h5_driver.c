/* SPDX-License-Identifier: Apache-2.0
 * Why a driver of our own: H5Dget_chunk_info of HDF5 1.10 walks the index from its start at every
 * call, forgets the user block and is wrong for one kind of index. H5Dread_chunk looks up one chunk
 * at the cost of a tree's height, for every kind; a driver that notes the read it is asked for and
 * does not do it turns that into an address. */
#include "io/hdf5/h5_driver.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct disk {
    H5FD_t public; /* HDF5's part, first by its rule */
    sxi_h5_disk ours;
    haddr_t eoa; /* what HDF5 believes to be the end */
    dev_t device;
    ino_t inode;
} disk;

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t access, haddr_t most) {
    (void)access;
    (void)most;
    if (flags & H5F_ACC_RDWR) {
        return NULL;
    }
    disk *file = calloc(1, sizeof *file);
    struct stat about;
    if (!file) {
        return NULL;
    }
    /* O_NONBLOCK: a pipe would not be opened before somebody writes to it */
    file->ours.fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->ours.fd < 0 || fstat(file->ours.fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        if (file->ours.fd >= 0) {
            close(file->ours.fd);
        }
        free(file);
        return NULL;
    }
    file->device = about.st_dev;
    file->inode = about.st_ino;
    return &file->public;
}

static herr_t disk_close(H5FD_t *file) {
    close(((disk *)file)->ours.fd);
    free(file);
    return 0;
}

static int disk_compare(const H5FD_t *one, const H5FD_t *other) {
    const disk *a = (const disk *)one;
    const disk *b = (const disk *)other;
    return a->device != b->device ? (a->device < b->device ? -1 : 1)
                                  : (a->inode > b->inode) - (a->inode < b->inode);
}

static herr_t disk_query(const H5FD_t *file, unsigned long *flags) {
    (void)file;
    if (flags) {
        /* With a handle that begins with an fd HDF5 follows links to the file; the sources of a
         * virtual dataset may lie beside it. */
        *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_SUPPORTS_SWMR_IO |
                 H5FD_FEAT_POSIX_COMPAT_HANDLE;
    }
    return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const disk *)file)->eoa;
}

static herr_t disk_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t end) {
    (void)type;
    ((disk *)file)->eoa = end;
    return 0;
}

static haddr_t disk_get_eof(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    struct stat about;
    return fstat(((const disk *)file)->ours.fd, &about) == 0 ? (haddr_t)about.st_size : HADDR_UNDEF;
}

static herr_t disk_get_handle(H5FD_t *file, hid_t access, void **handle) {
    (void)access;
    *handle = &((disk *)file)->ours;
    return 0;
}

/* Zeros beyond the end, as HDF5's own driver gives: its first look at a file asks for more than a
 * short one has. */
static herr_t disk_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes,
                        void *buffer) {
    (void)transfer;
    sxi_h5_disk *ours = &((disk *)file)->ours;
    if (ours->recording && type == H5FD_MEM_DRAW) {
        ours->reads++;
        ours->address = at;
        ours->bytes = bytes;
        return 0;
    }
    for (char *to = buffer; bytes > 0;) {
        const ssize_t got = pread(ours->fd, to, bytes, (off_t)at);
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        if (got == 0) {
            memset(to, 0, bytes);
            break;
        }
        const size_t done = got > 0 ? (size_t)got : 0;
        to += done;
        at += done;
        bytes -= done;
    }
    return 0;
}

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes,
                         const void *buffer) {
    (void)file;
    (void)type;
    (void)transfer;
    (void)at;
    (void)bytes;
    (void)buffer;
    return -1;
}

/* Some file systems of clusters have no locks; HDF5 is told to go on without (H5Pset_file_locking),
 * and so do we. */
static herr_t disk_lock(H5FD_t *file, hbool_t write) {
    (void)write;
    if (flock(((disk *)file)->ours.fd, LOCK_SH | LOCK_NB) == 0 || errno == ENOSYS ||
        errno == ENOTSUP) {
        return 0;
    }
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_CANTOPENFILE,
             "unable to lock file: %s", strerror(errno));
    return -1;
}

static herr_t disk_unlock(H5FD_t *file) {
    flock(((disk *)file)->ours.fd, LOCK_UN);
    return 0;
}

static const H5FD_class_t disk_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 601, /* above HDF5's own drivers */
#endif
    .name = "sextant_disk",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_WEAK,
    .open = disk_open,
    .close = disk_close,
    .cmp = disk_compare,
    .query = disk_query,
    .get_eoa = disk_get_eoa,
    .set_eoa = disk_set_eoa,
    .get_eof = disk_get_eof,
    .get_handle = disk_get_handle,
    .read = disk_read,
    .write = disk_write,
    .lock = disk_lock,
    .unlock = disk_unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* One number for the process, guarded by the lock: HDF5 takes two files for the same only if their
 * drivers are one. It ends with the HDF5 library, after which it is asked for anew. */
static hid_t driver = H5I_INVALID_HID;

hid_t sxi_h5_driver(void) {
    if (driver < 0 || H5Iget_type(driver) != H5I_VFL) {
        driver = H5FDregister(&disk_class);
    }
    return driver;
}

/* Whatever is opened here has our driver; external links and virtual datasets pass it on. */
sxi_h5_disk *sxi_h5_disk_of(hid_t file) {
    void *handle = NULL;
    return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 ? handle : NULL;
}
