/* SPDX-License-Identifier: Apache-2.0 */
#include "io/table/table.h"

#include <ctype.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/table/slurp.h"

enum { FIELD_BYTES = 64 };

/* Where in which file, and how fields are parted: 0 for blanks. */
typedef struct place {
    const char *path;
    long line;
    char separator;
} place;

static bool at_end(char c) { return c == '\0' || c == '\n' || c == '\r'; }

static bool blank(char c) { return c == ' ' || c == '\t'; }

/* Copies the next field of a line without blanks around it; false at the end of the line. */
static bool next_field(const char **at, char separator, char *field) {
    const char *from = *at;
    while (blank(*from) && *from != separator) {
        from++;
    }
    if (at_end(*from) && (separator == 0 || from == *at)) {
        return false;
    }
    const char *to = from;
    while (!at_end(*to) && (separator ? *to != separator : !blank(*to))) {
        to++;
    }
    *at = *to == separator && separator ? to + 1 : to;
    while (to > from && blank(to[-1])) {
        to--;
    }
    snprintf(field, FIELD_BYTES, "%.*s", (int)(to - from < FIELD_BYTES ? to - from : FIELD_BYTES),
             from);
    return true;
}

static char separator_of(const char *line) {
    static const char known[] = {';', ',', '\t'};
    for (size_t i = 0; i < sizeof known; i++) {
        if (memchr(line, known[i], strcspn(line, "\r\n"))) {
            return known[i];
        }
    }
    return 0;
}

/* The whole field is one number; nan is, infinity and hexadecimal are not. */
static bool number(const char *field, double *value) {
    char *end = NULL;
    if (field[0] == '\0' || strpbrk(field, "xXpPiI")) {
        return false;
    }
    *value = strtod(field, &end);
    return *end == '\0' && strchr(field, '(') == NULL;
}

/* Whether a line could name the columns of numbers: as many fields, none a number. */
static bool read_names(const char *line, char separator, int columns,
                       char (*names)[SXI_TABLE_NAME]) {
    char field[FIELD_BYTES];
    char found[SXI_TABLE_COLUMNS][SXI_TABLE_NAME] = {""};
    int count = 0;
    double value;
    const char *at = line;
    while (next_field(&at, separator, field)) {
        if (count == columns || number(field, &value)) {
            return false;
        }
        snprintf(found[count++], SXI_TABLE_NAME, "%s", field);
    }
    if (count != columns) {
        return false;
    }
    memcpy(names, found, sizeof found);
    return true;
}

/* Parses a line into value, or only counts its fields if value is NULL; -1 where one is no number.
 */
static int read_numbers(const char *line, char separator, double *value, char *field) {
    int count = 0;
    const char *at = line;
    while (next_field(&at, separator, field)) {
        double parsed;
        if (!number(field, &parsed)) {
            return -1;
        }
        if (value && count < SXI_TABLE_COLUMNS) {
            value[count] = parsed;
        }
        count++;
    }
    return count;
}

static const char *next_line(const char *line) {
    line += strcspn(line, "\r\n");
    line += line[0] == '\r' && line[1] == '\n';
    return *line ? line + 1 : line;
}

static bool has_content(const char *line) { return !at_end(line[strspn(line, " \t")]); }

/* What was found before the first line of numbers. */
typedef struct header {
    const char *comment; /* the last one */
    const char *names;   /* a line of words */
    long names_line;
} header;

/* Finds the first line of numbers, its separator and the names. */
static sx_status find_numbers(const char *text, place *at, sxi_table *table, const char **first) {
    header found = {NULL, NULL, 0};
    char field[FIELD_BYTES];
    const char *line = text;
    for (at->line = 1; *line; line = next_line(line), at->line++) {
        const char *content = line + strspn(line, " \t");
        if (*content == '#') {
            found.comment = content + 1;
        } else if (has_content(line)) {
            at->separator = separator_of(line);
            table->columns = read_numbers(line, at->separator, NULL, field);
            if (table->columns > 0) {
                break;
            }
            if (found.names) {
                return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: '%s' is not a number", at->path,
                                at->line, field);
            }
            found.names = line;
            found.names_line = at->line;
        }
    }
    *first = line;
    if (!*line) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s holds no line of numbers", at->path);
    }
    if (table->columns > SXI_TABLE_COLUMNS) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld has %d columns, at most %d are read", at->path,
                        at->line, table->columns, SXI_TABLE_COLUMNS);
    }
    if (found.names && !read_names(found.names, at->separator, table->columns, table->name)) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s line %ld should name %d columns or hold %d numbers, it does neither",
                        at->path, found.names_line, table->columns, table->columns);
    }
    if (!found.names && found.comment) {
        read_names(found.comment, at->separator, table->columns, table->name);
    }
    return SX_OK;
}

static sx_status fill(const char *line, place *at, sxi_table *table) {
    char field[FIELD_BYTES];
    for (; *line; line = next_line(line), at->line++) {
        if (line[strspn(line, " \t")] == '#' || !has_content(line)) {
            continue;
        }
        double row[SXI_TABLE_COLUMNS];
        const int count = read_numbers(line, at->separator, row, field);
        if (count < 0) {
            return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: '%s' is not a number", at->path, at->line,
                            field);
        }
        if (count != table->columns) {
            return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld has %d numbers, the lines before it %d",
                            at->path, at->line, count, table->columns);
        }
        memcpy(table->value + table->rows * table->columns, row, (size_t)count * sizeof *row);
        table->rows++;
    }
    return SX_OK;
}

static int64_t count_lines(const char *text) {
    int64_t count = 0;
    for (; *text; text = next_line(text)) {
        count++;
    }
    return count;
}

static sx_status parse(const char *path, const char *text, sxi_table *table) {
    place at = {.path = path};
    const char *first = NULL;
    SXI_TRY(find_numbers(text, &at, table, &first));
    const size_t most = (size_t)count_lines(first) * (size_t)table->columns;
    table->value = malloc(most * sizeof *table->value);
    if (!table->value) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for %zu numbers", path, most);
    }
    return fill(first, &at, table);
}

sx_status sxi_table_read(const char *path, sxi_table *table) {
    *table = (sxi_table){0};
    char *text = NULL;
    SXI_TRY(sxi_slurp(path, "a table of text", &text));
    /* Spreadsheets put a byte order mark in front of UTF-8. */
    const size_t mark = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    sxi_table read = {0};
    /* strtod follows the program's language; a decimal point is a point here. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    sx_status status = parse(path, text + mark, &read);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    free(text);
    if (status != SX_OK) {
        sxi_table_destroy(&read);
        return status;
    }
    *table = read;
    return SX_OK;
}

void sxi_table_destroy(sxi_table *table) {
    if (table) {
        free(table->value);
        *table = (sxi_table){0};
    }
}

const char *sxi_table_unit(const char *name, char *unit, int size) {
    const size_t length = strlen(name);
    const char *open = strpbrk(name, "([");
    const char *line = strrchr(name, '_');
    unit[0] = '\0';
    if (open && length > 0 && strchr(")]", name[length - 1])) {
        snprintf(unit, (size_t)size, "%.*s", (int)(name + length - 1 - (open + 1)), open + 1);
    } else if (line) {
        snprintf(unit, (size_t)size, "%s", line + 1);
    }
    return unit;
}
