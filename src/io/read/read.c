/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/read.h>

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory_limit.h"
#include "base/output.h"
#include "io/npy/npy.h"
#include "io/read/bands.h"
#include "io/read/difference.h"

/* The values are hashed as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the values would need their bytes swapped");

/* Of a band: enough for all threads to be busy. Fresh memory costs more than reading does (some 4 us
 * for each 4 kB on virtual machines), so that few bytes used again and again are better than many. */
enum { BAND_BYTES = 32 << 20 };

/* One run. */
typedef struct run {
    const char *path, *name;
    const sx_read_options *options;
    const sx_context *context;
    sx_hdf5 *file;
    sx_read_report *report;
    int64_t element; /* bytes in memory */
    sx_array band;   /* bytes enough for any band */
    sx_array other;  /* the same from H5Dread */
    XXH64_state_t *hash;
    sxi_npy *npy;
} run;

/* The box that is asked for, against the dataset. */
static sx_status settle_box(const run *r) {
    const sx_read_options *o = r->options;
    const sx_hdf5_dataset *about = &r->report->dataset;
    if (o->axes > 0 && o->axes != about->rank) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s has %d axes, the box has %d", r->path, r->name,
                        about->rank, o->axes);
    }
    for (int d = 0; d < about->rank; d++) {
        const int64_t all = about->shape[d];
        const int64_t start = o->axes > 0 ? o->start[d] : 0;
        const int64_t stop = o->axes == 0 || o->stop[d] < 0 ? all : o->stop[d];
        if (start < 0 || stop > all || start > stop) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "%s:%s: the box asks for %lld to %lld of axis %d, which has %lld",
                            r->path, r->name, (long long)start, (long long)stop, d, (long long)all);
        }
        r->report->start[d] = start;
        r->report->count[d] = stop - start;
    }
    return SX_OK;
}

static sx_status settle_element(run *r) {
    const sx_hdf5_dataset *about = &r->report->dataset;
    if (about->element_bytes == 0) {
        return SXI_FAIL(
            SX_ERR_TYPE,
            "%s:%s holds texts or lists of varying length, or references; only elements "
            "of a fixed number of bytes can be read, h5dump shows the others",
            r->path, r->name);
    }
    if (!about->numeric && about->rank == SX_MAX_RANK) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s:%s: elements that are no numbers can be read with at most %d axes",
                        r->path, r->name, SX_MAX_RANK - 1);
    }
    r->element = about->numeric ? (int64_t)sx_dtype_size(about->dtype) : about->element_bytes;
    r->report->bytes = r->element;
    for (int d = 0; d < about->rank; d++) {
        const int64_t count = r->report->count[d];
        if (count > 0 && r->report->bytes > INT64_MAX / count) {
            return SXI_FAIL(SX_ERR_SHAPE,
                            "%s:%s has more bytes than can be counted; read it box by "
                            "box",
                            r->path, r->name);
        }
        r->report->bytes *= count;
    }
    return SX_OK;
}

/* A view of one of the two buffers in the shape of a band. */
static sx_status view_of(const run *r, const int64_t *count, const sx_array *buffer,
                         sx_array *view) {
    const sx_hdf5_dataset *about = &r->report->dataset;
    int64_t shape[SX_MAX_RANK] = {0};
    memcpy(shape, count, (size_t)about->rank * sizeof *shape);
    if (about->numeric) {
        return sx_array_view(about->dtype, about->rank, shape, buffer->data, view);
    }
    shape[about->rank] = about->element_bytes;
    return sx_array_view(SX_U8, about->rank + 1, shape, buffer->data, view);
}

static void add_statistics(sx_hdf5_statistics *sum, const sx_hdf5_statistics *one) {
    sum->bytes_stored += one->bytes_stored;
    sum->bytes_placed += one->bytes_placed;
    sum->pieces += one->pieces;
    sum->library += one->library;
    sum->threads = one->threads > sum->threads ? one->threads : sum->threads;
    sum->seconds += one->seconds;
    sum->plan_s += one->plan_s;
    sum->io_s += one->io_s;
    sum->decode_s += one->decode_s;
    sum->place_s += one->place_s;
}

/* Reads a band, by the usual way or through H5Dread. */
static sx_status read_band(run *r, const int64_t *start, const int64_t *count, bool library) {
    const sx_hdf5_options options = {
        .context = r->context, .missing = r->options->missing, .library = library};
    sx_array view;
    sx_hdf5_statistics statistics = {0};
    SXI_TRY(view_of(r, count, library ? &r->other : &r->band, &view));
    const sx_hdf5_box box = {r->file, r->name, start, count, &view};
    const double began = sxi_now();
    SXI_TRY(sx_hdf5_read(1, &box, &options, &statistics));
    *(library ? &r->report->library_seconds : &r->report->seconds) += sxi_now() - began;
    if (!library) {
        add_statistics(&r->report->statistics, &statistics);
    }
    return SX_OK;
}

/* "[3, 17]": the place of element i of a band in the dataset. */
static void say_place(const run *r, const int64_t *start, const int64_t *count, int64_t i,
                      char *text, size_t size) {
    const int rank = r->report->dataset.rank;
    int64_t index[SX_MAX_RANK] = {0};
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = start[d] + i % count[d];
        i /= count[d];
    }
    size_t used = (size_t)snprintf(text, size, "[");
    for (int d = 0; d < rank; d++) {
        used += (size_t)snprintf(text + used, size - used, "%s%lld", d ? ", " : "",
                                 (long long)index[d]);
    }
    snprintf(text + used, size - used, "]");
}

