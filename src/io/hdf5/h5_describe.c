/* SPDX-License-Identifier: Apache-2.0
 * What lies in a file: existence, members, shape and type of a dataset, attributes. */
#include "io/hdf5/h5_driver.h"
#include "io/hdf5/sources/h5_virtual.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hid_t sxi_h5_native(sx_dtype dtype) {
    switch (dtype) {
    case SX_I8:
        return H5T_NATIVE_INT8;
    case SX_U8:
        return H5T_NATIVE_UINT8;
    case SX_I16:
        return H5T_NATIVE_INT16;
    case SX_U16:
        return H5T_NATIVE_UINT16;
    case SX_I32:
        return H5T_NATIVE_INT32;
    case SX_U32:
        return H5T_NATIVE_UINT32;
    case SX_I64:
        return H5T_NATIVE_INT64;
    case SX_U64:
        return H5T_NATIVE_UINT64;
    case SX_F32:
        return H5T_NATIVE_FLOAT;
    case SX_F64:
        return H5T_NATIVE_DOUBLE;
    }
    return -1;
}

/* h5py and PyTables write bool as an enum of FALSE and TRUE. */
static bool is_bool(hid_t type) {
    unsigned char value[8] = {0};
    return H5Tget_nmembers(type) == 2 && H5Tget_size(type) <= sizeof value &&
           H5Tenum_valueof(type, "FALSE", value) >= 0 && H5Tenum_valueof(type, "TRUE", value) >= 0;
}

static sx_dtype integer_of(size_t size, bool is_signed) {
    return size <= 1   ? (is_signed ? SX_I8 : SX_U8)
           : size <= 2 ? (is_signed ? SX_I16 : SX_U16)
           : size <= 4 ? (is_signed ? SX_I32 : SX_U32)
                       : (is_signed ? SX_I64 : SX_U64);
}

/* Fills numeric and dtype. A float wider than 8 bytes is not numeric: a double would lose digits
 * without saying so. */
static void describe_type(hid_t type, sx_hdf5_dataset *about) {
    const size_t size = H5Tget_size(type);
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_ENUM) {
        hid_t base = H5Tget_super(type);
        describe_type(base, about);
        if (about->numeric && is_bool(type)) {
            about->dtype = SX_U8;
        }
        H5Tclose(base);
    } else if (class == H5T_INTEGER && size <= 8) {
        about->numeric = true;
        about->dtype = integer_of(size, H5Tget_sign(type) == H5T_SGN_2);
    } else if (class == H5T_BITFIELD && size <= 8) { /* bool and flags of PyTables */
        about->numeric = true;
        about->dtype = integer_of(size, false);
    } else if (class == H5T_FLOAT && size <= 8) {
        about->numeric = true;
        about->dtype = size <= 4 ? SX_F32 : SX_F64;
    }
}

/* A null dataspace has no extent. */
sx_status sxi_h5_describe_space(const char *path, const char *name, hid_t dataset,
                                sx_hdf5_dataset *about) {
    hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_ndims(space);
    const bool null = H5Sget_simple_extent_type(space) == H5S_NULL;
    hsize_t extent[H5S_MAX_RANK] = {0};
    if (rank > 0) {
        H5Sget_simple_extent_dims(space, extent, NULL);
    }
    H5Sclose(space);
    if (null || rank < 0) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s is empty (it has no extent at all)", path, name);
    }
    if (rank > SX_MAX_RANK) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %d axes, at most %d can be read", path, name, rank,
                        SX_MAX_RANK);
    }
    about->rank = rank;
    for (int d = 0; d < rank; d++) {
        about->shape[d] = (int64_t)extent[d];
    }
    return SX_OK;
}

