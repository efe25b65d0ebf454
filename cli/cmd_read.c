/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include <sextant/read.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    sx_option_axes box;
    bool verify;
    int missing;
    const char *output;
} values;

static const values defaults;

static const sx_option options[] = {
    CLI_OPTION(values, box, AXES, "box", "a:b,c:d,...",
               "read a part: for each axis first and end (the end is not part of it), one index, "
               "or : for all; default: all of the dataset"),
    CLI_FLAG(values, verify, "verify", 0,
             "read again through the HDF5 library and compare bit for bit"),
    CLI_OPTION(values, missing, CHOICE, "missing", "error|fill",
               "what was never written fails, or reads as the fill value as in HDF5; default "
               "error"),
    CLI_OUTPUT(values, output, "FILE", "write the values to a NumPy .npy file"),
    CLI_COMMON_OPTIONS};

/* "40x30"; of a scalar "1". */
static void say_shape(const sx_read_report *report, const int64_t *shape, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s", report->dataset.rank ? "" : "1");
    for (int d = 0; d < report->dataset.rank; d++) {
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, d ? "x" : "", shape[d]);
    }
}

static void say_type(const sx_hdf5_dataset *dataset, char *text, size_t size) {
    if (dataset->numeric) {
        snprintf(text, size, "%s", sx_dtype_name(dataset->dtype));
    } else {
        snprintf(text, size, "no numbers: the %" PRId64 " bytes of each element",
                 dataset->element_bytes);
    }
}

/* 1e9 bytes a second; 0 where nothing was read. */
static double rate(const sx_read_report *report, double seconds) {
    return seconds > 0 ? (double)report->bytes / seconds / 1e9 : 0;
}

/* Whether any of it went through H5Dread. */
static bool by_library(const sx_read_report *report) {
    return report->dataset.path == SX_HDF5_LIBRARY || report->statistics.library > 0;
}

static void print_path(const sx_read_report *report) {
    const sx_hdf5_statistics *s = &report->statistics;
    const char *plural = s->threads == 1 ? "" : "s";
    if (!by_library(report)) {
        printf("path     direct, %d thread%s, %" PRId64 " piece%s\n", s->threads, plural, s->pieces,
               s->pieces == 1 ? "" : "s");
    } else if (report->dataset.path == SX_HDF5_DIRECT && s->library < s->bytes_placed) {
        printf("path     direct, %d thread%s, but %" PRId64 " of %" PRId64 " bytes by H5Dread\n",
               s->threads, plural, s->library, s->bytes_placed);
    } else {
        printf("path     H5Dread: %s\n", *report->dataset.reason
                                             ? report->dataset.reason
                                             : "a source needs a conversion that only it does");
    }
}

static void print_report(const sx_read_report *report, const values *v) {
    char shape[256], type[64];
    say_shape(report, report->count, shape, sizeof shape);
    say_type(&report->dataset, type, sizeof type);
    printf("shape    %s\ntype     %s\nbytes    %" PRId64 "\n", shape, type, report->bytes);
    printf("seconds  %.6g\nrate     %.3g GB/s\n", report->seconds, rate(report, report->seconds));
    print_path(report);
    printf("xxh64    %016" PRIx64 "\n", report->checksum);
    if (v->verify) {
        printf("verify   equal to H5Dread, which took %.6g s%s\n", report->library_seconds,
               by_library(report) ? " (both are H5Dread)" : "");
    }
    if (v->output) {
        printf("wrote    %s\n", v->output);
    }
}

static json_t *numbers(int count, const int64_t *values_of) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(array, json_integer(values_of[i]));
    }
    return array;
}

static sx_status print_json(const sx_read_report *report, const values *v, const char *file,
                            const char *name) {
    const sx_hdf5_dataset *d = &report->dataset;
    const sx_hdf5_statistics *s = &report->statistics;
    char checksum[17], type[64];
    snprintf(checksum, sizeof checksum, "%016" PRIx64, report->checksum);
    snprintf(type, sizeof type, "%s", d->numeric ? sx_dtype_name(d->dtype) : "bytes");
    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:I, s:I, s:f, s:f, s:s, s:o, s:i, s:I, s:I, s:s}", "file",
        cli_json_text(file), "dataset", cli_json_text(name), "start",
        numbers(d->rank, report->start), "shape", numbers(d->rank, report->count), "type", type,
        "element_bytes",
        (json_int_t)(d->numeric ? (int64_t)sx_dtype_size(d->dtype) : d->element_bytes), "bytes",
        (json_int_t)report->bytes, "seconds", report->seconds, "gigabytes_per_second",
        rate(report, report->seconds), "path", d->path == SX_HDF5_DIRECT ? "direct" : "library",
        "reason", cli_json_text(d->reason), "threads", s->threads, "pieces", (json_int_t)s->pieces,
        "library_bytes", (json_int_t)s->library, "xxh64", checksum);
    if (all && v->verify) {
        json_object_set_new(all, "verified", json_true());
        json_object_set_new(all, "library_seconds", json_real(report->library_seconds));
    }
    if (all && v->output) {
        json_object_set_new(all, "output", cli_json_text(v->output));
    }
    return cli_print_json(all);
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_read_options read = {.axes = v->box.count,
                            .missing =
                                v->missing == 0 ? SX_HDF5_MISSING_ERROR : SX_HDF5_MISSING_FILL,
                            .verify = v->verify,
                            .output = v->output,
                            .overwrite = v->common.overwrite};
    memcpy(read.start, v->box.start, sizeof read.start);
    memcpy(read.stop, v->box.stop, sizeof read.stop);
    sx_read_report report = {0};
    const sx_status status =
        sx_read_run(call->arguments[0], call->arguments[1], &read, call->context, &report);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return print_json(&report, v, call->arguments[0], call->arguments[1]);
    }
    if (!v->common.quiet) {
        print_report(&report, v);
    }
    return SX_OK;
}

static void abandoned(const void *data, long pid) {
    const values *v = data;
    if (v->output) {
        sx_read_abandoned(v->output, pid);
    }
}

const cli_command cli_read = {
    .group = "",
    .name = "read",
    .help = {"sextant read", "read a dataset of an HDF5 file at full speed",
             "FILE DATASET [options]",
             "Prints shape, type, how long the reading took, and the xxh64 checksum (seed 0)\n"
             "of the little-endian values in C order. Compound and other elements that are no\n"
             "numbers are read as their bytes.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 2,
    .most = 2,
    .guarded = true,
    .abandoned = abandoned,
    .run = run,
};
