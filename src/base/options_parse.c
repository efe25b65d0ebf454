/* SPDX-License-Identifier: Apache-2.0 */
#include <sextant/options.h>

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

enum { MOST_OPTIONS = 64, MOST_CHOICES = 32, CHOICE_BYTES = 512 };

typedef union value {
    bool flag;
    int64_t integer;
    double real;
    const char *text;
    int choice;
    int64_t size[2];
    int64_t box[4];
    sx_option_axes axes;
} value;

static size_t value_bytes(sx_option_kind kind) {
    switch (kind) {
    case SX_OPTION_FLAG:
        return sizeof(bool);
    case SX_OPTION_INT:
    case SX_OPTION_BYTES:
        return sizeof(int64_t);
    case SX_OPTION_REAL:
        return sizeof(double);
    case SX_OPTION_TEXT:
        return sizeof(const char *);
    case SX_OPTION_CHOICE:
        return sizeof(int);
    case SX_OPTION_SIZE:
    case SX_OPTION_POINT:
        return 2 * sizeof(int64_t);
    case SX_OPTION_BOX:
        return 4 * sizeof(int64_t);
    case SX_OPTION_AXES:
        return sizeof(sx_option_axes);
    }
    return 0;
}

static sx_status check_range(const sx_option *option, double number, const char *text) {
    if (option->least < option->most && !(number >= option->least && number <= option->most)) {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is out of range, allowed is %.15g to %.15g", text,
                        option->least, option->most);
    }
    return SX_OK;
}

static sx_status to_choice(const sx_option *option, const char *text, int *choice) {
    char words[CHOICE_BYTES];
    const char *list[MOST_CHOICES];
    int count = 0;
    snprintf(words, sizeof words, "%s", option->value);
    for (char *rest = words; rest;) {
        const char *word = strsep(&rest, "|");
        if (strcmp(word, text) == 0) {
            *choice = count;
            return SX_OK;
        }
        assert(count < MOST_CHOICES);
        list[count++] = word;
    }
    const char *nearest = sx_nearest(text, list, count);
    return SXI_FAIL(SX_ERR_USAGE, "'%s' is none of %s%s%s%s", text, option->value,
                    nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
}

/* Whole numbers with the given separators between them: "2x3" with "x". */
static bool to_numbers(const char *text, const char *separators, int64_t *numbers) {
    const int count = (int)strlen(separators) + 1;
    for (int i = 0; i < count; i++) {
        char number[24];
        const size_t length = strcspn(text, i < count - 1 ? (char[2]){separators[i], '\0'} : "");
        if (length >= sizeof number || (i < count - 1 && text[length] == '\0')) {
            return false;
        }
        memcpy(number, text, length);
        number[length] = '\0';
        if (sx_parse_int(number, &numbers[i]) != SX_OK) {
            return false;
        }
        text += length + 1;
    }
    return true;
}

static sx_status to_size(const char *text, int64_t *size) {
    if (!to_numbers(text, "x", size) || size[0] < 1 || size[1] < 1) {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is not a size such as 2x4, of two numbers from 1 on",
                        text);
    }
    return SX_OK;
}

/* "512M" */
static sx_status to_bytes(const char *text, int64_t *bytes) {
    static const char letters[] = "kMGT";
    char number[24];
    const size_t length = strlen(text);
    const char *letter = length > 0 ? strchr(letters, text[length - 1]) : NULL;
    int64_t unit = 1;
    for (const char *l = letters; letter && l <= letter; l++) {
        unit *= 1024;
    }
    snprintf(number, sizeof number, "%.*s", (int)(letter ? length - 1 : length), text);
    if (length >= sizeof number || sx_parse_int(number, bytes) != SX_OK || *bytes < 1 ||
        *bytes > INT64_MAX / unit) {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is not an amount of memory such as 8G or 512M", text);
    }
    *bytes *= unit;
    return SX_OK;
}

