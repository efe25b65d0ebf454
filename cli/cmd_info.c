/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <sextant/info.h>

#include "command.h"
#include "guard.h"
#include "json.h"
#include "terminal.h"

typedef struct values {
    cli_common common;
} values;

static const sx_option options[] = {CLI_COMMON_OPTIONS};
static const values defaults;

enum { NAMES = 36 }; /* columns */

static const char *const layouts[] = {"compact", "contiguous", "chunked", "external", "virtual"};

static const char provenance[] = "/provenance/";

static bool is_provenance(const char *name) {
    return strncmp(name, provenance, sizeof provenance - 1) == 0;
}

/* "40x30", into text of enough room for 32 numbers. */
static void say_shape(char *text, size_t size, int rank, const int64_t *shape) {
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < rank && used < size; d++) {
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, d ? "x" : "", shape[d]);
    }
}

/* Prints a value: all of it for provenance, its beginning otherwise; several texts with commas. */
static void print_value(const sx_info_object *o) {
    enum { SHOWN = 72 };
    const size_t most = is_provenance(o->name) ? strlen(o->value) : SHOWN;
    for (size_t i = 0; i < most && o->value[i]; i++) {
        if (o->value[i] == '\n') {
            fputs(", ", stdout);
        } else {
            cli_print_text(stdout, (const char[]){o->value[i], '\0'});
        }
    }
    fputs(strlen(o->value) > most ? "..." : "", stdout);
}

static void print_name(const char *name) {
    cli_print_text(stdout, name);
    printf("%*s ", (int)(strlen(name) < NAMES ? NAMES - strlen(name) : 0), "");
}

/* Names of states and the like stand below, each with its number; the rest on one line. */
static void print_attribute(const sx_info_object *o) {
    const bool list = strcmp(o->type, "text") == 0 && strchr(o->value, '\n');
    int number = 0;
    for (const char *c = o->value; *c; c++) {
        if (list && (c == o->value || c[-1] == '\n')) {
            printf("\n    %d: ", number++);
        }
        if (*c != '\n') {
            cli_print_text(stdout, (const char[]){*c, '\0'});
        } else if (!list) {
            fputs(", ", stdout);
        }
    }
    if (!*o->value) {
        char shape[768];
        say_shape(shape, sizeof shape, o->rank, o->shape);
        printf("%s%s%s", o->type, *shape ? " " : "", shape);
    }
    putchar('\n');
}

/* "216 MB" */
static void print_size(int64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1000 && unit < 6; unit++) {
        size /= 1000;
    }
    printf("%.3g %s", size, units[unit]);
}

/* What of a dataset was written, and how small it became; on the line of facts. */
static void print_stored(const sx_info_object *o) {
    if (o->layout == SX_HDF5_CONTIGUOUS || o->layout == SX_HDF5_COMPACT) {
        printf(", %s", layouts[o->layout]);
    }
    if (o->chunks_stored != o->chunks) {
        printf(", %" PRId64 " of %" PRId64 " chunks written", o->chunks_stored, o->chunks);
    }
    if (o->chunked && *o->filters && o->stored_bytes > 0) {
        fputs(", ", stdout);
        print_size(o->stored_bytes);
        fputs(" for ", stdout);
        print_size(o->bytes);
        printf(" (ratio %.3g)", (double)o->bytes / (double)o->stored_bytes);
    }
}

/* Below: why it is read slowly, and what will be slow. What is compact is read in no time. */
static void print_advice(const sx_info_object *o) {
    if (o->path == SX_HDF5_LIBRARY && o->layout != SX_HDF5_COMPACT && o->bytes > 0) {
        fputs("    read through H5Dread, one thread at a time: ", stdout);
        cli_print_text(stdout, o->reason);
        putchar('\n');
    }
    for (const char *line = o->advice; *line; line = strchr(line, '\n') + 1) {
        fputs("    ", stdout);
        for (const char *c = line; *c != '\n'; c++) {
            cli_print_text(stdout, (const char[]){*c, '\0'});
        }
        putchar('\n');
    }
}

