/* SPDX-License-Identifier: Apache-2.0
 * Whether everything is there that a virtual or externally stored dataset is made of. HDF5 fills
 * with zeros what it does not find, without a word; here that is an error. */
#include "io/hdf5/h5_locked.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH = 8 }; /* virtual datasets of virtual datasets */

/* What is being asked, the same for every mapping of a dataset. */
typedef struct question {
    const char *path; /* of the file that holds the dataset */
    const char *name;
    hid_t dataset;
    const hsize_t *start;
    const hsize_t *count;
    int rank;
    int depth;
} question;

static sx_status check_dataset(const question *q, bool *checked);

/* Opens folder/name, or name alone; negative where that is no HDF5 file. */
static hid_t try_open(const char *folder, const char *name) {
    char path[PATH_MAX];
    const int length = folder ? snprintf(path, sizeof path, "%s/%s", folder, name)
                              : snprintf(path, sizeof path, "%s", name);
    struct stat about;
    if (length >= (int)sizeof path || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return -1;
    }
    hid_t access = sxi_h5_access();
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

/* Tries the folders of HDF5_VDS_PREFIX, which are separated by colons. */
static hid_t try_prefixes(const char *prefixes, const char *name) {
    hid_t file = -1;
    char *copy = prefixes && prefixes[0] ? strdup(prefixes) : NULL;
    char *rest = NULL;
    for (char *folder = copy ? strtok_r(copy, ":", &rest) : NULL; folder && file < 0;
         folder = strtok_r(NULL, ":", &rest)) {
        file = try_open(folder, name);
    }
    free(copy);
    return file;
}

/* Opens a source file where HDF5 looks for it: as it is if absolute, else under the prefix, beside
 * the file, from the current folder, beside the file a link points to. An absolute name that is not
 * there is looked for by its last part. */
static hid_t source_open(const question *q, const char *source) {
    if (strcmp(source, ".") == 0) {
        return H5Iget_file_id(q->dataset);
    }
    char beside[PATH_MAX];
    char real[PATH_MAX];
    snprintf(beside, sizeof beside, "%s", q->path);
    const char *name = source;
    hid_t file = -1;
    if (source[0] == '/') {
        file = try_open(NULL, source);
        name = strrchr(source, '/') + 1;
    }
    if (file < 0) {
        file = try_prefixes(getenv("HDF5_VDS_PREFIX"), name);
    }
    if (file < 0) {
        file = try_open(dirname(beside), name);
    }
    if (file < 0) {
        file = try_open(NULL, name);
    }
    if (file < 0 && realpath(q->path, real)) {
        file = try_open(dirname(real), name);
    }
    return file;
}

/* The part of the source that the mapping names lies inside it; its own sources are there too. A
 * selection of all of it keeps no extent, so needed is the number of elements (0: not known). */
static sx_status check_source(const question *q, hid_t file, const char *source, const char *name,
                              hid_t selection, hssize_t needed) {
    sx_status status = SX_OK;
    hid_t space = -1;
    char path[PATH_MAX] = "";
    hsize_t extent[H5S_MAX_RANK] = {0};
    hsize_t low[H5S_MAX_RANK] = {0};
    hsize_t high[H5S_MAX_RANK] = {0};
    const bool exists = H5Oexists_by_name(file, name, H5P_DEFAULT) > 0;
    hid_t dataset = exists ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    if (dataset < 0) {
        status = SXI_FAIL(SX_ERR_MISSING,
                          "%s:%s is a virtual dataset; its source dataset %s in the file %s is "
                          "missing",
                          q->path, q->name, name, strcmp(source, ".") == 0 ? q->path : source);
        goto out;
    }
    space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    if (rank <= 0) {
        goto out;
    }
    const bool all = H5Sget_select_type(selection) == H5S_SEL_ALL;
    const bool bounded = !all && H5Sget_simple_extent_ndims(selection) == rank &&
                         H5Sget_select_bounds(selection, low, high) >= 0;
    if (all && H5Sget_simple_extent_npoints(space) < needed) {
        status = SXI_FAIL(SX_ERR_MISSING,
                          "%s:%s is a virtual dataset; its source %s:%s has %lld elements, %lld "
                          "are needed",
                          q->path, q->name, source, name,
                          (long long)H5Sget_simple_extent_npoints(space), (long long)needed);
        goto out;
    }
    for (int d = 0; d < rank; d++) {
        if (bounded && high[d] >= extent[d]) {
            status = SXI_FAIL(SX_ERR_MISSING,
                              "%s:%s is a virtual dataset; its source %s:%s ends at %llu of axis "
                              "%d, %llu is needed",
                              q->path, q->name, source, name, (unsigned long long)extent[d], d,
                              (unsigned long long)high[d] + 1);
            goto out;
        }
        extent[d] = bounded ? high[d] - low[d] + 1 : extent[d];
    }
    H5Fget_name(dataset, path, sizeof path);
    const question inner = {.path = path,
                            .name = name,
                            .dataset = dataset,
                            .start = low,
                            .count = extent,
                            .rank = rank,
                            .depth = q->depth + 1};
    status = check_dataset(&inner, NULL);
out:
    if (space >= 0) {
        H5Sclose(space);
    }
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    return status;
}

static sx_status check_named(const question *q, const char *source, const char *name,
                             hid_t selection, hssize_t needed) {
    hid_t file = source_open(q, source);
    if (file < 0) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s:%s is a virtual dataset; its source file %s is missing or unreadable",
                        q->path, q->name, source);
    }
    sx_status status = check_source(q, file, source, name, selection, needed);
    H5Fclose(file);
    return status;
}