static void describe_chunks(hid_t dataset, sx_hdf5_dataset *about) {
    hid_t created = H5Dget_create_plist(dataset);
    hsize_t chunk[SX_MAX_RANK] = {0};
    if (H5Pget_layout(created) == H5D_CHUNKED &&
        H5Pget_chunk(created, SX_MAX_RANK, chunk) == about->rank) {
        for (int d = 0; d < about->rank; d++) {
            about->chunk[d] = (int64_t)chunk[d];
        }
    }
    H5Pclose(created);
}

static sx_status find_disk(const char *path, sxi_h5_entry *entry) {
    hid_t file = H5Iget_file_id(entry->id);
    entry->disk = file >= 0 ? sxi_h5_disk_of(file) : NULL;
    H5Fclose(file);
    return entry->disk
               ? SX_OK
               : SXI_FAIL(SX_ERR_IO, "%s:%s: its file cannot be asked for", path, entry->name);
}

static sx_status describe_entry(const char *path, sxi_h5_entry *entry) {
    hid_t type = H5Dget_type(entry->id);
    describe_type(type, &entry->about);
    entry->bits = H5Tget_class(type) == H5T_BITFIELD;
    H5Tclose(type);
    SXI_TRY(sxi_h5_describe_space(path, entry->name, entry->id, &entry->about));
    describe_chunks(entry->id, &entry->about);
    SXI_TRY(sxi_h5_storage_read(entry->id, &entry->about, &entry->storage));
    SXI_TRY(find_disk(path, entry));
    static const char *const names[] = {"units", "unit"};
    for (size_t i = 0; i < sizeof names / sizeof *names && entry->about.unit[0] == '\0'; i++) {
        hid_t unit =
            H5Aexists(entry->id, names[i]) > 0 ? H5Aopen(entry->id, names[i], H5P_DEFAULT) : -1;
        if (unit >= 0) {
            sxi_h5_text_get(unit, true, 0, entry->about.unit, sizeof entry->about.unit);
            H5Aclose(unit);
        }
    }
    return SX_OK;
}

/* Chunks of one row of chunks through all of the first axis: what reading band after band needs at
 * a time. Larger than this, and unfiltered chunks are better read in part, past the cache. */
enum { CACHE_BYTES = 64 << 20 };

static bool is_filtered(hid_t dataset) {
    hid_t created = H5Dget_create_plist(dataset);
    const bool filtered = H5Pget_nfilters(created) > 0;
    H5Pclose(created);
    return filtered;
}

/* Opens again with a chunk cache that fits reading by bands of the second axis. The first handle
 * goes before, as HDF5 keeps one cache for all handles of a dataset. */
static sx_status with_cache(sx_hdf5 *file, sxi_h5_entry *entry) {
    const sx_hdf5_dataset *about = &entry->about;
    hid_t type = H5Dget_type(entry->id);
    double chunk = (double)H5Tget_size(type);
    H5Tclose(type);
    double band = 1;
    for (int d = 0; d < about->rank; d++) {
        const double across = (double)about->shape[d] / (double)about->chunk[d];
        chunk *= (double)about->chunk[d];
        band *= d == 1 ? 1 : across < 1 ? 1 : across + 1;
    }
    band *= chunk;
    double bytes = band <= (double)CACHE_BYTES ? band : 0;
    if (bytes < chunk && is_filtered(entry->id)) {
        bytes = chunk;
    }
    double slots = bytes / chunk * 10; /* HDF5's advice: ten slots or more a chunk */
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    /* Weight 1: a chunk read to its end is the first to go. */
    H5Pset_chunk_cache(access, (size_t)(slots < 521 ? 521 : slots), (size_t)bytes, 1.0);
    H5Dclose(entry->id);
    entry->id = H5Dopen2(file->id, entry->name, access);
    H5Pclose(access);
    return entry->id >= 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_FORMAT, "%s:%s cannot be opened again", file->path, entry->name);
}

static void entry_close(sxi_h5_entry *entry) {
    if (entry->id >= 0) {
        H5Dclose(entry->id);
    }
    sxi_h5_storage_free(&entry->storage);
    sxi_h5_mappings_free(&entry->mappings);
    free(entry->name);
    free(entry);
}

