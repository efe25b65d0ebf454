/* SPDX-License-Identifier: Apache-2.0
 * What the files of this folder share. Every function here but enter and leave is called between
 * those two. */
#ifndef SXI_H5_LOCKED_H
#define SXI_H5_LOCKED_H

#define H5_USE_110_API /* one set of H5O and H5L structs for every later HDF5 */
#include <hdf5.h>

#include <stddef.h>

#include "base/fail.h"
#include "io/hdf5/h5_storage.h"
#include "io/hdf5/h5file.h"

/* sxi_h5_enter, sxi_h5_leave - take and give back the one lock around the HDF5 library (which need
 * not be a thread-safe build); in between its error printing is off and its error stack is ours. */
void sxi_h5_enter(void);
void sxi_h5_leave(void);

/* sxi_h5_reason - the innermost message of the HDF5 error stack that says something; never NULL. */
const char *sxi_h5_reason(char *text, size_t size);

enum { SXI_H5_REASON = 400 };

/* sxi_h5_transfer - for H5Dread and H5Dwrite of so many bytes or texts that are converted: by default
 * each call takes two buffers of 1 MB and clears them, which was half the time of a small fit. */
hid_t sxi_h5_transfer(size_t bytes);

/* An open dataset. The handle is kept because the chunk cache lives and dies with it. */
typedef struct sxi_h5_entry {
    struct sxi_h5_entry *next;
    char *name; /* as asked for */
    hid_t id;
    sx_hdf5_dataset about;
    sxi_h5_storage storage;
    struct sxi_h5_disk *disk; /* of the file that holds it, which may be behind a link */
    bool bits;                /* stored as bit fields, which HDF5 does not convert to integers */
    struct sxi_h5_mappings *mappings; /* of a virtual dataset (h5_virtual.h) */
    uint64_t used;                    /* when; the oldest goes first */
    int pins;                         /* reads under way; not dropped while there are any */
} sxi_h5_entry;

enum { SXI_H5_ENTRIES = 16 }; /* kept open beyond those that are being read */

struct sx_hdf5 {
    char *path;
    hid_t id;
    long long bytes; /* of the file when it was opened */
    bool live;       /* another program is writing it, as SWMR */
    uint64_t clock;
    const sx_context *context; /* of the reads of the library itself */
    sxi_h5_entry *entries;
    /* Files that virtual datasets are made of (h5_sources.c). */
    sx_hdf5 *sources; /* list, of a file that a caller opened */
    sx_hdf5 *root;    /* of a source: in whose list it is */
    sx_hdf5 *next;    /* in that list */
    int pins;         /* of a source: reads under way */
    uint64_t used;    /* when */
};

/* sxi_h5_file_open, sxi_h5_file_close - sx_hdf5_open and sx_hdf5_close, under the lock. */
sx_status sxi_h5_file_open(const char *path, sx_hdf5 **file);
void sxi_h5_file_close(sx_hdf5 *file);

/* sxi_h5_access - a file access list for reading: file locks are not insisted on where the file
 * system has none. Owned by the caller; negative on failure. */
hid_t sxi_h5_access(void);

/* sxi_h5_entry_get - the open dataset of that name, opened if need be. Valid until the next get. */
sx_status sxi_h5_entry_get(sx_hdf5 *file, const char *name, sxi_h5_entry **entry);
/* sxi_h5_entries_drop - closes the least recently used that are not pinned, until `most` are left. */
void sxi_h5_entries_drop(sx_hdf5 *file, int most);

/* sxi_h5_describe_space - fills rank and shape of about. */
sx_status sxi_h5_describe_space(const char *path, const char *name, hid_t dataset,
                                sx_hdf5_dataset *about);

/* sxi_h5_describe_open - describes a dataset that the caller has opened; nothing of it is kept. */
sx_status sxi_h5_describe_open(sx_hdf5 *file, const char *name, hid_t dataset,
                               sx_hdf5_dataset *about);

/* sxi_h5_missing - SX_ERR_MISSING and what there is instead of name. */
sx_status sxi_h5_missing(sx_hdf5 *file, const char *name);

/* sxi_h5_not_numbers - SX_ERR_TYPE, naming what the dataset holds. */
sx_status sxi_h5_not_numbers(const char *path, const char *name, hid_t dataset);

/* sxi_h5_check_sources - the files and datasets from which a box of a virtual or externally stored
 * dataset comes are there and large enough. HDF5 itself would fill with zeros.
 */
sx_status sxi_h5_check_sources(sx_hdf5 *file, sxi_h5_entry *entry, const int64_t *start,
                               const int64_t *count);

/* sxi_h5_check_mapped - SX_ERR_MISSING where an element of a box of a virtual dataset has no source,
 * for boxes that go through H5Dread, which fills it. */
sx_status sxi_h5_check_mapped(sx_hdf5 *file, sxi_h5_entry *entry, const int64_t *start,
                              const int64_t *count);

/* sxi_h5_native - the type in memory of a dtype. */
hid_t sxi_h5_native(sx_dtype dtype);

/* sxi_h5_text_get - the text of element index of an attribute or dataset of strings (object is
 * either; space its dataspace), cut to size. false if it is not text. */
bool sxi_h5_text_get(hid_t object, bool is_attribute, int64_t index, char *text, size_t size);

/* --- writing --- */

struct sxi_h5_writer {
    char *path; /* target, links followed */
    char *temporary;
    bool overwrite;
    hid_t id;
    hid_t driver;
    int error; /* errno of the first write that failed; HDF5 never hears of it (h5_sink.c) */
};

/* sxi_h5_sink_create - the new file of a writer, whose write errors are kept in its error while
 * HDF5 goes on as if all was well: HDF5 1.10 cannot close a file that it failed to flush.
 * SX_ERR_EXISTS if path exists. */
sx_status sxi_h5_sink_create(const char *path, sxi_h5_writer *writer);

/* sxi_h5_sink_close - closes the file, then ends its driver. */
herr_t sxi_h5_sink_close(sxi_h5_writer *writer);

/* sxi_h5_write_failed - the sentence for a writer on which something failed. */
sx_status sxi_h5_write_failed(const sxi_h5_writer *writer, const char *what);

/* sxi_h5_timeless - a creation list (of a group or dataset) without times, so that equal content gives
 * equal bytes. */
hid_t sxi_h5_timeless(hid_t class);

/* sxi_h5_parents - makes the groups on the way to name. */
sx_status sxi_h5_parents(sxi_h5_writer *writer, const char *name);

#endif