/* Puts the number of the block for "%b" and "%" for "%%". */
static void expand(const char *pattern, hsize_t block, char *text, size_t size) {
    size_t used = 0;
    for (const char *at = pattern; *at && used + 24 < size; at++) {
        if (at[0] == '%' && at[1] == 'b') {
            used += (size_t)snprintf(text + used, size - used, "%llu", (unsigned long long)block);
            at++;
        } else {
            text[used++] = *at;
            at += at[0] == '%' && at[1] == '%';
        }
    }
    text[used] = '\0';
}

/* A mapping with one source per block: those blocks that the box meets along the unlimited axis. */
static sx_status check_blocks(const question *q, hid_t space, const char *source, const char *name,
                              hid_t selection) {
    hsize_t start[H5S_MAX_RANK];
    hsize_t stride[H5S_MAX_RANK];
    hsize_t count[H5S_MAX_RANK];
    hsize_t block[H5S_MAX_RANK];
    if (H5Sget_regular_hyperslab(space, start, stride, count, block) < 0) {
        return SX_OK;
    }
    int axis = 0;
    while (axis < q->rank - 1 && count[axis] != H5S_UNLIMITED) {
        axis++;
    }
    const hsize_t end = q->start[axis] + q->count[axis];
    const hsize_t step = stride[axis] ? stride[axis] : 1;
    hsize_t j = q->start[axis] > start[axis] ? (q->start[axis] - start[axis]) / step : 0;
    for (; start[axis] + j * step < end; j++) {
        if (start[axis] + j * step + block[axis] <= q->start[axis]) {
            continue; /* the box begins in the gap behind this block */
        }
        char file[PATH_MAX];
        char dataset[PATH_MAX];
        expand(source, j, file, sizeof file);
        expand(name, j, dataset, sizeof dataset);
        SXI_TRY(check_named(q, file, dataset, selection, 0));
    }
    return SX_OK;
}

/* Whether the box meets the part of the virtual dataset that a mapping fills. */
static bool meets(const question *q, hid_t space) {
    if (H5Sget_select_type(space) != H5S_SEL_HYPERSLABS) {
        return true;
    }
    hid_t common = H5Scopy(space);
    const bool cut = H5Sselect_hyperslab(common, H5S_SELECT_AND, q->start, NULL, q->count, NULL) >=
                     0; /* fails for unlimited selections: then look */
    const bool met = !cut || H5Sget_select_npoints(common) > 0;
    H5Sclose(common);
    return met;
}

