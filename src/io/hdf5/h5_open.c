/* SPDX-License-Identifier: Apache-2.0
 * Opening a file, and saying what is wrong with one that does not open. */
#include "io/hdf5/h5_driver.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

enum { HEAD_BYTES = 512 };

/* First bytes of formats that people take for HDF5 by mistake. */
static const struct {
    const char *bytes;
    size_t count;
    const char *words;
} known[] = {
    {"SIMPLE  =", 9, "a FITS file"},
    {"PK\x03\x04", 4, "a zip archive (or .npz, .docx)"},
    {"\x1f\x8b", 2, "a gzip file: unpack it first"},
    {"BZh", 3, "a bzip2 file: unpack it first"},
    {"\xfd"
     "7zXZ",
     5, "an xz file: unpack it first"},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file: unpack it first"},
    {"\x93NUMPY", 6, "a NumPy .npy file"},
    {"CDF\x01", 4, "a classic NetCDF file"},
    {"CDF\x02", 4, "a classic NetCDF file"},
    {"\x0e\x03\x13\x01", 4, "an HDF4 file"},
    {"MATLAB 5.0", 10, "a MATLAB 5 file"},
    {"II*\0", 4, "a TIFF image"},
    {"MM\0*", 4, "a TIFF image"},
    {"\x89PNG", 4, "a PNG image"},
    {"\xff\xd8\xff", 3, "a JPEG image"},
    {"%PDF", 4, "a PDF file"},
    {"\x7f"
     "ELF",
     4, "a program"},
    {"version https://git-lfs", 23, "a Git LFS pointer: fetch the real file with git lfs pull"},
};

/* What the first count bytes look like. */
static const char *looks_like(const unsigned char *head, size_t count) {
    if (count == 0) {
        return "it is empty";
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (count >= known[i].count && memcmp(head, known[i].bytes, known[i].count) == 0) {
            return known[i].words;
        }
    }
    bool text = true;
    bool zero = true;
    for (size_t i = 0; i < count; i++) {
        text = text && (head[i] >= 0x80 || isprint(head[i]) || isspace(head[i]));
        zero = zero && head[i] == 0;
    }
    return zero   ? "it starts with zero bytes (a copy that did not finish?)"
           : text ? "it looks like text"
                  : "its first bytes are of no format known here";
}

/* HDF5 looks for the signature at 0, 512, 1024, 2048 and so on (a user block may come first). */
static bool has_signature(int fd, off_t size) {
    for (off_t at = 0; at < size; at = at == 0 ? 512 : 2 * at) {
        unsigned char found[sizeof signature];
        if (pread(fd, found, sizeof found, at) == (ssize_t)sizeof found &&
            memcmp(found, signature, sizeof found) == 0) {
            return true;
        }
    }
    return false;
}

/* Everything that can be said of a file without the HDF5 library. */
static sx_status inspect(const char *path, long long *bytes) {
    struct stat about;
    if (stat(path, &about) != 0) {
        return errno == ENOENT
                   ? SXI_FAIL(SX_ERR_IO, "%s: no such file", path)
                   : SXI_FAIL(SX_ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return SXI_FAIL(SX_ERR_IO, "%s is a folder, an HDF5 file is needed", path);
    }
    if (!S_ISREG(about.st_mode)) {
        return SXI_FAIL(SX_ERR_IO, "%s is not a regular file; HDF5 needs one, not a pipe or device",
                        path);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
    }
    *bytes = (long long)about.st_size;
    unsigned char head[HEAD_BYTES];
    ssize_t count = pread(fd, head, sizeof head, 0);
    const int error = errno;
    const bool hdf5 = count >= 0 && has_signature(fd, about.st_size);
    close(fd);
    if (count < 0) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be read: %s", path, strerror(error));
    }
    return hdf5 ? SX_OK
                : SXI_FAIL(SX_ERR_FORMAT, "%s is not an HDF5 file: %s", path,
                           looks_like(head, (size_t)count));
}

hid_t sxi_h5_access(void) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0) {
        H5Pset_driver(access, sxi_h5_driver(), NULL);
    }