static sx_status compare_band(run *r, const int64_t *start, const int64_t *count, int64_t bytes) {
    const sx_hdf5_dataset *about = &r->report->dataset;
    char ours[SXI_DIFFERENCE], theirs[SXI_DIFFERENCE], place[200];
    const sx_status status = read_band(r, start, count, true);
    if (status == SX_ERR_CANCELLED) {
        return status;
    }
    if (status != SX_OK) {
        return sxi_fail_context(status, "there is nothing to compare with");
    }
    const int64_t i = sxi_difference(r->band.data, r->other.data, bytes / r->element, r->element,
                                     about->numeric, about->dtype, ours, theirs);
    if (i < 0) {
        return SX_OK;
    }
    say_place(r, start, count, i, place, sizeof place);
    return SXI_FAIL(SX_ERR_NUMERIC,
                    "%s:%s differs from what H5Dread gives, first at %s: %s here, %s there; please "
                    "report it with the file",
                    r->path, r->name, place, ours, theirs);
}

static sx_status each_band(run *r, const int64_t *start, const int64_t *count, int64_t bytes) {
    if (sx_cancelled(r->context)) {
        return SX_ERR_CANCELLED;
    }
    SXI_TRY(read_band(r, start, count, false));
    XXH64_update(r->hash, r->band.data, (size_t)bytes);
    if (r->options->verify) {
        SXI_TRY(compare_band(r, start, count, bytes));
    }
    return r->npy ? sxi_npy_append(r->npy, r->band.data, (size_t)bytes) : SX_OK;
}

static sx_status create_output(run *r) {
    const sx_hdf5_dataset *about = &r->report->dataset;
    int64_t shape[SXI_NPY_RANK] = {0};
    if (!r->options->output) {
        return SX_OK;
    }
    SXI_TRY(sxi_output_room(r->options->output, r->report->bytes));
    memcpy(shape, r->report->count, (size_t)about->rank * sizeof *shape);
    shape[about->rank] = about->element_bytes;
    return sxi_npy_create(r->options->output, r->options->overwrite,
                          about->numeric ? about->dtype : SX_U8, about->rank + !about->numeric,
                          shape, &r->npy);
}

/* All bands, one after the other. */
static sx_status read_all(run *r) {
    sx_read_report *report = r->report;
    int64_t total = 0, available = 0, start[SX_MAX_RANK], count[SX_MAX_RANK], done = 0;
    sxi_bands bands;
    sxi_memory_limit("", &total, &available);
    const int64_t most = available / 4 > BAND_BYTES ? available / 4 : BAND_BYTES;
    sxi_bands_plan(report->dataset.rank, report->start, report->count, report->dataset.chunk,
                   r->element, BAND_BYTES, most, &bands);
    SXI_TRY(sx_array_create(SX_U8, 1, &bands.bytes, &r->band));
    memset(r->band.data, 0, (size_t)bands.bytes); /* not to be timed with the first band */
    if (r->options->verify) {
        SXI_TRY(sx_array_create(SX_U8, 1, &bands.bytes, &r->other));
    }
    sx_progress(r->context, "bytes", 0, report->bytes);
    while (sxi_bands_next(&bands, start, count)) {
        int64_t bytes = r->element;
        for (int d = 0; d < report->dataset.rank; d++) {
            bytes *= count[d];
        }
        SXI_TRY(each_band(r, start, count, bytes));
        done += bytes;
        sx_progress(r->context, "bytes", done, report->bytes);
    }
    report->checksum = XXH64_digest(r->hash);
    return SX_OK;
}

sx_status sx_read_run(const char *path, const char *name, const sx_read_options *options,
                      const sx_context *context, sx_read_report *report) {
    static const sx_read_options defaults;
    sx_read_report found = {0};
    run r = {.path = path,
             .name = name,
             .options = options ? options : &defaults,
             .context = context,
             .report = &found};
    sx_status status = SX_OK;
    if (r.options->output) {
        SXI_TRY(sxi_output_check(r.options->output, r.options->overwrite, 1, &path));
    }
    r.hash = XXH64_createState();
    if (!r.hash) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", path);
        goto out;
    }
    XXH64_reset(r.hash, 0);
    SXI_GO(sx_hdf5_open(path, &r.file));
    SXI_GO(sx_hdf5_describe(r.file, name, &found.dataset));
    SXI_GO(settle_box(&r));
    SXI_GO(settle_element(&r));
    SXI_GO(create_output(&r));
    SXI_GO(read_all(&r));
    if (r.npy) {
        SXI_GO(sxi_npy_commit(&r.npy));
    }
    *report = found;
out:
    if (status == SX_ERR_CANCELLED) { /* between two bands, or within one */
        status = SXI_FAIL(status, "%s:%s: stopped; nothing was written", path, name);
    }
    sxi_npy_abandon(&r.npy);
    sx_array_destroy(&r.band);
    sx_array_destroy(&r.other);
    sx_hdf5_close(&r.file);
    XXH64_freeState(r.hash);
    return status;
}

void sx_read_abandoned(const char *output, long pid) { sxi_output_abandoned(output, pid); }
