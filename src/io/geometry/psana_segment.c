/* SPDX-License-Identifier: Apache-2.0
 * Sensors are made of chips, and the pixels beside a gap between chips are wider. Where the centres
 * of those are put differs with the age of psana; here they are at the centres of the wide pixels.
 * Theory: docs/theory/geometry.md. */
#include "io/geometry/psana_segment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"

enum { MOST = 1 << 16 };

/* One axis: chips of `chip` pixels of `pitch` um; the pixels at inner borders are `wide` um. */
typedef struct axis {
    int64_t count, chip;
    double pitch, wide;
    bool falls; /* pixel 0 at the greatest coordinate */
} axis;

typedef struct sensor {
    const char *name;
    axis row, column;
} sensor;

/* From the pages on detectors of LCLS, the sizes of psana's SegGeometry classes. */
static const sensor SENSORS[] = {
    {"EPIX100:V1", {704, 352, 50, 175, true}, {768, 384, 50, 175, false}},
    {"EPIX10KA:V1", {352, 176, 100, 225, true}, {384, 192, 100, 225, false}},
    {"JUNGFRAU:V1", {512, 256, 75, 150, true}, {1024, 256, 75, 150, false}},
    {"JUNGFRAU:V2", {512, 256, 75, 150, false}, {1024, 256, 75, 150, false}},
    {"SENS2X1:V1", {185, 185, 109.92, 109.92, true}, {388, 194, 109.92, 274.8, false}},
    {"EPIXMASIC:V1", {192, 192, 50, 50, true}, {384, 384, 50, 50, false}},
    {"EPIXUHRASIC:V1", {168, 168, 100, 100, true}, {192, 192, 100, 100, false}},
};

static const char WIDE[] = "wide pixels between chips, at their centres";
static const char EVEN[] = "even steps";

/* Extents add up: pixel after pixel, then the middle is put at 0. */
static double *steps_of(const axis *a) {
    double *at = malloc((size_t)a->count * sizeof *at), edge = 0;
    for (int64_t i = 0; at && i < a->count; i++) {
        const int64_t in = i % a->chip;
        const bool border = (in == 0 && i > 0) || (in == a->chip - 1 && i < a->count - 1);
        const double width = border ? a->wide : a->pitch;
        at[i] = edge + width / 2;
        edge += width;
    }
    for (int64_t i = 0; at && i < a->count; i++) {
        at[i] = a->falls ? edge / 2 - at[i] : at[i] - edge / 2;
    }
    return at;
}

static sx_status fill(const char *path, const char *name, const axis *row, const axis *column,
                      sxi_segment *s) {
    s->rows = row->count;
    s->columns = column->count;
    s->row = steps_of(row);
    s->column = steps_of(column);
    s->steps = row->wide > row->pitch || column->wide > column->pitch ? WIDE : EVEN;
    if (!s->row || !s->column) {
        sxi_segment_destroy(s);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for a segment %s", path, name);
    }
    return SX_OK;
}

/* Four numbers between colons, and nothing else. */
static bool four_numbers(const char *text, double *number) {
    for (int i = 0; i < 4; i++) {
        char field[32];
        const size_t length = strcspn(text, ":");
        if (length >= sizeof field || text[length] != (i < 3 ? ':' : '\0')) {
            return false;
        }
        memcpy(field, text, length);
        field[length] = '\0';
        if (sx_parse_real(field, &number[i]) != SX_OK) {
            return false;
        }
        text += length + 1;
    }
    return true;
}

static bool is_count(double number) {
    return number >= 1 && number <= MOST && number == floor(number);
}

/* MTRX:rows:columns:um:um has its origin at pixel [0][0] and x along the rows; MTRX:V2:... is like the
 * other sensors. */
static sx_status matrix(const char *path, const char *name, sxi_segment *s) {
    const bool centred = strncmp(name, "MTRX:V2:", 8) == 0;
    double number[4];
    if (!four_numbers(name + (centred ? 8 : 5), number) || !is_count(number[0]) ||
        !is_count(number[1]) || !(number[2] > 0) || !(number[3] > 0)) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s: the segment '%.60s' should be MTRX:rows:columns:um:um with numbers "
                        "above 0",
                        path, name);
    }
    const int64_t rows = (int64_t)number[0], columns = (int64_t)number[1];
    const axis row = {rows, rows, number[2], number[2], centred};
    const axis column = {columns, columns, number[3], number[3], false};
    SXI_TRY(fill(path, name, &row, &column, s));
    if (!centred) {
        s->x_along_rows = true;
        const double first_row = s->row[0], first_column = s->column[0];
        for (int64_t j = 0; j < s->rows; j++) {
            s->row[j] -= first_row;
        }
        for (int64_t i = 0; i < s->columns; i++) {
            s->column[i] -= first_column;
        }
    }
    return SX_OK;
}

static const sensor *find(const char *name) {
    for (size_t i = 0; i < sizeof SENSORS / sizeof *SENSORS; i++) {
        if (strcmp(SENSORS[i].name, name) == 0) {
            return &SENSORS[i];
        }
    }
    return NULL;
}

bool sxi_segment_known(const char *name) { return find(name) || strncmp(name, "MTRX:", 5) == 0; }

sx_status sxi_segment_create(const char *path, const char *name, sxi_segment *s) {
    *s = (sxi_segment){0};
    const sensor *known = find(name);
    if (known) {
        return fill(path, name, &known->row, &known->column, s);
    }
    if (strncmp(name, "MTRX:", 5) == 0) {
        return matrix(path, name, s);
    }
    char list[256];
    size_t used = 0;
    for (size_t i = 0; i < sizeof SENSORS / sizeof *SENSORS; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", SENSORS[i].name);
    }
    return SXI_FAIL(SX_ERR_UNSUPPORTED,
                    "%s: the spacing of pixels of a segment '%.60s' is not known; known are %sMTRX",
                    path, name, list);
}

void sxi_segment_destroy(sxi_segment *segment) {
    free(segment->row);
    free(segment->column);
    *segment = (sxi_segment){0};
}