static sx_status check_mapping(const question *q, hid_t created, size_t i, bool *found) {
    char source[PATH_MAX] = "";
    char name[PATH_MAX] = "";
    H5Pget_virtual_filename(created, i, source, sizeof source);
    H5Pget_virtual_dsetname(created, i, name, sizeof name);
    hid_t space = H5Pget_virtual_vspace(created, i);
    hid_t selection = H5Pget_virtual_srcspace(created, i);
    sx_status status = SX_OK;
    *found = false;
    if (strstr(source, "%b") || strstr(name, "%b")) {
        status = check_blocks(q, space, source, name, selection);
    } else if (meets(q, space)) {
        char plain_source[PATH_MAX];
        char plain_name[PATH_MAX];
        expand(source, 0, plain_source, sizeof plain_source);
        expand(name, 0, plain_name, sizeof plain_name);
        status = check_named(q, plain_source, plain_name, selection, H5Sget_select_npoints(space));
        *found = status == SX_OK;
    }
    H5Sclose(space);
    H5Sclose(selection);
    return status;
}

static sx_status check_virtual(const question *q, hid_t created, bool *checked) {
    size_t count = 0;
    if (q->depth > DEPTH) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s:%s: virtual datasets are nested more than %d deep",
                        q->path, q->name, DEPTH);
    }
    H5Pget_virtual_count(created, &count);
    for (size_t i = 0; i < count; i++) {
        if (checked && checked[i]) {
            continue;
        }
        bool found = false;
        SXI_TRY(check_mapping(q, created, i, &found));
        if (checked) {
            checked[i] = found;
        }
    }
    return SX_OK;
}

/* Raw data kept in other files, one after the other. */
static sx_status check_external(const question *q, hid_t created) {
    const int count = H5Pget_external_count(created);
    const char *prefix = getenv("HDF5_EXTFILE_PREFIX");
    for (int i = 0; i < count; i++) {
        char name[PATH_MAX] = "";
        char path[2 * PATH_MAX];
        off_t offset = 0;
        hsize_t size = 0;
        struct stat about;
        H5Pget_external(created, (unsigned)i, sizeof name - 1, name, &offset, &size);
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%s", q->path);
        if (name[0] == '/' || !prefix || !prefix[0]) {
            snprintf(path, sizeof path, "%s", name);
        } else if (strncmp(prefix, "${ORIGIN}", 9) == 0) {
            snprintf(path, sizeof path, "%s%s/%s", dirname(folder), prefix + 9, name);
        } else {
            snprintf(path, sizeof path, "%s/%s", prefix, name);
        }
        if (stat(path, &about) != 0) {
            return SXI_FAIL(SX_ERR_MISSING,
                            "%s:%s keeps its numbers in the file %s, which cannot be opened: %s "
                            "(HDF5_EXTFILE_PREFIX names its folder)",
                            q->path, q->name, path, strerror(errno));
        }
        const bool open_end = size == H5F_UNLIMITED;
        if (!open_end && (hsize_t)about.st_size < (hsize_t)offset + size) {
            return SXI_FAIL(SX_ERR_FORMAT,
                            "%s:%s keeps its numbers in the file %s, which has %lld of %llu bytes",
                            q->path, q->name, path, (long long)about.st_size,
                            (unsigned long long)offset + (unsigned long long)size);
        }
    }
    return SX_OK;
}

static sx_status check_dataset(const question *q, bool *checked) {
    hid_t created = H5Dget_create_plist(q->dataset);
    sx_status status = H5Pget_layout(created) == H5D_VIRTUAL ? check_virtual(q, created, checked)
                                                             : check_external(q, created);
    H5Pclose(created);
    return status;
}

sx_status sxi_h5_check_sources(const char *path, const char *name, hid_t dataset,
                               const hsize_t *start, const hsize_t *count, bool *checked) {
    hid_t space = H5Dget_space(dataset);
    const question q = {.path = path,
                        .name = name,
                        .dataset = dataset,
                        .start = start,
                        .count = count,
                        .rank = H5Sget_simple_extent_ndims(space)};
    H5Sclose(space);
    return check_dataset(&q, checked);
}