/* A line of facts, then its sentence. */
static bool print_object(void *data, const sx_info_object *o) {
    (void)data;
    cli_guard_renew();
    char shape[768], chunk[768];
    say_shape(shape, sizeof shape, o->rank, o->shape);
    say_shape(chunk, sizeof chunk, o->rank, o->chunk);
    if (o->kind == SX_INFO_GROUP) {
        return true;
    }
    print_name(o->name);
    if (o->kind == SX_INFO_ATTRIBUTE) {
        print_attribute(o);
        return true;
    }
    if (is_provenance(o->name) && *o->value) {
        print_value(o);
        putchar('\n');
        return true;
    }
    printf("%s%s%s", o->type, *shape ? " " : "", shape);
    if (o->chunked) {
        printf(", chunks %s", chunk);
    }
    if (*o->storage) {
        fputs(o->kind == SX_INFO_LINK ? " " : ", ", stdout);
        cli_print_text(stdout, o->storage);
    }
    if (o->described) {
        print_stored(o);
    }
    if (*o->value) {
        fputs(" = ", stdout);
        print_value(o);
    }
    if (*o->unit) {
        fputs(*o->value ? " " : ", ", stdout);
        cli_print_text(stdout, o->unit);
    }
    putchar('\n');
    if (*o->sentence) {
        fputs("    ", stdout);
        cli_print_text(stdout, o->sentence);
        putchar('\n');
    }
    if (o->described) {
        print_advice(o);
    }
    return true;
}

static json_t *numbers(int count, const int64_t *values_of) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(array, json_integer(values_of[i]));
    }
    return array;
}

static void describe_json(json_t *object, const sx_info_object *o) {
    json_object_set_new(object, "layout", json_string(layouts[o->layout]));
    json_object_set_new(object, "path",
                        json_string(o->path == SX_HDF5_DIRECT ? "direct" : "library"));
    json_object_set_new(object, "reason", cli_json_text(o->reason));
    json_object_set_new(object, "filters", cli_json_text(o->filters));
    json_object_set_new(object, "bytes", json_integer(o->bytes));
    json_object_set_new(object, "stored_bytes", json_integer(o->stored_bytes));
    if (o->chunked) {
        json_object_set_new(object, "chunks_stored", json_integer(o->chunks_stored));
        json_object_set_new(object, "chunks_all", json_integer(o->chunks));
        json_object_set_new(object, "advice", cli_json_text(o->advice));
    }
}

static bool add_json(void *data, const sx_info_object *o) {
    static const char *const kinds[] = {"group", "dataset", "link", "attribute"};
    cli_guard_renew();
    json_t *object = json_object();
    json_object_set_new(object, "name", cli_json_text(o->name));
    json_object_set_new(object, "kind", json_string(kinds[o->kind]));
    if (o->kind == SX_INFO_DATASET || o->kind == SX_INFO_ATTRIBUTE) {
        json_object_set_new(object, "type", json_string(o->type));
        json_object_set_new(object, "shape", numbers(o->rank, o->shape));
    }
    if (o->kind == SX_INFO_DATASET) {
        json_object_set_new(object, "chunks",
                            o->chunked ? numbers(o->rank, o->chunk) : json_null());
        json_object_set_new(object, "unit", cli_json_text(o->unit));
        json_object_set_new(object, "sentence", cli_json_text(o->sentence));
    }
    if (o->described) {
        describe_json(object, o);
    }
    if (*o->storage) {
        json_object_set_new(object, "storage", cli_json_text(o->storage));
    }
    if (*o->value) {
        json_object_set_new(object, "value", cli_json_text(o->value));
    }
    return json_array_append_new(data, object) == 0;
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    const char *path = call->arguments[0];
    if (!v->common.json) {
        return sx_info_run(path, print_object, NULL);
    }
    json_t *objects = json_array();
    const sx_status status = sx_info_run(path, add_json, objects);
    json_t *all = json_pack("{s:o, s:o}", "file", cli_json_text(path), "objects", objects);
    if (status == SX_OK) {
        return cli_print_json(all);
    }
    json_decref(all);
    return status;
}

const cli_command cli_info = {
    .group = "",
    .name = "info",
    .help = {"sextant info", "say what lies in an HDF5 file and how it came to be",
             "FILE [options]",
             "One line for each dataset: name, type, shape, chunks and filters, value, unit;\n"
             "its sentence below. Attributes are written as /object@name.\n"
             "Links to other places are named, not followed.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 1,
    .most = 1,
    .guarded = true,
    .run = run,
};