#if H5_VERSION_GE(1, 10, 7)
    if (access >= 0) {
        H5Pset_file_locking(access, true, true);
    }
#endif
    return access;
}

static bool is_being_written(const char *reason) {
    return strstr(reason, "already open for write") || strstr(reason, "unable to lock file") ||
           strstr(reason, "consistency flags");
}

/* The sentence for a file that has the signature but does not open. */
static sx_status refused(const char *path, long long bytes, const char *reason) {
    const char *stored = strstr(reason, "stored_eof = ");
    if (strstr(reason, "truncated file") && stored) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s is truncated: %lld bytes on disk, HDF5 expects %lld; copy it again",
                        path, bytes, strtoll(stored + strlen("stored_eof = "), NULL, 10));
    }
    if (is_being_written(reason)) {
        return SXI_FAIL(SX_ERR_IO,
                        "%s is being written by another program, or was not closed by one that "
                        "died (h5clear -s repairs that): %s",
                        path, reason);
    }
    return SXI_FAIL(SX_ERR_FORMAT,
                    "%s (%lld bytes) has the mark of an HDF5 file but does not open: %s", path,
                    bytes, reason);
}

/* Why a file does not open: what can be seen without the HDF5 library comes first. */
static sx_status not_opened(const char *path, const char *reason) {
    long long bytes = 0;
    SXI_TRY(inspect(path, &bytes));
    return refused(path, bytes, reason);
}

static sx_status open_locked(const char *path, sx_hdf5 *file) {
    char reason[SXI_H5_REASON] = "";
    hid_t access = sxi_h5_access();
    file->id = access < 0 ? -1 : H5Fopen(path, H5F_ACC_RDONLY, access);
    if (file->id < 0) {
        sxi_h5_reason(reason, sizeof reason);
        /* A writer that lets others read is followed; only to be asked for where somebody writes, as
         * HDF5 then takes a file that was cut, too. */
        file->id = access >= 0 && is_being_written(reason)
                       ? H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access)
                       : -1;
    }
    unsigned intent = 0; /* also of a file that is open already */
    file->live =
        file->id >= 0 && H5Fget_intent(file->id, &intent) >= 0 && (intent & H5F_ACC_SWMR_READ) != 0;
    if (access >= 0) {
        H5Pclose(access);
    }
    const sxi_h5_disk *disk = file->id < 0 ? NULL : sxi_h5_disk_of(file->id);
    struct stat about;
    file->bytes = disk && fstat(disk->fd, &about) == 0 ? (long long)about.st_size : 0;
    return file->id < 0 ? not_opened(path, reason) : SX_OK;
}

sx_status sxi_h5_file_open(const char *path, sx_hdf5 **file) {
    *file = NULL;
    sx_hdf5 *opened = calloc(1, sizeof *opened);
    char *copy = strdup(path);
    if (!opened || !copy) {
        free(opened);
        free(copy);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to open it", path);
    }
    opened->path = copy;
    sx_status status = open_locked(path, opened);
    if (status != SX_OK) {
        free(copy);
        free(opened);
        return status;
    }
    *file = opened;
    return SX_OK;
}

sx_status sx_hdf5_open(const char *path, sx_hdf5 **file) {
    sxi_h5_enter();
    sx_status status = sxi_h5_file_open(path, file);
    sxi_h5_leave();
    return status;
}

void sxi_h5_file_close(sx_hdf5 *file) {
    while (file->sources) {
        sx_hdf5 *source = file->sources;
        file->sources = source->next;
        sxi_h5_file_close(source);
    }
    sxi_h5_entries_drop(file, 0);
    H5Fclose(file->id);
    free(file->path);
    free(file);
}

void sx_hdf5_close(sx_hdf5 **file) {
    if (!file || !*file) {
        return;
    }
    sxi_h5_enter();
    sxi_h5_file_close(*file);
    sxi_h5_leave();
    *file = NULL;
}

const char *sx_hdf5_path_of(const sx_hdf5 *file) { return file->path; }