static sx_status to_point(const char *text, int64_t *point) {
    if (!to_numbers(text, ",", point) || point[0] < 0 || point[1] < 0) {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is not a pixel such as 12,40, y before x", text);
    }
    return SX_OK;
}

static sx_status to_box(const char *text, int64_t *box) {
    if (!to_numbers(text, ":,:", box) || box[0] < 0 || box[2] < 0 || box[1] <= box[0] ||
        box[3] <= box[2]) {
        return SXI_FAIL(SX_ERR_USAGE,
                        "'%s' is not a box such as 0:128,64:256, first and end of y, then of x "
                        "(the end is not part of it)",
                        text);
    }
    return SX_OK;
}

/* The first length letters of text as an index; nothing at all is the given one. */
static bool to_index(const char *text, size_t length, int64_t nothing, int64_t *index) {
    char number[24];
    if (length >= sizeof number) {
        return false;
    }
    memcpy(number, text, length);
    number[length] = '\0';
    *index = nothing;
    return length == 0 || (sx_parse_int(number, index) == SX_OK && *index >= 0);
}

/* "5:9", "5:", ":9", ":" or "5": the first length letters of text. */
static bool to_axis(const char *text, size_t length, int64_t *start, int64_t *stop) {
    const char *colon = memchr(text, ':', length);
    if (!colon) {
        const bool read = length > 0 && to_index(text, length, 0, start) && *start < INT64_MAX;
        *stop = read ? *start + 1 : 0;
        return read;
    }
    const size_t before = (size_t)(colon - text);
    return to_index(text, before, 0, start) && to_index(colon + 1, length - before - 1, -1, stop) &&
           (*stop < 0 || *start < *stop);
}

static sx_status to_axes(const char *text, sx_option_axes *axes) {
    for (const char *rest = text; rest;) {
        const size_t length = strcspn(rest, ",");
        const int d = axes->count++;
        if (d == SX_OPTION_MAX_AXES) {
            return SXI_FAIL(SX_ERR_USAGE, "'%s' has more than %d axes", text, SX_OPTION_MAX_AXES);
        }
        if (!to_axis(rest, length, &axes->start[d], &axes->stop[d])) {
            return SXI_FAIL(SX_ERR_USAGE,
                            "'%.*s' of '%s' is no part of an axis: first and end as 0:10 (the end "
                            "is not part of it), one index as 5, or : for all",
                            (int)length, rest, text);
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    return SX_OK;
}

static sx_status convert(const sx_option *option, const char *text, value *v) {
    switch (option->kind) {
    case SX_OPTION_FLAG:
        v->flag = true;
        return SX_OK;
    case SX_OPTION_INT:
        SXI_TRY(sx_parse_int(text, &v->integer));
        return check_range(option, (double)v->integer, text);
    case SX_OPTION_REAL:
        SXI_TRY(sx_parse_real(text, &v->real));
        return check_range(option, v->real, text);
    case SX_OPTION_TEXT:
        v->text = text;
        return *text ? SX_OK : SXI_FAIL(SX_ERR_USAGE, "the value is empty");
    case SX_OPTION_CHOICE:
        return to_choice(option, text, &v->choice);
    case SX_OPTION_SIZE:
        return to_size(text, v->size);
    case SX_OPTION_POINT:
        return to_point(text, v->size);
    case SX_OPTION_BOX:
        return to_box(text, v->box);
    case SX_OPTION_BYTES:
        return to_bytes(text, &v->integer);
    case SX_OPTION_AXES:
        return to_axes(text, &v->axes);
    }
    return SXI_FAIL(SX_ERR_ARGUMENT, "kind %d of an option is unknown", (int)option->kind);
}

static void store(const sx_option *option, const value *v, void *values) {
    memcpy((char *)values + option->offset, v, value_bytes(option->kind));
    if (option->given >= 0) {
        *(bool *)((char *)values + option->given) = true;
    }
}

static sx_status unknown(const sx_command_help *help, const char *word, size_t length) {
    const char *names[MOST_OPTIONS];
    int count = 0;
    for (const sx_option *o = help->options; o->name && count < MOST_OPTIONS; o++) {
        names[count++] = o->name;
    }
    char name[128];
    const size_t dashes = strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)(length - dashes), word + dashes);
    const char *nearest = sx_nearest(name, names, count);
    if (nearest) {
        return SXI_FAIL(SX_ERR_USAGE, "unknown option %.*s, did you mean --%s?", (int)length, word,
                        nearest);
    }
    return SXI_FAIL(SX_ERR_USAGE, "unknown option %.*s, '%s --help' lists those there are",
                    (int)length, word, help->name);
}

