/* SPDX-License-Identifier: Apache-2.0
 * Looking for the sources of virtual datasets, and keeping them open. HDF5 fills with zeros what it
 * does not find, without a word; here that is an error. */
#include "io/hdf5/sources/h5_sources.h"
#include "io/hdf5/reader/h5_job.h"

#include <assert.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether the search ends at this path. */
typedef bool (*look_fn)(void *data, const char *path);

static bool look_in(const char *folder, const char *name, look_fn look, void *data) {
    char path[2 * PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < (int)sizeof path && look(data, path);
}

/* The folders of HDF5_VDS_PREFIX, which are separated by colons; then all of it as one folder, whose
 * ${ORIGIN} stands for that of the file. */
static bool look_in_prefixes(const char *origin, const char *name, look_fn look, void *data) {
    const char *prefixes = getenv("HDF5_VDS_PREFIX");
    if (!prefixes || !prefixes[0]) {
        return false;
    }
    char folder[PATH_MAX];
    for (const char *at = prefixes; *at;) {
        const size_t length = strcspn(at, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, at);
        if (length > 0 && look_in(folder, name, look, data)) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    const bool has_origin = strncmp(prefixes, "${ORIGIN}", 9) == 0;
    const int length = snprintf(folder, sizeof folder, "%s%s", has_origin ? origin : "",
                                prefixes + (has_origin ? 9 : 0));
    return length < (int)sizeof folder && look_in(folder, name, look, data);
}

/* The places where HDF5 looks for a source file: as it is if absolute, else under the prefix, beside
 * the file, from the current folder, beside the file a link points to. An absolute name that is not
 * there is looked for by its last part. */
static bool search(const char *path, const char *source, look_fn look, void *data) {
    char origin[PATH_MAX];
    char real[PATH_MAX];
    const char *name = source;
    if (source[0] == '/') {
        if (look(data, source)) {
            return true;
        }
        name = strrchr(source, '/') + 1;
    }
    snprintf(origin, sizeof origin, "%s", path);
    const char *folder = dirname(origin);
    return look_in_prefixes(folder, name, look, data) || look_in(folder, name, look, data) ||
           look(data, name) || (realpath(path, real) && look_in(dirname(real), name, look, data));
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* The file that a caller opened keeps the sources of all depths. */
static sx_hdf5 *root_of(sx_hdf5 *file) { return file->root ? file->root : file; }

typedef struct finder {
    sx_hdf5 *root;
    sx_hdf5 *found;
    sx_status tried; /* why one that is there did not open */
} finder;

static bool look_among_open(void *data, const char *path) {
    finder *search = data;
    for (sx_hdf5 *each = search->root->sources; each && !search->found; each = each->next) {
        if (strcmp(each->path, path) == 0) {
            search->found = each;
        }
    }
    return search->found || is_file(path);
}

/* Closes the sources that were not needed for longest, until at most `most` idle ones are open. Returns
 * whether there was one to close. */
static bool trim(sx_hdf5 *root, int most) {
    for (bool closed = false;; closed = true) {
        int idle = 0;
        sx_hdf5 **oldest = NULL;
        for (sx_hdf5 **at = &root->sources; *at; at = &(*at)->next) {
            if ((*at)->pins == 0) {
                idle++;
                oldest = !oldest || (*at)->used < (*oldest)->used ? at : oldest;
            }
        }
        if (idle <= most) {
            return closed;
        }
        sx_hdf5 *gone = *oldest;
        *oldest = gone->next;
        sxi_h5_file_close(gone);
    }
}

static bool look_and_open(void *data, const char *path) {
    finder *search = data;
    if (!look_among_open(data, path)) {
        return false;
    }
    if (!search->found) {
        search->tried = sxi_h5_file_open(path, &search->found);
        if (search->tried != SX_OK && trim(search->root, 0)) { /* no more files may be open? */
            search->tried = sxi_h5_file_open(path, &search->found);
        }
        if (search->tried != SX_OK) {
            return false;
        }
        search->found->root = search->root;
        search->found->next = search->root->sources;
        search->root->sources = search->found;
    }
    return true;
}

static sx_status file_of(sx_hdf5 *file, const char *outer, const char *source, sx_hdf5 **opened) {
    finder found = {.root = root_of(file), .found = file};
    if (strcmp(source, ".") != 0) {
        found.found = NULL;
        search(file->path, source, look_and_open, &found);
    }
    *opened = found.found;
    if (found.found) {
        return SX_OK;
    }
    return found.tried != SX_OK
               ? sxi_fail_context(found.tried, "%s:%s is a virtual dataset; its source", file->path,
                                  outer)
               : SXI_FAIL(SX_ERR_MISSING,
                          "%s:%s is a virtual dataset; its source file %s is missing", file->path,
                          outer, source);
}

sx_status sxi_h5_source_open(sx_hdf5 *file, const char *outer, const char *source, const char *name,
                             sx_hdf5 **opened, sxi_h5_entry **entry) {
    sx_hdf5 *found = NULL;
    SXI_TRY(file_of(file, outer, source, &found));
    assert(found);
    if (H5Oexists_by_name(found->id, name, H5P_DEFAULT) <= 0) {
        if (H5Lexists(found->id, name, H5P_DEFAULT) > 0) { /* to a file that is not there? */
            return sxi_fail_context(sxi_h5_missing(found, name),
                                    "%s:%s is a virtual dataset; its source", file->path, outer);
        }
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s:%s is a virtual dataset; its source dataset %s in the file %s is "
                        "missing",
                        file->path, outer, name, found == file ? file->path : source);
    }
    sx_status status = sxi_h5_entry_get(found, name, entry);
    if (status != SX_OK) {
        return sxi_fail_context(status, "%s:%s is a virtual dataset; its source", file->path,
                                outer);
    }
    (*entry)->pins++;
    found->pins += found->root != NULL;
    found->used = ++root_of(file)->clock;
    *opened = found;
    trim(root_of(file), SXI_H5_SOURCES);
    return SX_OK;
}

void sxi_h5_source_close(sx_hdf5 *opened, sxi_h5_entry *entry) {
    entry->pins--;
    opened->pins -= opened->root != NULL;
    trim(root_of(opened), SXI_H5_SOURCES);
}

bool sxi_h5_source_exists(sx_hdf5 *file, const char *source, const char *name) {
    finder found = {.root = root_of(file)};
    if (strcmp(source, ".") == 0) {
        found.found = file;
    } else if (!search(file->path, source, look_among_open, &found)) {
        return false;
    }
    return !found.found || H5Oexists_by_name(found.found->id, name, H5P_DEFAULT) > 0;
}

sx_status sxi_h5_source_short(const sx_hdf5 *file, const char *outer, const char *source,
                              const char *name, int axis, int64_t extent, int64_t needed) {
    return SXI_FAIL(SX_ERR_MISSING,
                    "%s:%s is a virtual dataset; its source %s:%s ends at %lld of axis %d, %lld is "
                    "needed",
                    file->path, outer, source, name, (long long)extent, axis, (long long)needed);
}

sx_status sxi_h5_source_small(const sx_hdf5 *file, const char *outer, const char *source,
                              const char *name, int64_t elements, int64_t needed) {
    return SXI_FAIL(SX_ERR_MISSING,
                    "%s:%s is a virtual dataset; its source %s:%s has %lld elements, %lld are "
                    "needed",
                    file->path, outer, source, name, (long long)elements, (long long)needed);
}

/* What is placed as bytes is not converted. */
static bool same_type(hid_t one, hid_t other) {
    hid_t type = H5Dget_type(one);
    hid_t type_of_other = H5Dget_type(other);
    const bool same = H5Tequal(type, type_of_other) > 0;
    H5Tclose(type);
    H5Tclose(type_of_other);
    return same;
}

/* Whether an open source can give what the link asks for. */
static sx_status check_link(const sxi_h5_job *outer, const sxi_h5_link *link,
                            const sxi_h5_entry *entry) {
    const char *path = outer->file->path;
    const char *name = outer->entry->name;
    const sx_hdf5_dataset *about = &entry->about;
    if (about->rank != link->rank) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s:%s is a virtual dataset; its source %s:%s has %d axes, %d are needed",
                        path, name, link->file, link->name, about->rank, link->rank);
    }
    for (int d = 0; d < link->rank; d++) {
        const int64_t needed = link->start[d] + link->count[d];
        if (needed > about->shape[d]) {
            return sxi_h5_source_short(outer->file, name, link->file, link->name, d,
                                       about->shape[d], needed);
        }
    }
    if (link->target.type.kind == SXI_PLACE_BYTES && !same_type(outer->entry->id, entry->id)) {
        return SXI_FAIL(SX_ERR_TYPE,
                        "%s:%s is a virtual dataset; the elements of its source %s:%s are of "
                        "another type",
                        path, name, link->file, link->name);
    }
    return SX_OK;
}

sx_status sxi_h5_link_open(const sxi_h5_job *outer, const sxi_h5_link *link, sxi_h5_job *job) {
    *job = (sxi_h5_job){0};
    sx_hdf5 *file = NULL;
    sxi_h5_entry *entry = NULL;
    SXI_TRY(
        sxi_h5_source_open(outer->file, outer->entry->name, link->file, link->name, &file, &entry));
    assert(file && entry);
    sx_status status = check_link(outer, link, entry);
    if (status != SX_OK) {
        sxi_h5_source_close(file, entry);
        return status;
    }
    *job = (sxi_h5_job){.file = file, .entry = entry, .target = link->target};
    memcpy(job->start, link->start, sizeof job->start);
    memcpy(job->count, link->count, sizeof job->count);
    return SX_OK;
}

void sxi_h5_job_close(sxi_h5_job *job) {
    if (job->entry) {
        sxi_h5_source_close(job->file, job->entry);
        *job = (sxi_h5_job){0};
    }
}