void sxi_h5_entries_drop(sx_hdf5 *file, int most) {
    for (;;) {
        int count = 0;
        sxi_h5_entry **oldest = NULL;
        for (sxi_h5_entry **each = &file->entries; *each; each = &(*each)->next) {
            count += (*each)->pins == 0;
            if ((*each)->pins == 0 && (!oldest || (*each)->used < (*oldest)->used)) {
                oldest = each;
            }
        }
        if (!oldest || count <= most) {
            return;
        }
        sxi_h5_entry *dropped = *oldest;
        *oldest = dropped->next;
        entry_close(dropped);
    }
}

static H5O_type_t type_of(sx_hdf5 *file, const char *name) {
    H5O_info_t info;
    if (H5Oexists_by_name(file->id, name, H5P_DEFAULT) <= 0 ||
        H5Oget_info_by_name2(file->id, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        return H5O_TYPE_UNKNOWN;
    }
    return info.type;
}

/* Reads the mappings of a virtual dataset at once: HDF5 counts numbered sources now, too. */
static sx_status describe_virtual(sx_hdf5 *file, sxi_h5_entry *entry) {
    sxi_h5_mappings *mappings = NULL;
    SXI_TRY(sxi_h5_mappings_get(file, entry, &mappings));
    if (mappings->reason[0] && entry->about.path == SX_HDF5_DIRECT) {
        entry->about.path = SX_HDF5_LIBRARY;
        snprintf(entry->about.reason, sizeof entry->about.reason, "%s", mappings->reason);
    }
    return SX_OK;
}

/* An entry that owns the open dataset, closed with it on failure. id may be negative. */
static sx_status entry_of(sx_hdf5 *file, const char *name, hid_t id, sxi_h5_entry **opened) {
    sxi_h5_entry *entry = calloc(1, sizeof *entry);
    char *copy = strdup(name);
    if (!entry || !copy) {
        free(entry);
        free(copy);
        H5Dclose(id);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to open %s", file->path, name);
    }
    *entry = (sxi_h5_entry){.name = copy, .id = id};
    sx_status status = SX_OK;
    if (entry->id < 0) {
        char reason[SXI_H5_REASON];
        status = SXI_FAIL(SX_ERR_FORMAT, "%s:%s cannot be opened: %s", file->path, name,
                          sxi_h5_reason(reason, sizeof reason));
    }
    if (status == SX_OK) {
        status = describe_entry(file->path, entry);
    }
    if (status == SX_OK && entry->about.layout == SX_HDF5_VIRTUAL) {
        status = describe_virtual(file, entry);
    }
    if (status != SX_OK) {
        entry_close(entry);
        return status;
    }
    *opened = entry;
    return SX_OK;
}

static sx_status entry_open(sx_hdf5 *file, const char *name, sxi_h5_entry **opened) {
    hid_t id = H5Dopen2(file->id, name, H5P_DEFAULT);
    if (id < 0) {
        if (type_of(file, name) != H5O_TYPE_DATASET) {
            return sxi_h5_missing(file, name);
        }
        id = H5Dopen2(file->id, name, H5P_DEFAULT); /* to hear the reason again */
    }
    sxi_h5_entry *entry = NULL;
    SXI_TRY(entry_of(file, name, id, &entry));
    sx_status status = SX_OK;
    if (entry->about.chunk[0] > 0 && entry->about.path == SX_HDF5_LIBRARY) {
        status = with_cache(file, entry);
    }
    if (status != SX_OK) {
        entry_close(entry);
        return status;
    }
    *opened = entry;
    return SX_OK;
}

sx_status sxi_h5_describe_open(sx_hdf5 *file, const char *name, hid_t dataset,
                               sx_hdf5_dataset *about) {
    sxi_h5_entry *entry = NULL;
    H5Iinc_ref(dataset); /* closing the entry gives it back */
    SXI_TRY(entry_of(file, name, dataset, &entry));
    *about = entry->about;
    entry_close(entry);
    return SX_OK;
}

sx_status sxi_h5_entry_get(sx_hdf5 *file, const char *name, sxi_h5_entry **entry) {
    *entry = file->entries;
    while (*entry && strcmp((*entry)->name, name) != 0) {
        *entry = (*entry)->next;
    }
    if (!*entry) {
        sxi_h5_entries_drop(file, SXI_H5_ENTRIES - 1);
        SXI_TRY(entry_open(file, name, entry));
        assert(*entry);
        (*entry)->next = file->entries;
        file->entries = *entry;
    }
    (*entry)->used = ++file->clock;
    return SX_OK;
}

sx_status sx_hdf5_describe(sx_hdf5 *file, const char *name, sx_hdf5_dataset *dataset) {
    sxi_h5_enter();
    sxi_h5_entry *entry = NULL;
    sx_status status = sxi_h5_entry_get(file, name, &entry);
    if (status == SX_OK) {
        *dataset = entry->about;
    }
    sxi_h5_leave();
    return status;
}

bool sxi_h5_exists(sx_hdf5 *file, const char *name) {
    sxi_h5_enter();
    const bool exists = type_of(file, name) != H5O_TYPE_UNKNOWN;
    sxi_h5_leave();
    return exists;
}

bool sxi_h5_is_group(sx_hdf5 *file, const char *name) {
    sxi_h5_enter();
    const bool is_group = type_of(file, name) == H5O_TYPE_GROUP;
    sxi_h5_leave();
    return is_group;
}

/* Name of member i of an open group, malloc'd; NULL on failure. */
static char *member_name(hid_t group, hsize_t i) {
    ssize_t size =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, NULL, 0, H5P_DEFAULT);
    char *name = size < 0 ? NULL : malloc((size_t)size + 1);
    if (name) {
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, (size_t)size + 1,
                           H5P_DEFAULT);
    }
    return name;
}