/* Finds the option that word names; *attached is what follows "=", or NULL. */
static sx_status find(const sx_command_help *help, const char *word, const sx_option **option,
                      const char **attached) {
    const size_t length = strcspn(word, "=");
    const bool is_long = word[1] == '-';
    *attached = is_long && word[length] == '=' ? word + length + 1 : NULL;
    for (const sx_option *o = help->options; o->name; o++) {
        const bool hit =
            is_long ? strlen(o->name) == length - 2 && strncmp(o->name, word + 2, length - 2) == 0
                    : o->letter && word[1] == o->letter && word[2] == '\0';
        if (hit) {
            *option = o;
            return SX_OK;
        }
    }
    return unknown(help, word, length);
}

/* Whether a word that stands after an option can be its value. */
static bool may_be_value(const char *word) {
    if (word[0] != '-' || word[1] == '\0') {
        return true;
    }
    return strspn(word + 1, "0123456789") > 0 ||
           (word[1] == '.' && strspn(word + 2, "0123456789") > 0);
}

/* Reads the option at argv[*i], and moves *i to its last word. */
static sx_status read_option(const sx_command_help *help, int argc, char **argv, int *i,
                             uint64_t *seen, void *values) {
    const sx_option *option = NULL;
    const char *text = NULL;
    SXI_TRY(find(help, argv[*i], &option, &text));
    assert(option);
    const ptrdiff_t place = option - help->options;
    assert(place < MOST_OPTIONS);
    if (*seen & (uint64_t)1 << place) {
        return SXI_FAIL(SX_ERR_USAGE, "--%s was given twice, once is enough", option->name);
    }
    *seen |= (uint64_t)1 << place;
    if (option->kind == SX_OPTION_FLAG && text) {
        return SXI_FAIL(SX_ERR_USAGE, "--%s takes no value, '%s' was given", option->name, text);
    }
    if (option->kind != SX_OPTION_FLAG && !text) {
        if (*i + 1 >= argc || !may_be_value(argv[*i + 1])) {
            return SXI_FAIL(SX_ERR_USAGE, "--%s needs a value: --%s %s", option->name, option->name,
                            option->value);
        }
        text = argv[++*i];
    }
    value v = {0};
    sx_status status = convert(option, text, &v);
    if (status != SX_OK) {
        /* The sentence about a choice lists its words. */
        return option->kind == SX_OPTION_CHOICE
                   ? sxi_fail_context(status, "--%s", option->name)
                   : sxi_fail_context(status, "--%s %s", option->name, option->value);
    }
    if (values) {
        store(option, &v, values);
    }
    return SX_OK;
}

/* Without values it only checks. */
static sx_status walk(const sx_command_help *help, int argc, char **argv, void *values,
                      const char **arguments, int *count) {
    uint64_t seen = 0;
    bool options = true;
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
            SXI_TRY(read_option(help, argc, argv, &i, &seen, values));
        } else {
            if (values) {
                arguments[n] = argv[i];
            }
            n++;
        }
    }
    *count = n;
    return SX_OK;
}

sx_status sx_options_parse(const sx_command_help *help, int argc, char **argv, void *values,
                           const char **arguments, int *count) {
    int n = 0;
    /* First a walk that writes nothing: a mistake in the last word leaves all as it was. */
    SXI_TRY(walk(help, argc, argv, NULL, NULL, &n));
    return walk(help, argc, argv, values, arguments, count);
}
