/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5/sources/h5_external.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where HDF5 looks: the prefix, whose ${ORIGIN} stands for the folder of the file, then the name;
 * an absolute name as it is. Without a prefix names start from the current folder. */
static char *path_of(const sx_hdf5 *file, const char *name) {
    const char *prefix = getenv("HDF5_EXTFILE_PREFIX");
    char origin[PATH_MAX];
    if (name[0] == '/' || !prefix || !prefix[0]) {
        return strdup(name);
    }
    snprintf(origin, sizeof origin, "%s", file->path);
    const bool has_origin = strncmp(prefix, "${ORIGIN}", 9) == 0;
    const char *folder = has_origin ? dirname(origin) : "";
    prefix += has_origin ? 9 : 0;
    const size_t size = strlen(folder) + strlen(prefix) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) {
        snprintf(path, size, "%s%s/%s", folder, prefix, name);
    }
    return path;
}

static sx_status open_segment(const sx_hdf5 *file, const sxi_h5_entry *entry,
                              sxi_h5_segment *segment) {
    struct stat about;
    /* O_NONBLOCK: a pipe would not be opened before somebody writes to it */
    segment->fd = open(segment->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (segment->fd < 0 || fstat(segment->fd, &about) != 0) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s:%s keeps its numbers in the file %s, which cannot be opened: %s "
                        "(HDF5_EXTFILE_PREFIX names its folder)",
                        file->path, entry->name, segment->path, strerror(errno));
    }
    if ((int64_t)about.st_size < segment->offset ||
        (int64_t)about.st_size - segment->offset < segment->bytes) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s:%s keeps its numbers in the file %s, which has %lld of %lld bytes",
                        file->path, entry->name, segment->path, (long long)about.st_size,
                        (long long)segment->offset + (long long)segment->bytes);
    }
    return SX_OK;
}

/* File i of the list, of which at most rest bytes are needed. */
static sx_status read_segment(const sx_hdf5 *file, const sxi_h5_entry *entry, hid_t created, int i,
                              int64_t rest, sxi_h5_segment *segment) {
    char name[PATH_MAX] = "";
    off_t offset = 0;
    hsize_t size = 0;
    if (H5Pget_external(created, (unsigned)i, sizeof name - 1, name, &offset, &size) < 0 ||
        offset < 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s:%s: the list of its raw files cannot be read",
                        file->path, entry->name);
    }
    segment->path = path_of(file, name);
    segment->offset = (int64_t)offset;
    segment->bytes = size < (hsize_t)rest ? (int64_t)size : rest; /* H5F_UNLIMITED is large */
    return segment->path ? open_segment(file, entry, segment)
                         : SXI_FAIL(SX_ERR_MEMORY, "%s:%s: no memory for the list of its raw files",
                                    file->path, entry->name);
}

static int64_t bytes_of(const sxi_h5_entry *entry) {
    hid_t space = H5Dget_space(entry->id);
    hid_t type = H5Dget_type(entry->id);
    const int64_t bytes = (int64_t)H5Sget_simple_extent_npoints(space) * (int64_t)H5Tget_size(type);
    H5Tclose(type);
    H5Sclose(space);
    return bytes;
}

sx_status sxi_h5_external_get(const sx_hdf5 *file, const sxi_h5_entry *entry,
                              sxi_h5_segments *segments) {
    sx_status status = SX_OK;
    *segments = (sxi_h5_segments){0};
    hid_t created = H5Dget_create_plist(entry->id);
    const int count = H5Pget_external_count(created);
    int64_t rest = bytes_of(entry);
    segments->segment = calloc((size_t)(count > 0 ? count : 1), sizeof *segments->segment);
    if (!segments->segment) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s:%s: no memory for the list of its raw files",
                          file->path, entry->name);
        goto out;
    }
    for (int i = 0; i < count && rest > 0; i++) {
        segments->segment[segments->count++].fd = -1;
        SXI_GO(read_segment(file, entry, created, i, rest, &segments->segment[i]));
        rest -= segments->segment[i].bytes;
    }
    if (rest > 0) {
        status =
            SXI_FAIL(SX_ERR_FORMAT, "%s:%s keeps its numbers in raw files that lack %lld bytes",
                     file->path, entry->name, (long long)rest);
    }
out:
    H5Pclose(created);
    if (status != SX_OK) {
        sxi_h5_external_free(segments);
    }
    return status;
}

void sxi_h5_external_free(sxi_h5_segments *segments) {
    for (int i = 0; segments->segment && i < segments->count; i++) {
        if (segments->segment[i].fd >= 0) {
            close(segments->segment[i].fd);
        }
        free(segments->segment[i].path);
    }
    free(segments->segment);
    *segments = (sxi_h5_segments){0};
}