typedef struct member {
    char *name;
    bool is_group;
} member;

/* All members, read under the lock, so that the callback may call us again. */
static sx_status members_read(sx_hdf5 *file, const char *group, hsize_t *count, member **members) {
    hid_t id = H5Gopen2(file->id, group, H5P_DEFAULT);
    if (id < 0) {
        return SXI_FAIL(SX_ERR_MISSING, "%s has no group %s", file->path, group);
    }
    sx_status status = SX_OK;
    H5G_info_t info = {.nlinks = 0};
    H5Gget_info(id, &info);
    *count = info.nlinks;
    *members = calloc(info.nlinks ? info.nlinks : 1, sizeof **members);
    if (!*members) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to list %s", file->path, group);
        goto out;
    }
    for (hsize_t i = 0; i < info.nlinks; i++) {
        member *each = &(*members)[i];
        each->name = member_name(id, i);
        if (!each->name) {
            status = SXI_FAIL(SX_ERR_FORMAT, "%s: the members of %s cannot be listed", file->path,
                              group);
            goto out;
        }
        H5O_info_t object;
        each->is_group =
            H5Oexists_by_name(id, each->name, H5P_DEFAULT) > 0 &&
            H5Oget_info_by_name2(id, each->name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
            object.type == H5O_TYPE_GROUP;
    }
out:
    H5Gclose(id);
    return status;
}

sx_status sxi_h5_members(sx_hdf5 *file, const char *group, sxi_h5_member_fn fn, void *data) {
    hsize_t count = 0;
    member *members = NULL;
    sxi_h5_enter();
    sx_status status = members_read(file, group, &count, &members);
    sxi_h5_leave();
    for (hsize_t i = 0; status == SX_OK && i < count; i++) {
        if (!fn(data, members[i].name, members[i].is_group)) {
            break;
        }
    }
    for (hsize_t i = 0; members && i < count; i++) {
        free(members[i].name);
    }
    free(members);
    return status;
}
