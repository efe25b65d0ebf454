/* SPDX-License-Identifier: Apache-2.0
 * LibCYAML 1.3 writes a line with the fault, then the way to it, innermost first:
 *
 *   Load: Unexpected key: d
 *   Load: Backtrace:
 *     in mapping (line: 1, column: 17)
 *     in mapping field 'cell' (line: 1, column: 7)
 */
#include "xani/crystal/yaml_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* The fault, taken apart. */
typedef struct fault {
    char message[160];
    long line;         /* 0: not said */
    char field[2][40]; /* the two innermost; "" without */
} fault;

static void read_log(const char *log, fault *found) {
    const char *const load = "Load: ";
    const char *at = strncmp(log, load, strlen(load)) == 0 ? log + strlen(load) : log;
    int fields = 0;
    snprintf(found->message, sizeof found->message, "%.*s", (int)strcspn(at, "\n"), at);
    for (at = strchr(log, '\n'); at; at = strchr(at + 1, '\n')) {
        char name[40];
        const char *place = strstr(at, "(line: ");
        if (place && found->line == 0) {
            found->line = strtol(place + strlen("(line: "), NULL, 10);
        }
        if (fields < 2 && sscanf(at, " in mapping field '%39[^']'", name) == 1) {
            snprintf(found->field[fields++], sizeof name, "%s", name);
        }
    }
}

/* The fields below a field of this name; NULL without. */
static const cyaml_schema_field_t *fields_of(const cyaml_schema_field_t *fields, const char *name) {
    for (; fields->key; fields++) {
        const cyaml_schema_value_t *value =
            fields->value.type == CYAML_SEQUENCE ? fields->value.sequence.entry : &fields->value;
        const cyaml_schema_field_t *below =
            value->type == CYAML_MAPPING ? value->mapping.fields : NULL;
        if (strcmp(fields->key, name) == 0 || !below) {
            if (strcmp(fields->key, name) == 0) {
                return below;
            }
            continue;
        }
        const cyaml_schema_field_t *deeper = fields_of(below, name);
        if (deeper) {
            return deeper;
        }
    }
    return NULL;
}

static void list_fields(const cyaml_schema_field_t *fields, char *list, size_t size) {
    list[0] = '\0';
    for (; fields && fields->key; fields++) {
        const size_t used = strlen(list);
        snprintf(list + used, size - used, "%s%s", used ? ", " : "", fields->key);
    }
}

/* What a kind is called in a file. */
static const char *kind_of(const char *word) {
    if (strncmp(word, "MAPPING", 7) == 0) {
        return "fields (name: value)";
    }
    if (strncmp(word, "SEQUENCE", 8) == 0) {
        return "a list [...]";
    }
    return strncmp(word, "STREAM_END", 10) == 0 ? "the end of the file" : "a single value";
}

static const char *after(const char *message, const char *words) {
    return strncmp(message, words, strlen(words)) == 0 ? message + strlen(words) : NULL;
}

/* The sentence behind file and line. */
static void describe(const fault *found, const cyaml_schema_field_t *root, char *words,
                     size_t size) {
    const char *message = found->message, *rest;
    char list[200];
    if ((rest = after(message, "Unexpected key: "))) {
        const char *inside = found->field[0];
        list_fields(inside[0] ? fields_of(root, inside) : root, list, sizeof list);
        snprintf(words, size, "field '%s' found%s%s, expected one of %s", rest,
                 inside[0] ? " in " : "", inside, list);
    } else if ((rest = after(message, "Missing required mapping field: "))) {
        /* The innermost field is the one read last beside it, unless there was none. */
        const bool first = fields_of(root, found->field[0]) != NULL;
        const char *inside = first ? found->field[0] : found->field[1];
        snprintf(words, size, "field '%s' is missing%s%s", rest, inside[0] ? " in " : "", inside);
    } else if ((rest = after(message, "Mapping field already seen: "))) {
        snprintf(words, size, "field '%s' found a second time", rest);
    } else if ((rest = after(message, "Expecting "))) {
        const char *got = strstr(rest, "event: ");
        snprintf(words, size, "%s%s%s found, expected %s", found->field[0],
                 found->field[0][0] ? ": " : "", kind_of(got ? got + strlen("event: ") : ""),
                 kind_of(rest));
    } else if ((rest = after(message, "Insufficient entries ("))) {
        const char *of = strstr(rest, " of ");
        snprintf(words, size, "%s: %ld values found, expected %ld", found->field[0],
                 strtol(rest, NULL, 10), of ? strtol(of + 4, NULL, 10) : 0);
    } else if ((rest = after(message, "Excessive entries ("))) {
        const long most = strtol(rest, NULL, 10);
        snprintf(words, size, "%s: more than %ld values found, expected %ld", found->field[0], most,
                 most);
    } else if (strstr(message, "documents after first")) {
        snprintf(words, size, "a second document ('---') found, expected one");
    } else if ((rest = after(message, "libyaml: "))) {
        snprintf(words, size, "this is not YAML: %s", rest);
    } else {
        snprintf(words, size, "%s", message);
    }
}

sx_status sxi_yaml_fail(const char *path, const cyaml_schema_field_t *fields, sxi_text *log) {
    fault found = {.line = 0};
    char words[400], line[32] = "";
    char *text = sxi_text_take(log);
    if (!text) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to read it", path);
    }
    read_log(text, &found);
    free(text);
    describe(&found, fields, words, sizeof words);
    if (found.line > 0) {
        snprintf(line, sizeof line, " line %ld", found.line);
    }
    return SXI_FAIL(SX_ERR_FORMAT, "%s%s: %s", path, line, words);
}
